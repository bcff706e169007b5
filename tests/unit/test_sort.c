/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorting of indices.
 *
 * The one rule: the result is compared with what sorting means: every index once, no
 * element before a lesser one, equal ones as they were.
 */
#include "check.h"
#include "seeded.h"
#include "sort.h"

#define MANY 1000

static int
by_value(const void *array, uint32_t a, uint32_t b)
{
    const uint32_t *values = array;
    return values[a] < values[b] ? -1 : values[a] > values[b];
}

static void
check_sorted(const uint32_t *values, uint32_t n)
{
    static uint32_t order[MANY];
    static uint32_t scratch[MANY];
    bool met[MANY] = {false};
    memset(order, 0xff, sizeof order);
    roce_sort(order, scratch, n, by_value, values);
    for (uint32_t i = 0; i < n; i++) {
        if (!CHECK(order[i] < n && !met[order[i]])) {
            return;
        }
        met[order[i]] = true;
        int step = i == 0 ? -1 : by_value(values, order[i - 1], order[i]);
        CHECK(step < 0 || (step == 0 && order[i - 1] < order[i]));
    }
    if (n < MANY) {
        CHECK_INT(order[n], UINT32_MAX);
    }
}

static void
test_sizes(void)
{
    static const struct {
        const char *name;
        uint32_t n_values; /* different ones */
    } rows[] = {
        {"all equal", 1},
        {"two values", 2},
        {"few values", 7},
        {"hardly any equal", UINT32_MAX},
    };
    seeded random = {.state = 1};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_row(rows[i].name);
        for (uint32_t n = 0; n <= MANY; n = n < 70 ? n + 1 : n + 93) {
            uint32_t values[MANY];
            for (uint32_t k = 0; k < n; k++) {
                values[k] = seeded_below(&random, rows[i].n_values);
            }
            check_sorted(values, n);
        }
    }
}

static void
test_order(void)
{
    uint32_t up[MANY];
    uint32_t down[MANY];
    for (uint32_t i = 0; i < MANY; i++) {
        up[i] = i;
        down[i] = MANY - i;
    }
    check_row("in order");
    check_sorted(up, MANY);
    check_row("backwards");
    check_sorted(down, MANY);
}

int
main(void)
{
    test_sizes();
    test_order();
    return check_status();
}
