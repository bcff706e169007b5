/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json_connection.h"

#include "format.h"
#include "json_parts.h"

static json_t *
cm_json(const rs_analysis *analysis, const roce_connection *c)
{
    if (c == NULL) {
        return json_null();
    }
    gboolean replied = (c->known & 2) != 0;
    gboolean ready = c->established && c->ready_time_ns >= c->request_time_ns &&
                     rs_analysis_has_stamps(analysis);
    json_t *json = json_object();
    json_object_set_new(json, "service_id", rs_json_count(c->service_id));
    json_object_set_new(json, "path_mtu",
                        rs_json_known(c->path_mtu_bytes, c->path_mtu_bytes != 0));
    json_object_set_new(json, "retry_count", rs_json_count(c->retry_count));
    json_object_set_new(json, "rnr_retry_count", rs_json_count(c->rnr_retry_count));
    json_object_set_new(json, "ack_timeout", rs_json_count(c->ack_timeout));
    json_object_set_new(json, "starting_psn_active", rs_json_count(c->starting_psn[0]));
    json_object_set_new(json, "starting_psn_passive",
                        rs_json_known(c->starting_psn[1], replied));
    json_object_set_new(json, "established", json_boolean(c->established));
    json_object_set_new(json, "rejected", json_boolean(c->rejected));
    json_object_set_new(json, "reject_reason",
                        rs_json_known(c->reject_reason, c->rejected));
    json_object_set_new(json, "rejected_by",
                        c->rejected ? json_string(c->given_up ? "active" : "passive")
                                    : json_null());
    json_object_set_new(json, "disconnected", json_boolean(c->disconnected));
    json_object_set_new(json, "setup_ns",
                        rs_json_known(c->ready_time_ns - c->request_time_ns, ready));
    return json;
}

static json_t *
process_json(const rs_told *told, const rs_link *link, guint side)
{
    rs_process process;
    if (!rs_link_process(link, side, told->qp_maps, &process)) {
        return json_null();
    }
    json_t *json = json_object();
    json_object_set_new(json, "comm", rs_json_text(process.comm));
    json_object_set_new(json, "pid",
                        process.pid >= 0 ? json_integer(process.pid) : json_null());
    return json;
}

static json_t *
end_json(const rs_told *told, const rs_link *link, guint side)
{
    const roce_addr *addr = &link->addr[side];
    g_autofree char *text = rs_format_addr(addr);
    json_t *json = json_object();
    json_object_set_new(json, "addr", json_string(text));
    json_object_set_new(json, "qpn",
                        rs_json_known(link->qpn[side], link->qpn_known[side]));
    json_object_set_new(json, "host", rs_json_host(rs_hosts_find(told->hosts, addr)));
    json_object_set_new(json, "process", process_json(told, link, side));
    return json;
}

json_t *
rs_json_connection(const rs_analysis *analysis, const rs_summary *summary, guint32 id)
{
    const rs_told *told = analysis->told;
    const rs_link *link = g_ptr_array_index(summary->links, id);
    json_t *streams = json_array();
    for (guint i = 0; i < link->streams->len; i++) {
        json_array_append_new(streams,
                              rs_json_count(g_array_index(link->streams, guint32, i)));
    }
    json_t *json = json_object();
    json_object_set_new(json, "id", rs_json_count(id));
    json_object_set_new(json, "a", end_json(told, link, 0));
    json_object_set_new(json, "b", end_json(told, link, 1));
    json_object_set_new(json, "paired_by",
                        json_string(roce_pairing_name(link->paired_by)));
    json_object_set_new(json, "trust", json_string(link->trust));
    json_object_set_new(json, "streams", streams);
    json_object_set_new(json, "cm", cm_json(analysis, link->cm));
    return json;
}
