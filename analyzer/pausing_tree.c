/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pausing_tree.h"

#include "hosts.h"
#include "pausing.h"

#include <string.h>

/* More sources than these that may wait for each other are not looked at: of so many
 * nobody could read anything. */
#define MOST_IN_CYCLES 512

/* Pauses of `from` may cause such of `to`. */
typedef struct way {
    guint32 from, to;
} way;

struct rs_pause_tree {
    const rs_pausing *pausing;
    const roce_tracker *tracker;
    guint32 n;
    rs_pause_node *nodes; /* by the tracker's number */
    GArray *ways;         /* way, sorted, each once */
    rs_pause_cycle cycle; /* `pauses` NULL: none */
};

/* ---- ways ---- */

/* A passage with the stream that it is of. */
typedef struct sighted {
    const roce_stream *stream;
    rs_passage *passage;
} sighted;

static gint
compare(guint64 a, guint64 b)
{
    return a < b ? -1 : a > b;
}

/* Streams one by one, each from its first hop to its last. */
static gint
by_stream_and_hop(gconstpointer a, gconstpointer b)
{
    const sighted *x = a;
    const sighted *y = b;
    gint order = rs_stream_compare(x->stream, y->stream);
    if (order == 0) {
        order = compare(y->passage->hop_limit, x->passage->hop_limit);
    }
    return order != 0 ? order : compare(x->passage->key, y->passage->key);
}

/* What may stop this passage. */
static guint32
pause_of(const rs_passage *passage)
{
    guint32 pause = passage->dst->pauses[passage->priority];
    return pause != ROCE_NO_PAUSE ? pause : passage->dst->pauses[ROCE_PRIORITY_GLOBAL];
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

/* One router lies between the hop from `start` on and the one from `middle` on. */
static void
add_ways(rs_pause_tree *tree, const GArray *all, guint start, guint middle, guint end)
{
    for (guint i = start; i < middle; i++) {
        const rs_passage *to = g_array_index(all, sighted, i).passage;
        to->dst->passes_on = TRUE;
        for (guint k = middle; k < end; k++) {
            const rs_passage *from = g_array_index(all, sighted, k).passage;
            const way w = {.from = pause_of(from), .to = pause_of(to)};
            if (w.from != ROCE_NO_PAUSE && w.to != ROCE_NO_PAUSE) {
                g_array_append_val(tree->ways, w);
            }
        }
    }
}

static void
find_ways_among(rs_pause_tree *tree, const GArray *all)
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
            add_ways(tree, all, before, start, end);
        }
        before_is_one = is_one;
    }
}

static gint
by_ends(gconstpointer a, gconstpointer b)
{
    const way *x = a;
    const way *y = b;
    gint order = compare(x->to, y->to);
    return order != 0 ? order : compare(x->from, y->from);
}

/* Between those that stand for links, sorted, each once. */
static void
tidy_ways(rs_pause_tree *tree)
{
    guint kept = 0;
    for (guint i = 0; i < tree->ways->len; i++) {
        way *w = &g_array_index(tree->ways, way, i);
        w->from = tree->nodes[w->from].same_as;
        w->to = tree->nodes[w->to].same_as;
    }
    g_array_sort(tree->ways, by_ends);
    for (guint i = 0; i < tree->ways->len; i++) {
        const way w = g_array_index(tree->ways, way, i);
        const way *last = kept > 0 ? &g_array_index(tree->ways, way, kept - 1) : NULL;
        if (w.from != w.to && (last == NULL || by_ends(last, &w) != 0)) {
            g_array_index(tree->ways, way, kept++) = w;
        }
    }
    g_array_set_size(tree->ways, kept);
}

static void
find_ways(rs_pause_tree *tree)
{
    const rs_passages *passages = rs_pausing_passages(tree->pausing);
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(sighted));
    for (guint i = 0; i < rs_passages_n(passages); i++) {
        rs_passage *passage = rs_passages_at(passages, i);
        if (passage->dst != NULL) {
            const sighted one = {
                .stream = roce_tracker_stream(tree->tracker, passage->stream),
                .passage = passage};
            g_array_append_val(all, one);
        }
    }
    g_array_sort(all, by_stream_and_hop);
    find_ways_among(tree, all);
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
    return order != 0 ? order : compare(a->priority, b->priority);
}

/* Of one link, the source of which most was seen comes first. */
static gint
by_link(gconstpointer a, gconstpointer b)
{
    const link_source *x = a;
    const link_source *y = b;
    gint order = compare_links(x, y);
    order = order != 0 ? order : compare(y->n_intervals, x->n_intervals);
    return order != 0 ? order : compare(x->pause, y->pause);
}

static GArray *
link_sources(const rs_pause_tree *tree)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(link_source));
    for (guint32 i = 0; i < tree->n; i++) {
        const roce_pause_source *p = roce_tracker_pause(tree->tracker, i);
        const rs_mac *partner = rs_pausing_partner(tree->pausing, i);
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
find_same(rs_pause_tree *tree)
{
    for (guint32 i = 0; i < tree->n; i++) {
        tree->nodes[i].same_as = i;
    }
    g_autoptr(GArray) all = link_sources(tree);
    const link_source *stands = NULL;
    for (guint i = 0; i < all->len; i++) {
        const link_source *at = &g_array_index(all, link_source, i);
        if (stands == NULL || compare_links(stands, at) != 0) {
            stands = at;
        }
        tree->nodes[at->pause].same_as = stands->pause;
    }
}

/* ---- causes ---- */

/* Without the link's speed nobody knows when a pause ended. */
static guint64
n_kept(const roce_pause_source *p)
{
    return p->speed_known ? MIN(p->n_intervals, ROCE_PAUSE_INTERVALS) : 0;
}

/* The kept interval of a source in which a time lies; NULL: none. */
static const roce_pause_interval *
interval_at(const roce_pause_source *p, guint64 time_ns)
{
    guint64 low = 0;
    guint64 high = n_kept(p);
    while (low < high) {
        guint64 middle = (low + high) / 2;
        if (p->intervals[middle].end_ns <= time_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    gboolean found = low < n_kept(p) && p->intervals[low].start_ns <= time_ns;
    return found ? &p->intervals[low] : NULL;
}

/* The ways that lead to a source, which stand together. */
static guint
ways_to(const rs_pause_tree *tree, guint32 to, const way **first)
{
    guint low = 0;
    guint high = tree->ways->len;
    while (low < high) {
        guint middle = (low + high) / 2;
        if (g_array_index(tree->ways, way, middle).to < to) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    guint n = 0;
    *first = low < tree->ways->len ? &g_array_index(tree->ways, way, low) : NULL;
    while (low + n < tree->ways->len && (*first)[n].to == to) {
        n++;
    }
    return n;
}

/* Of those that pause as this begins and may be its cause, who began first. */
static guint32
cause_at(const rs_pause_tree *tree, guint32 to, guint64 start_ns)
{
    const way *ways;
    guint n = ways_to(tree, to, &ways);
    guint32 cause = ROCE_NO_PAUSE;
    guint64 first_ns = start_ns;
    for (guint i = 0; i < n; i++) {
        const roce_pause_interval *interval =
            interval_at(roce_tracker_pause(tree->tracker, ways[i].from), start_ns);
        if (interval != NULL && interval->start_ns < first_ns) {
            first_ns = interval->start_ns;
            cause = ways[i].from;
        }
    }
    return cause;
}

static void
count_cause(rs_pause_node *node, guint32 cause, guint64 length_ns)
{
    node->kept_ns += length_ns;
    if (cause == ROCE_NO_PAUSE) {
        return;
    }
    node->caused_ns += length_ns;
    for (guint i = 0; i < node->causes->len; i++) {
        rs_pause_cause *known = &g_array_index(node->causes, rs_pause_cause, i);
        if (known->pause == cause) {
            known->intervals++;
            known->paused_ns += length_ns;
            return;
        }
    }
    const rs_pause_cause one = {.pause = cause, .intervals = 1, .paused_ns = length_ns};
    g_array_append_val(node->causes, one);
}

static gint
most_first(gconstpointer a, gconstpointer b)
{
    const rs_pause_cause *x = a;
    const rs_pause_cause *y = b;
    gint order = compare(y->paused_ns, x->paused_ns);
    return order != 0 ? order : compare(x->pause, y->pause);
}

static void
find_causes(rs_pause_tree *tree, guint32 pause)
{
    rs_pause_node *node = &tree->nodes[pause];
    const roce_pause_source *p = roce_tracker_pause(tree->tracker, pause);
    node->n_kept = n_kept(p);
    node->caused_by = g_new(guint32, node->n_kept);
    for (guint64 i = 0; i < node->n_kept; i++) {
        const roce_pause_interval *at = &p->intervals[i];
        node->caused_by[i] = cause_at(tree, node->same_as, at->start_ns);
        count_cause(node, node->caused_by[i], at->end_ns - at->start_ns);
    }
    g_array_sort(node->causes, most_first);
}

/* ---- roots ---- */

/* What a source's pauses come from for the most part, by time; itself, where they have
 * no cause. */
static guint32
cause_of(const rs_pause_tree *tree, guint32 pause)
{
    const rs_pause_node *node = &tree->nodes[pause];
    return node->caused_ns * 2 > node->kept_ns
               ? g_array_index(node->causes, rs_pause_cause, 0).pause
               : pause;
}

static void
find_root(rs_pause_tree *tree, guint32 pause)
{
    rs_pause_node *node = &tree->nodes[pause];
    guint32 at = pause;
    for (node->hops = 0; node->hops <= tree->n; node->hops++) {
        guint32 cause = cause_of(tree, at);
        if (cause == at) {
            node->root = at;
            return;
        }
        at = cause;
    }
    node->root = ROCE_NO_PAUSE;
    node->hops = 0;
}

/* ---- bystanders ---- */

/* The hosts that one source keeps packets from. */
static GHashTable *
receivers_behind(const rs_pause_tree *tree, guint32 pause)
{
    GHashTable *addrs = g_hash_table_new(rs_addr_hash, rs_addr_equal);
    const rs_pause_watch *watch = rs_pausing_watch(tree->pausing, pause);
    for (guint i = 0; i < watch->passages->len; i++) {
        const rs_passage *passage = g_ptr_array_index(watch->passages, i);
        const roce_stream *s = roce_tracker_stream(tree->tracker, passage->stream);
        g_hash_table_add(addrs, (gpointer)(guintptr)&s->dst);
    }
    return addrs;
}

/* Only of a host is it known whom it waits for: nobody but itself. */
static void
find_bystanders(rs_pause_tree *tree, guint32 pause)
{
    rs_pause_node *node = &tree->nodes[pause];
    rs_sender_evidence evidence;
    if (node->same_as != pause || node->root == ROCE_NO_PAUSE || node->root == pause ||
        rs_pausing_sender(tree->pausing, node->root, &evidence) != RS_SENDER_HOST) {
        return;
    }
    g_autoptr(GHashTable) receivers = receivers_behind(tree, node->root);
    const rs_pause_watch *watch = rs_pausing_watch(tree->pausing, pause);
    for (guint i = 0; i < watch->passages->len; i++) {
        rs_passage *passage = g_ptr_array_index(watch->passages, i);
        const roce_stream *s = roce_tracker_stream(tree->tracker, passage->stream);
        if (passage->held.held_ns > 0 && !g_hash_table_contains(receivers, &s->dst)) {
            g_ptr_array_add(node->bystanders, passage);
        }
    }
}

/* ---- circles ---- */

/* Takes out, again and again, what no other one leads to or what leads to no other one:
 * only circles are left, and what lies between them. */
static guint
trim(const rs_pause_tree *tree, gboolean *is_in)
{
    g_autofree guint8 *has = g_new(guint8, tree->n);
    for (gboolean changed = TRUE; changed;) {
        changed = FALSE;
        memset(has, 0, tree->n);
        for (guint i = 0; i < tree->ways->len; i++) {
            const way *w = &g_array_index(tree->ways, way, i);
            if (is_in[w->from] && is_in[w->to]) {
                has[w->from] |= 1;
                has[w->to] |= 2;
            }
        }
        for (guint32 i = 0; i < tree->n; i++) {
            if (is_in[i] && has[i] != 3) {
                is_in[i] = FALSE;
                changed = TRUE;
            }
        }
    }
    guint n = 0;
    for (guint32 i = 0; i < tree->n; i++) {
        n += is_in[i] ? 1 : 0;
    }
    return n;
}

/* One circle among those left: from the least on, always to the least. */
static GArray *
circle_of(const rs_pause_tree *tree, const gboolean *is_in)
{
    g_autofree guint *place = g_new0(guint, tree->n);
    GArray *pauses = g_array_new(FALSE, FALSE, sizeof(guint32));
    guint32 at = 0;
    while (!is_in[at]) {
        at++;
    }
    while (place[at] == 0) {
        g_array_append_val(pauses, at);
        place[at] = pauses->len;
        const way *ways;
        guint n = ways_to(tree, at, &ways);
        for (guint i = 0; i < n; i++) {
            if (is_in[ways[i].from]) {
                at = ways[i].from;
                break;
            }
        }
    }
    g_array_remove_range(pauses, 0, place[at] - 1);
    for (guint i = 0; i < pauses->len / 2; i++) { /* from cause to consequence */
        guint32 *a = &g_array_index(pauses, guint32, i);
        guint32 *b = &g_array_index(pauses, guint32, pauses->len - 1 - i);
        guint32 other = *a;
        *a = *b;
        *b = other;
    }
    return pauses;
}

/* Keeps a circle in which all pause from some time on, if it is the longest. */
static void
keep_circle(rs_pause_tree *tree, GArray *pauses, guint64 time_ns)
{
    guint64 start_ns = 0;
    guint64 end_ns = G_MAXUINT64;
    for (guint i = 0; i < pauses->len; i++) {
        guint32 pause = g_array_index(pauses, guint32, i);
        const roce_pause_interval *interval =
            interval_at(roce_tracker_pause(tree->tracker, pause), time_ns);
        start_ns = MAX(start_ns, interval->start_ns);
        end_ns = MIN(end_ns, interval->end_ns);
    }
    rs_pause_cycle *best = &tree->cycle;
    if (best->pauses != NULL && best->end_ns - best->start_ns >= end_ns - start_ns) {
        g_array_unref(pauses);
        return;
    }
    if (best->pauses != NULL) {
        g_array_unref(best->pauses);
    }
    *best = (rs_pause_cycle){.pauses = pauses, .start_ns = start_ns, .end_ns = end_ns};
}

static const roce_pause_interval *
longest_kept(const roce_pause_source *p)
{
    const roce_pause_interval *longest = NULL;
    for (guint64 i = 0; i < n_kept(p); i++) {
        const roce_pause_interval *at = &p->intervals[i];
        if (longest == NULL ||
            at->end_ns - at->start_ns > longest->end_ns - longest->start_ns) {
            longest = at;
        }
    }
    return longest;
}

/* A circle counts while all of it pause at once; looked at as each one's longest pause
 * begins. */
static void
find_cycle(rs_pause_tree *tree)
{
    g_autofree gboolean *may_be = g_new(gboolean, tree->n);
    for (guint32 i = 0; i < tree->n; i++) {
        may_be[i] = tree->nodes[i].same_as == i;
    }
    guint n = trim(tree, may_be);
    if (n == 0 || n > MOST_IN_CYCLES) {
        return;
    }
    g_autofree gboolean *is_in = g_new(gboolean, tree->n);
    for (guint32 i = 0; i < tree->n; i++) {
        const roce_pause_interval *longest =
            may_be[i] ? longest_kept(roce_tracker_pause(tree->tracker, i)) : NULL;
        if (longest == NULL) {
            continue;
        }
        for (guint32 k = 0; k < tree->n; k++) {
            is_in[k] = may_be[k] && interval_at(roce_tracker_pause(tree->tracker, k),
                                                longest->start_ns) != NULL;
        }
        if (trim(tree, is_in) > 0) {
            keep_circle(tree, circle_of(tree, is_in), longest->start_ns);
        }
    }
}

/* ---- the tree ---- */

rs_pause_tree *
rs_pause_tree_new(const rs_pausing *pausing, const roce_tracker *tracker)
{
    rs_pause_tree *tree = g_new0(rs_pause_tree, 1);
    tree->pausing = pausing;
    tree->tracker = tracker;
    tree->n = roce_tracker_n_pauses(tracker);
    tree->nodes = g_new0(rs_pause_node, tree->n);
    tree->ways = g_array_new(FALSE, FALSE, sizeof(way));
    for (guint32 i = 0; i < tree->n; i++) {
        tree->nodes[i].causes = g_array_new(FALSE, FALSE, sizeof(rs_pause_cause));
        tree->nodes[i].bystanders = g_ptr_array_new();
    }
    if (tree->n == 0) {
        return tree;
    }
    find_ways(tree);
    find_same(tree);
    tidy_ways(tree);
    for (guint32 i = 0; i < tree->n; i++) {
        find_causes(tree, i);
    }
    for (guint32 i = 0; i < tree->n; i++) {
        find_root(tree, i);
    }
    for (guint32 i = 0; i < tree->n; i++) {
        find_bystanders(tree, i);
    }
    find_cycle(tree);
    return tree;
}

void
rs_pause_tree_free(rs_pause_tree *tree)
{
    if (tree == NULL) {
        return;
    }
    for (guint32 i = 0; i < tree->n; i++) {
        g_array_unref(tree->nodes[i].causes);
        g_ptr_array_unref(tree->nodes[i].bystanders);
        g_free(tree->nodes[i].caused_by);
    }
    if (tree->cycle.pauses != NULL) {
        g_array_unref(tree->cycle.pauses);
    }
    g_free(tree->nodes);
    g_array_unref(tree->ways);
    g_free(tree);
}

const rs_pause_node *
rs_pause_tree_node(const rs_pause_tree *tree, guint32 pause)
{
    return &tree->nodes[pause];
}

const rs_pause_cycle *
rs_pause_tree_cycle(const rs_pause_tree *tree)
{
    return tree->cycle.pauses != NULL ? &tree->cycle : NULL;
}
