/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the capture tells of paths, in the JSON report. */
#ifndef RS_JSON_PATHS_H
#define RS_JSON_PATHS_H

#include "summary.h"

#include <jansson.h>

/* A new reference. */
json_t *
rs_json_paths(const rs_analysis *analysis, const rs_summary *summary);

/* Adds "path" to a stream. */
void
rs_json_set_stream_path(json_t *json, const rs_analysis *analysis, guint32 stream);

#endif
