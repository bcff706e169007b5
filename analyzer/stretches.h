/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How what was lost before a point lies together: a link that is down, or a queue that is full,
 * loses packets in a row, a bad cable one here and one there.
 *
 * The one rule: a stretch is losses of one PSN space that were told in the order of their PSNs,
 * with none that came between.  Of streams of which a loss was taken back nothing is said, nor
 * of requests where some are READs, whose answers have PSNs between theirs.
 */
#ifndef RS_STRETCHES_H
#define RS_STRETCHES_H

#include "roce/event.h"
#include "roce/stream.h"

#include <glib.h>

/* Of one stream, or of several. */
typedef struct rs_stretch_sum {
    guint64 lost; /* packets, in all of them */
    guint64 n;
    guint64 longest; /* packets */
} rs_stretch_sum;

typedef struct rs_stretches rs_stretches;

rs_stretches *
rs_stretches_new(void);

/* NULL is fine. */
void
rs_stretches_free(rs_stretches *stretches);

void
rs_stretches_event(rs_stretches *stretches, const roce_event *event);

/* Whether some were told, and all of them were missed and told in that time: what was missed
 * before had been sent before. */
gboolean
rs_stretches_lie_within(const rs_stretches *stretches, guint32 stream, guint64 from_ns,
                        guint64 until_ns);

/* Adds those of a stream; none where that is not known, so that fewer are lost than are. */
void
rs_stretches_add_to(const rs_stretches *stretches, const roce_stream *stream,
                    rs_stretch_sum *sum);

#endif
