/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Distributions of few samples: exact, quantiles by rank. */
#include "dist.h"

#include "check.h"

static void
check_dist(void)
{
    /* clang-format off */
    static const struct {
        const char *name;
        guint64 samples[10];
        guint n;
        guint64 min, p50, p90, p99, max, mean, stddev;
    } cases[] = {
        {"one", {7}, 1, 7, 7, 7, 7, 7, 7, 0},
        {"two: the median is the lower", {9, 3}, 2, 3, 3, 9, 9, 9, 6, 3},
        {"three", {5, 1, 3}, 3, 1, 3, 5, 5, 5, 3, 2},
        {"ten: the ninth is 90 %", {10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 10,
         1, 5, 9, 10, 10, 6, 3},
        {"all the same", {4, 4, 4, 4}, 4, 4, 4, 4, 4, 4, 4, 0},
        {"zeros", {0, 0}, 2, 0, 0, 0, 0, 0, 0, 0},
        {"far apart", {0, 1000000000000}, 2, 0, 0, 1000000000000, 1000000000000,
         1000000000000, 500000000000, 500000000000},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        g_autoptr(GArray) samples = g_array_new(FALSE, FALSE, sizeof(guint64));
        rs_dist dist;
        check_row(cases[i].name);
        g_array_append_vals(samples, cases[i].samples, cases[i].n);
        rs_dist_of(samples, &dist);
        CHECK_INT(dist.count, cases[i].n);
        CHECK_INT(dist.min, cases[i].min);
        CHECK_INT(dist.p50, cases[i].p50);
        CHECK_INT(dist.p90, cases[i].p90);
        CHECK_INT(dist.p99, cases[i].p99);
        CHECK_INT(dist.max, cases[i].max);
        CHECK_INT(dist.mean, cases[i].mean);
        CHECK_INT(dist.stddev, cases[i].stddev);
    }
    check_row(NULL);
}

static void
check_none(void)
{
    g_autoptr(GArray) samples = g_array_new(FALSE, FALSE, sizeof(guint64));
    rs_dist dist = {.count = 3};
    rs_dist_of(samples, &dist);
    CHECK_INT(dist.count, 0);
}

int
main(void)
{
    check_dist();
    check_none();
    return check_status();
}
