/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the scripts of the report draw: the time line of the JSON report, the points of the
 * plots of PSNs, and the matrix of hosts.
 *
 * Scripts have doubles for numbers, in which times since 1970 do not fit to the ns: on the
 * page times count from the first packet, and that one's time is text.
 */
#include "format.h"
#include "host_matrix.h"
#include "html_report.h"
#include "json_parts.h"
#include "json_timeline.h"
#include "point_names.h"

#include "roce/psn.h"

#include <string.h>

#define MATRIX_LEAST_HOSTS 3

/* Points of one plot: those of faults are kept before packets that went well. */
#define PLOT_POINTS 2000
#define PLOT_LEAST_POINTS 2

/* "#3  gpu01 → gpu02  QP 0x11"; g_free(). */
static char *
stream_label(const rs_html_report *r, guint32 id)
{
    const roce_stream *s = roce_tracker_stream(r->analysis->tracker, id);
    g_autofree char *src = rs_hosts_label(r->analysis->told->hosts, &s->src);
    g_autofree char *dst = rs_hosts_label(r->analysis->told->hosts, &s->dst);
    g_autofree char *at = rs_points_n(r->analysis->points) > 1
                              ? g_strdup_printf(", point %u", s->point)
                              : g_strdup("");
    return g_strdup_printf("#%u  %s → %s  QP 0x%x%s", id, src, dst, s->dst_qpn, at);
}

/* A time on the page: from the first packet on. */
static json_t *
page_time(const rs_html_report *r, guint64 ns)
{
    return json_integer((json_int_t)(ns - r->analysis->first_ns));
}

/* ---- time line ---- */

static void
label_series(const rs_html_report *r, json_t *series)
{
    const char *of = json_string_value(json_object_get(series, "of"));
    guint32 id = (guint32)json_integer_value(json_object_get(series, "id"));
    g_autofree char *label = NULL;
    if (g_str_equal(of, "stream")) {
        label = stream_label(r, id);
        json_object_set_new(
            series, "point",
            rs_json_count(roce_tracker_stream(r->analysis->tracker, id)->point));
    } else if (g_str_equal(of, "point")) {
        g_autofree char *name = rs_point_name(r->analysis, id);
        label = g_strdup_printf("Point %u: %s", id, name);
    } else {
        label = g_strdup("All, each packet once");
    }
    json_object_set_new(series, "label", rs_json_text(label));
}

/* The series that there is room for: points have half of it, streams what they leave. */
static guint
keep_within_budget(const rs_html_report *r, json_t *series)
{
    gsize used = 0;
    guint omitted = 0;
    for (gsize i = 0; i < json_array_size(series);) {
        json_t *one = json_array_get(series, i);
        gboolean is_point =
            g_str_equal(json_string_value(json_object_get(one, "of")), "point");
        label_series(r, one);
        gsize size = rs_html_data_size(one);
        gsize room = is_point ? RS_HTML_TIMELINE_BYTES / 2 : RS_HTML_TIMELINE_BYTES;
        if (used + size > room && i > 0) {
            json_array_remove(series, i);
            omitted++;
        } else {
            used += size;
            i++;
        }
    }
    return omitted;
}

/* The line of controls that all charts share. */
static void
put_controls(rs_html *page, const char *of, const char *label)
{
    rs_html_printf(page,
                   "<div class=\"controls\" id=\"%s-controls\">\n"
                   "<label>%s <select id=\"%s-choice\"></select></label>\n"
                   "<span class=\"zoom\"></span>\n</div>\n",
                   of, label, of);
}

static void
put_no_script(rs_html *page)
{
    rs_html_markup(page, "<noscript><p class=\"lead\">The charts need JavaScript; "
                         "everything else on this page does not.</p></noscript>\n");
}

void
rs_html_timeline(const rs_html_report *r)
{
    json_t *timeline = rs_json_timeline(r->analysis, r->summary);
    if (!json_is_object(timeline)) {
        json_decref(timeline);
        return;
    }
    json_t *series = json_object_get(timeline, "series");
    guint omitted = keep_within_budget(r, series);
    guint64 start = (guint64)json_integer_value(json_object_get(timeline, "start_ns"));
    g_autofree char *origin =
        g_strdup_printf("%" G_GUINT64_FORMAT, r->analysis->first_ns);
    json_object_set_new(timeline, "start_ns", page_time(r, start));
    json_object_set_new(timeline, "origin_ns", json_string(origin));
    json_object_set_new(
        timeline, "n_bins",
        rs_json_count(rs_timeline_n_bins(r->analysis->watchers.timeline)));
    rs_html_section(r->page, "timeline", "What happened when");
    put_controls(r->page, "timeline", "Show");
    rs_html_markup(r->page, "<div id=\"timeline-charts\"></div>\n");
    put_no_script(r->page);
    if (omitted > 0) {
        rs_html_printf(r->page,
                       "<p class=\"more\">… and %u more points and streams in the time "
                       "line of <code>--json</code>.</p>\n",
                       omitted);
    }
    rs_html_data(r->page, "timeline", timeline);
    rs_html_end_section(r->page);
}

/* ---- PSNs over time ---- */

static gboolean
is_common(const rs_psn_point *point)
{
    return point->kind == RS_PSN_REQUEST || point->kind == RS_PSN_RESPONSE ||
           point->kind == RS_PSN_ACK;
}

static gboolean
belongs(const rs_psn_point *point, roce_space space)
{
    return point->kind == RS_PSN_CNP ? space == ROCE_SPACE_REQUESTS
                                     : point->space == space;
}

/* Of how many points every which is kept, so that no more than `room` are. */
static guint
stride_for(guint n, guint room)
{
    return n == 0 ? 1 : (n + MAX(room, 1) - 1) / MAX(room, 1);
}

/* Lists of equal length, as scripts read them: differences are short. */
typedef struct plot_lists {
    json_t *time, *psn, *kind, *frame, *span;
    guint64 last_ns, last_frame;
    gint64 last_psn;
} plot_lists;

static void
add_point(plot_lists *lists, const rs_psn_point *point)
{
    gboolean has_psn = point->psn != ROCE_NO_PSN;
    json_array_append_new(lists->time,
                          json_integer((json_int_t)(point->time_ns - lists->last_ns)));
    json_array_append_new(lists->frame,
                          json_integer((json_int_t)(point->frame - lists->last_frame)));
    json_array_append_new(
        lists->psn, has_psn ? json_integer(point->psn - lists->last_psn) : json_null());
    json_array_append_new(lists->kind, json_integer(point->kind));
    json_array_append_new(lists->span, json_integer(point->span));
    lists->last_ns = point->time_ns;
    lists->last_frame = point->frame;
    lists->last_psn = has_psn ? point->psn : lists->last_psn;
}

typedef struct plot_counts {
    guint common, rare;
    gint64 least_psn; /* G_MAXINT64: none */
} plot_counts;

static plot_counts
count_points(const GArray *points, roce_space space)
{
    plot_counts n = {.least_psn = G_MAXINT64};
    for (guint i = 0; i < points->len; i++) {
        const rs_psn_point *point = &g_array_index(points, rs_psn_point, i);
        if (!belongs(point, space)) {
            continue;
        }
        n.common += is_common(point) ? 1 : 0;
        n.rare += is_common(point) ? 0 : 1;
        if (point->psn != ROCE_NO_PSN) {
            n.least_psn = MIN(n.least_psn, point->psn);
        }
    }
    return n;
}

static void
fill_lists(plot_lists *lists, const GArray *points, roce_space space,
           const plot_counts *n)
{
    guint rare_stride = stride_for(n->rare, PLOT_POINTS * 2 / 3);
    guint common_stride =
        stride_for(n->common, PLOT_POINTS - MIN(n->rare, PLOT_POINTS * 2 / 3));
    guint common = 0;
    guint rare = 0;
    for (guint i = 0; i < points->len; i++) {
        const rs_psn_point *point = &g_array_index(points, rs_psn_point, i);
        if (!belongs(point, space)) {
            continue;
        }
        if (is_common(point) ? common++ % common_stride == 0
                             : rare++ % rare_stride == 0) {
            add_point(lists, point);
        }
    }
}

/* One plot, or NULL where a stream has next to nothing in this space. */
static json_t *
plot_json(const rs_html_report *r, guint32 id, const GArray *points, roce_space space)
{
    plot_counts n = count_points(points, space);
    if (n.common < PLOT_LEAST_POINTS || n.least_psn == G_MAXINT64) {
        return NULL;
    }
    plot_lists lists = {json_array(),
                        json_array(),
                        json_array(),
                        json_array(),
                        json_array(),
                        r->analysis->first_ns,
                        0,
                        n.least_psn};
    fill_lists(&lists, points, space, &n);
    g_autofree char *stream = stream_label(r, id);
    g_autofree char *label = g_strdup_printf(
        "%s  %s", stream, space == ROCE_SPACE_REQUESTS ? "requests" : "responses");
    json_t *json = json_object();
    json_object_set_new(json, "stream", rs_json_count(id));
    json_object_set_new(json, "label", rs_json_text(label));
    json_object_set_new(json, "first_psn", rs_json_count(roce_psn_wrap(n.least_psn)));
    json_object_set_new(json, "time", lists.time);
    json_object_set_new(json, "psn", lists.psn);
    json_object_set_new(json, "kind", lists.kind);
    json_object_set_new(json, "frame", lists.frame);
    json_object_set_new(json, "span", lists.span);
    return json;
}

static json_t *
totals_json(const rs_html_report *r, guint32 id)
{
    json_t *totals = json_array();
    for (guint kind = 0; kind < RS_PSN_KINDS; kind++) {
        guint64 n =
            rs_psn_plot_total(r->analysis->watchers.psn_plot, id, (rs_psn_kind)kind);
        json_array_append_new(totals, rs_json_count(n));
    }
    return totals;
}

/* The plots of one stream; how many bytes they are. */
static gsize
add_plots(const rs_html_report *r, guint32 id, json_t *plots)
{
    gsize size = 0;
    g_autoptr(GArray) points = rs_psn_plot_points(r->analysis->watchers.psn_plot, id);
    for (guint space = 0; points != NULL && space < ROCE_N_SPACES; space++) {
        json_t *plot = plot_json(r, id, points, (roce_space)space);
        if (plot != NULL) {
            json_object_set_new(plot, "totals", totals_json(r, id));
            size += rs_html_data_size(plot);
            json_array_append_new(plots, plot);
        }
    }
    return size;
}

static json_t *
kind_names_json(void)
{
    json_t *names = json_array();
    for (guint kind = 0; kind < RS_PSN_KINDS; kind++) {
        json_array_append_new(names, json_string(rs_psn_kind_name((rs_psn_kind)kind)));
    }
    return names;
}

void
rs_html_psn(const rs_html_report *r)
{
    const GArray *order = r->summary->worst_first;
    if (r->analysis->watchers.psn_plot == NULL ||
        !rs_analysis_has_stamps(r->analysis)) {
        return;
    }
    json_t *plots = json_array();
    gsize size = 0;
    for (guint i = 0; i < order->len && json_array_size(plots) < RS_HTML_PSN_PLOTS &&
                      size < RS_HTML_PSN_BYTES;
         i++) {
        size += add_plots(r, g_array_index(order, guint32, i), plots);
    }
    if (json_array_size(plots) == 0) {
        json_decref(plots);
        return;
    }
    rs_html_section(r->page, "psn", "PSNs over time");
    put_controls(r->page, "psn", "Stream");
    rs_html_markup(r->page, "<div id=\"psn-chart\"></div>\n");
    put_no_script(r->page);
    json_t *json = json_object();
    json_object_set_new(json, "kinds", kind_names_json());
    json_object_set_new(json, "plots", plots);
    rs_html_data(r->page, "psn", json);
    rs_html_end_section(r->page);
}

/* ---- hosts ---- */

/* In the order that the script of the matrix has as well. */
static json_t *
cell_json(const rs_matrix_cell *cell)
{
    const guint64 values[] = {
        cell->src,  cell->dst, cell->packets, cell->payload_bytes,
        cell->data, cell->ce,  cell->lost,    cell->retransmissions,
    };
    json_t *json = json_array();
    for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
        json_array_append_new(json, rs_json_count(values[i]));
    }
    json_array_append_new(json, rs_json_known(cell->cnps, cell->cnps_known));
    return json;
}

/* "10.0.0.1", or "10.0.0.1 in vxlan 100" where there are others. */
static char *
host_label(const rs_html_report *r, const rs_host_matrix *matrix, guint i)
{
    const rs_tenant_addr *host = &g_array_index(matrix->hosts, rs_tenant_addr, i);
    g_autofree char *label = rs_hosts_label(r->analysis->told->hosts, &host->addr);
    g_autofree char *tenant = rs_format_tenant(&host->tenant);
    return *tenant == '\0' || !matrix->several_tenants
               ? g_steal_pointer(&label)
               : g_strdup_printf("%s in %s", label, tenant);
}

static json_t *
matrix_json(const rs_html_report *r, const rs_host_matrix *matrix)
{
    json_t *hosts = json_array();
    json_t *cells = json_array();
    for (guint i = 0; i < matrix->hosts->len; i++) {
        g_autofree char *label = host_label(r, matrix, i);
        json_array_append_new(hosts, rs_json_text(label));
    }
    for (guint i = 0; i < matrix->cells->len; i++) {
        json_array_append_new(
            cells, cell_json(&g_array_index(matrix->cells, rs_matrix_cell, i)));
    }
    json_t *json = json_object();
    json_object_set_new(json, "hosts", hosts);
    json_object_set_new(json, "cells", cells);
    return json;
}

void
rs_html_matrix(const rs_html_report *r)
{
    g_autoptr(rs_host_matrix) matrix = rs_host_matrix_new(r->analysis, r->summary);
    if (matrix->hosts->len < MATRIX_LEAST_HOSTS) {
        return;
    }
    rs_html_section(r->page, "hosts", "Who sends to whom");
    rs_html_markup(r->page,
                   "<p class=\"lead\">Senders are rows, receivers columns; each "
                   "packet counts once.</p>\n");
    put_controls(r->page, "hosts", "Measure");
    rs_html_markup(r->page, "<div id=\"hosts-matrix\"></div>\n");
    put_no_script(r->page);
    if (matrix->hosts_omitted > 0) {
        g_autofree char *more = rs_format_count(matrix->hosts_omitted);
        rs_html_printf(r->page,
                       "<p class=\"more\">… and %s more hosts with less traffic.</p>\n",
                       more);
    }
    rs_html_data(r->page, "hosts", matrix_json(r, matrix));
    rs_html_end_section(r->page);
}
