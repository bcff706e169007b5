/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bins over time: against sums made the slow way, whatever the clock does. */
#include "bins.h"

#include "check.h"
#include "seeded.h"

#define MOST 3000
#define FAR ((uint64_t)1795000000 * 1000000000)
#define WIDE ((uint64_t)1000 << 38) /* what three years need */
#define YEAR ((uint64_t)365 * 86400 * 1000000000)

static void
check_width(void)
{
    /* clang-format off */
    static const struct {
        const char *name;
        uint64_t times[4];
        unsigned n_times;
        uint64_t width_ns, start_ns;
        unsigned n;
    } cases[] = {
        {"one time", {5000}, 1, 1000, 5000, 1},
        {"the last ns of a bin", {5000, 5999}, 2, 1000, 5000, 1},
        {"the first of the next", {5000, 6000}, 2, 1000, 5000, 2},
        {"as many as there can be", {0, 511999}, 2, 1000, 0, 512},
        {"one more", {0, 512000}, 2, 2000, 0, 257},
        {"an odd start is moved to an even one", {1000, 513000}, 2, 2000, 0, 257},
        {"as many from an odd start", {1000, 512999}, 2, 1000, 1000, 512},
        {"a step back", {9000, 3000}, 2, 1000, 3000, 7},
        {"a step back too far", {512000, 0}, 2, 2000, 0, 257},
        {"years back", {FAR, FAR - 3 * YEAR, FAR + 1}, 3, WIDE,
         (FAR - 3 * YEAR) / WIDE * WIDE,
         (unsigned)(FAR / WIDE - (FAR - 3 * YEAR) / WIDE + 1)},
        {"from the beginning to the end of time", {0, UINT64_MAX, 1}, 3,
         (uint64_t)1000 << 46, 0, 263},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        g_autoptr(rs_bins) bins = rs_bins_new(1000);
        rs_series *series = rs_bins_add_series(bins, 1);
        check_row(cases[i].name);
        CHECK_INT(rs_bins_n(bins), 0);
        for (unsigned k = 0; k < cases[i].n_times; k++) {
            rs_bins_count(bins, series, 0, cases[i].times[k], 1);
        }
        CHECK_INT(rs_bins_width_ns(bins), cases[i].width_ns);
        CHECK_INT(rs_bins_start_ns(bins), cases[i].start_ns);
        CHECK_INT(rs_bins_n(bins), cases[i].n);
        uint64_t sum = 0;
        for (unsigned k = 0; k < rs_bins_n(bins); k++) {
            sum += rs_bins_get(bins, series, 0, k);
        }
        CHECK_INT(sum, cases[i].n_times);
    }
    check_row(NULL);
}

static void
check_cover(void)
{
    /* clang-format off */
    static const struct {
        const char *name;
        uint64_t start_ns, end_ns;
        uint64_t want[4];
    } cases[] = {
        {"nothing", 1000, 1000, {0}}, {"the wrong way round", 2000, 1000, {0}},
        {"one ns", 1999, 2000, {0, 1}}, {"all of a bin", 1000, 2000, {0, 1000}},
        {"one ns more", 1000, 2001, {0, 1000, 1}},
        {"one ns less", 1001, 2000, {0, 999}},
        {"across all", 400, 3300, {600, 1000, 1000, 300}},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        g_autoptr(rs_bins) bins = rs_bins_new(1000);
        rs_series *series = rs_bins_add_series(bins, 2);
        check_row(cases[i].name);
        rs_bins_count(bins, series, 0, 0, 1);
        rs_bins_count(bins, series, 0, 3999, 1);
        rs_bins_cover(bins, series, 1, cases[i].start_ns, cases[i].end_ns);
        CHECK_INT(rs_bins_n(bins), 4);
        for (unsigned k = 0; k < 4; k++) {
            CHECK_INT(rs_bins_get(bins, series, 1, k), cases[i].want[k]);
        }
    }
    check_row(NULL);
}

static void
check_widen(void)
{
    g_autoptr(rs_bins) bins = rs_bins_new(1000);
    rs_series *series = rs_bins_add_series(bins, 1);
    rs_bins_count(bins, series, 0, 1000, 1);
    rs_bins_count(bins, series, 0, 2000, 2);
    rs_bins_count(bins, series, 0, 3000, 3);
    rs_bins_widen(bins, 2000);
    CHECK_INT(rs_bins_n(bins), 2);
    CHECK_INT(rs_bins_get(bins, series, 0, 0), 1);
    CHECK_INT(rs_bins_get(bins, series, 0, 1), 5);
    rs_bins_widen(bins, 2001);
    CHECK_INT(rs_bins_width_ns(bins), 4000);
    CHECK_INT(rs_bins_n(bins), 1);
}

/* A time as a clock may give it: going on, jittering, stepping back, far away. */
static uint64_t
next_time(seeded *random, uint64_t time_ns, unsigned wildness)
{
    unsigned what = seeded_below(random, 100);
    uint64_t step = seeded_below(random, 100000);
    if (what < wildness) {
        return seeded_next(random) >> seeded_below(random, 64);
    }
    return what < 80 || step > time_ns ? time_ns + step : time_ns - step;
}

typedef struct added {
    uint64_t from_ns, to_ns; /* or a count at from_ns */
    unsigned series;
} added;

static uint64_t
overlap(const added *a, uint64_t from_ns, uint64_t to_ns)
{
    uint64_t from = a->from_ns > from_ns ? a->from_ns : from_ns;
    uint64_t to = a->to_ns < to_ns ? a->to_ns : to_ns;
    return to > from ? to - from : 0;
}

/* Each bin of each series is the sum of what lies in it. */
static void
check_against_sums(const rs_bins *bins, rs_series *const *series, const added *all,
                   unsigned n)
{
    uint64_t width = rs_bins_width_ns(bins);
    CHECK(rs_bins_n(bins) <= RS_BINS);
    for (unsigned k = 0; k < 3; k++) {
        for (unsigned i = 0; i < rs_bins_n(bins); i++) {
            uint64_t from = rs_bins_start_ns(bins) + i * width;
            uint64_t to = from + width < from ? UINT64_MAX : from + width;
            uint64_t count = 0;
            uint64_t covered = 0;
            for (unsigned j = 0; j < n; j++) {
                if (all[j].series == k) {
                    count += all[j].from_ns >= from && all[j].from_ns - from < width;
                    covered += overlap(&all[j], from, to);
                }
            }
            CHECK_INT(rs_bins_get(bins, series[k], 0, i), count);
            CHECK_INT(rs_bins_get(bins, series[k], 1, i), covered);
        }
    }
}

static void
check_random(void)
{
    static added all[MOST];
    seeded random = {512};
    for (unsigned round = 0; round < 30; round++) {
        g_autoptr(rs_bins) bins = rs_bins_new(1000);
        rs_series *series[3];
        for (unsigned k = 0; k < 3; k++) {
            series[k] = rs_bins_add_series(bins, 2);
        }
        unsigned n = 1 + seeded_below(&random, round < 25 ? 200 : MOST);
        uint64_t now = round % 3 == 0 ? 0 : FAR;
        for (unsigned j = 0; j < n; j++) {
            now = next_time(&random, now, round % 5 == 0 ? 2 : 0);
            uint64_t length = seeded_below(&random, 300000);
            all[j] = (added){
                .from_ns = now,
                .to_ns = now > UINT64_MAX - length ? now : now + length,
                .series = seeded_below(&random, 3),
            };
            rs_series *s = series[all[j].series];
            rs_bins_count(bins, s, 0, now, 1);
            rs_bins_cover(bins, s, 1, now, all[j].to_ns);
        }
        check_against_sums(bins, series, all, n);
    }
}

int
main(void)
{
    check_width();
    check_cover();
    check_widen();
    check_random();
    return check_status();
}
