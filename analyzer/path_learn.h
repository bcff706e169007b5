/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What packets that two points saw teach before they are decided on: which way traffic
 * goes, and what clocks show.
 *
 * The one rule: of packets that may have equal copies nothing is learned before the other
 * point would have shown all that it has, and then only of copies that are surely the
 * same: by their order where both saw as many, else by times that leave no doubt.
 */
#ifndef RS_PATH_LEARN_H
#define RS_PATH_LEARN_H

#include "match_table.h"
#include "path_match.h"

/* A packet of which a point saw a copy, by its frame, and another one some before it. */
typedef struct rs_path_unsure {
    guint other, point;
    guint64 frame;
} rs_path_unsure;

/* Two sightings are surely of one copy. */
void
rs_path_learn_of_one(rs_path *path, const rs_flow *flow, const rs_sighting *a,
                     const rs_sighting *b);

/* A point sees a packet of which equal copies may come; `fresh` is not of the entry yet. */
void
rs_path_learn_later(rs_path *path, const rs_match_entry *e, const rs_sighting *fresh);

/* All points have been read up to this time. */
void
rs_path_learn_up_to(rs_path *path, gint64 read_ns);

#endif
