/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text_congestion.h"

#include "format.h"
#include "mark_places.h"
#include "table.h"

/* clang-format off */
static const rs_column marked_columns[] = {
    {"ECT at", FALSE, 0, FALSE}, {"CE at", FALSE, 0, FALSE}, {"packets", TRUE, 0, FALSE},
};
static const rs_column notifier_columns[] = {
    {"at", TRUE, 2, FALSE}, {"from", FALSE, 0, FALSE}, {"CNPs", TRUE, 0, FALSE},
    {"apart at least", TRUE, 0, FALSE}, {"for each", FALSE, 0, FALSE},
    {"marks held back", TRUE, 1, TRUE},
};
static const rs_column sender_columns[] = {
    {"#", TRUE, 3, FALSE}, {"at", TRUE, 2, RS_COLUMN_UNLESS_EMPTY}, {"from", FALSE, 0, FALSE}, {"to", FALSE, 0, FALSE},
    {"QP", FALSE, 0, FALSE}, {"bursts", TRUE, 2, FALSE}, {"CNPs", TRUE, 1, FALSE},
    {"before", TRUE, 0, FALSE}, {"lowest", TRUE, 0, FALSE},
    {"back after", TRUE, 0, FALSE},
};
/* clang-format on */

/* ---- who marked ---- */

/* Over all streams; each packet was marked once. */
static GArray *
all_mark_places(const rs_analysis *a)
{
    GArray *places = rs_mark_places_new();
    for (guint32 id = 0; id < roce_tracker_n_streams(a->tracker); id++) {
        rs_mark_places_add(places, a, id);
    }
    rs_mark_places_sort(places);
    return places;
}

static void
print_marked(const rs_text *r)
{
    g_autoptr(GArray) places = all_mark_places(r->analysis);
    if (places->len == 0) {
        return;
    }
    rs_text_heading(r, "Where packets were marked");
    g_autoptr(rs_table) table =
        rs_table_new(marked_columns, G_N_ELEMENTS(marked_columns));
    guint shown = rs_text_rows_shown(r, places->len);
    for (guint i = 0; i < shown; i++) {
        const rs_mark_place *one = &g_array_index(places, rs_mark_place, i);
        rs_table_add(table, rs_place_name(r->analysis, one->from));
        rs_table_add(table, rs_place_name(r->analysis, one->to));
        rs_text_add_count(table, one->packets);
    }
    rs_table_print(table, r->out, r->width);
    rs_text_say_more(r, places->len, shown);
}

/* ---- who sends CNPs ---- */

/* "pair or port"; that a destination address is the same as a pair goes without saying. */
static char *
scopes_text(const roce_pacing *pacing)
{
    static const char *const words[ROCE_N_PACING_SCOPES] = {
        [ROCE_PACING_QP] = "queue pair",
        [ROCE_PACING_PAIR] = "address pair",
        [ROCE_PACING_DESTINATION] = NULL,
        [ROCE_PACING_PORT] = "port",
    };
    GString *text = g_string_new(NULL);
    for (guint i = 0; pacing->known && i < ROCE_N_PACING_SCOPES; i++) {
        if ((pacing->scopes & 1u << i) != 0 && words[i] != NULL) {
            g_string_append_printf(text, "%s%s", text->len > 0 ? " or " : "", words[i]);
        }
    }
    return g_string_free(text, FALSE);
}

static void
print_notifiers(const rs_text *r)
{
    const rs_analysis *a = r->analysis;
    guint32 n = roce_tracker_n_notifiers(a->tracker);
    if (n == 0) {
        return;
    }
    rs_text_heading(r, "Who sends CNPs");
    g_autoptr(rs_table) table =
        rs_table_new(notifier_columns, G_N_ELEMENTS(notifier_columns));
    guint shown = rs_text_rows_shown(r, n);
    for (guint32 i = 0; i < shown; i++) {
        const roce_notifier *one = roce_tracker_notifier(a->tracker, i);
        rs_table_add(table, g_strdup_printf("%u", one->point));
        rs_table_add(table, rs_hosts_label(a->told->hosts, &one->addr));
        rs_text_add_count(table, one->cnps);
        rs_table_add(table,
                     one->pacing.known
                         ? rs_format_duration(one->pacing.interval_ns, a->resolution_ns)
                         : g_strdup("?"));
        rs_table_add(table, scopes_text(&one->pacing));
        rs_text_add_count(table, one->marks_held_back);
    }
    rs_table_print(table, r->out, r->width);
    rs_text_say_more(r, n, shown);
}

/* ---- what senders made of them ---- */

static gboolean
is_measured(const rs_cnp_burst *burst)
{
    return burst->before_bps != 0 && burst->lowest_bps != 0;
}

/* The burst of most CNPs whose rates are known; NULL: none. */
static const rs_cnp_burst *
largest_burst(const rs_text *r, guint32 id, guint64 *n_all)
{
    guint n;
    const rs_cnp_burst *bursts = rs_reactions_bursts(
        rs_congestion_reactions(r->analysis->watchers.congestion), id, &n, n_all);
    const rs_cnp_burst *largest = NULL;
    for (guint i = 0; i < n; i++) {
        if (is_measured(&bursts[i]) &&
            (largest == NULL || bursts[i].cnps > largest->cnps)) {
            largest = &bursts[i];
        }
    }
    return largest;
}

static void
add_sender(const rs_text *r, rs_table *table, const roce_stream *s,
           const rs_cnp_burst *largest, guint64 n_bursts)
{
    const rs_cnp_burst whole = rs_cnp_burst_whole(largest);
    const rs_cnp_burst *burst = &whole;
    const rs_hosts *hosts = r->analysis->told->hosts;
    rs_text_add_count(table, s->id);
    rs_table_add(table, rs_text_point(r, s->point));
    rs_table_add(table, rs_hosts_label(hosts, &s->src));
    rs_table_add(table, rs_hosts_label(hosts, &s->dst));
    rs_table_add(table, g_strdup_printf("0x%x", s->dst_qpn));
    rs_text_add_count(table, n_bursts);
    rs_text_add_count(table, burst->cnps);
    rs_table_add(table, rs_format_rate(burst->before_bps));
    rs_table_add(table, rs_format_rate(burst->lowest_bps));
    rs_table_add(table, burst->recovery_ns != 0
                            ? rs_format_duration(burst->recovery_ns, 0)
                            : g_strdup("?"));
}

static void
print_senders(const rs_text *r)
{
    g_autoptr(rs_table) table =
        rs_table_new(sender_columns, G_N_ELEMENTS(sender_columns));
    guint n = 0;
    guint limit = rs_text_rows_shown(r, G_MAXUINT);
    for (guint i = 0; i < r->summary->worst_first->len; i++) {
        guint32 id = g_array_index(r->summary->worst_first, guint32, i);
        guint64 n_bursts;
        const rs_cnp_burst *burst = largest_burst(r, id, &n_bursts);
        if (burst != NULL && n++ < limit) {
            add_sender(r, table, roce_tracker_stream(r->analysis->tracker, id), burst,
                       n_bursts);
        }
    }
    if (n > 0) {
        rs_text_heading(r, "Rates inside messages, before and after CNPs");
        rs_table_print(table, r->out, r->width);
        rs_text_say_more(r, n, MIN(n, limit));
    }
}

void
rs_text_congestion(const rs_text *r)
{
    print_marked(r);
    print_notifiers(r);
    print_senders(r);
}
