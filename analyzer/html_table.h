/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of pages: rows are objects of the JSON report, columns say which members of them
 * are shown and how.  Scripts make tables sortable and filterable.
 *
 *     rs_html_table *table = rs_html_table_new(&style, columns, G_N_ELEMENTS(columns));
 *     rs_html_table_add(table, row);   for each
 *     rs_html_table_write(table, page);
 *     rs_html_table_free(table);
 *
 * The one rule: a cell is what the JSON says, so that the two cannot disagree: what is null
 * there is "–" here, and the table says why.
 */
#ifndef RS_HTML_TABLE_H
#define RS_HTML_TABLE_H

#include "html_page.h"

/* How a value is written.  Those of numbers are aligned to the right. */
typedef enum rs_html_cell {
    RS_HTML_TEXT,     /* a string; a list of strings or numbers, with commas */
    RS_HTML_COUNT,    /* 1,234,567 */
    RS_HTML_NUMBER,   /* 1234567: a name, not an amount */
    RS_HTML_HEX,      /* 0x12ab */
    RS_HTML_BYTES,    /* 1.2 MB */
    RS_HTML_DURATION, /* of ns: 12.3 µs */
    RS_HTML_TIME,     /* of ns since 1970, shown from the style's origin on */
    RS_HTML_SPEED,    /* of bit/s: 100 Gb/s */
    RS_HTML_SHARE,    /* of 0 to 1: 12 % */
    RS_HTML_SEVERITY, /* "critical", "warning" or "note", with its colour */
    RS_HTML_REPORT,   /* the name of a capture of a batch, linked to its report */
    RS_HTML_STREAMS,  /* one id of a stream or a list of them, linked to their rows */
} rs_html_cell;

typedef enum rs_html_column_use {
    RS_HTML_ALWAYS,
    RS_HTML_IF_ANY, /* left out where no row has anything but 0, null or nothing */
} rs_html_column_use;

/* A path is a member, "requests.gaps", or a sum of them, "a.b+c", which is null with any
 * of them; "a/b+c" is a share, null where there is nothing to have a share of; "a|b" is the
 * first that is not null. */
typedef struct rs_html_column {
    const char *heading;
    const char *path;
    rs_html_cell cell;
    rs_html_column_use use;
    const char *what; /* shown on hovering over the heading, or NULL */
    const char *null; /* why a value is not known; NULL: "cannot be told from here" */
} rs_html_column;

typedef struct rs_html_table_style {
    const char *id;        /* a word of ours; ids of rows are made with it */
    const char *caption;   /* what the rows are: "Streams, worst first" */
    const char *row_id;    /* path of what a row is linked to by, or NULL */
    guint64 origin_ns;     /* for RS_HTML_TIME */
    guint64 resolution_ns; /* durations are written no finer; 0: as fine as they are */
} rs_html_table_style;

typedef struct rs_html_table rs_html_table;

/* Style and columns must outlive the table. */
rs_html_table *
rs_html_table_new(const rs_html_table_style *style, const rs_html_column *columns,
                  guint n_columns);

void
rs_html_table_free(rs_html_table *table);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_html_table, rs_html_table_free)

/* Adds a row; keeps none of it. */
void
rs_html_table_add(rs_html_table *table, const json_t *row);

guint
rs_html_table_n_rows(const rs_html_table *table);

/* How long the table has become in bytes of markup, at most: what budgets are kept by. */
gsize
rs_html_table_size(const rs_html_table *table);

/* Writes the table into a page; a table without rows writes nothing. */
void
rs_html_table_write(const rs_html_table *table, rs_html *page);

#endif
