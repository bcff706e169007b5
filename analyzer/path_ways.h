/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which way traffic goes along a path of capture points.
 *
 * The user gives the points in the order of the path; who is at which end of it nobody
 * says.  Packets that were seen at two points tell, for all that two addresses send each
 * other at once:
 *
 *   1. the hop limit: less of it is left at the later point;
 *   2. the time between both points, if one clock stamped it;
 *   3. with two clocks, both directions together: what one point saw later in one
 *      direction, it saw earlier in the other.  The offset of the clocks cancels out, and
 *      the sum of both delays is left, whose sign says which direction is which.  Where
 *      stamps are made for many packets at once it is lost among what they are wrong by,
 *      and where the clocks do not run alike among what they gain on each other from a
 *      packet to its answer: then nothing is said;
 *   4. else nothing: then it is taken to go from the first point to the last.
 *
 * The one rule: what is said rests on the strongest of these alone, and names it.
 */
#ifndef RS_PATH_WAYS_H
#define RS_PATH_WAYS_H

#include "roce/packet.h"

#include <glib.h>

typedef enum rs_way {
    RS_WAY_FORWARD,  /* from the first point given to the last */
    RS_WAY_BACKWARD, /* from the last to the first */
    RS_N_WAYS,
} rs_way;

typedef enum rs_way_by {
    RS_WAY_BY_HOPS,
    RS_WAY_BY_ONE_CLOCK,
    RS_WAY_BY_BOTH_WAYS,
    RS_WAY_BY_ORDER_GIVEN,
} rs_way_by;

/* "hop_limit", "one_clock", "both_directions", "order_given" */
const char *
rs_way_by_name(rs_way_by by);

/* Differences of two clocks, and what both ways together make of them. */
typedef struct rs_both_ways {
    guint n;
    struct {
        gboolean known;
        guint n; /* when it came */
        gint64 difference_ns;
    } newest[RS_N_WAYS];
} rs_both_ways;

/* Takes a difference, and makes it the middle between it and the newest of the other way,
 * so that delays cancel out.  FALSE: of the other way there is none that helps, or a clock
 * was set between both, and it stays what it is. */
gboolean
rs_both_ways_middle(rs_both_ways *both, rs_way way, gint64 *difference_ns);

/* A packet at the lower and at the higher of two points. */
typedef struct rs_way_pair {
    guint low, high;      /* points */
    gint64 at_ns;         /* stamp at `low` */
    gint64 difference_ns; /* stamp at `high` minus stamp at `low` */
    guint8 low_hops, high_hops;
    gboolean one_clock;
} rs_way_pair;

typedef struct rs_ways rs_ways; /* of all pairs of addresses */

rs_ways *
rs_ways_new(void);

void
rs_ways_free(rs_ways *ways);

/* The number of two addresses, whatever their order; G_MAXUINT32: there are too many. */
guint32
rs_ways_route(rs_ways *ways, const roce_addr *a, const roce_addr *b);

/* Two points saw a packet from `src`, whatever it tells. */
void
rs_ways_count(rs_ways *ways, guint32 route, const roce_addr *src);

/* Takes what a packet from `src` on its route tells. */
void
rs_ways_add(rs_ways *ways, guint32 route, const roce_addr *src,
            const rs_way_pair *pair);

rs_way
rs_ways_decide(const rs_ways *ways, guint32 route, const roce_addr *src, rs_way_by *by);

#endif
