/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report as text for a terminal: what was captured and how far to trust it; what is
 * wrong, worst first; then tables.
 *
 * The one rule: it reads and never computes; nothing from a capture reaches the
 * terminal unescaped.
 */
#ifndef RS_REPORT_TEXT_H
#define RS_REPORT_TEXT_H

#include "findings.h"

#include <stdio.h>

/* `width` in columns; `color` for a terminal that understands ANSI sequences. */
void
rs_report_text(FILE *out, const rs_analysis *analysis, const rs_summary *summary,
               const GPtrArray *findings, guint width, gboolean color);

#endif
