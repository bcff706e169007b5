/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dist.h"

#include "sorting.h"

static guint64
quantile(const GArray *sorted, guint percent)
{
    guint64 rank = ((guint64)sorted->len * percent + 99) / 100;
    return g_array_index(sorted, guint64, rank > 0 ? rank - 1 : 0);
}

/* The greatest number whose square is no greater, and then the nearest. */
static guint64
root(double square)
{
    double guess = square > 1 ? square : 1;
    for (guint i = 0; i < 200; i++) {
        double next = (guess + square / guess) / 2;
        if (next >= guess) {
            break;
        }
        guess = next;
    }
    return square <= 0 ? 0 : (guint64)(guess + 0.5);
}

void
rs_dist_of(GArray *samples, rs_dist *spread)
{
    *spread = (rs_dist){.count = samples->len};
    if (samples->len == 0) {
        return;
    }
    rs_sort_array_u64(samples);
    double sum = 0;
    for (guint i = 0; i < samples->len; i++) {
        sum += (double)g_array_index(samples, guint64, i);
    }
    double mean = sum / samples->len;
    double squares = 0;
    for (guint i = 0; i < samples->len; i++) {
        double off = (double)g_array_index(samples, guint64, i) - mean;
        squares += off * off;
    }
    spread->min = g_array_index(samples, guint64, 0);
    spread->max = g_array_index(samples, guint64, samples->len - 1);
    spread->p50 = quantile(samples, 50);
    spread->p90 = quantile(samples, 90);
    spread->p99 = quantile(samples, 99);
    spread->mean = (guint64)(mean + 0.5);
    spread->stddev = root(squares / samples->len);
}
