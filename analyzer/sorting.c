/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sorting.h"

#include <stdlib.h>

#define INSERTED 16 /* of so few, each is put where it belongs */

static void
swap(guint64 *a, guint64 *b)
{
    guint64 kept = *a;
    *a = *b;
    *b = kept;
}

/* Hoare's: parts low..high around the middle one, so that numbers in order cost no more.
 * Returns where the lower part ends, before `high`; none of it is greater than any behind. */
static gsize
part(guint64 *numbers, gsize low, gsize high)
{
    guint64 pivot = numbers[low + (high - low) / 2];
    gsize i = low;
    gsize j = high;
    for (;;) {
        while (numbers[i] < pivot) {
            i++;
        }
        while (numbers[j] > pivot) {
            j--;
        }
        if (i >= j) {
            return j;
        }
        swap(&numbers[i++], &numbers[j--]);
    }
}

/* So often may n numbers be parted before they are taken for some that were made to cost
 * more, and are put in order by whom that does not trouble. */
static guint
most_rounds(gsize n)
{
    return 2 * g_bit_storage(n);
}

guint64
rs_select_u64(guint64 *numbers, gsize n, gsize k)
{
    g_assert(k < n);
    gsize low = 0;
    gsize high = n - 1;
    for (guint rounds = most_rounds(n); low < high; rounds--) {
        if (rounds == 0) {
            qsort(numbers + low, high - low + 1, sizeof *numbers, rs_by_u64);
            return numbers[k];
        }
        gsize j = part(numbers, low, high);
        if (k <= j) {
            high = j;
        } else {
            low = j + 1;
        }
    }
    return numbers[low];
}

guint64
rs_select_sum_u64(guint64 *numbers, gsize n, guint64 sum)
{
    g_assert(n > 0);
    gsize low = 0;
    gsize high = n - 1;
    guint64 above = 0; /* what those behind `high` come to */
    for (guint rounds = most_rounds(n); low < high; rounds--) {
        if (rounds == 0) {
            qsort(numbers + low, high - low + 1, sizeof *numbers, rs_by_u64);
            while (low < high && above + numbers[high] < sum) {
                above += numbers[high--];
            }
            return numbers[high];
        }
        gsize j = part(numbers, low, high);
        guint64 upper = 0;
        for (gsize i = j + 1; i <= high; i++) {
            upper += numbers[i];
        }
        if (above + upper >= sum) {
            low = j + 1;
        } else {
            above += upper;
            high = j;
        }
    }
    return numbers[low];
}

static void
insert_each(guint64 *numbers, gsize n)
{
    for (gsize i = 1; i < n; i++) {
        guint64 number = numbers[i];
        gsize at = i;
        for (; at > 0 && numbers[at - 1] > number; at--) {
            numbers[at] = numbers[at - 1];
        }
        numbers[at] = number;
    }
}

/* The shorter part by itself, and then the longer one, so that the stack stays short. */
static void
sort_within(guint64 *numbers, gsize n, guint rounds)
{
    while (n > INSERTED) {
        if (rounds-- == 0) {
            qsort(numbers, n, sizeof *numbers, rs_by_u64);
            return;
        }
        gsize lower = part(numbers, 0, n - 1) + 1;
        gboolean is_shorter = lower <= n - lower;
        sort_within(is_shorter ? numbers : numbers + lower,
                    is_shorter ? lower : n - lower, rounds);
        numbers += is_shorter ? lower : 0;
        n = is_shorter ? n - lower : lower;
    }
    insert_each(numbers, n);
}

void
rs_sort_u64(guint64 *numbers, gsize n)
{
    sort_within(numbers, n, most_rounds(n));
}
