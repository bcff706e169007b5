/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sorting.h"

static void
swap(guint64 *a, guint64 *b)
{
    guint64 kept = *a;
    *a = *b;
    *b = kept;
}

/* Hoare's: parts around the middle one, so that numbers in order cost no more. */
guint64
rs_select_u64(guint64 *numbers, gsize n, gsize k)
{
    g_assert(k < n);
    gsize low = 0;
    gsize high = n - 1;
    while (low < high) {
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
