/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of sheets, made of the objects of the JSON report. */
#include "json_background.h"
#include "json_capture.h"
#include "json_connection.h"
#include "json_finding.h"
#include "json_parts.h"
#include "json_pause.h"
#include "json_timeline.h"
#include "sheets.h"

/* Who takes the rows; `going` until one is refused. */
typedef struct tour {
    const rs_report *report;
    rs_sheet_choice choice;
    rs_sheet_visitor visit;
    void *data;
    gboolean going;
} tour;

static gboolean
is_chosen(const tour *t, const rs_sheet *sheet)
{
    return t->choice == NULL || t->choice(sheet);
}

static void
visit_item(tour *t, const rs_sheet *sheet, const json_t *row, const char *key,
           json_t *item)
{
    json_t *id = json_object_get(row, "id");
    json_t *member = json_object();
    json_object_set_new(member, "of", id != NULL ? json_incref(id) : json_null());
    json_object_set_new(member, "key", rs_json_text(key));
    json_object_set(member, "item", item);
    t->going = t->going && t->visit(sheet, member, t->data);
    json_decref(member);
}

/* What a path of keys leads to, or NULL: nothing, or a null on the way. */
static json_t *
list_of(json_t *row, const char *path)
{
    g_auto(GStrv) keys = g_strsplit(path, ".", -1);
    for (guint i = 0; keys[i] != NULL; i++) {
        row = json_object_get(row, keys[i]);
    }
    return row;
}

/* Hands out the rows of a sheet that belong to a row. */
static void
visit_list(tour *t, const rs_sheet *sheet, json_t *row)
{
    json_t *list = list_of(row, sheet->list);
    const char *key;
    json_t *item;
    gsize i;
    json_array_foreach(list, i, item)
    {
        visit_item(t, sheet, row, NULL, item);
    }
    json_object_foreach(list, key, item)
    {
        visit_item(t, sheet, row, key, item);
    }
}

/* Hands out a row, and what belongs to it; frees it. */
static void
visit_row(tour *t, const char *name, json_t *row)
{
    const rs_sheet *sheet = rs_sheet_find(name);
    t->going = t->going && t->visit(sheet, row, t->data);
    for (guint i = 0; i < rs_n_sheets && t->going; i++) {
        if (g_strcmp0(rs_sheets[i].of, name) == 0 && is_chosen(t, &rs_sheets[i])) {
            visit_list(t, &rs_sheets[i], row);
        }
    }
    json_decref(row);
}

static void
visit_capture(tour *t)
{
    const rs_report *r = t->report;
    json_t *row = json_object();
    json_object_set_new(row, "tool", rs_json_tool());
    json_object_set_new(row, "capture", rs_json_capture(r->analysis));
    json_object_set_new(row, "totals", rs_json_totals(r->analysis, r->summary));
    json_object_set_new(row, "unattributed", rs_json_unattributed(r->summary));
    json_object_set_new(row, "streams_omitted",
                        rs_json_streams_omitted(r->analysis, r->summary));
    json_object_set_new(row, "event_totals", rs_json_event_totals(r->analysis));
    visit_row(t, "captures", row);
}

static void
visit_streams(tour *t)
{
    const GArray *worst_first = t->report->summary->worst_first;
    guint n = MIN(worst_first->len, t->report->analysis->options->max_streams);
    for (guint i = 0; i < n && t->going; i++) {
        visit_row(t, "streams",
                  rs_json_stream(t->report->analysis, t->report->summary,
                                 g_array_index(worst_first, guint32, i)));
    }
}

static void
visit_connections(tour *t)
{
    const rs_report *r = t->report;
    for (guint i = 0; i < r->summary->links->len && t->going; i++) {
        visit_row(t, "connections", rs_json_connection(r->analysis, r->summary, i));
    }
}

static void
visit_pauses(tour *t)
{
    const rs_analysis *analysis = t->report->analysis;
    for (guint32 i = 0; i < roce_tracker_n_pauses(analysis->tracker) && t->going; i++) {
        visit_row(t, "pauses", rs_json_pause(analysis, i));
    }
}

static void
visit_background(tour *t)
{
    json_t *rows = rs_json_background(t->report->analysis);
    for (gsize i = 0; i < json_array_size(rows) && t->going; i++) {
        visit_row(t, "background", json_incref(json_array_get(rows, i)));
    }
    json_decref(rows);
}

static void
visit_findings(tour *t)
{
    const GPtrArray *findings = t->report->findings;
    for (guint i = 0; i < findings->len && t->going; i++) {
        visit_row(t, "findings", rs_json_finding(g_ptr_array_index(findings, i)));
    }
}

static void
visit_events(tour *t)
{
    const rs_analysis *analysis = t->report->analysis;
    const GArray *events = analysis->events;
    for (guint i = 0; i < events->len && t->going; i++) {
        visit_row(t, "events",
                  rs_json_event(analysis, &g_array_index(events, roce_event, i)));
    }
}

/* What a row of bins has in one of them: of an array of rows an array, of null null. */
static json_t *
bin_of(json_t *bins, gsize bin)
{
    if (!json_is_array(bins)) {
        return json_incref(bins);
    }
    if (json_is_integer(json_array_get(bins, bin))) {
        return json_incref(json_array_get(bins, bin));
    }
    json_t *rows = json_array();
    for (gsize i = 0; i < json_array_size(bins); i++) {
        json_array_append_new(rows, bin_of(json_array_get(bins, i), bin));
    }
    return rows;
}

/* An element of the time line's `series`, bin by bin. */
static void
visit_series(json_t *series, void *data)
{
    tour *t = data;
    const rs_timeline *timeline = t->report->analysis->watchers.timeline;
    for (guint i = 0; i < rs_timeline_n_bins(timeline) && t->going; i++) {
        guint64 bin_ns = rs_timeline_bin_ns(timeline);
        json_t *row = json_object();
        const char *key;
        json_t *value;
        json_object_foreach(series, key, value)
        {
            json_object_set_new(row, key, bin_of(value, i));
        }
        json_object_set_new(row, "start_ns",
                            rs_json_count(rs_timeline_start_ns(timeline) + i * bin_ns));
        json_object_set_new(row, "bin_ns", rs_json_count(bin_ns));
        visit_row(t, "timeline", row);
    }
    json_decref(series);
}

static void
visit_timeline(tour *t)
{
    rs_json_timeline_visit(t->report->analysis, t->report->summary, visit_series, t);
}

gboolean
rs_sheets_visit(const rs_report *report, rs_sheet_choice choice, rs_sheet_visitor visit,
                void *data)
{
    static const struct {
        const char *sheet;
        void (*visit)(tour *t);
    } parts[] = {
        {"captures", visit_capture},        {"streams", visit_streams},
        {"connections", visit_connections}, {"pauses", visit_pauses},
        {"background", visit_background},   {"findings", visit_findings},
        {"events", visit_events},           {"timeline", visit_timeline},
    };
    tour t = {report, choice, visit, data, .going = TRUE};
    for (guint i = 0; i < G_N_ELEMENTS(parts) && t.going; i++) {
        if (is_chosen(&t, rs_sheet_find(parts[i].sheet))) {
            parts[i].visit(&t);
        }
    }
    return t.going;
}
