/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the two files of twins.h share: what is kept of each stream.
 *
 * The one rule: nobody else includes it.
 */
#ifndef RS_TWINS_PARTS_H
#define RS_TWINS_PARTS_H

#include "twins.h"

#include <glib.h>

#define RS_TWIN_POINTS 64 /* that are told apart: those from the last on are one */

/* Sets of points have a bit for each. */
static inline guint64
rs_twin_bit(guint point)
{
    return (guint64)1 << MIN(point, RS_TWIN_POINTS - 1);
}

/* Data that was ECT at some points, the last of which is to be found, and CE at others, the
 * first of which is to be: between the two it was marked. */
typedef struct rs_mark_pattern {
    guint64 ect, ce; /* sets of points; of those with the same hop limit */
    guint64 packets;
} rs_mark_pattern;

/* Packets that were seen at just these points. */
typedef struct rs_twin_sighting {
    guint64 points, packets;
} rs_twin_sighting;

/* A stream at its own point.  A packet is counted at the stream that saw it first, in the
 * order of reading. */
typedef struct rs_twin_stream {
    guint32 point;
    guint64 only_here;     /* packets that no other point saw */
    GArray *sightings;     /* rs_twin_sighting, of requests and responses; NULL: none */
    gboolean is_scattered; /* some are not counted there: too many sets of points */
    guint64 repeats;  /* requests and responses like one before at the same point */
    GArray *patterns; /* rs_mark_pattern; NULL: none */
    guint64 marked_before; /* see rs_twins_marked_before() */
    GArray *marked;        /* rs_marked, by `from`; NULL: none */
    gboolean undecided;    /* nobody knows where some of its packets were marked */
    guint32 same;  /* + 1: another stream that is the same at another point; 0: none */
    guint64 after; /* points of the same clock that saw some of its packets before it */
    rs_rewriting rewriting;
} rs_twin_stream;

/* An entry of the table. */
typedef struct rs_twin rs_twin;

struct rs_twins {
    const rs_points *points; /* NULL: all of one clock */
    rs_twin *entries;
    guint32 age;
    guint64 n;
    gboolean incomplete; /* an entry had to make room for another, or never came */
    GArray *streams;     /* rs_twin_stream by stream id */
    /* Of each point those that are stamped by the same clock, as a set; 0: not asked for.
     * Of the first n_clocked points. */
    guint64 by_clock[RS_TWIN_POINTS];
    guint n_clocked;
};

/* What is kept of a stream, all zero at first; until another one is asked for. */
static inline rs_twin_stream *
rs_twin_stream_of(rs_twins *twins, guint32 stream)
{
    if (stream >= twins->streams->len) {
        g_array_set_size(twins->streams, stream + 1);
    }
    return &g_array_index(twins->streams, rs_twin_stream, stream);
}

/* Decides where the packets of streams that are the same, `members` (guint32), were marked.
 * `root` is the one of them that keeps what cannot be decided. */
void
rs_twins_find_marks(rs_twins *twins, const roce_tracker *tracker, guint32 root,
                    const GArray *members);

#endif
