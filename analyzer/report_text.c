/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report_text.h"

#include "format.h"
#include "reader.h"
#include "rocescope_version.h"
#include "text.h"
#include "text_background.h"
#include "text_congestion.h"
#include "text_counters.h"
#include "text_dcb.h"
#include "text_load.h"
#include "text_paths.h"
#include "text_pause.h"
#include "text_rhythm.h"
#include "text_streams.h"
#include "twins.h"

#define NOTES_SHOWN 12
#define FRAMES_SHOWN 10
#define MARGIN 10 /* under which a finding's text is indented */

/* ---- what was captured ---- */

static void
print_files(const rs_text *r)
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
print_points(const rs_text *r)
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
print_capture(const rs_text *r)
{
    const rs_analysis *a = r->analysis;
    const roce_tracker_totals *n = roce_tracker_totals_get(a->tracker);
    g_autofree char *packets = rs_format_count(a->packets);
    g_autofree char *roce = rs_format_count(n->roce_packets);
    g_autofree char *other = rs_format_count(n->other_packets);
    g_autofree char *length =
        rs_format_duration(a->last_ns - a->first_ns, a->resolution_ns);
    g_autofree char *start = rs_format_time(a->first_ns);
    fprintf(r->out, "%srocescope %s%s\n", rs_text_paint(r, "\033[1m"),
            ROCESCOPE_VERSION, rs_text_paint(r, "\033[0m"));
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
print_vantages(const rs_text *r)
{
    guint64 by[4] = {0};
    guint64 unpaired = 0;
    guint64 unsequenced = 0;
    for (guint32 id = 0; id < roce_tracker_n_streams(r->analysis->tracker); id++) {
        const roce_stream *s = roce_tracker_stream(r->analysis->tracker, id);
        gboolean connected =
            s->transport == ROCE_TRANSPORT_RC || s->transport == ROCE_TRANSPORT_XRC;
        unsequenced +=
            s->transport == ROCE_TRANSPORT_UD && s->dst_qpn != ROCE_GSI_QPN ? 1 : 0;
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
        rs_text_wrapped(r, text->str, 2);
    }
    if (unpaired > 0) {
        g_string_printf(text,
                        "%" G_GUINT64_FORMAT
                        " %s no other direction here: what was said "
                        "about %s requests is not known.",
                        unpaired, unpaired == 1 ? "stream has" : "streams have",
                        unpaired == 1 ? "its" : "their");
        rs_text_wrapped(r, text->str, 2);
    }
    if (unsequenced > 0) {
        g_string_printf(text,
                        "%" G_GUINT64_FORMAT " UD %s: PSNs are not checked there, so "
                        "loss cannot be seen.",
                        unsequenced, unsequenced == 1 ? "stream" : "streams");
        rs_text_wrapped(r, text->str, 2);
    }
    g_string_free(text, TRUE);
}

static void
print_carried(const rs_text *r)
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
print_trust(const rs_text *r)
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
    rs_text_heading(r, "How far to trust it");
    rs_text_wrapped(r, line, 2);
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
        rs_text_wrapped(r, error, 2);
    }
    for (guint i = 0; i < a->files->len; i++) {
        const rs_file *file = g_ptr_array_index(a->files, i);
        if (file->error != NULL) {
            g_autofree char *error = rs_format_safe(file->error);
            rs_text_wrapped(r, error, 2);
        }
    }
}

/* ---- what is wrong ---- */

static void
print_frames(const rs_text *r, const rs_finding *f)
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

/* Where to look on switches and NICs. */
static void
print_look(const rs_text *r, const rs_look *look)
{
    for (guint i = 0; look != NULL && look[i].system != NULL; i++) {
        g_autofree char *line = g_strdup_printf("%s: %s", look[i].system, look[i].what);
        rs_text_wrapped(r, line, MARGIN + 2);
    }
}

static void
print_finding(const rs_text *r, const rs_finding *f, const rs_look *look)
{
    static const struct {
        const char *label, *sequence;
    } looks[] = {
        [RS_SEVERITY_NOTE] = {"note", "\033[36m"},
        [RS_SEVERITY_WARNING] = {"warning", "\033[33;1m"},
        [RS_SEVERITY_CRITICAL] = {"CRITICAL", "\033[31;1m"},
    };
    g_autofree char *title = rs_format_safe(f->title);
    fprintf(r->out, "%s%-8s%s  %s\n", rs_text_paint(r, looks[f->severity].sequence),
            looks[f->severity].label, rs_text_paint(r, "\033[0m"), title);
    if (f->severity == RS_SEVERITY_NOTE) {
        return;
    }
    rs_text_wrapped(r, f->detail, MARGIN);
    g_autofree char *advice = g_strdup_printf("→ %s", rs_finding_advice(f));
    rs_text_wrapped(r, advice, MARGIN);
    print_look(r, look);
    print_frames(r, f);
    const char *filter = f->filter_all != NULL ? f->filter_all : f->filter;
    if (*filter != '\0') {
        fprintf(r->out, "%*sWireshark: %s\n", MARGIN, "", filter);
    }
}

/* What can be said not to be there: of loss, retransmission and congestion. */
static char *
absent(const rs_text *r)
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
print_healthy(const rs_text *r)
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
            rs_text_paint(r, "\033[32;1m"), all ? "Healthy" : "No warning",
            rs_text_paint(r, "\033[0m"), *none != '\0' ? none : "see the notes",
            packets, roce_tracker_n_streams(r->analysis->tracker),
            r->analysis->incomplete ? ", in what could be read" : "");
}

static void
print_findings(const rs_text *r)
{
    rs_text_heading(r, "What is wrong");
    guint notes = 0;
    if (!rs_findings_reach(r->findings, RS_SEVERITY_WARNING)) {
        print_healthy(r);
    }
    guint top = r->analysis->options->top;
    guint limit = top == 0 ? G_MAXUINT : top;
    guint shown = 0;
    const rs_look *last = NULL; /* where to look is said once for kinds that share it */
    for (guint i = 0; i < r->findings->len; i++) {
        const rs_finding *f = g_ptr_array_index(r->findings, i);
        gboolean note = f->severity == RS_SEVERITY_NOTE;
        notes += note ? 1 : 0;
        if (shown < limit && (!note || notes <= NOTES_SHOWN)) {
            print_finding(r, f, f->row->look != last ? f->row->look : NULL);
            last = f->row->look;
            shown++;
        }
    }
    if (shown < r->findings->len) {
        fprintf(r->out, "  … and %u more; --top 0 or --json have them all\n",
                r->findings->len - shown);
    }
}
void
rs_report_text(FILE *out, const rs_analysis *analysis, const rs_summary *summary,
               const GPtrArray *findings, guint width, gboolean color)
{
    const rs_text r = {
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
    rs_text_streams(&r);
    rs_text_connections(&r);
    rs_text_ecn(&r);
    rs_text_congestion(&r);
    rs_text_latencies(&r);
    rs_text_pauses(&r);
    rs_text_load(&r);
    rs_text_dcb(&r);
    rs_text_rhythm(&r);
    rs_text_background(&r);
    rs_text_paths(&r);
    rs_text_counters(&r);
}
