/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a round says of the copies before: which of them did not get there, and what a timeout
 * casts doubt on.
 *
 * A timeout repeats all that is not acknowledged, and the silence is about one of them: that one
 * is in doubt, the data or its ACK, until an answer tells (acknowledge.c).
 */
#include "track.h"

#include <string.h>

/* How long an ACK may have been on its way to the requester and the copy back.  Where
 * no round trip was observed: the assumed path delay, but no more than half of the time
 * that the requester waited, for its timer is longer than a round trip. */
static uint64_t
way_of_ack_ns(const roce_tracker *t, const roce_stream_state *s, const roce_arrival *a,
              const roce_slot *slot)
{
    if (roce_round_path_ns(s) != 0) {
        return roce_round_path_ns(s);
    }
    uint64_t half = roce_since_ns(a->frame->time_ns, slot->time_ns) / 2;
    return half < t->config.path_delay_ns ? half : t->config.path_delay_ns;
}

/* Whether the responder answers it by itself. */
static bool
is_answered(const roce_slot *slot)
{
    unsigned answered =
        ROCE_SLOT_WANTS_ACK | ROCE_SLOT_MESSAGE_END | ROCE_SLOT_WANTS_RESPONSE;
    return (slot->flags & answered) != 0;
}

/* Whether an ACK was due of this or of something behind it, all of it seen here. */
static bool
is_waited_for(const roce_stream_state *s, const roce_slot *slot)
{
    const roce_history *history = &s->requests.history;
    int64_t next = slot->psn;
    for (uint32_t i = roce_history_lower(history, next); i < history->n; i++) {
        const roce_slot *behind = roce_history_at(history, i);
        if (behind->psn != next) {
            return false;
        }
        if (is_answered(behind)) {
            return true;
        }
        next += behind->span;
    }
    return false;
}

/* Of the copies that a timeout repeats, the one that the silence is about.  A responder
 * that has sent a NAK waits for just that PSN, and discards what comes behind it; and a
 * requester that repeats selectively repeats nothing but the oldest without an ACK.  Else
 * it is the first that was to be answered: what is before it may have arrived, and of
 * what is behind it the responder may be waiting for this. */
static bool
is_first_suspect(const roce_stream_state *s, const roce_slot *slot)
{
    const roce_last_nak *nak = &roce_trouble_of(s)->nak;
    bool waits = nak->state == ROCE_NAK_SEQUENCE || nak->state == ROCE_NAK_RNR;
    if (waits && nak->answered && nak->psn == s->una) {
        return slot->psn == s->una;
    }
    if (s->pub.recovery == ROCE_RECOVERY_SELECTIVE) {
        return slot->psn == s->una && is_waited_for(s, slot);
    }
    return is_answered(slot);
}

/* Whether the round began with a READ or an atomic, before this packet: it goes back to that,
 * and repeats what is behind, acknowledged or not. */
static bool
is_for_a_response(const roce_stream_state *s, const roce_slot *slot)
{
    int64_t start = roce_trouble_of(s)->round.start;
    const roce_slot *first = roce_history_find(&s->requests.history, start);
    return first != NULL && first->psn < slot->psn &&
           (first->flags & ROCE_SLOT_WANTS_RESPONSE) != 0;
}

/* The round casts doubt on this PSN, as those in a row before it may have done. */
static void
remember_doubt(roce_round *round, const roce_slot *slot)
{
    int64_t psn = slot->psn;
    if (round->doubted != psn) {
        round->n_doubts = 0;
        round->n_undue = 0;
    }
    if (round->n_doubts == ROCE_DOUBTS) {
        round->n_doubts--;
        memmove(&round->doubts[0], &round->doubts[1],
                round->n_doubts * sizeof round->doubts[0]);
    }
    round->doubts[round->n_doubts].start = round->start;
    round->doubts[round->n_doubts].frame = round->frame;
    round->n_doubts++;
    round->doubt_told = true;
    round->doubted = psn;
    if (!is_answered(slot) && round->n_undue < UINT8_MAX) {
        round->n_undue++;
    }
}

/* Whether a timeout that repeats it says that the copy before was perhaps lost, or its ACK. */
static bool
casts_doubt_on(const roce_tracker *t, const roce_stream_state *s, const roce_arrival *a,
               const roce_slot *slot)
{
    /* What was sent just before the timer of others ran out is sent again with them; so is what
     * was discarded, beyond the expected PSN. */
    return roce_since_ns(a->frame->time_ns, slot->time_ns) >=
               roce_round_timeout_floor_ns(t, s) &&
           roce_acceptor_has_taken(s, ROCE_SPACE_REQUESTS, slot);
}

/* Of what the round repeats it was told that nobody knows what became of it. */
static void
take_back_unexplained(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_seen_copy *unexplained = &roce_trouble_make(t, s)->round.unexplained;
    if (unexplained->frame != 0) {
        unexplained->frame = 0;
        roce_loss_withdraw(t, s, a, ROCE_SPACE_REQUESTS, ROCE_VERDICT_UNKNOWN,
                           unexplained->psn);
    }
}

static void
tell_doubt(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
           roce_slot *slot, int64_t psn, uint64_t frame)
{
    take_back_unexplained(t, s, a);
    remember_doubt(&roce_trouble_make(t, s)->round, slot);
    slot->flags |= ROCE_SLOT_DOUBT_TOLD;
    roce_loss_say(t, s, a, ROCE_SPACE_REQUESTS, ROCE_VERDICT_DATA_OR_ACK_LOST,
                  ROCE_EVIDENCE_NO_ACK_SEEN, psn, 1, frame);
}

/* Whether the other side had said something, before it was known, that may have been of this PSN:
 * the newest of its acknowledgements that do, or any response. */
static bool
may_have_been_answered(const roce_tracker *t, const roce_stream_state *s, int64_t psn)
{
    const roce_stream_state *peer = roce_track_peer(t, s);
    if (peer == NULL) {
        return false;
    }
    const roce_carried *carried = roce_carried_of(peer);
    for (unsigned i = 0; i < ROCE_RECENT_ACKS; i++) {
        int64_t acked = roce_psn_expand(carried->recent_acks[i].psn24, psn);
        if ((carried->valid >> i & 1) != 0 && acked >= psn &&
            acked < s->requests.max_next) {
            return true;
        }
    }
    return roce_answers_of(peer)->began_before;
}

/* Whether the round began before the other side was known, and what it repeats may have been
 * answered then. */
static bool
is_unheard(const roce_tracker *t, const roce_stream_state *s, int64_t psn)
{
    return roce_trouble_of(s)->round.unexplained.frame != 0 &&
           may_have_been_answered(t, s, psn);
}

/* A copy of something accepted here, repeated by a timeout. */
static void
judge_timeout(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
              roce_slot *slot)
{
    uint64_t acked_ns = roce_acknowledge_time(s, slot->psn);
    slot->flags = (uint16_t)(slot->flags & ~(unsigned)ROCE_SLOT_ACK_SEEN);
    if (acked_ns != 0) {
        if (!is_for_a_response(s, slot) &&
            roce_since_ns(a->frame->time_ns, acked_ns) > way_of_ack_ns(t, s, a, slot)) {
            slot->flags |= ROCE_SLOT_ACK_SEEN;
            roce_loss_say(t, s, a, ROCE_SPACE_REQUESTS, ROCE_VERDICT_ACK_LOST,
                          ROCE_EVIDENCE_ACK_SEEN, a->psn, 1, slot->frame);
        }
        return;
    }
    if (!casts_doubt_on(t, s, a, slot)) {
        return;
    }
    slot->flags |= ROCE_SLOT_DOUBTED;
    if (!roce_trouble_make(t, s)->round.doubt_told && is_first_suspect(s, slot) &&
        !is_unheard(t, s, a->psn)) {
        tell_doubt(t, s, a, slot, a->psn, slot->frame);
    }
}

/* A copy of something accepted here, repeated by a round of which nobody knows what the other
 * side had said. */
static void
judge_unheard(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
              const roce_slot *slot, bool opens_round)
{
    roce_round *round = &roce_trouble_make(t, s)->round;
    if (opens_round) {
        roce_loss_say(t, s, a, ROCE_SPACE_REQUESTS, ROCE_VERDICT_UNKNOWN,
                      ROCE_EVIDENCE_NO_ACKNOWLEDGEMENTS, a->psn, 1, slot->frame);
        round->unexplained = (roce_seen_copy){a->psn, slot->frame};
    }
    if (round->suspect.frame == 0 && casts_doubt_on(t, s, a, slot) &&
        is_first_suspect(s, slot)) {
        round->suspect = (roce_seen_copy){a->psn, slot->frame};
    }
}

/* Whether what a timeout says of the copy that it is about can be told now. */
static bool
is_suspect_known(const roce_tracker *t, const roce_stream_state *s,
                 const roce_slot *slot)
{
    const roce_seen_copy *suspect = &roce_trouble_of(s)->round.suspect;
    return suspect->frame != 0 && slot != NULL &&
           !may_have_been_answered(t, s, suspect->psn);
}

void
roce_round_judge_anew(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_round *round = &roce_trouble_make(t, s)->round;
    const roce_seen_copy before = round->unexplained;
    roce_slot *slot = roce_history_find(&roce_requests(s)->history, round->suspect.psn);
    bool timeout = round->cause == ROCE_CAUSE_TIMEOUT;
    if (before.frame == 0 || (timeout && !is_suspect_known(t, s, slot))) {
        return;
    }
    take_back_unexplained(t, s, a);
    if (timeout) {
        slot->flags |= ROCE_SLOT_DOUBTED;
        tell_doubt(t, s, a, slot, round->suspect.psn, round->suspect.frame);
    } else if (round->cause == ROCE_CAUSE_NAK_SEQUENCE) {
        roce_loss_say(t, s, a, ROCE_SPACE_REQUESTS,
                      ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE, ROCE_EVIDENCE_ASKED_FOR,
                      before.psn, 1, before.frame);
    }
}

/* The newest copy of `slot` was seen here, and now it is sent again. */
void
roce_round_judge_copy(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                      roce_slot *slot, bool opens_round)
{
    roce_cause cause = roce_trouble_of(s)->round.cause;
    roce_stream_state *peer = roce_track_peer(t, s);
    if ((slot->flags & ROCE_SLOT_WANTS_RESPONSE) != 0 && peer != NULL &&
        (cause == ROCE_CAUSE_TIMEOUT || cause == ROCE_CAUSE_READ_REISSUE) &&
        roce_respond_asked_again(t, peer, a, slot, opens_round)) {
        return;
    }
    if (cause == ROCE_CAUSE_TIMEOUT) {
        judge_timeout(t, s, a, slot);
    } else if (cause == ROCE_CAUSE_UNKNOWN && !roce_stream_is_paired(&s->pub)) {
        judge_unheard(t, s, a, slot, opens_round);
    } else if (cause == ROCE_CAUSE_UNKNOWN && opens_round &&
               roce_acceptor_has_taken(s, ROCE_SPACE_REQUESTS, slot) &&
               slot->psn >= s->una) {
        roce_loss_say(t, s, a, ROCE_SPACE_REQUESTS,
                      ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE, ROCE_EVIDENCE_RESENT_ONLY,
                      a->psn, 1, slot->frame);
    }
}

void
roce_round_forget_doubt(roce_round *round)
{
    round->n_doubts = (uint8_t)(round->n_doubts - (round->n_doubts > 0));
    round->n_undue = (uint8_t)(round->n_undue - (round->n_undue > 0));
}

void
roce_round_take_back_doubt(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_round *round = &roce_trouble_make(t, s)->round;
    roce_round_forget_doubt(round);
    round->n_back++;
    roce_loss_withdraw(t, s, a, ROCE_SPACE_REQUESTS, ROCE_VERDICT_DATA_OR_ACK_LOST,
                       round->doubted);
    uint64_t frame = round->doubts[round->n_doubts].frame;
    if (frame == round->frame) {
        roce_round_mark_spurious(t, s, a);
    } else if (frame != 0) {
        roce_round_count_spurious(t, s, a, round->doubts[round->n_doubts].start, frame);
    }
}
