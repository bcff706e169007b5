/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rhythm_shape.h"

#include "arrays.h"
#include "heard.h"
#include "keys.h"
#include "sorting.h"

#include <string.h>

#define NO_EDGE G_MAXUINT32

static const char *const names[RS_N_SHAPES] = {
    [RS_SHAPE_RING] = "ring",
    [RS_SHAPE_ALL_TO_ALL] = "all_to_all",
    [RS_SHAPE_TREE] = "tree",
    [RS_SHAPE_CHAIN] = "chain",
    [RS_SHAPE_PARAMETER_SERVER] = "parameter_server",
    [RS_SHAPE_INCAST] = "incast",
    [RS_SHAPE_FAN_OUT] = "fan_out",
    [RS_SHAPE_PAIR] = "pair",
    [RS_SHAPE_ONE_HOST] = "one_host",
    [RS_SHAPE_OTHER] = "other",
};

const char *
rs_shape_name(rs_shape_kind kind)
{
    return names[kind];
}

/* ---- which edges ---- */

/* What decides on the edges that count. */
typedef struct choice {
    const rs_edges *edges;
    const rs_rhythm *rhythm; /* or NULL */
    gboolean *plays;         /* by edge: it takes part in the rhythm */
    GHashTable *heard;       /* by src and dst: the edge that was looked at, + 1 */
    GHashTable *receiving;   /* rs_heard_receiving() */
} choice;

static void
choice_init(choice *c, const rs_edges *edges, const rs_rhythm *rhythm)
{
    c->edges = edges;
    c->rhythm = rhythm;
    c->plays = g_new0(gboolean, rs_edges_n(edges) + 1);
    c->receiving = rs_heard_receiving(edges);
    c->heard = rs_keys_new(NULL);
    for (guint i = 0; rhythm != NULL && i < rhythm->heard->len; i++) {
        guint32 id = g_array_index(rhythm->heard, guint32, i);
        const rs_edge *edge = rs_edges_at(edges, id);
        (void)rs_keys_insert(c->heard, rs_key_of(edge->src, edge->dst),
                             GUINT_TO_POINTER(id + 1));
    }
    for (guint i = 0; rhythm != NULL && i < rhythm->edges->len; i++) {
        c->plays[g_array_index(rhythm->edges, guint32, i)] = TRUE;
    }
}

static void
choice_clear(choice *c)
{
    g_free(c->plays);
    g_hash_table_unref(c->receiving);
    g_hash_table_unref(c->heard);
}

/* Edges that are not seen where the rhythm was found may take part in it. */
static gboolean
takes_part(const choice *c, const rs_edge *edge)
{
    if (c->rhythm == NULL) {
        return TRUE;
    }
    guint32 there =
        GPOINTER_TO_UINT(rs_keys_find(c->heard, rs_key_of(edge->src, edge->dst)));
    return there == 0 || rs_edges_at(c->edges, there - 1)->bytes == 0 ||
           c->plays[there - 1];
}

/* The edges that count, each at the point that sees it best; guint32. */
static GArray *
find_edges(const rs_edges *edges, const rs_rhythm *rhythm)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(guint32));
    guint nodes = rs_edges_n_nodes(edges);
    g_autoptr(GHashTable) best = g_hash_table_new(NULL, NULL);
    choice c;
    choice_init(&c, edges, rhythm);
    for (guint32 i = 0; i < rs_edges_n(edges); i++) {
        const rs_edge *edge = rs_edges_at(edges, i);
        if (edge->bytes == 0 || edge->src == edge->dst || !takes_part(&c, edge)) {
            continue;
        }
        /* At most twice as many nodes as edges: it fits. */
        gpointer key = GUINT_TO_POINTER(edge->src * nodes + edge->dst + 1);
        gpointer found = g_hash_table_lookup(best, key);
        if (found == NULL) {
            g_array_append_val(list, i);
            g_hash_table_insert(best, key, GUINT_TO_POINTER(list->len));
            continue;
        }
        guint32 *at = &g_array_index(list, guint32, GPOINTER_TO_UINT(found) - 1);
        *at = rs_heard_better(c.receiving, edge, rs_edges_at(edges, *at)) ? i : *at;
    }
    choice_clear(&c);
    return list;
}

/* Leaves out edges with little data next to others of both their hosts. */
static void
drop_light(const rs_edges *edges, GArray *list)
{
    g_autofree guint64 *most = g_new0(guint64, rs_edges_n_nodes(edges));
    for (guint i = 0; i < list->len; i++) {
        const rs_edge *edge = rs_edges_at(edges, g_array_index(list, guint32, i));
        most[edge->src] = MAX(most[edge->src], edge->bytes);
        most[edge->dst] = MAX(most[edge->dst], edge->bytes);
    }
    guint n = 0;
    for (guint i = 0; i < list->len; i++) {
        guint32 id = g_array_index(list, guint32, i);
        const rs_edge *edge = rs_edges_at(edges, id);
        guint64 least = MIN(most[edge->src], most[edge->dst]);
        if (edge->bytes * RS_SHAPE_LIGHT_SHARE >= least) {
            g_array_index(list, guint32, n++) = id;
        }
    }
    g_array_set_size(list, n);
}

/* ---- groups ---- */

void
rs_tree_free(rs_tree *tree)
{
    g_array_unref(tree->parents);
    g_free(tree);
}

static void
free_tree(gpointer data)
{
    rs_tree_free(data);
}

static void
free_group(gpointer data)
{
    rs_group *group = data;
    g_array_unref(group->nodes);
    g_array_unref(group->edges);
    g_ptr_array_unref(group->rings);
    g_ptr_array_unref(group->trees);
    g_array_unref(group->steps.hops);
    g_free(group);
}

static rs_group *
add_group(GPtrArray *groups)
{
    rs_group *group = g_new0(rs_group, 1);
    group->nodes = g_array_new(FALSE, FALSE, sizeof(guint32));
    group->edges = g_array_new(FALSE, FALSE, sizeof(guint32));
    group->rings = g_ptr_array_new_with_free_func(rs_unref_array);
    group->trees = g_ptr_array_new_with_free_func(free_tree);
    group->steps.hops = g_array_new(FALSE, FALSE, sizeof(rs_hop));
    group->center = RS_NO_NODE;
    g_ptr_array_add(groups, group);
    return group;
}

static guint32
leader_of(guint32 *leader, guint32 node)
{
    while (leader[node] != node) {
        leader[node] = leader[leader[node]];
        node = leader[node];
    }
    return node;
}

/* Hosts that are connected by edges, in whatever direction. */
static void
find_groups(const rs_edges *edges, const GArray *list, GPtrArray *groups)
{
    guint n = rs_edges_n_nodes(edges);
    g_autofree guint32 *leader = g_new(guint32, n);
    g_autofree gboolean *has_edges = g_new0(gboolean, n);
    g_autofree rs_group **group_of = g_new0(rs_group *, n);
    for (guint32 i = 0; i < n; i++) {
        leader[i] = i;
    }
    for (guint i = 0; i < list->len; i++) {
        const rs_edge *edge = rs_edges_at(edges, g_array_index(list, guint32, i));
        leader[leader_of(leader, edge->src)] = leader_of(leader, edge->dst);
        has_edges[edge->src] = has_edges[edge->dst] = TRUE;
    }
    for (guint32 i = 0; i < n; i++) {
        guint32 to = leader_of(leader, i);
        if (has_edges[i]) {
            group_of[to] = group_of[to] != NULL ? group_of[to] : add_group(groups);
            g_array_append_val(group_of[to]->nodes, i);
        }
    }
    for (guint i = 0; i < list->len; i++) {
        guint32 id = g_array_index(list, guint32, i);
        rs_group *group = group_of[leader_of(leader, rs_edges_at(edges, id)->src)];
        g_array_append_val(group->edges, id);
    }
}

/* ---- a group as a graph ---- */

static void
graph_init(rs_graph *graph, const rs_edges *edges, const rs_rhythm *rhythm,
           const rs_group *group)
{
    guint n = group->nodes->len;
    *graph = (rs_graph){
        .edges = edges,
        .rhythm = rhythm,
        .group = group,
        .n = n,
        .edge = g_new(guint32, (gsize)n * n),
        .out = g_new0(guint, n),
        .in = g_new0(guint, n),
    };
    memset(graph->edge, 0xff, (gsize)n * n * sizeof *graph->edge);
    g_autofree guint *number_of =
        g_new(guint, rs_edges_n_nodes(edges)); /* of its own */
    for (guint i = 0; i < n; i++) {
        number_of[g_array_index(group->nodes, guint32, i)] = i;
    }
    for (guint i = 0; i < group->edges->len; i++) {
        guint32 id = g_array_index(group->edges, guint32, i);
        guint from = number_of[rs_edges_at(edges, id)->src];
        guint to = number_of[rs_edges_at(edges, id)->dst];
        graph->edge[from * n + to] = id;
        graph->out[from]++;
        graph->in[to]++;
    }
}

static void
graph_clear(rs_graph *graph)
{
    g_free(graph->edge);
    g_free(graph->out);
    g_free(graph->in);
}

const rs_edge *
rs_graph_edge(const rs_graph *graph, guint from, guint to)
{
    guint32 id = graph->edge[from * graph->n + to];
    return id == NO_EDGE ? NULL : rs_edges_at(graph->edges, id);
}

guint
rs_graph_n_iterations(const rs_graph *graph)
{
    return graph->rhythm != NULL ? graph->rhythm->iterations->len : 1;
}

gboolean
rs_graph_iteration(const rs_graph *graph, guint64 time_ns, guint *iteration)
{
    *iteration = 0;
    if (graph->rhythm == NULL) {
        return TRUE;
    }
    guint from = 0;
    guint until = graph->rhythm->iterations->len;
    while (from < until) {
        guint middle = from + (until - from) / 2;
        if (rs_rhythm_iteration(graph->rhythm, middle)->start_ns <= time_ns) {
            from = middle + 1;
        } else {
            until = middle;
        }
    }
    *iteration = from > 0 ? from - 1 : 0;
    return from > 0;
}

/* ---- what it is ---- */

/* The host that all edges have to do with; graph->n: none. */
static guint
center_of(const rs_graph *graph)
{
    for (guint i = 0; i < graph->n; i++) {
        if (graph->out[i] + graph->in[i] == graph->group->edges->len) {
            return i;
        }
    }
    return graph->n;
}

/* Whether some point that sees the group also sees what has nothing to do with a host:
 * then it is not that host's own. */
static gboolean
sees_others(const rs_graph *graph, const roce_tracker *tracker, guint32 node)
{
    const rs_tenant_addr *host = rs_edges_node(graph->edges, node);
    g_autoptr(GHashTable) points = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < graph->group->edges->len; i++) {
        guint32 id = g_array_index(graph->group->edges, guint32, i);
        g_hash_table_add(points,
                         GUINT_TO_POINTER(rs_edges_at(graph->edges, id)->point + 1));
    }
    for (guint32 i = 0; i < roce_tracker_n_streams(tracker); i++) {
        const roce_stream *s = roce_tracker_stream(tracker, i);
        gboolean is_its = roce_tenant_equal(&s->tenant, &host->tenant) &&
                          (roce_addr_equal(&s->src, &host->addr) ||
                           roce_addr_equal(&s->dst, &host->addr));
        if (!is_its && g_hash_table_contains(points, GUINT_TO_POINTER(s->point + 1))) {
            return TRUE;
        }
    }
    return FALSE;
}

static rs_shape_kind
star_kind(const rs_graph *graph, guint center)
{
    if (graph->out[center] == 0) {
        return RS_SHAPE_INCAST;
    }
    if (graph->in[center] == 0) {
        return RS_SHAPE_FAN_OUT;
    }
    gboolean both =
        graph->in[center] == graph->n - 1 && graph->out[center] == graph->n - 1;
    return both ? RS_SHAPE_PARAMETER_SERVER : RS_SHAPE_OTHER;
}

static gboolean
is_all_to_all(const rs_graph *graph)
{
    guint pairs = graph->n * (graph->n - 1);
    return graph->n > 3 &&
           graph->group->edges->len * 100 >= pairs * RS_ALL_TO_ALL_PERCENT;
}

/* Each sends to one, and nobody back: a way from one end to the other. */
static gboolean
is_chain(const rs_graph *graph)
{
    guint ends = 0;
    for (guint i = 0; i < graph->n; i++) {
        if (graph->out[i] > 1 || graph->in[i] > 1) {
            return FALSE;
        }
        ends += graph->out[i] == 0 || graph->in[i] == 0 ? 1 : 0;
    }
    return ends == 2;
}

static void
classify(rs_graph *graph, rs_group *group, const roce_tracker *tracker)
{
    guint center = center_of(graph);
    group->kind = RS_SHAPE_OTHER;
    if (graph->n == 2) {
        group->kind = RS_SHAPE_PAIR;
    } else if (center < graph->n) {
        group->center = g_array_index(group->nodes, guint32, center);
        group->kind = sees_others(graph, tracker, group->center)
                          ? star_kind(graph, center)
                          : RS_SHAPE_ONE_HOST;
    } else if (is_all_to_all(graph)) {
        group->kind = RS_SHAPE_ALL_TO_ALL;
    } else if (is_chain(graph)) {
        group->kind = RS_SHAPE_CHAIN;
    } else if (rs_rings_find(graph, group)) {
        group->kind = RS_SHAPE_RING;
    } else if (rs_trees_find(graph, group)) {
        group->kind = RS_SHAPE_TREE;
    }
}

/* ---- queue pairs ---- */

/* The streams that carry data along an edge.  A stream has one edge alone: the set, whose
 * memory all edges share, holds those of the edges before as well. */
static guint
streams_on(const rs_edge *edge, GHashTable *known)
{
    guint before = g_hash_table_size(known);
    for (guint i = 0; i < edge->messages->len; i++) {
        const rs_message *message = &g_array_index(edge->messages, rs_message, i);
        if ((message->flags & RS_MESSAGE_SIGNAL) == 0 && message->bytes > 0) {
            g_hash_table_add(known, GUINT_TO_POINTER(message->stream + 1));
        }
    }
    return g_hash_table_size(known) - before;
}

static void
count_queue_pairs(const rs_edges *edges, rs_group *group)
{
    g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < group->edges->len; i++) {
        guint n = streams_on(
            rs_edges_at(edges, g_array_index(group->edges, guint32, i)), known);
        if (i > 0 && n != group->queue_pairs) {
            group->queue_pairs = 0;
            return;
        }
        group->queue_pairs = n;
    }
}

static guint64
bytes_of(const rs_edges *edges, const rs_group *group)
{
    guint64 sum = 0;
    for (guint i = 0; i < group->edges->len; i++) {
        sum += rs_edges_at(edges, g_array_index(group->edges, guint32, i))->bytes;
    }
    return sum;
}

static gint
by_bytes(gconstpointer a, gconstpointer b, gpointer data)
{
    const rs_edges *const *edges = data;
    const rs_group *x = *(rs_group *const *)a;
    const rs_group *y = *(rs_group *const *)b;
    guint64 of_x = bytes_of(*edges, x);
    guint64 of_y = bytes_of(*edges, y);
    if (of_x != of_y) {
        return of_x > of_y ? -1 : 1;
    }
    guint32 first_x = g_array_index(x->nodes, guint32, 0);
    guint32 first_y = g_array_index(y->nodes, guint32, 0);
    return rs_by_number(first_x, first_y);
}

/* Two rings of three hosts are everyone to everyone: steps alone tell them apart. */
static void
doubt_three(rs_group *group)
{
    if (group->kind == RS_SHAPE_RING && group->nodes->len == 3 && group->n_rings == 2 &&
        group->steps.n == 0) {
        group->kind = RS_SHAPE_OTHER;
        group->n_rings = 0;
        g_ptr_array_set_size(group->rings, 0);
    }
}

GPtrArray *
rs_groups_new(const rs_edges *edges, const rs_rhythm *rhythm,
              const roce_tracker *tracker)
{
    GPtrArray *groups = g_ptr_array_new_with_free_func(free_group);
    g_autoptr(GArray) list = find_edges(edges, rhythm);
    drop_light(edges, list);
    find_groups(edges, list, groups);
    for (guint i = 0; i < groups->len; i++) {
        rs_group *group = g_ptr_array_index(groups, i);
        if (group->nodes->len > RS_GROUP_HOSTS) {
            group->kind = RS_SHAPE_OTHER;
            continue;
        }
        rs_graph graph;
        graph_init(&graph, edges, rhythm, group);
        classify(&graph, group, tracker);
        count_queue_pairs(edges, group);
        rs_steps_find(&graph, group);
        doubt_three(group);
        graph_clear(&graph);
    }
    g_ptr_array_sort_with_data(groups, by_bytes, &edges);
    return groups;
}

gboolean
rs_group_plays_alike(const rs_group *group, guint32 node)
{
    switch (group->kind) {
    case RS_SHAPE_RING:
    case RS_SHAPE_ALL_TO_ALL:
        return TRUE;
    case RS_SHAPE_PARAMETER_SERVER:
    case RS_SHAPE_INCAST:
        return node != group->center;
    case RS_SHAPE_TREE:
    case RS_SHAPE_CHAIN:
    case RS_SHAPE_FAN_OUT:
    case RS_SHAPE_PAIR:
    case RS_SHAPE_ONE_HOST:
    case RS_SHAPE_OTHER:
    case RS_N_SHAPES:
        break;
    }
    return FALSE;
}
