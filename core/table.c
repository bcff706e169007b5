/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Streams by key: (point, tenant, source, destination, destination QPN), and for UD the
 * source QPN as well.  Open addressing over ids; streams themselves never move, so that
 * whoever holds one may keep it.
 */
#include "fetch.h"
#include "track.h"

#include "roce/hash.h"
#include "roce/train.h"

#include <stddef.h>

#define SMALLEST_INDEX 1024

/* A place of the index: half of the hash, so that hardly any stream is looked at in
 * vain. */
struct roce_table_entry {
    uint32_t tag;
    uint32_t stream; /* id + 1; 0: empty */
};

static uint32_t
tag_of(uint64_t hash)
{
    return (uint32_t)(hash >> 32);
}

static uint64_t
key_hash(const roce_stream_key *key)
{
    uint64_t hash = roce_hash_mix(roce_hash_tenant(key->src_qpn, &key->tenant),
                                  (uint64_t)key->point << 32 | key->dst_qpn);
    return roce_hash_addr(roce_hash_addr(hash, &key->src), &key->dst);
}

/* What names a queue pair of UD beside its key's other members; of no other. */
static uint32_t
src_qpn_of(const roce_stream *s)
{
    return s->transport == ROCE_TRANSPORT_UD ? s->src_qpn : 0;
}

static roce_stream_key
key_of_stream(const roce_stream *s)
{
    return (roce_stream_key){
        .point = s->point,
        .tenant = s->tenant,
        .src = s->src,
        .dst = s->dst,
        .dst_qpn = s->dst_qpn,
        .src_qpn = src_qpn_of(s),
    };
}

static bool
matches(const roce_stream_state *s, const roce_stream_key *key)
{
    uint32_t own = src_qpn_of(&s->pub);
    return s->pub.point == key->point && s->pub.dst_qpn == key->dst_qpn &&
           own == key->src_qpn && roce_tenant_equal(&s->pub.tenant, &key->tenant) &&
           roce_addr_equal(&s->pub.src, &key->src) &&
           roce_addr_equal(&s->pub.dst, &key->dst);
}

static uint32_t
slot_of(const roce_tracker *t, uint64_t hash)
{
    return (uint32_t)hash & (t->index_size - 1);
}

static roce_stream_state *
lookup(const roce_tracker *t, uint64_t hash, const roce_stream_key *key)
{
    if (t->index_size == 0) {
        return NULL;
    }
    for (uint32_t i = slot_of(t, hash); t->index[i].stream != 0;
         i = (i + 1) & (t->index_size - 1)) {
        roce_stream_state *s = roce_state_at(t, t->index[i].stream - 1);
        if (t->index[i].tag == tag_of(hash) && matches(s, key)) {
            return s;
        }
    }
    return NULL;
}

roce_stream_state *
roce_table_find(const roce_tracker *t, const roce_stream_key *key)
{
    return lookup(t, key_hash(key), key);
}

static void
index_insert(roce_tracker *t, uint64_t hash, uint32_t id)
{
    uint32_t i = slot_of(t, hash);
    while (t->index[i].stream != 0) {
        i = (i + 1) & (t->index_size - 1);
    }
    t->index[i] = (struct roce_table_entry){.tag = tag_of(hash), .stream = id + 1};
}

/* Keeps a quarter of the index empty at least. */
static bool
grow_index(roce_tracker *t)
{
    if ((uint64_t)(t->n_streams + 1) * 4 <= (uint64_t)t->index_size * 3) {
        return true;
    }
    uint32_t size = t->index_size == 0 ? SMALLEST_INDEX : t->index_size * 2;
    struct roce_table_entry *index = roce_track_zeroed(t, size * sizeof *index);
    if (index == NULL) {
        return false;
    }
    if (t->index != NULL) {
        t->alloc.release(t->alloc.ctx, t->index);
    }
    t->index = index;
    t->index_size = size;
    for (uint32_t i = 0; i < t->n_streams; i++) {
        const roce_stream_key key = key_of_stream(&roce_state_at(t, i)->pub);
        index_insert(t, key_hash(&key), i);
    }
    return true;
}

static void
ask_vantage(const roce_tracker *t, roce_stream_state *s)
{
    if (t->config.vantage != NULL) {
        s->pub.vantage =
            t->config.vantage(t->config.ctx, s->pub.point, &s->pub.src, &s->pub.dst);
        s->vantage_given = s->pub.vantage != ROCE_VANTAGE_UNKNOWN;
    }
}

/* Room for the next stream; NULL for lack of memory. */
static roce_stream_state *
new_state(roce_tracker *t)
{
    if (t->n_streams == t->n_blocks * ROCE_STREAMS_AT_ONCE) {
        roce_stream_state *block = roce_track_resize(
            t, NULL, ROCE_STREAMS_AT_ONCE * sizeof(roce_stream_state));
        if (block == NULL) {
            return NULL;
        }
        t->blocks[t->n_blocks++] = block;
    }
    return roce_state_at(t, t->n_streams);
}

static roce_stream_state *
create(roce_tracker *t, const roce_arrival *a, uint64_t hash)
{
    const roce_packet *p = a->packet;
    if (t->n_streams == t->config.max_streams || !grow_index(t) ||
        !roce_track_reserve(t, (void **)&t->blocks, &t->blocks_capacity, t->n_blocks,
                            sizeof *t->blocks)) {
        roce_track_evicted(t, ROCE_TABLE_STREAMS, NULL, a);
        return NULL;
    }
    roce_stream_state *s = new_state(t);
    if (s == NULL) {
        return NULL;
    }
    *s = (roce_stream_state){
        .pub =
            {
                .id = t->n_streams,
                .point = a->frame->point,
                .tenant = p->tenant,
                .src = p->src,
                .dst = p->dst,
                .dst_qpn = p->bth.dest_qpn,
                .transport = p->transport,
                .peer = ROCE_NO_STREAM,
                .connection = ROCE_NO_STREAM,
                .first_time_ns = a->frame->time_ns,
                .last_time_ns = a->frame->time_ns,
                .first_frame = a->frame->number,
                .last_frame = a->frame->number,
            },
        .last_ecn = -1,
    };
    if (p->transport == ROCE_TRANSPORT_UD) {
        s->pub.src_qpn = p->deth_src_qpn;
        s->pub.has_src_qpn = true;
    }
    ask_vantage(t, s);
    t->n_streams++;
    index_insert(t, hash, s->pub.id);
    return s;
}

static roce_stream_key
key_of(uint32_t point, const roce_packet *p)
{
    return (roce_stream_key){
        .point = point,
        .tenant = p->tenant,
        .src = p->src,
        .dst = p->dst,
        .dst_qpn = p->bth.dest_qpn,
        .src_qpn = p->transport == ROCE_TRANSPORT_UD ? p->deth_src_qpn : 0,
    };
}

roce_stream_state *
roce_table_get(roce_tracker *t, const roce_arrival *a)
{
    const roce_stream_key key = key_of(a->frame->point, a->packet);
    uint64_t hash = key_hash(&key);
    roce_stream_state *s = lookup(t, hash, &key);
    if (s != NULL || a->corrupt) {
        return s; /* a packet with a bad ICRC opens no stream */
    }
    return create(t, a, hash);
}

uint32_t
roce_tracker_find(const roce_tracker *t, uint32_t point, const roce_packet *packet)
{
    const roce_stream_key key = key_of(point, packet);
    const roce_stream_state *s = roce_table_find(t, &key);
    return s != NULL ? s->pub.id : ROCE_NO_STREAM;
}

/* ---- packets to come ---- */

void
roce_tracker_approach_stream(const roce_tracker *t, uint32_t stream)
{
    const roce_stream_state *s = roce_state_at(t, stream);
    roce_fetch(s, offsetof(roce_stream, first_frame));
    roce_fetch(&s->una,
               offsetof(roce_stream_state, heard) - offsetof(roce_stream_state, una));
}

uint64_t
roce_tracker_foresee(const roce_tracker *t, uint32_t point, const roce_packet *packet)
{
    const roce_stream_key key = key_of(point, packet);
    uint64_t hash = key_hash(&key);
    if (t->index_size > 0) {
        __builtin_prefetch(&t->index[slot_of(t, hash)]);
    }
    return hash;
}

uint32_t
roce_tracker_guess(const roce_tracker *t, uint64_t hash)
{
    if (t->index_size == 0) {
        return ROCE_NO_STREAM;
    }
    uint32_t i = slot_of(t, hash);
    while (t->index[i].stream != 0 && t->index[i].tag != tag_of(hash)) {
        i = (i + 1) & (t->index_size - 1);
    }
    if (t->index[i].stream == 0) {
        return ROCE_NO_STREAM;
    }
    roce_tracker_approach_stream(t, t->index[i].stream - 1);
    return t->index[i].stream - 1;
}

void
roce_tracker_approach(const roce_tracker *t, uint32_t stream, const roce_packet *packet)
{
    const roce_stream_state *s = roce_state_at(t, stream);
    const roce_history *history = &s->requests.history;
    roce_pair_approach(t, s, packet);
    if (history->capacity > 0) {
        uint32_t next = (history->first + history->n) & (history->capacity - 1);
        roce_fetch(&history->slots[next], sizeof *history->slots);
    }
    const roce_stream_state *peer = roce_track_peer(t, s);
    if ((packet->headers & ROCE_HEADER_AETH) != 0 && peer != NULL) {
        roce_fetch(&peer->pub.latencies, sizeof peer->pub.latencies);
        roce_fetch(&peer->una, sizeof *peer - offsetof(roce_stream_state, una));
    }
}

/* The oldest entry that is not acknowledged, if each behind it takes one PSN, with the one
 * before it; and the newest. */
static void
approach_unacknowledged(const roce_stream_state *s)
{
    const roce_history *history = &s->requests.history;
    int64_t behind = s->requests.max_next - s->una;
    if (behind > 0 && behind <= history->n) {
        const uint32_t mask = history->capacity - 1;
        uint32_t end = history->first + history->n;
        roce_fetch(&history->slots[(end - (uint32_t)behind - 1) & mask],
                   2 * sizeof *history->slots);
        roce_fetch(&history->slots[(end - 1) & mask], sizeof *history->slots);
    }
}

void
roce_tracker_approach_answered(const roce_tracker *t, uint32_t stream)
{
    const roce_stream_state *s = roce_state_at(t, stream);
    const roce_stream_state *peer = roce_track_peer(t, s);
    if (peer == NULL) {
        return;
    }
    approach_unacknowledged(peer);
    if (s->pub.control != NULL) {
        roce_fetch(s->pub.control, sizeof(roce_carried));
    }
    if (peer->heard != NULL) {
        roce_fetch(peer->heard, sizeof *peer->heard);
    }
    if (peer->pub.latencies != NULL) {
        roce_fetch(peer->pub.latencies, sizeof *peer->pub.latencies);
    }
}

void
roce_tracker_approach_latencies(const roce_tracker *t, uint32_t stream)
{
    static const roce_latency wanted[] = {ROCE_LATENCY_ACK,
                                          ROCE_LATENCY_MESSAGE_COMPLETION};
    const roce_stream_state *peer = roce_track_peer(t, roce_state_at(t, stream));
    for (unsigned i = 0; peer != NULL && i < sizeof wanted / sizeof *wanted; i++) {
        const roce_histogram *h = roce_stream_latency(&peer->pub, wanted[i]);
        if (h != NULL) {
            roce_fetch(h, sizeof *h);
        }
    }
}

void
roce_table_clear(roce_tracker *t)
{
    for (uint32_t i = 0; i < t->n_streams; i++) {
        roce_parts_clear(t, roce_state_at(t, i));
    }
    for (uint32_t i = 0; i < t->n_blocks; i++) {
        t->alloc.release(t->alloc.ctx, t->blocks[i]);
    }
    if (t->blocks != NULL) {
        t->alloc.release(t->alloc.ctx, t->blocks);
    }
    if (t->index != NULL) {
        t->alloc.release(t->alloc.ctx, t->index);
    }
}
