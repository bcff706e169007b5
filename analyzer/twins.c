/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "twins.h"

#include "roce/hash.h"

#include <string.h>

#define ENTRIES (1u << 18)
#define PROBES 4

typedef struct twin {
    guint64 key;    /* 0: empty */
    guint64 points; /* bit n: seen at point n (from 63 on together) */
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
    gboolean overflowed; /* an entry had to make room for another */
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

static guint64
identity_key(const roce_frame *frame, const roce_packet *p)
{
    guint64 h =
        roce_hash_mix(p->ipv4_ident, (guint64)p->udp_length << 32 | p->bth.psn24);
    h = roce_hash_addr(roce_hash_addr(h, &p->src), &p->dst);
    h = roce_hash_mix(h, (guint64)p->bth.dest_qpn << 8 | p->bth.opcode);
    guint64 check = (guint64)p->src_port << 32 | p->aeth_syndrome;
    if (p->end_offset <= frame->captured_bytes && p->end_offset >= 4) {
        guint32 icrc;
        memcpy(&icrc, frame->bytes + p->end_offset - 4, 4);
        check = icrc;
    }
    h = roce_hash_mix(h, check);
    return h == 0 ? 1 : h;
}

static void
retire(rs_twins *twins, const twin *entry)
{
    gboolean lone = (entry->points & (entry->points - 1)) == 0;
    if (entry->key != 0 && lone) {
        of_stream(twins, entry->stream)->only_here++;
    }
}

/* The entry of this identity, or the oldest of those that it may take. */
static twin *
entry_for(rs_twins *twins, guint64 key)
{
    twin *oldest = NULL;
    for (guint i = 0; i < PROBES; i++) {
        twin *entry = &twins->entries[(key + i) & (ENTRIES - 1)];
        if (entry->key == key) {
            return entry;
        }
        if (oldest == NULL || entry->age < oldest->age) {
            oldest = entry;
        }
    }
    return oldest;
}

gboolean
rs_twins_add(rs_twins *twins, const roce_frame *frame, const roce_packet *packet,
             guint32 stream)
{
    guint64 key = identity_key(frame, packet);
    guint64 bit = (guint64)1 << MIN(frame->point, 63);
    twin *entry = entry_for(twins, key);
    if (entry->key != key) {
        twins->overflowed |= entry->key != 0;
        retire(twins, entry);
        *entry = (twin){.key = key, .points = bit, .stream = stream};
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
        twins->entries[i].key = 0;
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
    return !twins->overflowed;
}

guint64
rs_twins_only_here(const rs_twins *twins, guint32 stream)
{
    return stream < twins->streams->len
               ? g_array_index(twins->streams, stream_twins, stream).only_here
               : 0;
}
