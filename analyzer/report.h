/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What all reports of a capture are made of, and the files they are written to.
 *
 * The one rule: reporters read and never compute, so that all of them say the same.
 */
#ifndef RS_REPORT_H
#define RS_REPORT_H

#include "analysis.h"
#include "summary.h"

#include <glib.h>
#include <stdio.h>

typedef struct rs_report {
    const rs_analysis *analysis; /* the caller's */
    rs_summary *summary;
    GPtrArray *findings; /* rs_finding, worst first */
} rs_report;

/* Adds up an analysis, which outlives the report. */
rs_report *
rs_report_new(const rs_analysis *analysis);

void
rs_report_free(rs_report *report);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_report, rs_report_free)

/* In place of freeing both, where the process ends: its memory goes back as a whole, which
 * for many streams is much faster than piece by piece.  Instrumented builds free them. */
void
rs_report_leave(rs_report *report, rs_analysis *analysis);

/* Writes one form of the report; write errors stay in the stream. */
typedef void (*rs_reporter)(FILE *out, const rs_analysis *analysis,
                            const rs_summary *summary, const GPtrArray *findings);

/* Has a reporter write to `path`, as output.h has it; NULL: nowhere, which is fine. */
gboolean
rs_report_write(const rs_report *report, rs_reporter reporter, const char *path,
                GError **error);

/* Whether any file of the analysis could be opened: of none there is nothing to tell. */
gboolean
rs_report_has_content(const rs_report *report);

#endif
