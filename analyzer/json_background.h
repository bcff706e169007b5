/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other traffic in the JSON report. */
#ifndef RS_JSON_BACKGROUND_H
#define RS_JSON_BACKGROUND_H

#include "analysis.h"

#include <jansson.h>

/* `background`: an array, or null without nDPI.  A new reference. */
json_t *
rs_json_background(const rs_analysis *analysis);

#endif
