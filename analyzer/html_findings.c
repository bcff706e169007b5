/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is wrong, for readers without scripts too; of the findings of the JSON report. */
#include "format.h"
#include "html_report.h"
#include "json_finding.h"
#include "verdict.h"

#include <string.h>

#define STREAMS_SHOWN 24
#define FRAMES_SHOWN 24
#define FILES_SHOWN 8
#define FINDINGS_OPEN 3 /* of those, but for notes, that come first */
#define LINES_SHOWN 100

/* A member's text, or nothing: null, for one, and what was no UTF-8. */
static const char *
text_of(const json_t *json, const char *name)
{
    const char *text = json_string_value(json_object_get(json, name));
    return text != NULL ? text : "";
}

static void
put_label(rs_html *page, const char *label)
{
    rs_html_printf(page, "<dt>%s</dt>", label);
}

static void
put_look(rs_html *page, const json_t *looks)
{
    if (json_array_size(looks) == 0) {
        return;
    }
    put_label(page, "Where to look");
    rs_html_markup(page, "<dd><ul>");
    for (gsize i = 0; i < json_array_size(looks); i++) {
        const json_t *look = json_array_get(looks, i);
        rs_html_printf(page, "<li><b>%s</b> %s</li>", text_of(look, "system"),
                       text_of(look, "what"));
    }
    rs_html_markup(page, "</ul></dd>\n");
}

/* Links to those that the table below has. */
static void
put_streams(const rs_html_report *r, const json_t *streams)
{
    gsize n = json_array_size(streams);
    if (n == 0) {
        return;
    }
    put_label(r->page, n == 1 ? "Stream" : "Streams");
    rs_html_markup(r->page, "<dd>");
    for (gsize i = 0; i < MIN(n, STREAMS_SHOWN); i++) {
        guint id = (guint)json_integer_value(json_array_get(streams, i));
        rs_html_markup(r->page, i > 0 ? ", " : "");
        if (g_hash_table_contains(r->linkable, GUINT_TO_POINTER(id))) {
            rs_html_printf(r->page, "<a href=\"#streams-%u\">%u</a>", id, id);
        } else {
            rs_html_printf(r->page, "%u", id);
        }
    }
    if (n > STREAMS_SHOWN) {
        g_autofree char *more = rs_format_count(n - STREAMS_SHOWN);
        rs_html_printf(r->page, " and %s more", more);
    }
    rs_html_markup(r->page, "</dd>\n");
}

static void
put_numbers(rs_html *page, const GArray *frames, gboolean more)
{
    for (guint i = 0; i < MIN(frames->len, FRAMES_SHOWN); i++) {
        rs_html_printf(page, "%s%" G_GUINT64_FORMAT, i > 0 ? ", " : "",
                       g_array_index(frames, guint64, i));
    }
    rs_html_markup(page, frames->len > FRAMES_SHOWN || more ? ", …" : "");
}

/* By the file; where others are not named, they may be of any. */
static void
put_frames_by_file(rs_html *page, const rs_finding *f)
{
    guint n = MIN(f->files->len, FILES_SHOWN);
    rs_html_markup(page, "<ul>");
    for (guint i = 0; i < n; i++) {
        const rs_finding_file *part = g_ptr_array_index(f->files, i);
        rs_html_printf(page, "<li><b>%s</b> ", part->name);
        put_numbers(page, part->frames, f->more_frames && i + 1 == n);
        rs_html_markup(page, "</li>");
    }
    if (n < f->files->len) {
        guint more = f->files->len - n;
        rs_html_printf(page, "<li>… and of %u more %s</li>", more,
                       more == 1 ? "file" : "files");
    }
    rs_html_markup(page, "</ul>");
}

static void
put_frames(const rs_html_report *r, const rs_finding *f)
{
    if (f->files->len == 0) {
        return;
    }
    const rs_finding_file *first = g_ptr_array_index(f->files, 0);
    gboolean one = f->files->len == 1 && first->frames->len == 1 && !f->more_frames;
    put_label(r->page, one ? "Frame" : "Frames");
    rs_html_markup(r->page, "<dd>");
    if (r->analysis->files->len == 1) {
        put_numbers(r->page, first->frames, f->more_frames);
    } else {
        put_frames_by_file(r->page, f);
    }
    rs_html_markup(r->page, "</dd>\n");
}

/* Filters that show exactly the frames of a file. */
static void
put_filters_by_file(rs_html *page, const rs_finding *f)
{
    for (guint i = 0; i < MIN(f->files->len, FILES_SHOWN); i++) {
        const rs_finding_file *part = g_ptr_array_index(f->files, i);
        g_autofree char *label = g_strdup_printf("these frames of %s", part->name);
        rs_html_copyable(page, label, part->filter);
    }
}

static void
put_filters(const rs_html_report *r, const rs_finding *f)
{
    gboolean by_file = r->analysis->files->len > 1 && f->files->len > 0;
    const char *exact = f->filter;
    const char *all = f->filter_all != NULL ? f->filter_all : "";
    if (*exact == '\0' && *all == '\0' && !by_file) {
        return;
    }
    put_label(r->page, "Wireshark");
    rs_html_markup(r->page, "<dd>");
    if (by_file) {
        put_filters_by_file(r->page, f);
    } else if (*exact != '\0') {
        rs_html_copyable(r->page, "these frames", exact);
    }
    if (*all != '\0') {
        gboolean plain = strstr(all, "rocev2.") == NULL; /* fields of Wireshark alone */
        rs_html_copyable(r->page, plain ? "all" : "all, with the plugin", all);
    }
    rs_html_markup(r->page, "</dd>\n");
}

static void
put_extraction(rs_html *page, const rs_finding *finding)
{
    g_autofree char *extraction = rs_finding_extraction(finding);
    if (extraction == NULL) {
        return;
    }
    put_label(page, "Extract");
    rs_html_markup(page, "<dd>");
    rs_html_copyable(page, "with rocescope extract", extraction);
    rs_html_markup(page, "</dd>\n");
}

static void
put_rule(rs_html *page, const json_t *finding)
{
    const json_t *thresholds = json_object_get(finding, "thresholds");
    put_label(page, "Rule");
    rs_html_printf(page, "<dd><details><summary>when this is found</summary>%s",
                   text_of(finding, "rule"));
    for (gsize i = 0; i < json_array_size(thresholds); i++) {
        const json_t *one = json_array_get(thresholds, i);
        guint64 value = (guint64)json_integer_value(json_object_get(one, "value"));
        g_autofree char *count = rs_format_count(value);
        rs_html_printf(page, "%s%s: %s %s", i == 0 ? " (" : "; ", text_of(one, "name"),
                       count, text_of(one, "unit"));
    }
    rs_html_markup(page, json_array_size(thresholds) > 0 ? ")" : "");
    rs_html_markup(page, "</details></dd>\n");
}

/* What stands below a finding's title. */
static void
put_body(const rs_html_report *r, const rs_finding *f, const json_t *finding)
{
    rs_html *page = r->page;
    rs_html_printf(page, "<p class=\"detail\">%s</p>\n<dl>\n",
                   text_of(finding, "detail"));
    put_label(page, "What it means");
    rs_html_printf(page, "<dd>%s</dd>\n", text_of(finding, "meaning"));
    put_label(page, "What to do");
    rs_html_printf(page, "<dd>%s</dd>\n", text_of(finding, "advice"));
    put_look(page, json_object_get(finding, "look_at"));
    put_streams(r, json_object_get(finding, "streams"));
    put_frames(r, f);
    put_filters(r, f);
    put_extraction(page, f);
    put_rule(page, finding);
    rs_html_markup(page, "</dl>\n");
}

/* The rest, and notes, are closed until they are asked for. */
static void
put_finding(const rs_html_report *r, const rs_finding *f, guint number)
{
    const char *severity = rs_severity_name(f->severity);
    gboolean is_open = number < FINDINGS_OPEN && f->severity != RS_SEVERITY_NOTE;
    json_t *json = rs_json_finding(f);
    rs_html_printf(r->page,
                   "<details class=\"finding %s\" id=\"finding-%u\"%s>\n"
                   "<summary><span class=\"severity\">%s</span> "
                   "<h3>%s</h3></summary>\n",
                   severity, number, is_open ? " open" : "", severity,
                   text_of(json, "title"));
    put_body(r, f, json);
    rs_html_markup(r->page, "</details>\n");
    json_decref(json);
}

/* "2 critical, 1 warning, 4 notes" */
static void
put_counts(const rs_html_report *r)
{
    static const char *const words[][2] = {
        [RS_SEVERITY_NOTE] = {"note", "notes"},
        [RS_SEVERITY_WARNING] = {"warning", "warnings"},
        [RS_SEVERITY_CRITICAL] = {"critical", "critical"},
    };
    guint n[RS_SEVERITY_NEVER] = {0};
    for (guint i = 0; i < r->findings->len; i++) {
        const rs_finding *f = g_ptr_array_index(r->findings, i);
        n[f->severity]++;
    }
    gboolean bad = n[RS_SEVERITY_WARNING] + n[RS_SEVERITY_CRITICAL] > 0;
    rs_html_markup(r->page, "<p class=\"counts\">");
    for (int i = RS_SEVERITY_CRITICAL; i >= RS_SEVERITY_NOTE && bad; i--) {
        if (n[i] > 0) {
            g_autofree char *count = rs_format_count(n[i]);
            rs_html_printf(r->page, "<span class=\"severity %s\">%s %s</span> ",
                           rs_severity_name((rs_severity)i), count,
                           words[i][n[i] == 1 ? 0 : 1]);
        }
    }
    rs_html_markup(r->page, "</p>\n");
}

static void
put_health(const rs_html_report *r)
{
    const char *label;
    g_autofree char *words = NULL;
    rs_health health = rs_verdict(r->analysis, r->summary, &label, &words);
    rs_html_printf(r->page,
                   "<p class=\"health %s\"><span class=\"severity\">%s</span> %s</p>\n",
                   health == RS_HEALTH_HEALTHY ? "good" : "note", label, words);
}

static void
put_trust(const rs_html_report *r)
{
    g_autoptr(GPtrArray) lines = rs_verdict_trust(r->analysis, r->summary);
    rs_html_markup(r->page, "<h3>How far to trust it</h3>\n<ul class=\"trust\">\n");
    for (guint i = 0; i < MIN(lines->len, LINES_SHOWN); i++) {
        rs_html_printf(r->page, "<li>%s</li>\n",
                       (const char *)g_ptr_array_index(lines, i));
    }
    if (lines->len > LINES_SHOWN) {
        rs_html_printf(r->page, "<li>… and %u more</li>\n", lines->len - LINES_SHOWN);
    }
    rs_html_markup(r->page, "</ul>\n");
}

/* Of each kind of severity as many as there is room for. */
static guint
put_all(const rs_html_report *r)
{
    gsize start = rs_html_written(r->page);
    guint notes = 0;
    guint shown = 0;
    for (guint i = 0; i < r->findings->len; i++) {
        const rs_finding *f = g_ptr_array_index(r->findings, i);
        notes += f->severity == RS_SEVERITY_NOTE ? 1 : 0;
        if (i + 1 - notes > RS_HTML_FINDINGS || notes > RS_HTML_NOTES ||
            rs_html_written(r->page) - start > RS_HTML_FINDINGS_BYTES) {
            continue;
        }
        put_finding(r, f, i);
        shown++;
    }
    return shown;
}

void
rs_html_findings(const rs_html_report *r)
{
    rs_html_section(r->page, "findings", "What is wrong");
    if (rs_findings_reach(r->findings, RS_SEVERITY_WARNING)) {
        put_counts(r);
    } else {
        put_health(r);
    }
    guint shown = put_all(r);
    if (shown < r->findings->len) {
        g_autofree char *more = rs_format_count(r->findings->len - shown);
        rs_html_printf(r->page,
                       "<p class=\"more\">… and %s more findings: <code>--json</code> "
                       "has them all.</p>\n",
                       more);
    }
    put_trust(r);
    rs_html_end_section(r->page);
}
