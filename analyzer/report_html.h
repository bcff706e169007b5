/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report of a capture as one HTML file: what is wrong on top, then charts and tables.
 *
 * The one rule: numbers are those of the JSON report, and the file stays below
 * RS_HTML_REPORT_BYTES however large the capture is: each part has a budget, shows the
 * worst first, and says how much there is more and where.
 */
#ifndef RS_REPORT_HTML_H
#define RS_REPORT_HTML_H

#include "findings.h"

#include <stdio.h>

/* What the parts' budgets below come to, with scripts and styles. */
#define RS_HTML_REPORT_BYTES (5 * 1000 * 1000)

/* Rows of a table; bytes of markup of that of streams, and of each other. */
#define RS_HTML_TABLE_ROWS 1000
#define RS_HTML_STREAMS_BYTES 1300000
#define RS_HTML_TABLE_BYTES 300000
/* Findings of severity warning or higher, notes, and all of their markup. */
#define RS_HTML_FINDINGS 200
#define RS_HTML_NOTES 50
#define RS_HTML_FINDINGS_BYTES 500000
/* Data of the time line, and of plots of PSNs but for the last one. */
#define RS_HTML_TIMELINE_BYTES 700000
#define RS_HTML_PSN_PLOTS 24
#define RS_HTML_PSN_BYTES 850000

/* Writes the whole page; write errors stay in the stream for rs_output_commit(). */
void
rs_report_html(FILE *out, const rs_analysis *analysis, const rs_summary *summary,
               const GPtrArray *findings);

#endif
