/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report_text.h"

#include "background.h"
#include "format.h"
#include "reader.h"
#include "rocescope_version.h"
#include "table.h"
#include "twins.h"

#include <string.h>

#define NOTES_SHOWN 12
#define GSI_QPN 1
#define FRAMES_SHOWN 10
#define MARGIN 10 /* under which a finding's text is indented */

typedef struct text_report {
    FILE *out;
    const rs_analysis *analysis;
    const rs_summary *summary;
    const GPtrArray *findings;
    guint width;
    gboolean color;
} text_report;

static const char *
paint(const text_report *r, const char *sequence)
{
    return r->color ? sequence : "";
}

static void
heading(const text_report *r, const char *text)
{
    fprintf(r->out, "\n%s%s%s\n", paint(r, "\033[1m"), text, paint(r, "\033[0m"));
}

/* Prints words in lines of the report's width, each indented. */
static void
wrapped(const text_report *r, const char *text, guint indent)
{
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    guint at = 0;
    for (guint i = 0; words[i] != NULL; i++) {
        guint length = (guint)g_utf8_strlen(words[i], -1);
        if (length == 0) {
            continue; /* the second of two blanks */
        }
        if (at > 0 && at + 1 + length > r->width) {
            fputc('\n', r->out);
            at = 0;
        }
        if (at == 0) {
            at = indent;
            fprintf(r->out, "%*s%s", (int)indent, "", words[i]);
        } else {
            at += 1;
            fprintf(r->out, " %s", words[i]);
        }
        at += length;
    }
    fputc('\n', r->out);
}

/* ---- what was captured ---- */

static void
print_files(const text_report *r)
{
    const rs_analysis *a = r->analysis;
    for (guint i = 0; i < a->files->len; i++) {
        const rs_file *file = g_ptr_array_index(a->files, i);
        g_autofree char *path = rs_format_safe(file->path);
        g_autofree char *packets = rs_format_count(file->packets);
        g_autofree char *bytes = rs_format_bytes(file->bytes);
        if (file->format == NULL) {
            fprintf(r->out, "  %s  (could not be read)\n", path);
        } else {
            fprintf(r->out, "  %s  %s, %s packets, %s%s\n", path, file->format, packets,
                    bytes, file->error != NULL ? "  (damaged)" : "");
        }
    }
}

static void
print_points(const text_report *r)
{
    const rs_analysis *a = r->analysis;
    guint n = rs_points_n(a->points);
    if (n == 0 ||
        (n == 1 && rs_analysis_point(a, 0)->origin.kind == ROCE_ORIGIN_INTERFACE)) {
        return;
    }
    for (guint i = 0; i < n; i++) {
        const rs_point *point = rs_analysis_point(a, i);
        const char *link = rs_link_type_name(point->link_type);
        g_autofree char *name = rs_point_name(a, i);
        g_autofree char *packets = rs_format_count(point->packets);
        g_autofree char *speed = rs_format_speed(point->speed_bps);
        g_autofree char *joined =
            point->survey.group != i
                ? g_strdup_printf(", taken together with point %u", point->survey.group)
                : g_strdup("");
        fprintf(r->out, "  point %u: %s, %s, %s packets%s%s%s\n", i, name,
                link != NULL ? link : "unknown link", packets,
                point->speed_bps != 0 ? ", " : "", point->speed_bps != 0 ? speed : "",
                joined);
    }
    if (n == 1) {
        return;
    }
    g_autofree char *twins = rs_format_count(rs_twins_count(a->twins));
    fprintf(r->out, "  %s packets stand at more than one point and count once\n",
            twins);
}

static void
print_capture(const text_report *r)
{
    const rs_analysis *a = r->analysis;
    const roce_tracker_totals *n = roce_tracker_totals_get(a->tracker);
    g_autofree char *packets = rs_format_count(a->packets);
    g_autofree char *roce = rs_format_count(n->roce_packets);
    g_autofree char *other = rs_format_count(n->other_packets);
    g_autofree char *length =
        rs_format_duration(a->last_ns - a->first_ns, a->resolution_ns);
    g_autofree char *start = rs_format_time(a->first_ns);
    fprintf(r->out, "%srocescope %s%s\n", paint(r, "\033[1m"), ROCESCOPE_VERSION,
            paint(r, "\033[0m"));
    print_files(r);
    print_points(r);
    if (a->packets == 0) {
        fputs("  no packets\n", r->out);
        return;
    }
    fprintf(r->out, "  %s packets in %s from %s\n", packets, length, start);
    fprintf(r->out,
            "  RoCE %s (CNPs %" G_GUINT64_FORMAT "), PFC %" G_GUINT64_FORMAT
            ", 802.3x pause %" G_GUINT64_FORMAT ", other %s\n",
            roce, n->cnp_packets, n->pfc_frames, n->pause_frames, other);
}

static void
print_vantages(const text_report *r)
{
    guint64 by[4] = {0};
    guint64 unpaired = 0;
    guint64 unsequenced = 0;
    for (guint32 id = 0; id < roce_tracker_n_streams(r->analysis->tracker); id++) {
        const roce_stream *s = roce_tracker_stream(r->analysis->tracker, id);
        gboolean connected =
            s->transport == ROCE_TRANSPORT_RC || s->transport == ROCE_TRANSPORT_XRC;
        unsequenced +=
            s->transport == ROCE_TRANSPORT_UD && s->dst_qpn != GSI_QPN ? 1 : 0;
        if (connected && s->space[ROCE_SPACE_REQUESTS].packets > 0) {
            by[s->vantage]++;
            unpaired += roce_stream_is_paired(s) ? 0 : 1;
        }
    }
    GString *text = g_string_new("Vantage:");
    for (guint i = 0; i < G_N_ELEMENTS(by); i++) {
        if (by[i] > 0) {
            g_string_append_printf(text, " %s for %" G_GUINT64_FORMAT " %s,",
                                   roce_vantage_name((roce_vantage)i), by[i],
                                   by[i] == 1 ? "stream" : "streams");
        }
    }
    if (text->str[text->len - 1] == ',') {
        text->str[text->len - 1] = '.';
        wrapped(r, text->str, 2);
    }
    if (unpaired > 0) {
        g_string_printf(text,
                        "%" G_GUINT64_FORMAT
                        " %s no other direction here: what was said "
                        "about %s requests is not known.",
                        unpaired, unpaired == 1 ? "stream has" : "streams have",
                        unpaired == 1 ? "its" : "their");
        wrapped(r, text->str, 2);
    }
    if (unsequenced > 0) {
        g_string_printf(text,
                        "%" G_GUINT64_FORMAT " UD %s: PSNs are not checked there, so "
                        "loss cannot be seen.",
                        unsequenced, unsequenced == 1 ? "stream" : "streams");
        wrapped(r, text->str, 2);
    }
    g_string_free(text, TRUE);
}

static void
print_carried(const text_report *r)
{
    const roce_tracker_totals *n = roce_tracker_totals_get(r->analysis->tracker);
    if (n->tunnelled_packets > 0) {
        fprintf(r->out,
                "  Inside tunnels: %" G_GUINT64_FORMAT
                " packets; of those in mirrors: %" G_GUINT64_FORMAT
                ", cut by the mirror: %" G_GUINT64_FORMAT ".\n",
                n->tunnelled_packets, n->mirrored_packets, n->mirror_cut_packets);
    }
}

static void
print_trust(const text_report *r)
{
    const rs_analysis *a = r->analysis;
    const roce_icrc_counters *icrc = &r->summary->totals.icrc;
    guint64 dropped = 0;
    gboolean known = FALSE;
    for (guint i = 0; i < rs_points_n(a->points); i++) {
        dropped += rs_analysis_point(a, i)->dropped;
        known = known || rs_analysis_point(a, i)->dropped_known;
    }
    g_autofree char *resolution = rs_format_duration(a->resolution_ns, 0);
    g_autofree char *drops =
        known ? g_strdup_printf("%" G_GUINT64_FORMAT, dropped) : g_strdup("not known");
    g_autofree char *line = g_strdup_printf(
        "Time stamps to %s, %" G_GUINT64_FORMAT " %s back.  Cut packets: "
        "%" G_GUINT64_FORMAT ".  Dropped by the capture: %s.  ICRC: %" G_GUINT64_FORMAT
        " checked, %" G_GUINT64_FORMAT " bad.",
        resolution, a->steps_back, a->steps_back == 1 ? "step" : "steps",
        a->snaplen_truncated, drops, icrc->checked, icrc->bad);
    heading(r, "How far to trust it");
    wrapped(r, line, 2);
    print_carried(r);
    print_vantages(r);
    if (a->filtered_out > 0) {
        fprintf(r->out, "  %" G_GUINT64_FORMAT " packets did not pass the filter.\n",
                a->filtered_out);
    }
    if (a->interrupted) {
        fputs("  Interrupted: this is what was found so far.\n", r->out);
    }
    for (guint i = 0; i < a->told->errors->len; i++) {
        g_autofree char *error = rs_format_safe(g_ptr_array_index(a->told->errors, i));
        wrapped(r, error, 2);
    }
    for (guint i = 0; i < a->files->len; i++) {
        const rs_file *file = g_ptr_array_index(a->files, i);
        if (file->error != NULL) {
            g_autofree char *error = rs_format_safe(file->error);
            wrapped(r, error, 2);
        }
    }
}

/* ---- what is wrong ---- */

static void
print_frames(const text_report *r, const rs_finding *f)
{
    if (f->frames->len == 0) {
        return;
    }
    fprintf(r->out, "%*sframes", MARGIN, "");
    for (guint i = 0; i < f->frames->len && i < FRAMES_SHOWN; i++) {
        fprintf(r->out, " %" G_GUINT64_FORMAT, g_array_index(f->frames, guint64, i));
    }
    fputs(f->frames->len > FRAMES_SHOWN ? " …\n" : "\n", r->out);
}

static void
print_finding(const text_report *r, const rs_finding *f)
{
    static const struct {
        const char *label, *sequence;
    } looks[] = {
        [RS_SEVERITY_NOTE] = {"note", "\033[36m"},
        [RS_SEVERITY_WARNING] = {"warning", "\033[33;1m"},
        [RS_SEVERITY_CRITICAL] = {"CRITICAL", "\033[31;1m"},
    };
    g_autofree char *title = rs_format_safe(f->title);
    fprintf(r->out, "%s%-8s%s  %s\n", paint(r, looks[f->severity].sequence),
            looks[f->severity].label, paint(r, "\033[0m"), title);
    if (f->severity == RS_SEVERITY_NOTE) {
        return;
    }
    wrapped(r, f->detail, MARGIN);
    g_autofree char *advice = g_strdup_printf("→ %s", f->advice);
    wrapped(r, advice, MARGIN);
    print_frames(r, f);
    if (*f->filter != '\0') {
        fprintf(r->out, "%*sWireshark: %s\n", MARGIN, "", f->filter);
    }
}

/* What can be said not to be there: of loss, retransmission and congestion. */
static char *
absent(const text_report *r)
{
    const rs_counters *n = &r->summary->totals;
    guint64 lost = 0;
    guint64 missing = 0;
    for (guint space = 0; space < ROCE_N_SPACES; space++) {
        lost += rs_losses_of(n->losses[space]) + n->losses[space][ROCE_VERDICT_UNKNOWN];
        missing += n->space[space].missing_psns;
    }
    guint64 again = n->retransmissions.packets + n->space[ROCE_SPACE_RESPONSES].resent;
    gboolean congested = n->ecn.codepoint[3] > 0 || n->cnps_sent > 0 ||
                         roce_tracker_n_pauses(r->analysis->tracker) > 0;
    GString *text = g_string_new(NULL);
    g_string_append(text, lost + missing == 0 ? ", no loss" : "");
    g_string_append(text, again == 0 ? ", no retransmission" : "");
    g_string_append(text, congested ? "" : ", no congestion");
    g_string_erase(text, 0, text->len > 0 ? 2 : 0);
    return g_string_free(text, FALSE);
}

static void
print_healthy(const text_report *r)
{
    const roce_tracker_totals *n = roce_tracker_totals_get(r->analysis->tracker);
    if (n->roce_packets == 0) {
        fputs("Nothing to judge: there is no RoCE packet in this capture.\n", r->out);
        return;
    }
    g_autofree char *packets = rs_format_count(n->roce_packets);
    g_autofree char *none = absent(r);
    gboolean all = g_str_equal(none, "no loss, no retransmission, no congestion");
    fprintf(r->out, "%s%s%s: %s in %s RoCE packets of %u streams%s.\n",
            paint(r, "\033[32;1m"), all ? "Healthy" : "No warning", paint(r, "\033[0m"),
            *none != '\0' ? none : "see the notes", packets,
            roce_tracker_n_streams(r->analysis->tracker),
            r->analysis->incomplete ? ", in what could be read" : "");
}

static void
print_findings(const text_report *r)
{
    heading(r, "What is wrong");
    guint notes = 0;
    if (!rs_findings_reach(r->findings, RS_SEVERITY_WARNING)) {
        print_healthy(r);
    }
    guint top = r->analysis->options->top;
    guint limit = top == 0 ? G_MAXUINT : top;
    guint shown = 0;
    for (guint i = 0; i < r->findings->len; i++) {
        const rs_finding *f = g_ptr_array_index(r->findings, i);
        gboolean note = f->severity == RS_SEVERITY_NOTE;
        notes += note ? 1 : 0;
        if (shown < limit && (!note || notes <= NOTES_SHOWN)) {
            print_finding(r, f);
            shown++;
        }
    }
    if (shown < r->findings->len) {
        fprintf(r->out, "  … and %u more; --top 0 or --json have them all\n",
                r->findings->len - shown);
    }
}

/* ---- tables ---- */

static guint
rows_shown(const text_report *r, guint n)
{
    guint top = r->analysis->options->top;
    return top == 0 ? n : MIN(n, top);
}

static void
say_more(const text_report *r, guint n, guint shown)
{
    if (n > shown) {
        fprintf(r->out, "  … and %u more; --top 0 shows all\n", n - shown);
    }
}

static void
add_count(rs_table *table, guint64 n)
{
    rs_table_add(table, rs_format_count(n));
}

/* clang-format off */
static const rs_column stream_columns[] = {
    {"#", TRUE, 3, FALSE}, {"at", TRUE, 2, TRUE}, {"from", FALSE, 0, FALSE},
    {"to", FALSE, 0, FALSE}, {"tenant", FALSE, 2, TRUE}, {"QP", FALSE, 0, FALSE},
    {"type", FALSE, 2, FALSE},
    {"packets", TRUE, 0, FALSE}, {"payload", TRUE, 4, FALSE}, {"gaps", TRUE, 2, TRUE},
    {"resent", TRUE, 1, TRUE}, {"rounds", TRUE, 2, TRUE}, {"lost", TRUE, 1, TRUE},
    {"late", TRUE, 2, TRUE}, {"dup", TRUE, 3, TRUE}, {"NAKs", TRUE, 2, TRUE},
    {"RNR", TRUE, 2, TRUE}, {"CE", TRUE, 1, TRUE}, {"CNPs", TRUE, 2, TRUE},
    {"recovery", FALSE, 6, TRUE}, {"vantage", FALSE, 5, TRUE},
};
/* clang-format on */

static void
add_stream(rs_table *table, const rs_analysis *a, const roce_stream *s)
{
    guint64 naks = 0;
    for (guint i = 0; i < ROCE_N_NAKS; i++) {
        naks += i == ROCE_NAKS_RNR ? 0 : s->naks_received[i];
    }
    const roce_space_counters *req = &s->space[ROCE_SPACE_REQUESTS];
    const roce_space_counters *resp = &s->space[ROCE_SPACE_RESPONSES];
    add_count(table, s->id);
    rs_table_add(table, rs_points_n(a->points) > 1 ? g_strdup_printf("%u", s->point)
                                                   : g_strdup(""));
    rs_table_add(table, rs_hosts_label(a->told->hosts, &s->src));
    rs_table_add(table, rs_hosts_label(a->told->hosts, &s->dst));
    rs_table_add(table,
                 s->tenant.kind == ROCE_TENANT_NONE
                     ? g_strdup("")
                     : g_strdup_printf("%s %u", roce_tenant_kind_name(s->tenant.kind),
                                       s->tenant.id));
    rs_table_add(table, g_strdup_printf("0x%x", s->dst_qpn));
    rs_table_add(table, g_strdup(roce_transport_name(s->transport)));
    add_count(table, s->packets);
    rs_table_add(table, rs_format_bytes(s->payload_bytes));
    add_count(table, req->gaps + resp->gaps);
    add_count(table, s->retransmissions.packets + resp->resent);
    add_count(table, s->retransmissions.rounds);
    add_count(table, rs_losses_of(s->losses[0]) + rs_losses_of(s->losses[1]));
    add_count(table, req->reordered + resp->reordered);
    add_count(table, req->duplicates + resp->duplicates);
    add_count(table, naks);
    add_count(table, s->naks_received[ROCE_NAKS_RNR]);
    add_count(table, s->ecn.codepoint[3]);
    add_count(table, s->cnps_received);
    rs_table_add(table, g_strdup(s->recovery == ROCE_RECOVERY_UNKNOWN
                                     ? ""
                                     : roce_recovery_name(s->recovery)));
    rs_table_add(table, g_strdup(s->vantage == ROCE_VANTAGE_UNKNOWN
                                     ? ""
                                     : roce_vantage_name(s->vantage)));
}

static void
print_streams(const text_report *r)
{
    const GArray *order = r->summary->worst_first;
    if (order->len == 0) {
        return;
    }
    heading(r, "Streams");
    g_autoptr(rs_table) table =
        rs_table_new(stream_columns, G_N_ELEMENTS(stream_columns));
    guint n = rows_shown(r, order->len);
    for (guint i = 0; i < n; i++) {
        guint32 id = g_array_index(order, guint32, i);
        add_stream(table, r->analysis, roce_tracker_stream(r->analysis->tracker, id));
    }
    rs_table_print(table, r->out, r->width);
    say_more(r, order->len, n);
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
cm_state(const roce_connection *c)
{
    if (c == NULL) {
        return g_strdup("");
    }
    if (c->rejected) {
        return g_strdup_printf("rejected: %s", roce_cm_reject_name(c->reject_reason));
    }
    g_autofree char *setup = rs_format_duration(
        c->ready_time_ns > c->request_time_ns ? c->ready_time_ns - c->request_time_ns
                                              : 0,
        0);
    return g_strdup_printf("%s%s%s", c->established ? "up in " : "not established",
                           c->established ? setup : "",
                           c->disconnected ? ", disconnected" : "");
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

static void
print_connections(const text_report *r)
{
    const GPtrArray *links = r->summary->links;
    const rs_told *told = r->analysis->told;
    if (links->len == 0) {
        return;
    }
    heading(r, "Connections");
    g_autoptr(rs_table) table =
        rs_table_new(connection_columns, G_N_ELEMENTS(connection_columns));
    guint n = rows_shown(r, links->len);
    for (guint i = 0; i < n; i++) {
        const rs_link *link = g_ptr_array_index(links, i);
        add_count(table, i);
        rs_table_add(table, rs_hosts_label(told->hosts, &link->addr[0]));
        rs_table_add(table, qpn_text(link->qpn[0], link->qpn_known[0]));
        rs_table_add(table, rs_hosts_label(told->hosts, &link->addr[1]));
        rs_table_add(table, qpn_text(link->qpn[1], link->qpn_known[1]));
        rs_table_add(table, g_strdup(roce_pairing_name(link->paired_by)));
        rs_table_add(table, g_strdup(link->trust));
        rs_table_add(table, process_text(told, link, 0));
        rs_table_add(table, process_text(told, link, 1));
        rs_table_add(table, cm_state(link->cm));
    }
    rs_table_print(table, r->out, r->width);
    say_more(r, links->len, n);
}

/* clang-format off */
static const rs_column ecn_columns[] = {
    {"#", TRUE, 3, FALSE}, {"from", FALSE, 0, FALSE}, {"to", FALSE, 0, FALSE},
    {"QP", FALSE, 0, FALSE}, {"Not-ECT", TRUE, 1, FALSE}, {"ECT(1)", TRUE, 3, TRUE},
    {"ECT(0)", TRUE, 1, FALSE}, {"CE", TRUE, 0, FALSE}, {"share", TRUE, 1, FALSE},
    {"episodes", TRUE, 2, TRUE}, {"CNPs back", TRUE, 1, FALSE},
};
/* clang-format on */

static void
add_ecn(rs_table *table, const rs_hosts *hosts, const roce_stream *s)
{
    const guint64 *cp = s->ecn.codepoint;
    guint64 data = cp[0] + cp[1] + cp[2] + cp[3];
    add_count(table, s->id);
    rs_table_add(table, rs_hosts_label(hosts, &s->src));
    rs_table_add(table, rs_hosts_label(hosts, &s->dst));
    rs_table_add(table, g_strdup_printf("0x%x", s->dst_qpn));
    add_count(table, cp[0]);
    add_count(table, cp[1]);
    add_count(table, cp[2]);
    add_count(table, cp[3]);
    rs_table_add(table, rs_format_share(cp[3], data));
    add_count(table, s->ecn.ce_episodes);
    if (roce_stream_is_paired(s)) {
        add_count(table, s->cnps_received);
    } else {
        rs_table_add(table, g_strdup("?"));
    }
}

static void
print_ecn(const text_report *r)
{
    g_autoptr(rs_table) table = rs_table_new(ecn_columns, G_N_ELEMENTS(ecn_columns));
    guint n = 0;
    guint limit = rows_shown(r, G_MAXUINT);
    for (guint i = 0; i < r->summary->worst_first->len; i++) {
        guint32 id = g_array_index(r->summary->worst_first, guint32, i);
        const roce_stream *s = roce_tracker_stream(r->analysis->tracker, id);
        if (s->ecn.codepoint[3] + s->cnps_received > 0 && n++ < limit) {
            add_ecn(table, r->analysis->told->hosts, s);
        }
    }
    if (n > 0) {
        heading(r, "ECN and CNP");
        rs_table_print(table, r->out, r->width);
        say_more(r, n, MIN(n, limit));
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
add_latency(const text_report *r, rs_table *table, roce_latency latency)
{
    const roce_histogram *h = &r->summary->latencies[latency];
    const guint64 values[] = {
        h->min_ns,
        roce_histogram_quantile(h, 500),
        roce_histogram_quantile(h, 900),
        roce_histogram_quantile(h, 990),
        h->max_ns,
    };
    guint64 resolution_ns = MAX(r->analysis->resolution_ns, 1);
    rs_table_add(table, g_strdup(latency_words[latency]));
    add_count(table, h->count);
    for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
        guint64 ns = values[i] / resolution_ns * resolution_ns;
        rs_table_add(table, rs_format_duration(ns, resolution_ns));
    }
}

static void
print_latencies(const text_report *r)
{
    g_autoptr(rs_table) table =
        rs_table_new(latency_columns, G_N_ELEMENTS(latency_columns));
    guint n = 0;
    for (guint i = 0; i < ROCE_N_LATENCIES; i++) {
        if (r->summary->latencies[i].count > 0) {
            add_latency(r, table, (roce_latency)i);
            n++;
        }
    }
    if (n > 0) {
        heading(r, "Latencies");
        rs_table_print(table, r->out, r->width);
    }
}

/* clang-format off */
static const rs_column pause_columns[] = {
    {"at", TRUE, 2, FALSE}, {"from", FALSE, 0, FALSE}, {"priority", FALSE, 0, FALSE},
    {"XOFF", TRUE, 0, FALSE}, {"refresh", TRUE, 1, FALSE}, {"XON", TRUE, 1, FALSE},
    {"expired", TRUE, 1, FALSE}, {"paused", TRUE, 0, FALSE}, {"longest", TRUE, 1, FALSE},
    {"link", FALSE, 3, FALSE},
};
/* clang-format on */

static void
add_pause(rs_table *table, const rs_hosts *hosts, const roce_pause_source *p)
{
    rs_table_add(table, g_strdup_printf("%u", p->point));
    rs_table_add(table, rs_hosts_label_mac(hosts, p->src_mac));
    rs_table_add(table, p->priority == ROCE_PRIORITY_GLOBAL
                            ? g_strdup("all (802.3x)")
                            : g_strdup_printf("%u", p->priority));
    add_count(table, p->xoff);
    add_count(table, p->refresh);
    add_count(table, p->xon);
    if (p->speed_known) {
        add_count(table, p->expired);
        rs_table_add(table, rs_format_duration(p->total_ns, 0));
        rs_table_add(table, rs_format_duration(p->longest_ns, 0));
        rs_table_add(table, rs_format_speed(p->link_speed_bps));
    } else {
        rs_table_add(table, g_strdup("?"));
        rs_table_add(table,
                     g_strdup_printf("%" G_GUINT64_FORMAT " quanta", p->total_quanta));
        rs_table_add(table, g_strdup("?"));
        rs_table_add(table, g_strdup("speed unknown"));
    }
}

static void
print_pauses(const text_report *r)
{
    guint32 n = roce_tracker_n_pauses(r->analysis->tracker);
    if (n == 0) {
        return;
    }
    heading(r, "Pauses");
    g_autoptr(rs_table) table =
        rs_table_new(pause_columns, G_N_ELEMENTS(pause_columns));
    guint shown = rows_shown(r, n);
    for (guint i = 0; i < shown; i++) {
        add_pause(table, r->analysis->told->hosts,
                  roce_tracker_pause(r->analysis->tracker, i));
    }
    rs_table_print(table, r->out, r->width);
    say_more(r, n, shown);
}

/* clang-format off */
static const rs_column background_columns[] = {
    {"protocol", FALSE, 0, FALSE}, {"category", FALSE, 1, FALSE}, {"flows", TRUE, 1, FALSE},
    {"packets", TRUE, 0, FALSE}, {"bytes", TRUE, 0, FALSE},
};
/* clang-format on */

static void
print_background(const text_report *r)
{
    const rs_background *background = r->analysis->watchers.background;
    guint n = background != NULL ? rs_background_n_rows(background) : 0;
    if (n == 0) {
        return;
    }
    heading(r, "What else is on the wire");
    g_autoptr(rs_table) table =
        rs_table_new(background_columns, G_N_ELEMENTS(background_columns));
    guint shown = rows_shown(r, n);
    for (guint i = 0; i < shown; i++) {
        const rs_background_row *row = rs_background_row_at(background, i);
        rs_table_add(table, rs_format_safe(row->protocol));
        rs_table_add(table, rs_format_safe(row->category));
        add_count(table, row->flows);
        add_count(table, row->packets);
        rs_table_add(table, rs_format_bytes(row->bytes));
    }
    rs_table_print(table, r->out, r->width);
    say_more(r, n, shown);
}

void
rs_report_text(FILE *out, const rs_analysis *analysis, const rs_summary *summary,
               const GPtrArray *findings, guint width, gboolean color)
{
    const text_report r = {
        .out = out,
        .analysis = analysis,
        .summary = summary,
        .findings = findings,
        .width = width,
        .color = color,
    };
    print_capture(&r);
    print_trust(&r);
    print_findings(&r);
    print_streams(&r);
    print_connections(&r);
    print_ecn(&r);
    print_latencies(&r);
    print_pauses(&r);
    print_background(&r);
}
