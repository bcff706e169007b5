/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text_streams.h"

#include "format.h"
#include "sorting.h"
#include "table.h"

#define MOST_POINTS 4

/* clang-format off */
static const rs_column stream_columns[] = {
    {"#", TRUE, 3, FALSE}, {"at", TRUE, 2, RS_COLUMN_UNLESS_EMPTY},
    {"also at", FALSE, 3, TRUE},
    {"from", FALSE, 0, FALSE}, {"to", FALSE, 0, FALSE}, {"tenant", FALSE, 2, TRUE},
    {"QP", FALSE, 0, FALSE}, {"type", FALSE, 2, FALSE},
    {"packets", TRUE, 0, FALSE}, {"payload", TRUE, 4, FALSE}, {"gaps", TRUE, 2, TRUE},
    {"resent", TRUE, 1, TRUE}, {"rounds", TRUE, 2, TRUE}, {"lost", TRUE, 1, TRUE},
    {"late", TRUE, 2, TRUE}, {"dup", TRUE, 3, TRUE}, {"NAKs", TRUE, 2, TRUE},
    {"RNR", TRUE, 2, TRUE}, {"CE", TRUE, 1, TRUE}, {"CNPs", TRUE, 2, TRUE},
    {"recovery", FALSE, 6, TRUE}, {"vantage", FALSE, 5, TRUE},
};
/* clang-format on */

/* "0, 2": the other points that saw the same, as many as are seen at a glance. */
static char *
other_points(const rs_text *r, const roce_stream *s)
{
    const GArray *members = rs_summary_members(r->summary, s->id);
    g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint i = 0; members != NULL && i < members->len; i++) {
        guint32 id = g_array_index(members, guint32, i);
        if (id != s->id) {
            g_array_append_val(points,
                               roce_tracker_stream(r->analysis->tracker, id)->point);
        }
    }
    g_array_sort(points, rs_by_u32);
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < MIN(points->len, MOST_POINTS); i++) {
        g_string_append_printf(text, "%s%u", i > 0 ? ", " : "",
                               g_array_index(points, guint32, i));
    }
    g_string_append(text, points->len > MOST_POINTS ? ", …" : "");
    return g_string_free(text, FALSE);
}

static void
add_stream(const rs_text *r, rs_table *table, const roce_stream *s)
{
    const rs_analysis *a = r->analysis;
    rs_counters c;
    rs_summary_count_once(r->summary, a, s->id, &c);
    guint64 naks = 0;
    for (guint i = 0; i < ROCE_N_NAKS; i++) {
        naks += i == ROCE_NAKS_RNR ? 0 : c.naks[i];
    }
    const rs_space_counters *req = &c.space[ROCE_SPACE_REQUESTS];
    const rs_space_counters *resp = &c.space[ROCE_SPACE_RESPONSES];
    rs_text_add_count(table, s->id);
    rs_table_add(table, rs_text_point(r, s->point));
    rs_table_add(table, other_points(r, s));
    rs_table_add(table, rs_hosts_label(a->told->hosts, &s->src));
    rs_table_add(table, rs_hosts_label(a->told->hosts, &s->dst));
    rs_table_add(table, rs_format_tenant(&s->tenant));
    rs_table_add(table, g_strdup_printf("0x%x", s->dst_qpn));
    rs_table_add(table, g_strdup(roce_transport_name(s->transport)));
    rs_text_add_count(table, c.packets);
    rs_table_add(table, rs_format_bytes(c.payload_bytes));
    rs_text_add_count(table, req->gaps + resp->gaps);
    rs_text_add_count(table, c.retransmissions.packets + resp->resent);
    rs_text_add_count(table, c.retransmissions.rounds);
    rs_text_add_count(table, rs_losses_of(c.losses[ROCE_SPACE_REQUESTS]) +
                                 rs_losses_of(c.losses[ROCE_SPACE_RESPONSES]));
    rs_text_add_count(table, req->reordered + resp->reordered);
    rs_text_add_count(table, req->duplicates + resp->duplicates);
    rs_text_add_count(table, naks);
    rs_text_add_count(table, c.naks[ROCE_NAKS_RNR]);
    rs_text_add_count(table, c.ecn.codepoint[ROCE_ECN_CE]);
    rs_text_add_count(table, c.cnps_received);
    rs_table_add(table, g_strdup(s->recovery == ROCE_RECOVERY_UNKNOWN
                                     ? ""
                                     : roce_recovery_name(s->recovery)));
    rs_table_add(table, g_strdup(s->vantage == ROCE_VANTAGE_UNKNOWN
                                     ? ""
                                     : roce_vantage_name(s->vantage)));
}

void
rs_text_streams(const rs_text *r)
{
    const GArray *order = r->summary->worst_first;
    if (order->len == 0) {
        return;
    }
    rs_text_heading(r, "Streams");
    g_autoptr(rs_table) table =
        rs_table_new(stream_columns, G_N_ELEMENTS(stream_columns));
    guint n = 0;
    guint limit = rs_text_rows_shown(r, G_MAXUINT);
    for (guint i = 0; i < order->len; i++) {
        guint32 id = g_array_index(order, guint32, i);
        if (rs_summary_stands(r->summary, id) && n++ < limit) {
            add_stream(r, table, roce_tracker_stream(r->analysis->tracker, id));
        }
    }
    rs_table_print(table, r->out, r->width);
    rs_text_say_more(r, n, MIN(n, limit));
}

/* clang-format off */
static const rs_column connection_columns[] = {
    {"#", TRUE, 3, FALSE}, {"end", FALSE, 0, FALSE}, {"QP", FALSE, 0, FALSE},
    {"other end", FALSE, 0, FALSE}, {"QP", FALSE, 0, FALSE}, {"paired by", FALSE, 1, FALSE},
    {"trust", FALSE, 2, FALSE}, {"process", FALSE, 5, TRUE}, {"other process", FALSE, 4, TRUE},
    {"CM", FALSE, 3, TRUE},
};
/* clang-format on */

static char *
cm_state(const rs_analysis *analysis, const roce_connection *c)
{
    if (c == NULL) {
        return g_strdup("");
    }
    if (c->rejected) {
        return g_strdup_printf("%s: %s", c->given_up ? "given up" : "rejected",
                               roce_cm_reject_name(c->reject_reason));
    }
    const char *end = c->disconnected ? ", disconnected" : "";
    if (!c->established) {
        /* Data may flow all the same: messages are missed, and need not come. */
        return g_strdup_printf("no %s seen%s", (c->known & 2) != 0 ? "RTU" : "REP",
                               end);
    }
    if (!rs_analysis_has_stamps(analysis)) {
        return g_strdup_printf("up%s", end);
    }
    g_autofree char *setup = rs_format_duration(
        c->ready_time_ns > c->request_time_ns ? c->ready_time_ns - c->request_time_ns
                                              : 0,
        0);
    return g_strdup_printf("up in %s%s", setup, end);
}

/* "train.py (4711)" */
static char *
process_text(const rs_told *told, const rs_link *link, guint side)
{
    rs_process process;
    if (!rs_link_process(link, side, told->qp_maps, &process)) {
        return g_strdup("");
    }
    g_autofree char *comm = rs_format_safe(process.comm != NULL ? process.comm : "pid");
    return process.pid > 0
               ? g_strdup_printf("%s (%" G_GINT64_FORMAT ")", comm, process.pid)
               : g_steal_pointer(&comm); /* the kernel's own */
}

static char *
qpn_text(guint32 qpn, gboolean known)
{
    return known ? g_strdup_printf("0x%x", qpn) : g_strdup("-");
}

void
rs_text_connections(const rs_text *r)
{
    const GPtrArray *links = r->summary->links;
    const rs_told *told = r->analysis->told;
    if (links->len == 0) {
        return;
    }
    rs_text_heading(r, "Connections");
    g_autoptr(rs_table) table =
        rs_table_new(connection_columns, G_N_ELEMENTS(connection_columns));
    guint n = rs_text_rows_shown(r, links->len);
    for (guint i = 0; i < n; i++) {
        const rs_link *link = g_ptr_array_index(links, i);
        rs_text_add_count(table, i);
        rs_table_add(table, rs_hosts_label(told->hosts, &link->addr[0]));
        rs_table_add(table, qpn_text(link->qpn[0], link->qpn_known[0]));
        rs_table_add(table, rs_hosts_label(told->hosts, &link->addr[1]));
        rs_table_add(table, qpn_text(link->qpn[1], link->qpn_known[1]));
        rs_table_add(table, g_strdup(roce_pairing_name(link->paired_by)));
        rs_table_add(table, g_strdup(link->trust));
        rs_table_add(table, process_text(told, link, 0));
        rs_table_add(table, process_text(told, link, 1));
        rs_table_add(table, cm_state(r->analysis, link->cm));
    }
    rs_table_print(table, r->out, r->width);
    rs_text_say_more(r, links->len, n);
}
