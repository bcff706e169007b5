/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pairing verified by UDP source ports.
 *
 * Applications that start every queue pair at one PSN (collectives over many queue pairs
 * of two hosts do) leave acknowledgements that fit many streams.  Where a driver takes
 * the source port from the two QPNs, as Linux' rdma_get_udp_sport() does for a flow label
 * of 0, a pair can be verified: each direction carries the port that the two QPNs give.
 * That both do so by chance is one in 2^28, and then the PSN has to fit as well.  A port
 * that does not fit proves nothing.
 */
#include "roce/hash.h"
#include "track.h"

#define WAYS 65536 /* a power of two */
#define LOOKUPS 8  /* of one stream: at its first ACKs */
#define CANDIDATES 1024
#define PORT_BASE 0xc000

int
roce_source_port_init(roce_tracker *t)
{
    t->ways = roce_track_zeroed(t, WAYS * sizeof *t->ways);
    return t->ways == NULL ? ROCE_ERROR_MEMORY : ROCE_OK;
}

static uint32_t *
way_of(const roce_tracker *t, uint32_t point, const roce_addr *src,
       const roce_addr *dst)
{
    uint64_t hash = roce_hash_addr(roce_hash_addr(point, src), dst);
    return &t->ways[hash >> 20 & (WAYS - 1)];
}

void
roce_source_port_note(roce_tracker *t, roce_stream_state *s)
{
    uint32_t *newest = way_of(t, s->pub.point, &s->pub.src, &s->pub.dst);
    s->older_of_way = *newest;
    *newest = s->pub.id + 1;
}

bool
roce_source_port_agree(const roce_stream_state *a, const roce_stream_state *b)
{
    uint64_t v = (uint64_t)a->pub.dst_qpn * b->pub.dst_qpn;
    v ^= v >> 20;
    v ^= v >> 40;
    uint32_t label = (uint32_t)v & 0xfffff;
    uint32_t port = ((label & 0x3fff) ^ ((label & 0xfc000) >> 14)) | PORT_BASE;
    return a->pub.n_udp_src_ports == 1 && b->pub.n_udp_src_ports == 1 &&
           a->pub.udp_src_port[0] == port && b->pub.udp_src_port[0] == port;
}

/* Whether `s` sends the other way, and has sent this PSN. */
static bool
may_be_peer(const roce_stream_state *s, const roce_stream_state *by, uint32_t psn24)
{
    const roce_lane *lane = &s->requests;
    if (roce_stream_is_paired(&s->pub) || !lane->started ||
        s->pub.point != by->pub.point || s->pub.transport != by->pub.transport ||
        !roce_tenant_equal(&s->pub.tenant, &by->pub.tenant) ||
        !roce_addr_equal(&s->pub.src, &by->pub.dst) ||
        !roce_addr_equal(&s->pub.dst, &by->pub.src)) {
        return false;
    }
    int64_t psn = roce_psn_expand(psn24, lane->max_next);
    return psn < lane->max_next && psn >= lane->first;
}

bool
roce_source_port_may_find(const roce_stream_state *by)
{
    return by->port_lookups < LOOKUPS;
}

roce_stream_state *
roce_source_port_find(const roce_tracker *t, roce_stream_state *by, uint32_t psn24)
{
    roce_stream_state *found = NULL;
    if (!roce_source_port_may_find(by)) {
        return NULL;
    }
    by->port_lookups++;
    uint32_t next = *way_of(t, by->pub.point, &by->pub.dst, &by->pub.src);
    for (unsigned i = 0; next != 0 && i < CANDIDATES; i++) {
        roce_stream_state *s = roce_state_at(t, next - 1);
        next = s->older_of_way;
        if (may_be_peer(s, by, psn24) && roce_source_port_agree(s, by)) {
            if (found != NULL) {
                return NULL;
            }
            found = s;
        }
    }
    return found;
}
