/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The comparison of points as CSV.
 *
 * The one rule: a row is made of an object of the JSON report, and a column is a path
 * into it (sheets.h).
 */
#ifndef RS_CSV_COMPARE_H
#define RS_CSV_COMPARE_H

#include "compare.h"
#include "sheets.h"

/* Rows of a sheet that belongs to an array of the report have "of", the element of that
 * array, whole, and "item", an element of its `list`. */
extern const rs_sheet rs_compare_sheets[];
extern const guint rs_n_compare_sheets;

/* Writes DIRECTORY/SHEET.csv for each; makes the directory if there is none. */
gboolean
rs_compare_csv(const char *directory, const rs_compare *compare, GError **error);

/* As rs_csv_probe(). */
gboolean
rs_compare_csv_probe(const char *directory, GError **error);

#endif
