/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was captured, in the JSON report.  Each function returns a new reference. */
#ifndef RS_JSON_CAPTURE_H
#define RS_JSON_CAPTURE_H

#include "summary.h"

#include <jansson.h>

/* `tool`: this program. */
json_t *
rs_json_tool(void);

/* `capture`: files, points and packets. */
json_t *
rs_json_capture(const rs_analysis *analysis);

/* `unattributed`: what was seen of streams that are nobody's other direction. */
json_t *
rs_json_unattributed(const rs_summary *summary);

#endif
