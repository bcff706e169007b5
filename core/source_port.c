/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What UDP source ports say of pairs, where PSNs do not tell them apart: applications that
 * start every queue pair at one PSN (collectives over many queue pairs of two hosts do)
 * leave acknowledgements that fit many streams.
 *
 * Linux gives both directions of a queue pair one port.  For a flow label of 0 it takes it
 * from the two QPNs, as rdma_get_udp_sport() does: that both directions carry just that one
 * by chance is one in 2^28, where ports differ from pair to pair, so that it pairs them, once
 * an acknowledgement does not speak against it.  Otherwise it is of another label, and tells
 * nothing but that two streams are hardly a pair where one of them has the port of the other
 * direction of a third.  Ports that differ prove nothing: some NICs give each direction its
 * own.
 */
#include "roce/hash.h"
#include "track.h"

#define WAYS 65536 /* a power of two; by addresses, and by those and the port */
#define CANDIDATES 1024
#define SAME_PORT 64 /* of more streams with one port it tells nothing, ... */
#define FEW 4        /* ... and of more than these no proof */
#define PROVEN 16    /* acknowledgements that agreed with a pairing */
#define PORT_BASE 0xc000
#define FAR_BEHIND 4096 /* PSNs that are outstanding when a capture begins, as a rule */

int
roce_source_port_init(roce_tracker *t)
{
    t->ways = roce_track_zeroed(t, WAYS * sizeof *t->ways);
    t->port_ways = roce_track_zeroed(t, WAYS * sizeof *t->port_ways);
    return t->ways == NULL || t->port_ways == NULL ? ROCE_ERROR_MEMORY : ROCE_OK;
}

static uint64_t
way_hash(uint32_t point, const roce_addr *src, const roce_addr *dst)
{
    return roce_hash_addr(roce_hash_addr(point, src), dst);
}

static uint32_t *
way_of(const roce_tracker *t, uint32_t point, const roce_addr *src,
       const roce_addr *dst)
{
    return &t->ways[way_hash(point, src, dst) >> 20 & (WAYS - 1)];
}

static uint32_t *
port_way_of(const roce_tracker *t, uint32_t point, const roce_addr *src,
            const roce_addr *dst, uint16_t port)
{
    uint64_t hash = roce_hash_mix(way_hash(point, src, dst), port);
    return &t->port_ways[hash >> 20 & (WAYS - 1)];
}

void
roce_source_port_note(roce_tracker *t, roce_stream_state *s, uint16_t port)
{
    uint32_t *newest = way_of(t, s->pub.point, &s->pub.src, &s->pub.dst);
    s->older_of_way = *newest;
    *newest = s->pub.id + 1;
    newest = port_way_of(t, s->pub.point, &s->pub.src, &s->pub.dst, port);
    s->older_of_port = *newest;
    *newest = s->pub.id + 1;
}

static bool
have_one_port(const roce_stream *a, const roce_stream *b)
{
    return a->n_udp_src_ports == 1 && b->n_udp_src_ports == 1 &&
           a->udp_src_port[0] == b->udp_src_port[0];
}

static uint16_t
port_of_qpns(uint32_t a, uint32_t b)
{
    uint64_t v = (uint64_t)a * b;
    v ^= v >> 20;
    v ^= v >> 40;
    uint32_t label = (uint32_t)v & 0xfffff;
    return (uint16_t)(((label & 0x3fff) ^ ((label & 0xfc000) >> 14)) | PORT_BASE);
}

bool
roce_source_port_agree(const roce_stream_state *a, const roce_stream_state *b)
{
    return have_one_port(&a->pub, &b->pub) &&
           a->pub.udp_src_port[0] == port_of_qpns(a->pub.dst_qpn, b->pub.dst_qpn);
}

static bool
are_of_one_place(const roce_stream *a, const roce_stream *b)
{
    return a->point == b->point && a->transport == b->transport &&
           roce_tenant_equal(&a->tenant, &b->tenant);
}

/* Whether one of them goes where the other comes from; or both the same way. */
static bool
are_opposite(const roce_stream *a, const roce_stream *b)
{
    return are_of_one_place(a, b) && roce_addr_equal(&a->src, &b->dst) &&
           roce_addr_equal(&a->dst, &b->src);
}

static bool
are_alike(const roce_stream *a, const roce_stream *b)
{
    return are_of_one_place(a, b) && roce_addr_equal(&a->src, &b->src) &&
           roce_addr_equal(&a->dst, &b->dst);
}

/* Whether ports say that a stream belongs to its peer, and not one that has `port`. */
static bool
are_like_a_pair(const roce_tracker *t, const roce_stream_state *s, uint16_t port)
{
    const roce_stream *peer = &roce_state_at(t, s->pub.peer)->pub;
    return s->pub.paired_ports_agree ||
           (have_one_port(&s->pub, peer) && s->pub.udp_src_port[0] != port);
}

roce_stream_state *
roce_source_port_partner(const roce_tracker *t, const roce_stream_state *s, bool *sure)
{
    roce_stream_state *same = NULL;
    roce_stream_state *agreeing = NULL;
    unsigned n_same = 0;
    unsigned n_agreeing = 0;
    *sure = false;
    if (s->pub.n_udp_src_ports != 1) {
        return NULL;
    }
    uint32_t next =
        *port_way_of(t, s->pub.point, &s->pub.dst, &s->pub.src, s->pub.udp_src_port[0]);
    for (unsigned i = 0; next != 0; i++) {
        roce_stream_state *other = roce_state_at(t, next - 1);
        next = other->older_of_port;
        if (i == SAME_PORT) {
            return NULL;
        }
        if (other == s || roce_stream_is_paired(&other->pub) ||
            !are_opposite(&other->pub, &s->pub) ||
            !have_one_port(&other->pub, &s->pub)) {
            continue;
        }
        same = other;
        n_same++;
        if (roce_source_port_agree(other, s)) {
            agreeing = other;
            n_agreeing++;
        }
    }
    *sure = n_agreeing == 1 && n_same <= FEW;
    return *sure ? agreeing : n_same == 1 && n_agreeing == 0 ? same : NULL;
}

bool
roce_source_port_may_be(const roce_stream_state *s, uint32_t psn24)
{
    const roce_lane *lane = &s->requests;
    if (!lane->started) {
        return false;
    }
    int64_t psn = roce_psn_expand(psn24, lane->max_next);
    return psn < lane->max_next && psn >= lane->first - ROCE_RESTART_DISTANCE;
}

bool
roce_source_port_is_crowd(const roce_tracker *t, const roce_stream_state *by,
                          const roce_stream_state *s, uint32_t psn24)
{
    uint32_t next = *way_of(t, by->pub.point, &by->pub.dst, &by->pub.src);
    for (unsigned i = 0; next != 0; i++) {
        const roce_stream_state *other = roce_state_at(t, next - 1);
        const roce_lane *lane = &other->requests;
        next = other->older_of_way;
        if (i == CANDIDATES) {
            return true;
        }
        if (other == s || !lane->started || roce_stream_is_paired(&other->pub) ||
            !are_opposite(&other->pub, &by->pub)) {
            continue;
        }
        int64_t before = lane->first - roce_psn_expand(psn24, lane->first);
        if (before > 0 && before <= FAR_BEHIND) {
            return true;
        }
    }
    return false;
}

void
roce_source_port_dispute(roce_tracker *t, const roce_stream_state *s, uint16_t port,
                         const roce_arrival *a)
{
    uint32_t next = *port_way_of(t, s->pub.point, &s->pub.dst, &s->pub.src, port);
    for (unsigned i = 0; next != 0 && i < SAME_PORT; i++) {
        roce_stream_state *other = roce_state_at(t, next - 1);
        next = other->older_of_port;
        if (other->pub.paired_by == ROCE_PAIRING_PSN &&
            other->pub.pairing_evidence < PROVEN && !other->pub.paired_ports_agree &&
            other->pub.n_udp_src_ports == 1 && other->pub.udp_src_port[0] == port &&
            are_opposite(&other->pub, &s->pub) &&
            port == port_of_qpns(s->pub.dst_qpn, other->pub.dst_qpn)) {
            roce_pair_undo(t, other, a);
        }
    }
}

void
roce_source_port_crowd_in(roce_tracker *t, const roce_stream_state *s,
                          const roce_arrival *a)
{
    uint32_t next = *way_of(t, s->pub.point, &s->pub.src, &s->pub.dst);
    for (unsigned i = 0; next != 0 && i < CANDIDATES; i++) {
        roce_stream_state *other = roce_state_at(t, next - 1);
        const roce_lane *lane = &other->requests;
        next = other->older_of_way;
        if (other->pub.paired_by != ROCE_PAIRING_PSN || !lane->started ||
            are_like_a_pair(t, other, a->packet->src_port) ||
            !are_alike(&other->pub, &s->pub)) {
            continue;
        }
        int64_t ahead =
            roce_psn_expand(a->packet->bth.psn24, lane->first) - lane->first;
        if (ahead > 0 && ahead <= FAR_BEHIND) {
            roce_pair_undo(t, other, a);
        }
    }
}
