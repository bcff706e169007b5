/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json_timeline.h"

#include "json_parts.h"
#include "timeline.h"

#define STREAMS_SHOWN 64
#define PRIORITIES 8

static const char *const row_names[RS_TIMELINE_N_ROWS] = {
    [RS_TIMELINE_BITS] = "bits",
    [RS_TIMELINE_DATA] = "data",
    [RS_TIMELINE_CE] = "ce",
    [RS_TIMELINE_CNPS] = "cnps",
    [RS_TIMELINE_RETRANSMISSIONS] = "retransmissions",
};

/* Room for one row of bins, all 0. */
static guint64 *
new_row(const rs_timeline *timeline)
{
    return g_new0(guint64, rs_timeline_n_bins(timeline));
}

static json_t *
row_json(const rs_timeline *timeline, const guint64 *row)
{
    json_t *json = json_array();
    for (guint i = 0; i < rs_timeline_n_bins(timeline); i++) {
        json_array_append_new(json, rs_json_count(row[i]));
    }
    return json;
}

static json_t *
new_series(const char *of, json_t *id)
{
    json_t *json = json_object();
    json_object_set_new(json, "of", json_string(of));
    json_object_set_new(json, "id", id);
    return json;
}

/* NULL where a packet that several points saw cannot be counted once. */
static json_t *
total_json(const rs_analysis *analysis, const rs_summary *summary)
{
    json_t *json = new_series("total", json_null());
    for (guint row = 0; row < RS_TIMELINE_N_ROWS; row++) {
        g_autofree guint64 *sum = new_row(analysis->watchers.timeline);
        if (!rs_summary_add_timeline(summary, analysis, (rs_timeline_row)row, sum)) {
            json_decref(json);
            return NULL;
        }
        json_object_set_new(json, row_names[row],
                            row_json(analysis->watchers.timeline, sum));
    }
    json_object_set_new(json, "paused_ns", json_null());
    return json;
}

static json_t *
paused_json(const rs_timeline *timeline, guint32 point)
{
    json_t *json = json_array();
    gboolean any = FALSE;
    for (guint8 priority = 0; priority < PRIORITIES; priority++) {
        g_autofree guint64 *sum = new_row(timeline);
        gboolean known = rs_timeline_add_paused(timeline, point, priority, sum);
        json_array_append_new(json, known ? row_json(timeline, sum) : json_null());
        any = any || known;
    }
    if (!any) {
        json_decref(json);
        return json_null();
    }
    return json;
}

static json_t *
point_json(const rs_timeline *timeline, guint32 point)
{
    json_t *json = new_series("point", rs_json_count(point));
    for (guint row = 0; row < RS_TIMELINE_N_ROWS; row++) {
        g_autofree guint64 *sum = new_row(timeline);
        rs_timeline_add_point(timeline, point, (rs_timeline_row)row, sum);
        json_object_set_new(json, row_names[row], row_json(timeline, sum));
    }
    json_object_set_new(json, "paused_ns", paused_json(timeline, point));
    return json;
}

/* A stream's CNPs are those that its data caused. */
static json_t *
stream_json(const rs_timeline *timeline, guint32 stream)
{
    json_t *json = new_series("stream", rs_json_count(stream));
    for (guint row = 0; row < RS_TIMELINE_N_ROWS; row++) {
        g_autofree guint64 *sum = new_row(timeline);
        gboolean known = TRUE;
        if (row == RS_TIMELINE_CNPS) {
            known = rs_timeline_add_cnps_received(timeline, stream, sum);
        } else {
            rs_timeline_add_stream(timeline, stream, (rs_timeline_row)row, sum);
        }
        json_object_set_new(json, row_names[row],
                            known ? row_json(timeline, sum) : json_null());
    }
    json_object_set_new(json, "paused_ns", json_null());
    return json;
}

static void
visit_streams(const rs_analysis *analysis, const rs_summary *summary,
              rs_json_visitor visit, void *data)
{
    guint shown = 0;
    guint n = MIN(summary->worst_first->len, analysis->options->max_streams);
    for (guint i = 0; i < n && shown < STREAMS_SHOWN; i++) {
        guint32 id = g_array_index(summary->worst_first, guint32, i);
        if (rs_timeline_has_stream(analysis->watchers.timeline, id)) {
            visit(stream_json(analysis->watchers.timeline, id), data);
            shown++;
        }
    }
}

void
rs_json_timeline_visit(const rs_analysis *analysis, const rs_summary *summary,
                       rs_json_visitor visit, void *data)
{
    const rs_timeline *timeline = analysis->watchers.timeline;
    if (rs_timeline_n_bins(timeline) == 0 || !rs_analysis_has_stamps(analysis)) {
        return;
    }
    json_t *total = total_json(analysis, summary);
    if (total != NULL) {
        visit(total, data);
    }
    for (guint32 i = 0; i < rs_points_n(analysis->points); i++) {
        if (rs_timeline_has_point(timeline, i)) {
            visit(point_json(timeline, i), data);
        }
    }
    visit_streams(analysis, summary, visit, data);
}

static void
append(json_t *element, void *array)
{
    json_array_append_new(array, element);
}

json_t *
rs_json_timeline(const rs_analysis *analysis, const rs_summary *summary)
{
    const rs_timeline *timeline = analysis->watchers.timeline;
    if (rs_timeline_n_bins(timeline) == 0 || !rs_analysis_has_stamps(analysis)) {
        return json_null();
    }
    json_t *series = json_array();
    rs_json_timeline_visit(analysis, summary, append, series);
    json_t *json = json_object();
    json_object_set_new(json, "bin_ns", rs_json_count(rs_timeline_bin_ns(timeline)));
    json_object_set_new(json, "start_ns",
                        rs_json_count(rs_timeline_start_ns(timeline)));
    json_object_set_new(json, "series", series);
    return json;
}
