/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trend over days in index.html: a row of bars for each measure, a bar for each day.
 *
 * The one rule: days differ in how much was captured, so that bars are for each packet or
 * each stream.
 */
#include "batch_files.h"
#include "format.h"

#define DAYS 92 /* a quarter of a year, up to the newest */
#define LEAST_DAYS 2
#define HEIGHT 28 /* of bars, in pixels */
#define LEAST_HEIGHT 1.5
#define FILL 0.8 /* of the room for a day */
#define FEW 10   /* below are decimals */

/* What a bar is: so much of `part` for each of `whole`. */
typedef struct measure {
    const char *heading, *part, *whole, *unit;
    gboolean is_time; /* else a count, which is told for a million */
} measure;

static const measure measures[] = {
    {"lost", "lost", "packets", "in a million packets", FALSE},
    {"sent again", "resent", "data_packets", "in a million data packets", FALSE},
    {"CE", "ce", "data_packets", "in a million data packets", FALSE},
    {"CNPs", "cnps", "data_packets", "for a million data packets", FALSE},
    {"held by pauses", "held_ns", "streams", "each stream", TRUE},
};

typedef struct day {
    char *name;
    gint64 number; /* of the calendar, from any beginning */
    double share[G_N_ELEMENTS(measures)];
} day;

/* "1,234", "0.12"; g_free(). */
static char *
in_a_million(double share)
{
    double n = share * 1e6;
    return n >= FEW || n == 0 ? rs_format_count((guint64)(n + 0.5))
                              : g_strdup_printf("%.2f", n);
}

/* "0.12 in a million packets"; g_free(). */
static char *
describe(const day *d, guint m)
{
    g_autofree char *text = measures[m].is_time
                                ? rs_format_duration((guint64)d->share[m], 0)
                                : in_a_million(d->share[m]);
    return g_strdup_printf("%s %s", text, measures[m].unit);
}

/* Whether there is anything to be shown. */
static gboolean
has_bars(const GArray *days)
{
    for (guint i = 0; i < days->len; i++) {
        for (guint m = 0; m < G_N_ELEMENTS(measures); m++) {
            if (g_array_index(days, day, i).share[m] > 0) {
                return TRUE;
            }
        }
    }
    return FALSE;
}

static const day *
worst_of(const GArray *days, guint m)
{
    const day *worst = &g_array_index(days, day, 0);
    for (guint i = 1; i < days->len; i++) {
        const day *d = &g_array_index(days, day, i);
        worst = d->share[m] > worst->share[m] ? d : worst;
    }
    return worst;
}

static void
put_bar(rs_html *page, const day *d, guint m, double x, double width, double most)
{
    g_autofree char *text = describe(d, m);
    double height = MAX(d->share[m] / most * HEIGHT, LEAST_HEIGHT);
    rs_html_printf(page,
                   "<rect x=\"%.2f%%\" y=\"%.2f\" width=\"%.2f%%\" height=\"%.2f\">"
                   "<title>%s: %s</title></rect>",
                   x, HEIGHT - height, width, height, d->name, text);
}

/* Newest last; days on which nothing was captured have an empty place. */
static void
put_measure(rs_html *page, const GArray *days, guint m)
{
    const day *worst = worst_of(days, m);
    double most = worst->share[m];
    if (most == 0) {
        return; /* never anything */
    }
    const day *newest = &g_array_index(days, day, 0);
    gint64 first = g_array_index(days, day, days->len - 1).number;
    double room = 100.0 / (double)(newest->number - first + 1);
    rs_html_printf(page,
                   "<tr><th scope=\"row\">%s</th><td class=\"picture\">"
                   "<svg class=\"latency\" height=\"%d\" aria-hidden=\"true\">",
                   measures[m].heading, HEIGHT);
    for (guint i = days->len; i-- > 0;) {
        const day *d = &g_array_index(days, day, i);
        put_bar(page, d, m, room * (double)(d->number - first), room * FILL, most);
    }
    g_autofree char *now = describe(newest, m);
    g_autofree char *then = describe(worst, m);
    rs_html_printf(page, "</svg></td><td>%s</td><td>%s: %s</td></tr>\n", now,
                   worst->name, then);
}

static gboolean
take_day(const json_t *row, void *ctx)
{
    GArray *days = ctx;
    day d = {
        .name = g_strdup(json_string_value(json_object_get(row, "day"))),
        .number = json_integer_value(json_object_get(row, "number")),
    };
    for (guint i = 0; i < G_N_ELEMENTS(measures); i++) {
        double part = json_number_value(json_object_get(row, measures[i].part));
        double whole = json_number_value(json_object_get(row, measures[i].whole));
        d.share[i] = whole > 0 ? part / whole : 0;
    }
    g_array_append_val(days, d);
    return TRUE;
}

static void
free_day(gpointer data)
{
    day *d = data;
    g_free(d->name);
}

static void
write_trend(rs_html *page, const GArray *days)
{
    const day *newest = &g_array_index(days, day, 0);
    const day *oldest = &g_array_index(days, day, days->len - 1);
    rs_html_section(page, "trend", "Trend");
    rs_html_printf(page,
                   "<p class=\"lead\">Each day from %s to %s (UTC), the highest bar of "
                   "a row being the worst day.</p>\n"
                   "<div class=\"table\" tabindex=\"0\" role=\"region\" "
                   "aria-label=\"Trend\">\n<table id=\"trend-table\"><thead><tr><th "
                   "scope=\"col\"></th>"
                   "<th scope=\"col\" class=\"picture\"></th><th scope=\"col\">on %s"
                   "</th><th scope=\"col\">worst</th></tr></thead><tbody>\n",
                   oldest->name, newest->name, newest->name);
    for (guint i = 0; i < G_N_ELEMENTS(measures); i++) {
        put_measure(page, days, i);
    }
    rs_html_markup(page, "</tbody></table></div>\n");
    rs_html_end_section(page);
}

gboolean
rs_batch_trend(rs_html *page, rs_database *database, GError **error)
{
    /* clang-format off */
    static const char sql[] =
        "SELECT *, CAST(julianday(day) AS INTEGER) AS number FROM days "
        "WHERE julianday(day) > (SELECT julianday(max(day)) FROM days) - ?1 "
        "ORDER BY day DESC LIMIT ?1";
    /* clang-format on */
    g_autoptr(GArray) days = g_array_new(FALSE, FALSE, sizeof(day));
    g_array_set_clear_func(days, free_day);
    if (!rs_database_ask(database, sql, DAYS, take_day, days, error)) {
        return FALSE;
    }
    if (days->len >= LEAST_DAYS && has_bars(days)) {
        write_trend(page, days);
    }
    return TRUE;
}
