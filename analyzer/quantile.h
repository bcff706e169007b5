/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Quantiles of distributions, as reports print them.
 *
 * The one rule: no digit beyond what stamps have, and never outside least and most.
 */
#ifndef RS_QUANTILE_H
#define RS_QUANTILE_H

#include "roce/histogram.h"

#include <glib.h>

/* In ns; `h` has samples.  A multiple of the stamps' resolution, as each sample is: the one
 * next to what the buckets give, which is off by a little. */
static inline guint64
rs_quantile_ns(const roce_histogram *h, guint permille, guint64 resolution_ns)
{
    guint64 step_ns = MAX(resolution_ns, 1);
    guint64 ns = roce_histogram_quantile(h, permille);
    guint64 up = ns % step_ns >= step_ns - step_ns / 2 ? 1 : 0;
    return MIN(ns / step_ns + up, h->max_ns / step_ns) * step_ns;
}

#endif
