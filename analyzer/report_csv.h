/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report as CSV: a file for each sheet. */
#ifndef RS_REPORT_CSV_H
#define RS_REPORT_CSV_H

#include "report.h"

/* Writes DIRECTORY/SHEET.csv for all sheets, with a line of names first; makes the
 * directory if there is none.  Each file appears whole or not at all; what else is in the
 * directory stays. */
gboolean
rs_report_csv(const rs_report *report, const char *directory, GError **error);

/* As rs_csv_probe(). */
gboolean
rs_report_csv_probe(const char *directory, GError **error);

#endif
