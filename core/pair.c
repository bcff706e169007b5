/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which two streams are the directions of one queue pair.  In order of trust:
 *
 *   cm    a REQ and its REP on QP 1 name both QPNs (connection.c)
 *   user  the user names them (connection.c), or gives a host's table of queue pairs
 *         (pair_user.c)
 *   psn   an acknowledgement on one stream carries the PSN of a request that an
 *         unpaired stream of the other direction has just sent
 *
 * For the last, requests of unpaired streams are noted in a fixed table by (point,
 * addresses, PSN).  Two streams that note the same PSN make it ambiguous, and it pairs
 * nobody.  24 bits of PSN collide rarely, but applications that start every queue pair
 * at PSN 0 exist: their streams stay unpaired until their PSNs drift apart, or
 * source_port.c finds the one whose source ports agree.  Of such streams an acknowledgement
 * that comes soon after the beginning of a capture may be for a request of before, and
 * another one may have sent that PSN since: it pairs nobody either.
 *
 * A pairing by PSN is undone when acknowledgements contradict it, and none is made
 * against a table.  Of two queue pairs one may be made anew with another number while the other
 * side keeps its own, and PSNs are those of before: the stream of the one before is silent then,
 * and all of it was acknowledged, so that acknowledgements of what another stream has sent since
 * are about that one.  A table may be older or younger than the capture: where CM or
 * acknowledgements contradict it, its pairing stays as far as CM lets it, and the stream
 * says so.
 */
#include "fetch.h"
#include "track.h"

#include "roce/aeth.h"
#include "roce/hash.h"

#include <string.h>

#define NOTES 65536 /* a power of two */
#define BUCKET 4
#define TOO_MANY_CONTRADICTIONS 4
/* So long after the beginning of a capture nothing of before is acknowledged any more. */
#define BEGINNING_NS 5000000
/* What ports say is no proof: after so many PSNs that say otherwise it is no more. */
#define MOST_PORT_VETOES 8
/* Of what was sent under a pairing that is undone so much may still be answered. */
#define NOTED_AGAIN 1024

/* So long after all was acknowledged no acknowledgement of it is on its way any more; and so many
 * of what another one has sent are no accident. */
#define SILENT_NS 5000000
#define SUCCEEDED_AFTER 2

#define MANY UINT32_MAX

struct roce_pair_entry {
    uint64_t key;
    uint32_t stream; /* id + 1; 0: empty */
    uint32_t other;  /* likewise of another one: it is ambiguous; or MANY */
};

int
roce_pair_init(roce_tracker *t)
{
    t->pairs = roce_track_zeroed(t, NOTES * sizeof *t->pairs);
    return t->pairs == NULL ? ROCE_ERROR_MEMORY : ROCE_OK;
}

static uint64_t
way_hash(const roce_stream *s, const roce_addr *src, const roce_addr *dst)
{
    uint64_t hash = roce_hash_mix(roce_hash_tenant(0, &s->tenant), s->point);
    return roce_hash_addr(roce_hash_addr(hash, src), dst);
}

static uint64_t
note_key(uint64_t way, uint32_t psn24)
{
    return roce_hash_mix(way, psn24);
}

static bool
can_be_paired(const roce_stream_state *s)
{
    return roce_stream_is_reliable(&s->pub) && !roce_stream_is_paired(&s->pub);
}

/* A few places share a bucket, so that what makes a PSN ambiguous is not forgotten by
 * chance. */
static roce_pair_entry *
bucket_of(const roce_tracker *t, uint64_t key)
{
    return &t->pairs[key & (NOTES - 1) & ~(uint64_t)(BUCKET - 1)];
}

/* The note of a key, or the place for it. */
static roce_pair_entry *
place_of(const roce_tracker *t, uint64_t key)
{
    roce_pair_entry *bucket = bucket_of(t, key);
    for (unsigned i = 0; i < BUCKET; i++) {
        if (bucket[i].key == key || bucket[i].stream == 0) {
            return &bucket[i];
        }
    }
    return &bucket[key >> 32 & (BUCKET - 1)];
}

void
roce_pair_approach_note(const roce_tracker *t, uint64_t way, uint32_t psn24)
{
    roce_fetch(bucket_of(t, note_key(way, psn24)), sizeof(roce_pair_entry));
}

void
roce_pair_approach(const roce_tracker *t, const roce_stream_state *s,
                   const roce_packet *packet)
{
    if (s->way_hash != 0 && can_be_paired(s)) {
        roce_pair_approach_note(t, s->way_hash, packet->bth.psn24);
    }
}

uint64_t
roce_pair_way(roce_stream_state *s)
{
    if (!can_be_paired(s)) {
        return 0;
    }
    if (s->way_hash == 0) {
        s->way_hash = way_hash(&s->pub, &s->pub.src, &s->pub.dst);
    }
    return s->way_hash;
}

/* Whether a stream that has noted a PSN, id + 1, makes it ambiguous for another one. */
static bool
still_counts(const roce_tracker *t, uint32_t noted, uint32_t id)
{
    return noted == MANY || (noted != 0 && noted != id &&
                             !roce_stream_is_paired(&roce_state_at(t, noted - 1)->pub));
}

void
roce_pair_note(roce_tracker *t, uint64_t way, uint32_t stream, uint32_t psn24)
{
    uint64_t key = note_key(way, psn24);
    roce_pair_entry *note = place_of(t, key);
    uint32_t id = stream + 1;
    bool known = note->stream != 0 && note->key == key;
    if (known && note->other != 0 && (note->stream == id || note->other == id)) {
        return; /* it was ambiguous when this one was sent first */
    }
    uint32_t first = known && still_counts(t, note->stream, id) ? note->stream : 0;
    uint32_t second = known && still_counts(t, note->other, id) ? note->other : 0;
    uint32_t other = first != 0 && second != 0 ? MANY : first != 0 ? first : second;
    *note = (roce_pair_entry){.key = key, .stream = id, .other = other};
}

void
roce_pair_note_request(roce_tracker *t, roce_stream_state *s, uint32_t psn24)
{
    uint64_t way = roce_pair_way(s);
    if (way != 0) {
        roce_pair_note(t, way, s->pub.id, psn24);
    }
}

static void
emit_paired(roce_tracker *t, const roce_stream_state *s, const roce_arrival *a,
            roce_event_kind kind)
{
    roce_event e = roce_track_event(kind, s, a);
    e.count = s->pub.peer;
    e.detail = (uint8_t)s->pub.paired_by;
    roce_track_emit(t, &e);
}

/* What the other direction carried so far was about this one's requests and data. */
static void
receive(roce_tracker *t, roce_stream_state *s, const roce_stream_state *peer)
{
    const roce_stream_trouble *trouble = &roce_trouble_of(peer)->pub;
    uint64_t cnps = roce_congestion_of(peer)->pub.cnps_sent;
    if (s->pub.trouble != NULL || peer->pub.trouble != NULL) {
        memcpy(roce_trouble_make(t, s)->pub.naks_received, trouble->naks_sent,
               sizeof trouble->naks_sent);
    }
    if (s->pub.congestion != NULL || cnps > 0) {
        roce_congestion_make(t, s)->pub.cnps_received = cnps;
    }
}

/* One side of a new pair takes over what the other has carried so far. */
static void
adopt(roce_tracker *t, roce_stream_state *s, const roce_stream_state *peer,
      roce_pairing how)
{
    s->pub.peer = peer->pub.id;
    s->pub.paired_by = how;
    s->pub.src_qpn = peer->pub.dst_qpn;
    s->pub.has_src_qpn = true;
    s->contradictions = s->vetoes = 0;
    if (how == ROCE_PAIRING_USER) {
        s->pub.table_contradicted = false;
    }
    receive(t, s, peer);
    /* Responses are reckoned from the requests from here on. */
    roce_respond_adopt(t, s);
    if (s->answers != NULL) {
        s->answers->n_asked = 0;
    }
}

static void
pair(roce_tracker *t, roce_stream_state *s, roce_stream_state *peer, roce_pairing how,
     const roce_arrival *a)
{
    if (s == peer) {
        return;
    }
    adopt(t, s, peer, how);
    adopt(t, peer, s, how);
    s->pub.paired_ports_agree = peer->pub.paired_ports_agree =
        roce_source_port_agree(s, peer);
    s->pub.paired_as = peer->pub.paired_as = t->n_pairings++;
    roce_unheard_reconsider(t, s, a);
    roce_unheard_reconsider(t, peer, a);
    emit_paired(t, s, a, ROCE_EVENT_CONNECTED);
}

static void
forget_half(roce_tracker *t, roce_stream_state *s)
{
    roce_measure_forget(t, s);
    s->pub.peer = ROCE_NO_STREAM;
    s->pub.paired_by = ROCE_PAIRING_NONE;
    s->pub.has_src_qpn = false;
    s->contradictions = 0;
    if (s->heard != NULL) {
        s->heard->msn.known = false;
    }
    s->pub.pairing_evidence = 0;
    roce_stream_trouble *trouble = s->pub.trouble;
    if (trouble != NULL) {
        memset(trouble->naks_received, 0, sizeof trouble->naks_received);
    }
    if (s->pub.congestion != NULL) {
        roce_congestion *c = roce_congestion_make(t, s);
        c->pub.cnps_received = 0;
        c->complainer = 0;
    }
}

/* Requests of a stream are not noted while it is paired. */
static void
note_sent(roce_tracker *t, roce_stream_state *s)
{
    const roce_history *history = &s->requests.history;
    uint32_t from = history->n > NOTED_AGAIN ? history->n - NOTED_AGAIN : 0;
    for (uint32_t i = from; i < history->n; i++) {
        roce_pair_note_request(t, s, roce_psn_wrap(roce_history_at(history, i)->psn));
    }
}

void
roce_pair_undo(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_stream_state *peer = roce_track_peer(t, s);
    emit_paired(t, s, a, ROCE_EVENT_DISCONNECTED);
    forget_half(t, s);
    note_sent(t, s);
    if (peer != NULL) {
        forget_half(t, peer);
        note_sent(t, peer);
    }
}

void
roce_pair_confirm(roce_tracker *t, roce_stream_state *by, const roce_arrival *a,
                  bool agrees)
{
    if (agrees) {
        by->contradictions = 0;
        by->pub.pairing_evidence++;
    } else if (++by->contradictions >= TOO_MANY_CONTRADICTIONS) {
        if (by->pub.paired_by == ROCE_PAIRING_PSN) {
            roce_pair_undo(t, by, a);
        } else if (by->pub.paired_by == ROCE_PAIRING_USER) {
            by->pub.table_contradicted = true;
        }
    }
}

/* The PSN of a request that a response or an acknowledgement shows to have been sent. */
static uint32_t
answered_psn(const roce_packet *packet)
{
    uint8_t syndrome = packet->aeth_syndrome;
    uint32_t psn24 = packet->bth.psn24;
    if (roce_opcode_get(packet->bth.opcode)->role == ROCE_ROLE_ACK &&
        roce_aeth_get_kind(syndrome) == ROCE_AETH_NAK &&
        roce_aeth_get_value(syndrome) == ROCE_NAK_PSN_SEQUENCE) {
        return (psn24 - 1) & ROCE_PSN_MASK; /* it names what did not arrive */
    }
    return psn24;
}

/* The unpaired stream that has sent `psn24` the other way, if there is just one. */
static roce_stream_state *
noted(const roce_tracker *t, const roce_stream_state *by, uint32_t psn24)
{
    uint64_t key = note_key(way_hash(&by->pub, &by->pub.dst, &by->pub.src), psn24);
    const roce_pair_entry *note = place_of(t, key);
    if (note->stream == 0 || note->key != key || note->other != 0) {
        return NULL;
    }
    roce_stream_state *s = roce_state_at(t, note->stream - 1);
    return can_be_paired(s) ? s : NULL;
}

roce_stream_state *
roce_pair_foresee(const roce_tracker *t, const roce_stream_state *by,
                  const roce_packet *packet, bool *any)
{
    bool sure;
    *any = false;
    if (!can_be_paired(by)) {
        return roce_track_peer(t, by);
    }
    roce_stream_state *s = noted(t, by, answered_psn(packet));
    roce_stream_state *partner = roce_source_port_partner(t, by, &sure);
    *any = s != NULL && partner != NULL && s != partner;
    return partner != NULL ? partner : s;
}

/* Whether the point's capture had just begun. */
static bool
is_beginning(const roce_tracker *t, uint32_t point, const roce_arrival *a)
{
    return point < t->n_tallies && t->tallies[point].has_begun &&
           roce_since_ns(a->frame->time_ns, t->tallies[point].first_ns) < BEGINNING_NS;
}

/* Ports say that a stream, of which a PSN says that it is that of another one, is that of
 * `partner`.  Whether that counts. */
static bool
is_vetoed(roce_stream_state *s, const roce_stream_state *partner,
          const roce_stream_state *other, bool sure)
{
    if (partner == NULL || partner == other ||
        (!sure && s->port_vetoes == MOST_PORT_VETOES)) {
        return false;
    }
    if (s->port_vetoes < MOST_PORT_VETOES) {
        s->port_vetoes++;
    }
    return true;
}

/* Whether a packet can answer the request of `s` that has this PSN: of READ responses the
 * first alone has the PSN of its request, which is a READ, as far as it is remembered. */
static bool
may_answer(const roce_stream_state *s, const roce_arrival *a, uint32_t psn24)
{
    if (!roce_role_is_response_data(a->info->role)) {
        return true;
    }
    const roce_lane *lane = &s->requests;
    const roce_slot *slot =
        roce_history_find(&lane->history, roce_psn_expand(psn24, lane->max_next));
    return roce_part_starts(a->info->part) &&
           (slot == NULL || (slot->flags & ROCE_SLOT_WANTS_RESPONSE) != 0);
}

/* The stream that an acknowledgement or response of `psn24` is about, if that is plain. */
static roce_stream_state *
find_answered(roce_tracker *t, roce_stream_state *by, const roce_arrival *a,
              uint32_t psn24)
{
    bool sure;
    bool sure_of_s;
    roce_stream_state *partner = roce_source_port_partner(t, by, &sure);
    if (partner != NULL && !roce_source_port_may_be(partner, psn24)) {
        partner = NULL;
    }
    if (partner != NULL && sure) {
        return partner;
    }
    roce_stream_state *s = noted(t, by, psn24);
    if (s == NULL || !may_answer(s, a, psn24) || is_vetoed(by, partner, s, sure)) {
        return NULL;
    }
    const roce_stream_state *of_s = roce_source_port_partner(t, s, &sure_of_s);
    if (is_vetoed(s, of_s, by, sure_of_s) ||
        (s != partner && is_beginning(t, by->pub.point, a) &&
         roce_source_port_is_crowd(t, by, s, psn24))) {
        return NULL;
    }
    return s;
}

/* Whether nothing that a stream has sent can be answered any more. */
static bool
is_over(const roce_stream_state *s, uint64_t now_ns)
{
    const roce_lane *lane = &s->requests;
    bool all_acked = !lane->started || (s->acked && s->una == lane->max_next);
    return all_acked && now_ns > s->pub.last_time_ns + SILENT_NS;
}

/* The stream that has come in place of `s`, of which `by` was the other direction: it began when
 * that was over, and what `by` carries is about it.  NULL: none. */
static roce_stream_state *
find_successor(const roce_tracker *t, const roce_stream_state *s,
               const roce_stream_state *by, const roce_arrival *a)
{
    if (by->pub.paired_by != ROCE_PAIRING_PSN || !is_over(s, a->frame->time_ns)) {
        return NULL;
    }
    uint32_t psn24 = answered_psn(a->packet);
    roce_stream_state *next = noted(t, by, psn24);
    bool is_next = next != NULL && next->pub.first_time_ns > s->pub.last_time_ns &&
                   may_answer(next, a, psn24);
    return is_next ? next : NULL;
}

/* What `by` has carried so far was not about `next`, and what it has received stays. */
static void
count_apart(roce_tracker *t, roce_stream_state *next, roce_stream_state *by,
            const uint64_t naks[ROCE_N_NAKS], uint64_t cnps)
{
    if (next->pub.trouble != NULL || by->pub.trouble != NULL) {
        roce_stream_trouble *of_next = &roce_trouble_make(t, next)->pub;
        memset(of_next->naks_received, 0, sizeof of_next->naks_received);
        uint64_t *of_by = roce_trouble_make(t, by)->pub.naks_received;
        for (unsigned i = 0; i < ROCE_N_NAKS; i++) {
            of_by[i] += naks[i];
        }
    }
    if (next->pub.congestion != NULL) {
        roce_congestion_make(t, next)->pub.cnps_received = 0;
    }
    if (cnps > 0) {
        roce_congestion_make(t, by)->pub.cnps_received += cnps;
    }
}

/* `next` has come in place of `s` as the other direction of `by`, which keeps what was measured
 * of it. */
static void
succeed(roce_tracker *t, roce_stream_state *s, roce_stream_state *next,
        roce_stream_state *by, const roce_arrival *a)
{
    uint64_t naks[ROCE_N_NAKS];
    memcpy(naks, roce_stream_trouble_of(&by->pub)->naks_received, sizeof naks);
    uint64_t cnps = roce_congestion_of(by)->pub.cnps_received;
    emit_paired(t, by, a, ROCE_EVENT_DISCONNECTED);
    forget_half(t, s);
    by->pub.pairing_evidence = 0;
    if (by->heard != NULL) {
        by->heard->msn.known = false;
    }
    pair(t, next, by, ROCE_PAIRING_PSN, a);
    count_apart(t, next, by, naks, cnps);
}

static void
follow(roce_tracker *t, roce_stream_state *by, const roce_arrival *a)
{
    roce_stream_state *s = roce_track_peer(t, by);
    roce_stream_state *next = s != NULL ? find_successor(t, s, by, a) : NULL;
    by->vetoes = next != NULL ? by->vetoes + 1 : 0;
    if (by->vetoes >= SUCCEEDED_AFTER) {
        succeed(t, s, next, by, a);
    }
}

void
roce_pair_try(roce_tracker *t, roce_stream_state *by, const roce_arrival *a)
{
    if (!can_be_paired(by)) {
        follow(t, by, a);
        return;
    }
    uint32_t psn24 = answered_psn(a->packet);
    roce_stream_state *s = find_answered(t, by, a, psn24);
    if (s == NULL) {
        return;
    }
    if (!roce_user_denies(t, s, by)) {
        pair(t, s, by, ROCE_PAIRING_PSN, a);
        if (by->pub.space[ROCE_SPACE_RESPONSES].packets > 1) {
            roce_measure_untime(s, psn24);
        }
    } else if (++by->vetoes >= TOO_MANY_CONTRADICTIONS) {
        by->pub.table_contradicted = s->pub.table_contradicted = true;
    }
}

/* CM and the user say different things of a stream. */
static void
note_disagreement(const roce_tracker *t, roce_stream_state *s, roce_stream_state *peer,
                  roce_pairing how)
{
    roce_stream_state *both[2] = {s, peer};
    bool denied = how == ROCE_PAIRING_CM && roce_user_denies(t, s, peer);
    for (unsigned i = 0; i < 2; i++) {
        roce_pairing before = both[i]->pub.paired_by;
        if (denied || (before >= ROCE_PAIRING_USER && before != how)) {
            both[i]->pub.table_contradicted = true;
        }
    }
}

void
roce_pair_join(roce_tracker *t, roce_stream_state *s, roce_stream_state *peer,
               roce_pairing how, const roce_arrival *a)
{
    if (s->pub.peer == peer->pub.id && peer->pub.peer == s->pub.id) {
        if (how > s->pub.paired_by) {
            s->pub.paired_by = peer->pub.paired_by = how; /* the same, better known */
        }
        return;
    }
    note_disagreement(t, s, peer, how);
    if (s->pub.paired_by > how || peer->pub.paired_by > how) {
        return; /* of two connections the newer one holds */
    }
    if (roce_stream_is_paired(&s->pub)) {
        roce_pair_undo(t, s, a);
    }
    if (roce_stream_is_paired(&peer->pub)) {
        roce_pair_undo(t, peer, a);
    }
    pair(t, s, peer, how, a);
}

static void
note_beginning(roce_tracker *t, const roce_arrival *a)
{
    uint32_t point = a->frame->point;
    if (roce_misses_make_tally(t, point) && !t->tallies[point].has_begun) {
        t->tallies[point].has_begun = true;
        t->tallies[point].first_ns = a->frame->time_ns;
    }
}

void
roce_pair_new_stream(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    uint16_t port = a->packet->src_port;
    note_beginning(t, a);
    roce_source_port_dispute(t, s, port, a);
    if (roce_role_is_request(a->info->role) && is_beginning(t, s->pub.point, a)) {
        roce_source_port_crowd_in(t, s, a);
    }
    roce_source_port_note(t, s, port);
    if (!roce_connection_new_stream(t, s, a)) {
        roce_user_new_stream(t, s, a);
    }
}

void
roce_stream_ends(const roce_stream *s, roce_ends *ends)
{
    int order = roce_addr_compare(&s->src, &s->dst);
    bool swap = order > 0 || (order == 0 && s->src_qpn > s->dst_qpn);
    memset(ends, 0, sizeof *ends);
    ends->tenant.kind = s->tenant.kind;
    ends->tenant.id = s->tenant.kind != ROCE_TENANT_NONE ? s->tenant.id : 0;
    ends->addr[swap ? 1 : 0] = s->src;
    ends->addr[swap ? 0 : 1] = s->dst;
    ends->qpn[swap ? 1 : 0] = s->src_qpn;
    ends->qpn[swap ? 0 : 1] = s->dst_qpn;
}
