/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report_html.h"

#include "format.h"
#include "html_report.h"
#include "point_names.h"
#include "reader.h"
#include "twins.h"
#include "verdict.h"

#define FILES_LISTED 100 /* and as many points */

/* ---- what was captured ---- */

static void
put_fact(rs_html *page, const char *label, const char *value)
{
    rs_html_printf(page, "<div><dt>%s</dt><dd>%s</dd></div>\n", label, value);
}

static void
put_count(rs_html *page, const char *label, guint64 n)
{
    g_autofree char *text = rs_format_count(n);
    put_fact(page, label, text);
}

static void
put_facts(const rs_html_report *r)
{
    const rs_analysis *a = r->analysis;
    const roce_tracker_totals *n = roce_tracker_totals_get(a->tracker);
    rs_html_markup(r->page, "<dl class=\"facts\">\n");
    put_count(r->page, "packets", a->packets);
    if (a->packets > 0 && rs_analysis_has_stamps(a)) {
        g_autofree char *length =
            rs_format_duration(a->last_ns - a->first_ns, a->resolution_ns);
        g_autofree char *start = rs_format_time(a->first_ns);
        put_fact(r->page, "long", length);
        put_fact(r->page, "from", start);
    }
    put_count(r->page, "RoCE packets", n->roce_packets);
    put_count(r->page, "streams", roce_tracker_n_streams(a->tracker));
    put_count(r->page, "CNPs", n->cnp_packets);
    put_count(r->page, "PFC frames", n->pfc_frames);
    if (n->pause_frames > 0) {
        put_count(r->page, "802.3x pauses", n->pause_frames);
    }
    put_count(r->page, "other packets", n->other_packets);
    rs_html_markup(r->page, "</dl>\n");
}

/* Ends a list of FILES_LISTED items at most. */
static void
end_list(rs_html *page, guint n, const char *items)
{
    if (n > FILES_LISTED) {
        rs_html_printf(page, "<li>… and %u more %s</li>\n", n - FILES_LISTED, items);
    }
    rs_html_markup(page, "</ul>\n");
}

static void
put_files(const rs_html_report *r)
{
    const rs_analysis *a = r->analysis;
    rs_html_markup(r->page, "<ul class=\"files\">\n");
    for (guint i = 0; i < MIN(a->files->len, FILES_LISTED); i++) {
        const rs_file *file = g_ptr_array_index(a->files, i);
        g_autofree char *packets = rs_format_things(file->packets, "packet", "packets");
        g_autofree char *bytes = rs_format_bytes(file->bytes);
        const char *wrong = rs_verdict_file(file);
        if (file->format == NULL) {
            rs_html_printf(r->page, "<li>%s: %s</li>\n", file->path, wrong);
        } else {
            rs_html_printf(r->page, "<li>%s: %s, %s, %s%s%s</li>\n", file->path,
                           file->format, packets, bytes, wrong != NULL ? ", " : "",
                           wrong != NULL ? wrong : "");
        }
    }
    end_list(r->page, a->files->len, "files");
}

static void
put_point(const rs_html_report *r, guint32 id)
{
    const rs_point *point = rs_analysis_point(r->analysis, id);
    const char *link = rs_link_type_name(point->link_type);
    g_autofree char *name = rs_point_name(r->analysis, id);
    g_autofree char *packets = rs_format_things(point->packets, "packet", "packets");
    g_autofree char *speed = rs_format_speed(point->speed_bps);
    rs_html_printf(r->page, "<li>Point %u: %s, %s, %s%s%s</li>\n", id, name,
                   link != NULL ? link : "unknown link", packets,
                   point->speed_bps != 0 ? ", " : "",
                   point->speed_bps != 0 ? speed : "");
}

/* A single interface needs no words. */
static void
put_points(const rs_html_report *r)
{
    const rs_analysis *a = r->analysis;
    guint n = rs_points_n(a->points);
    if (n == 0 ||
        (n == 1 && rs_analysis_point(a, 0)->origin.kind == ROCE_ORIGIN_INTERFACE)) {
        return;
    }
    rs_html_markup(r->page, "<ul class=\"files\">\n");
    for (guint i = 0; i < MIN(n, FILES_LISTED); i++) {
        put_point(r, i);
    }
    end_list(r->page, n, "points");
    if (n > 1) {
        g_autofree char *twins = rs_format_things(
            rs_twins_count(a->twins), "packet stands at more than one point and counts",
            "packets stand at more than one point and count");
        rs_html_printf(r->page, "<p>%s once.</p>\n", twins);
    }
}

static void
put_capture(const rs_html_report *r)
{
    rs_html_section(r->page, "capture", "The capture");
    put_files(r);
    put_points(r);
    rs_html_end_section(r->page);
}

/* "sender.pcap and 2 more" */
static char *
make_title(const rs_analysis *analysis)
{
    const rs_file *first = g_ptr_array_index(analysis->files, 0);
    g_autofree char *name = g_path_get_basename(first->path);
    guint more = analysis->files->len - 1;
    return more == 0 ? g_strdup(name) : g_strdup_printf("%s and %u more", name, more);
}

void
rs_report_html(FILE *out, const rs_analysis *analysis, const rs_summary *summary,
               const GPtrArray *findings)
{
    g_autofree char *title = make_title(analysis);
    const rs_html_head head = {
        .kind = "Capture report", .title = title, .charts = RS_HTML_CHARTS};
    rs_html_report r = {
        .page = rs_html_open(out, &head),
        .analysis = analysis,
        .summary = summary,
        .findings = findings,
    };
    rs_html_prepare_streams(&r);
    put_facts(&r);
    rs_html_findings(&r);
    rs_html_timeline(&r);
    rs_html_psn(&r);
    rs_html_latencies(&r);
    rs_html_streams(&r);
    rs_html_connections(&r);
    rs_html_pauses(&r);
    rs_html_matrix(&r);
    rs_html_background(&r);
    put_capture(&r);
    rs_html_close(r.page);
    rs_html_table_free(r.streams);
    g_hash_table_unref(r.linkable);
}
