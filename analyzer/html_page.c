/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html_page.h"

#include "append.h"
#include "format.h"
#include "html_assets.h"
#include "rocescope_version.h"

#include <string.h>

#define MAX_SCRIPTS 3

struct rs_html {
    FILE *out;
    gsize written;
    rs_html_charts charts;
    const char *script[MAX_SCRIPTS]; /* in the order in which they run */
    guint n_scripts;
};

static void
put(rs_html *page, const char *text)
{
    page->written += strlen(text);
    fputs(text, page->out);
}

void
rs_html_markup(rs_html *page, const char *markup)
{
    put(page, markup);
}

/* Whether nothing of a text but printable ASCII and lines is in it: most are. */
static gboolean
is_plain(const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        if ((*at < ' ' || *at > '~') && *at != '\n') {
            return FALSE;
        }
    }
    return TRUE;
}

void
rs_html_printf(rs_html *page, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_markup_vprintf_escaped(format, arguments);
    va_end(arguments);
    if (is_plain(text)) {
        put(page, text);
        return;
    }
    g_autofree char *visible = rs_format_safe_lines(text); /* markup is plain ASCII */
    put(page, visible);
}

void
rs_html_text(rs_html *page, const char *text)
{
    if (is_plain(text) && strpbrk(text, "<>&\"'") == NULL) {
        put(page, text);
    } else {
        rs_html_printf(page, "%s", text);
    }
}

/* 'sha256-…', as a Content-Security-Policy names what it allows. */
static void
append_hash(GString *policy, const char *text)
{
    guint8 digest[32];
    gsize n = sizeof digest;
    g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(checksum, (const guchar *)text, -1);
    g_checksum_get_digest(checksum, digest, &n);
    g_autofree char *base64 = g_base64_encode(digest, n);
    g_string_append_printf(policy, " 'sha256-%s'", base64);
}

static char *
make_policy(const rs_html *page)
{
    GString *policy = g_string_new("default-src 'none'; style-src");
    append_hash(policy, rs_html_style);
    g_string_append(policy, "; script-src");
    for (guint i = 0; i < page->n_scripts; i++) {
        append_hash(policy, page->script[i]);
    }
    g_string_append(policy, "; base-uri 'none'; form-action 'none'");
    return g_string_free(policy, FALSE);
}

static void
choose_scripts(rs_html *page)
{
    page->script[page->n_scripts++] = rs_html_page_script;
    if (page->charts == RS_HTML_CHARTS) {
        page->script[page->n_scripts++] = rs_html_dygraphs;
        page->script[page->n_scripts++] = rs_html_report_script;
    } else if (page->charts == RS_HTML_MATRIX) {
        page->script[page->n_scripts++] = rs_html_matrix_script;
    }
}

rs_html *
rs_html_open(FILE *out, const rs_html_head *head)
{
    rs_html *page = g_new0(rs_html, 1);
    page->out = out;
    page->charts = head->charts;
    choose_scripts(page);
    g_autofree char *policy = make_policy(page);
    put(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
              "<meta http-equiv=\"Content-Security-Policy\" content=\"");
    put(page, policy);
    put(page,
        "\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<meta name=\"referrer\" content=\"no-referrer\">\n");
    rs_html_printf(page, "<title>%s – rocescope</title>\n", head->title);
    put(page, "<style>");
    put(page, rs_html_style);
    put(page, "</style>\n</head>\n<body>\n"
              "<a class=\"skip\" href=\"#main\">To the contents</a>\n"
              "<header class=\"page-head\">\n");
    rs_html_printf(page, "<p class=\"kind\">rocescope · %s</p>\n<h1>%s</h1>\n",
                   head->kind, head->title);
    put(page, "</header>\n<main id=\"main\">\n");
    return page;
}

static void
put_licences(rs_html *page)
{
    put(page, "<details><summary>Licences</summary>\n"
              "<p>The scripts and styles of this page are part of rocescope: "
              "GPL-2.0-or-later.</p>\n");
    if (page->charts == RS_HTML_CHARTS) {
        put(page, "<p>Charts are drawn by dygraphs, under the MIT licence:</p>\n");
        rs_html_printf(page, "<pre>%s</pre>\n", rs_html_dygraphs_licence);
    }
    put(page, "</details>\n");
}

void
rs_html_close(rs_html *page)
{
    put(page, "</main>\n<footer class=\"page-foot\">\n");
    rs_html_printf(page, "<p>Written by rocescope %s.</p>\n", ROCESCOPE_VERSION);
    put_licences(page);
    put(page, "</footer>\n");
    for (guint i = 0; i < page->n_scripts; i++) {
        put(page, "<script>");
        put(page, page->script[i]);
        put(page, "</script>\n");
    }
    put(page, "</body>\n</html>\n");
    g_free(page);
}

void
rs_html_section(rs_html *page, const char *id, const char *heading)
{
    rs_html_printf(page,
                   "<section id=\"%s\" aria-labelledby=\"%s-heading\">\n"
                   "<h2 id=\"%s-heading\">%s</h2>\n",
                   id, id, id, heading);
}

void
rs_html_end_section(rs_html *page)
{
    put(page, "</section>\n");
}

/* JSON in which no character means anything to a reader of HTML or of scripts: they stand
 * in strings only, where JSON has escapes for them. */
#define HARMLESS (JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII)
#define ESCAPE_BYTES 6 /* "\u003c" */

static gboolean
is_markup(char c)
{
    return c == '<' || c == '>' || c == '&';
}

/* A json_dump_callback_t. */
static int
append_harmless(const char *bytes, size_t n, void *text)
{
    size_t done = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_markup(bytes[i])) {
            rs_append(text, bytes + done, i - done);
            g_string_append_printf(text, "\\u%04x", (guint)(guchar)bytes[i]);
            done = i + 1;
        }
    }
    rs_append(text, bytes + done, n - done);
    return 0;
}

/* Another one: what the first one would append. */
static int
count_harmless(const char *bytes, size_t n, void *size)
{
    gsize *all = size;
    for (size_t i = 0; i < n; i++) {
        *all += is_markup(bytes[i]) ? ESCAPE_BYTES : 1;
    }
    return 0;
}

void
rs_html_data(rs_html *page, const char *id, json_t *value)
{
    GString *text = g_string_new(NULL);
    (void)json_dump_callback(value, append_harmless, text, HARMLESS);
    json_decref(value);
    rs_html_printf(page, "<script type=\"application/json\" id=\"data-%s\">", id);
    put(page, text->str);
    put(page, "</script>\n");
    g_string_free(text, TRUE);
}

gsize
rs_html_written(const rs_html *page)
{
    return page->written;
}

gsize
rs_html_data_size(const json_t *value)
{
    gsize size = 0;
    (void)json_dump_callback(value, count_harmless, &size, HARMLESS);
    return size;
}

void
rs_html_copyable(rs_html *page, const char *label, const char *text)
{
    rs_html_printf(page,
                   "<p class=\"copyable\"><span class=\"label\">%s</span> "
                   "<code>%s</code></p>\n",
                   label, text);
}
