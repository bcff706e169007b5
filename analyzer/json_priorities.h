/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In which priorities RoCE and other traffic ride, in the JSON report. */
#ifndef RS_JSON_PRIORITIES_H
#define RS_JSON_PRIORITIES_H

#include "summary.h"

#include <jansson.h>

/* A new reference. */
json_t *
rs_json_priorities(const rs_analysis *analysis, const rs_summary *summary);

/* Adds "data_priorities" and "data_dscps" to a stream. */
void
rs_json_set_stream_priorities(json_t *json, const rs_analysis *analysis,
                              guint32 stream);

#endif
