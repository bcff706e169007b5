/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of NICs beside what was captured, in the JSON report. */
#ifndef RS_JSON_COUNTERS_H
#define RS_JSON_COUNTERS_H

#include "summary.h"

#include <jansson.h>

/* Null without --counters-before.  A new reference. */
json_t *
rs_json_counters(const rs_analysis *analysis, const rs_summary *summary);

#endif
