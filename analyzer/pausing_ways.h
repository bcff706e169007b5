/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ways that pauses can take: from one source to another, against the traffic.
 *
 * The one rule: there is a way only where a stream shows one router between two ports, as
 * pausing_tree.h has it.
 */
#ifndef RS_PAUSING_WAYS_H
#define RS_PAUSING_WAYS_H

#include "pausing.h"

/* Pauses of `from` may cause such of `to`; the tracker's numbers. */
typedef struct rs_pause_way {
    guint32 from, to;
} rs_pause_way;

typedef struct rs_pause_ways {
    const rs_pausing *pausing;
    const roce_tracker *tracker;
    guint32 n;        /* sources */
    guint32 *same_as; /* by source: which of those of the same link stands for it */
    GArray *all;      /* rs_pause_way between those that stand, by `to`, each once */
} rs_pause_ways;

/* `pausing` has finished, but for its tree. */
rs_pause_ways *
rs_pause_ways_new(const rs_pausing *pausing, const roce_tracker *tracker);

void
rs_pause_ways_free(rs_pause_ways *ways);

/* The ways that lead to a source, one behind the other; how many is returned. */
guint
rs_pause_ways_to(const rs_pause_ways *ways, guint32 to, const rs_pause_way **first);

/* How many of its intervals a source has kept; 0 without the speed of the link, since
 * then nobody knows when a pause ended. */
guint64
rs_pause_n_kept(const roce_pause_source *p);

/* The kept interval of a source in which a time lies; NULL: none. */
const roce_pause_interval *
rs_pause_interval_at(const roce_pause_source *p, guint64 time_ns);

#endif
