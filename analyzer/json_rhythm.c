/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json_rhythm.h"

#include "format.h"
#include "json_parts.h"

#define ITERATIONS_SHOWN 100
#define GROUPS_SHOWN 100
#define ADMISSIONS_SHOWN 1000

static json_t *
node_json(const rs_edges *edges, guint32 node)
{
    if (node == RS_NO_NODE) {
        return json_null();
    }
    g_autofree char *text = rs_format_addr(&rs_edges_node(edges, node)->addr);
    return json_string(text);
}

/* The host that was last in an iteration, in the group with most data in which one was;
 * null: nobody. */
static json_t *
last_json(const rs_collective *collective, guint iteration, rs_last_kind kind)
{
    const GPtrArray *groups = rs_collective_groups(collective);
    for (guint i = 0; i < groups->len; i++) {
        const rs_last_one one = rs_last_of(rs_collective_rhythm(collective),
                                           groups->pdata[i], iteration, kind);
        if (one.node != RS_NO_NODE) {
            const rs_edges *edges = rs_collective_edges(collective);
            json_t *json = json_object();
            json_object_set_new(json, "host", node_json(edges, one.node));
            json_object_set_new(json, "to",
                                node_json(edges, rs_edges_at(edges, one.edge)->dst));
            json_object_set_new(json, "by_ns", rs_json_count(one.by_ns));
            json_object_set_new(json, "frame", rs_json_count(one.frame));
            return json;
        }
    }
    return json_null();
}

static json_t *
iteration_json(const rs_collective *collective, guint i)
{
    const rs_iteration *burst =
        rs_rhythm_iteration(rs_collective_rhythm(collective), i);
    json_t *json = json_object();
    json_object_set_new(json, "start_ns", rs_json_count(burst->start_ns));
    json_object_set_new(json, "end_ns", rs_json_count(burst->end_ns));
    json_object_set_new(json, "bytes", rs_json_count(burst->bytes));
    json_object_set_new(json, "partial", json_boolean(burst->partial));
    json_object_set_new(json, "last_to_begin",
                        last_json(collective, i, RS_LAST_TO_BEGIN));
    json_object_set_new(json, "last_to_end", last_json(collective, i, RS_LAST_TO_END));
    return json;
}

static json_t *
iterations_json(const rs_collective *collective)
{
    json_t *json = json_array();
    guint n = rs_collective_rhythm(collective)->iterations->len;
    for (guint i = 0; i < MIN(n, ITERATIONS_SHOWN); i++) {
        json_array_append_new(json, iteration_json(collective, i));
    }
    return json;
}

static json_t *
lastness_json(const rs_lastness *last)
{
    json_t *json = json_object();
    json_object_set_new(json, "times", rs_json_count(last->times));
    json_object_set_new(json, "by_ns", rs_json_spread(&last->by));
    return json;
}

static json_t *
performers_json(const rs_collective *collective)
{
    const GArray *performers = rs_collective_performers(collective);
    json_t *list = json_array();
    for (guint i = 0; i < performers->len; i++) {
        const rs_performer *one = &g_array_index(performers, rs_performer, i);
        json_t *json = json_object();
        json_object_set_new(json, "host",
                            node_json(rs_collective_edges(collective), one->node));
        json_object_set_new(json, "iterations", rs_json_count(one->iterations));
        json_object_set_new(json, "period_ns", rs_json_spread(&one->period));
        json_object_set_new(json, "burst_ns", rs_json_spread(&one->length));
        json_object_set_new(json, "last_to_begin",
                            lastness_json(&one->last[RS_LAST_TO_BEGIN]));
        json_object_set_new(json, "last_to_end",
                            lastness_json(&one->last[RS_LAST_TO_END]));
        json_array_append_new(list, json);
    }
    return list;
}

json_t *
rs_json_rhythm(const rs_analysis *analysis)
{
    const rs_collective *collective = analysis->watchers.collective;
    const rs_rhythm *rhythm = rs_collective_rhythm(collective);
    if (rhythm == NULL) {
        return json_null();
    }
    json_t *json = json_object();
    json_object_set_new(json, "point", rs_json_count(rhythm->point));
    json_object_set_new(json, "from_ns", rs_json_count(rhythm->from_ns));
    json_object_set_new(json, "until_ns", rs_json_count(rhythm->until_ns));
    json_object_set_new(json, "whole_capture", json_boolean(rhythm->whole));
    json_object_set_new(json, "resolution_ns", rs_json_count(rhythm->resolution_ns));
    json_object_set_new(json, "iterations", rs_json_count(rhythm->iterations->len));
    json_object_set_new(json, "missing_iterations", rs_json_count(rhythm->missing));
    json_object_set_new(json, "period_ns", rs_json_spread(&rhythm->period));
    json_object_set_new(json, "burst_ns", rs_json_spread(&rhythm->length));
    json_object_set_new(json, "burst_bytes", rs_json_spread(&rhythm->bytes));
    json_object_set_new(json, "idle_ns", rs_json_count(rhythm->idle_ns));
    json_object_set_new(json, "idle_share",
                        json_real((double)rhythm->idle_ns / (double)rhythm->span_ns));
    json_object_set_new(json, "other_bytes", rs_json_count(rhythm->bytes_out));
    json_object_set_new(json, "first_iterations", iterations_json(collective));
    json_object_set_new(json, "hosts", performers_json(collective));
    return json;
}

/* ---- the shape ---- */

static json_t *
nodes_json(const rs_edges *edges, const GArray *nodes)
{
    json_t *json = json_array();
    for (guint i = 0; i < nodes->len; i++) {
        json_array_append_new(json, node_json(edges, g_array_index(nodes, guint32, i)));
    }
    return json;
}

static json_t *
edge_json(const rs_edges *edges, guint32 id)
{
    const rs_edge *edge = rs_edges_at(edges, id);
    json_t *json = json_object();
    json_object_set_new(json, "src", node_json(edges, edge->src));
    json_object_set_new(json, "dst", node_json(edges, edge->dst));
    json_object_set_new(json, "point", rs_json_count(edge->point));
    json_object_set_new(json, "bytes", rs_json_count(edge->bytes));
    return json;
}

static json_t *
tree_json(const rs_edges *edges, const rs_tree *tree)
{
    json_t *parents = json_object();
    for (guint i = 0; i < tree->parents->len; i++) {
        const rs_parent *entry = &g_array_index(tree->parents, rs_parent, i);
        g_autofree char *child =
            rs_format_addr(&rs_edges_node(edges, entry->child)->addr);
        json_object_set_new(parents, child, node_json(edges, entry->parent));
    }
    json_t *json = json_object();
    json_object_set_new(json, "root", node_json(edges, tree->root));
    json_object_set_new(json, "parents", parents);
    return json;
}

static json_t *
hop_json(const rs_edges *edges, const rs_hop *hop)
{
    json_t *json = edge_json(edges, hop->edge);
    json_object_set_new(json, "transfer_ns", rs_json_spread(&hop->transfer));
    json_object_set_new(json, "turnaround_ns", rs_json_spread(&hop->turnaround));
    return json;
}

static json_t *
steps_json(const rs_edges *edges, const rs_steps *steps)
{
    if (steps->n == 0) {
        return json_null();
    }
    json_t *hops = json_array();
    for (guint i = 0; i < steps->hops->len; i++) {
        const rs_hop *hop = &g_array_index(steps->hops, rs_hop, i);
        json_array_append_new(hops, hop_json(edges, hop));
    }
    json_t *json = json_object();
    json_object_set_new(json, "count", rs_json_count(steps->n));
    json_object_set_new(json, "collectives", rs_json_count(steps->collectives));
    json_object_set_new(json, "messages_per_step", rs_json_count(steps->pieces));
    json_object_set_new(json, "step_ns", rs_json_spread(&steps->step));
    json_object_set_new(json, "sends_checked", rs_json_count(steps->checked));
    json_object_set_new(json, "sends_after_receipt", rs_json_count(steps->dependent));
    json_object_set_new(json, "slowest_hop",
                        edge_json(edges, rs_steps_slowest(steps)->edge));
    json_object_set_new(json, "hops", hops);
    return json;
}

/* The other ends of the edges that leave a host, or enter it; null without a host. */
static json_t *
neighbours_json(const rs_edges *edges, const rs_group *group, gboolean out)
{
    if (group->center == RS_NO_NODE) {
        return json_null();
    }
    json_t *json = json_array();
    for (guint i = 0; i < group->edges->len; i++) {
        const rs_edge *edge =
            rs_edges_at(edges, g_array_index(group->edges, guint32, i));
        if ((out ? edge->src : edge->dst) == group->center) {
            json_array_append_new(json, node_json(edges, out ? edge->dst : edge->src));
        }
    }
    return json;
}

static json_t *
rings_json(const rs_edges *edges, const rs_group *group)
{
    if (group->kind != RS_SHAPE_RING || group->rings->len == 0) {
        return json_null();
    }
    json_t *json = json_array();
    for (guint i = 0; i < group->rings->len; i++) {
        json_array_append_new(json,
                              nodes_json(edges, g_ptr_array_index(group->rings, i)));
    }
    return json;
}

static json_t *
trees_json(const rs_edges *edges, const rs_group *group)
{
    if (group->kind != RS_SHAPE_TREE) {
        return json_null();
    }
    json_t *json = json_array();
    for (guint i = 0; i < group->trees->len; i++) {
        json_array_append_new(json,
                              tree_json(edges, g_ptr_array_index(group->trees, i)));
    }
    return json;
}

static json_t *
group_json(const rs_edges *edges, const rs_group *group)
{
    gboolean decided = group->kind != RS_SHAPE_ONE_HOST;
    gboolean tree = group->kind == RS_SHAPE_TREE;
    json_t *list = json_array();
    for (guint i = 0; i < group->edges->len; i++) {
        guint32 id = g_array_index(group->edges, guint32, i);
        json_array_append_new(list, edge_json(edges, id));
    }
    json_t *json = json_object();
    json_object_set_new(
        json, "shape", decided ? json_string(rs_shape_name(group->kind)) : json_null());
    json_object_set_new(json, "undecidable",
                        decided ? json_null() : json_string("one_host"));
    json_object_set_new(json, "hosts", nodes_json(edges, group->nodes));
    json_object_set_new(json, "center", node_json(edges, group->center));
    json_object_set_new(json, "sends_to", neighbours_json(edges, group, TRUE));
    json_object_set_new(json, "receives_from", neighbours_json(edges, group, FALSE));
    json_object_set_new(json, "n_rings",
                        rs_json_known(group->n_rings, group->kind == RS_SHAPE_RING));
    json_object_set_new(json, "rings", rings_json(edges, group));
    json_object_set_new(json, "trees", trees_json(edges, group));
    json_object_set_new(json, "up", tree ? json_boolean(group->up) : json_null());
    json_object_set_new(json, "down", tree ? json_boolean(group->down) : json_null());
    json_object_set_new(json, "queue_pairs",
                        rs_json_known(group->queue_pairs, group->queue_pairs > 0));
    json_object_set_new(json, "steps", steps_json(edges, &group->steps));
    json_object_set_new(json, "edges", list);
    return json;
}

json_t *
rs_json_collective(const rs_analysis *analysis)
{
    const rs_collective *collective = analysis->watchers.collective;
    const GPtrArray *groups = rs_collective_groups(collective);
    json_t *json = json_array();
    for (guint i = 0; i < MIN(groups->len, GROUPS_SHOWN); i++) {
        json_array_append_new(
            json, group_json(rs_collective_edges(collective), groups->pdata[i]));
    }
    return json;
}

/* ---- admission ---- */

/* Times are no finer than the stamps that they come from, as in latencies. */
static json_t *
times_json(const rs_dist *times, guint64 resolution_ns)
{
    guint64 step_ns = MAX(resolution_ns, 1);
    rs_dist rounded = *times;
    rounded.mean -= rounded.mean % step_ns;
    rounded.stddev -= rounded.stddev % step_ns;
    return rs_json_spread(&rounded);
}

static json_t *
admission_json(const rs_edges *edges, const rs_admission *a, guint64 resolution_ns)
{
    json_t *bytes = json_object();
    json_object_set_new(bytes, "min", rs_json_count(a->signal_bytes_min));
    json_object_set_new(bytes, "max", rs_json_count(a->signal_bytes_max));
    const struct {
        const char *key;
        guint64 value;
    } counts[] = {
        {"point", a->point},
        {"stream", a->stream},
        {"signal_streams", a->streams},
        {"queue_pairs_per_unit", a->parts},
        {"signals", a->signals},
        {"units", a->units},
        {"pairs", a->pairs},
        {"units_before", a->before},
        {"window", a->window},
        {"prompt_ns", a->prompt_ns},
        {"ahead", a->ahead},
        {"waited", a->waited},
        {"unready", a->unready},
        {"not_judged", a->other},
        {"waited_ns", a->waited_ns},
        {"span_ns", a->span_ns},
    };
    json_t *json = json_object();
    json_object_set_new(json, "receiver", node_json(edges, a->receiver));
    json_object_set_new(json, "sender", node_json(edges, a->sender));
    for (guint i = 0; i < G_N_ELEMENTS(counts); i++) {
        json_object_set_new(json, counts[i].key, rs_json_count(counts[i].value));
    }
    json_object_set_new(json, "signal_bytes", bytes);
    json_object_set_new(json, "delay_ns", times_json(&a->delay, resolution_ns));
    json_object_set_new(json, "wait_ns", times_json(&a->wait, resolution_ns));
    return json;
}

json_t *
rs_json_admission(const rs_analysis *analysis)
{
    const rs_collective *collective = analysis->watchers.collective;
    const GArray *admissions = rs_collective_admissions(collective);
    json_t *json = json_array();
    for (guint i = 0; i < MIN(admissions->len, ADMISSIONS_SHOWN); i++) {
        const rs_admission *a = &g_array_index(admissions, rs_admission, i);
        json_array_append_new(json, admission_json(rs_collective_edges(collective), a,
                                                   analysis->resolution_ns));
    }
    return json;
}

json_t *
rs_json_collective_omitted(const rs_analysis *analysis)
{
    const rs_collective *collective = analysis->watchers.collective;
    const rs_edges_omitted *omitted =
        rs_edges_get_omitted(rs_collective_edges(collective));
    guint groups = rs_collective_groups(collective)->len;
    guint admissions = rs_collective_admissions(collective)->len;
    const struct {
        const char *key;
        guint64 n;
    } counts[] = {
        {"packets", omitted->packets},
        {"streams", omitted->streams},
        {"messages", omitted->messages},
        {"groups", groups - MIN(groups, GROUPS_SHOWN)},
        {"admissions", admissions - MIN(admissions, ADMISSIONS_SHOWN)},
    };
    json_t *json = json_object();
    for (guint i = 0; i < G_N_ELEMENTS(counts); i++) {
        json_object_set_new(json, counts[i].key, rs_json_count(counts[i].n));
    }
    return json;
}
