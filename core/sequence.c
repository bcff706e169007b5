/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests in sequence: what each one is, and what became of the copies before it.
 *
 * A point on the path sees, of what the requester sends, all that was not lost before
 * the point.  Two cursors follow it:
 *
 *   next_tx      the PSN the requester would send next if nothing were lost.  A packet
 *                beyond it means that transmissions went unseen (lane.missing); a
 * packet before it is a copy of something, or a late original. accept_next  the
 * expected PSN of a responder that stood at this point.  Packets beyond it are
 * discarded by a go-back-N responder: they are neither delivered nor lost, and may be
 * sent again for that reason alone. ACKs and NAKs of the true responder correct it.
 *
 * Each request with unwrapped PSN x and span k is one of these:
 *
 *   1. x >= max_next: new.  Beyond max_next a gap opens: [max_next, x) joins `missing`.
 *   2. x was seen before, with the same wire identity: a duplicate made by the network.
 *   3. x was never seen and is in `missing`: a late original if its IPv4 identification
 *      is older than the newest seen; where identifications do not rise, if nobody had
 *      asked for it, or it came sooner than a round trip after the NAK.
 *   4. x was filled by a copy sent again, and this one is older: that was the late
 *      original, the verdict is withdrawn and the round was spurious.
 *   5. x was seen, and this copy is older than the newest: sent again and overtaken. It
 *      moves neither next_tx nor the round.
 *   6. anything else: sent again.
 *
 * Where the identification never changes (IPv6, some NICs) a repeated x cannot be told
 * from a network duplicate by itself: it is sent again if a NAK, an RNR NAK or a
 * timeout precedes it or if it runs on from the copy before it; else a duplicate of
 * unknown origin.
 *
 * Copies sent again form rounds.  A round goes on while copies run on from next_tx
 * below the round's end; a step back starts the next one.  Its cause: an unanswered NAK
 * at or before x; for READ and atomics without their response, the gap in the responses
 * (an implied NAK); the time since the newest copy of x; else unknown.
 *
 * Verdicts, each about one transmission:
 *
 *   missing, then sent again        lost_before_capture (asked_for if a NAK named it)
 *   missing, an ACK covers it       not_captured; nothing at all when an earlier copy
 *                                   had been seen: then the recovery is selective
 *   accepted here, then NAKed       undelivered_after_capture (acknowledge.c)
 *   accepted here, then a timeout   ack_lost if a covering ACK was seen a round trip
 *                                   earlier, else data_or_ack_lost, upgraded when the
 *                                   next ACK covers PSNs not yet sent again
 *   READ and atomics answered here  the response is judged (respond.c)
 *   missing to the end              unknown
 *
 * Limitations: packets are counted one per PSN where they never come again, so a lost
 * READ request that is never repeated counts by the responses that were seen; a whole
 * round that is lost before this point is invisible.
 */
#include "track.h"

#include <string.h>

#define RESTART_DISTANCE 65536 /* no queue pair has so much outstanding unseen */
#define LEAST_TIMEOUT_NS 100000u
#define EARLY_BASE ROCE_PSN_MODULUS /* room for PSNs before the first */

static roce_lane *
requests(roce_stream_state *s)
{
    return &s->lane[ROCE_SPACE_REQUESTS];
}

bool
roce_sequence_is_older(const roce_stream_state *s, uint16_t ident, uint16_t than)
{
    return roce_track_ident_mode(s) == ROCE_IDENT_RISING &&
           (uint16_t)(ident - than) >= 0x8000;
}

bool
roce_sequence_was_overtaken(const roce_stream_state *s, const roce_lane *lane,
                            const roce_arrival *a)
{
    return lane->ident_known &&
           roce_sequence_is_older(s, a->identity.ident, lane->newest_ident);
}

void
roce_sequence_follow_ident(roce_lane *lane, const roce_arrival *a)
{
    if (!lane->ident_known ||
        (uint16_t)(a->identity.ident - lane->newest_ident) < 0x8000) {
        lane->newest_ident = a->identity.ident;
        lane->ident_known = true;
    }
}

bool
roce_sequence_same_copy(const roce_stream_state *s, const roce_slot *slot,
                        const roce_identity *id)
{
    if (roce_track_ident_mode(s) == ROCE_IDENT_CONSTANT) {
        return false;
    }
    return (slot->first.check == id->check && slot->first.ident == id->ident) ||
           (slot->newest.check == id->check && slot->newest.ident == id->ident);
}

bool
roce_sequence_was_accepted(const roce_lane *lane, const roce_slot *slot)
{
    bool told_otherwise = slot->psn + slot->span > lane->discard_psn &&
                          slot->tx <= lane->discard_tx && lane->discard_tx > 0;
    return (slot->flags & ROCE_SLOT_IN_ORDER) != 0 && !told_otherwise;
}

void
roce_sequence_verdict(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                      roce_space space, roce_verdict verdict, roce_evidence evidence,
                      int64_t psn, uint64_t copies, uint64_t related)
{
    s->pub.losses[space][verdict] += copies;
    roce_event e = roce_track_event(ROCE_EVENT_LOSS, s, a);
    e.space = space;
    e.detail = (uint8_t)verdict;
    e.evidence = evidence;
    e.psn = psn;
    e.count = copies;
    e.related_frame = related;
    roce_track_emit(t, &e);
}

void
roce_sequence_withdraw(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                       roce_space space, roce_verdict verdict, int64_t psn)
{
    uint64_t *count = &s->pub.losses[space][verdict];
    if (*count == 0) {
        return;
    }
    (*count)--;
    roce_event e = roce_track_event(ROCE_EVENT_LOSS_WITHDRAWN, s, a);
    e.space = space;
    e.detail = (uint8_t)verdict;
    e.psn = psn;
    e.count = 1;
    roce_track_emit(t, &e);
}

/* The frame of a packet with a bad ICRC that may have been the copy of `psn`; 0 none.
 */
static uint64_t
bad_copy(const roce_stream_state *s, int64_t psn)
{
    for (unsigned i = 0; i < ROCE_RECENT_BAD; i++) {
        if (s->bad[i].frame != 0 && s->bad[i].psn24 == roce_psn_wrap(psn)) {
            return s->bad[i].frame;
        }
    }
    return 0;
}

/* Whether this point sees what the sender of the space sends before anything can be
 * lost: then what is missing was missed by the capture. */
static bool
at_sender(const roce_stream_state *s)
{
    return s->direction == ROCE_DIRECTION_OUT;
}

/* The verdict on transmissions that went unseen and of which `a` is a later copy. */
static roce_verdict
judge_missing(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
              roce_space space, const roce_missing_range *range)
{
    roce_evidence evidence =
        range->asked ? ROCE_EVIDENCE_ASKED_FOR : ROCE_EVIDENCE_RESENT_ONLY;
    roce_verdict verdict = ROCE_VERDICT_LOST_BEFORE_CAPTURE;
    uint64_t bad = bad_copy(s, a->psn);
    if (range->acked) {
        verdict = ROCE_VERDICT_NOT_CAPTURED;
        evidence = ROCE_EVIDENCE_ACKNOWLEDGED;
    } else if (bad != 0) {
        verdict = ROCE_VERDICT_CORRUPT;
        evidence = ROCE_EVIDENCE_BAD_ICRC;
    } else if (at_sender(s)) {
        verdict = ROCE_VERDICT_NOT_CAPTURED;
    }
    roce_sequence_verdict(t, s, a, space, verdict, evidence, a->psn, range->copies,
                          bad);
    return verdict;
}

uint32_t
roce_sequence_resolve(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                      roce_space space)
{
    roce_lane *lane = &s->lane[space];
    roce_missing_range all = {0};
    roce_missing_range part;
    while (
        roce_missing_take(&lane->missing, &t->alloc, a->psn, a->psn + a->span, &part)) {
        uint32_t copies = all.copies > part.copies ? all.copies : part.copies;
        bool asked = all.asked || part.asked;
        bool acked = all.copies == 0 ? part.acked : all.acked && part.acked;
        all = part;
        all.copies = copies;
        all.asked = asked;
        all.acked = acked;
    }
    if (all.copies == 0) {
        return 0;
    }
    roce_verdict verdict = judge_missing(t, s, a, space, &all);
    return verdict == ROCE_VERDICT_LOST_BEFORE_CAPTURE ? all.copies : 0;
}

bool
roce_sequence_unmiss(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                     roce_space space, roce_slot *slot)
{
    roce_missing *missing = &s->lane[space].missing;
    roce_missing_range part;
    if (roce_missing_take(missing, &t->alloc, a->psn, a->psn + a->span, &part)) {
        for (uint32_t i = 1; i < part.copies; i++) {
            (void)roce_missing_add(missing, &t->alloc, &part);
        }
        roce_sequence_trim(t, s, a, space);
        return false;
    }
    if (slot == NULL || slot->lost == 0) {
        return false;
    }
    slot->lost--;
    roce_sequence_withdraw(t, s, a, space, ROCE_VERDICT_LOST_BEFORE_CAPTURE, slot->psn);
    return true;
}

void
roce_sequence_note_lost(roce_slot *slot, uint32_t copies)
{
    if (slot != NULL) {
        uint32_t lost = slot->lost + copies;
        slot->lost = (uint8_t)(lost < UINT8_MAX ? lost : UINT8_MAX);
    }
}

/* Leftovers: never seen, never sent again. */
static void
judge_leftover(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
               roce_space space, const roce_missing_range *range)
{
    if (range->first_seen) {
        return; /* an earlier copy was seen and nobody asked any more */
    }
    uint64_t packets = (uint64_t)(range->end - range->start) * range->copies;
    roce_verdict verdict = ROCE_VERDICT_UNKNOWN;
    roce_evidence evidence = ROCE_EVIDENCE_CAPTURE_END;
    if (range->acked) {
        verdict = ROCE_VERDICT_NOT_CAPTURED;
        evidence = ROCE_EVIDENCE_ACKNOWLEDGED;
    } else if (s->pub.transport == ROCE_TRANSPORT_UC ||
               !roce_stream_is_paired(&s->pub)) {
        evidence = ROCE_EVIDENCE_NO_ACKNOWLEDGEMENTS;
    }
    roce_sequence_verdict(t, s, a, space, verdict, evidence, range->start, packets, 0);
}

void
roce_sequence_trim(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                   roce_space space)
{
    roce_missing_range range;
    while (roce_missing_trim(&s->lane[space].missing, &range)) {
        t->totals.evicted[ROCE_TABLE_MISSING]++;
        judge_leftover(t, s, a, space, &range);
    }
}

void
roce_sequence_miss(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                   roce_space space, int64_t start, int64_t end, bool first_seen)
{
    roce_lane *lane = &s->lane[space];
    roce_missing_range range = {
        .start = start,
        .end = end,
        .time_ns = a->frame->time_ns,
        .frame = a->frame->number,
        .first_seen = first_seen,
    };
    if (!roce_missing_add(&lane->missing, &t->alloc, &range)) {
        t->totals.evicted[ROCE_TABLE_MISSING]++;
    }
    if (space == ROCE_SPACE_REQUESTS && s->acked && s->una > start) {
        roce_missing_mark_range(&lane->missing, &t->alloc, start,
                                s->una < end ? s->una : end, ROCE_MISSING_ACKED);
    }
    roce_sequence_trim(t, s, a, space);
}

/* How long without news makes a copy a timeout's: as TCP reckons it (RFC 6298), from
 * the ACK latencies seen here; before the first, four of the assumed path delays. */
static uint64_t
timeout_floor_ns(const roce_tracker *t, const roce_stream_state *s)
{
    if (s->srtt_ns == 0) {
        return 4 * t->config.path_delay_ns;
    }
    uint64_t floor = s->srtt_ns + 4 * s->rttvar_ns;
    return floor > LEAST_TIMEOUT_NS ? floor : LEAST_TIMEOUT_NS;
}

static uint64_t
since(uint64_t now_ns, uint64_t then_ns)
{
    return now_ns > then_ns ? now_ns - then_ns : 0;
}

/* A NAK that no round has answered explains copies from there on.  When an ACK has
 * passed it since, what it asked for has come late; the requester may still answer it,
 * but not for long. */
static bool
nak_explains(const roce_tracker *t, const roce_stream_state *s, const roce_arrival *a)
{
    const roce_last_nak *nak = &s->nak;
    if ((nak->state != ROCE_NAK_SEQUENCE && nak->state != ROCE_NAK_RNR) ||
        nak->answered || a->psn < nak->oldest_psn) {
        return false;
    }
    bool obsolete = s->acked && s->una > nak->psn;
    uint64_t patience = timeout_floor_ns(t, s);
    if (patience < 4 * t->config.path_delay_ns) {
        patience = 4 * t->config.path_delay_ns;
    }
    return !obsolete || since(a->frame->time_ns, nak->time_ns) < patience;
}

static uint64_t
path_ns(const roce_tracker *t, const roce_stream_state *s)
{
    return s->path_ns != 0 ? s->path_ns : t->config.path_delay_ns;
}

/* Time since the newest transmission of `a`'s PSN, seen or missed. */
static uint64_t
age_of_copy(const roce_stream_state *s, const roce_arrival *a, const roce_slot *slot)
{
    const roce_lane *lane = &s->lane[ROCE_SPACE_REQUESTS];
    if (slot != NULL) {
        return since(a->frame->time_ns, slot->time_ns);
    }
    const roce_missing_range *range = roce_missing_find(&lane->missing, a->psn);
    return range != NULL ? since(a->frame->time_ns, range->time_ns) : 0;
}

/* The requester saw a later response than the one it asks for again. */
static bool
response_gap_explains(const roce_tracker *t, const roce_stream_state *s, int64_t psn)
{
    const roce_stream_state *peer = roce_track_peer(t, s);
    if (peer == NULL) {
        return false;
    }
    const roce_lane *responses = &peer->lane[ROCE_SPACE_RESPONSES];
    return (responses->started && responses->max_next > psn + 1) || s->una > psn + 1;
}

static roce_cause
find_cause(const roce_tracker *t, const roce_stream_state *s, const roce_arrival *a,
           const roce_slot *slot)
{
    if (nak_explains(t, s, a)) {
        return s->nak.state == ROCE_NAK_RNR ? ROCE_CAUSE_RNR : ROCE_CAUSE_NAK_SEQUENCE;
    }
    if (!roce_stream_is_paired(&s->pub)) {
        return ROCE_CAUSE_UNKNOWN; /* what the other side said cannot be known */
    }
    uint64_t floor = timeout_floor_ns(t, s);
    if (slot != NULL && (slot->flags & ROCE_SLOT_WANTS_RESPONSE) != 0) {
        const roce_stream_state *peer = roce_track_peer(t, s);
        uint64_t silence = since(a->frame->time_ns, peer->response_time_ns);
        bool gap = response_gap_explains(t, s, a->psn);
        if (gap && silence < 4 * t->config.path_delay_ns + floor) {
            return ROCE_CAUSE_READ_REISSUE;
        }
    }
    return age_of_copy(s, a, slot) >= floor ? ROCE_CAUSE_TIMEOUT : ROCE_CAUSE_UNKNOWN;
}

static void
mark_spurious(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    if (s->round.spurious || s->pub.retransmissions.rounds == 0) {
        return;
    }
    s->round.spurious = true;
    s->pub.retransmissions.spurious_rounds++;
    roce_event e = roce_track_event(ROCE_EVENT_SPURIOUS_ROUND, s, a);
    e.psn = s->round.start;
    e.related_frame = s->round.frame;
    roce_track_emit(t, &e);
}

/* The round answers the NAK: what that tells of the path and of the requester. */
static void
answer_nak(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_last_nak *nak = &s->nak;
    uint64_t taken = since(a->frame->time_ns, nak->time_ns);
    int64_t asked = nak->oldest_psn;
    nak->answered = a->psn >= nak->psn; /* else only an older NAK is */
    nak->oldest_psn = nak->psn;
    if (nak->state == ROCE_NAK_RNR) {
        bool kept = taken >= nak->wait_ns;
        s->pub.rnr_waits_kept += kept ? 1 : 0;
        s->pub.rnr_waits_broken += kept ? 0 : 1;
        roce_event e = roce_track_event(ROCE_EVENT_RNR_WAIT, s, a);
        e.psn = nak->psn;
        e.related_frame = nak->frame;
        e.duration_ns = taken;
        e.count = kept ? 1 : 0;
        roce_track_emit(t, &e);
    } else {
        if (taken > 0 && (s->path_ns == 0 || taken < s->path_ns)) {
            s->path_ns = taken;
        }
        if (s->n_reactions == 0 || taken < s->least_reaction_ns) {
            s->least_reaction_ns = taken;
        }
        s->n_reactions++;
    }
    if (nak->answered && a->psn > asked) {
        /* The round began with what was asked for; those copies went unseen. */
        int64_t from = nak->psn > s->una ? nak->psn : s->una;
        roce_sequence_miss(t, s, a, ROCE_SPACE_REQUESTS, from, a->psn, false);
    }
}

static void
start_round(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
            const roce_slot *slot)
{
    roce_lane *lane = requests(s);
    roce_cause cause = find_cause(t, s, a, slot);
    bool by_nak = cause == ROCE_CAUSE_NAK_SEQUENCE || cause == ROCE_CAUSE_RNR;
    s->round = (roce_round){
        .active = true,
        .cause = cause,
        .start = a->psn,
        .end = lane->max_next,
        .frame = a->frame->number,
        .first_tx = lane->tx + 1,
        .run_next = a->psn + a->span,
    };
    s->pub.retransmissions.rounds++;
    s->pub.retransmissions.by_cause[cause]++;
    roce_event e = roce_track_event(ROCE_EVENT_ROUND, s, a);
    e.psn = a->psn;
    e.detail = (uint8_t)cause;
    e.related_frame = by_nak ? s->nak.frame : 0;
    e.duration_ns = age_of_copy(s, a, slot);
    roce_track_emit(t, &e);
    if (by_nak) {
        bool was_late = s->nak.was_late;
        answer_nak(t, s, a);
        if (was_late) {
            mark_spurious(t, s, a);
        }
    }
}

/* Learns whether the requester goes back by the second packet of a round. */
static void
vote_on_recovery(roce_stream_state *s, const roce_arrival *a)
{
    roce_round *round = &s->round;
    if (round->voted || round->cause != ROCE_CAUSE_NAK_SEQUENCE ||
        round->run_next >= round->end) {
        return;
    }
    round->voted = true;
    if (a->psn == round->run_next) {
        s->votes_go_back++;
    }
}

/* A copy of something accepted here, repeated by a timeout. */
static void
judge_timeout(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
              roce_slot *slot)
{
    uint64_t acked_ns = roce_acknowledge_time(s, slot->psn);
    if (acked_ns != 0) {
        if (since(a->frame->time_ns, acked_ns) > path_ns(t, s)) {
            roce_sequence_verdict(t, s, a, ROCE_SPACE_REQUESTS, ROCE_VERDICT_ACK_LOST,
                                  ROCE_EVIDENCE_ACK_SEEN, a->psn, 1, slot->frame);
        }
        return;
    }
    if (!roce_sequence_was_accepted(requests(s), slot)) {
        return; /* discarded beyond the expected PSN: sent again for that alone */
    }
    slot->flags |= ROCE_SLOT_DOUBTED;
    roce_sequence_verdict(t, s, a, ROCE_SPACE_REQUESTS, ROCE_VERDICT_DATA_OR_ACK_LOST,
                          ROCE_EVIDENCE_NO_ACK_SEEN, a->psn, 1, slot->frame);
}

/* The newest copy of `slot` was seen here, and now it is sent again. */
static void
judge_copy(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
           roce_slot *slot, bool opens_round)
{
    roce_cause cause = s->round.cause;
    roce_stream_state *peer = roce_track_peer(t, s);
    if ((slot->flags & ROCE_SLOT_WANTS_RESPONSE) != 0 && peer != NULL &&
        (cause == ROCE_CAUSE_TIMEOUT || cause == ROCE_CAUSE_READ_REISSUE) &&
        roce_respond_asked_again(t, peer, a, slot, opens_round)) {
        return;
    }
    if (cause == ROCE_CAUSE_TIMEOUT) {
        judge_timeout(t, s, a, slot);
    } else if (cause == ROCE_CAUSE_UNKNOWN && opens_round) {
        if (!roce_stream_is_paired(&s->pub)) {
            roce_sequence_verdict(t, s, a, ROCE_SPACE_REQUESTS, ROCE_VERDICT_UNKNOWN,
                                  ROCE_EVIDENCE_NO_ACKNOWLEDGEMENTS, a->psn, 1,
                                  slot->frame);
        } else if (roce_sequence_was_accepted(requests(s), slot) &&
                   slot->psn >= s->una) {
            roce_sequence_verdict(t, s, a, ROCE_SPACE_REQUESTS,
                                  ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE,
                                  ROCE_EVIDENCE_RESENT_ONLY, a->psn, 1, slot->frame);
        }
    }
}

static uint32_t
saturate32(uint64_t n)
{
    return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

/* Bytes of the message that this request brings or asks for. */
static uint64_t
request_bytes(const roce_arrival *a)
{
    switch (a->info->role) {
    case ROCE_ROLE_READ_REQUEST:
        return a->packet->reth.length_bytes;
    case ROCE_ROLE_ATOMIC:
    case ROCE_ROLE_ATOMIC_WRITE:
        return 8;
    case ROCE_ROLE_SEND:
    case ROCE_ROLE_WRITE:
        return a->packet->payload_bytes;
    case ROCE_ROLE_UNKNOWN:
    case ROCE_ROLE_READ_RESPONSE:
    case ROCE_ROLE_ACK:
    case ROCE_ROLE_ATOMIC_ACK:
    case ROCE_ROLE_FLUSH:
    case ROCE_ROLE_RESYNC:
    case ROCE_ROLE_CNP:
        break;
    }
    return 0;
}

/* A PSN that had not been seen here: its entry, and its part in a message. */
static roce_slot *
new_entry(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_lane *lane = requests(s);
    int64_t keep_from = s->acked ? s->una : lane->first;
    s->pub.space[ROCE_SPACE_REQUESTS].unique_psns++;
    s->pub.message_bytes += request_bytes(a);
    bool ends = a->info->part == ROCE_PART_LAST || a->info->part == ROCE_PART_ONLY;
    s->pub.messages_completed += ends ? 1 : 0;
    roce_slot *slot = roce_history_insert(&lane->history, &t->alloc, a->psn, keep_from,
                                          t->config.max_history_packets,
                                          &t->totals.evicted[ROCE_TABLE_HISTORY]);
    if (slot == NULL) {
        return NULL;
    }
    slot->span = a->span;
    slot->first = a->identity;
    slot->first_frame = a->frame->number;
    slot->message_bytes = saturate32(request_bytes(a));
    if (ends) {
        slot->flags |= ROCE_SLOT_MESSAGE_END;
    }
    if (roce_role_wants_response(a->info->role)) {
        slot->flags |= ROCE_SLOT_WANTS_RESPONSE;
    }
    return slot;
}

/* A responder at this point would send a NAK now: once per PSN that it waits for. */
static void
note_violation(roce_stream_state *s, const roce_arrival *a)
{
    int64_t expected = requests(s)->accept_next;
    unsigned at = s->violation;
    if (s->violations[at].frame != 0 && s->violations[at].expected == expected) {
        return;
    }
    at = (at + 1) % ROCE_VIOLATIONS;
    s->violations[at].expected = expected;
    s->violations[at].frame = a->frame->number;
    s->violations[at].answered = false;
    s->violation = (uint8_t)at;
}

/* A transmission takes its place: entry, acceptor, top. */
static void
place(roce_stream_state *s, const roce_arrival *a, roce_slot *slot)
{
    roce_lane *lane = requests(s);
    int64_t end = a->psn + a->span;
    bool in_order = a->psn <= lane->accept_next;
    lane->tx++;
    if (slot != NULL) {
        slot->newest = a->identity;
        slot->time_ns = a->frame->time_ns;
        slot->frame = a->frame->number;
        slot->tx = lane->tx;
        slot->skipped = (uint32_t)(a->psn - slot->psn);
        slot->copies =
            slot->copies < UINT8_MAX ? (uint8_t)(slot->copies + 1) : UINT8_MAX;
        uint8_t drop = ROCE_SLOT_IN_ORDER | ROCE_SLOT_REFUSED | ROCE_SLOT_JUDGED;
        slot->flags = (uint8_t)(slot->flags & ~drop);
        slot->flags = (uint8_t)(slot->flags | (in_order ? ROCE_SLOT_IN_ORDER : 0));
    }
    if (in_order && end > lane->accept_next) {
        lane->accept_next = end;
    } else if (!in_order) {
        note_violation(s, a);
    }
    roce_sequence_follow_ident(lane, a);
    if (end > lane->max_next) {
        lane->max_next = end;
        lane->top_ident = a->identity.ident;
        lane->top_frame = a->frame->number;
    }
}

static void
count_retransmission(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                     uint64_t earlier)
{
    roce_retransmission_counters *r = &s->pub.retransmissions;
    r->packets++;
    r->bytes += a->packet->payload_bytes;
    s->pub.space[ROCE_SPACE_REQUESTS].resent++;
    roce_event e = roce_track_event(ROCE_EVENT_RETRANSMISSION, s, a);
    e.psn = a->psn;
    e.detail = (uint8_t)s->round.cause;
    e.related_frame = earlier;
    roce_track_emit(t, &e);
    if (a->info->role == ROCE_ROLE_READ_REQUEST) {
        r->requested_bytes += a->packet->reth.length_bytes;
        e.kind = ROCE_EVENT_READ_REISSUE;
        e.count = a->packet->reth.length_bytes;
        roce_track_emit(t, &e);
    }
}

/* The copy runs on in the newest round: what it skips went unseen, unless an ACK has
 * told the requester that it need not send it. */
static void
continue_round(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_lane *lane = requests(s);
    vote_on_recovery(s, a);
    int64_t from = s->acked && s->una > lane->next_tx ? s->una : lane->next_tx;
    if (a->psn > from && s->pub.recovery != ROCE_RECOVERY_SELECTIVE) {
        roce_sequence_miss(t, s, a, ROCE_SPACE_REQUESTS, from, a->psn, true);
    }
}

/* Sent again.  `slot` is the entry of an earlier copy, or NULL. */
static void
sent_again(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
           roce_slot *slot)
{
    roce_lane *lane = requests(s);
    bool runs_on =
        s->round.active && a->psn >= lane->next_tx && a->psn < lane->max_next;
    if (runs_on) {
        continue_round(t, s, a);
    } else {
        start_round(t, s, a, slot);
    }
    uint64_t earlier = slot != NULL ? slot->frame : 0;
    if (slot != NULL) {
        judge_copy(t, s, a, slot, !runs_on);
        s->pub.space[ROCE_SPACE_REQUESTS].capture_repeats++;
    }
    uint32_t lost = roce_sequence_resolve(t, s, a, ROCE_SPACE_REQUESTS);
    if (slot == NULL) {
        slot = new_entry(t, s, a);
        if (slot != NULL) {
            slot->flags |= ROCE_SLOT_FILLED_AGAIN;
        }
    }
    roce_sequence_note_lost(slot, lost);
    count_retransmission(t, s, a, earlier);
    lane->next_tx = a->psn + a->span;
    place(s, a, slot);
}

static void
report_late(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
            roce_evidence evidence)
{
    s->pub.space[ROCE_SPACE_REQUESTS].reordered++;
    roce_event e = roce_track_event(ROCE_EVENT_LATE, s, a);
    e.psn = a->psn;
    e.evidence = evidence;
    e.related_frame = requests(s)->top_frame;
    roce_track_emit(t, &e);
}

/* A copy that was sent again and overtaken on the way. */
static void
copy_arrived_late(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                  roce_slot *slot)
{
    uint64_t earlier = slot->frame;
    s->pub.space[ROCE_SPACE_REQUESTS].capture_repeats++;
    (void)roce_sequence_unmiss(t, s, a, ROCE_SPACE_REQUESTS, slot);
    count_retransmission(t, s, a, earlier);
    place(s, a, slot);
}

/* An original that was overtaken fills its place in a gap. */
static void
arrived_late(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
             roce_evidence evidence)
{
    report_late(t, s, a, evidence);
    (void)roce_sequence_unmiss(t, s, a, ROCE_SPACE_REQUESTS, NULL);
    if (s->nak.state == ROCE_NAK_SEQUENCE && s->nak.psn >= a->psn &&
        s->nak.psn < a->psn + a->span) {
        s->nak.was_late = true;
        if (s->nak.answered) {
            mark_spurious(t, s, a);
        }
    }
    place(s, a, new_entry(t, s, a));
}

/* The original comes after the copy that was sent again: what was said is withdrawn. */
static void
overtaken_by_copy(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                  roce_slot *slot)
{
    slot->flags = (uint8_t)(slot->flags & ~ROCE_SLOT_FILLED_AGAIN);
    if (roce_sequence_unmiss(t, s, a, ROCE_SPACE_REQUESTS, slot) &&
        slot->psn >= s->round.start && slot->psn < s->round.end) {
        mark_spurious(t, s, a);
    }
    slot->first = a->identity;
    s->pub.space[ROCE_SPACE_REQUESTS].capture_repeats++;
    report_late(t, s, a, ROCE_EVIDENCE_IDENTIFICATION);
}

static void
duplicated(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
           roce_slot *slot)
{
    s->pub.space[ROCE_SPACE_REQUESTS].duplicates++;
    s->pub.space[ROCE_SPACE_REQUESTS].capture_repeats++;
    roce_event e = roce_track_event(ROCE_EVENT_DUPLICATE, s, a);
    e.psn = a->psn;
    e.related_frame = slot->frame;
    roce_track_emit(t, &e);
}

/* The one packet that filled a gap was no copy but late: now its range comes once more,
 * and nobody had asked again (number of copies). */
static bool
fill_was_late(const roce_stream_state *s, const roce_arrival *a, const roce_slot *slot)
{
    return (slot->flags & ROCE_SLOT_FILLED_AGAIN) != 0 && s->nak.answered &&
           s->nak.psn == a->psn && slot->tx == s->round.first_tx && slot->copies == 1;
}

static void
reinterpret_fill(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                 roce_slot *slot)
{
    slot->flags = (uint8_t)(slot->flags & ~ROCE_SLOT_FILLED_AGAIN);
    (void)roce_sequence_unmiss(t, s, a, ROCE_SPACE_REQUESTS, slot);
    roce_retransmission_counters *r = &s->pub.retransmissions;
    r->packets--;
    r->bytes -= slot->message_bytes < r->bytes ? slot->message_bytes : r->bytes;
    s->pub.space[ROCE_SPACE_REQUESTS].resent--;
    report_late(t, s, a, ROCE_EVIDENCE_COPIES);
    s->round.active = true; /* it is this packet that opens the round */
    s->round.end = requests(s)->max_next;
    requests(s)->next_tx = a->psn;
    mark_spurious(t, s, a);
}

/* Seen before, and the identification cannot tell: see the comment on top. */
static void
repeated_without_ident(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                       roce_slot *slot)
{
    roce_lane *lane = requests(s);
    if (fill_was_late(s, a, slot)) {
        reinterpret_fill(t, s, a, slot);
        sent_again(t, s, a, slot);
        return;
    }
    bool runs_on = s->round.active && a->psn == lane->next_tx && a->psn < s->round.end;
    bool reissue = a->info->role == ROCE_ROLE_READ_REQUEST && a->psn > slot->psn;
    bool explained =
        nak_explains(t, s, a) || find_cause(t, s, a, slot) != ROCE_CAUSE_UNKNOWN;
    if (runs_on || explained || reissue) {
        sent_again(t, s, a, slot);
        return;
    }
    if (s->tentative_next == a->psn) {
        roce_slot *before = roce_history_find(&lane->history, s->tentative_start);
        s->tentative_next = ROCE_NO_PSN;
        s->pub.space[ROCE_SPACE_REQUESTS].duplicates--;
        s->pub.space[ROCE_SPACE_REQUESTS].resent++;
        s->pub.retransmissions.packets++;
        s->pub.retransmissions.bytes += before != NULL ? before->message_bytes : 0;
        sent_again(t, s, a, slot);
        return;
    }
    s->tentative_start = a->psn;
    s->tentative_next = a->psn + a->span;
    duplicated(t, s, a, slot);
}

/* Whether a PSN that was missing came late, or again; and by what. */
static bool
is_late(const roce_tracker *t, const roce_stream_state *s, const roce_arrival *a,
        const roce_missing_range *range, roce_evidence *evidence)
{
    const roce_lane *lane = &s->lane[ROCE_SPACE_REQUESTS];
    if (roce_track_ident_mode(s) == ROCE_IDENT_RISING) {
        *evidence = ROCE_EVIDENCE_IDENTIFICATION;
        return roce_sequence_was_overtaken(s, lane, a);
    }
    *evidence = ROCE_EVIDENCE_TIME;
    if (s->round.active && a->psn == lane->next_tx) {
        return false;
    }
    if (nak_explains(t, s, a)) {
        return s->path_ns != 0 && since(a->frame->time_ns, s->nak.time_ns) < s->path_ns;
    }
    return since(a->frame->time_ns, range->time_ns) < timeout_floor_ns(t, s);
}

/* Rules 2 to 6. */
static void
behind(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_lane *lane = requests(s);
    roce_slot *slot = roce_history_find(&lane->history, a->psn);
    if (slot == NULL) {
        const roce_missing_range *range = roce_missing_find(&lane->missing, a->psn);
        roce_evidence evidence;
        if (range != NULL && is_late(t, s, a, range, &evidence)) {
            arrived_late(t, s, a, evidence);
        } else {
            sent_again(t, s, a, NULL);
        }
    } else if (roce_sequence_same_copy(s, slot, &a->identity)) {
        duplicated(t, s, a, slot);
    } else if (roce_sequence_is_older(s, a->identity.ident, slot->first.ident)) {
        overtaken_by_copy(t, s, a, slot);
    } else if (roce_sequence_was_overtaken(s, lane, a)) {
        copy_arrived_late(t, s, a, slot);
    } else if (roce_track_ident_mode(s) == ROCE_IDENT_CONSTANT) {
        repeated_without_ident(t, s, a, slot);
    } else {
        sent_again(t, s, a, slot);
    }
}

static void
open_gap(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_lane *lane = requests(s);
    uint64_t count = (uint64_t)(a->psn - lane->max_next);
    s->pub.space[ROCE_SPACE_REQUESTS].gaps++;
    s->pub.space[ROCE_SPACE_REQUESTS].missing_psns += count;
    roce_event e = roce_track_event(ROCE_EVENT_GAP, s, a);
    e.psn = lane->max_next;
    e.count = count;
    e.related_frame = lane->top_frame;
    roce_track_emit(t, &e);
    roce_sequence_miss(t, s, a, ROCE_SPACE_REQUESTS, lane->max_next, a->psn, false);
}

/* Rule 1. */
static void
ahead(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_lane *lane = requests(s);
    if (roce_sequence_was_overtaken(s, lane, a)) {
        /* New here, but copies sent after it came before it: the round goes on. */
        if (a->psn > lane->max_next) {
            open_gap(t, s, a);
        }
        place(s, a, new_entry(t, s, a));
        return;
    }
    bool lone = s->round.active && s->round.first_tx == lane->tx &&
                roce_track_ident_mode(s) != ROCE_IDENT_RISING;
    if (s->round.active && lane->next_tx < lane->max_next && !lone) {
        /* The round should have gone on to its end. */
        int64_t from = s->acked && s->una > lane->next_tx ? s->una : lane->next_tx;
        if (s->pub.recovery != ROCE_RECOVERY_SELECTIVE && from < lane->max_next) {
            roce_sequence_miss(t, s, a, ROCE_SPACE_REQUESTS, from, lane->max_next,
                               true);
        }
    }
    s->round.active = false;
    if (a->psn > lane->max_next) {
        open_gap(t, s, a);
    }
    lane->next_tx = a->psn + a->span;
    place(s, a, new_entry(t, s, a));
}

static void
start_lane(roce_tracker *t, roce_stream_state *s, roce_arrival *a)
{
    roce_lane *lane = requests(s);
    a->psn = (int64_t)a->packet->bth.psn24 + EARLY_BASE;
    lane->started = true;
    lane->first = lane->next_tx = lane->max_next = lane->accept_next = a->psn;
    s->una = a->psn;
    s->acked = false;
    s->tentative_next = ROCE_NO_PSN;
    memset(s->violations, 0, sizeof s->violations);
    ahead(t, s, a);
}

/* The QPN was given to another queue pair: nothing of before holds. */
static void
restart(roce_tracker *t, roce_stream_state *s, roce_arrival *a)
{
    roce_stream_state *peer = roce_track_peer(t, s);
    roce_sequence_finish(t, s);
    if (peer != NULL) {
        roce_respond_finish(t, peer);
        roce_lane *responses = &peer->lane[ROCE_SPACE_RESPONSES];
        roce_history_clear(&responses->history, &t->alloc);
        roce_missing_clear(&responses->missing, &t->alloc);
        *responses = (roce_lane){0};
    }
    roce_lane *lane = requests(s);
    roce_history_clear(&lane->history, &t->alloc);
    roce_missing_clear(&lane->missing, &t->alloc);
    *lane = (roce_lane){0};
    s->nak = (roce_last_nak){0};
    s->round = (roce_round){0};
    memset(s->ack_steps, 0, sizeof s->ack_steps);
    s->pub.restarts++;
    start_lane(t, s, a);
    roce_event e = roce_track_event(ROCE_EVENT_STREAM_RESTART, s, a);
    e.psn = a->psn;
    roce_track_emit(t, &e);
}

/* Gives the newest READ its length, now that it is known. */
static void
settle_span(roce_stream_state *s, roce_slot *slot, int64_t end)
{
    roce_lane *lane = requests(s);
    int64_t before = slot->psn + slot->span;
    slot->span = (uint32_t)(end - slot->psn);
    lane->next_tx = lane->next_tx == before ? end : lane->next_tx;
    lane->max_next = lane->max_next == before ? end : lane->max_next;
    lane->accept_next = lane->accept_next == before ? end : lane->accept_next;
    lane->span_unknown = false;
}

void
roce_sequence_learn_pmtu(roce_stream_state *s, uint32_t pmtu_bytes)
{
    roce_lane *lane = requests(s);
    s->pub.pmtu_bytes = pmtu_bytes;
    if (!lane->span_unknown || lane->history.n == 0) {
        return;
    }
    roce_slot *slot = roce_history_at(&lane->history, lane->history.n - 1);
    settle_span(s, slot,
                slot->psn + roce_psn_read_span(slot->message_bytes, pmtu_bytes));
}

/* While a READ's span is unknown the next request resynchronises without a gap. */
static void
resynchronise(roce_stream_state *s, int64_t psn)
{
    roce_lane *lane = requests(s);
    if (!lane->span_unknown || psn < lane->max_next || lane->history.n == 0) {
        return;
    }
    roce_slot *slot = roce_history_at(&lane->history, lane->history.n - 1);
    if (psn - slot->psn <= (int64_t)roce_psn_read_span(slot->message_bytes, 256)) {
        settle_span(s, slot, psn);
    }
    lane->span_unknown = false;
}

static uint32_t
request_span(const roce_stream_state *s, const roce_arrival *a, bool *unknown)
{
    *unknown = false;
    if (a->info->role != ROCE_ROLE_READ_REQUEST) {
        return 1;
    }
    uint32_t length = a->packet->reth.length_bytes;
    if (s->pub.pmtu_bytes != 0) {
        return roce_psn_read_span(length, s->pub.pmtu_bytes);
    }
    *unknown = length > 256; /* no path MTU is smaller */
    return 1;
}

static bool
is_pmtu(uint32_t bytes)
{
    return bytes >= 256 && bytes <= 4096 && (bytes & (bytes - 1)) == 0;
}

static bool
is_restart(const roce_stream_state *s, int64_t psn)
{
    const roce_lane *lane = &s->lane[ROCE_SPACE_REQUESTS];
    int64_t distance = psn - lane->max_next;
    if (distance > RESTART_DISTANCE) {
        return true;
    }
    return distance < -RESTART_DISTANCE &&
           roce_history_find(&lane->history, psn) == NULL &&
           roce_missing_find(&lane->missing, psn) == NULL;
}

void
roce_sequence_request(roce_tracker *t, roce_stream_state *s, roce_arrival *a)
{
    roce_lane *lane = requests(s);
    bool full = a->info->part == ROCE_PART_FIRST || a->info->part == ROCE_PART_MIDDLE;
    if (full && s->pub.pmtu_bytes == 0 && is_pmtu(a->packet->payload_bytes)) {
        roce_sequence_learn_pmtu(s, a->packet->payload_bytes);
    }
    bool unknown;
    a->span = request_span(s, a, &unknown);
    if (!lane->started) {
        start_lane(t, s, a);
        lane->span_unknown = unknown;
        return;
    }
    a->psn = roce_psn_expand(a->packet->bth.psn24, lane->max_next);
    resynchronise(s, a->psn);
    if (is_restart(s, a->psn)) {
        restart(t, s, a);
        lane->span_unknown = unknown;
        return;
    }
    if (a->psn >= lane->max_next && roce_missing_find(&lane->missing, a->psn) == NULL) {
        ahead(t, s, a);
        lane->span_unknown = unknown;
    } else {
        behind(t, s, a);
    }
}

/* What was lost on the way here, or lost later, tells where the point is not. */
static roce_vantage
find_vantage(const roce_stream_state *s)
{
    if (s->direction == ROCE_DIRECTION_OUT) {
        return ROCE_VANTAGE_REQUESTER;
    }
    if (s->direction == ROCE_DIRECTION_IN) {
        return ROCE_VANTAGE_RESPONDER;
    }
    const uint64_t *lost = s->pub.losses[ROCE_SPACE_REQUESTS];
    bool before = lost[ROCE_VERDICT_LOST_BEFORE_CAPTURE] > 0 ||
                  s->pub.space[ROCE_SPACE_REQUESTS].reordered > 0;
    bool after = lost[ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE] > 0;
    if (before && after) {
        return ROCE_VANTAGE_MIDDLE;
    }
    /* Which side answers at once; nothing is said unless it is plain. */
    const uint32_t enough = 16;
    if (s->n_answers < enough || s->n_reactions < enough) {
        return ROCE_VANTAGE_UNKNOWN;
    }
    if (!after && s->least_answer_ns < s->least_reaction_ns / 8) {
        return ROCE_VANTAGE_RESPONDER;
    }
    if (!before && s->least_reaction_ns < s->least_answer_ns / 8) {
        return ROCE_VANTAGE_REQUESTER;
    }
    return ROCE_VANTAGE_UNKNOWN;
}

/* Messages whose last packet nobody acknowledged are not complete. */
static void
take_back_unacknowledged(roce_stream_state *s)
{
    const roce_lane *lane = requests(s);
    if (!s->acked) {
        return;
    }
    for (uint32_t i = lane->history.n; i-- > 0;) {
        roce_slot *slot = roce_history_at(&lane->history, i);
        if (slot->psn + slot->span <= s->una) {
            break;
        }
        if ((slot->flags & ROCE_SLOT_MESSAGE_END) != 0) {
            s->pub.messages_completed--;
        }
        s->pub.message_bytes -= slot->message_bytes;
    }
}

void
roce_sequence_finish(roce_tracker *t, roce_stream_state *s)
{
    roce_lane *lane = requests(s);
    roce_missing_range range;
    while (lane->missing.n > 0 &&
           roce_missing_take(&lane->missing, &t->alloc, lane->missing.ranges[0].start,
                             lane->missing.ranges[0].end, &range)) {
        judge_leftover(t, s, NULL, ROCE_SPACE_REQUESTS, &range);
    }
    take_back_unacknowledged(s);
    uint64_t seen = s->pub.space[ROCE_SPACE_REQUESTS].unique_psns;
    uint64_t unseen = s->pub.losses[ROCE_SPACE_REQUESTS][ROCE_VERDICT_NOT_CAPTURED];
    s->pub.partial_path = s->pub.partial_path || (unseen >= 8 && unseen * 19 > seen);
    s->pub.vantage = find_vantage(s);
}
