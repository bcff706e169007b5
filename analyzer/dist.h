/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How samples are spread that are few enough to be kept.
 *
 * The one rule: everything is exact, quantiles too.
 */
#ifndef RS_DIST_H
#define RS_DIST_H

#include <glib.h>

typedef struct rs_dist {
    guint64 count; /* 0: nothing else holds */
    guint64 min, p50, p90, p99, max;
    guint64 mean, stddev; /* of the samples themselves, to the nearest */
} rs_dist;

/* Of samples, guint64, which are sorted on the way.  The quantile q is the sample of
 * rank ceil(count * q), where the least has rank 1. */
void
rs_dist_of(GArray *samples, rs_dist *spread);

#endif
