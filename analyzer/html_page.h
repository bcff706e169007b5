/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages: the shell of each HTML file that is written.
 *
 * A page is one file that needs no other: styles, scripts, data and licences are in it,
 * and its Content-Security-Policy allows these alone, by their hashes.  It can be read
 * without scripts; they sort and filter tables, copy filters, and draw charts.
 *
 *     rs_html *page = rs_html_open(out, &head);
 *     rs_html_section(page, "streams", "Streams");
 *     rs_html_printf(page, "<p>%s</p>\n", text);
 *     rs_html_end_section(page);
 *     rs_html_data(page, "timeline", json);
 *     rs_html_close(page);
 *
 * The one rule: text reaches a page through rs_html_printf() or rs_html_text(), which make
 * markup of strings harmless, or through rs_html_data(), which a browser never reads as
 * markup.
 * rs_html_markup() is for what stands in our source.
 */
#ifndef RS_HTML_PAGE_H
#define RS_HTML_PAGE_H

#include <glib.h>
#include <jansson.h>
#include <stdio.h>

typedef struct rs_html rs_html;

/* What a page does beside tables. */
typedef enum rs_html_charts {
    RS_HTML_NO_CHARTS,
    RS_HTML_MATRIX, /* the script of the matrix of hosts */
    RS_HTML_CHARTS, /* the library, and the scripts of the report of a capture */
} rs_html_charts;

typedef struct rs_html_head {
    const char *kind;  /* "Capture report", "Batch": stands above the title */
    const char *title; /* whatever it holds: it is made harmless */
    rs_html_charts charts;
} rs_html_head;

/* Begins a page.  Write errors stay in `out` for rs_output_commit(). */
rs_html *
rs_html_open(FILE *out, const rs_html_head *head);

/* Ends the page and frees it; `out` stays open. */
void
rs_html_close(rs_html *page);

/* Writes markup of ours as it is. */
void
rs_html_markup(rs_html *page, const char *markup);

/* Writes by a format whose strings (%s) come out as text, in elements as well as in
 * attributes between quotation marks; what cannot be printed is shown as an escape. */
void
rs_html_printf(rs_html *page, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* As rs_html_printf() with "%s", for the many cells of tables. */
void
rs_html_text(rs_html *page, const char *text);

/* A part of the page with its heading; `id` is a word of ours, by which links find it,
 * and the list of contents too. */
void
rs_html_section(rs_html *page, const char *id, const char *heading);

void
rs_html_end_section(rs_html *page);

/* A block of data for scripts; `id` is a word of ours.  Takes `value` over. */
void
rs_html_data(rs_html *page, const char *id, json_t *value);

/* How many bytes have been written: what budgets are kept by. */
gsize
rs_html_written(const rs_html *page);

/* The same for a block of data: how long it would be. */
gsize
rs_html_data_size(const json_t *value);

/* One line that is shown where pages have something to copy: a Wireshark filter. */
void
rs_html_copyable(rs_html *page, const char *label, const char *text);

#endif
