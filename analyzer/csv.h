/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of comma-separated values, as RFC 4180 has them, in UTF-8 and with LF at the end
 * of a line.
 *
 * The one rule: whatever a text holds, a record is one line that a spreadsheet shows and
 * does not carry out.  Characters that do not print are written "\x1b", and an apostrophe
 * goes before a text that begins like a formula.
 */
#ifndef RS_CSV_H
#define RS_CSV_H

#include <glib.h>
#include <stdio.h>

/* The state between two fields; the stream is the caller's, and keeps its errors. */
typedef struct rs_csv {
    FILE *out;
    guint n_fields; /* of the record so far */
} rs_csv;

void
rs_csv_init(rs_csv *csv, FILE *out);

/* Each writes the next field of the record. */
void
rs_csv_null(rs_csv *csv); /* an empty one */
void
rs_csv_integer(rs_csv *csv, gint64 n);
void
rs_csv_real(rs_csv *csv, double x); /* no more digits than it takes to read it back */
void
rs_csv_boolean(rs_csv *csv, gboolean b); /* "true", "false" */
void
rs_csv_text(rs_csv *csv, const char *text);

void
rs_csv_end_record(rs_csv *csv);

#endif
