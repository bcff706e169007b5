/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The comparison of points as CSV: segments.csv, lost_packets.csv, streams.csv.
 *
 * The one rule: a row is made of an object of the JSON report, and a column is a path
 * into it (sheets.h).
 */
#ifndef RS_CSV_COMPARE_H
#define RS_CSV_COMPARE_H

#include "compare.h"

/* Writes the tables into a directory, which is made if there is none. */
gboolean
rs_compare_csv(const char *directory, const rs_compare *compare, GError **error);

#endif
