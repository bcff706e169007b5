/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sheets as CSV: what the files of all reports have in common.
 *
 * The one rule: a record is what the columns of its sheet lead to in a row, and nothing
 * else.
 */
#ifndef RS_CSV_SHEET_H
#define RS_CSV_SHEET_H

#include "csv.h"
#include "output.h"
#include "sheets.h"

/* Makes the directory that files go to, with those above it, if there is none. */
gboolean
rs_csv_make_directory(const char *path, GError **error);

/* Whether the directory can be made, or this sheet be written if it is there, for who will do
 * so much later; leaves nothing behind. */
gboolean
rs_csv_probe(const char *directory, const rs_sheet *sheet, GError **error);

/* Opens DIRECTORY/SHEET.csv and writes the names of its columns; commit or abandon it. */
rs_output *
rs_csv_open(const char *directory, const rs_sheet *sheet, rs_csv *csv, GError **error);

/* Writes a row as a record; a write that fails stays in the stream. */
void
rs_csv_row(rs_csv *csv, const rs_sheet *sheet, const json_t *row);

#endif
