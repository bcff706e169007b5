/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two clocks compared by packets that both have stamped.
 *
 * A packet that was seen at two points gives a difference: its stamp at the second point
 * minus that at the first.  It is the offset of the second clock plus the delay of the
 * packet, if it went from the first point to the second (forward), and minus that delay
 * if it went the other way (backward).  So
 *
 *   - the offset is no greater than the least difference forward and no less than the
 *     greatest one backward.  It is taken to lie in the middle: as if the least delays of
 *     both ways were the same.  Half of what lies between is how wrong that can be, and
 *     what stamps are too coarse for, and what a drift does that is not known;
 *   - with one way alone, offset and delay cannot be told apart;
 *   - drift is the slope for which the differences of both ways leave the widest strip
 *     between them (of one way alone: for which the line below them all is the highest,
 *     as Moon, Skelly and Towsley have it);
 *   - a clock was set where the differences of both ways change at once, by the same,
 *     and stay there; "at once" in the order of the point whose clock it is.  Queues
 *     change one way alone.  With one way alone, only what is too much for a queue is
 *     called a step.
 *
 * The one rule: memory is bounded.  Differences are kept evenly, each with the least and
 * the greatest of those that it stands for, so that no extreme is ever lost.
 */
#ifndef RS_CLOCK_MATCH_H
#define RS_CLOCK_MATCH_H

#include "dist.h"

#include <glib.h>

typedef enum rs_clock_way {
    RS_CLOCK_FORWARD,
    RS_CLOCK_BACKWARD,
    RS_N_CLOCK_WAYS,
} rs_clock_way;

typedef struct rs_clock rs_clock;

rs_clock *
rs_clock_new(void);

void
rs_clock_free(rs_clock *clock);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_clock, rs_clock_free)

/* A packet that both points stamped. */
typedef struct rs_clock_pair {
    gint64 at_ns; /* its stamp at the first point */
    gint64 difference_ns;
    guint64 frame[2]; /* its place at the first and at the second point */
} rs_clock_pair;

/* Packets come about in order of time. */
void
rs_clock_add(rs_clock *clock, rs_clock_way way, const rs_clock_pair *pair);

#define RS_CLOCK_STEPS 16 /* told of; more are not looked for */

typedef struct rs_clock_step {
    gint64 at_ns;  /* stamp at the first point of the first packet behind it */
    gint64 by_ns;  /* by how much differences grew */
    guint set;     /* 0, 1: the point whose clock was set, as the gaps in both show */
    guint point;   /* 0, 1: in whose order it was found */
    guint64 frame; /* the first there behind it */
} rs_clock_step;

typedef struct rs_clock_fit {
    guint64 packets[RS_N_CLOCK_WAYS];
    gboolean known;         /* of any packet: otherwise nothing below holds */
    gboolean both_ways;     /* if not, `offset_ns` has the least delay in it */
    guint64 coarse_ns;      /* that stamps of both points are wrong by */
    gint64 start_ns;        /* at_ns of the first packet */
    gint64 offset_ns;       /* then */
    guint64 uncertainty_ns; /* of the offset; valid if both_ways */
    guint64 round_trip_ns;  /* least delay forward and backward together; likewise */
    gboolean drift_known;   /* it was long enough to tell */
    gint64 drift_ppb;       /* by which the second clock is faster; 0 while unknown */
    guint64 drift_uncertainty_ppb; /* valid if drift_known */
    guint64 residual_ns;           /* median distance of the extremes from their line */
    guint n_steps;
    rs_clock_step steps[RS_CLOCK_STEPS];
    gint64 edge_ns[RS_N_CLOCK_WAYS]; /* least or greatest difference at start_ns */
} rs_clock_fit;

/* What is known by now, if stamps are wrong by up to so much, both together: that is what
 * their resolutions leave open, beyond a nanosecond. */
void
rs_clock_solve(const rs_clock *clock, guint64 coarse_ns, rs_clock_fit *fit);

/* The same for two points that one clock stamps: its offset is 0 and it does not drift. */
void
rs_clock_solve_same(const rs_clock *clock, rs_clock_fit *fit);

/* How delays of one way are spread above the least of them. */
void
rs_clock_variation(const rs_clock *clock, const rs_clock_fit *fit, rs_clock_way way,
                   rs_dist *dist);

/* Of differences (gint64, sorted on the way) most of which are coincidences, those that
 * lie closest together: how many lie within `width_ns` of each other, at most, and the
 * median of these.  0 without any. */
guint
rs_clock_densest(GArray *differences, guint64 width_ns, gint64 *median_ns);

#endif
