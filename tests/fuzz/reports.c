/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reports.h"

#include "compare.h"
#include "html_compare.h"
#include "json_compare.h"
#include "option_parser.h"
#include "report.h"
#include "report_html.h"
#include "report_json.h"
#include "report_text.h"
#include "text_compare.h"

#include <assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 100
#define MOST_HTML_BYTES (5u * 1000 * 1000)

static rs_options *
options_for(const char *const *paths, const char *const *options)
{
    static const rs_option_group groups[] = {
        RS_OPTIONS_REPORT,  RS_OPTIONS_ROWS,     RS_OPTIONS_CAPTURE,
        RS_OPTIONS_NETWORK, RS_OPTIONS_COUNTERS,
    };
    g_autoptr(GStrvBuilder) words = g_strv_builder_new();
    g_strv_builder_add(words, "rocescope");
    for (guint i = 0; options != NULL && options[i] != NULL; i++) {
        g_strv_builder_add(words, options[i]);
    }
    for (guint i = 0; paths[i] != NULL; i++) {
        g_strv_builder_add(words, paths[i]);
    }
    g_auto(GStrv) argv = g_strv_builder_end(words);
    g_autoptr(rs_option_parser) parser = rs_option_parser_new("rocescope", "", "", "");
    for (guint i = 0; i < G_N_ELEMENTS(groups); i++) {
        rs_option_parser_take(parser, groups[i]);
    }
    g_autoptr(GError) error = NULL;
    rs_options *parsed =
        rs_option_parser_run(parser, (int)g_strv_length(argv), argv, &error);
    assert(parsed != NULL);
    parsed->plots_wanted = TRUE;
    return parsed;
}

/* A report in memory, while and after it is written. */
typedef struct page {
    FILE *out;
    char *text;
    size_t size;
} page;

static void
page_open(page *p)
{
    p->text = NULL;
    p->out = open_memstream(&p->text, &p->size);
    assert(p->out != NULL);
}

/* It was written without an error, and has no NUL in it. */
static void
page_close(page *p)
{
    int status = fclose(p->out);
    assert(status == 0 && strlen(p->text) == p->size);
}

/* ---- JSON ---- */

/* No count and no time went below 0, and no share is no number. */
static void
check_numbers(const json_t *json)
{
    if (json_is_integer(json)) {
        assert(json_integer_value(json) >= 0);
    } else if (json_is_array(json)) {
        for (size_t i = 0; i < json_array_size(json); i++) {
            check_numbers(json_array_get(json, i));
        }
    }
}

/* The same, but for what may well be negative. */
static void
check_object(json_t *json)
{
    const char *key;
    json_t *value;
    if (json_is_array(json)) {
        size_t i;
        json_array_foreach(json, i, value)
        {
            check_object(value);
        }
        return;
    }
    json_object_foreach(json, key, value)
    {
        if (json_is_object(value) || json_is_array(value)) {
            check_object(value);
        }
        if (!g_str_equal(key, "psn") && !g_str_has_suffix(key, "offset_ns")) {
            check_numbers(value);
        }
    }
}

static json_int_t
count_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert(json_is_integer(value));
    return json_integer_value(value);
}

/* What is counted in several places is counted once. */
static void
check_sums(const json_t *root)
{
    const json_t *capture = json_object_get(root, "capture");
    const json_t *streams = json_object_get(root, "streams");
    json_int_t packets = count_of(capture, "packets");
    json_int_t sorted =
        count_of(capture, "roce_packets") + count_of(capture, "pfc_frames") +
        count_of(capture, "pause_frames") + count_of(capture, "other_packets") +
        count_of(capture, "not_ib_on_roce_port");
    json_int_t points = 0;
    json_int_t files = 0;
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(capture, "points"), i, item)
    {
        points += count_of(item, "packets");
    }
    json_array_foreach(json_object_get(capture, "files"), i, item)
    {
        files += count_of(item, "packets");
    }
    assert(points == packets && files == packets);
    assert(sorted <= packets);
    json_array_foreach(streams, i, item)
    {
        assert(count_of(item, "packets") <= packets);
    }
}

static void
check_frame(const json_t *frame, json_int_t n_frames)
{
    assert(json_is_integer(frame));
    assert(json_integer_value(frame) >= 1 && json_integer_value(frame) <= n_frames);
}

/* Whatever is said of frames is said of some that were there. */
static void
check_frames(const json_t *root)
{
    json_int_t n_frames = count_of(json_object_get(root, "capture"), "packets");
    size_t i, k;
    json_t *item, *frame;
    json_array_foreach(json_object_get(root, "events"), i, item)
    {
        const char *kind = json_string_value(json_object_get(item, "kind"));
        const json_t *related = json_object_get(item, "related_frame");
        if (!g_str_equal(kind, "pause_expired")) { /* is on none */
            check_frame(json_object_get(item, "frame"), n_frames);
        }
        if (!json_is_null(related)) {
            check_frame(related, n_frames);
        }
    }
    json_array_foreach(json_object_get(root, "findings"), i, item)
    {
        json_array_foreach(json_object_get(item, "frames"), k, frame)
        {
            check_frame(frame, n_frames);
        }
    }
}

/* What is written, parsed again; json_decref(). */
static json_t *
parse(const page *p)
{
    json_error_t error;
    json_t *root = json_loadb(p->text, p->size, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL) {
        g_printerr("JSON: line %d: %s\n", error.line, error.text);
    }
    assert(root != NULL);
    return root;
}

static void
check_json(const rs_report *report)
{
    page p;
    page_open(&p);
    rs_report_json(p.out, report->analysis, report->summary, report->findings);
    page_close(&p);
    json_t *root = parse(&p);
    check_object(root);
    check_sums(root);
    check_frames(root);
    json_decref(root);
    free(p.text);
}

/* ---- text ---- */

/* Nothing that a terminal would obey. */
static void
check_lines(page *p)
{
    page_close(p);
    assert(g_utf8_validate(p->text, (gssize)p->size, NULL));
    g_autofree gunichar *letters = g_utf8_to_ucs4_fast(p->text, (glong)p->size, NULL);
    for (const gunichar *letter = letters; *letter != 0; letter++) {
        assert(*letter == '\n' || !g_unichar_iscntrl(*letter));
    }
    free(p->text);
}

/* ---- HTML ---- */

static void
check_html(page *p)
{
    page_close(p);
    assert(p->size < MOST_HTML_BYTES &&
           g_utf8_validate(p->text, (gssize)p->size, NULL));
    assert(strstr(p->text, "<script>alert(1)") == NULL);
    assert(strchr(p->text, '\033') == NULL);
    assert(g_str_has_suffix(p->text, "</html>\n"));
    free(p->text);
}

/* ---- all of them ---- */

void
reports_check(const char *path, const char *const *options)
{
    const char *const paths[] = {path, NULL};
    g_autoptr(rs_options) parsed = options_for(paths, options);
    g_autoptr(GError) error = NULL;
    g_autoptr(rs_analysis) analysis = rs_analysis_run(parsed, &error);
    assert(analysis != NULL && error == NULL);
    assert(!analysis->interrupted);
    g_autoptr(rs_report) report = rs_report_new(analysis);
    check_json(report);
    page p;
    page_open(&p);
    if (rs_report_has_content(report)) {
        rs_report_text(p.out, analysis, report->summary, report->findings, WIDTH,
                       FALSE);
    }
    check_lines(&p);
    page_open(&p);
    rs_report_html(p.out, analysis, report->summary, report->findings);
    check_html(&p);
}

void
reports_check_compare(const char *const *paths)
{
    g_autoptr(rs_options) options = options_for(paths, NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(rs_compare) compare = rs_compare_run(options, options->files, &error);
    assert(compare != NULL && error == NULL);
    page p;
    page_open(&p);
    rs_report_compare_json(p.out, compare);
    page_close(&p);
    json_decref(parse(&p));
    free(p.text);
    page_open(&p);
    rs_text_compare(p.out, compare, WIDTH, FALSE);
    check_lines(&p);
    page_open(&p);
    rs_report_compare_html(p.out, compare);
    check_html(&p);
}
