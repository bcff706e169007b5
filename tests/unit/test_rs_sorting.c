/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The number at a place, without putting all in order. */
#include "sorting.h"

#include "check.h"

#define MOST 40

static int
compare(const void *a, const void *b)
{
    return rs_by_u64(a, b);
}

int
main(void)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(1);
    for (guint round = 0; round < 20000; round++) {
        guint n = (guint)g_rand_int_range(random, 1, MOST);
        guint64 numbers[MOST], sorted[MOST];
        gint32 values = g_rand_int_range(random, 1, MOST); /* few: many are equal */
        for (guint i = 0; i < n; i++) {
            numbers[i] = sorted[i] = (guint64)g_rand_int_range(random, 0, values);
        }
        if (round % 4 == 0) {
            numbers[n - 1] = sorted[n - 1] = G_MAXUINT64;
        }
        qsort(sorted, n, sizeof *sorted, compare);
        guint k = (guint)g_rand_int_range(random, 0, (gint32)n);
        CHECK_INT(rs_select_u64(numbers, n, k), sorted[k]);
    }
    return check_status();
}
