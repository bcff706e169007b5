/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings in the JSON report. */
#ifndef RS_JSON_FINDING_H
#define RS_JSON_FINDING_H

#include "findings.h"

#include <jansson.h>

/* An element of `findings`.  A new reference. */
json_t *
rs_json_finding(const rs_finding *finding);

#endif
