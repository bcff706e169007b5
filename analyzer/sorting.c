/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sorting.h"

#include <stdlib.h>

static void
swap(guint64 *a, guint64 *b)
{
    guint64 kept = *a;
    *a = *b;
    *b = kept;
}

/* Hoare's: parts around the middle one, so that numbers in order cost no more.  Numbers
 * that were made to cost more are put in order. */
guint64
rs_select_u64(guint64 *numbers, gsize n, gsize k)
{
    g_assert(k < n);
    gsize low = 0;
    gsize high = n - 1;
    for (guint rounds = 2 * g_bit_storage(n); low < high; rounds--) {
        if (rounds == 0) {
            qsort(numbers + low, high - low + 1, sizeof *numbers, rs_by_u64);
            return numbers[k];
        }
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
                break;
            }
            swap(&numbers[i++], &numbers[j--]);
        }
        if (k <= j) {
            high = j;
        } else {
            low = j + 1;
        }
    }
    return numbers[low];
}
