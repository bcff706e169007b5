/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lossless.h"

#include "dcb.h"

void
rs_lossless_at(const rs_analysis *analysis, guint32 point, rs_lossless *lossless)
{
    *lossless = (rs_lossless){0};
    lossless->by_dcbx = rs_dcb_point_pfc(analysis->watchers.dcb, point,
                                         &lossless->some_port, &lossless->every_port);
    for (guint32 i = 0; i < roce_tracker_n_pauses(analysis->tracker); i++) {
        const roce_pause_source *p = roce_tracker_pause(analysis->tracker, i);
        if (p->point == point && p->priority < 8 && p->xoff > 0) {
            lossless->paused |= (guint8)(1u << p->priority);
        }
    }
}

guint8
rs_lossless_anywhere(const rs_analysis *analysis)
{
    guint8 known = 0;
    for (guint i = 0; i < rs_points_n(analysis->points); i++) {
        rs_lossless at;
        rs_lossless_at(analysis, i, &at);
        known |= rs_lossless_known(&at);
    }
    return known;
}
