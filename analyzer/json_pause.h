/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pauses in the JSON report. */
#ifndef RS_JSON_PAUSE_H
#define RS_JSON_PAUSE_H

#include "analysis.h"

#include <jansson.h>

/* An element of `pauses`: the tracker's source of that number.  A new reference. */
json_t *
rs_json_pause(const rs_analysis *analysis, guint32 pause);

/* `pause_cycle`: ports that wait for each other, or null. */
json_t *
rs_json_pause_cycle(const rs_analysis *analysis);

#endif
