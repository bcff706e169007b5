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
 * Where the identity does not show it, one PSN at both does.
 */
#include "survey_parts.h"

#include "roce/hash.h"
#include "roce/psn.h"

#define SHARED_LEAST 8 /* returns from one point to the other, or answers */
#define SHARED_PSNS 1024
#define TWIN_PERCENT 1
#define CLASH_PERCENT 40 /* those sent again clash as well; of a whole path, half do */
#define MAX_JOINED_POINTS 256
#define JOINED_HORIZON_NS ((guint64)1000 * 1000) /* interfaces of one file */

/* What two points have to do with each other. */
typedef struct relation {
    guint twins;   /* packets that both have */
    guint returns; /* to one of them, after packets that the other has */
    guint clashes; /* PSNs that both have, where no identification tells copies apart */
    guint answers;
} relation;

/* Points by the order in which they are met here: 0..n-1. */
typedef struct joining {
    rs_points *points;
    const GArray *frames; /* rs_held */
    GHashTable *places;   /* point -> place + 1 */
    GArray *ids;          /* guint point by place */
    relation *relations;  /* ids->len squared; of places a < b alone */
    gint64 *last;         /* by place: index of its newest frame, or -1 */
} joining;

static guint
place_of(const joining *j, const rs_held *h)
{
    gpointer key = GUINT_TO_POINTER(h->frame.point);
    return GPOINTER_TO_UINT(g_hash_table_lookup(j->places, key)) - 1;
}

static relation *
relation_of(const joining *j, guint a, guint b)
{
    return &j->relations[MIN(a, b) * j->ids->len + MAX(a, b)];
}

static void
find_places(joining *j)
{
    for (guint i = 0; i < j->frames->len; i++) {
        guint point = g_array_index(j->frames, rs_held, i).frame.point;
        gpointer key = GUINT_TO_POINTER(point);
        if (!g_hash_table_contains(j->places, key)) {
            g_array_append_val(j->ids, point);
            g_hash_table_insert(j->places, key, GUINT_TO_POINTER(j->ids->len));
        }
    }
}

/* ---- twins ---- */

static gint
by_narrow(const rs_held *a, const rs_held *b)
{
    return rs_compare_u64(a->identity.narrow, b->identity.narrow);
}

/* Every two places in this run of copies of one packet have a twin more. */
static void
count_run(joining *j, const rs_held_slice *run, GArray *met)
{
    g_array_set_size(met, 0);
    for (guint i = run->begin; i < run->end; i++) {
        guint place = place_of(j, rs_held_nth(run, i));
        if (j->last[place] >= run->begin) {
            continue;
        }
        j->last[place] = i;
        for (guint k = 0; k < met->len; k++) {
            relation_of(j, place, g_array_index(met, guint, k))->twins++;
        }
        g_array_append_val(met, place);
    }
}

static void
forget_last(joining *j)
{
    for (guint i = 0; i < j->ids->len; i++) {
        j->last[i] = -1;
    }
}

/* Snap lengths may differ, so that only what every one keeps is compared. */
static void
count_twins(joining *j)
{
    g_autoptr(GArray) order = rs_held_sorted(j->frames, by_narrow);
    g_autoptr(GArray) met = g_array_new(FALSE, FALSE, sizeof(guint));
    rs_held_slice run = {.frames = j->frames, .order = order};
    forget_last(j);
    for (; run.begin < order->len; run.begin = run.end) {
        const rs_held *first = rs_held_nth(&run, run.begin);
        run.end = run.begin + 1;
        while (run.end < order->len &&
               by_narrow(first, rs_held_nth(&run, run.end)) == 0) {
            run.end++;
        }
        if (first->has_identity && run.end - run.begin > 1) {
            count_run(j, &run, met);
        }
    }
}

/* ---- back and forth ---- */

static gint
by_lane(const rs_held *a, const rs_held *b)
{
    gint order = rs_compare_u64(a->stream, b->stream);
    return order != 0 ? order : rs_compare_u64(a->kind, b->kind);
}

static gint
by_psn(const rs_held *a, const rs_held *b)
{
    gint order = by_lane(a, b);
    return order != 0 ? order : rs_compare_u64(a->psn24, b->psn24);
}

/* Takes the i-th frame of a lane; `met` are the places that have others of it. */
static void
count_returns(joining *j, const rs_held_slice *lane, guint i, GArray *met)
{
    const rs_held *h = rs_held_nth(lane, i);
    guint here = place_of(j, h);
    gboolean is_new = j->last[here] < lane->begin;
    for (guint k = 0; k < met->len && !is_new; k++) {
        guint there = g_array_index(met, guint, k);
        if (there == here || j->last[there] < j->last[here]) {
            continue;
        }
        const rs_held *other = rs_held_nth(lane, (guint)j->last[there]);
        gboolean alike = h->ipv4_ident == other->ipv4_ident;
        relation *r = relation_of(j, here, there);
        r->returns += h->psn24 - other->psn24 <= SHARED_PSNS ? 1 : 0;
        r->clashes += h->psn24 == other->psn24 && alike ? 1 : 0;
    }
    if (is_new) {
        g_array_append_val(met, here);
    }
    j->last[here] = i;
}

static void
count_shared(joining *j)
{
    g_autoptr(GArray) order = rs_held_sorted(j->frames, by_psn);
    g_autoptr(GArray) met = g_array_new(FALSE, FALSE, sizeof(guint));
    rs_held_slice lane = {.frames = j->frames, .order = order};
    forget_last(j);
    for (; lane.begin < order->len; lane.begin = lane.end) {
        const rs_held *first = rs_held_nth(&lane, lane.begin);
        gboolean counts = first->stream != 0 && first->kind != RS_HELD_OTHER;
        g_array_set_size(met, 0);
        for (lane.end = lane.begin;
             lane.end < order->len && by_lane(first, rs_held_nth(&lane, lane.end)) == 0;
             lane.end++) {
            if (counts) {
                count_returns(j, &lane, lane.end, met);
            }
        }
    }
}

/* ---- requests and answers ---- */

static gpointer
psn_key(guint64 way, guint32 psn24)
{
    guint64 h = roce_hash_mix(way, psn24);
    return GSIZE_TO_POINTER((gsize)(h | 1));
}

static guint64
way_at(guint64 way, guint place)
{
    return roce_hash_mix(way, place);
}

/* Requests at one point that are answered at another alone, and never came by there. */
static void
count_answers(joining *j)
{
    g_autoptr(GHashTable) asked = g_hash_table_new(NULL, NULL); /* PSN -> place + 1 */
    g_autoptr(GHashTable) asks = g_hash_table_new(NULL, NULL);  /* at a place */
    g_autoptr(GHashTable) answers = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < j->frames->len; i++) {
        const rs_held *h = &g_array_index(j->frames, rs_held, i);
        guint place = place_of(j, h);
        gpointer here = psn_key(way_at(h->way, place), h->psn24);
        if (h->kind == RS_HELD_REQUEST) {
            g_hash_table_insert(asked, psn_key(h->way, h->psn24),
                                GUINT_TO_POINTER(place + 1));
            (void)g_hash_table_add(asks, here);
        } else if (h->kind != RS_HELD_OTHER) {
            (void)g_hash_table_add(answers, here);
        }
    }
    for (guint i = 0; i < j->frames->len; i++) {
        const rs_held *h = &g_array_index(j->frames, rs_held, i);
        gpointer found = h->kind == RS_HELD_ACK || h->kind == RS_HELD_RESPONSE
                             ? g_hash_table_lookup(asked, psn_key(h->back, h->psn24))
                             : NULL;
        if (found == NULL) {
            continue;
        }
        guint here = place_of(j, h);
        guint there = GPOINTER_TO_UINT(found) - 1;
        gpointer asks_here = psn_key(way_at(h->back, here), h->psn24);
        gpointer answers_there = psn_key(way_at(h->way, there), h->psn24);
        if (there != here && !g_hash_table_contains(asks, asks_here) &&
            !g_hash_table_contains(answers, answers_there)) {
            relation_of(j, there, here)->answers++;
        }
    }
}

/* ---- the decision ---- */

static gboolean
shares_streams(const relation *r)
{
    guint shared = MAX(r->returns, r->answers);
    return shared >= SHARED_LEAST &&
           (r->twins == 0 || !rs_reaches(r->twins, shared, TWIN_PERCENT)) &&
           (r->clashes == 0 || !rs_reaches(r->clashes, shared, CLASH_PERCENT));
}

/* Frames of one interface; an empty slice for one that has none. */
static rs_held_slice
slice_of(const rs_held_slice *by_arrival, guint point)
{
    rs_held_slice slice = *by_arrival;
    while (slice.begin < slice.end &&
           rs_held_nth(&slice, slice.begin)->frame.point != point) {
        slice.begin++;
    }
    slice.end = slice.begin;
    while (slice.end < by_arrival->end &&
           rs_held_nth(&slice, slice.end)->frame.point == point) {
        slice.end++;
    }
    return slice;
}

/* Whether the order of a joined group's frames can be had from the file alone. */
static void
set_order_of_joined(const rs_held_slice *by_arrival, rs_point *a, rs_point *b)
{
    if (a->last_file_i != b->last_file_i) {
        return; /* the feed brings files together in time */
    }
    rs_held_slice of_a = slice_of(by_arrival, a->id);
    rs_held_slice of_b = slice_of(by_arrival, b->id);
    guint64 step_ns =
        MAX(rs_held_largest_step_ns(&of_a), rs_held_largest_step_ns(&of_b));
    guint64 horizon_ns = CLAMP(step_ns, JOINED_HORIZON_NS / 2, RS_MAX_HORIZON_NS / 2);
    a->order = MAX(a->order, RS_ORDER_CLOCK);
    b->order = MAX(b->order, RS_ORDER_CLOCK);
    a->horizon_ns = MAX(a->horizon_ns, 2 * horizon_ns);
    b->horizon_ns = MAX(b->horizon_ns, 2 * horizon_ns);
}

static void
decide(const joining *j, const rs_held_slice *by_arrival)
{
    for (guint a = 0; a < j->ids->len; a++) {
        for (guint b = a + 1; b < j->ids->len; b++) {
            rs_point *x = rs_points_at(j->points, g_array_index(j->ids, guint, a));
            rs_point *y = rs_points_at(j->points, g_array_index(j->ids, guint, b));
            gboolean is_new = !x->surveyed || !y->surveyed;
            if (is_new && shares_streams(relation_of(j, a, b))) {
                rs_points_join(j->points, x->id, y->id);
                set_order_of_joined(by_arrival, x, y);
            }
        }
    }
}

void
rs_decide_on_joins(rs_points *points, const rs_held_slice *by_arrival)
{
    joining j = {
        .points = points,
        .frames = by_arrival->frames,
        .places = g_hash_table_new(NULL, NULL),
        .ids = g_array_new(FALSE, FALSE, sizeof(guint)),
    };
    find_places(&j);
    guint n = j.ids->len;
    if (n >= 2 && n <= MAX_JOINED_POINTS) {
        j.relations = g_new0(relation, n * n);
        j.last = g_new(gint64, n);
        count_twins(&j);
        count_shared(&j);
        count_answers(&j);
        decide(&j, by_arrival);
    }
    g_free(j.relations);
    g_free(j.last);
    g_hash_table_unref(j.places);
    g_array_unref(j.ids);
}
