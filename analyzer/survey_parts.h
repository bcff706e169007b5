/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The survey's decisions, one file each; survey.h says what they are.
 *
 * The one rule: a decision changes points and nothing else, and where what is held does
 * not tell, it changes nothing.
 */
#ifndef RS_SURVEY_PARTS_H
#define RS_SURVEY_PARTS_H

#include "held.h"
#include "points.h"

#define RS_MAX_HORIZON_NS ((guint64)1000 * 1000 * 1000)

/* Whether the point delivers every packet twice; its frames by identity. */
void
rs_decide_on_repeats(rs_point *point, const rs_held_slice *by_identity);

/* Whether its frames are in the order of their stamps; by arrival and by time. */
void
rs_decide_on_order(rs_point *point, const rs_held_slice *by_arrival,
                   const rs_held_slice *by_time);

/* Joins points that share streams, one of which is new; `by_arrival` has the frames of
 * all points. */
void
rs_decide_on_joins(rs_points *points, const rs_held_slice *by_arrival);

#endif
