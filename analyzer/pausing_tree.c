/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pausing_tree.h"

#include "hosts.h"
#include "pausing.h"
#include "pausing_cycle.h"
#include "pausing_ways.h"
#include "sorting.h"

struct rs_pause_tree {
    rs_pause_ways *ways;
    rs_pause_node *nodes;  /* by the tracker's number */
    rs_pause_cycle *cycle; /* NULL: none */
};

/* ---- causes ---- */

/* Of those that pause as this begins and may be its cause, who began first. */
static guint32
cause_at(const rs_pause_tree *tree, guint32 to, guint64 start_ns)
{
    const rs_pause_way *ways;
    guint n = rs_pause_ways_to(tree->ways, to, &ways);
    guint32 cause = ROCE_NO_PAUSE;
    guint64 first_ns = start_ns;
    for (guint i = 0; i < n; i++) {
        const roce_pause_interval *interval = rs_pause_interval_at(
            roce_tracker_pause(tree->ways->tracker, ways[i].from), start_ns);
        if (interval != NULL && interval->start_ns < first_ns) {
            first_ns = interval->start_ns;
            cause = ways[i].from;
        }
    }
    return cause;
}

/* Whether one that had paused by then may be the cause, of which nobody knows whether it still
 * did. */
static gboolean
may_have_cause(const rs_pause_tree *tree, guint32 to, guint64 start_ns)
{
    const rs_pause_way *ways;
    guint n = rs_pause_ways_to(tree->ways, to, &ways);
    for (guint i = 0; i < n; i++) {
        const rs_pause_watch *watch =
            rs_pausing_watch(tree->ways->pausing, ways[i].from);
        if (!roce_tracker_pause(tree->ways->tracker, ways[i].from)->speed_known &&
            watch->xoff.total > 0 && watch->first_start_ns < start_ns) {
            return TRUE;
        }
    }
    return FALSE;
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
    gint order = rs_by_number(y->paused_ns, x->paused_ns);
    return order != 0 ? order : rs_by_number(x->pause, y->pause);
}

static void
find_causes(rs_pause_tree *tree, guint32 pause)
{
    rs_pause_node *node = &tree->nodes[pause];
    const roce_pause_source *p = roce_tracker_pause(tree->ways->tracker, pause);
    node->n_kept = rs_pause_n_kept(p);
    node->is_open =
        may_have_cause(tree, node->same_as,
                       rs_pausing_watch(tree->ways->pausing, pause)->first_start_ns);
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
    for (node->hops = 0; node->hops <= tree->ways->n; node->hops++) {
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
    const rs_pause_watch *watch = rs_pausing_watch(tree->ways->pausing, pause);
    for (guint i = 0; i < watch->passages->len; i++) {
        const rs_passage *passage = g_ptr_array_index(watch->passages, i);
        const roce_stream *s =
            roce_tracker_stream(tree->ways->tracker, passage->stream);
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
        rs_pausing_sender(tree->ways->pausing, node->root, &evidence) !=
            RS_SENDER_HOST) {
        return;
    }
    g_autoptr(GHashTable) receivers = receivers_behind(tree, node->root);
    const rs_pause_watch *watch = rs_pausing_watch(tree->ways->pausing, pause);
    for (guint i = 0; i < watch->passages->len; i++) {
        rs_passage *passage = g_ptr_array_index(watch->passages, i);
        const roce_stream *s =
            roce_tracker_stream(tree->ways->tracker, passage->stream);
        if (rs_passage_held(passage, pause)->held_ns > 0 &&
            !g_hash_table_contains(receivers, &s->dst)) {
            g_ptr_array_add(node->bystanders, passage);
        }
    }
}

/* ---- the tree ---- */

rs_pause_tree *
rs_pause_tree_new(const rs_pausing *pausing, const roce_tracker *tracker)
{
    rs_pause_tree *tree = g_new0(rs_pause_tree, 1);
    tree->ways = rs_pause_ways_new(pausing, tracker);
    guint32 n = tree->ways->n;
    tree->nodes = g_new0(rs_pause_node, n);
    for (guint32 i = 0; i < n; i++) {
        tree->nodes[i].same_as = tree->ways->same_as[i];
        tree->nodes[i].causes = g_array_new(FALSE, FALSE, sizeof(rs_pause_cause));
        tree->nodes[i].bystanders = g_ptr_array_new();
        find_causes(tree, i);
    }
    for (guint32 i = 0; i < n; i++) {
        find_root(tree, i);
    }
    for (guint32 i = 0; i < n; i++) {
        find_bystanders(tree, i);
    }
    tree->cycle = rs_pause_cycle_find(tree->ways);
    return tree;
}

void
rs_pause_tree_free(rs_pause_tree *tree)
{
    if (tree == NULL) {
        return;
    }
    for (guint32 i = 0; i < tree->ways->n; i++) {
        g_array_unref(tree->nodes[i].causes);
        g_ptr_array_unref(tree->nodes[i].bystanders);
        g_free(tree->nodes[i].caused_by);
    }
    rs_pause_cycle_free(tree->cycle);
    rs_pause_ways_free(tree->ways);
    g_free(tree->nodes);
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
    return tree->cycle;
}
