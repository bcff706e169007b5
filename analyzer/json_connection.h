/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections in the JSON report. */
#ifndef RS_JSON_CONNECTION_H
#define RS_JSON_CONNECTION_H

#include "summary.h"

#include <jansson.h>

/* An element of `connections`: the link of that number.  A new reference. */
json_t *
rs_json_connection(const rs_analysis *analysis, const rs_summary *summary, guint32 id);

#endif
