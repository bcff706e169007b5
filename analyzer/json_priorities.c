/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json_priorities.h"

#include "format.h"
#include "json_parts.h"
#include "lossless.h"
#include "twins.h"

#define FLOWS_LISTED 100

static json_t *
data_json(const rs_point_priorities *point)
{
    json_t *json = json_array();
    for (guint i = 0; point != NULL && i < 8; i++) {
        if (point->data[i].packets == 0) {
            continue;
        }
        json_t *one = json_object();
        json_object_set_new(one, "priority", rs_json_count(i));
        json_object_set_new(one, "packets", rs_json_count(point->data[i].packets));
        json_object_set_new(one, "bytes", rs_json_count(point->data[i].bytes));
        json_array_append_new(json, one);
    }
    return json;
}

/* Data packets with a tag, by PCP and DSCP. */
static json_t *
tags_json(const rs_point_priorities *point, const guint8 *map)
{
    json_t *json = json_array();
    for (guint pcp = 0; point != NULL && pcp < 8; pcp++) {
        for (guint dscp = 0; dscp < RS_N_DSCPS; dscp++) {
            if (point->pcps[pcp][dscp] == 0) {
                continue;
            }
            json_t *one = json_object();
            json_object_set_new(one, "pcp", rs_json_count(pcp));
            json_object_set_new(one, "dscp", rs_json_count(dscp));
            json_object_set_new(one, "packets", rs_json_count(point->pcps[pcp][dscp]));
            json_object_set_new(one, "agree", json_boolean(map[dscp] == pcp));
            json_array_append_new(json, one);
        }
    }
    return json;
}

static json_t *
point_json(const rs_analysis *a, guint32 point)
{
    rs_lossless lossless;
    rs_lossless_at(a, point, &lossless);
    const rs_point_priorities *p = rs_priorities_point(a->watchers.priorities, point);
    json_t *json = json_object();
    json_object_set_new(json, "point", rs_json_count(point));
    json_object_set_new(json, "pfc_on_somewhere",
                        lossless.by_dcbx ? rs_json_priorities_set(lossless.some_port)
                                         : json_null());
    json_object_set_new(json, "pfc_on_everywhere",
                        lossless.by_dcbx ? rs_json_priorities_set(lossless.every_port)
                                         : json_null());
    json_object_set_new(json, "paused", rs_json_priorities_set(lossless.paused));
    json_object_set_new(json, "data", data_json(p));
    json_object_set_new(json, "tags", tags_json(p, a->options->dscp_map));
    return json;
}

static json_t *
rewritten_json(const rs_analysis *a)
{
    json_t *json = json_array();
    for (guint32 id = 0; id < roce_tracker_n_streams(a->tracker); id++) {
        const rs_rewriting *r = rs_twins_rewriting(a->twins, id);
        if (r == NULL) {
            continue;
        }
        json_t *one = json_object();
        json_object_set_new(one, "stream", rs_json_count(id));
        json_object_set_new(one, "other_stream", rs_json_count(r->other_stream));
        json_object_set_new(one, "packets", rs_json_count(r->packets));
        json_object_set_new(one, "dscp", rs_json_count(r->dscp_here));
        json_object_set_new(one, "other_dscp", rs_json_count(r->dscp_there));
        json_object_set_new(one, "frame", rs_json_count(r->frame_here));
        json_object_set_new(one, "other_frame", rs_json_count(r->frame_there));
        json_array_append_new(json, one);
    }
    return json;
}

static json_t *
flow_json(const rs_background_flow *flow)
{
    g_autofree char *a = rs_format_addr(&flow->addr[0]);
    g_autofree char *b = rs_format_addr(&flow->addr[1]);
    gboolean has_ports = flow->port[0] != 0 || flow->port[1] != 0;
    json_t *json = json_object();
    json_object_set_new(json, "protocol", rs_json_text(flow->protocol));
    json_object_set_new(json, "ip_protocol", rs_json_count(flow->ip_protocol));
    json_object_set_new(json, "a", json_string(a));
    json_object_set_new(json, "b", json_string(b));
    json_object_set_new(json, "a_port", rs_json_known(flow->port[0], has_ports));
    json_object_set_new(json, "b_port", rs_json_known(flow->port[1], has_ports));
    json_object_set_new(json, "packets", rs_json_count(flow->packets));
    json_object_set_new(json, "bytes", rs_json_count(flow->bytes));
    json_object_set_new(json, "first_frame", rs_json_count(flow->first_frame));
    return json;
}

/* What is no RoCE and rides in a lossless priority; null where nobody knows which they
 * are. */
static json_t *
background_json(const rs_analysis *a, guint8 lossless)
{
    if (lossless == 0 || a->watchers.background == NULL) {
        return json_null();
    }
    g_auto(rs_background_share) share;
    rs_background_share_of(a->watchers.background, lossless, FLOWS_LISTED, &share);
    json_t *flows = json_array();
    for (guint i = 0; i < share.flows->len; i++) {
        json_array_append_new(
            flows, flow_json(&g_array_index(share.flows, rs_background_flow, i)));
    }
    json_t *json = json_object();
    json_object_set_new(json, "packets", rs_json_count(share.packets));
    json_object_set_new(json, "bytes", rs_json_count(share.bytes));
    json_object_set_new(json, "n_flows", rs_json_count(share.n_flows));
    json_object_set_new(json, "flows", flows);
    return json;
}

json_t *
rs_json_priorities(const rs_analysis *analysis, const rs_summary *summary)
{
    (void)summary;
    guint8 lossless = rs_lossless_anywhere(analysis);
    json_t *points = json_array();
    for (guint i = 0; i < rs_points_n(analysis->points); i++) {
        json_array_append_new(points, point_json(analysis, i));
    }
    json_t *json = json_object();
    json_object_set_new(
        json, "dscp_map",
        json_string(analysis->options->dscp_map_given ? "user" : "default"));
    json_object_set_new(json, "lossless",
                        lossless != 0 ? rs_json_priorities_set(lossless) : json_null());
    json_object_set_new(json, "points", points);
    json_object_set_new(json, "rewritten", rewritten_json(analysis));
    json_object_set_new(json, "lossless_background",
                        background_json(analysis, lossless));
    return json;
}

void
rs_json_set_stream_priorities(json_t *json, const rs_analysis *analysis, guint32 stream)
{
    const rs_stream_priorities *p =
        rs_priorities_stream(analysis->watchers.priorities, stream);
    json_t *dscps = json_array();
    for (guint i = 0; p != NULL && i < p->n_dscps; i++) {
        json_t *one = json_object();
        json_object_set_new(one, "dscp", rs_json_count(p->dscps[i]));
        json_object_set_new(one, "packets", rs_json_count(p->dscp_packets[i]));
        json_array_append_new(dscps, one);
    }
    json_object_set_new(json, "data_priorities",
                        rs_json_priorities_set(p != NULL ? p->priorities : 0));
    json_object_set_new(json, "data_dscps", dscps);
    json_object_set_new(
        json, "data_dscp_changes",
        rs_json_known(p != NULL ? rs_priority_changes_of(p)->changes : 0, p != NULL));
}
