/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections whose two queue pairs are named: by CM, or one by one by the user.
 *
 * A REQ has the QPN of one side, and the REP to it that of the other (IBTA 12.9).  Both go by on
 * QP 1, each once or more, and at several points; from the REP on the connection's parameters
 * hold for its two streams, where it was seen.  QPNs that had been another connection's begin
 * anew then, and those that a DREQ has named, whatever else was captured.
 *
 * Limitations: beyond MAX_CONNECTIONS further ones are not known, and of many the newest alone
 * are looked through.
 */
#include "track.h"

#define MAX_CONNECTIONS 65536
#define CONNECTIONS_SEARCHED 4096 /* newest first */
#define MOST_POINTS 63            /* of which it is known whether they saw a reply */

uint32_t
roce_connection_pmtu_bytes(const roce_tracker *t, const roce_stream_state *s)
{
    uint32_t connection = s->pub.connection;
    return connection != ROCE_NO_STREAM ? t->connections[connection].path_mtu_bytes : 0;
}

/* Of points that saw a connection's reply; the last bit is that of all others. */
static uint64_t
point_bit(uint32_t point)
{
    return (uint64_t)1 << (point < MOST_POINTS ? point : MOST_POINTS);
}

bool
roce_connection_begins_before(const roce_tracker *t, const roce_stream_state *s,
                              uint32_t psn24, uint32_t *begins_with)
{
    if (s->pub.connection == ROCE_NO_STREAM) {
        return false;
    }
    const roce_connection *c = &t->connections[s->pub.connection];
    bool asked =
        roce_addr_equal(&c->addr[0], &s->pub.src) && c->qpn[0] == s->pub.src_qpn;
    unsigned side = asked ? 0 : 1;
    /* Each side names the PSN that it will receive first.  Who sends with the one that it
     * has named itself has understood it otherwise, and has begun. */
    *begins_with = c->starting_psn[1 - side];
    return c->known == 3 && psn24 != c->starting_psn[side] &&
           (c->replied_at & point_bit(s->pub.point)) != 0 && s->pub.point < MOST_POINTS;
}

/* A connection's parameters hold for both of its streams. */
static void
learn_from_cm(const roce_tracker *t, roce_stream_state *s)
{
    uint32_t pmtu_bytes = roce_connection_pmtu_bytes(t, s);
    if (s->pub.pmtu_bytes == 0 && pmtu_bytes != 0) {
        roce_span_learn_pmtu(s, pmtu_bytes);
    }
}

/* Two queue pairs that CM or the user named, where they were seen. */
typedef struct named_pair {
    uint32_t point;
    roce_tenant tenant;
    const roce_addr *addr; /* of both */
    const uint32_t *qpn;
} named_pair;

/* The stream that the side `from` sends, if it exists. */
static roce_stream_state *
find_named(const roce_tracker *t, const named_pair *named, unsigned from)
{
    return roce_table_find(t, &(roce_stream_key){
                                  .point = named->point,
                                  .tenant = named->tenant,
                                  .src = named->addr[from],
                                  .dst = named->addr[1 - from],
                                  .dst_qpn = named->qpn[1 - from],
                              });
}

/* Pairs two streams that CM or the user named, as far as they exist. */
static void
pair_named(roce_tracker *t, const named_pair *named, roce_pairing how,
           uint32_t connection, const roce_arrival *a)
{
    roce_stream_state *forward = find_named(t, named, 0);
    roce_stream_state *back = find_named(t, named, 1);
    roce_stream_state *both[2] = {forward, back};
    for (unsigned i = 0; i < 2; i++) {
        if (both[i] != NULL &&
            (how == ROCE_PAIRING_CM || both[i]->pub.connection == ROCE_NO_STREAM)) {
            both[i]->pub.connection = connection;
            both[i]->pub.src_qpn = named->qpn[i];
            both[i]->pub.has_src_qpn = true;
            learn_from_cm(t, both[i]);
        }
    }
    if (forward != NULL && back != NULL) {
        roce_pair_join(t, forward, back, how, a);
    }
}

static bool
names_stream(const roce_addr addr[2], const uint32_t qpn[2], const roce_stream *s)
{
    for (unsigned i = 0; i < 2; i++) {
        if (qpn[1 - i] == s->dst_qpn && roce_addr_equal(&addr[i], &s->src) &&
            roce_addr_equal(&addr[1 - i], &s->dst)) {
            return true;
        }
    }
    return false;
}

static void
pair_by_cm(roce_tracker *t, const roce_stream_state *s, const roce_arrival *a)
{
    uint32_t searched = 0;
    for (uint32_t i = t->n_connections; i-- > 0 && searched < CONNECTIONS_SEARCHED;
         searched++) {
        const roce_connection *c = &t->connections[i];
        if (c->known == 3 && roce_tenant_equal(&c->tenant, &s->pub.tenant) &&
            names_stream(c->addr, c->qpn, &s->pub)) {
            const named_pair named = {s->pub.point, s->pub.tenant, c->addr, c->qpn};
            pair_named(t, &named, ROCE_PAIRING_CM, i, a);
            return;
        }
    }
}

/* Whether the user names it. */
static bool
pair_by_user(roce_tracker *t, const roce_stream_state *s, const roce_arrival *a)
{
    for (uint32_t i = 0; i < t->n_user_pairs; i++) {
        const struct roce_user_pair *u = &t->user_pairs[i];
        if (names_stream(u->addr, u->qpn, &s->pub)) {
            const named_pair named = {s->pub.point, s->pub.tenant, u->addr, u->qpn};
            pair_named(t, &named, ROCE_PAIRING_USER, ROCE_NO_STREAM, a);
            return true;
        }
    }
    return false;
}

bool
roce_connection_new_stream(roce_tracker *t, const roce_stream_state *s,
                           const roce_arrival *a)
{
    pair_by_cm(t, s, a);
    return pair_by_user(t, s, a);
}

int
roce_tracker_add_pair(roce_tracker *t, const roce_addr *a, uint32_t qpn_a,
                      const roce_addr *b, uint32_t qpn_b)
{
    if (!roce_track_reserve(t, (void **)&t->user_pairs, &t->user_pairs_capacity,
                            t->n_user_pairs, sizeof *t->user_pairs)) {
        return ROCE_ERROR_MEMORY;
    }
    t->user_pairs[t->n_user_pairs++] = (struct roce_user_pair){
        .addr = {*a, *b},
        .qpn = {qpn_a, qpn_b},
    };
    return ROCE_OK;
}

/* ---- what CM says ---- */

/* The newest connection that a message belongs to: by the communication ID of its side
 * (0 active, 1 passive), which only that host of its tenant gives out. */
static roce_connection *
find_connection(roce_tracker *t, const roce_tenant *tenant, const roce_addr *addr,
                unsigned side, uint32_t comm_id)
{
    uint32_t searched = 0;
    for (uint32_t i = t->n_connections; i-- > 0 && searched < CONNECTIONS_SEARCHED;
         searched++) {
        roce_connection *c = &t->connections[i];
        if ((c->known & 1u << side) != 0 && c->comm_id[side] == comm_id &&
            roce_tenant_equal(&c->tenant, tenant) &&
            roce_addr_equal(&c->addr[side], addr)) {
            return c;
        }
    }
    return NULL;
}

/* Counts a REQ that is sent again: with a PSN of its own, which no copy that the network or a
 * mirror makes has.  What other points see of it is not counted twice. */
static void
take_repeat(roce_connection *c, const roce_arrival *a)
{
    uint32_t psn24 = a->packet->bth.psn24;
    if (a->frame->point == c->request_point && psn24 != c->request_psn24) {
        c->n_requests++;
        c->request_psn24 = psn24;
        c->latest_request_ns = a->frame->time_ns;
    }
}

static void
take_request(roce_tracker *t, const roce_arrival *a, const roce_cm_message *m)
{
    const roce_packet *p = a->packet;
    roce_connection *old = find_connection(t, &p->tenant, &p->src, 0, m->local_comm_id);
    if (old != NULL && old->qpn[0] == m->qpn && old->service_id == m->service_id) {
        take_repeat(old, a);
        return;
    }
    if (t->n_connections == MAX_CONNECTIONS) {
        roce_track_evicted(t, ROCE_TABLE_CONNECTIONS, NULL, a);
        return;
    }
    if (!roce_track_reserve(t, (void **)&t->connections, &t->connections_capacity,
                            t->n_connections, sizeof *t->connections)) {
        return;
    }
    t->connections[t->n_connections++] = (roce_connection){
        .tenant = p->tenant,
        .addr = {p->src, p->dst},
        .qpn = {m->qpn, 0},
        .starting_psn = {m->starting_psn, 0},
        .known = 1,
        .comm_id = {m->local_comm_id, 0},
        .service_id = m->service_id,
        .path_mtu_bytes = m->path_mtu_bytes,
        .retry_count = m->retry_count,
        .rnr_retry_count = m->rnr_retry_count,
        .ack_timeout = m->ack_timeout,
        .transport_type = m->transport_type,
        .request_time_ns = a->frame->time_ns,
        .latest_request_ns = a->frame->time_ns,
        .n_requests = 1,
        .request_point = a->frame->point,
        .request_psn24 = p->bth.psn24,
        .request_frame = a->frame->number,
    };
}

/* Streams of these QPNs that belong to an earlier connection begin anew. */
static void
bear(roce_tracker *t, uint32_t point, uint32_t connection)
{
    const roce_connection *c = &t->connections[connection];
    const named_pair named = {point, c->tenant, c->addr, c->qpn};
    for (unsigned i = 0; i < 2; i++) {
        roce_stream_state *s = find_named(t, &named, i);
        if (s != NULL && s->pub.connection != ROCE_NO_STREAM &&
            s->pub.connection != connection) {
            s->reborn = true;
        }
    }
}

static void
take_reply(roce_tracker *t, const roce_arrival *a, const roce_cm_message *m)
{
    const roce_packet *p = a->packet;
    roce_connection *c = find_connection(t, &p->tenant, &p->dst, 0, m->remote_comm_id);
    uint64_t bit = point_bit(a->frame->point);
    if (c == NULL || (c->replied_at & bit) != 0) {
        return;
    }
    c->replied_at |= bit;
    c->answered = true;
    if (c->known != 3) {
        c->known = 3;
        c->qpn[1] = m->qpn;
        c->comm_id[1] = m->local_comm_id;
        c->starting_psn[1] = m->starting_psn;
    }
    bear(t, a->frame->point, (uint32_t)(c - t->connections));
    const named_pair named = {a->frame->point, c->tenant, c->addr, c->qpn};
    pair_named(t, &named, ROCE_PAIRING_CM, (uint32_t)(c - t->connections), a);
}

/* The connection that RTU, REJ, DREQ or DREP speaks of, from either side. */
static roce_connection *
spoken_of(roce_tracker *t, const roce_packet *p, const roce_cm_message *m)
{
    roce_connection *c = find_connection(t, &p->tenant, &p->src, 0, m->local_comm_id);
    if (c == NULL) {
        c = find_connection(t, &p->tenant, &p->dst, 0, m->remote_comm_id);
    }
    if (c == NULL) {
        c = find_connection(t, &p->tenant, &p->src, 1, m->local_comm_id);
    }
    return c;
}

/* Either side may end what is being set up. */
static bool
is_from_active(const roce_connection *c, const roce_packet *p, const roce_cm_message *m)
{
    return c->comm_id[0] == m->local_comm_id && roce_addr_equal(&c->addr[0], &p->src);
}

/* A DREQ names the queue pair of the one who receives it (IBTA 12.6.10): what its sender had
 * to say there is said, and so are the answers. */
static void
end_named(roce_tracker *t, const roce_arrival *a, const roce_cm_message *m)
{
    const roce_packet *p = a->packet;
    roce_stream_state *s = roce_table_find(t, &(roce_stream_key){
                                                  .point = a->frame->point,
                                                  .tenant = p->tenant,
                                                  .src = p->src,
                                                  .dst = p->dst,
                                                  .dst_qpn = m->qpn,
                                              });
    if (s == NULL) {
        return;
    }
    roce_heard_make(t, s)->ended_ns = a->frame->time_ns;
    roce_stream_state *peer = roce_track_peer(t, s);
    if (peer != NULL) {
        roce_heard_make(t, peer)->ended_ns = a->frame->time_ns;
    }
}

static void
take_other(roce_tracker *t, const roce_arrival *a, const roce_cm_message *m)
{
    roce_connection *c = spoken_of(t, a->packet, m);
    uint64_t bit = point_bit(a->frame->point);
    if (m->kind == ROCE_CM_DREQ && (c == NULL || (c->ended_at & bit) == 0)) {
        end_named(t, a, m);
    }
    if (c == NULL) {
        return;
    }
    c->ended_at |= m->kind == ROCE_CM_DREQ || m->kind == ROCE_CM_DREP ? bit : 0;
    bool gives_up = m->kind == ROCE_CM_REJ && is_from_active(c, a->packet, m);
    c->answered |= !gives_up || m->remote_comm_id != 0;
    if (m->kind == ROCE_CM_RTU && !c->established) {
        c->established = true;
        c->ready_time_ns = a->frame->time_ns;
    } else if (m->kind == ROCE_CM_REJ) {
        c->rejected = true;
        c->given_up = gives_up;
        c->reject_reason = m->reject_reason;
    } else if (m->kind == ROCE_CM_DREQ || m->kind == ROCE_CM_DREP) {
        c->disconnected = true;
    }
}

void
roce_connection_cm(roce_tracker *t, const roce_arrival *a)
{
    roce_cm_message m;
    if (roce_cm_decode(a->frame->bytes, a->frame->captured_bytes, a->packet, &m) !=
        ROCE_DECODED) {
        return;
    }
    roce_event e = roce_track_event(ROCE_EVENT_CM, NULL, a);
    e.detail = (uint8_t)((unsigned)m.kind & 0xffu);
    roce_track_emit(t, &e);
    if (m.kind == ROCE_CM_REQ) {
        take_request(t, a, &m);
    } else if (m.kind == ROCE_CM_REP) {
        take_reply(t, a, &m);
    } else if (m.kind == ROCE_CM_SIDR_REP) {
        roce_refusal_take(t, a, &m);
    } else if (m.kind != ROCE_CM_SIDR_REQ) {
        take_other(t, a, &m);
    }
}
