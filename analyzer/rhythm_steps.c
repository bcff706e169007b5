/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The steps of rings.
 *
 * In an all-reduce over a ring of n hosts, each sends 2(n - 1) times to the next one: its
 * own chunk first, and then in each step what it received in the step before.  So what
 * an edge carries in step k begins after what the edge before carried in step k - 1 has
 * ended; and since nearly everyone waits, there is a silence between the steps of an edge
 * that is longer than that between two packets.  Who sends slowest does not wait.
 *
 * A step may be several messages (pieces), and an iteration several collectives.  The
 * most pieces are taken that divide the messages of an iteration into whole collectives,
 * with clearly longer silences between steps than within them.  With n - 1 steps it is a
 * reduce-scatter or an all-gather.
 *
 * Where there are several queue pairs on each edge, each is a ring of its own: the first
 * of an edge goes with the first of the next, in the order in which they appeared.
 *
 * The one rule: a number of steps is told only where sends did wait for what they depend
 * on, in RS_STEPS_DEPENDENT_PERCENT of all cases, and where each host was seen both
 * receiving and sending at one point.
 */
#include "rhythm_shape.h"
#include "sorting.h"

#define RS_STEPS_DEPENDENT_PERCENT 90
#define RS_STEPS_WAITING_PERCENT 25
/* Silences between steps against those within them: the median to nearly the most. */
#define RS_STEPS_BREAK_PERCENT 150
#define HALF_PERCENT 50
#define ALIKE_PERCENT 90 /* of the slowest hop's time */
#define MOST_PERCENT 95
#define MOST_PIECES 64
#define MOST_HOPS 512
#define MOST_QUEUE_PAIRS 32
#define MOST_TURNS 262144 /* hosts times iterations times queue pairs: the first ones */

/* Messages of data of an edge: of one queue pair in one iteration each, in the order of
 * their beginnings. */
typedef struct edge_turns {
    GArray **iterations; /* of rs_message */
    guint n;             /* iterations times queue pairs */
} edge_turns;

static gint
by_start(gconstpointer a, gconstpointer b)
{
    const rs_message *x = a;
    const rs_message *y = b;
    if (x->start_ns != y->start_ns) {
        return x->start_ns < y->start_ns ? -1 : 1;
    }
    return rs_by_number(x->first_frame, y->first_frame);
}

static gboolean
is_data(const rs_message *message)
{
    return (message->flags & RS_MESSAGE_SIGNAL) == 0 && message->bytes > 0;
}

/* The streams of data of an edge, in the order of their numbers; guint32. */
static GArray *
streams_of(const rs_edge *edge)
{
    GArray *streams = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < edge->messages->len; i++) {
        const rs_message *message = &g_array_index(edge->messages, rs_message, i);
        if (is_data(message) &&
            g_hash_table_add(seen, GUINT_TO_POINTER(message->stream + 1))) {
            g_array_append_val(streams, message->stream);
        }
    }
    g_array_sort(streams, rs_by_u32);
    return streams;
}

static void
turns_init(edge_turns *turns, const rs_graph *graph, const rs_edge *edge,
           guint queue_pairs)
{
    g_autoptr(GArray) streams = streams_of(edge);
    guint iterations =
        MIN(rs_graph_n_iterations(graph), MOST_TURNS / (graph->n * queue_pairs));
    turns->n = iterations * queue_pairs;
    turns->iterations = g_new(GArray *, turns->n);
    for (guint i = 0; i < turns->n; i++) {
        turns->iterations[i] = g_array_new(FALSE, FALSE, sizeof(rs_message));
    }
    for (guint i = 0; i < edge->messages->len; i++) {
        const rs_message *message = &g_array_index(edge->messages, rs_message, i);
        guint at;
        guint which;
        if (is_data(message) && rs_graph_iteration(graph, message->start_ns, &at) &&
            at < iterations &&
            g_array_binary_search(streams, &message->stream, rs_by_u32, &which)) {
            g_array_append_vals(turns->iterations[at * queue_pairs + which], message,
                                1);
        }
    }
    for (guint i = 0; i < turns->n; i++) {
        g_array_sort(turns->iterations[i], by_start);
    }
}

static void
turns_clear(edge_turns *turns)
{
    for (guint i = 0; i < turns->n; i++) {
        g_array_unref(turns->iterations[i]);
    }
    g_free(turns->iterations);
}

static const rs_message *
message_at(const GArray *messages, guint i)
{
    return &g_array_index(messages, rs_message, i);
}

/* The median number of messages in an iteration, over all edges. */
static guint
messages_of(const edge_turns *turns, guint n_edges)
{
    g_autoptr(GArray) counts = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = 0; i < n_edges; i++) {
        for (guint j = 0; j < turns[i].n; j++) {
            guint n = turns[i].iterations[j]->len;
            if (n > 0) {
                g_array_append_val(counts, n);
            }
        }
    }
    g_array_sort(counts, rs_by_u32);
    return counts->len > 0 ? g_array_index(counts, guint, (counts->len - 1) / 2) : 0;
}

/* How an iteration is divided. */
typedef struct division {
    guint steps; /* of a collective */
    guint collectives;
    guint pieces;
} division;

static guint
messages_in(const division *d)
{
    return d->steps * d->collectives * d->pieces;
}

/* A step of an edge in an iteration: its first message, and when its last one ended. */
static guint64
start_of(const GArray *messages, const division *d, guint step)
{
    return message_at(messages, step * d->pieces)->start_ns;
}

static guint64
end_of(const GArray *messages, const division *d, guint step)
{
    guint64 end = 0;
    for (guint i = step * d->pieces; i < (step + 1) * d->pieces; i++) {
        end = MAX(end, message_at(messages, i)->end_ns);
    }
    return end;
}

/* The time from one packet of a message to the next. */
static guint64
pace_of(const rs_message *message)
{
    return message->packets > 1
               ? (message->end_ns - message->start_ns) / (message->packets - 1)
               : 0;
}

/* The silence of an edge before one of its messages, which is not the first. */
static guint64
silence_before(const GArray *messages, guint i)
{
    guint64 end = message_at(messages, i - 1)->end_ns;
    guint64 start = message_at(messages, i)->start_ns;
    return start > end ? start - end : 0;
}

/* Counts the sends of an edge that depend on what came along the edge before; gives how
 * many of them were waited for. */
static guint64
check_edge(const edge_turns *before, const edge_turns *turns, const division *d,
           rs_steps *steps)
{
    guint64 waited = 0;
    for (guint i = 0; i < turns->n; i++) {
        const GArray *sent = turns->iterations[i];
        const GArray *received = before->iterations[i];
        if (sent->len != messages_in(d) || received->len != messages_in(d)) {
            continue; /* begun before the capture, or cut short */
        }
        for (guint k = 1; k < d->steps * d->collectives; k++) {
            if (k % d->steps == 0) {
                continue;
            }
            guint64 silence = silence_before(sent, k * d->pieces);
            guint64 pace = pace_of(message_at(sent, k * d->pieces - 1));
            steps->checked++;
            steps->dependent += start_of(sent, d, k) >= end_of(received, d, k - 1);
            waited += silence * 100 > pace * RS_STEPS_BREAK_PERCENT ? 1 : 0;
        }
    }
    return waited;
}

static guint64
rank_of(GArray *values, guint percent)
{
    g_array_sort(values, rs_by_u64);
    guint at = values->len * percent / 100;
    return g_array_index(values, guint64, MIN(at, values->len - 1));
}

/* Whether pieces follow one another closer than steps do. */
static gboolean
has_breaks(const edge_turns *turns, guint n, const division *d)
{
    g_autoptr(GArray) between = g_array_new(FALSE, FALSE, sizeof(guint64));
    g_autoptr(GArray) within = g_array_new(FALSE, FALSE, sizeof(guint64));
    for (guint i = 0; i < n; i++) {
        for (guint j = 0; j < turns[i].n; j++) {
            const GArray *messages = turns[i].iterations[j];
            for (guint k = 1; messages->len == messages_in(d) && k < messages->len;
                 k++) {
                guint64 silence = silence_before(messages, k);
                g_array_append_val(k % d->pieces == 0 ? between : within, silence);
            }
        }
    }
    if (between->len == 0 || within->len == 0) {
        return d->pieces == 1;
    }
    return rank_of(between, HALF_PERCENT) * 100 >
           rank_of(within, MOST_PERCENT) * RS_STEPS_BREAK_PERCENT;
}

static gboolean
holds(const edge_turns *turns, guint n, const division *d, rs_steps *steps)
{
    guint64 waited = 0;
    steps->checked = steps->dependent = 0;
    for (guint i = 0; i < n; i++) {
        waited += check_edge(&turns[(i + n - 1) % n], &turns[i], d, steps);
    }
    return steps->checked > 0 &&
           waited * 100 >= steps->checked * RS_STEPS_WAITING_PERCENT &&
           steps->dependent * 100 >= steps->checked * RS_STEPS_DEPENDENT_PERCENT;
}

/* The most pieces with which steps stand apart and sends depend on receipts. */
static gboolean
divide(const edge_turns *turns, guint n, guint steps_of_one, division *d,
       rs_steps *steps)
{
    if (steps_of_one == 0 || steps->messages < steps_of_one ||
        steps->messages % steps_of_one != 0) {
        return FALSE;
    }
    guint rest = steps->messages / steps_of_one;
    for (guint pieces = MIN(rest, MOST_PIECES); pieces > 0; pieces--) {
        *d = (division){steps_of_one, rest / pieces, pieces};
        if (rest % pieces == 0 && has_breaks(turns, n, d) &&
            holds(turns, n, d, steps)) {
            return TRUE;
        }
    }
    return FALSE;
}

static void
measure_hop(const edge_turns *before, const edge_turns *turns, const division *d,
            GArray *steps, rs_hop *hop)
{
    g_autoptr(GArray) transfers = g_array_new(FALSE, FALSE, sizeof(guint64));
    g_autoptr(GArray) turnarounds = g_array_new(FALSE, FALSE, sizeof(guint64));
    for (guint i = 0; i < turns->n; i++) {
        const GArray *sent = turns->iterations[i];
        const GArray *received = before->iterations[i];
        for (guint k = 0; sent->len == messages_in(d) && k < d->steps * d->collectives;
             k++) {
            guint64 start = start_of(sent, d, k);
            guint64 transfer = end_of(sent, d, k) - start;
            g_array_append_val(transfers, transfer);
            if (k % d->steps == 0) {
                continue;
            }
            guint64 step = start - start_of(sent, d, k - 1);
            g_array_append_val(steps, step);
            if (received->len == messages_in(d) &&
                end_of(received, d, k - 1) <= start) {
                guint64 turnaround = start - end_of(received, d, k - 1);
                g_array_append_val(turnarounds, turnaround);
            }
        }
    }
    rs_dist_of(transfers, &hop->transfer);
    rs_dist_of(turnarounds, &hop->turnaround);
}

static void
measure(const edge_turns *turns, const guint32 *edges, guint n, const division *d,
        rs_steps *steps)
{
    g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(guint64));
    for (guint i = 0; i < n; i++) {
        rs_hop hop = {.edge = edges[i]};
        measure_hop(&turns[(i + n - 1) % n], &turns[i], d, times, &hop);
        g_array_append_val(steps->hops, hop);
    }
    rs_dist_of(times, &steps->step);
    steps->n = d->steps;
    steps->collectives = d->collectives;
    steps->pieces = d->pieces;
}

/* Whether each edge is seen where the one before it is. */
static gboolean
share_points(const rs_graph *graph, const guint32 *edges, guint n)
{
    for (guint i = 0; i < n; i++) {
        const rs_edge *edge = rs_edges_at(graph->edges, edges[i]);
        const rs_edge *before = rs_edges_at(graph->edges, edges[(i + n - 1) % n]);
        if (edge->point != before->point) {
            return FALSE;
        }
    }
    return TRUE;
}

static void
find_in_ring(const rs_graph *graph, const guint32 *edges, guint n, guint queue_pairs,
             rs_steps *steps)
{
    g_autofree edge_turns *turns = g_new(edge_turns, n);
    for (guint i = 0; i < n; i++) {
        turns_init(&turns[i], graph, rs_edges_at(graph->edges, edges[i]), queue_pairs);
    }
    division d;
    steps->messages = messages_of(turns, n);
    if (share_points(graph, edges, n) && (divide(turns, n, 2 * (n - 1), &d, steps) ||
                                          divide(turns, n, n - 1, &d, steps))) {
        measure(turns, edges, n, &d, steps);
    } else {
        steps->checked = steps->dependent = 0;
    }
    for (guint i = 0; i < n; i++) {
        turns_clear(&turns[i]);
    }
}

static guint
number_in(const rs_graph *graph, guint32 node)
{
    guint i = 0;
    while (g_array_index(graph->group->nodes, guint32, i) != node) {
        i++;
    }
    return i;
}

void
rs_steps_find(const rs_graph *graph, rs_group *group)
{
    if (group->kind != RS_SHAPE_RING || group->rings->len == 0 ||
        graph->n > MOST_HOPS || group->queue_pairs == 0 ||
        group->queue_pairs > MOST_QUEUE_PAIRS) {
        return;
    }
    const GArray *ring = g_ptr_array_index(group->rings, 0);
    g_autofree guint32 *edges = g_new(guint32, ring->len);
    for (guint i = 0; i < ring->len; i++) {
        guint from = number_in(graph, g_array_index(ring, guint32, i));
        guint to = number_in(graph, g_array_index(ring, guint32, (i + 1) % ring->len));
        edges[i] = graph->edge[from * graph->n + to];
    }
    find_in_ring(graph, edges, ring->len, group->queue_pairs, &group->steps);
}

const rs_hop *
rs_steps_slowest(const rs_steps *steps)
{
    const rs_hop *slowest = NULL;
    for (guint i = 0; i < steps->hops->len; i++) {
        const rs_hop *hop = &g_array_index(steps->hops, rs_hop, i);
        if (slowest == NULL || hop->transfer.p50 > slowest->transfer.p50) {
            slowest = hop;
        }
    }
    return slowest;
}

gboolean
rs_steps_are_alike(const rs_steps *steps)
{
    guint64 slowest_ns = rs_steps_slowest(steps)->transfer.p50;
    guint i = 0;
    while (i < steps->hops->len &&
           g_array_index(steps->hops, rs_hop, i).transfer.p50 * 100 >=
               slowest_ns * ALIKE_PERCENT) {
        i++;
    }
    return i == steps->hops->len;
}
