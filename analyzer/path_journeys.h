/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which sightings of equal copies of a packet are the same copy's, from point to point in
 * the direction of travel.
 *
 * The one rule: copies stay in their order, and of all ways to pair them then, that is
 * taken by which the times are the least unusual.  Where times do not tell, a copy goes on
 * from the point before rather than round it.
 */
#ifndef RS_PATH_JOURNEYS_H
#define RS_PATH_JOURNEYS_H

#include "match_table.h"
#include "path_fates.h"
#include "path_match.h"

/* Where one copy was seen, in the direction of travel. */
typedef struct rs_journey {
    guint32 at[RS_PATH_MAX_POINTS];
    guint last;
    gboolean ambiguous; /* it did not go on, and an equal copy may have been the one */
    gboolean unsure;    /* it went on, and an equal copy may have been the one */
    gboolean open;      /* more of it may come */
} rs_journey;

/* An entry while it is decided on. */
typedef struct rs_decision {
    rs_path *path; /* its journeys are those of the entry */
    const rs_match_entry *entry;
    rs_flow *flow;
    guint n_points;
} rs_decision;

static inline rs_journey *
rs_journey_at(const rs_decision *d, guint i)
{
    return &g_array_index(d->path->journeys, rs_journey, i);
}

static inline rs_sighting *
rs_sighting_at(const rs_decision *d, guint32 at)
{
    return rs_match_sighting(d->path->table, at);
}

/* CNPs that are equal: as many as a queue pair gets. */
static inline gboolean
rs_is_storm(const rs_decision *d)
{
    return d->entry->opcode == ROCE_OPCODE_CNP && !d->flow->cnps.numbered;
}

/* How long packets of this kind usually take from one point to another. */
gint64
rs_usual_between(const rs_decision *d, guint a, guint b);

/* Finds all of the entry's. */
void
rs_find_journeys(rs_decision *d);

#endif
