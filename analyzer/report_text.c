/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report_text.h"

#include "format.h"
#include "point_names.h"
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
#include "verdict.h"

#define FIRST_FILES_SHOWN 3
#define NOTES_SHOWN 12
#define FRAMES_SHOWN 10
#define FILES_SHOWN 4
#define MARGIN 10 /* under which a finding's text is indented */

/* ---- what was captured ---- */

static void
print_file(const rs_text *r, const rs_file *file)
{
    g_autofree char *path = rs_format_safe(file->path);
    g_autofree char *packets = rs_format_things(file->packets, "packet", "packets");
    g_autofree char *bytes = rs_format_bytes(file->bytes);
    const char *wrong = rs_verdict_file(file);
    g_autofree char *trouble =
        wrong != NULL ? g_strdup_printf("  (%s)", wrong) : g_strdup("");
    if (file->format == NULL) {
        fprintf(r->out, "  %s%s\n", path, trouble);
    } else {
        fprintf(r->out, "  %s  %s, %s, %s%s\n", path, file->format, packets, bytes,
                trouble);
    }
}

/* Rotated files are often hundreds, and what they tell stands below: where there are more
 * than a table has rows the first, the last, and those with which something is wrong. */
static void
print_files(const rs_text *r)
{
    const GPtrArray *files = r->analysis->files;
    const guint top = r->analysis->options->top;
    const gboolean all = top == 0 || files->len <= top;
    guint n_left_out = 0;
    for (guint i = 0; i < files->len; i++) {
        const rs_file *file = g_ptr_array_index(files, i);
        gboolean is_last = i == files->len - 1;
        if (is_last && n_left_out > 0) {
            fprintf(r->out, "  … and %u more; --top 0 shows all\n", n_left_out);
        }
        if (all || i < FIRST_FILES_SHOWN || is_last || file->error != NULL) {
            print_file(r, file);
        } else {
            n_left_out++;
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
        g_autofree char *packets =
            rs_format_things(point->packets, "packet", "packets");
        g_autofree char *speed = rs_format_speed(point->speed_bps);
        g_autofree char *joined =
            point->survey.group != i
                ? g_strdup_printf(", taken together with point %u", point->survey.group)
                : g_strdup("");
        fprintf(r->out, "  point %u: %s, %s, %s%s%s%s\n", i, name,
                link != NULL ? link : "unknown link", packets,
                point->speed_bps != 0 ? ", " : "", point->speed_bps != 0 ? speed : "",
                joined);
    }
    if (n == 1) {
        return;
    }
    g_autofree char *twins = rs_format_things(
        rs_twins_count(a->twins), "packet stands at more than one point and counts",
        "packets stand at more than one point and count");
    fprintf(r->out, "  %s once\n", twins);
}

/* How long the capture is, and when it began. */
static char *
span_text(const rs_analysis *a)
{
    if (a->still != NULL) {
        return g_strdup(", when is not known");
    }
    if (!rs_analysis_has_stamps(a)) {
        return g_strdup(a->unstamped == a->packets ? " without time stamps"
                                                   : ", some without time stamps");
    }
    g_autofree char *length =
        rs_format_duration(a->last_ns - a->first_ns, a->resolution_ns);
    g_autofree char *start = rs_format_time(a->first_ns);
    return g_strdup_printf(" in %s from %s", length, start);
}

static void
print_capture(const rs_text *r)
{
    const rs_analysis *a = r->analysis;
    const roce_tracker_totals *n = roce_tracker_totals_get(a->tracker);
    g_autofree char *packets = rs_format_things(a->packets, "packet", "packets");
    g_autofree char *roce = rs_format_count(n->roce_packets);
    g_autofree char *cnps = rs_format_count(n->cnp_packets);
    g_autofree char *pfc = rs_format_count(n->pfc_frames);
    g_autofree char *pause = rs_format_count(n->pause_frames);
    g_autofree char *other = rs_format_count(n->other_packets);
    fprintf(r->out, "%srocescope %s%s\n", rs_text_paint(r, "\033[1m"),
            ROCESCOPE_VERSION, rs_text_paint(r, "\033[0m"));
    print_files(r);
    print_points(r);
    if (a->packets == 0) {
        fputs("  no packets\n", r->out);
        return;
    }
    g_autofree char *span = span_text(a);
    fprintf(r->out, "  %s%s\n", packets, span);
    fprintf(r->out, "  RoCE %s (CNPs %s), PFC %s, 802.3x pause %s, other %s\n", roce,
            cnps, pfc, pause, other);
}

static void
print_trust(const rs_text *r)
{
    g_autoptr(GPtrArray) lines = rs_verdict_trust(r->analysis, r->summary);
    rs_text_heading(r, "How far to trust it");
    for (guint i = 0; i < lines->len; i++) {
        rs_text_wrapped(r, g_ptr_array_index(lines, i), 2);
    }
}

/* ---- what is wrong ---- */

static void
print_numbers(const rs_text *r, const GArray *frames, gboolean more)
{
    for (guint i = 0; i < frames->len && i < FRAMES_SHOWN; i++) {
        fprintf(r->out, " %" G_GUINT64_FORMAT, g_array_index(frames, guint64, i));
    }
    fputs(frames->len > FRAMES_SHOWN || more ? " …\n" : "\n", r->out);
}

static void
print_filter(const rs_text *r, const char *filter)
{
    if (*filter != '\0') {
        fprintf(r->out, "%*sWireshark: %s\n", MARGIN, "", filter);
    }
}

static void
print_frames(const rs_text *r, const rs_finding *f)
{
    if (f->frames->len > 0) {
        fprintf(r->out, "%*sframes", MARGIN, "");
        print_numbers(r, f->frames, f->more_frames);
    }
    print_filter(r, f->filter_all != NULL ? f->filter_all : f->filter);
}

/* Of several files: a filter for each, or one for all where frames are not named, which may
 * be of any file. */
static void
print_frames_by_file(const rs_text *r, const rs_finding *f)
{
    const gboolean all = f->more_frames && f->filter_all != NULL;
    guint n = MIN(f->files->len, FILES_SHOWN);
    for (guint i = 0; i < n; i++) {
        const rs_finding_file *part = g_ptr_array_index(f->files, i);
        fprintf(r->out, "%*sframes of %s", MARGIN, "", part->name);
        print_numbers(r, part->frames, f->more_frames && i + 1 == n);
        print_filter(r, all ? "" : part->filter);
    }
    if (n < f->files->len) {
        guint more = f->files->len - n;
        fprintf(r->out, "%*s… and of %u more %s\n", MARGIN, "", more,
                more == 1 ? "file" : "files");
    }
    print_filter(r, all ? f->filter_all : "");
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
    if (r->analysis->files->len > 1 && f->files->len > 0) {
        print_frames_by_file(r, f);
    } else {
        print_frames(r, f);
    }
    g_autofree char *extraction = rs_finding_extraction(f);
    if (extraction != NULL) {
        fprintf(r->out, "%*sextract: %s\n", MARGIN, "", extraction);
    }
}

static void
print_healthy(const rs_text *r)
{
    const char *label;
    g_autofree char *words = NULL;
    if (rs_verdict(r->analysis, r->summary, &label, &words) == RS_HEALTH_NOTHING) {
        fprintf(r->out, "%s: %s\n", label, words);
        return;
    }
    fprintf(r->out, "%s%s%s: %s\n", rs_text_paint(r, "\033[32;1m"), label,
            rs_text_paint(r, "\033[0m"), words);
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
            print_finding(r, f, f->look != last ? f->look : NULL);
            last = f->look;
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
