/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Buckets by number.  At p = 7 - coarseness bits of precision a value below 2^(p+1) is
 * its own number; above, a value of e + 1 bits is cut to its p + 1 leading ones:
 *
 *     shift = e - p      number = shift * 2^p + (value >> shift)
 *
 * which runs on from one power of two to the next.  A bucket at p lies within one at
 * p - 1, so that coarser numbers come from finer ones, and it does not matter when: the
 * final coarseness is the least one at which all samples fit.
 *
 * Why sums of two and three words: the totals of two halves must be the totals of the
 * whole to the last digit, and doubles do not add up in any order.
 */
#include "roce/histogram.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#define FINEST_BITS 7
#define COARSEST 6
#define FIRST_CAPACITY 4
#define COUNT_BITS 48
#define COUNT_MASK (((uint64_t)1 << COUNT_BITS) - 1)

/* All buckets that there can be at the coarsest. */
_Static_assert((65 - (FINEST_BITS - COARSEST)) << (FINEST_BITS - COARSEST) <=
                   ROCE_HISTOGRAM_LEAST_BUCKETS,
               "the coarsest buckets have to fit");

/* Of a value that is not 0. */
static unsigned
highest_bit(uint64_t value)
{
    return 63 - (unsigned)__builtin_clzll(value);
}

static uint64_t
bucket_of(uint64_t value, unsigned coarseness)
{
    unsigned precision = FINEST_BITS - coarseness;
    if (value >> (precision + 1) == 0) {
        return value;
    }
    unsigned shift = highest_bit(value) - precision;
    return ((uint64_t)shift << precision) + (value >> shift);
}

/* How far a bucket's values are shifted. */
static unsigned
shift_of(uint64_t bucket, unsigned precision)
{
    return bucket >> (precision + 1) == 0 ? 0 : (unsigned)(bucket >> precision) - 1;
}

static uint64_t
lowest_of(uint64_t bucket, unsigned coarseness)
{
    unsigned precision = FINEST_BITS - coarseness;
    unsigned shift = shift_of(bucket, precision);
    return (bucket - ((uint64_t)shift << precision)) << shift;
}

static uint64_t
middle_of(uint64_t bucket, unsigned coarseness)
{
    unsigned shift = shift_of(bucket, FINEST_BITS - coarseness);
    uint64_t width = (uint64_t)1 << shift;
    return lowest_of(bucket, coarseness) + width / 2;
}

/* ---- sums of several words, low one first ---- */

static void
add_words(uint64_t *sum, const uint64_t *other, unsigned n)
{
    uint64_t carry = 0;
    for (unsigned i = 0; i < n; i++) {
        uint64_t with_carry = other[i] + carry;
        carry = with_carry < carry ? 1 : 0;
        sum[i] += with_carry;
        carry += sum[i] < with_carry ? 1 : 0;
    }
}

/* sum - other, modulo 2^192. */
static void
subtract_words(uint64_t sum[3], const uint64_t other[3])
{
    const uint64_t complement[3] = {~other[0], ~other[1], ~other[2]};
    const uint64_t one[3] = {1, 0, 0};
    add_words(sum, complement, 3);
    add_words(sum, one, 3);
}

/* a * b, of 64 bits each. */
static void
multiply(uint64_t a, uint64_t b, uint64_t product[2])
{
    uint64_t a0 = a & UINT32_MAX, a1 = a >> 32;
    uint64_t b0 = b & UINT32_MAX, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    uint64_t low_middle = a0 * b1 + (middle & UINT32_MAX);
    product[0] = a * b;
    product[1] = a1 * b1 + (middle >> 32) + (low_middle >> 32);
}

/* Adds words * factor to the sum, modulo 2^192. */
static void
add_multiple(uint64_t sum[3], const uint64_t words[2], uint64_t factor)
{
    uint64_t low[3] = {0};
    uint64_t high[3] = {0};
    multiply(words[0], factor, &low[0]);
    multiply(words[1], factor, &high[1]);
    add_words(sum, low, 3);
    add_words(sum, high, 3);
}

/* numerator / denominator, which is below 2^64; *rest is what remains. */
static uint64_t
divide(const uint64_t numerator[2], uint64_t denominator, uint64_t *rest)
{
    uint64_t quotient = 0;
    uint64_t remainder = numerator[1];
    for (unsigned i = 64; i-- > 0;) {
        uint64_t out = remainder >> 63;
        remainder = remainder << 1 | (numerator[0] >> i & 1);
        quotient <<= 1;
        if (out != 0 || remainder >= denominator) {
            remainder -= denominator;
            quotient |= 1;
        }
    }
    *rest = remainder;
    return quotient;
}

static void
count_sample(roce_histogram *h, uint64_t sample_ns)
{
    const uint64_t sum[2] = {sample_ns, 0};
    uint64_t square[3] = {0};
    multiply(sample_ns, sample_ns, square);
    h->min_ns = h->count == 0 || sample_ns < h->min_ns ? sample_ns : h->min_ns;
    h->max_ns = sample_ns > h->max_ns ? sample_ns : h->max_ns;
    h->count++;
    add_words(h->sum, sum, 2);
    add_words(h->squares, square, 3);
}

/* ---- buckets ---- */

static uint64_t
number_at(const roce_histogram *h, unsigned i)
{
    return h->buckets[i] >> COUNT_BITS;
}

/* The place of a bucket, or the one that it would have.  Numbers rise by one at least from
 * each to the next, which says how far it is from both ends at most: where most buckets
 * have samples, that is nearly the place. */
static unsigned
place_of(const roce_histogram *h, uint64_t bucket)
{
    const unsigned n = h->n;
    if (n == 0 || number_at(h, n - 1) < bucket) {
        return n;
    }
    if (number_at(h, 0) >= bucket) {
        return 0;
    }
    uint64_t before = bucket - number_at(h, 0);
    uint64_t behind = number_at(h, n - 1) - bucket;
    unsigned low = behind < n ? n - 1 - (unsigned)behind : 0;
    unsigned high = before < n ? (unsigned)before : n - 1;
    /* Nobody can guess which half it is, and so nobody is to: each is added or not. */
    const uint64_t *at = &h->buckets[low];
    for (unsigned left = high - low; left > 0;) {
        unsigned half = (left + 1) / 2;
        at += at[half - 1] >> COUNT_BITS < bucket ? half : 0;
        left -= half;
    }
    return (unsigned)(at - h->buckets);
}

static uint64_t
add_saturated(uint64_t entry, uint64_t samples)
{
    uint64_t room = COUNT_MASK - (entry & COUNT_MASK);
    return entry + (samples < room ? samples : room);
}

/* Every two neighbours become one. */
static void
coarsen(roce_histogram *h)
{
    assert(h->coarseness < COARSEST);
    unsigned kept = 0;
    for (unsigned i = 0; i < h->n; i++) {
        uint64_t entry = h->buckets[i];
        uint64_t lowest = lowest_of(entry >> COUNT_BITS, h->coarseness);
        uint64_t bucket = bucket_of(lowest, h->coarseness + 1u);
        if (kept > 0 && h->buckets[kept - 1] >> COUNT_BITS == bucket) {
            h->buckets[kept - 1] =
                add_saturated(h->buckets[kept - 1], entry & COUNT_MASK);
        } else {
            h->buckets[kept++] = bucket << COUNT_BITS | (entry & COUNT_MASK);
        }
    }
    h->n = (uint16_t)kept;
    h->coarseness++;
}

/* Makes room for one more bucket; false for lack of memory. */
static bool
reserve(roce_histogram *h, const roce_alloc *alloc)
{
    if (h->n < h->capacity) {
        return true;
    }
    unsigned more = h->capacity == 0 ? FIRST_CAPACITY : h->capacity * 2u;
    uint64_t *grown = alloc->resize(alloc->ctx, h->buckets, more * sizeof *h->buckets);
    if (grown == NULL) {
        return false;
    }
    h->buckets = grown;
    h->capacity = (uint16_t)more;
    return true;
}

/* Puts samples of one value into its bucket; `most` is how many there may be. */
static void
place(roce_histogram *h, const roce_alloc *alloc, uint64_t value, uint64_t samples,
      unsigned most)
{
    uint64_t bucket = bucket_of(value, h->coarseness);
    unsigned at = place_of(h, bucket);
    bool known = at < h->n && number_at(h, at) == bucket;
    while (!known && h->n >= most) {
        coarsen(h);
        bucket = bucket_of(value, h->coarseness);
        at = place_of(h, bucket);
        known = at < h->n && number_at(h, at) == bucket;
    }
    if (known) {
        h->buckets[at] = add_saturated(h->buckets[at], samples);
    } else if (reserve(h, alloc)) {
        memmove(&h->buckets[at + 1], &h->buckets[at], (h->n - at) * sizeof *h->buckets);
        h->buckets[at] = bucket << COUNT_BITS | samples;
        h->n++;
    } else {
        h->unplaced += samples;
    }
}

void
roce_histogram_clear(roce_histogram *h, const roce_alloc *alloc)
{
    if (h->buckets != NULL) {
        alloc->release(alloc->ctx, h->buckets);
    }
    *h = (roce_histogram){0};
}

void
roce_histogram_add(roce_histogram *h, const roce_alloc *alloc, uint64_t sample_ns)
{
    roce_histogram_add_within(h, alloc, sample_ns, ROCE_HISTOGRAM_BUCKETS);
}

void
roce_histogram_add_within(roce_histogram *h, const roce_alloc *alloc,
                          uint64_t sample_ns, unsigned most)
{
    assert(most >= ROCE_HISTOGRAM_LEAST_BUCKETS && most <= ROCE_HISTOGRAM_BUCKETS);
    count_sample(h, sample_ns);
    place(h, alloc, sample_ns, 1, most);
}

void
roce_histogram_shrink(roce_histogram *h, const roce_alloc *alloc, unsigned most)
{
    assert(most >= ROCE_HISTOGRAM_LEAST_BUCKETS && most <= ROCE_HISTOGRAM_BUCKETS);
    while (h->n > most) {
        coarsen(h);
    }
    if (h->capacity <= most) {
        return;
    }
    uint64_t *less = alloc->resize(alloc->ctx, h->buckets, most * sizeof *h->buckets);
    if (less != NULL) {
        h->buckets = less;
        h->capacity = (uint16_t)most;
    }
}

void
roce_histogram_merge(roce_histogram *h, const roce_alloc *alloc,
                     const roce_histogram *other)
{
    if (other->count == 0) {
        return;
    }
    h->min_ns = h->count == 0 || other->min_ns < h->min_ns ? other->min_ns : h->min_ns;
    h->max_ns = other->max_ns > h->max_ns ? other->max_ns : h->max_ns;
    h->count += other->count;
    h->unplaced += other->unplaced;
    add_words(h->sum, other->sum, 2);
    add_words(h->squares, other->squares, 3);
    while (h->coarseness < other->coarseness) {
        coarsen(h);
    }
    for (unsigned i = 0; i < other->n; i++) {
        uint64_t entry = other->buckets[i];
        place(h, alloc, lowest_of(entry >> COUNT_BITS, other->coarseness),
              entry & COUNT_MASK, ROCE_HISTOGRAM_BUCKETS);
    }
}

/* ---- what a histogram says ---- */

/* What the samples in bucket `i` are taken for. */
static uint64_t
value_of(const roce_histogram *h, unsigned i)
{
    uint64_t value = middle_of(h->buckets[i] >> COUNT_BITS, h->coarseness);
    value = value < h->min_ns ? h->min_ns : value;
    return value > h->max_ns ? h->max_ns : value;
}

uint64_t
roce_histogram_quantile(const roce_histogram *h, unsigned permille)
{
    assert(h->count > 0 && permille <= 1000);
    uint64_t placed = 0;
    for (unsigned i = 0; i < h->n; i++) {
        placed += h->buckets[i] & COUNT_MASK;
    }
    /* ceil(placed * permille / 1000), without overflow */
    uint64_t rank = placed / 1000 * permille + (placed % 1000 * permille + 999) / 1000;
    uint64_t passed = 0;
    for (unsigned i = 0; i < h->n; i++) {
        passed += h->buckets[i] & COUNT_MASK;
        if (passed >= rank) {
            return value_of(h, i);
        }
    }
    return h->min_ns; /* what there is if no sample could be placed */
}

uint64_t
roce_histogram_quantile_of_stamps(const roce_histogram *h, unsigned permille,
                                  uint64_t resolution_ns)
{
    uint64_t step_ns = resolution_ns > 0 ? resolution_ns : 1;
    uint64_t ns = roce_histogram_quantile(h, permille);
    uint64_t n = ns / step_ns + (ns % step_ns >= step_ns - step_ns / 2 ? 1 : 0);
    uint64_t most = h->max_ns / step_ns;
    return (n < most ? n : most) * step_ns;
}

uint64_t
roce_histogram_count_up_to(const roce_histogram *h, uint64_t limit_ns)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < h->n && value_of(h, i) <= limit_ns; i++) {
        n += h->buckets[i] & COUNT_MASK;
    }
    return n;
}

uint64_t
roce_histogram_mean(const roce_histogram *h)
{
    assert(h->count > 0);
    uint64_t rest;
    return divide(h->sum, h->count, &rest);
}

/* The squares' distance from the mean, exact: with m the mean rounded down,
 * sum of (x - m)^2 = squares - 2 m sum + n m^2. */
static void
squares_about(const roce_histogram *h, uint64_t m, uint64_t about[3])
{
    uint64_t square[2];
    uint64_t twice[3] = {0};
    multiply(m, m, square);
    memcpy(about, h->squares, sizeof h->squares);
    add_multiple(about, square, h->count);
    add_multiple(twice, h->sum, m);
    subtract_words(about, twice);
    subtract_words(about, twice);
}

/* The integer next to the root of `x`, which is below 2^127. */
static uint64_t
root(double x)
{
    uint64_t result = 0;
    for (unsigned bit = 64; bit-- > 0;) {
        uint64_t more = result | (uint64_t)1 << bit;
        if ((double)more * (double)more <= x) {
            result = more;
        }
    }
    double below = (double)result;
    return x >= below * below + below + 0.25 ? result + 1 : result;
}

uint64_t
roce_histogram_stddev(const roce_histogram *h)
{
    assert(h->count > 0);
    uint64_t rest;
    uint64_t mean = divide(h->sum, h->count, &rest);
    uint64_t about[3];
    squares_about(h, mean, about);
    const double word = 18446744073709551616.0; /* 2^64 */
    double n = (double)h->count;
    double fraction = (double)rest / n; /* of the mean */
    double squares =
        ((double)about[2] * word + (double)about[1]) * word + (double)about[0];
    return root(squares / n - fraction * fraction);
}
