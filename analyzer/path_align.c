/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Times of packets that were taken in before anybody knew the clocks.
 *
 * A clock may have been set among them, so that no single offset fits.  Each packet gets
 * the one of the packets before it, as long as that is about the median offset of those
 * around it that two points saw once each; else that median.
 */
#include "match_table.h"
#include "path_match.h"
#include "path_time.h"
#include "sorting.h"

#include <stdlib.h>

#define FOLLOWED_NS 100000 /* changes of an offset that are */
#define AROUND 8           /* packets before and behind, whose offsets count */

/* What one packet says of the offset at its place. */
typedef struct known {
    guint i; /* among the point's */
    rs_way way;
    gboolean even; /* free of delays */
    gint64 offset_ns;
} known;

/* The sighting by another clock of a packet that both saw once; NULL: it is none. */
static const rs_sighting *
counterpart(const rs_path *path, const rs_sighting *s, guint clock)
{
    const rs_match_entry *e = rs_match_entry_of(path->table, s->entry);
    const rs_sighting *found = NULL;
    guint n_here = 0;
    guint n_there = 0;
    for (guint32 at = rs_path_may_be_one(path, e) ? e->first : RS_NO_SIGHTING;
         at != RS_NO_SIGHTING;) {
        const rs_sighting *o = rs_match_sighting(path->table, at);
        if (path->config.clock_of[o->point] == clock) {
            found = o;
            n_there++;
        }
        n_here += o->point == s->point ? 1 : 0;
        at = o->next;
    }
    return n_here == 1 && n_there == 1 ? found : NULL;
}

static rs_way
way_of(const rs_path *path, const rs_sighting *s)
{
    guint32 flow_id = rs_match_entry_of(path->table, s->entry)->flow;
    const rs_flow *flow = g_ptr_array_index(path->flows, flow_id);
    rs_way_by by;
    return rs_ways_decide(path->ways, flow->route, &flow->src, &by);
}

static GArray *
all_known(const rs_path *path, guint point, guint clock)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(known));
    for (guint i = 0; i < rs_match_n(path->table, point); i++) {
        const rs_sighting *s =
            rs_match_sighting(path->table, rs_match_nth(path->table, point, i));
        const rs_sighting *other = counterpart(path, s, clock);
        if (other != NULL) {
            const known k = {
                .i = i,
                .way = way_of(path, s),
                .offset_ns = rs_time_apart(rs_time_of_stamp(s->stamp_ns), other->at_ns),
            };
            g_array_append_val(list, k);
        }
    }
    return list;
}

/* Takes the delays out, by the other way before or, in the beginning, behind. */
static void
even_out(GArray *list)
{
    g_autoptr(GArray) raw = g_array_copy(list);
    rs_both_ways before = {0};
    rs_both_ways behind = {0};
    for (guint k = 0; k < list->len; k++) {
        known *one = &g_array_index(list, known, k);
        one->even = rs_both_ways_middle(&before, one->way, &one->offset_ns);
    }
    for (guint k = list->len; k-- > 0;) {
        known *one = &g_array_index(raw, known, k);
        gboolean even = rs_both_ways_middle(&behind, one->way, &one->offset_ns);
        if (even && !g_array_index(list, known, k).even) {
            g_array_index(list, known, k).offset_ns = one->offset_ns;
        }
    }
}

static gint64
median_around(const GArray *list, guint k)
{
    gint64 sorted[2 * AROUND + 1];
    guint n = 0;
    guint from = k > AROUND ? k - AROUND : 0;
    for (guint i = from; i <= k + AROUND && i < list->len; i++) {
        sorted[n++] = g_array_index(list, known, i).offset_ns;
    }
    qsort(sorted, n, sizeof sorted[0], rs_by_i64);
    return sorted[n / 2];
}

rs_path_offsets
rs_path_align(rs_path *path, guint point, guint clock, gint64 offset_ns)
{
    g_autoptr(GArray) list = all_known(path, point, clock);
    even_out(list);
    gint64 first_ns = offset_ns;
    guint k = 0;
    for (guint i = 0; i < rs_match_n(path->table, point); i++) {
        rs_sighting *s =
            rs_match_sighting(path->table, rs_match_nth(path->table, point, i));
        if (k < list->len) {
            gint64 median_ns = median_around(list, k);
            gint64 off_ns = rs_time_apart(median_ns, offset_ns);
            /* Delays make medians differ a little, which is no reason to follow them. */
            offset_ns = rs_time_size(off_ns, RS_TIME_LIMIT_NS) > FOLLOWED_NS
                            ? median_ns
                            : offset_ns;
            k += g_array_index(list, known, k).i == i ? 1 : 0;
        }
        s->at_ns = rs_time_apart(rs_time_of_stamp(s->stamp_ns), offset_ns);
        first_ns = i == 0 ? offset_ns : first_ns;
    }
    rs_path_refresh(path);
    return (rs_path_offsets){first_ns, offset_ns};
}
