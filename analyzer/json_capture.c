/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json_capture.h"

#include "format.h"
#include "json_parts.h"
#include "reader.h"
#include "rocescope_version.h"
#include "twins.h"

json_t *
rs_json_tool(void)
{
    json_t *json = json_object();
    json_object_set_new(json, "name", json_string("rocescope"));
    json_object_set_new(json, "version", json_string(ROCESCOPE_VERSION));
    return json;
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
    json_object_set_new(json, "extract_with_gaps", json_boolean(file->has_gaps));
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

json_t *
rs_json_capture(const rs_analysis *a)
{
    const roce_tracker_totals *n = roce_tracker_totals_get(a->tracker);
    gboolean any = a->packets > 0 && rs_analysis_has_stamps(a);
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
                        rs_json_known(a->resolution_ns, a->resolution_ns != 0 &&
                                                            rs_analysis_has_stamps(a)));
    json_object_set_new(json, "unstamped_packets", rs_json_count(a->unstamped));
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

json_t *
rs_json_unattributed(const rs_summary *summary)
{
    json_t *json = json_object();
    json_object_set_new(json, "naks", rs_json_count(summary->unattributed.naks));
    json_object_set_new(json, "rnr", rs_json_count(summary->unattributed.rnr));
    json_object_set_new(json, "cnps", rs_json_count(summary->unattributed.cnps));
    json_object_set_new(json, "acks", rs_json_count(summary->unattributed.acks));
    return json;
}
