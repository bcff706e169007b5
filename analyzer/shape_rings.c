/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rings in a graph: its edges fall into cycles through all hosts, each edge into one.
 *
 * The rings are looked for one by one, each as a way from host 0 through all others and
 * back, the first along the first edge of host 0 that is left.  A second solution means
 * that the order cannot be told from who sends to whom.  The search is bounded.
 */
#include "rhythm_shape.h"

#include <string.h>

#define MOST_RINGS 8
#define MOST_STEPS 200000

typedef struct ring_search {
    const rs_graph *graph;
    guint n, n_rings;
    gboolean *used;              /* n * n */
    guint *way[MOST_RINGS];      /* the rings so far */
    guint *solution[MOST_RINGS]; /* the first that was found */
    gboolean *visited;           /* of the ring at work */
    guint solutions;
    guint steps;
} ring_search;

static gboolean
extend(ring_search *s, guint ring, guint length);

static gboolean
next_ring(ring_search *s, guint ring)
{
    if (ring == s->n_rings) {
        for (guint i = 0; s->solutions == 0 && i < s->n_rings; i++) {
            memcpy(s->solution[i], s->way[i], s->n * sizeof(guint));
        }
        return ++s->solutions > 1;
    }
    g_autofree gboolean *visited_before =
        g_memdup2(s->visited, s->n * sizeof(gboolean));
    memset(s->visited, 0, s->n * sizeof(gboolean));
    s->visited[0] = TRUE;
    s->way[ring][0] = 0;
    gboolean enough = extend(s, ring, 1);
    memcpy(s->visited, visited_before, s->n * sizeof(gboolean));
    return enough;
}

/* Goes on with a ring of which `length` hosts are known.  TRUE: enough was seen. */
static gboolean
extend(ring_search *s, guint ring, guint length)
{
    guint at = s->way[ring][length - 1];
    if (++s->steps > MOST_STEPS) {
        return TRUE;
    }
    if (length == s->n) {
        if (rs_graph_edge(s->graph, at, 0) == NULL || s->used[at * s->n]) {
            return FALSE;
        }
        s->used[at * s->n] = TRUE;
        gboolean enough = next_ring(s, ring + 1);
        s->used[at * s->n] = FALSE;
        return enough;
    }
    for (guint to = 1; to < s->n; to++) {
        if (s->visited[to] || s->used[at * s->n + to] ||
            rs_graph_edge(s->graph, at, to) == NULL) {
            continue;
        }
        s->used[at * s->n + to] = s->visited[to] = TRUE;
        s->way[ring][length] = to;
        gboolean enough = extend(s, ring, length + 1);
        s->used[at * s->n + to] = s->visited[to] = FALSE;
        if (enough) {
            return TRUE;
        }
        if (length == 1) {
            break; /* some ring has the first edge of host 0: this one */
        }
    }
    return FALSE;
}

/* How many edges leave each host, and enter it; 0: not as many everywhere. */
static guint
degree_of(const rs_graph *graph)
{
    for (guint i = 0; i < graph->n; i++) {
        if (graph->out[i] != graph->out[0] || graph->in[i] != graph->out[0]) {
            return 0;
        }
    }
    return graph->out[0];
}

static gboolean
is_even(const rs_graph *graph)
{
    guint64 least = G_MAXUINT64;
    guint64 most = 0;
    for (guint i = 0; i < graph->group->edges->len; i++) {
        guint32 id = g_array_index(graph->group->edges, guint32, i);
        least = MIN(least, rs_edges_at(graph->edges, id)->bytes);
        most = MAX(most, rs_edges_at(graph->edges, id)->bytes);
    }
    return most * 100 <= least * RS_RING_EVEN_PERCENT;
}

static void
keep_solution(const ring_search *s, rs_group *group)
{
    for (guint i = 0; i < s->n_rings; i++) {
        GArray *ring = g_array_new(FALSE, FALSE, sizeof(guint32));
        for (guint j = 0; j < s->n; j++) {
            guint32 node = g_array_index(group->nodes, guint32, s->solution[i][j]);
            g_array_append_val(ring, node);
        }
        g_ptr_array_add(group->rings, ring);
    }
}

gboolean
rs_rings_find(const rs_graph *graph, rs_group *group)
{
    guint n = graph->n;
    guint degree = degree_of(graph);
    if (degree == 0 || degree > MOST_RINGS || !is_even(graph)) {
        return FALSE;
    }
    g_autofree gboolean *used = g_new0(gboolean, (gsize)n * n);
    g_autofree gboolean *visited = g_new0(gboolean, n);
    g_autofree guint *ways = g_new0(guint, (gsize)n * MOST_RINGS * 2);
    ring_search s = {
        .graph = graph,
        .n = n,
        .n_rings = degree,
        .used = used,
        .visited = visited,
    };
    for (guint i = 0; i < MOST_RINGS; i++) {
        s.way[i] = &ways[(gsize)i * n];
        s.solution[i] = &ways[(gsize)(MOST_RINGS + i) * n];
    }
    (void)next_ring(&s, 0);
    if (s.solutions == 0) {
        return FALSE;
    }
    group->n_rings = degree;
    if (s.solutions == 1 && s.steps <= MOST_STEPS) {
        keep_solution(&s, group);
    }
    return TRUE;
}
