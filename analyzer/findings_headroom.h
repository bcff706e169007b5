/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Losses of what came to a port right behind its XOFF.
 *
 * The one rule: losses of all streams that one port paused are looked at together, and each
 * stream says how many of its own would have come so by chance.
 */
#ifndef RS_FINDINGS_HEADROOM_H
#define RS_FINDINGS_HEADROOM_H

#include "findings_parts.h"
#include "loss_places.h"

/* Losses behind points, by the port that paused what came there. */
typedef struct rs_headrooms rs_headrooms;

rs_headrooms *
rs_headrooms_new(void);

/* NULL is fine. */
void
rs_headrooms_free(rs_headrooms *headrooms);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_headrooms, rs_headrooms_free)

/* What a stream lost at a place. */
void
rs_headrooms_add(rs_headrooms *headrooms, const rs_findings *all,
                 const rs_loss_place *place);

/* Says of `lost` packets how many of them had come right behind an XOFF, where that is no
 * chance. */
void
rs_headrooms_tell(const rs_headrooms *headrooms, const rs_findings *all,
                  rs_finding *finding, guint64 lost);

/* On which side of the point that stands for a stream. */
typedef enum rs_side {
    RS_SIDE_IN_FRONT,
    RS_SIDE_BEHIND,
} rs_side;

/* The same of all that a flow lost on that side. */
void
rs_flow_tell_headroom(const rs_flow *flow, rs_finding *finding, rs_side side,
                      guint64 lost);

#endif
