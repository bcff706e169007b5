/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Load in the JSON report.  Each function returns a new reference. */
#ifndef RS_JSON_LOAD_H
#define RS_JSON_LOAD_H

#include "summary.h"

#include <jansson.h>

/* Who sends to one receiver at once, and what comes with it; null where stamps are too
 * coarse. */
json_t *
rs_json_incast(const rs_analysis *analysis);

/* What held senders up: the receiver or the network. */
json_t *
rs_json_receivers(const rs_analysis *analysis, const rs_summary *summary);

/* Source ports, siblings, ECMP, flowlets. */
json_t *
rs_json_spreading(const rs_analysis *analysis, const rs_summary *summary);

/* The share of the largest streams. */
json_t *
rs_json_elephants(const rs_analysis *analysis, const rs_summary *summary);

/* What was faster than the chosen rate; null where stamps are too coarse. */
json_t *
rs_json_bursts(const rs_analysis *analysis);

#endif
