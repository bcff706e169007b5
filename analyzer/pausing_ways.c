/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pausing_ways.h"

#include "sorting.h"

#include <string.h>

/* ---- ways ---- */

/* A passage with the stream that it is of. */
typedef struct sighted {
    const roce_stream *stream;
    rs_passage *passage;
} sighted;

/* Streams one by one, each from its first hop to its last. */
static gint
by_stream_and_hop(gconstpointer a, gconstpointer b)
{
    const sighted *x = a;
    const sighted *y = b;
    gint order = rs_stream_compare(x->stream, y->stream);
    if (order == 0) {
        order = rs_by_number(y->passage->hop_limit, x->passage->hop_limit);
    }
    return order != 0
               ? order
               : rs_by_number(rs_passage_key(x->passage), rs_passage_key(y->passage));
}

/* What may stop this passage; ROCE_NO_PAUSE: nothing of the kind. */
static guint32
pause_of(const rs_passage *passage, rs_stopper stopper)
{
    guint8 class = stopper == RS_STOPPER_PFC ? passage->priority : ROCE_PRIORITY_GLOBAL;
    guint32 pause = passage->dst->pauses[class];
    const rs_passage_stop *stop = passage->stops[stopper];
    return pause == ROCE_NO_PAUSE && stop != NULL ? stop->held.pause : pause;
}

static void
add_way(rs_pause_ways *ways, const rs_passage *from, const rs_passage *to)
{
    for (guint i = 0; i < RS_N_STOPPERS * RS_N_STOPPERS; i++) {
        const rs_pause_way w = {
            .from = pause_of(from, (rs_stopper)(i / RS_N_STOPPERS)),
            .to = pause_of(to, (rs_stopper)(i % RS_N_STOPPERS)),
        };
        if (w.from != ROCE_NO_PAUSE && w.to != ROCE_NO_PAUSE) {
            g_array_append_val(ways->all, w);
        }
    }
}

static gboolean
is_same_link(const rs_passage *a, const rs_passage *b)
{
    return memcmp(a->src->bytes, b->src->bytes, 6) == 0 &&
           memcmp(a->dst->bytes, b->dst->bytes, 6) == 0;
}

/* Where the passages of one stream with the same hop limit end; `one_link` says whether
 * all are of one link. */
static guint
end_of_hop(const GArray *all, guint start, gboolean *one_link)
{
    const sighted *first = &g_array_index(all, sighted, start);
    guint end = start;
    *one_link = TRUE;
    for (; end < all->len; end++) {
        const sighted *at = &g_array_index(all, sighted, end);
        if (at->passage->hop_limit != first->passage->hop_limit ||
            rs_stream_compare(at->stream, first->stream) != 0) {
            break;
        }
        *one_link &= is_same_link(at->passage, first->passage);
    }
    return end;
}

/* Whether two points see the same packets.  (One that sees both hops itself had a second
 * copy of each left out; or it is two that were taken for one, on different ways.) */
static gboolean
is_one_way(const rs_pause_ways *ways, const sighted *a, const sighted *b)
{
    return a->stream != b->stream && rs_pausing_shows_way(ways->pausing, a->stream) &&
           rs_pausing_shows_way(ways->pausing, b->stream);
}

/* One router lies between the hop from `start` on and the one from `middle` on. */
static void
add_ways(rs_pause_ways *ways, const GArray *all, guint start, guint middle, guint end)
{
    for (guint i = start; i < middle; i++) {
        const sighted *to = &g_array_index(all, sighted, i);
        for (guint k = middle; k < end; k++) {
            const sighted *from = &g_array_index(all, sighted, k);
            if (!is_one_way(ways, to, from)) {
                continue;
            }
            to->passage->dst->passes_on = TRUE;
            add_way(ways, from->passage, to->passage);
        }
    }
}

static void
find_ways_among(rs_pause_ways *ways, const GArray *all)
{
    gboolean before_is_one = FALSE;
    guint before = 0;
    for (guint start = 0, end; start < all->len; before = start, start = end) {
        gboolean is_one;
        end = end_of_hop(all, start, &is_one);
        const sighted *a = &g_array_index(all, sighted, before);
        const sighted *b = &g_array_index(all, sighted, start);
        if (is_one && before_is_one && start > 0 &&
            a->passage->hop_limit == b->passage->hop_limit + 1 &&
            rs_stream_compare(a->stream, b->stream) == 0) {
            add_ways(ways, all, before, start, end);
        }
        before_is_one = is_one;
    }
}

static gint
by_ends(gconstpointer a, gconstpointer b)
{
    const rs_pause_way *x = a;
    const rs_pause_way *y = b;
    gint order = rs_by_number(x->to, y->to);
    return order != 0 ? order : rs_by_number(x->from, y->from);
}

/* Between those that stand for links, sorted, each once. */
static void
tidy_ways(rs_pause_ways *ways)
{
    guint kept = 0;
    for (guint i = 0; i < ways->all->len; i++) {
        rs_pause_way *w = &g_array_index(ways->all, rs_pause_way, i);
        w->from = ways->same_as[w->from];
        w->to = ways->same_as[w->to];
    }
    g_array_sort(ways->all, by_ends);
    for (guint i = 0; i < ways->all->len; i++) {
        const rs_pause_way w = g_array_index(ways->all, rs_pause_way, i);
        if (!rs_pausing_is_one_port(ways->pausing, w.from) ||
            !rs_pausing_is_one_port(ways->pausing, w.to)) {
            continue;
        }
        const rs_pause_way *last =
            kept > 0 ? &g_array_index(ways->all, rs_pause_way, kept - 1) : NULL;
        if (w.from != w.to && (last == NULL || by_ends(last, &w) != 0)) {
            g_array_index(ways->all, rs_pause_way, kept++) = w;
        }
    }
    g_array_set_size(ways->all, kept);
}

static void
find_ways(rs_pause_ways *ways)
{
    const rs_passages *passages = rs_pausing_passages(ways->pausing);
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(sighted));
    for (guint i = 0; i < rs_passages_n(passages); i++) {
        rs_passage *passage = rs_passages_at(passages, i);
        if (passage->dst != NULL) {
            const sighted one = {
                .stream = roce_tracker_stream(ways->tracker, passage->stream),
                .passage = passage};
            g_array_append_val(all, one);
        }
    }
    g_array_sort(all, by_stream_and_hop);
    find_ways_among(ways, all);
}

/* ---- one source for each link ---- */

typedef struct link_source {
    guint8 ends[12]; /* who pauses, who is paused */
    guint8 priority;
    guint32 pause;
    guint64 n_intervals;
} link_source;

static gint
compare_links(const link_source *a, const link_source *b)
{
    gint order = memcmp(a->ends, b->ends, sizeof a->ends);
    return order != 0 ? order : rs_by_number(a->priority, b->priority);
}

/* Of one link, the source of which most was seen comes first. */
static gint
by_link(gconstpointer a, gconstpointer b)
{
    const link_source *x = a;
    const link_source *y = b;
    gint order = compare_links(x, y);
    order = order != 0 ? order : rs_by_number(y->n_intervals, x->n_intervals);
    return order != 0 ? order : rs_by_number(x->pause, y->pause);
}

static GArray *
link_sources(const rs_pause_ways *ways)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(link_source));
    for (guint32 i = 0; i < ways->n; i++) {
        const roce_pause_source *p = roce_tracker_pause(ways->tracker, i);
        const rs_mac *partner = rs_pausing_partner(ways->pausing, i);
        if (partner != NULL) {
            link_source one = {
                .priority = p->priority, .pause = i, .n_intervals = p->n_intervals};
            memcpy(one.ends, p->src_mac, 6);
            memcpy(one.ends + 6, partner->bytes, 6);
            g_array_append_val(all, one);
        }
    }
    g_array_sort(all, by_link);
    return all;
}

/* Points at both ends of a link see the same pauses. */
static void
find_same(rs_pause_ways *ways)
{
    for (guint32 i = 0; i < ways->n; i++) {
        ways->same_as[i] = i;
    }
    g_autoptr(GArray) all = link_sources(ways);
    const link_source *stands = NULL;
    for (guint i = 0; i < all->len; i++) {
        const link_source *at = &g_array_index(all, link_source, i);
        if (stands == NULL || compare_links(stands, at) != 0) {
            stands = at;
        }
        ways->same_as[at->pause] = stands->pause;
    }
}

/* ---- intervals ---- */

guint64
rs_pause_n_kept(const roce_pause_source *p)
{
    return p->speed_known ? p->n_listed : 0;
}

const roce_pause_interval *
rs_pause_interval_at(const roce_pause_source *p, guint64 time_ns)
{
    guint64 low = 0;
    guint64 high = rs_pause_n_kept(p);
    while (low < high) {
        guint64 middle = (low + high) / 2;
        if (p->intervals[middle].end_ns <= time_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    gboolean found = low < rs_pause_n_kept(p) && p->intervals[low].start_ns <= time_ns;
    return found ? &p->intervals[low] : NULL;
}

/* ---- all of them ---- */

guint
rs_pause_ways_to(const rs_pause_ways *ways, guint32 to, const rs_pause_way **first)
{
    guint low = 0;
    guint high = ways->all->len;
    while (low < high) {
        guint middle = (low + high) / 2;
        if (g_array_index(ways->all, rs_pause_way, middle).to < to) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    guint end = low;
    while (end < ways->all->len &&
           g_array_index(ways->all, rs_pause_way, end).to == to) {
        end++;
    }
    *first = end > low ? &g_array_index(ways->all, rs_pause_way, low) : NULL;
    return end - low;
}

rs_pause_ways *
rs_pause_ways_new(const rs_pausing *pausing, const roce_tracker *tracker)
{
    rs_pause_ways *ways = g_new0(rs_pause_ways, 1);
    ways->pausing = pausing;
    ways->tracker = tracker;
    ways->n = roce_tracker_n_pauses(tracker);
    ways->same_as = g_new(guint32, ways->n);
    ways->all = g_array_new(FALSE, FALSE, sizeof(rs_pause_way));
    if (ways->n > 0) {
        find_ways(ways);
        find_same(ways);
        tidy_ways(ways);
    }
    return ways;
}

void
rs_pause_ways_free(rs_pause_ways *ways)
{
    if (ways != NULL) {
        g_free(ways->same_as);
        g_array_unref(ways->all);
        g_free(ways);
    }
}
