/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which points share streams between them.
 *
 * Two points are joined when neither has packets of the other, and
 *
 *   - the packets of a stream go back and forth between them: in the order of PSNs there
 *     is one at the first point, one at the second, again one at the first.  Whoever
 *     sees a whole stretch of a stream, here or there, earlier or later, leaves nothing
 *     for the other to fill in; or
 *   - one has requests and the other their answers, and neither has those of the other:
 *     a file for each direction, or a bond whose members carry one direction each of a
 *     queue pair.
 *
 * Twins, the same packet at both, show that they stand behind each other on a path.
 * Where the identity does not show it, one PSN at both does.  A whole path may be seen
 * twice, each time by a file for each direction: what one has would then fit either of
 * two others.  Interfaces of one file go together first, and nothing is joined that
 * would bring both copies of a path together.
 */
#include "survey_parts.h"

#include "roce/hash.h"

#include <string.h>

#define SHARED_LEAST 8  /* returns from one point to the other, or answers */
#define SHARED_BESIDE 2 /* where one of them has been joined with another of its file */
#define SHARED_PSNS 1024
#define TWIN_PERCENT 1
#define CLASH_PERCENT 40 /* those sent again clash as well; of a whole path, half do */
#define MAX_JOINED_POINTS 256
#define JOINED_HORIZON_NS ((uint64_t)1000 * 1000) /* interfaces of one file */

/* What two points have to do with each other. */
typedef struct relation {
    uint32_t twins;   /* packets that both have */
    uint32_t returns; /* to one of them, after packets that the other has */
    uint32_t
        clashes; /* PSNs that both have, where no identification tells copies apart */
    uint32_t answers;
} relation;

typedef struct joining {
    const roce_survey_frames *all;
    roce_survey_desk *desk;
    relation *relations; /* n_places squared; of places a < b alone */
    /* of a run of frames that is being looked at */
    uint32_t
        last[MAX_JOINED_POINTS];     /* by place: index of its newest frame + 1, or 0 */
    uint32_t met[MAX_JOINED_POINTS]; /* places that have frames of it */
    uint32_t n_met;
} joining;

static relation *
relation_of(const joining *j, uint32_t a, uint32_t b)
{
    uint32_t low = a < b ? a : b;
    uint32_t high = a < b ? b : a;
    return &j->relations[low * j->all->n_places + high];
}

/* All frames, in this order. */
static roce_held_slice
sorted_by(joining *j, roce_held_compare compare)
{
    const roce_survey_frames *all = j->all;
    roce_held_sort(j->desk->order, j->desk->scratch, all->frames, all->n_frames,
                   compare);
    memset(j->last, 0, sizeof j->last);
    return (roce_held_slice){
        .frames = all->frames, .order = j->desk->order, .end = all->n_frames};
}

/* The frames that are equal to the first, from `begin` on. */
static roce_held_slice
run_at(const roce_held_slice *all, uint32_t begin, roce_held_compare compare)
{
    roce_held_slice run = *all;
    run.begin = begin;
    run.end = begin + 1;
    while (run.end < all->end &&
           compare(roce_held_nth(all, begin), roce_held_nth(all, run.end)) == 0) {
        run.end++;
    }
    return run;
}

/* ---- twins ---- */

static int
by_narrow(const roce_held *a, const roce_held *b)
{
    return roce_compare_u64(a->identity.narrow, b->identity.narrow);
}

/* Every two places in this run of copies of one packet have a twin more. */
static void
count_copies(joining *j, const roce_held_slice *run)
{
    j->n_met = 0;
    for (uint32_t i = run->begin; i < run->end; i++) {
        uint32_t place = roce_held_nth(run, i)->place;
        if (j->last[place] > run->begin) {
            continue;
        }
        j->last[place] = i + 1;
        for (uint32_t k = 0; k < j->n_met; k++) {
            relation_of(j, place, j->met[k])->twins++;
        }
        j->met[j->n_met++] = place;
    }
}

/* Snap lengths may differ, so that only what every one keeps is compared. */
static void
count_twins(joining *j)
{
    roce_held_slice all = sorted_by(j, by_narrow);
    for (uint32_t begin = 0; begin < all.end;) {
        roce_held_slice run = run_at(&all, begin, by_narrow);
        if (roce_held_nth(&run, begin)->has_identity && run.end - begin > 1) {
            count_copies(j, &run);
        }
        begin = run.end;
    }
}

/* ---- back and forth ---- */

static int
by_lane(const roce_held *a, const roce_held *b)
{
    int order = roce_compare_u64(a->stream, b->stream);
    return order != 0 ? order : roce_compare_u64(a->kind, b->kind);
}

static int
by_psn(const roce_held *a, const roce_held *b)
{
    int order = by_lane(a, b);
    return order != 0 ? order : roce_compare_u64(a->psn24, b->psn24);
}

/* Takes the i-th frame of a lane. */
static void
count_returns(joining *j, const roce_held_slice *lane, uint32_t i)
{
    const roce_held *h = roce_held_nth(lane, i);
    uint32_t here = h->place;
    bool is_new = j->last[here] <= lane->begin;
    for (uint32_t k = 0; k < j->n_met && !is_new; k++) {
        uint32_t there = j->met[k];
        if (there == here || j->last[there] < j->last[here]) {
            continue;
        }
        const roce_held *other = roce_held_nth(lane, j->last[there] - 1);
        bool alike = h->ipv4_ident == other->ipv4_ident;
        relation *r = relation_of(j, here, there);
        r->returns += h->psn24 - other->psn24 <= SHARED_PSNS ? 1 : 0;
        r->clashes += h->psn24 == other->psn24 && alike ? 1 : 0;
    }
    if (is_new) {
        j->met[j->n_met++] = here;
    }
    j->last[here] = i + 1;
}

static void
count_shared(joining *j)
{
    roce_held_slice all = sorted_by(j, by_psn);
    for (uint32_t begin = 0; begin < all.end;) {
        roce_held_slice lane = run_at(&all, begin, by_lane);
        const roce_held *first = roce_held_nth(&lane, begin);
        bool counts = first->stream != 0 && first->kind != ROCE_HELD_OTHER;
        j->n_met = 0;
        for (uint32_t i = lane.begin; i < lane.end && counts; i++) {
            count_returns(j, &lane, i);
        }
        begin = lane.end;
    }
}

/* ---- requests and answers ---- */

static uint64_t
key_at(uint64_t way, uint32_t place, uint32_t psn24)
{
    return roce_held_psn_key(roce_hash_mix(way, place), psn24);
}

static bool
is_answer(const roce_held *h)
{
    return h->kind == ROCE_HELD_ACK || h->kind == ROCE_HELD_RESPONSE;
}

/* An answer: whether it belongs to requests of other points, as count_answers() counts it. */
static void
count_answer(joining *j, const roce_held *h)
{
    roce_key_map *asks = &j->desk->maps[1];
    roce_key_map *answers = &j->desk->maps[2];
    if (roce_key_map_get(asks, key_at(h->back, h->place, h->psn24)) != 0) {
        return;
    }
    for (uint32_t there = 0; there < j->all->n_places; there++) {
        if (roce_key_map_get(asks, key_at(h->back, there, h->psn24)) != 0 &&
            roce_key_map_get(answers, key_at(h->way, there, h->psn24)) == 0) {
            relation_of(j, there, h->place)->answers++;
        }
    }
}

/* Requests at one point that are answered at another alone, and never came by there. */
static void
count_answers(joining *j)
{
    const roce_survey_frames *all = j->all;
    roce_key_map *asked = &j->desk->maps[0]; /* PSNs, wherever */
    roce_key_map *asks = &j->desk->maps[1];  /* at a place */
    roce_key_map *answers = &j->desk->maps[2];
    for (uint32_t i = 0; i < ROCE_DESK_MAPS; i++) {
        roce_key_map_begin(&j->desk->maps[i], all->n_frames);
    }
    for (uint32_t i = 0; i < all->n_frames; i++) {
        const roce_held *h = &all->frames[i];
        uint64_t here = key_at(h->way, h->place, h->psn24);
        if (h->kind == ROCE_HELD_REQUEST) {
            roce_key_map_set(asked, roce_held_psn_key(h->way, h->psn24), 1);
            roce_key_map_set(asks, here, 1);
        } else if (is_answer(h)) {
            roce_key_map_set(answers, here, 1);
        }
    }
    for (uint32_t i = 0; i < all->n_frames; i++) {
        const roce_held *h = &all->frames[i];
        if (is_answer(h) &&
            roce_key_map_get(asked, roce_held_psn_key(h->back, h->psn24)) != 0) {
            count_answer(j, h);
        }
    }
}

/* ---- the decision ---- */

static uint32_t
shared_by(const relation *r)
{
    return r->returns > r->answers ? r->returns : r->answers;
}

/* Whether both have seen the same packets, as far as can be told. */
static bool
stand_behind_each_other(const relation *r)
{
    uint32_t shared = shared_by(r);
    return (r->twins > 0 && roce_reaches(r->twins, shared, TWIN_PERCENT)) ||
           (r->clashes > 0 && roce_reaches(r->clashes, shared, CLASH_PERCENT));
}

static bool
shares_streams(const relation *r, uint32_t least)
{
    return shared_by(r) >= least && !stand_behind_each_other(r);
}

/* Whether a point has been joined with another one of its file. */
static bool
is_joined(const joining *j, uint32_t a)
{
    const roce_survey_point *x = roce_survey_point_at(j->all, a);
    for (uint32_t b = 0; b < j->all->n_places; b++) {
        const roce_survey_point *y = roce_survey_point_at(j->all, b);
        if (b != a && y->group == x->group && y->file_i == x->file_i) {
            return true;
        }
    }
    return false;
}

static uint64_t
largest_step_ns(const joining *j, uint32_t place)
{
    roce_held_slice slice = roce_survey_slice(j->all, j->all->by_arrival, place);
    return roce_held_largest_step_ns(&slice);
}

static void
put_among_others(roce_survey_point *point, uint64_t horizon_ns)
{
    point->order = point->order == ROCE_ORDER_FILE ? ROCE_ORDER_CLOCK : point->order;
    point->horizon_ns = horizon_ns > point->horizon_ns ? horizon_ns : point->horizon_ns;
}

/* Whether the order of a joined group's frames can be had from the file alone. */
static void
set_order_of_joined(const joining *j, uint32_t a, uint32_t b)
{
    roce_survey_point *x = roce_survey_point_at(j->all, a);
    roce_survey_point *y = roce_survey_point_at(j->all, b);
    if (x->file_i != y->file_i) {
        return; /* files come together in the order of time */
    }
    uint64_t of_a_ns = largest_step_ns(j, a);
    uint64_t of_b_ns = largest_step_ns(j, b);
    uint64_t step_ns = of_a_ns > of_b_ns ? of_a_ns : of_b_ns;
    step_ns = step_ns > JOINED_HORIZON_NS / 2 ? step_ns : JOINED_HORIZON_NS / 2;
    uint64_t horizon_ns =
        step_ns < ROCE_MAX_HORIZON_NS / 2 ? 2 * step_ns : ROCE_MAX_HORIZON_NS;
    put_among_others(x, horizon_ns);
    put_among_others(y, horizon_ns);
}

/* Whether a point of the one's group stands behind one of the other's. */
static bool
groups_overlap(const joining *j, uint32_t group, uint32_t other)
{
    uint32_t n = j->all->n_places;
    for (uint32_t a = 0; a < n; a++) {
        if (roce_survey_point_at(j->all, a)->group != group) {
            continue;
        }
        for (uint32_t b = 0; b < n; b++) {
            if (roce_survey_point_at(j->all, b)->group == other &&
                stand_behind_each_other(relation_of(j, a, b))) {
                return true;
            }
        }
    }
    return false;
}

typedef enum join_scope {
    WITHIN_FILES,
    BESIDE_JOINED, /* within files, where another interface has been joined with one */
    BETWEEN_FILES
} join_scope;

static bool
is_in_scope(const joining *j, uint32_t a, uint32_t b, join_scope scope)
{
    bool one_file = roce_survey_point_at(j->all, a)->file_i ==
                    roce_survey_point_at(j->all, b)->file_i;
    switch (scope) {
    case WITHIN_FILES:
        return one_file;
    case BESIDE_JOINED:
        return one_file && relation_of(j, a, b)->twins == 0 &&
               (is_joined(j, a) || is_joined(j, b));
    case BETWEEN_FILES:
        return !one_file;
    }
    return false;
}

static void
decide_on_pair(const joining *j, uint32_t a, uint32_t b, join_scope scope)
{
    roce_survey_point *x = roce_survey_point_at(j->all, a);
    roce_survey_point *y = roce_survey_point_at(j->all, b);
    bool is_new = !x->settled || !y->settled;
    uint32_t least = scope == BESIDE_JOINED ? SHARED_BESIDE : SHARED_LEAST;
    if (!is_in_scope(j, a, b, scope) || !is_new ||
        !shares_streams(relation_of(j, a, b), least) ||
        (x->group != y->group && groups_overlap(j, x->group, y->group))) {
        return;
    }
    roce_survey_point_join(x, y);
    set_order_of_joined(j, a, b);
}

static void
decide(const joining *j, join_scope scope)
{
    for (uint32_t a = 0; a < j->all->n_places; a++) {
        for (uint32_t b = a + 1; b < j->all->n_places; b++) {
            decide_on_pair(j, a, b, scope);
        }
    }
}

bool
roce_decide_on_joins(const roce_survey_frames *all, roce_survey_desk *desk,
                     const roce_alloc *alloc)
{
    uint32_t n = all->n_places;
    if (n < 2 || n > MAX_JOINED_POINTS) {
        return true;
    }
    size_t size = (size_t)n * n * sizeof(relation);
    joining j = {.all = all, .desk = desk};
    j.relations = alloc->resize(alloc->ctx, NULL, size);
    if (j.relations == NULL) {
        return false;
    }
    memset(j.relations, 0, size);
    count_twins(&j);
    count_shared(&j);
    count_answers(&j);
    decide(&j, WITHIN_FILES);
    decide(&j, BESIDE_JOINED);
    decide(&j, BETWEEN_FILES);
    alloc->release(alloc->ctx, j.relations);
    return true;
}
