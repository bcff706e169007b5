/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text_streams.h"

#include "format.h"
#include "table.h"

/* clang-format off */
static const rs_column ecn_columns[] = {
    {"#", TRUE, 3, FALSE}, {"from", FALSE, 0, FALSE}, {"to", FALSE, 0, FALSE},
    {"QP", FALSE, 0, FALSE}, {"Not-ECT", TRUE, 1, FALSE}, {"ECT(1)", TRUE, 3, TRUE},
    {"ECT(0)", TRUE, 1, FALSE}, {"CE", TRUE, 0, FALSE}, {"share", TRUE, 1, FALSE},
    {"episodes", TRUE, 2, TRUE}, {"CNPs back", TRUE, 1, FALSE},
};
/* clang-format on */

static void
add_ecn(rs_table *table, const rs_hosts *hosts, const roce_stream *s,
        const rs_counters *c)
{
    const guint64 *cp = c->ecn.codepoint;
    guint64 data = cp[0] + cp[1] + cp[2] + cp[3];
    rs_text_add_count(table, s->id);
    rs_table_add(table, rs_hosts_label(hosts, &s->src));
    rs_table_add(table, rs_hosts_label(hosts, &s->dst));
    rs_table_add(table, g_strdup_printf("0x%x", s->dst_qpn));
    rs_text_add_count(table, cp[0]);
    rs_text_add_count(table, cp[1]);
    rs_text_add_count(table, cp[2]);
    rs_text_add_count(table, cp[3]);
    rs_table_add(table, rs_format_share(cp[3], data));
    rs_text_add_count(table, c->ecn.ce_episodes);
    if (c->paired_streams > 0) {
        rs_text_add_count(table, c->cnps_received);
    } else {
        rs_table_add(table, g_strdup("?"));
    }
}

void
rs_text_ecn(const rs_text *r)
{
    g_autoptr(rs_table) table = rs_table_new(ecn_columns, G_N_ELEMENTS(ecn_columns));
    guint n = 0;
    guint limit = rs_text_rows_shown(r, G_MAXUINT);
    for (guint i = 0; i < r->summary->worst_first->len; i++) {
        guint32 id = g_array_index(r->summary->worst_first, guint32, i);
        if (!rs_summary_stands(r->summary, id)) {
            continue;
        }
        rs_counters c;
        rs_summary_count_once(r->summary, r->analysis, id, &c);
        if (c.ecn.codepoint[ROCE_ECN_CE] + c.cnps_received > 0 && n++ < limit) {
            add_ecn(table, r->analysis->told->hosts,
                    roce_tracker_stream(r->analysis->tracker, id), &c);
        }
    }
    if (n > 0) {
        rs_text_heading(r, "ECN and CNP");
        rs_table_print(table, r->out, r->width);
        rs_text_say_more(r, n, MIN(n, limit));
    }
}

/* clang-format off */
static const rs_column latency_columns[] = {
    {"from, to", FALSE, 0, FALSE}, {"samples", TRUE, 1, FALSE}, {"least", TRUE, 2, FALSE},
    {"median", TRUE, 0, FALSE}, {"90 %", TRUE, 3, FALSE}, {"99 %", TRUE, 0, FALSE},
    {"most", TRUE, 2, FALSE},
};
static const char *const latency_words[ROCE_N_LATENCIES] = {
    [ROCE_LATENCY_MESSAGE_COMPLETION] = "message, completion",
    [ROCE_LATENCY_ACK] = "request, ACK",
    [ROCE_LATENCY_READ_FIRST] = "READ, first response",
    [ROCE_LATENCY_READ] = "READ, last response",
    [ROCE_LATENCY_NAK_GENERATION] = "gap, NAK",
    [ROCE_LATENCY_NAK_REACTION] = "NAK, sent again",
    [ROCE_LATENCY_RECOVERY] = "loss, recovery",
    [ROCE_LATENCY_CNP_DELAY] = "CE, CNP",
    [ROCE_LATENCY_CNP_INTERVAL] = "CNP, next CNP",
};
/* clang-format on */

static void
add_latency(const rs_text *r, rs_table *table, roce_latency latency)
{
    const roce_histogram *h = &r->summary->latencies[latency];
    guint64 resolution_ns = MAX(r->analysis->resolution_ns, 1);
    const guint64 values[] = {
        h->min_ns,
        roce_histogram_quantile_of_stamps(h, 500, resolution_ns),
        roce_histogram_quantile_of_stamps(h, 900, resolution_ns),
        roce_histogram_quantile_of_stamps(h, 990, resolution_ns),
        h->max_ns,
    };
    rs_table_add(table, g_strdup(latency_words[latency]));
    rs_text_add_count(table, h->count);
    for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
        guint64 ns = values[i] / resolution_ns * resolution_ns;
        rs_table_add(table, rs_format_duration(ns, resolution_ns));
    }
}

void
rs_text_latencies(const rs_text *r)
{
    g_autoptr(rs_table) table =
        rs_table_new(latency_columns, G_N_ELEMENTS(latency_columns));
    guint n = 0;
    for (guint i = 0; i < ROCE_N_LATENCIES && rs_analysis_has_stamps(r->analysis);
         i++) {
        if (r->summary->latencies[i].count > 0) {
            add_latency(r, table, (roce_latency)i);
            n++;
        }
    }
    if (n > 0) {
        rs_text_heading(r, "Latencies");
        rs_table_print(table, r->out, r->width);
    }
}
