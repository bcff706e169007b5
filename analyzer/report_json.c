/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report is written piece by piece: what can be long (streams, events, findings) is
 * made, written and freed element by element, so that memory does not follow its
 * length.
 */
#include "report_json.h"

#include "background.h"
#include "format.h"
#include "json_congestion.h"
#include "json_counters.h"
#include "json_dcb.h"
#include "json_load.h"
#include "json_parts.h"
#include "json_paths.h"
#include "json_pause.h"
#include "json_priorities.h"
#include "json_rhythm.h"
#include "json_timeline.h"
#include "lossless.h"
#include "reader.h"
#include "rocescope_version.h"
#include "twins.h"

#include <jansson.h>

#define SCHEMA_VERSION 1

static void
put(FILE *out, json_t *value)
{
    (void)json_dumpf(value, out, JSON_COMPACT | JSON_ENCODE_ANY);
    json_decref(value);
}

/* ,"name":value */
static void
put_member(FILE *out, const char *name, json_t *value)
{
    fprintf(out, ",\n\"%s\":", name);
    put(out, value);
}

static json_t *
file_json(const rs_file *file)
{
    g_autofree char *path = g_utf8_make_valid(file->path, -1);
    json_t *json = json_object();
    json_object_set_new(json, "path", json_string(path));
    json_object_set_new(json, "format", rs_json_text(file->format));
    json_object_set_new(json, "packets", rs_json_count(file->packets));
    json_object_set_new(json, "bytes", rs_json_count(file->bytes));
    json_object_set_new(json, "damaged_at",
                        file->damaged_at >= 0 ? json_integer(file->damaged_at)
                                              : json_null());
    json_object_set_new(json, "error", rs_json_text(file->error));
    return json;
}

/* How fine the time of a mirror's header is (ERSPAN III), or null. */
static json_t *
switch_resolution_json(const rs_point *point)
{
    static const guint64 ns[] = {100000, 100, 1};
    gboolean known =
        point->switch_stamps && point->switch_granularity < G_N_ELEMENTS(ns);
    return rs_json_known(known ? ns[point->switch_granularity] : 0, known);
}

static json_t *
mirror_json(const rs_point *point)
{
    const roce_origin *origin = &point->origin;
    if (origin->kind != ROCE_ORIGIN_MIRROR) {
        return json_null();
    }
    g_autofree char *source = rs_format_addr(&origin->source);
    json_t *json = json_object();
    json_object_set_new(json, "kind",
                        json_string(roce_mirror_kind_name(origin->mirror)));
    json_object_set_new(json, "session",
                        rs_json_known(origin->number, roce_origin_has_session(origin)));
    json_object_set_new(json, "direction",
                        json_string(roce_mirror_direction_name(origin->direction)));
    json_object_set_new(json, "source", json_string(source));
    json_object_set_new(json, "timestamp_resolution_ns", switch_resolution_json(point));
    return json;
}

static json_t *
point_json(const rs_analysis *analysis, const rs_point *point)
{
    const rs_file *file = g_ptr_array_index(analysis->files, point->file_i);
    g_autofree char *path = g_utf8_make_valid(file->path, -1);
    const char *link = rs_link_type_name(point->link_type);
    json_t *json = json_object();
    json_object_set_new(json, "id", rs_json_count(point->id));
    json_object_set_new(json, "file", json_string(path));
    json_object_set_new(json, "interface", rs_json_text(point->interface));
    json_object_set_new(
        json, "interface_index",
        rs_json_known(point->origin.number, point->origin.kind == ROCE_ORIGIN_IFINDEX));
    json_object_set_new(json, "mirror", mirror_json(point));
    json_object_set_new(json, "link_type",
                        link != NULL ? json_string(link)
                                     : json_integer(point->link_type));
    json_object_set_new(json, "link_speed_bps",
                        rs_json_known(point->speed_bps, point->speed_bps != 0));
    json_object_set_new(json, "packets", rs_json_count(point->packets));
    json_object_set_new(json, "dropped_by_capture",
                        rs_json_known(point->dropped, point->dropped_known));
    json_object_set_new(json, "time_steps_back", rs_json_count(point->steps_back));
    json_object_set_new(
        json, "order",
        json_string(point->survey.order == ROCE_ORDER_STAMP ? "time" : "file"));
    json_object_set_new(
        json, "joined_with",
        rs_json_known(point->survey.group, point->survey.group != point->id));
    json_object_set_new(json, "capture_duplicates",
                        rs_json_count(point->capture_duplicates));
    return json;
}

static json_t *
capture_json(const rs_analysis *a)
{
    const roce_tracker_totals *n = roce_tracker_totals_get(a->tracker);
    gboolean any = a->packets > 0;
    json_t *files = json_array();
    json_t *points = json_array();
    for (guint i = 0; i < a->files->len; i++) {
        json_array_append_new(files, file_json(g_ptr_array_index(a->files, i)));
    }
    for (guint i = 0; i < rs_points_n(a->points); i++) {
        json_array_append_new(points, point_json(a, rs_analysis_point(a, i)));
    }
    json_t *json = json_object();
    json_object_set_new(json, "files", files);
    json_object_set_new(json, "points", points);
    json_object_set_new(json, "packets", rs_json_count(a->packets));
    json_object_set_new(json, "bytes", rs_json_count(a->bytes));
    json_object_set_new(json, "first_ts_ns", rs_json_known(a->first_ns, any));
    json_object_set_new(json, "last_ts_ns", rs_json_known(a->last_ns, any));
    json_object_set_new(json, "timestamp_resolution_ns",
                        rs_json_known(a->resolution_ns, a->resolution_ns != 0));
    json_object_set_new(json, "time_steps_back", rs_json_count(a->steps_back));
    json_object_set_new(json, "snaplen_truncated_packets",
                        rs_json_count(a->snaplen_truncated));
    json_object_set_new(json, "malformed_packets", rs_json_count(n->malformed_packets));
    json_object_set_new(json, "tunnelled_packets", rs_json_count(n->tunnelled_packets));
    json_object_set_new(json, "mirrored_packets", rs_json_count(n->mirrored_packets));
    json_object_set_new(json, "mirror_cut_packets",
                        rs_json_count(n->mirror_cut_packets));
    json_object_set_new(json, "capture_duplicates",
                        rs_json_count(a->capture_duplicates));
    json_object_set_new(json, "twin_packets",
                        rs_json_count(a->twins != NULL ? rs_twins_count(a->twins) : 0));
    json_object_set_new(json, "roce_packets", rs_json_count(n->roce_packets));
    json_object_set_new(json, "cnp_packets", rs_json_count(n->cnp_packets));
    json_object_set_new(json, "pfc_frames", rs_json_count(n->pfc_frames));
    json_object_set_new(json, "pause_frames", rs_json_count(n->pause_frames));
    json_object_set_new(json, "other_packets", rs_json_count(n->other_packets));
    json_object_set_new(json, "not_ib_on_roce_port",
                        rs_json_count(n->not_ib_on_roce_port));
    json_object_set_new(json, "ip_fragments", rs_json_count(n->fragments));
    json_object_set_new(json, "filtered_out", rs_json_count(a->filtered_out));
    json_object_set_new(json, "pause_untracked_packets",
                        rs_json_count(rs_pausing_overflow(a->watchers.pausing)));
    json_object_set_new(json, "interrupted", json_boolean(a->interrupted));
    return json;
}

static json_t *
unattributed_json(const rs_summary *summary)
{
    json_t *json = json_object();
    json_object_set_new(json, "naks", rs_json_count(summary->unattributed.naks));
    json_object_set_new(json, "rnr", rs_json_count(summary->unattributed.rnr));
    json_object_set_new(json, "cnps", rs_json_count(summary->unattributed.cnps));
    json_object_set_new(json, "acks", rs_json_count(summary->unattributed.acks));
    return json;
}

static json_t *
cm_json(const roce_connection *c)
{
    if (c == NULL) {
        return json_null();
    }
    gboolean replied = (c->known & 2) != 0;
    gboolean ready = c->established && c->ready_time_ns >= c->request_time_ns;
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

static json_t *
connection_json(const rs_told *told, const rs_link *link, guint id)
{
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
    json_object_set_new(json, "cm", cm_json(link->cm));
    return json;
}

/* Packets of a background protocol that ride in a priority known to be lossless. */
static json_t *
in_lossless(const rs_background_row *row, guint8 lossless)
{
    guint64 packets = 0;
    for (guint i = 0; i < 8; i++) {
        packets += (lossless & 1u << i) != 0 ? row->by_priority[i] : 0;
    }
    return rs_json_known(packets, lossless != 0);
}

static json_t *
background_json(const rs_analysis *a)
{
    if (a->watchers.background == NULL) {
        return json_null();
    }
    guint8 lossless = rs_lossless_anywhere(a);
    json_t *rows = json_array();
    for (guint i = 0; i < rs_background_n_rows(a->watchers.background); i++) {
        const rs_background_row *row = rs_background_row_at(a->watchers.background, i);
        json_t *json = json_object();
        json_object_set_new(json, "protocol", json_string(row->protocol));
        json_object_set_new(json, "category", json_string(row->category));
        json_object_set_new(json, "flows", rs_json_count(row->flows));
        json_object_set_new(json, "packets", rs_json_count(row->packets));
        json_object_set_new(json, "bytes", rs_json_count(row->bytes));
        json_object_set_new(json, "in_lossless_priority", in_lossless(row, lossless));
        json_array_append_new(rows, json);
    }
    return rows;
}

static json_t *
thresholds_json(const rs_finding_row *row)
{
    json_t *json = json_array();
    for (guint i = 0; i < RS_THRESHOLDS && row->thresholds[i].name != NULL; i++) {
        const rs_threshold *threshold = &row->thresholds[i];
        json_t *one = json_object();
        json_object_set_new(one, "name", json_string(threshold->name));
        json_object_set_new(one, "value", rs_json_count(threshold->value));
        json_object_set_new(one, "unit", json_string(threshold->unit));
        json_array_append_new(json, one);
    }
    return json;
}

static json_t *
look_json(const rs_look *look)
{
    json_t *json = json_array();
    for (guint i = 0; look != NULL && look[i].system != NULL; i++) {
        json_t *one = json_object();
        json_object_set_new(one, "system", json_string(look[i].system));
        json_object_set_new(one, "what", json_string(look[i].what));
        json_array_append_new(json, one);
    }
    return json;
}

static json_t *
finding_json(const rs_finding *f)
{
    json_t *streams = json_array();
    json_t *frames = json_array();
    for (guint i = 0; i < f->streams->len; i++) {
        json_array_append_new(streams,
                              rs_json_count(g_array_index(f->streams, guint32, i)));
    }
    for (guint i = 0; i < f->frames->len; i++) {
        json_array_append_new(frames,
                              rs_json_count(g_array_index(f->frames, guint64, i)));
    }
    json_t *json = json_object();
    json_object_set_new(json, "id", json_string(f->id));
    json_object_set_new(json, "kind", json_string(f->row->id));
    json_object_set_new(json, "severity", json_string(rs_severity_name(f->severity)));
    json_object_set_new(json, "rule", json_string(f->row->rule));
    json_object_set_new(json, "thresholds", thresholds_json(f->row));
    json_object_set_new(json, "title", json_string(f->title));
    json_object_set_new(json, "detail", json_string(f->detail));
    json_object_set_new(json, "meaning", json_string(f->row->meaning));
    json_object_set_new(json, "advice", json_string(rs_finding_advice(f)));
    json_object_set_new(json, "look_at", look_json(f->row->look));
    json_object_set_new(json, "streams", streams);
    json_object_set_new(json, "frames", frames);
    json_object_set_new(json, "more_frames", json_boolean(f->more_frames));
    json_object_set_new(json, "wireshark_filter", json_string(f->filter));
    json_object_set_new(json, "wireshark_filter_all", rs_json_text(f->filter_all));
    return json;
}

static void
put_streams(FILE *out, const rs_analysis *a, const rs_summary *summary)
{
    guint n = MIN(summary->worst_first->len, a->options->max_streams);
    fputs(",\n\"streams\":[", out);
    for (guint i = 0; i < n; i++) {
        fputs(i > 0 ? ",\n" : "\n", out);
        put(out, rs_json_stream(a, summary,
                                g_array_index(summary->worst_first, guint32, i)));
    }
    fputs("]", out);
    put_member(out, "streams_omitted", rs_json_count(summary->worst_first->len - n));
}

static void
put_connections(FILE *out, const rs_analysis *a, const rs_summary *summary)
{
    fputs(",\n\"connections\":[", out);
    for (guint i = 0; i < summary->links->len; i++) {
        fputs(i > 0 ? ",\n" : "\n", out);
        put(out, connection_json(a->told, g_ptr_array_index(summary->links, i), i));
    }
    fputs("]", out);
}

static void
put_pauses(FILE *out, const rs_analysis *a)
{
    fputs(",\n\"pauses\":[", out);
    for (guint32 i = 0; i < roce_tracker_n_pauses(a->tracker); i++) {
        fputs(i > 0 ? ",\n" : "\n", out);
        put(out, rs_json_pause(a, i));
    }
    fputs("]", out);
}

static void
put_events(FILE *out, const rs_analysis *a)
{
    fputs(",\n\"events\":[", out);
    for (guint i = 0; i < a->events->len; i++) {
        fputs(i > 0 ? ",\n" : "\n", out);
        put(out, rs_json_event(&g_array_index(a->events, roce_event, i)));
    }
    fputs("]", out);
    json_t *totals = json_object();
    for (guint kind = 0; kind < ROCE_N_EVENTS; kind++) {
        json_object_set_new(totals, roce_event_kind_name((roce_event_kind)kind),
                            rs_json_count(a->event_totals[kind]));
    }
    put_member(out, "event_totals", totals);
}

static void
put_findings(FILE *out, const GPtrArray *findings)
{
    fputs(",\n\"findings\":[", out);
    for (guint i = 0; i < findings->len; i++) {
        fputs(i > 0 ? ",\n" : "\n", out);
        put(out, finding_json(g_ptr_array_index(findings, i)));
    }
    fputs("]", out);
}

void
rs_report_json(FILE *out, const rs_analysis *analysis, const rs_summary *summary,
               const GPtrArray *findings)
{
    fprintf(out, "{\"schema_version\":%d", SCHEMA_VERSION);
    json_t *tool = json_object();
    json_object_set_new(tool, "name", json_string("rocescope"));
    json_object_set_new(tool, "version", json_string(ROCESCOPE_VERSION));
    put_member(out, "tool", tool);
    put_member(out, "capture", capture_json(analysis));
    put_member(out, "totals", rs_json_totals(analysis, summary));
    put_member(out, "unattributed", unattributed_json(summary));
    put_streams(out, analysis, summary);
    put_connections(out, analysis, summary);
    put_pauses(out, analysis);
    put_member(out, "congestion", rs_json_congestion(analysis));
    put_member(out, "pause_cycle", rs_json_pause_cycle(analysis));
    put_member(out, "timeline", rs_json_timeline(analysis, summary));
    put_member(out, "incast", rs_json_incast(analysis));
    put_member(out, "receivers", rs_json_receivers(analysis, summary));
    put_member(out, "spreading", rs_json_spreading(analysis, summary));
    put_member(out, "elephants", rs_json_elephants(analysis, summary));
    put_member(out, "bursts", rs_json_bursts(analysis));
    put_member(out, "background", background_json(analysis));
    put_member(out, "dcb", rs_json_dcb(analysis, summary));
    put_member(out, "priorities", rs_json_priorities(analysis, summary));
    put_member(out, "paths", rs_json_paths(analysis, summary));
    put_member(out, "counters", rs_json_counters(analysis, summary));
    put_member(out, "rhythm", rs_json_rhythm(analysis));
    put_member(out, "collective", rs_json_collective(analysis));
    put_member(out, "admission", rs_json_admission(analysis));
    put_member(out, "collective_omitted", rs_json_collective_omitted(analysis));
    put_events(out, analysis);
    put_findings(out, findings);
    fputs("}\n", out);
}
