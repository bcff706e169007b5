/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Display filters for findings.
 *
 * The one rule: fields of the plugin are named as the report names its events, so that a
 * filter is made of the same words as the report.
 */
#ifndef RS_FINDINGS_FILTER_H
#define RS_FINDINGS_FILTER_H

#include "findings_parts.h"

/* The frames on which events of an RS_EVIDENCE_KIND about its streams were seen; of CE
 * episodes all data that is marked; g_free(). */
char *
rs_filter_of_events(const rs_findings *all, const rs_finding *finding, guint kind);

/* RoCE data at a point in a priority, as rs_priority_of() has it; g_free(). */
char *
rs_filter_of_priority(const rs_findings *all, guint32 point, guint priority);

/* "... && (WHAT) && ...": RoCE data at a point that is so, but no UD; g_free(). */
char *
rs_filter_of_data(const rs_findings *all, guint32 point, const char *what);

/* The pause frames of a source and of others of its port, by a bit for each priority (none:
 * those of the whole link), by fields of Wireshark alone; g_free(). */
char *
rs_filter_of_pauses(const rs_findings *all, const roce_pause_source *pause,
                    guint8 priorities);

#endif
