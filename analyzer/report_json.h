/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report as JSON: the contract of docs/report.schema.json, schema_version 1.
 *
 * The one rule: null where a value is unknown or cannot be decided, never 0.
 */
#ifndef RS_REPORT_JSON_H
#define RS_REPORT_JSON_H

#include "findings.h"

#include <stdio.h>

/* Writes the whole report; write errors stay in the stream for rs_output_commit(). */
void
rs_report_json(FILE *out, const rs_analysis *analysis, const rs_summary *summary,
               const GPtrArray *findings);

#endif
