/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counter_check.h"

#include <string.h>

/* What the capture shows of a host. */
typedef enum quantity {
    NAKS_RECEIVED,
    NAKS_SENT,
    RNR_RECEIVED,
    RNR_SENT,
    TIMEOUTS,
    READ_REISSUES,
    ROUNDS,
    COPIES_RECEIVED,
    BAD_ICRC_RECEIVED,
    CE_RECEIVED,
    CNPS_SENT,
    CNPS_RECEIVED,
    PACKETS_SENT,
    PACKETS_RECEIVED,
    N_QUANTITIES,
} quantity;

static const struct {
    const char *name, *words;
} quantities[] = {
    [NAKS_RECEIVED] = {"naks_received", "sequence NAKs received"},
    [NAKS_SENT] = {"naks_sent", "sequence NAKs sent"},
    [RNR_RECEIVED] = {"rnr_received", "RNR NAKs received"},
    [RNR_SENT] = {"rnr_sent", "RNR NAKs sent"},
    [TIMEOUTS] = {"timeout_rounds", "retransmissions by timeout"},
    [READ_REISSUES] = {"read_reissue_rounds", "READs asked for again"},
    [ROUNDS] = {"rounds", "rounds of retransmission, but for RNR"},
    [COPIES_RECEIVED] = {"copies_received", "requests received again"},
    [BAD_ICRC_RECEIVED] = {"bad_icrc_received", "packets received with a bad ICRC"},
    [CE_RECEIVED] = {"ce_received", "packets received with CE"},
    [CNPS_SENT] = {"cnps_sent", "CNPs sent"},
    [CNPS_RECEIVED] = {"cnps_received", "CNPs received"},
    [PACKETS_SENT] = {"packets_sent", "RoCE packets sent"},
    [PACKETS_RECEIVED] = {"packets_received", "RoCE packets received"},
};
G_STATIC_ASSERT(G_N_ELEMENTS(quantities) == N_QUANTITIES);

/* What counters count: mlx5's first, then soft-RoCE's.  Those of soft-RoCE count QP 1 as
 * well, as the capture does. */
static const struct {
    const char *name;
    quantity what;
    rs_counter_relation relation;
    gboolean is_error;
} known[] = {
    {"packet_seq_err", NAKS_RECEIVED, RS_COUNTER_EQUAL, TRUE},
    {"out_of_sequence", NAKS_SENT, RS_COUNTER_AT_LEAST,
     TRUE}, /* each packet too early */
    {"duplicate_request", COPIES_RECEIVED, RS_COUNTER_AT_MOST, TRUE},
    {"implied_nak_seq_err", READ_REISSUES, RS_COUNTER_EQUAL, TRUE},
    {"local_ack_timeout_err", TIMEOUTS, RS_COUNTER_EQUAL, TRUE},
    {"roce_adp_retrans", TIMEOUTS, RS_COUNTER_AT_MOST, TRUE},
    {"rnr_nak_retry_err", RNR_RECEIVED, RS_COUNTER_EQUAL, TRUE},
    {"rx_icrc_encapsulated", BAD_ICRC_RECEIVED, RS_COUNTER_EQUAL, TRUE},
    {"np_ecn_marked_roce_packets", CE_RECEIVED, RS_COUNTER_EQUAL, FALSE},
    {"np_cnp_sent", CNPS_SENT, RS_COUNTER_EQUAL, FALSE},
    {"rp_cnp_handled", CNPS_RECEIVED, RS_COUNTER_AT_MOST, FALSE},
    {"out_of_seq_request", NAKS_SENT, RS_COUNTER_EQUAL, TRUE},
    {"rcvd_seq_err", NAKS_RECEIVED, RS_COUNTER_AT_MOST, TRUE}, /* those that advance */
    {"rcvd_rnr_err", RNR_RECEIVED, RS_COUNTER_EQUAL, TRUE},
    {"send_rnr_err", RNR_SENT, RS_COUNTER_EQUAL, TRUE},
    {"completer_retry_err", ROUNDS, RS_COUNTER_AT_LEAST, TRUE}, /* and some for RNR */
    {"sent_pkts", PACKETS_SENT, RS_COUNTER_EQUAL, FALSE},
    {"rcvd_pkts", PACKETS_RECEIVED, RS_COUNTER_EQUAL, FALSE},
};

/* ---- whose counters they are ---- */

gboolean
rs_counter_check_has(const rs_counter_check *check, const roce_addr *addr)
{
    for (guint i = 0; i < check->addrs->len; i++) {
        if (roce_addr_equal(&g_array_index(check->addrs, roce_addr, i), addr)) {
            return TRUE;
        }
    }
    return FALSE;
}

static void
add_addr(rs_counter_check *check, const roce_addr *addr)
{
    if (!rs_counter_check_has(check, addr)) {
        g_array_append_val(check->addrs, *addr);
    }
}

/* Which end of a stream the capture was taken at; NULL: not known. */
static const roce_addr *
near_end(const roce_stream *s)
{
    switch (s->vantage) {
    case ROCE_VANTAGE_REQUESTER:
        return &s->src;
    case ROCE_VANTAGE_RESPONDER:
        return &s->dst;
    case ROCE_VANTAGE_MIDDLE:
    case ROCE_VANTAGE_UNKNOWN:
        break;
    }
    return NULL;
}

/* Whether two addresses are of one host, by --hosts. */
static gboolean
same_host(const rs_hosts *hosts, const roce_addr *a, const roce_addr *b)
{
    const rs_host *x = rs_hosts_find(hosts, a);
    const rs_host *y = rs_hosts_find(hosts, b);
    return roce_addr_equal(a, b) ||
           (x != NULL && y != NULL && g_str_equal(x->name, y->name));
}

/* The host at whose NIC all was captured, if it is one. */
static void
find_by_place(rs_counter_check *check, const rs_analysis *analysis)
{
    const roce_addr *host = NULL;
    for (guint32 id = 0; id < roce_tracker_n_streams(analysis->tracker); id++) {
        const roce_addr *end = near_end(roce_tracker_stream(analysis->tracker, id));
        if (end == NULL) {
            continue;
        }
        if (host != NULL && !same_host(analysis->told->hosts, host, end)) {
            g_array_set_size(check->addrs, 0);
            return;
        }
        host = end;
        add_addr(check, end);
    }
    check->from = host != NULL ? "captured_at" : NULL;
}

/* The one address that is an end of every stream. */
static void
find_common(rs_counter_check *check, const rs_analysis *analysis)
{
    roce_addr left[2];
    guint n = 0;
    for (guint32 id = 0; id < roce_tracker_n_streams(analysis->tracker); id++) {
        const roce_stream *s = roce_tracker_stream(analysis->tracker, id);
        if (id == 0) {
            left[0] = s->src;
            left[1] = s->dst;
            n = roce_addr_equal(&s->src, &s->dst) ? 1 : 2;
        }
        for (guint i = n; i > 0; i--) {
            const roce_addr *addr = &left[i - 1];
            if (!roce_addr_equal(addr, &s->src) && !roce_addr_equal(addr, &s->dst)) {
                left[i - 1] = left[--n];
            }
        }
    }
    if (n == 1) {
        add_addr(check, &left[0]);
        check->from = "common";
    }
}

static void
find_host(rs_counter_check *check, const rs_analysis *analysis)
{
    const GArray *told = check->told->addrs;
    if (told != NULL) {
        g_array_append_vals(check->addrs, told->data, told->len);
        check->from = "user";
        return;
    }
    find_by_place(check, analysis);
    if (check->from == NULL) {
        find_common(check, analysis);
    }
}

/* ---- what was captured of that host ---- */

static void
add_stream(const roce_stream *s, gboolean from, gboolean to, guint64 sums[N_QUANTITIES])
{
    const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
    const roce_stream_congestion *congestion = roce_stream_congestion_of(s);
    if (from) {
        sums[NAKS_SENT] += trouble->naks_sent[ROCE_NAKS_PSN_SEQUENCE];
        sums[RNR_SENT] += trouble->naks_sent[ROCE_NAKS_RNR];
        sums[TIMEOUTS] += trouble->retransmissions.by_cause[ROCE_CAUSE_TIMEOUT];
        sums[READ_REISSUES] +=
            trouble->retransmissions.by_cause[ROCE_CAUSE_READ_REISSUE];
        sums[ROUNDS] += trouble->retransmissions.rounds -
                        trouble->retransmissions.by_cause[ROCE_CAUSE_RNR];
        sums[CNPS_SENT] += congestion->cnps_sent;
        sums[PACKETS_SENT] += s->packets;
    }
    if (to) {
        sums[NAKS_RECEIVED] += trouble->naks_sent[ROCE_NAKS_PSN_SEQUENCE];
        sums[RNR_RECEIVED] += trouble->naks_sent[ROCE_NAKS_RNR];
        sums[COPIES_RECEIVED] += trouble->retransmissions.packets +
                                 trouble->disorder[ROCE_SPACE_REQUESTS].duplicates;
        sums[BAD_ICRC_RECEIVED] += trouble->icrc_bad;
        sums[CE_RECEIVED] += s->ecn.codepoint[3] + roce_stream_control_of(s)->ecn[3];
        sums[CNPS_RECEIVED] += congestion->cnps_sent;
        sums[PACKETS_RECEIVED] += s->packets;
    }
}

/* Also counts the host's streams, and tells whether the capture was taken there. */
static void
sum_up(rs_counter_check *check, const rs_analysis *analysis, const rs_summary *summary,
       guint64 sums[N_QUANTITIES])
{
    guint n_here = 0;
    guint n_elsewhere = 0;
    for (guint32 id = 0; id < roce_tracker_n_streams(analysis->tracker); id++) {
        const roce_stream *s = roce_tracker_stream(analysis->tracker, id);
        gboolean from = rs_counter_check_has(check, &s->src);
        gboolean to = rs_counter_check_has(check, &s->dst);
        if (!rs_summary_stands(summary, id) || (!from && !to)) {
            continue;
        }
        check->n_streams++;
        const roce_addr *end = near_end(s);
        n_here += end != NULL && rs_counter_check_has(check, end) ? 1 : 0;
        n_elsewhere += s->vantage == ROCE_VANTAGE_MIDDLE ||
                               (end != NULL && !rs_counter_check_has(check, end))
                           ? 1
                           : 0;
        add_stream(s, from, to, sums);
    }
    check->place = n_elsewhere > 0 ? RS_COUNTER_ELSEWHERE
                   : n_here > 0    ? RS_COUNTER_THERE
                                   : RS_COUNTER_PLACE_UNKNOWN;
}

/* ---- rows ---- */

static rs_counter_verdict
judge(rs_counter_relation relation, guint64 counted, guint64 captured)
{
    if (counted > captured && relation != RS_COUNTER_AT_LEAST) {
        return RS_COUNTER_MORE;
    }
    if (counted < captured && relation != RS_COUNTER_AT_MOST) {
        return RS_COUNTER_FEWER;
    }
    return RS_COUNTER_AGREES;
}

/* Adds a row for a counter that is in one of the files. */
static void
add_row(rs_counter_check *check, rs_counter_row row)
{
    guint64 value;
    const rs_told_counters *told = check->told;
    if (!rs_counter_set_get(told->before, row.name, &value) &&
        !rs_counter_set_get(told->after, row.name, &value)) {
        g_free(row.name);
        return;
    }
    row.state = rs_counter_increase(told->before, told->after, row.name, &row.increase);
    gboolean counted =
        row.state == RS_COUNTER_COUNTED || row.state == RS_COUNTER_WRAPPED;
    row.verdict = counted && check->n_streams > 0
                      ? judge(row.relation, row.increase, row.captured)
                      : RS_COUNTER_UNKNOWN;
    if (row.verdict == RS_COUNTER_MORE || row.verdict == RS_COUNTER_FEWER) {
        row.difference =
            MAX(row.increase, row.captured) - MIN(row.increase, row.captured);
    }
    g_array_append_val(check->rows, row);
}

/* mlx5 counts pause frames by priority.  Not all of them reach a capture: the MAC takes
 * them. */
static void
add_pauses(rs_counter_check *check, const rs_analysis *analysis)
{
    static const char *const directions[] = {"rx", "tx"};
    guint64 frames[8] = {0};
    for (guint32 i = 0; i < roce_tracker_n_pauses(analysis->tracker); i++) {
        const roce_pause_source *p = roce_tracker_pause(analysis->tracker, i);
        if (p->priority < 8) {
            frames[p->priority] += p->xoff + p->refresh + p->xon;
        }
    }
    for (guint i = 0; i < 16; i++) {
        add_row(check, (rs_counter_row){
                           .name = g_strdup_printf("%s_prio%u_pause", directions[i / 8],
                                                   i % 8),
                           .compared_with = "pfc_frames",
                           .words = "PFC frames of its priority",
                           .relation = RS_COUNTER_AT_MOST,
                           .is_error = FALSE,
                           .captured = frames[i % 8],
                       });
    }
}

static void
clear_row(gpointer data)
{
    rs_counter_row *row = data;
    g_free(row->name);
}

static rs_counter_check *
check_new(const rs_analysis *analysis, const rs_summary *summary,
          const rs_told_counters *told)
{
    rs_counter_check *check = g_new0(rs_counter_check, 1);
    guint64 sums[N_QUANTITIES] = {0};
    check->told = told;
    check->addrs = g_array_new(FALSE, FALSE, sizeof(roce_addr));
    check->rows = g_array_new(FALSE, FALSE, sizeof(rs_counter_row));
    g_array_set_clear_func(check->rows, clear_row);
    find_host(check, analysis);
    sum_up(check, analysis, summary, sums);
    for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
        add_row(check, (rs_counter_row){
                           .name = g_strdup(known[i].name),
                           .compared_with = quantities[known[i].what].name,
                           .words = quantities[known[i].what].words,
                           .relation = known[i].relation,
                           .is_error = known[i].is_error,
                           .captured = sums[known[i].what],
                       });
    }
    add_pauses(check, analysis);
    guint n = rs_counter_set_n(told->after);
    check->n_others = n > check->rows->len ? n - check->rows->len : 0;
    return check;
}

static void
free_check(gpointer data)
{
    rs_counter_check *check = data;
    g_array_unref(check->addrs);
    g_array_unref(check->rows);
    g_free(check);
}

GPtrArray *
rs_counter_checks_new(const rs_analysis *analysis, const rs_summary *summary)
{
    GPtrArray *checks = g_ptr_array_new_with_free_func(free_check);
    for (guint i = 0; i < analysis->told->counters->len; i++) {
        g_ptr_array_add(checks,
                        check_new(analysis, summary,
                                  g_ptr_array_index(analysis->told->counters, i)));
    }
    return checks;
}

const char *
rs_counter_relation_name(rs_counter_relation relation)
{
    static const char *const names[] = {
        [RS_COUNTER_EQUAL] = "equal",
        [RS_COUNTER_AT_LEAST] = "at_least",
        [RS_COUNTER_AT_MOST] = "at_most",
    };
    return names[relation];
}

const char *
rs_counter_verdict_name(rs_counter_verdict verdict)
{
    static const char *const names[] = {
        [RS_COUNTER_AGREES] = "agrees",
        [RS_COUNTER_MORE] = "more",
        [RS_COUNTER_FEWER] = "fewer",
        [RS_COUNTER_UNKNOWN] = "unknown",
    };
    return names[verdict];
}
