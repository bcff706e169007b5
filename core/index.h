/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An index by hash over the elements of an array that belongs to somebody else.
 *
 * The one rule: elements are only added, in the order of their array, and several may
 * have the same hash; whoever looks one up compares the key itself.
 */
#ifndef ROCE_CORE_INDEX_H
#define ROCE_CORE_INDEX_H

#include "roce/alloc.h"

#include <stdbool.h>
#include <stdint.h>

#define ROCE_INDEX_END UINT32_MAX

/* All zero is an empty one. */
typedef struct roce_index {
    struct roce_index_link *links; /* by element */
    uint32_t n, capacity;          /* elements */
    uint32_t *heads;               /* the newest element of each chain, + 1; 0 none */
    uint32_t n_heads;              /* 0 or a power of two */
} roce_index;

/* Gives element `n` its hash, and counts it.  False for lack of memory: nothing changed.
 */
bool
roce_index_add(roce_index *index, const roce_alloc *alloc, uint64_t hash);

/* The newest element with this hash, and the next older one with the same hash as
 * `element`; ROCE_INDEX_END when there is none. */
uint32_t
roce_index_first(const roce_index *index, uint64_t hash);
uint32_t
roce_index_next(const roce_index *index, uint32_t element);

/* Gives its memory back; it is empty then. */
void
roce_index_clear(roce_index *index, const roce_alloc *alloc);

#endif
