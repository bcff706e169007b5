/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clocks and the packets that wait to be decided on: how far apart two points' stamps of the same
 * ones are, and the times of all, when a clock has become known or was set.
 */
#include "match_table.h"
#include "path_fates.h"
#include "path_match.h"
#include "path_time.h"
#include "sorting.h"

/* What two points saw of one packet. */
typedef struct sighting_pair {
    const rs_sighting *low, *high;
} sighting_pair;

void
rs_path_refresh(rs_path *path)
{
    for (guint p = 0; p < path->config.n_points; p++) {
        for (guint i = 0; i < rs_match_n(path->table, p); i++) {
            const rs_sighting *s =
                rs_match_sighting(path->table, rs_match_nth(path->table, p, i));
            rs_match_entry_of(path->table, s->entry)->newest_ns = -RS_TIME_LIMIT_NS;
        }
    }
    for (guint p = 0; p < path->config.n_points; p++) {
        for (guint i = 0; i < rs_match_n(path->table, p); i++) {
            const rs_sighting *s =
                rs_match_sighting(path->table, rs_match_nth(path->table, p, i));
            rs_match_entry *e = rs_match_entry_of(path->table, s->entry);
            e->newest_ns = MAX(e->newest_ns, s->at_ns);
        }
    }
}

void
rs_path_retime(rs_path *path, guint point, gint64 offset_ns)
{
    for (guint i = 0; i < rs_match_n(path->table, point); i++) {
        rs_sighting *s =
            rs_match_sighting(path->table, rs_match_nth(path->table, point, i));
        s->at_ns = rs_time_apart(rs_time_of_stamp(s->stamp_ns), offset_ns);
    }
    rs_path_refresh(path);
}

/* The sighting at a point of a packet that it saw once, or NULL. */
static const rs_sighting *
only_at(const rs_path *path, const rs_match_entry *e, guint point)
{
    const rs_sighting *found = NULL;
    for (guint32 at = e->first; at != RS_NO_SIGHTING;) {
        const rs_sighting *s = rs_match_sighting(path->table, at);
        if (s->point == point && found != NULL) {
            return NULL;
        }
        found = s->point == point ? s : found;
        at = s->next;
    }
    return found;
}

/* The i-th that waits at `low`, if it is one that both points saw once. */
static const rs_match_entry *
nth_of_both(const rs_path *path, guint low, guint high, guint i, sighting_pair *pair)
{
    const rs_sighting *s =
        rs_match_sighting(path->table, rs_match_nth(path->table, low, i));
    const rs_match_entry *e = rs_match_entry_of(path->table, s->entry);
    if (!rs_path_may_be_one(path, e)) {
        return NULL;
    }
    pair->low = only_at(path, e, low);
    pair->high = only_at(path, e, high);
    return pair->low != NULL && pair->high != NULL ? e : NULL;
}

GArray *
rs_path_differences(const rs_path *path, guint low, guint high)
{
    GArray *out = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (guint i = 0; i < rs_match_n(path->table, low); i++) {
        sighting_pair pair;
        if (nth_of_both(path, low, high, i, &pair) != NULL) {
            gint64 difference = rs_time_apart(rs_time_of_stamp(pair.high->stamp_ns),
                                              rs_time_of_stamp(pair.low->stamp_ns));
            g_array_append_val(out, difference);
        }
    }
    return out;
}

/* Of what goes this way from point `low` to the next or back. */
static void
expect(rs_path *path, guint low, rs_way way)
{
    g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (guint i = 0; i < rs_match_n(path->table, low); i++) {
        sighting_pair pair;
        const rs_match_entry *e = nth_of_both(path, low, low + 1, i, &pair);
        const rs_flow *flow = e != NULL ? rs_path_flow(path, e->flow) : NULL;
        rs_way_by by;
        if (flow != NULL &&
            rs_ways_decide(path->ways, flow->route, &flow->src, &by) == way) {
            gint64 up_ns = rs_time_apart(pair.high->at_ns, pair.low->at_ns);
            gint64 time_ns = way == RS_WAY_FORWARD ? up_ns : -up_ns;
            g_array_append_val(times, time_ns);
        }
    }
    if (times->len > 0) {
        g_array_sort(times, rs_by_i64);
        path->usual_ns[low][way] = g_array_index(times, gint64, times->len / 2);
    }
}

void
rs_path_begin(rs_path *path)
{
    path->clocks_known = TRUE;
    rs_path_learn(path);
    for (guint low = 0; low + 1 < path->config.n_points; low++) {
        expect(path, low, RS_WAY_FORWARD);
        expect(path, low, RS_WAY_BACKWARD);
    }
    path->side_by_side = TRUE;
}
