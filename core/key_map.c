/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Open addressing, never more than half full. */
#include "key_map.h"

#include <assert.h>
#include <string.h>

typedef struct roce_key_map_entry {
    uint64_t key; /* 0: none */
    uint32_t number;
} roce_key_map_entry;

/* The least power of two that leaves half of itself free. */
static uint32_t
entries_for(uint32_t n_keys)
{
    uint32_t n = 2;
    while (n / 2 < n_keys) {
        n *= 2;
    }
    return n;
}

bool
roce_key_map_init(roce_key_map *map, const roce_alloc *alloc, uint32_t n_keys)
{
    uint32_t n = entries_for(n_keys);
    roce_key_map_entry *entries =
        alloc->resize(alloc->ctx, NULL, n * sizeof *map->entries);
    if (entries == NULL) {
        return false;
    }
    *map = (roce_key_map){.entries = entries, .n_entries = n};
    roce_key_map_begin(map, n_keys);
    return true;
}

void
roce_key_map_clear(roce_key_map *map, const roce_alloc *alloc)
{
    if (map->entries != NULL) {
        alloc->release(alloc->ctx, map->entries);
    }
    *map = (roce_key_map){0};
}

void
roce_key_map_begin(roce_key_map *map, uint32_t n_keys)
{
    map->n_used = entries_for(n_keys);
    assert(map->n_used <= map->n_entries);
    memset(map->entries, 0, map->n_used * sizeof *map->entries);
}

/* Where the key is, or belongs. */
static roce_key_map_entry *
entry_of(const roce_key_map *map, uint64_t key)
{
    uint64_t at = key >> 32 ^ key;
    roce_key_map_entry *entry;
    do {
        entry = &map->entries[at++ & (map->n_used - 1)];
    } while (entry->key != 0 && entry->key != key);
    return entry;
}

uint32_t
roce_key_map_get(const roce_key_map *map, uint64_t key)
{
    return entry_of(map, key)->number;
}

void
roce_key_map_set(roce_key_map *map, uint64_t key, uint32_t number)
{
    *entry_of(map, key) = (roce_key_map_entry){.key = key, .number = number};
}
