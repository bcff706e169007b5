/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happened when: traffic, CE marks, CNPs, retransmissions and pauses by time.
 *
 * The one rule: each bin of a stream holds what the stream's counters grew by in that
 * time, so that bins sum up to counters.  Memory is bounded: the first
 * RS_TIMELINE_STREAMS streams and RS_TIMELINE_POINTS points have bins, since which
 * streams are worth a look is known only at the end.
 */
#ifndef RS_TIMELINE_H
#define RS_TIMELINE_H

#include "occurrence.h"
#include "sight.h"

#include "roce/tracker.h"

#include <glib.h>

#define RS_TIMELINE_STREAMS 1024
#define RS_TIMELINE_POINTS 256

typedef struct rs_timeline rs_timeline;

typedef enum rs_timeline_row {
    RS_TIMELINE_BITS, /* of IP payload, of RoCE packets */
    RS_TIMELINE_DATA, /* data packets */
    RS_TIMELINE_CE,   /* of them */
    RS_TIMELINE_CNPS, /* carried */
    RS_TIMELINE_RETRANSMISSIONS,
    RS_TIMELINE_N_ROWS,
} rs_timeline_row;

/* `tracker` outlives the timeline. */
rs_timeline *
rs_timeline_new(const roce_tracker *tracker);

void
rs_timeline_free(rs_timeline *timeline);

/* The tracker has just taken this packet. */
void
rs_timeline_packet(rs_timeline *timeline, const rs_sight *sight);
/* The same for the packets of a train. */
void
rs_timeline_train(rs_timeline *timeline, const rs_train_sight *train);

/* A train of this stream will come soon, see approach.h; in three steps, each of which takes
 * what the one before has brought near. */
void
rs_timeline_approach(const rs_timeline *timeline, guint32 stream);
void
rs_timeline_approach_series(const rs_timeline *timeline, guint32 stream,
                            guint64 time_ns);
void
rs_timeline_approach_bin(const rs_timeline *timeline, guint32 stream, guint64 time_ns);

/* The tracker says this, while it takes a packet or finishes. */
void
rs_timeline_event(rs_timeline *timeline, const rs_occurrence *occurrence);

/* The tracker has finished; bins are to be no narrower than `resolution_ns`. */
void
rs_timeline_finish(rs_timeline *timeline, guint64 resolution_ns);

/* How many bins there are; 0 when nothing was seen.  A bin's width, and the start of
 * the first one since 1970, a multiple of the width. */
guint
rs_timeline_n_bins(const rs_timeline *timeline);
guint64
rs_timeline_bin_ns(const rs_timeline *timeline);
guint64
rs_timeline_start_ns(const rs_timeline *timeline);

gboolean
rs_timeline_has_stream(const rs_timeline *timeline, guint32 stream);
gboolean
rs_timeline_has_point(const rs_timeline *timeline, guint32 point);

/* Each adds its rows to `sum`, n_bins for the one row or the one priority. */
void
rs_timeline_add_stream(const rs_timeline *timeline, guint32 stream, rs_timeline_row row,
                       guint64 *sum);
void
rs_timeline_add_point(const rs_timeline *timeline, guint32 point, rs_timeline_row row,
                      guint64 *sum);

/* Adds the CNPs that a stream's data caused.  FALSE where that is not known. */
gboolean
rs_timeline_add_cnps_received(const rs_timeline *timeline, guint32 stream,
                              guint64 *sum);

/* Adds the time for which pause frames at the point stopped a priority, 0 to 7: PFC for
 * it, and 802.3x, which stops all; summed over who sent them.  FALSE where the speed of
 * a link is not known, and with it the time, and where no pause frame was seen. */
gboolean
rs_timeline_add_paused(const rs_timeline *timeline, guint32 point, guint8 priority,
                       guint64 *sum);

#endif
