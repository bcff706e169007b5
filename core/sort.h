/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorting, of indices into an array that stays as it is.
 *
 * The one rule: elements that compare equal keep the order of their indices.
 */
#ifndef ROCE_CORE_SORT_H
#define ROCE_CORE_SORT_H

#include <stdint.h>

/* Less than, equal to or greater than 0, for elements `a` and `b` of the array. */
typedef int (*roce_sort_compare)(const void *array, uint32_t a, uint32_t b);

/* Writes 0 to n - 1 to `order`, sorted; `scratch` has room for `n` as well. */
void
roce_sort(uint32_t *order, uint32_t *scratch, uint32_t n, roce_sort_compare compare,
          const void *array);

#endif
