/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A distribution of durations in bounded memory (the idea is HdrHistogram's).
 *
 * Count, least, greatest, sum and sum of squares are exact.  Quantiles come from
 * log-linear buckets: each power of two is split into 128 of equal width, and what is
 * below 256 has a bucket of its own.  Buckets are kept where there are samples, at most
 * ROCE_HISTOGRAM_BUCKETS, or fewer if its owner has less room; when there would be more,
 * every two neighbours become one, at most six times.
 *
 * The one rule: a histogram is a function of the samples in it.  Their order, and how they
 * were split into histograms that were merged, leave no trace, unless one of those was held
 * to fewer buckets: then what it was merged into is at least as coarse.
 */
#ifndef ROCE_HISTOGRAM_H
#define ROCE_HISTOGRAM_H

#include "roce/alloc.h"
#include "roce/linkage.h"

#include <stdint.h>

ROCE_BEGIN

/* Enough for 8 powers of two at the finest, 64 when neighbours became one three times. */
#define ROCE_HISTOGRAM_BUCKETS 1024
/* Enough for whatever there may be; nobody is held to fewer. */
#define ROCE_HISTOGRAM_LEAST_BUCKETS 128

/* All zero is a histogram without samples.  Its memory is its owner's to clear. */
typedef struct roce_histogram {
    uint64_t count;
    uint64_t min_ns, max_ns; /* valid if count > 0 */
    uint64_t sum[2];         /* 128 bits, low half first */
    uint64_t squares[3];     /* 192 bits, likewise */
    uint64_t unplaced; /* of `count`: in no bucket for lack of memory; quantiles do not
                         * know them */
    uint64_t *buckets; /* ascending: number of the bucket << 48 | samples in it */
    uint16_t n, capacity;
    uint8_t coarseness; /* 0..6: how often neighbours became one */
} roce_histogram;

void
roce_histogram_clear(roce_histogram *h, const roce_alloc *alloc);

/* Adds a sample of 0 to 2^64 - 1 ns. */
void
roce_histogram_add(roce_histogram *h, const roce_alloc *alloc, uint64_t sample_ns);

/* The same in at most `most` buckets, from ROCE_HISTOGRAM_LEAST_BUCKETS to
 * ROCE_HISTOGRAM_BUCKETS. */
void
roce_histogram_add_within(roce_histogram *h, const roce_alloc *alloc,
                          uint64_t sample_ns, unsigned most);

/* Leaves it at most `most` buckets, as above, and gives back room for more. */
void
roce_histogram_shrink(roce_histogram *h, const roce_alloc *alloc, unsigned most);

/* Adds the samples of `other`, which is left as it is. */
void
roce_histogram_merge(roce_histogram *h, const roce_alloc *alloc,
                     const roce_histogram *other);

/* The sample of rank ceil(count * permille / 1000), at least the first, where the least
 * sample has rank 1: the middle of its bucket, never below min_ns nor above max_ns.
 * Off by at most 1/256 of the sample, and by twice as much for each step of coarseness;
 * exact below 256 ns at coarseness 0.  `count` is not 0, `permille` at most 1000. */
uint64_t
roce_histogram_quantile(const roce_histogram *h, unsigned permille);

/* The same without a digit beyond what stamps have: as a multiple of their resolution, as
 * each sample is, the one next to the middle of the bucket, and never above max_ns.
 * `resolution_ns` 0 is 1. */
uint64_t
roce_histogram_quantile_of_stamps(const roce_histogram *h, unsigned permille,
                                  uint64_t resolution_ns);

/* How many samples are no greater than `limit_ns`, as far as quantiles know them. */
uint64_t
roce_histogram_count_up_to(const roce_histogram *h, uint64_t limit_ns);

/* The mean, rounded down; `count` is not 0. */
uint64_t
roce_histogram_mean(const roce_histogram *h);

/* The standard deviation of the samples (not an estimate from them), to the nearest
 * or as near as a double is; `count` is not 0. */
uint64_t
roce_histogram_stddev(const roce_histogram *h);

ROCE_END

#endif
