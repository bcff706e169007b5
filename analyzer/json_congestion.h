/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the JSON report says of ECN and CNPs beyond counters; docs/report.md explains it. */
#ifndef RS_JSON_CONGESTION_H
#define RS_JSON_CONGESTION_H

#include "summary.h"

#include <jansson.h>

/* Member `congestion` of a stream. */
json_t *
rs_json_congestion_of_stream(const rs_analysis *analysis, const rs_summary *summary,
                             guint32 id);

/* Member `congestion` of the report. */
json_t *
rs_json_congestion(const rs_analysis *analysis);

#endif
