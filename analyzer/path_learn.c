/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "path_learn.h"

#include "path_fates.h"
#include "path_time.h"

#define UNSURE_NS 10000000 /* within which the other point shows a copy more */
#define MOST_EQUAL 8       /* copies of which it is learned which are the same */
#define NEAR_NS 10000      /* in time, if no other one is */
#define BY_FAR 8           /* times as far as that */

/* Two sightings of one copy say which way it went. */
static rs_way_pair
learn_way(rs_path *path, const rs_flow *flow, const rs_sighting *a,
          const rs_sighting *b)
{
    const rs_sighting *low = a->point < b->point ? a : b;
    const rs_sighting *high = a->point < b->point ? b : a;
    const rs_way_pair pair = {
        .low = low->point,
        .high = high->point,
        .at_ns = rs_time_of_stamp(low->stamp_ns),
        .difference_ns = rs_time_apart(rs_time_of_stamp(high->stamp_ns),
                                       rs_time_of_stamp(low->stamp_ns)),
        .low_hops = low->hops,
        .high_hops = high->hops,
        .one_clock =
            path->config.clock_of[low->point] == path->config.clock_of[high->point],
    };
    rs_ways_add(path->ways, flow->route, &flow->src, &pair);
    return pair;
}

void
rs_path_learn_of_one(rs_path *path, const rs_flow *flow, const rs_sighting *a,
                     const rs_sighting *b)
{
    const rs_way_pair pair = learn_way(path, flow, a, b);
    rs_way_by by;
    rs_way way = rs_ways_decide(path->ways, flow->route, &flow->src, &by);
    path->config.matched(path->config.ctx, pair.low, pair.high, way,
                         pair.difference_ns);
}

static guint
n_at(const rs_path *path, const rs_match_entry *e, guint point)
{
    guint n = 0;
    for (guint32 at = e->first; at != RS_NO_SIGHTING;) {
        const rs_sighting *s = rs_match_sighting(path->table, at);
        n += s->point == point ? 1 : 0;
        at = s->next;
    }
    return n;
}

/* The i-th sighting of a point, or NULL. */
static const rs_sighting *
nth_at(const rs_path *path, const rs_match_entry *e, guint point, guint i)
{
    for (guint32 at = e->first; at != RS_NO_SIGHTING;) {
        const rs_sighting *s = rs_match_sighting(path->table, at);
        if (s->point == point && i-- == 0) {
            return s;
        }
        at = s->next;
    }
    return NULL;
}

void
rs_path_learn_later(rs_path *path, const rs_match_entry *e, const rs_sighting *fresh)
{
    if (rs_path_may_be_one(path, e) && e->last != RS_NO_SIGHTING &&
        nth_at(path, e, fresh->point, 0) == NULL) {
        const rs_path_unsure unsure = {
            .other = rs_match_sighting(path->table, e->last)->point,
            .point = fresh->point,
            .frame = fresh->frame,
        };
        g_array_append_val(path->unsure, unsure);
    }
}

/* The sighting at a point that is by far the nearest in time to one elsewhere, or NULL. */
static const rs_sighting *
nearest_at(const rs_path *path, const rs_match_entry *e, guint point,
           const rs_sighting *to)
{
    const rs_sighting *nearest = NULL;
    gint64 least_ns = RS_TIME_LIMIT_NS;
    gint64 next_ns = RS_TIME_LIMIT_NS;
    for (guint32 at = e->first; at != RS_NO_SIGHTING;) {
        const rs_sighting *s = rs_match_sighting(path->table, at);
        gint64 off_ns = rs_time_size(rs_time_apart(s->at_ns, to->at_ns), next_ns);
        if (s->point == point) {
            next_ns = off_ns < least_ns ? least_ns : off_ns;
            nearest = off_ns < least_ns ? s : nearest;
            least_ns = MIN(least_ns, off_ns);
        }
        at = s->next;
    }
    return next_ns / BY_FAR > MAX(least_ns, NEAR_NS) ? nearest : NULL;
}

/* Copies that are the same: in their order where both points saw as many, else in time, if
 * that is known. */
static void
learn_copies(rs_path *path, const rs_match_entry *e, guint a, guint b)
{
    gboolean in_order = n_at(path, e, a) == n_at(path, e, b);
    const rs_flow *flow = rs_path_flow(path, e->flow);
    for (guint i = 0; i < MOST_EQUAL; i++) {
        const rs_sighting *x = nth_at(path, e, a, i);
        const rs_sighting *y = x == NULL  ? NULL
                               : in_order ? nth_at(path, e, b, i)
                                          : nearest_at(path, e, b, x);
        if (y != NULL && (in_order || nearest_at(path, e, a, y) == x)) {
            const rs_sighting both[2] = {*x, *y}; /* clocks that move, move them */
            if (path->side_by_side) {
                rs_path_learn_of_one(path, flow, &both[0], &both[1]);
            } else {
                (void)learn_way(path, flow, &both[0], &both[1]);
            }
        }
    }
}

/* FALSE: it cannot be told yet. */
static gboolean
learn_of(rs_path *path, const rs_path_unsure *unsure)
{
    guint32 at = rs_match_of_frame(path->table, unsure->point, unsure->frame);
    const rs_match_entry *e =
        at == RS_NO_SIGHTING
            ? NULL
            : rs_match_entry_of(path->table, rs_match_sighting(path->table, at)->entry);
    if (e == NULL || !rs_path_may_be_one(path, e)) {
        return TRUE;
    }
    if (!path->clocks_known &&
        n_at(path, e, unsure->point) != n_at(path, e, unsure->other)) {
        return FALSE;
    }
    learn_copies(path, e, unsure->other, unsure->point);
    return TRUE;
}

/* Whether the other point would have shown by now what it has. */
static gboolean
is_due(const rs_path *path, const rs_path_unsure *unsure, gint64 read_ns)
{
    guint32 at = rs_match_of_frame(path->table, unsure->point, unsure->frame);
    return at == RS_NO_SIGHTING ||
           rs_time_add(rs_match_sighting(path->table, at)->at_ns, UNSURE_NS) <= read_ns;
}

void
rs_path_learn_up_to(rs_path *path, gint64 read_ns)
{
    guint n = 0;
    guint kept = 0;
    for (; n < path->unsure->len; n++) {
        const rs_path_unsure unsure = g_array_index(path->unsure, rs_path_unsure, n);
        if (!is_due(path, &unsure, read_ns)) {
            break;
        }
        if (!learn_of(path, &unsure)) {
            g_array_index(path->unsure, rs_path_unsure, kept++) = unsure;
        }
    }
    g_array_remove_range(path->unsure, kept, n - kept);
}

void
rs_path_learn(rs_path *path)
{
    rs_path_learn_up_to(path, G_MAXINT64);
}
