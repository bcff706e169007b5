/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers in order, and the number at a place without putting all in order. */
#include "sorting.h"

#include "check.h"

#define MOST 40

static int
compare(const void *a, const void *b)
{
    return rs_by_u64(a, b);
}

#define MANY 3000

/* Each number moved by so much that no middle one of a part is in its middle. */
static guint64
worst(guint i, guint n)
{
    return i < n / 2 ? 2 * (guint64)(i ^ 1) : 2 * (guint64)(n - i) + 1;
}

static guint64
made(const char *how, GRand *random, guint i, guint n)
{
    switch (how[0]) {
    case 'u': /* up */
        return i;
    case 'd': /* down */
        return n - i;
    case 's': /* the same */
        return 7;
    case 'f': /* few */
        return i * 7919 % 5;
    case 'p': /* pipes of an organ */
        return MIN(i, n - i);
    case 'w':
        return worst(i, n);
    default:
        return (guint64)g_rand_int(random) << 32 | g_rand_int(random);
    }
}

/* n numbers as they are made, and in order. */
static void
make_both(const char *how, GRand *random, guint n, guint64 *numbers, guint64 *sorted)
{
    for (guint i = 0; i < n; i++) {
        numbers[i] = sorted[i] = made(how, random, i, n);
    }
    qsort(sorted, n, sizeof *sorted, compare);
}

static void
test_sort(void)
{
    static const char *const ways[] = {"up",    "down",  "same",  "few",
                                       "pipes", "worst", "random"};
    static const guint lengths[] = {0, 1, 2, 15, 16, 17, 18, 100, MANY};
    g_autoptr(GRand) random = g_rand_new_with_seed(2);
    for (gsize w = 0; w < G_N_ELEMENTS(ways); w++) {
        check_row(ways[w]);
        for (gsize l = 0; l < G_N_ELEMENTS(lengths); l++) {
            static guint64 numbers[MANY], sorted[MANY];
            guint n = lengths[l];
            make_both(ways[w], random, n, numbers, sorted);
            rs_sort_u64(numbers, n);
            CHECK(memcmp(numbers, sorted, n * sizeof *sorted) == 0);
        }
    }
    check_row(NULL);
}

/* That with which numbers in order come to a sum, from the greatest down. */
static guint64
with_sum(const guint64 *sorted, guint n, guint64 sum)
{
    guint64 so_far = 0;
    while (n > 1 && so_far + sorted[n - 1] < sum) {
        so_far += sorted[--n];
    }
    return sorted[n - 1];
}

static void
check_sums(const guint64 *numbers, const guint64 *sorted, guint n, GRand *random)
{
    guint64 all = 0;
    for (guint i = 0; i < n; i++) {
        all += sorted[i];
    }
    const guint64 sums[] = {
        0, 1, all / 2, all - all / 2, all, all + 1, g_rand_int(random) % (all + 1)};
    for (gsize i = 0; i < G_N_ELEMENTS(sums); i++) {
        static guint64 moved[MANY];
        memcpy(moved, numbers, n * sizeof *numbers);
        CHECK_INT(rs_select_sum_u64(moved, n, sums[i]), with_sum(sorted, n, sums[i]));
    }
}

static void
test_sums(void)
{
    static const char *const ways[] = {"up", "down", "same", "few", "pipes", "worst"};
    static const guint lengths[] = {1, 2, 3, 17, 100, MANY};
    g_autoptr(GRand) random = g_rand_new_with_seed(3);
    for (gsize w = 0; w < G_N_ELEMENTS(ways); w++) {
        check_row(ways[w]);
        for (gsize l = 0; l < G_N_ELEMENTS(lengths); l++) {
            static guint64 numbers[MANY], sorted[MANY];
            guint n = lengths[l];
            make_both(ways[w], random, n, numbers, sorted);
            check_sums(numbers, sorted, n, random);
        }
    }
    check_row(NULL);
}

/* Numbers made while they are looked at, so that each part is as short as can be: in order
 * all the same, and soon. */
static void
test_made_to_cost(void)
{
    check_row("made to cost");
    static guint64 numbers[MANY], places[MANY];
    for (guint i = 0; i < MANY; i++) {
        places[i] = i;
    }
    /* Undoes, from the last part to the first, what taking the middle one as the least
     * would do to places. */
    for (guint low = 0; low < MANY; low++) {
        guint middle = low + (MANY - 1 - low) / 2;
        guint64 kept = places[middle];
        places[middle] = places[low];
        places[low] = kept;
        numbers[kept] = low;
    }
    static guint64 moved[MANY];
    memcpy(moved, numbers, sizeof numbers);
    CHECK_INT(rs_select_sum_u64(moved, MANY, (guint64)MANY * MANY), 0);
    rs_sort_u64(numbers, MANY);
    for (guint i = 0; i < MANY; i++) {
        CHECK_INT(numbers[i], i);
    }
    check_row(NULL);
}

int
main(void)
{
    test_sort();
    test_sums();
    test_made_to_cost();
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
