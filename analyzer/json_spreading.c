/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ecmp.h"
#include "format.h"
#include "json_load.h"
#include "json_parts.h"
#include "spreading.h"

#include <math.h>

#define MAX_PAIRS 1000  /* listed, of addresses */
#define MAX_SHARED 64   /* listed of each pair: source ports */
#define MAX_STREAMS 256 /* listed with what was out of order */
#define DIGITS 1e4      /* of a prediction: finer ones mean nothing */

static json_t *
rounded(double value)
{
    return json_real(round(value * DIGITS) / DIGITS);
}

static json_t *
ids_json(const GArray *ids)
{
    json_t *json = json_array();
    for (guint i = 0; i < ids->len; i++) {
        json_array_append_new(json, rs_json_count(g_array_index(ids, guint32, i)));
    }
    return json;
}

/* ---- address pairs ---- */

static json_t *
siblings_json(const rs_siblings *s)
{
    if (s == NULL) {
        return json_null();
    }
    json_t *json = json_object();
    json_object_set_new(json, "jain", rounded(s->jain));
    json_object_set_new(json, "start_ns", rs_json_count(s->start_ns));
    json_object_set_new(json, "end_ns", rs_json_count(s->end_ns));
    json_object_set_new(json, "all_busy", json_boolean(s->all_busy));
    json_object_set_new(json, "least_stream", rs_json_count(s->least));
    json_object_set_new(json, "least_bytes", rs_json_count(s->least_bytes));
    json_object_set_new(json, "most_stream", rs_json_count(s->most));
    json_object_set_new(json, "most_bytes", rs_json_count(s->most_bytes));
    return json;
}

static json_t *
pair_json(const rs_analysis *a, const rs_address_pair *pair)
{
    const rs_hosts *hosts = a->told->hosts;
    g_autofree char *src = rs_format_addr(&pair->src);
    g_autofree char *dst = rs_format_addr(&pair->dst);
    json_t *shared = json_array();
    for (guint i = 0; i < MIN(rs_address_pair_n_shared(pair), MAX_SHARED); i++) {
        const rs_shared_port *s = g_ptr_array_index(pair->shared, i);
        json_t *one = json_object();
        json_object_set_new(one, "udp_src_port", json_integer(s->port));
        json_object_set_new(one, "streams", ids_json(s->streams));
        json_array_append_new(shared, one);
    }
    json_t *json = json_object();
    json_object_set_new(json, "tenant", rs_json_tenant(&pair->tenant));
    json_object_set_new(json, "src", json_string(src));
    json_object_set_new(json, "dst", json_string(dst));
    json_object_set_new(json, "src_host",
                        rs_json_host(rs_hosts_find(hosts, &pair->src)));
    json_object_set_new(json, "dst_host",
                        rs_json_host(rs_hosts_find(hosts, &pair->dst)));
    json_object_set_new(json, "queue_pairs", rs_json_count(pair->n_streams));
    json_object_set_new(json, "udp_src_ports", rs_json_count(pair->ports));
    json_object_set_new(json, "entropy_bits", rounded(pair->entropy_bits));
    json_object_set_new(json, "possible_bits", rounded(pair->possible_bits));
    json_object_set_new(json, "shared_five_tuples", shared);
    json_object_set_new(json, "siblings", siblings_json(pair->siblings));
    return json;
}

/* ---- ECMP ---- */

static json_t *
ecmp_json(const rs_spread_flows *flows, guint links)
{
    gboolean few = flows->flows <= RS_ECMP_MAX_FLOWS;
    json_t *json = json_object();
    json_object_set_new(json, "links", json_integer(links));
    json_object_set_new(json, "flows_sharing",
                        rounded(rs_ecmp_sharing(flows->flows, links)));
    json_object_set_new(json, "links_used", rounded(rs_ecmp_used(flows->flows, links)));
    json_object_set_new(json, "most_flows",
                        few ? rounded(rs_ecmp_most((guint)flows->flows, links))
                            : json_null());
    json_object_set_new(json, "load",
                        rounded(rs_ecmp_load(flows->squares, flows->bytes, links)));
    return json;
}

static json_t *
prediction_json(const rs_analysis *a, const GPtrArray *pairs)
{
    rs_spread_flows flows;
    rs_spreading_flows(&flows, a, pairs);
    json_t *rows = json_array();
    for (guint links = 2; links <= 64 && flows.flows > 0; links *= 2) {
        json_array_append_new(rows, ecmp_json(&flows, links));
    }
    json_t *json = json_object();
    json_object_set_new(json, "flows", rs_json_count(flows.flows));
    json_object_set_new(json, "predicted", rows);
    return json;
}

/* ---- flowlets ---- */

static json_t *
flowlets_json(const rs_analysis *a, const rs_summary *summary)
{
    rs_flowlet_sum sum;
    guint64 streams = rs_spreading_flowlets(&sum, a, summary);
    json_t *rungs = json_array();
    for (guint rung = 0; rung < RS_FLOWLET_RUNGS; rung++) {
        json_t *one = json_object();
        json_object_set_new(one, "gap_ns", rs_json_count(rs_flowlet_rung_ns(rung)));
        json_object_set_new(one, "flowlets", rs_json_count(streams + sum.gaps[rung]));
        json_object_set_new(one, "late_after", rs_json_count(sum.late_after[rung]));
        json_array_append_new(rungs, one);
    }
    guint above = rs_flowlet_rung_above(sum.lateness_ns);
    gboolean suits = sum.late_timed > 0 && above < RS_FLOWLET_RUNGS;
    json_t *json = json_object();
    json_object_set_new(json, "streams", rs_json_count(streams));
    json_object_set_new(json, "packets", rs_json_count(sum.packets));
    json_object_set_new(json, "gaps", rungs);
    json_object_set_new(json, "late", rs_json_count(sum.late));
    json_object_set_new(json, "late_timed", rs_json_count(sum.late_timed));
    json_object_set_new(json, "latest_ns",
                        rs_json_known(sum.lateness_ns, sum.late_timed > 0));
    json_object_set_new(json, "suitable_gap_ns",
                        rs_json_known(suits ? rs_flowlet_rung_ns(above) : 0, suits));
    json_object_set_new(json, "not_counted",
                        rs_json_count(rs_flowlets_omitted(a->watchers.flowlets)));
    return json;
}

/* Streams that were out of order, or are made for it. */
static json_t *
order_json(const rs_analysis *a, const rs_summary *summary, guint64 *omitted)
{
    json_t *list = json_array();
    for (guint32 id = 0; id < roce_tracker_n_streams(a->tracker); id++) {
        rs_flowlet_stream f;
        if (!rs_summary_stands(summary, id) ||
            !rs_flowlets_get(a->watchers.flowlets, id, &f) ||
            (f.late == 0 && !rs_flowlet_writes_only(&f))) {
            continue;
        }
        if (json_array_size(list) == MAX_STREAMS) {
            (*omitted)++;
            continue;
        }
        const roce_stream *s = roce_tracker_stream(a->tracker, id);
        json_t *one = json_object();
        json_object_set_new(one, "stream", rs_json_count(id));
        json_object_set_new(one, "order",
                            json_string(rs_order_name(rs_flowlet_order(&f, s))));
        json_object_set_new(one, "late", rs_json_count(f.late));
        json_object_set_new(one, "latest_ns",
                            rs_json_known(f.lateness_ns, f.late_timed > 0));
        json_object_set_new(one, "writes_only",
                            json_boolean(rs_flowlet_writes_only(&f)));
        json_object_set_new(one, "chained_writes", rs_json_count(f.chained_writes));
        json_array_append_new(list, one);
    }
    return list;
}

json_t *
rs_json_spreading(const rs_analysis *a, const rs_summary *summary)
{
    const GPtrArray *pairs = summary->pairs;
    json_t *list = json_array();
    guint n = MIN(pairs->len, MAX_PAIRS);
    for (guint i = 0; i < n; i++) {
        json_array_append_new(list, pair_json(a, g_ptr_array_index(pairs, i)));
    }
    guint64 omitted = 0;
    json_t *json = json_object();
    json_object_set_new(json, "pairs", list);
    json_object_set_new(json, "pairs_omitted", rs_json_count(pairs->len - n));
    json_object_set_new(json, "ecmp", prediction_json(a, pairs));
    json_object_set_new(json, "flowlets", flowlets_json(a, summary));
    json_object_set_new(json, "order", order_json(a, summary, &omitted));
    json_object_set_new(json, "order_omitted", rs_json_count(omitted));
    json_object_set_new(json, "not_counted",
                        rs_json_count(rs_ports_omitted(a->watchers.ports)));
    return json;
}
