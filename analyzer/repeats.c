/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "repeats.h"

#include "roce/hash.h"

#define ENTRIES (1u << 16)
#define PROBES 4

/* A first copy that waits for its second. */
typedef struct waiting {
    guint64 key; /* of point and identity; 0: none */
    guint64 time_ns;
    roce_wire_identity identity;
} waiting;

struct rs_repeats {
    waiting *entries;
};

rs_repeats *
rs_repeats_new(void)
{
    rs_repeats *repeats = g_new0(rs_repeats, 1);
    repeats->entries = g_new0(waiting, ENTRIES);
    return repeats;
}

void
rs_repeats_free(rs_repeats *repeats)
{
    if (repeats == NULL) {
        return;
    }
    g_free(repeats->entries);
    g_free(repeats);
}

static guint64
distance(guint64 a, guint64 b)
{
    return a > b ? a - b : b - a;
}

gboolean
rs_repeats_is_second(rs_repeats *repeats, guint point,
                     const roce_wire_identity *identity, guint64 time_ns,
                     guint64 within_ns)
{
    guint64 key = roce_hash_mix(identity->narrow, point) | 1;
    waiting *place = NULL;
    for (guint i = 0; i < PROBES; i++) {
        waiting *entry = &repeats->entries[((key >> 8) + i) & (ENTRIES - 1)];
        if (entry->key == key && roce_wire_identity_equal(&entry->identity, identity)) {
            if (distance(entry->time_ns, time_ns) <= within_ns) {
                entry->key = 0;
                return TRUE;
            }
            place = entry; /* its second copy never came */
            break;
        }
        if (place == NULL || entry->key == 0 ||
            (place->key != 0 && entry->time_ns < place->time_ns)) {
            place = entry;
        }
    }
    *place = (waiting){.key = key, .time_ns = time_ns, .identity = *identity};
    return FALSE;
}
