/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "roce/repeats.h"

#include "roce/hash.h"

#include <string.h>

#define ENTRIES (1u << 16)
#define PROBES 4

/* A first copy that waits for its second. */
typedef struct waiting {
    uint64_t key; /* of point and identity; 0: none */
    roce_copy copy;
    roce_wire_identity identity;
} waiting;

struct roce_repeats {
    roce_alloc alloc;
    waiting entries[ENTRIES];
};

int
roce_repeats_new(roce_repeats **repeats, const roce_alloc *alloc)
{
    roce_repeats *r = alloc->resize(alloc->ctx, NULL, sizeof *r);
    if (r == NULL) {
        return ROCE_ERROR_MEMORY;
    }
    r->alloc = *alloc;
    memset(r->entries, 0, sizeof r->entries);
    *repeats = r;
    return ROCE_OK;
}

void
roce_repeats_free(roce_repeats *repeats)
{
    if (repeats != NULL) {
        const roce_alloc alloc = repeats->alloc;
        alloc.release(alloc.ctx, repeats);
    }
}

static uint64_t
distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

bool
roce_repeats_is_second(roce_repeats *repeats, uint32_t point,
                       const roce_wire_identity *identity, const roce_copy *copy,
                       uint64_t within_ns, roce_copy *first)
{
    uint64_t key = roce_hash_mix(identity->narrow, point) | 1;
    waiting *place = NULL;
    for (uint32_t i = 0; i < PROBES; i++) {
        waiting *entry = &repeats->entries[((key >> 8) + i) & (ENTRIES - 1)];
        if (entry->key == key && roce_wire_identity_equal(&entry->identity, identity)) {
            if (distance(entry->copy.time_ns, copy->time_ns) <= within_ns) {
                entry->key = 0;
                *first = entry->copy;
                return true;
            }
            place = entry; /* its second copy never came */
            break;
        }
        if (place == NULL || entry->key == 0 ||
            (place->key != 0 && entry->copy.time_ns < place->copy.time_ns)) {
            place = entry;
        }
    }
    *place = (waiting){.key = key, .copy = *copy, .identity = *identity};
    return false;
}
