/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Merge sort from the bottom up: runs of 1, 2, 4 ... elements become one. */
#include "sort.h"

#include <string.h>

/* Merges from[begin, middle) and from[middle, end). */
static void
merge(const uint32_t *from, uint32_t *to, uint32_t begin, uint32_t middle, uint32_t end,
      roce_sort_compare compare, const void *array)
{
    uint32_t left = begin;
    uint32_t right = middle;
    for (uint32_t i = begin; i < end; i++) {
        if (right == end ||
            (left < middle && compare(array, from[left], from[right]) <= 0)) {
            to[i] = from[left++];
        } else {
            to[i] = from[right++];
        }
    }
}

void
roce_sort(uint32_t *order, uint32_t *scratch, uint32_t n, roce_sort_compare compare,
          const void *array)
{
    uint32_t *from = order;
    uint32_t *to = scratch;
    for (uint32_t i = 0; i < n; i++) {
        order[i] = i;
    }
    for (uint64_t run = 1; run < n; run *= 2) {
        for (uint64_t begin = 0; begin < n; begin += 2 * run) {
            uint64_t middle = begin + run < n ? begin + run : n;
            uint64_t end = middle + run < n ? middle + run : n;
            merge(from, to, (uint32_t)begin, (uint32_t)middle, (uint32_t)end, compare,
                  array);
        }
        uint32_t *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != order) {
        memcpy(order, from, n * sizeof *order);
    }
}
