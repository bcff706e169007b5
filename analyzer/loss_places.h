/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where on its way a stream that several points saw lost what it lost.
 *
 * The one rule: a packet was lost between two points if the one saw it, and saw it sent
 * again, and the other one, further on, says by itself that it never came.  What a
 * capture missed, and what came when it was not on, is no loss: so each point says no more
 * than it would alone, and no more than did not come to it of what the other one saw.
 *
 * Where no point has the other direction, nothing tells what captures missed, but that they
 * saw the same PSNs: then none did, for it would lack some that were sent once.  Else nothing
 * is said.
 *
 * Where nobody acknowledges (UC), what is missing takes the place of what was asked for, as
 * long as nothing tells that a capture missed packets.
 *
 * Of packets that were sent again by timeout, the data or the ACK may have been lost, and the
 * last ones leave no gap where they do not come.  If all that did not come to the points
 * further on can be of these, it is.
 */
#ifndef RS_LOSS_PLACES_H
#define RS_LOSS_PLACES_H

#include "summary.h"

#include <glib.h>

typedef struct rs_loss_place {
    guint32 from, to;    /* the same stream at the one point and at the other */
    guint64 lost;        /* packets, at least 1 */
    gboolean behind;     /* behind the point that stands for all, not before it */
    gboolean by_timeout; /* of those of which the data or the ACK was lost */
} rs_loss_place;

/* Of the stream that stands for all: rs_loss_place, along the way; g_array_unref(). */
GArray *
rs_loss_places(const rs_analysis *analysis, const rs_summary *summary, guint32 stream);

/* Whether a capture missed packets, so that of a stream that nobody acknowledges it cannot be
 * told what was lost between some of its points. */
gboolean
rs_loss_is_doubtful(const rs_analysis *analysis, const rs_summary *summary,
                    guint32 stream);

/* Whether all that was seen of a stream at its point, but for what was lost in places that
 * are known, came to points further on; then `last` is the stream at the last of them. */
gboolean
rs_loss_all_came(const rs_analysis *analysis, const rs_summary *summary, guint32 stream,
                 guint32 *last);

/* Of a stream that stands for all: counts of its losses what its points know together.  What
 * was lost in a place behind it is undelivered, and nobody's guess; what was taken to be
 * undelivered, and came, is no loss. */
void
rs_loss_count_known(const rs_analysis *analysis, const rs_summary *summary,
                    guint32 stream, rs_counters *counters);

/* Late originals at another point than the one that stands for all, most of any: packets that
 * were overtaken, and came.  `at` is the stream there. */
guint64
rs_loss_came_late(const rs_analysis *analysis, const rs_summary *summary,
                  guint32 stream, guint32 *at);

#endif
