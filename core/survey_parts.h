/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The survey's decisions, one file each; roce/survey.h says what they are.
 *
 * The one rule: a decision changes points and nothing else, and where what is held does
 * not tell, it changes nothing.
 */
#ifndef ROCE_CORE_SURVEY_PARTS_H
#define ROCE_CORE_SURVEY_PARTS_H

#include "held.h"
#include "key_map.h"

#include "roce/alloc.h"

#include <stdbool.h>
#include <stdint.h>

#define ROCE_MAX_HORIZON_NS ((uint64_t)1000 * 1000 * 1000)

#define ROCE_DESK_MAPS 4

/* What decisions write on while they are made: room for all frames that are held.
 * Nothing is left on it for the next. */
typedef struct roce_survey_desk {
    uint32_t *order, *scratch;
    uint64_t *lags_ns;
    roce_key_map maps[ROCE_DESK_MAPS]; /* to begin with roce_key_map_begin() */
} roce_survey_desk;

/* The frames of all points, by arrival.  A point's place says which are its own. */
typedef struct roce_survey_frames {
    const roce_held *frames;
    const uint32_t *by_arrival;
    const uint32_t *begins; /* by place, and one more: where its frames begin in it */
    uint32_t n_frames, n_places;
} roce_survey_frames;

/* A point's frames by arrival, or in another order that goes by point first. */
static inline roce_held_slice
roce_survey_slice(const roce_survey_frames *all, const uint32_t *order, uint32_t place)
{
    return (roce_held_slice){
        .frames = all->frames,
        .order = order,
        .begin = all->begins[place],
        .end = all->begins[place + 1],
    };
}

static inline roce_survey_point *
roce_survey_point_at(const roce_survey_frames *all, uint32_t place)
{
    return all->frames[all->by_arrival[all->begins[place]]].point;
}

/* Whether the point delivers every packet twice; its frames by identity. */
void
roce_decide_on_repeats(roce_survey_point *point, const roce_held_slice *by_identity,
                       roce_survey_desk *desk);

/* Whether its frames are in the order of their stamps; by arrival and by time. */
void
roce_decide_on_order(roce_survey_point *point, const roce_held_slice *by_arrival,
                     const roce_held_slice *by_time, roce_survey_desk *desk);

/* Joins points that share streams, one of which is new.  False for lack of memory:
 * nothing changed. */
bool
roce_decide_on_joins(const roce_survey_frames *all, roce_survey_desk *desk,
                     const roce_alloc *alloc);

#endif
