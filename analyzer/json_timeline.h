/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time line of the JSON report. */
#ifndef RS_JSON_TIMELINE_H
#define RS_JSON_TIMELINE_H

#include "summary.h"

#include <jansson.h>

/* Hands out the elements of `series`, one after the other; each is the visitor's to free.
 * None when nothing was seen. */
typedef void (*rs_json_visitor)(json_t *element, void *data);
void
rs_json_timeline_visit(const rs_analysis *analysis, const rs_summary *summary,
                       rs_json_visitor visit, void *data);

/* Null when nothing was seen.  A new reference. */
json_t *
rs_json_timeline(const rs_analysis *analysis, const rs_summary *summary);

#endif
