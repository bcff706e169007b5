/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What ports say of themselves in LLDP, in the JSON report. */
#ifndef RS_JSON_DCB_H
#define RS_JSON_DCB_H

#include "summary.h"

#include <jansson.h>

/* Null when there was no LLDP.  A new reference. */
json_t *
rs_json_dcb(const rs_analysis *analysis, const rs_summary *summary);

#endif
