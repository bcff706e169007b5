/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the sections of the text report share.
 *
 * The one rule: nothing from a capture reaches the terminal but through
 * rs_format_safe() or a formatter of numbers and addresses.
 */
#ifndef RS_TEXT_H
#define RS_TEXT_H

#include "findings.h"
#include "table.h"

#include <stdio.h>

/* A report while it is printed. */
typedef struct rs_text {
    FILE *out;
    const rs_analysis *analysis;
    const rs_summary *summary;
    const GPtrArray *findings;
    guint width; /* columns */
    gboolean color;
} rs_text;

/* The ANSI sequence, or nothing where there is no colour. */
const char *
rs_text_paint(const rs_text *r, const char *sequence);

void
rs_text_heading(const rs_text *r, const char *text);

/* Prints words in lines of the report's width, each indented. */
void
rs_text_wrapped(const rs_text *r, const char *text, guint indent);

/* How many rows of a table of n to print, as --top says. */
guint
rs_text_rows_shown(const rs_text *r, guint n);

/* Says below a table that there is more. */
void
rs_text_say_more(const rs_text *r, guint n, guint shown);

/* The number of a point; "" where there is only one.  g_free(). */
char *
rs_text_point(const rs_text *r, guint32 point);

void
rs_text_add_count(rs_table *table, guint64 n);

#endif
