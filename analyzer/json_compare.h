/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The comparison of points as JSON (docs/compare.schema.json). */
#ifndef RS_JSON_COMPARE_H
#define RS_JSON_COMPARE_H

#include "compare.h"

#include <jansson.h>
#include <stdio.h>

#define RS_COMPARE_LOSSES 1000 /* listed of each segment */

/* The whole; a new reference. */
json_t *
rs_json_compare(const rs_compare *compare);

/* Writes it; write errors stay in the stream. */
void
rs_report_compare_json(FILE *out, const rs_compare *compare);

/* Shows the first packets lost in a segment, in the file of its `from`; NULL: there are
 * none.  g_free(). */
char *
rs_compare_filter_of_losses(const rs_compare *compare,
                            const rs_compare_segment *segment);

#endif
