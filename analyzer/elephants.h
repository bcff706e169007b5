/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Elephants: how much of the data the largest streams carry.
 *
 * The one rule: each stream counts once, however many points saw it, and only if it
 * carries data.
 */
#ifndef RS_ELEPHANTS_H
#define RS_ELEPHANTS_H

#include "summary.h"

typedef enum rs_elephant_top {
    RS_ELEPHANTS_1,
    RS_ELEPHANTS_10,
    RS_ELEPHANTS_1_PERCENT, /* of the streams, rounded up */
    RS_ELEPHANTS_10_PERCENT,
    RS_N_ELEPHANTS,
} rs_elephant_top;

typedef struct rs_elephants {
    guint64 streams, bytes; /* that carry data; their payload */
    struct {
        guint64 streams, bytes;
    } top[RS_N_ELEPHANTS]; /* the largest of them; no more than there are */
} rs_elephants;

void
rs_elephants_find(rs_elephants *elephants, const rs_analysis *analysis,
                  const rs_summary *summary);

/* "1", "10", "1_percent", "10_percent". */
const char *
rs_elephant_top_name(rs_elephant_top top);

#endif
