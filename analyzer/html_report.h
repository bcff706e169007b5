/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the HTML report of a capture share.
 *
 * The one rule: each part writes one section, or nothing where there is nothing to show.
 */
#ifndef RS_HTML_REPORT_H
#define RS_HTML_REPORT_H

#include "findings.h"
#include "html_page.h"
#include "html_table.h"
#include "report_html.h"

/* A report while it is written. */
typedef struct rs_html_report {
    rs_html *page;
    const rs_analysis *analysis;
    const rs_summary *summary;
    const GPtrArray *findings;
    rs_html_table_style streams_style;
    rs_html_table *streams; /* of the worst streams: what can be linked to */
    GHashTable *linkable;   /* their ids */
} rs_html_report;

/* ---- html_rows.c: tables ---- */

/* Makes the table of streams, for rs_html_streams() to write. */
void
rs_html_prepare_streams(rs_html_report *r);
void
rs_html_streams(const rs_html_report *r);
void
rs_html_connections(const rs_html_report *r);
void
rs_html_pauses(const rs_html_report *r);
void
rs_html_background(const rs_html_report *r);

/* ---- html_findings.c: what is wrong ---- */

void
rs_html_findings(const rs_html_report *r);

/* ---- html_charts.c: data for scripts, and where they draw it ---- */

void
rs_html_timeline(const rs_html_report *r);
void
rs_html_psn(const rs_html_report *r);
void
rs_html_matrix(const rs_html_report *r);

/* ---- html_latencies.c ---- */

void
rs_html_latencies(const rs_html_report *r);

#endif
