/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "twins.h"

#define ENTRIES (1u << 18)
#define PROBES 4

typedef struct twin {
    roce_wire_identity identity; /* narrow is 0: empty */
    guint64 points;              /* bit n: seen at point n (from 63 on together) */
    guint64 age;
    guint32 stream; /* at the first point */
} twin;

typedef struct stream_twins {
    guint64 only_here;
} stream_twins;

struct rs_twins {
    twin *entries;
    guint64 age;
    guint64 n;
    gboolean incomplete; /* an entry had to make room for another, or never came */
    GArray *streams;     /* stream_twins by stream id */
};

rs_twins *
rs_twins_new(void)
{
    rs_twins *twins = g_new0(rs_twins, 1);
    twins->entries = g_new0(twin, ENTRIES);
    twins->streams = g_array_new(FALSE, TRUE, sizeof(stream_twins));
    return twins;
}

void
rs_twins_free(rs_twins *twins)
{
    if (twins == NULL) {
        return;
    }
    g_free(twins->entries);
    g_array_unref(twins->streams);
    g_free(twins);
}

static stream_twins *
of_stream(rs_twins *twins, guint32 stream)
{
    if (stream >= twins->streams->len) {
        g_array_set_size(twins->streams, stream + 1);
    }
    return &g_array_index(twins->streams, stream_twins, stream);
}

static void
retire(rs_twins *twins, const twin *entry)
{
    gboolean lone = (entry->points & (entry->points - 1)) == 0;
    if (entry->identity.narrow != 0 && lone) {
        of_stream(twins, entry->stream)->only_here++;
    }
}

/* The entry of this identity, or the oldest of those that it may take. */
static twin *
entry_for(rs_twins *twins, const roce_wire_identity *identity)
{
    twin *oldest = NULL;
    for (guint i = 0; i < PROBES; i++) {
        twin *entry = &twins->entries[(identity->narrow + i) & (ENTRIES - 1)];
        if (roce_wire_identity_equal(&entry->identity, identity)) {
            return entry;
        }
        if (oldest == NULL || entry->age < oldest->age) {
            oldest = entry;
        }
    }
    return oldest;
}

void
rs_twins_miss(rs_twins *twins)
{
    twins->incomplete = TRUE;
}

gboolean
rs_twins_add(rs_twins *twins, guint point, const roce_wire_identity *identity,
             guint32 stream)
{
    guint64 bit = (guint64)1 << MIN(point, 63);
    twin *entry = entry_for(twins, identity);
    if (!roce_wire_identity_equal(&entry->identity, identity)) {
        twins->incomplete |= entry->identity.narrow != 0;
        retire(twins, entry);
        *entry = (twin){.identity = *identity, .points = bit, .stream = stream};
        entry->age = ++twins->age;
        return FALSE;
    }
    gboolean is_twin = (entry->points & bit) == 0;
    entry->points |= bit;
    if (is_twin) {
        twins->n++;
    }
    return is_twin;
}

void
rs_twins_finish(rs_twins *twins)
{
    for (guint i = 0; i < ENTRIES; i++) {
        retire(twins, &twins->entries[i]);
        twins->entries[i].identity.narrow = 0;
    }
}

guint64
rs_twins_count(const rs_twins *twins)
{
    return twins->n;
}

gboolean
rs_twins_complete(const rs_twins *twins)
{
    return !twins->incomplete;
}

guint64
rs_twins_only_here(const rs_twins *twins, guint32 stream)
{
    return stream < twins->streams->len
               ? g_array_index(twins->streams, stream_twins, stream).only_here
               : 0;
}
