/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time line of the JSON report. */
#ifndef RS_JSON_TIMELINE_H
#define RS_JSON_TIMELINE_H

#include "summary.h"

#include <jansson.h>

/* Null when nothing was seen.  A new reference. */
json_t *
rs_json_timeline(const rs_analysis *analysis, const rs_summary *summary);

#endif
