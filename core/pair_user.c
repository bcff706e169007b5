/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pairing by the user's tables: "on the host with these addresses, local QPN l talks to
 * QPN r" (rdma resource show qp).
 *
 * A row does not say which host r is on.  Two streams fit it, a couple, if one leads from
 * R to L, an address of the host, and QPN l, and the other from L to R and QPN r.  If the
 * table of the host with R is known as well, it must have the row back, r to l: rank 2;
 * what fits one table alone has rank 1.
 *
 * A queue pair has one peer.  So each end (point, tenant, address, QPN) belongs to one couple at
 * most, and a couple is paired if nothing else of its rank or a higher one claims either
 * of its ends.  Where two couples of one rank claim an end, all their ends are ambiguous
 * from then on, a pairing made before is undone, and only a higher rank helps.  Devices
 * of one host may use the same QPN for different peers: then l has several rows, and
 * their couples claim different ends, since each device has an address of its own.
 *
 * What costs: a new stream looks up one stream for each row of its destination QPN.
 * Where the host of its source alone is known, the streams that wait for it are found in
 * `waiting`, each once.
 */
#include "index.h"
#include "roce/hash.h"
#include "track.h"

#include <string.h>

#define NO_HOST UINT32_MAX
#define RANK_ONE_TABLE 1
#define RANK_BOTH_TABLES 2

typedef struct host_addr {
    roce_addr addr;
    uint32_t host;
} host_addr;

typedef struct row {
    uint32_t host, lqpn, rqpn;
} row;

/* A stream into a known host, whose couple is to lead back to `rqpn`. */
typedef struct waiter {
    uint32_t stream, rqpn;
} waiter;

/* An end, and the newest couple that claimed it. */
typedef struct end {
    uint32_t point;
    roce_tenant tenant;
    roce_addr addr;
    uint32_t qpn;
    uint32_t in, out; /* stream ids; valid unless rank is 0 */
    uint8_t rank;     /* 0: nothing claims it */
    bool ambiguous;
} end;

/* An array with its index. */
typedef struct user_table {
    void *items;
    uint32_t capacity;
    roce_index index;
} user_table;

struct roce_user_tables {
    uint32_t n_hosts;
    user_table addrs;   /* host_addr */
    user_table rows;    /* row, by host and lqpn */
    user_table waiting; /* waiter, by the stream it waits for */
    user_table ends;    /* end */
};

/* Makes room for one more item, with everything still to be filled in; NULL for lack of
 * memory. */
static void *
add_item(roce_tracker *t, user_table *table, uint64_t hash, size_t size)
{
    uint32_t n = table->index.n;
    if (!roce_track_reserve(t, &table->items, &table->capacity, n, size) ||
        !roce_index_add(&table->index, &t->alloc, hash)) {
        return NULL;
    }
    return (uint8_t *)table->items + n * size;
}

static void
clear_table(roce_tracker *t, user_table *table)
{
    if (table->items != NULL) {
        t->alloc.release(t->alloc.ctx, table->items);
    }
    roce_index_clear(&table->index, &t->alloc);
}

/* ---- the tables ---- */

static uint32_t
host_of(const roce_user_tables *u, const roce_addr *addr)
{
    const host_addr *items = u->addrs.items;
    for (uint32_t i = roce_index_first(&u->addrs.index, roce_hash_addr(0, addr));
         i != ROCE_INDEX_END; i = roce_index_next(&u->addrs.index, i)) {
        if (roce_addr_equal(&items[i].addr, addr)) {
            return items[i].host;
        }
    }
    return NO_HOST;
}

static uint64_t
row_hash(uint32_t host, uint32_t lqpn)
{
    return roce_hash_mix(0, (uint64_t)host << 32 | lqpn);
}

/* The next row of a local QPN, from `i` on; ROCE_INDEX_END behind the last. */
static uint32_t
match_row(const roce_user_tables *u, uint32_t i, uint32_t host, uint32_t lqpn)
{
    const row *rows = u->rows.items;
    while (i != ROCE_INDEX_END && (rows[i].host != host || rows[i].lqpn != lqpn)) {
        i = roce_index_next(&u->rows.index, i);
    }
    return i;
}

static uint32_t
first_row(const roce_user_tables *u, uint32_t host, uint32_t lqpn)
{
    return match_row(u, roce_index_first(&u->rows.index, row_hash(host, lqpn)), host,
                     lqpn);
}

static uint32_t
next_row(const roce_user_tables *u, uint32_t i)
{
    const row *at = (const row *)u->rows.items + i;
    return match_row(u, roce_index_next(&u->rows.index, i), at->host, at->lqpn);
}

static uint32_t
rqpn_of(const roce_user_tables *u, uint32_t i)
{
    return ((const row *)u->rows.items)[i].rqpn;
}

static bool
has_row(const roce_user_tables *u, uint32_t host, uint32_t lqpn, uint32_t rqpn)
{
    uint32_t i = first_row(u, host, lqpn);
    while (i != ROCE_INDEX_END && rqpn_of(u, i) != rqpn) {
        i = next_row(u, i);
    }
    return i != ROCE_INDEX_END;
}

static int
add_row(roce_tracker *t, uint32_t host, uint32_t lqpn, uint32_t rqpn)
{
    roce_user_tables *u = t->user_tables;
    uint32_t n = 0;
    for (uint32_t i = first_row(u, host, lqpn); i != ROCE_INDEX_END;
         i = next_row(u, i)) {
        n++;
        if (rqpn_of(u, i) == rqpn) {
            return ROCE_OK;
        }
    }
    if (n == ROCE_MAX_PEERS_OF_QPN) {
        return ROCE_ERROR_INVALID;
    }
    row *added = add_item(t, &u->rows, row_hash(host, lqpn), sizeof *added);
    if (added == NULL) {
        return ROCE_ERROR_MEMORY;
    }
    *added = (row){.host = host, .lqpn = lqpn, .rqpn = rqpn};
    return ROCE_OK;
}

/* The host that has these addresses, all of which are known as its own then. */
static int
add_host(roce_tracker *t, const roce_addr *addrs, size_t n_addrs, uint32_t *host)
{
    roce_user_tables *u = t->user_tables;
    uint32_t found = NO_HOST;
    for (size_t i = 0; i < n_addrs; i++) {
        uint32_t one = host_of(u, &addrs[i]);
        if (one != NO_HOST && found != NO_HOST && one != found) {
            return ROCE_ERROR_INVALID;
        }
        found = one != NO_HOST ? one : found;
    }
    if (found == NO_HOST) {
        found = u->n_hosts++;
    }
    for (size_t i = 0; i < n_addrs; i++) {
        if (host_of(u, &addrs[i]) != NO_HOST) {
            continue;
        }
        host_addr *added =
            add_item(t, &u->addrs, roce_hash_addr(0, &addrs[i]), sizeof *added);
        if (added == NULL) {
            return ROCE_ERROR_MEMORY;
        }
        *added = (host_addr){.addr = addrs[i], .host = found};
    }
    *host = found;
    return ROCE_OK;
}

int
roce_tracker_add_queue_pair(roce_tracker *t, const roce_addr *addrs, size_t n_addrs,
                            uint32_t lqpn, uint32_t rqpn)
{
    if (n_addrs == 0) {
        return ROCE_ERROR_INVALID;
    }
    if (t->user_tables == NULL) {
        t->user_tables = roce_track_resize(t, NULL, sizeof *t->user_tables);
        if (t->user_tables == NULL) {
            return ROCE_ERROR_MEMORY;
        }
        *t->user_tables = (roce_user_tables){0};
    }
    uint32_t host;
    int result = add_host(t, addrs, n_addrs, &host);
    return result == ROCE_OK ? add_row(t, host, lqpn, rqpn) : result;
}

void
roce_user_clear(roce_tracker *t)
{
    roce_user_tables *u = t->user_tables;
    if (u == NULL) {
        return;
    }
    clear_table(t, &u->addrs);
    clear_table(t, &u->rows);
    clear_table(t, &u->waiting);
    clear_table(t, &u->ends);
    t->alloc.release(t->alloc.ctx, u);
    t->user_tables = NULL;
}

/* Whether the table of the host with `local` has `lqpn`, and not with this peer. */
static bool
end_denies(const roce_user_tables *u, const roce_addr *local, uint32_t lqpn,
           uint32_t rqpn)
{
    uint32_t host = host_of(u, local);
    return host != NO_HOST && first_row(u, host, lqpn) != ROCE_INDEX_END &&
           !has_row(u, host, lqpn, rqpn);
}

bool
roce_user_denies(const roce_tracker *t, const roce_stream_state *s,
                 const roce_stream_state *peer)
{
    const roce_user_tables *u = t->user_tables;
    return u != NULL &&
           (end_denies(u, &s->pub.dst, s->pub.dst_qpn, peer->pub.dst_qpn) ||
            end_denies(u, &s->pub.src, peer->pub.dst_qpn, s->pub.dst_qpn));
}

/* ---- couples ---- */

static uint64_t
end_hash(uint32_t point, const roce_addr *addr, uint32_t qpn)
{
    return roce_hash_addr(roce_hash_mix(0, (uint64_t)point << 32 | qpn), addr);
}

/* The end that a stream leads to; ROCE_INDEX_END for lack of memory. */
static uint32_t
end_of(roce_tracker *t, const roce_stream *s)
{
    user_table *ends = &t->user_tables->ends;
    uint64_t hash = end_hash(s->point, &s->dst, s->dst_qpn);
    for (uint32_t i = roce_index_first(&ends->index, hash); i != ROCE_INDEX_END;
         i = roce_index_next(&ends->index, i)) {
        const end *e = (const end *)ends->items + i;
        if (e->point == s->point && e->qpn == s->dst_qpn &&
            roce_tenant_equal(&e->tenant, &s->tenant) &&
            roce_addr_equal(&e->addr, &s->dst)) {
            return i;
        }
    }
    end *added = add_item(t, ends, hash, sizeof *added);
    if (added == NULL) {
        return ROCE_INDEX_END;
    }
    *added = (end){
        .point = s->point,
        .tenant = s->tenant,
        .addr = s->dst,
        .qpn = s->dst_qpn,
    };
    return ends->index.n - 1;
}

/* Another couple claims an end of this one: it is given up. */
static void
give_up(roce_tracker *t, const end *claimed, bool ambiguous, const roce_arrival *a)
{
    roce_stream_state *both[2] = {roce_state_at(t, claimed->in),
                                  roce_state_at(t, claimed->out)};
    if (both[0]->pub.paired_by == ROCE_PAIRING_USER &&
        both[0]->pub.peer == both[1]->pub.id) {
        roce_pair_undo(t, both[0], a);
    }
    for (unsigned i = 0; i < 2; i++) {
        uint32_t end_i = end_of(t, &both[i]->pub); /* exists: nothing is allocated */
        end *e = (end *)t->user_tables->ends.items + end_i;
        e->ambiguous = e->ambiguous || ambiguous; /* others may have claimed it, too */
        e->rank = e->ambiguous ? e->rank : 0;
    }
}

static bool
is_claimed_by(const end *e, const roce_stream_state *in, const roce_stream_state *out)
{
    return e->rank > 0 && e->in == in->pub.id && e->out == out->pub.id;
}

/* Two streams fit a row. */
static void
claim(roce_tracker *t, roce_stream_state *in, roce_stream_state *out, uint8_t rank,
      const roce_arrival *a)
{
    uint32_t in_i = end_of(t, &in->pub);
    uint32_t out_i = end_of(t, &out->pub);
    if (in == out || in_i == ROCE_INDEX_END || out_i == ROCE_INDEX_END) {
        return;
    }
    end *ends = t->user_tables->ends.items;
    end *ours[2] = {&ends[in_i], &ends[out_i]};
    if (is_claimed_by(ours[0], in, out)) {
        return; /* a row told of twice, or that both hosts have */
    }
    if (ours[0]->rank > rank || ours[1]->rank > rank) {
        return;
    }
    bool ambiguous = ours[0]->rank == rank || ours[1]->rank == rank;
    for (unsigned i = 0; i < 2; i++) {
        if (ours[i]->rank > 0) {
            give_up(t, ours[i], ambiguous, a);
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        ours[i]->in = i == 0 ? in->pub.id : out->pub.id;
        ours[i]->out = i == 0 ? out->pub.id : in->pub.id;
        ours[i]->rank = rank;
        ours[i]->ambiguous = ambiguous;
    }
    if (!ambiguous) {
        roce_pair_join(t, in, out, ROCE_PAIRING_USER, a);
    }
}

/* ---- streams ---- */

static bool
can_have_peer(roce_transport transport)
{
    return transport == ROCE_TRANSPORT_RC || transport == ROCE_TRANSPORT_UC ||
           transport == ROCE_TRANSPORT_XRC || transport == ROCE_TRANSPORT_CNP;
}

static uint64_t
wait_hash(uint32_t point, const roce_addr *from, const roce_addr *to, uint32_t qpn)
{
    return roce_hash_addr(end_hash(point, to, qpn), from);
}

/* `in`, opened by `a`, leads into a host whose table is known. */
static void
try_rows(roce_tracker *t, roce_stream_state *in, uint32_t host, uint32_t from_host,
         const roce_arrival *a)
{
    roce_user_tables *u = t->user_tables;
    const roce_stream *s = &in->pub;
    bool both = from_host != NO_HOST;
    for (uint32_t i = first_row(u, host, s->dst_qpn); i != ROCE_INDEX_END;
         i = next_row(u, i)) {
        uint32_t rqpn = rqpn_of(u, i);
        if (both && !has_row(u, from_host, rqpn, s->dst_qpn)) {
            continue;
        }
        roce_stream_state *out = roce_table_find(t, &(roce_stream_key){
                                                        .point = s->point,
                                                        .tenant = s->tenant,
                                                        .src = s->dst,
                                                        .dst = s->src,
                                                        .dst_qpn = rqpn,
                                                    });
        if (out != NULL && can_have_peer(out->pub.transport)) {
            claim(t, in, out, both ? RANK_BOTH_TABLES : RANK_ONE_TABLE, a);
        } else if (!both) {
            waiter *added =
                add_item(t, &u->waiting, wait_hash(s->point, &s->dst, &s->src, rqpn),
                         sizeof *added);
            if (added != NULL) {
                *added = (waiter){.stream = s->id, .rqpn = rqpn};
            }
        }
    }
}

/* `out` leads from a host whose table is known to one whose table is not. */
static void
try_waiting(roce_tracker *t, roce_stream_state *out, const roce_arrival *a)
{
    const roce_user_tables *u = t->user_tables;
    const roce_stream *s = &out->pub;
    uint64_t hash = wait_hash(s->point, &s->src, &s->dst, s->dst_qpn);
    for (uint32_t i = roce_index_first(&u->waiting.index, hash); i != ROCE_INDEX_END;
         i = roce_index_next(&u->waiting.index, i)) {
        const waiter *w = (const waiter *)u->waiting.items + i;
        roce_stream_state *in = roce_state_at(t, w->stream);
        if (w->rqpn == s->dst_qpn && in->pub.point == s->point &&
            roce_tenant_equal(&in->pub.tenant, &s->tenant) &&
            roce_addr_equal(&in->pub.src, &s->dst) &&
            roce_addr_equal(&in->pub.dst, &s->src)) {
            claim(t, in, out, RANK_ONE_TABLE, a);
        }
    }
}

void
roce_user_new_stream(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    const roce_user_tables *u = t->user_tables;
    if (u == NULL || !can_have_peer(s->pub.transport)) {
        return;
    }
    uint32_t to = host_of(u, &s->pub.dst);
    uint32_t from = host_of(u, &s->pub.src);
    if (to != NO_HOST) {
        try_rows(t, s, to, from, a);
    } else if (from != NO_HOST) {
        try_waiting(t, s, a);
    }
}
