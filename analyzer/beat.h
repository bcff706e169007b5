/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bursts in the data of some edges, and whether they repeat.
 *
 *   1. The cells of the edges become one row.  Its middle bytes are so many that half of
 *      all bytes came in cells with at least as many.  A cell is loud if it has a tenth of
 *      them (or another share that is asked for), else it is background.  A cell next to a
 *      loud one is loud too where only silence is behind it: it is the burst's beginning
 *      or end.
 *   2. Between loud cells are silences.  Ordered by length, they fall into those between
 *      bursts and those within them where one is clearly longer than the next.
 *   3. From the longest silences on, each such break is tried, and each number of bursts
 *      up to RS_BEAT_FOLD as one: an iteration may consist of several that differ.
 *   4. Bursts repeat if RS_RHYTHM_ON_TIME_PERCENT of the times from start to start are
 *      within RS_RHYTHM_SPREAD_PERCENT of their median, nearly all others whole multiples
 *      of it, where iterations were left out, no more than there are; and if as many of
 *      the bursts have about the same bytes.
 *
 * The one rule: what is found depends on ratios alone, never on a scale.
 */
#ifndef RS_BEAT_H
#define RS_BEAT_H

#include "activity.h"

#include <glib.h>

/* Fewer bursts prove no rhythm: of four intervals that are random, as between arrivals
 * that know nothing of one another, all lie so near their median once in a thousand. */
#define RS_RHYTHM_LEAST_BURSTS 5
#define RS_BEAT_FOLD 16
#define RS_BEAT_LOUD_SHARE 10
#define RS_RHYTHM_SPREAD_PERCENT 20
#define RS_RHYTHM_ON_TIME_PERCENT 80
#define RS_RHYTHM_ON_GRID_PERCENT 90
/* A heartbeat is no burst. */
#define RS_RHYTHM_LEAST_PACKETS 8
/* Below, it is how packets are paced, not how work is. */
#define RS_RHYTHM_LEAST_PERIOD_NS 50000

typedef struct rs_iteration {
    guint64 start_ns, end_ns; /* first and last packet of its loud cells */
    guint64 first_frame;
    guint64 bytes, packets;
    gboolean partial; /* the capture begins or ends in it, or much of it is not there */
    gboolean after_repair; /* something was sent again shortly before it */
} rs_iteration;

/* Bursts that repeat. */
typedef struct rs_beat {
    GArray *bursts;         /* rs_iteration */
    guint64 period_ns;      /* median from start to start */
    guint64 missing;        /* iterations that should have been between them */
    guint64 left_out_bytes; /* of cells that were not loud */
} rs_beat;

/* A row is rs_cells in their order, or those of one edge, as rs_level_cells() gives them.
 * What these functions make is to be freed: g_free(row.at). */

/* The cells of the edges of a level for which `uses` says so, in one row. */
rs_cells
rs_beat_row(const rs_level *level, const gboolean *uses);

/* The row in cells that are so many times as wide. */
rs_cells
rs_beat_widen(const rs_cells *row, guint64 times);

/* The loud cells of a row, those with one `share`-th of the middle bytes at least, and the
 * bytes of those left out. */
rs_cells
rs_beat_loud(const rs_cells *row, guint64 share, guint64 *left_out);

/* Looks for bursts of loud cells that repeat, with silences of at least `least_ns` between
 * them, in a row of cells that are `width_ns` wide.  FALSE: there are none, and `beat` is as
 * it was.  rs_beat_clear().
 *
 * Where the same was looked for in the same row with a greater share, and what was found is
 * of no use, *n_loud tells how many loud cells there were: with a smaller share the loud ones
 * are among those, and if they are as many, they are the same.  Else it is 0.  It is set to
 * how many there are. */
gboolean
rs_beat_find(const rs_cells *row, guint64 width_ns, guint64 least_ns, guint64 share,
             guint *n_loud, rs_beat *beat);

void
rs_beat_clear(rs_beat *beat);

#endif
