/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Distributions of latencies, one below the other on one logarithmic axis, drawn as shapes
 * that need no script: the chart library has no histograms, and these are printed and read
 * where scripts are not.
 */
#include "format.h"
#include "html_report.h"
#include "json_parts.h"

#include <math.h>
#include <string.h>

#define BINS_PER_DECADE 12
#define HEIGHT 26 /* of a picture, in its own units */

typedef struct words {
    const char *name, *what;
} words;

/* clang-format off */
static const words latency_words[ROCE_N_LATENCIES] = {
    [ROCE_LATENCY_MESSAGE_COMPLETION] = {"message, completion", "From a message's first packet to the ACK of its last"},
    [ROCE_LATENCY_ACK] = {"request, ACK", "From a request that asks for an ACK to the first that covers it"},
    [ROCE_LATENCY_READ_FIRST] = {"READ, first response", "From a READ request to its first response"},
    [ROCE_LATENCY_READ] = {"READ, last response", "From a READ request to its last response"},
    [ROCE_LATENCY_NAK_GENERATION] = {"gap, NAK", "From the packet that shows a gap to the NAK"},
    [ROCE_LATENCY_NAK_REACTION] = {"NAK, sent again", "From the NAK to the first packet sent again"},
    [ROCE_LATENCY_RECOVERY] = {"loss, recovery", "From the packet that shows a gap to the one that fills it"},
    [ROCE_LATENCY_CNP_DELAY] = {"CE, CNP", "From a marked packet to the CNP that answers it"},
    [ROCE_LATENCY_CNP_INTERVAL] = {"CNP, next CNP", "Between CNPs about one stream's data"},
};
/* clang-format on */

/* The axis, in powers of ten of ns. */
typedef struct axis {
    int first, last;
} axis;

static axis
find_axis(const rs_summary *summary)
{
    guint64 least = G_MAXUINT64;
    guint64 most = 1;
    for (guint i = 0; i < ROCE_N_LATENCIES; i++) {
        const roce_histogram *h = &summary->latencies[i];
        if (h->count > 0) {
            least = MIN(least, MAX(h->min_ns, 1));
            most = MAX(most, h->max_ns);
        }
    }
    axis a = {(int)floor(log10((double)least)), (int)ceil(log10((double)most))};
    if (a.last <= a.first) {
        a.last = a.first + 1;
    }
    return a;
}

/* Where a time lies on the axis, in percent. */
static double
place(const axis *a, double ns)
{
    double decades = log10(MAX(ns, 1)) - a->first;
    return 100 * CLAMP(decades / (a->last - a->first), 0, 1);
}

static double
bin_edge(const axis *a, guint i)
{
    return pow(10, a->first + (double)i / BINS_PER_DECADE);
}

/* A bar for each bin; the highest fills the height. */
static void
put_bars(rs_html *page, const roce_histogram *h, const axis *a)
{
    guint n = (guint)(a->last - a->first) * BINS_PER_DECADE;
    g_autofree guint64 *bins = g_new0(guint64, n);
    guint64 most = 1;
    guint64 before = 0;
    for (guint i = 0; i < n; i++) {
        guint64 limit = i + 1 == n ? G_MAXUINT64 : (guint64)bin_edge(a, i + 1);
        guint64 up_to = roce_histogram_count_up_to(h, limit);
        bins[i] = up_to - before;
        most = MAX(most, bins[i]);
        before = up_to;
    }
    for (guint i = 0; i < n; i++) {
        double height = MAX((double)bins[i] / (double)most * HEIGHT, 1.5);
        if (bins[i] > 0) {
            rs_html_printf(page,
                           "<rect x=\"%.2f%%\" y=\"%.2f\" width=\"%.2f%%\" "
                           "height=\"%.2f\"/>",
                           100.0 * i / n, HEIGHT - height, 90.0 / n, height);
        }
    }
}

static void
put_picture(rs_html *page, const roce_histogram *h, const axis *a)
{
    rs_html_printf(page,
                   "<td class=\"picture\"><svg class=\"latency\" height=\"%u\" "
                   "aria-hidden=\"true\">",
                   HEIGHT);
    for (int decade = a->first + 1; decade < a->last; decade++) {
        double x = place(a, pow(10, decade));
        rs_html_printf(page,
                       "<line class=\"grid\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"0\" "
                       "y2=\"%u\"/>",
                       x, x, HEIGHT);
    }
    put_bars(page, h, a);
    static const guint marks[] = {500, 990};
    for (guint i = 0; i < G_N_ELEMENTS(marks); i++) {
        double x = place(a, (double)roce_histogram_quantile(h, marks[i]));
        rs_html_printf(page,
                       "<line class=\"p%u\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"0\" "
                       "y2=\"%u\"/>",
                       marks[i] / 10, x, x, HEIGHT);
    }
    rs_html_markup(page, "</svg></td>");
}

/* "1 µs" at each power of ten. */
static void
put_axis(rs_html *page, const axis *a)
{
    rs_html_markup(page, "<th scope=\"col\" class=\"picture\">"
                         "<svg class=\"latency\" height=\"14\" role=\"img\" "
                         "aria-label=\"Logarithmic axis of time\">");
    for (int decade = a->first; decade <= a->last; decade++) {
        g_autofree char *label =
            rs_format_duration((guint64)pow(10, MAX(decade, 0)), 0);
        char *point = strchr(label, '.'); /* "1.00 ms" */
        const char *unit = strchr(label, ' ');
        if (point != NULL && unit != NULL) {
            memmove(point, unit, strlen(unit) + 1);
        }
        const char *anchor = decade == a->first  ? "start"
                             : decade == a->last ? "end"
                                                 : "middle";
        rs_html_printf(page, "<text x=\"%.2f%%\" y=\"10\" text-anchor=\"%s\">%s</text>",
                       place(a, pow(10, decade)), anchor, label);
    }
    rs_html_markup(page, "</svg></th>");
}

static const struct {
    const char *heading, *name;
} numbers[] = {{"least", "min"},       {"median", "p50"}, {"90 %", "p90"},
               {"99 %", "p99"},        {"most", "max"},   {"mean", "mean"},
               {"std. dev.", "stddev"}};

static void
put_row(const rs_html_report *r, guint latency, const json_t *dist, const axis *a)
{
    rs_html *page = r->page;
    json_int_t count = json_integer_value(json_object_get(dist, "count"));
    g_autofree char *samples = rs_format_count((guint64)count);
    rs_html_printf(page,
                   "<tr><th scope=\"row\" title=\"%s\">%s</th><td class=\"n\">%s</td>",
                   latency_words[latency].what, latency_words[latency].name, samples);
    put_picture(page, &r->summary->latencies[latency], a);
    for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
        json_int_t ns = json_integer_value(json_object_get(dist, numbers[i].name));
        g_autofree char *text =
            rs_format_duration((guint64)ns, r->analysis->resolution_ns);
        rs_html_printf(page,
                       "<td class=\"n\" data-sort=\"%" JSON_INTEGER_FORMAT "\">%s</td>",
                       ns, text);
    }
    rs_html_markup(page, "</tr>\n");
}

static void
put_head(rs_html *page, const axis *a)
{
    rs_html_section(page, "latencies", "Latencies");
    rs_html_markup(page,
                   "<p class=\"lead\">Of all streams; packets sent again give no "
                   "samples.  The strong line is the median, the dashed one the 99th "
                   "percentile; the axis of time is logarithmic.</p>\n"
                   "<div class=\"table\" tabindex=\"0\" role=\"region\" "
                   "aria-label=\"Latencies\">\n<table id=\"latencies-table\">\n"
                   "<caption>Latencies</caption>\n<thead><tr>"
                   "<th scope=\"col\">from, to</th>"
                   "<th scope=\"col\" class=\"n\">samples</th>");
    put_axis(page, a);
    for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
        rs_html_printf(page, "<th scope=\"col\" class=\"n\">%s</th>",
                       numbers[i].heading);
    }
    rs_html_markup(page, "</tr></thead>\n<tbody>\n");
}

void
rs_html_latencies(const rs_html_report *r)
{
    json_t *totals = rs_json_totals(r->analysis, r->summary);
    axis a = find_axis(r->summary);
    guint n = 0;
    for (guint i = 0; i < ROCE_N_LATENCIES; i++) {
        const json_t *dist =
            json_object_get(totals, roce_latency_name((roce_latency)i));
        if (!json_is_object(dist)) {
            continue;
        }
        if (n++ == 0) {
            put_head(r->page, &a);
        }
        put_row(r, i, dist, &a);
    }
    if (n > 0) {
        rs_html_markup(r->page, "</tbody>\n</table>\n</div>\n");
        rs_html_end_section(r->page);
    }
    json_decref(totals);
}
