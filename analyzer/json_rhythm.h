/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What many hosts do together, in the JSON report.  Each returns a new reference. */
#ifndef RS_JSON_RHYTHM_H
#define RS_JSON_RHYTHM_H

#include "summary.h"

#include <jansson.h>

/* The key `rhythm`; null where there is none. */
json_t *
rs_json_rhythm(const rs_analysis *analysis);

/* The key `collective`: the groups of hosts, and the shapes in which they send. */
json_t *
rs_json_collective(const rs_analysis *analysis);

/* The key `admission`: who clears whom to send. */
json_t *
rs_json_admission(const rs_analysis *analysis);

/* The key `collective_omitted`: what there was no room for. */
json_t *
rs_json_collective_omitted(const rs_analysis *analysis);

#endif
