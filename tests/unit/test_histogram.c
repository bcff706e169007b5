/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Distributions: buckets, quantiles, exact sums, and that merging leaves no trace. */
#include "check.h"
#include "failing_alloc.h"
#include "roce/histogram.h"
#include "seeded.h"

#define MOST_SAMPLES 20000

static failing_alloc memory = {.fail_from = UINT64_MAX, .fail_until = UINT64_MAX};

static roce_alloc
alloc_make(void)
{
    return failing_alloc_make(&memory);
}

static void
fill(roce_histogram *h, const uint64_t *samples, size_t n)
{
    roce_alloc alloc = alloc_make();
    for (size_t i = 0; i < n; i++) {
        roce_histogram_add(h, &alloc, samples[i]);
    }
}

static void
clear(roce_histogram *h)
{
    roce_alloc alloc = alloc_make();
    roce_histogram_clear(h, &alloc);
}

static bool
same(const roce_histogram *a, const roce_histogram *b)
{
    return a->count == b->count && a->min_ns == b->min_ns && a->max_ns == b->max_ns &&
           memcmp(a->sum, b->sum, sizeof a->sum) == 0 &&
           memcmp(a->squares, b->squares, sizeof a->squares) == 0 &&
           a->unplaced == b->unplaced && a->coarseness == b->coarseness &&
           a->n == b->n &&
           (a->n == 0 ||
            memcmp(a->buckets, b->buckets, a->n * sizeof *a->buckets) == 0);
}

static int
by_value(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;
    return *x < *y ? -1 : *x > *y;
}

static uint64_t
distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* ---- one sample in a pair: which bucket it fell into ---- */

/* Two samples share a bucket if the first quantile of both is the same. */
static void
check_boundaries(void)
{
    /* clang-format off */
    static const struct {
        const char *name;
        uint64_t a, b;
        unsigned buckets;
    } cases[] = {
        {"0 and 1", 0, 1, 2},
        {"the last two with buckets of their own", 254, 255, 2},
        {"255 and 256", 255, 256, 2},
        {"256 and 257 share the first bucket of width 2", 256, 257, 1},
        {"257 and 258", 257, 258, 2},
        {"510 and 511", 510, 511, 1},
        {"511 and 512", 511, 512, 2},
        {"512 and 515 share one of width 4", 512, 515, 1},
        {"515 and 516", 515, 516, 2},
        {"2^32 - 1 and 2^32", UINT32_MAX, (uint64_t)UINT32_MAX + 1, 2},
        {"2^32 and the last of its bucket", (uint64_t)1 << 32,
         ((uint64_t)1 << 32) + (1 << 25) - 1, 1},
        {"2^32 and the first of the next", (uint64_t)1 << 32,
         ((uint64_t)1 << 32) + (1 << 25), 2},
        {"2^63 - 1 and 2^63", INT64_MAX, (uint64_t)INT64_MAX + 1, 2},
        {"2^64 - 2 and 2^64 - 1", UINT64_MAX - 1, UINT64_MAX, 1},
        {"0 and 2^64 - 1", 0, UINT64_MAX, 2},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint64_t samples[] = {cases[i].a, cases[i].b};
        roce_histogram h = {0};
        check_row(cases[i].name);
        fill(&h, samples, 2);
        CHECK_INT(h.n, cases[i].buckets);
        CHECK_INT(h.count, 2);
        CHECK(h.min_ns == cases[i].a && h.max_ns == cases[i].b);
        CHECK(roce_histogram_quantile(&h, 0) >= cases[i].a);
        CHECK(roce_histogram_quantile(&h, 1000) <= cases[i].b);
        CHECK_INT(roce_histogram_count_up_to(&h, cases[i].b), 2);
        CHECK(cases[i].a == 0 || roce_histogram_count_up_to(&h, cases[i].a - 1) == 0);
        clear(&h);
    }
    check_row(NULL);
}

static void
check_ranks(void)
{
    /* clang-format off */
    static const struct {
        const char *name;
        unsigned n; /* samples 1 to n */
        unsigned permille;
        uint64_t want;
    } cases[] = {
        {"of one sample", 1, 500, 1}, {"rank 0 is the first", 100, 0, 1},
        {"the first of 100", 100, 10, 1}, {"beyond 1 % of 100", 100, 11, 2},
        {"the median of 2", 2, 500, 1}, {"the median of 3", 3, 500, 2},
        {"the median of 4", 4, 500, 2}, {"just beyond the median of 4", 4, 501, 3},
        {"90 % of 10", 10, 900, 9}, {"99 % of 99", 99, 990, 99},
        {"99 % of 100", 100, 990, 99}, {"99 % of 101", 101, 990, 100},
        {"all", 100, 1000, 100},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        roce_histogram h = {0};
        roce_alloc alloc = alloc_make();
        check_row(cases[i].name);
        for (unsigned k = 1; k <= cases[i].n; k++) {
            roce_histogram_add(&h, &alloc, k);
        }
        CHECK_INT(roce_histogram_quantile(&h, cases[i].permille), cases[i].want);
        clear(&h);
    }
    check_row(NULL);
}

static void
check_moments(void)
{
    /* clang-format off */
    static const struct {
        const char *name;
        uint64_t samples[5];
        unsigned n;
        uint64_t mean, stddev;
    } cases[] = {
        {"one", {7}, 1, 7, 0}, {"none differs", {9, 9, 9}, 3, 9, 0},
        {"2 and 4", {2, 4}, 2, 3, 1}, {"a mean is rounded down", {1, 2}, 2, 1, 1},
        {"half a ns is rounded up", {0, 1}, 2, 0, 1},
        {"less is rounded down", {0, 0, 0, 0, 1}, 5, 0, 0}, /* 0.4 */
        {"0, 0, 0, 10", {0, 0, 0, 10}, 4, 2, 4}, /* 4.33 */
        {"close together and far from 0",
         {1000000000000000000, 1000000000000000002, 1000000000000000004}, 3,
         1000000000000000002, 2}, /* 1.63 */
        {"the sum is beyond 64 bits",
         {UINT64_MAX, UINT64_MAX, UINT64_MAX}, 3, UINT64_MAX, 0},
        {"the squares are beyond 128 bits",
         {0, UINT64_MAX, 0, UINT64_MAX}, 4, INT64_MAX, (uint64_t)INT64_MAX + 1},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        roce_histogram h = {0};
        check_row(cases[i].name);
        fill(&h, cases[i].samples, cases[i].n);
        CHECK(roce_histogram_mean(&h) == cases[i].mean);
        /* as far as a double tells */
        CHECK(distance(roce_histogram_stddev(&h), cases[i].stddev) <= cases[i].stddev >>
              50);
        clear(&h);
    }
    check_row(NULL);
}

/* ---- properties ---- */

/* Samples of many sizes: of up to 2^bits, or close together, or of a few values. */
static size_t
make_samples(seeded *random, uint64_t *samples)
{
    size_t n = 1 + seeded_below(random, MOST_SAMPLES);
    unsigned bits = 1 + seeded_below(random, 64);
    unsigned kind = seeded_below(random, 3);
    uint64_t base = seeded_next(random) >> (64 - bits);
    for (size_t i = 0; i < n; i++) {
        uint64_t r = seeded_next(random);
        if (kind == 0) {
            samples[i] = r >> (64 - 1 - seeded_below(random, bits));
        } else if (kind == 1) {
            samples[i] = base + (r & (base >> 4));
        } else {
            samples[i] = base >> (r & 7);
        }
    }
    return n;
}

static uint64_t
error_of(const roce_histogram *h, uint64_t sample)
{
    return sample >> (8 - h->coarseness);
}

static void
check_quantiles(const roce_histogram *h, uint64_t *sorted, size_t n)
{
    static const unsigned permilles[] = {0, 1, 10, 500, 900, 990, 999, 1000};
    for (size_t i = 0; i < sizeof permilles / sizeof permilles[0]; i++) {
        size_t rank = (n * permilles[i] + 999) / 1000;
        uint64_t want = sorted[rank > 0 ? rank - 1 : 0];
        uint64_t got = roce_histogram_quantile(h, permilles[i]);
        CHECK(distance(got, want) <= error_of(h, want));
        CHECK(got >= sorted[0] && got <= sorted[n - 1]);
        CHECK(roce_histogram_count_up_to(h, got) >= rank);
        CHECK(got == 0 ||
              roce_histogram_count_up_to(h, got - 1) < (rank > 0 ? rank : 1));
    }
}

static void
check_means(const roce_histogram *h, const uint64_t *samples, size_t n)
{
    long double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (long double)samples[i];
    }
    long double mean = sum / (long double)n;
    long double squares = 0;
    for (size_t i = 0; i < n; i++) {
        long double off = (long double)samples[i] - mean;
        squares += off * off;
    }
    /* (stddev +- 1)^2 brackets the variance */
    long double variance = squares / (long double)n;
    long double got = (long double)roce_histogram_stddev(h);
    long double slack = 1 + got * 1e-9L;
    CHECK((got + slack) * (got + slack) >= variance);
    CHECK(got <= slack || (got - slack) * (got - slack) <= variance);
    long double off = (long double)roce_histogram_mean(h) - mean;
    CHECK(off < 1 + mean * 1e-9L && off > -1 - mean * 1e-9L);
}

/* Merges the parts in a random order and tree. */
static void
merge_randomly(seeded *random, roce_histogram *parts, unsigned n)
{
    roce_alloc alloc = alloc_make();
    while (n > 1) {
        unsigned to = seeded_below(random, n);
        unsigned from = seeded_below(random, n - 1);
        from += from >= to ? 1 : 0;
        roce_histogram_merge(&parts[to], &alloc, &parts[from]);
        roce_histogram_clear(&parts[from], &alloc);
        parts[from] = parts[n - 1];
        if (to == n - 1) {
            to = from;
        }
        n--;
    }
}

static void
check_properties(void)
{
    static uint64_t samples[MOST_SAMPLES];
    seeded random = {2026};
    roce_alloc alloc = alloc_make();
    unsigned coarsest = 0;
    for (unsigned round = 0; round < 120; round++) {
        roce_histogram whole = {0};
        roce_histogram parts[7] = {{0}};
        size_t n = make_samples(&random, samples);
        unsigned n_parts = 1 + seeded_below(&random, 7);
        for (size_t i = 0; i < n; i++) {
            roce_histogram_add(&whole, &alloc, samples[i]);
            roce_histogram_add(&parts[seeded_below(&random, n_parts)], &alloc,
                               samples[i]);
        }
        merge_randomly(&random, parts, n_parts);
        CHECK(same(&whole, &parts[0]));
        CHECK(whole.n <= ROCE_HISTOGRAM_BUCKETS && whole.unplaced == 0);
        coarsest = whole.coarseness > coarsest ? whole.coarseness : coarsest;
        check_means(&whole, samples, n);
        qsort(samples, n, sizeof samples[0], by_value);
        check_quantiles(&whole, samples, n);
        clear(&whole);
        clear(&parts[0]);
    }
    CHECK(coarsest == 3); /* the samples above reach what they are meant to */
}

/* Whether it is held to few buckets from its beginning on, or later, or to ever fewer, is
 * the same; and that many are enough for whatever there is. */
static void
check_fewer_buckets(void)
{
    static uint64_t samples[MOST_SAMPLES];
    seeded random = {1998};
    roce_alloc alloc = alloc_make();
    unsigned coarsest = 0;
    for (unsigned round = 0; round < 120; round++) {
        roce_histogram always = {0};
        roce_histogram lately = {0};
        size_t n = make_samples(&random, samples);
        unsigned most = (unsigned)ROCE_HISTOGRAM_LEAST_BUCKETS
                        << seeded_below(&random, 3);
        size_t at = seeded_below(&random, (unsigned)n + 1);
        for (size_t i = 0; i < n; i++) {
            if (i == at / 2) {
                roce_histogram_shrink(&lately, &alloc, most * 2);
            }
            if (i == at) {
                roce_histogram_shrink(&lately, &alloc, most);
                CHECK(lately.n <= most && lately.capacity <= most);
            }
            unsigned within = i < at / 2 ? ROCE_HISTOGRAM_BUCKETS
                              : i < at   ? most * 2
                                         : most;
            roce_histogram_add_within(&always, &alloc, samples[i], most);
            roce_histogram_add_within(&lately, &alloc, samples[i], within);
        }
        roce_histogram_shrink(&lately, &alloc, most);
        CHECK(same(&always, &lately));
        CHECK(always.n <= most && always.capacity <= most && always.unplaced == 0);
        coarsest = always.coarseness > coarsest ? always.coarseness : coarsest;
        qsort(samples, n, sizeof samples[0], by_value);
        check_quantiles(&always, samples, n);
        clear(&always);
        clear(&lately);
    }
    CHECK(coarsest == 6); /* as with the other ones */
}

static void
check_bound(void)
{
    roce_alloc alloc = alloc_make();
    roce_histogram h = {0};
    for (uint64_t i = 0; i < ROCE_HISTOGRAM_BUCKETS; i++) {
        CHECK(h.coarseness == 0);
        roce_histogram_add(&h, &alloc, i < 256 ? i : (128 + i % 128) << (i / 128 - 1));
    }
    CHECK_INT(h.n, ROCE_HISTOGRAM_BUCKETS);
    roce_histogram_add(&h, &alloc, 255); /* has its bucket */
    CHECK_INT(h.coarseness, 0);
    roce_histogram_add(&h, &alloc, (uint64_t)1 << 40);
    CHECK_INT(h.coarseness, 1);
    CHECK_INT(h.n, 64 * 9 + 1);
    CHECK_INT(h.count, ROCE_HISTOGRAM_BUCKETS + 2);
    clear(&h);
}

static void
check_empty(void)
{
    roce_alloc alloc = alloc_make();
    roce_histogram none = {0};
    roce_histogram one = {0};
    roce_histogram_add(&one, &alloc, 5);
    roce_histogram_merge(&one, &alloc, &none);
    CHECK_INT(one.count, 1);
    CHECK_INT(one.min_ns, 5);
    roce_histogram_merge(&none, &alloc, &one);
    CHECK(same(&none, &one));
    clear(&none);
    clear(&one);
}

/* Without memory there are no quantiles, but everything else. */
static void
check_lack_of_memory(void)
{
    for (uint64_t n = 0; n < 3; n++) {
        failing_alloc state = {.fail_from = n, .fail_until = UINT64_MAX};
        roce_alloc alloc = failing_alloc_make(&state);
        roce_histogram h = {0};
        for (uint64_t i = 1; i <= 100; i++) {
            roce_histogram_add(&h, &alloc, i);
        }
        CHECK_INT(h.count, 100);
        CHECK_INT(h.min_ns, 1);
        CHECK_INT(h.max_ns, 100);
        CHECK_INT(h.sum[0], 5050);
        CHECK_INT(h.n, n * 4);
        CHECK_INT(h.unplaced, 100 - n * 4);
        CHECK_INT(roce_histogram_quantile(&h, 1000), n == 0 ? 1 : n * 4);
        CHECK_INT(roce_histogram_mean(&h), 50);
        roce_histogram_clear(&h, &alloc);
        CHECK_INT(state.n_live, 0);
    }
}

/* ---- stamps ---- */

/* Of stamps to a microsecond each quantile is the microsecond of a sample, as far as buckets
 * are no wider than that; and of others it is what buckets say. */
static void
check_stamps(void)
{
    for (uint64_t us = 1; us <= 128; us++) {
        const uint64_t samples[] = {us * 1000, us * 1000, 20000000};
        roce_histogram h = {0};
        fill(&h, samples, 3);
        uint64_t bucket = roce_histogram_quantile(&h, 500);
        CHECK_INT(roce_histogram_quantile_of_stamps(&h, 500, 1000), us * 1000);
        CHECK_INT(roce_histogram_quantile_of_stamps(&h, 500, 1), bucket);
        CHECK_INT(roce_histogram_quantile_of_stamps(&h, 500, 0), bucket);
        clear(&h);
    }
    const uint64_t odd = 7600;
    roce_histogram h = {0};
    fill(&h, &odd, 1);
    /* no more than the most, so printed */
    CHECK_INT(roce_histogram_quantile_of_stamps(&h, 500, 1000), 7000);
    clear(&h);
}

int
main(void)
{
    check_boundaries();
    check_ranks();
    check_stamps();
    check_moments();
    check_properties();
    check_fewer_buckets();
    check_bound();
    check_empty();
    check_lack_of_memory();
    CHECK_INT(memory.n_live, 0);
    return check_status();
}
