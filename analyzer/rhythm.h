/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rhythm of a capture: data in bursts that repeat, as the iterations of a training
 * do, and who is late in them.
 *
 * Looked at is the point that saw most data, with what it does not see of its file
 * (heard.h) or, where that has no rhythm, without, from the widest level of activity to the
 * finest, the slowest rhythm first: all edges together; where that has no rhythm, the
 * edges that have the rhythm of the heaviest edge with one.  beat.h says what repeats.
 *
 * Regular bursts are no rhythm
 *   - where more than one in five comes right after something was sent again: it is
 *     timers then that keep the time;
 *   - between two hosts alone, where the silences are no longer than a few round trips,
 *     since a sender that waits for its acknowledgement is regular as well; or where
 *     there are fewer than RS_RHYTHM_LEAST_OF_TWO.
 *
 * The one rule: no rhythm is better than one that is not there.
 */
#ifndef RS_RHYTHM_H
#define RS_RHYTHM_H

#include "beat.h"
#include "dist.h"
#include "edges.h"

#include "roce/tracker.h"

#include <glib.h>

/* Two hosts that wait for one another are silent for a round trip; what they say between
 * is part of it. */
#define RS_RHYTHM_ROUND_TRIPS 3
/* A point that does not stand at the requester sees less than the round trip. */
#define RS_RHYTHM_ROUND_TRIP_NS 50000
#define RS_RHYTHM_LEAST_OF_TWO 8
#define RS_RHYTHM_REPAIRED_PERCENT 20

/* When a host sent in an iteration. */
typedef struct rs_turn {
    guint64 first_ns, last_ns; /* of its data */
    guint64 first_frame, last_frame;
    guint32 first_edge, last_edge; /* that carried them */
    guint32 iteration;
} rs_turn;

typedef struct rs_rhythm {
    guint32 point;
    guint64 from_ns, until_ns; /* looked at: of its data */
    gboolean whole;            /* all of the capture */
    guint64 resolution_ns;     /* width of the cells that it was found in */
    guint64 share;             /* cells with less than one such part are background */
    GArray *iterations;        /* rs_iteration */
    guint64 missing;           /* iterations that were left out between them */
    gboolean several;          /* more than two hosts share it */
    gboolean all_edges;        /* FALSE: those that share the rhythm */
    rs_dist period;            /* ns, start to start of neighbours */
    rs_dist length;            /* ns */
    rs_dist bytes;             /* of each iteration */
    guint64 idle_ns, span_ns;  /* from the first start to the last: silent, in all */
    guint64 bytes_in,
        bytes_out;    /* of data at the point: of the rhythm, and beside it */
    GArray *edges;    /* guint32: those that take part */
    GArray *heard;    /* guint32: those that were looked at */
    GPtrArray *turns; /* by node: GArray of its rs_turn, in order; NULL: none */
} rs_rhythm;

/* NULL: there is none.  `files` are guint32 by point: which file it stands in. */
rs_rhythm *
rs_rhythm_new(const rs_edges *edges, const rs_activity *activity,
              const roce_tracker *tracker, const GArray *files);

void
rs_rhythm_free(rs_rhythm *rhythm);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_rhythm, rs_rhythm_free)

const rs_iteration *
rs_rhythm_iteration(const rs_rhythm *rhythm, guint i);

/* Whether nothing was left out in an interval. */
static inline gboolean
rs_rhythm_is_one_period(guint64 interval_ns, guint64 period_ns)
{
    return interval_ns * 2 < period_ns * 3;
}

/* When a host sent in an iteration.  NULL: not at all. */
const rs_turn *
rs_rhythm_turn(const rs_rhythm *rhythm, guint32 node, guint iteration);

#endif
