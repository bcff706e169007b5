/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers by 64-bit keys, for a while.
 *
 * The one rule: a key is a hash of all that it stands for, and is taken for it; whoever
 * cannot bear that two things have one hash uses core/index.h.
 */
#ifndef ROCE_CORE_KEY_MAP_H
#define ROCE_CORE_KEY_MAP_H

#include "roce/alloc.h"

#include <stdbool.h>
#include <stdint.h>

/* All zero has room for no keys. */
typedef struct roce_key_map {
    struct roce_key_map_entry *entries;
    uint32_t n_entries; /* a power of two, or 0 */
    uint32_t n_used;    /* of them, those that this while needs */
} roce_key_map;

/* Makes room for `n_keys` keys, at most 2^30.  False for lack of memory. */
bool
roce_key_map_init(roce_key_map *map, const roce_alloc *alloc, uint32_t n_keys);

/* Gives its memory back; all zero is fine. */
void
roce_key_map_clear(roce_key_map *map, const roce_alloc *alloc);

/* Forgets all keys; up to `n_keys` come next, no more than it has room for. */
void
roce_key_map_begin(roce_key_map *map, uint32_t n_keys);

/* The number of a key, 0 for one that has none; `key` is not 0. */
uint32_t
roce_key_map_get(const roce_key_map *map, uint64_t key);

/* Gives a key its number; one that was there takes no more room. */
void
roce_key_map_set(roce_key_map *map, uint64_t key, uint32_t number);

#endif
