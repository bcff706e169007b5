/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the responder says of the requests: ACK, NAK, RNR NAK (IBTA 9.7.5).
 *
 * An ACK for n means that everything up to n arrived; it may be coalesced.  A NAK for n
 * means that everything before n arrived and that n is expected: it judges the newest
 * transmission of n before it.  If something beyond n was seen here while n was
 * expected, that is what the NAK answers, and n is asked for if it was never seen.  If
 * not, and n was accepted here, it did not arrive in order behind this point:
 * undelivered_after_capture, lost or late, which cannot be told from here.  If it was
 * discarded here, the NAK says nothing of it.
 *
 * An RNR NAK for n means that n arrived and was refused for want of a receive request.
 * What was on the way behind it provokes a sequence NAK for the same n: its
 * consequence, and no loss.
 */
#include "roce/aeth.h"
#include "track.h"

#include <string.h>

#define TOLERATED_AHEAD 256 /* queues may be captured out of order by so much */
#define ANSWERS_ENOUGH 4    /* tell how soon some come, though each waited for others */
#define SURE_VOTES 2        /* for one way to recover, and times those for the other */

/* An answer that came so long behind what it answers, or behind something before that. */
static void
note_answer(roce_tracker *t, roce_stream_state *s, uint64_t taken_ns)
{
    roce_heard *heard = roce_heard_make(t, s);
    if (heard->n_noted == 0 || taken_ns < heard->least_answer_ns) {
        heard->least_answer_ns = taken_ns;
    }
    if (heard->n_noted < ANSWERS_ENOUGH) {
        heard->n_noted++;
    }
}

/* Whether an answer now can be about no other transmission. */
static bool
is_timed(const roce_slot *slot, const roce_arrival *a)
{
    return slot != NULL && !roce_slot_was_repeated(slot) &&
           a->frame->time_ns >= slot->time_ns;
}

bool
roce_acknowledge_is_sooner(const roce_stream_state *s, uint64_t taken_ns)
{
    const roce_heard *heard = roce_heard_of(s);
    bool enough = heard->n_answers > 0 || heard->n_noted == ANSWERS_ENOUGH;
    return enough && taken_ns < heard->least_answer_ns;
}

void
roce_acknowledge_sample(roce_tracker *t, roce_stream_state *s, uint64_t sample_ns)
{
    roce_heard *heard = roce_heard_make(t, s);
    if (heard->srtt_ns == 0) {
        heard->srtt_ns = sample_ns > 0 ? sample_ns : 1;
        heard->rttvar_ns = sample_ns / 2;
    } else {
        uint64_t error = sample_ns > heard->srtt_ns ? sample_ns - heard->srtt_ns
                                                    : heard->srtt_ns - sample_ns;
        heard->rttvar_ns += error / 4;
        heard->rttvar_ns -= heard->rttvar_ns / 4;
        heard->srtt_ns = heard->srtt_ns - heard->srtt_ns / 8 + sample_ns / 8;
    }
    note_answer(t, s, sample_ns);
    heard->n_answers++;
}

uint64_t
roce_acknowledge_time(const roce_stream_state *s, int64_t psn)
{
    uint64_t oldest = 0;
    if (!s->acked || psn >= s->una) {
        return 0;
    }
    const roce_heard *heard = roce_heard_of(s);
    for (unsigned i = 0; i < ROCE_ACK_STEPS; i++) {
        unsigned at = (unsigned)(heard->ack_step + ROCE_ACK_STEPS - i) % ROCE_ACK_STEPS;
        if (heard->ack_steps[at].time_ns == 0 || heard->ack_steps[at].una <= psn) {
            break;
        }
        oldest = heard->ack_steps[at].time_ns;
    }
    return oldest;
}

uint64_t
roce_acknowledge_time_before(const roce_stream_state *s, int64_t psn)
{
    const roce_heard *heard = roce_heard_of(s);
    uint64_t time_ns = 0;
    for (unsigned i = 0; s->acked && i < ROCE_ACK_STEPS; i++) {
        unsigned at = (unsigned)(heard->ack_step + ROCE_ACK_STEPS - i) % ROCE_ACK_STEPS;
        if (heard->ack_steps[at].time_ns == 0) {
            return 0;
        }
        time_ns = heard->ack_steps[at].time_ns;
        if (heard->ack_steps[at].una <= psn) {
            break;
        }
    }
    return time_ns;
}

bool
roce_acknowledge_is_told(const roce_stream_state *s, const roce_slot *asked)
{
    return roce_heard_of(s)->told.una >= asked->psn + asked->span;
}

/* What an ACK covers now and was never seen went by unseen. */
static void
note_misses(roce_tracker *t, const roce_stream_state *s, int64_t una)
{
    const roce_missing *missing = &s->requests.missing;
    for (uint32_t i = 0; i < missing->n && missing->ranges[i].start < una; i++) {
        const roce_missing_range *range = &missing->ranges[i];
        if (!range->first_seen && (!s->acked || range->start >= s->una)) {
            roce_misses_note(t, s);
        }
    }
}

/* What a round has gone past is answered: whoever keeps what comes beyond a gap, skips it;
 * else the responder has taken the copy seen before, and the other may come yet. */
static void
cover_skipped(roce_tracker *t, roce_stream_state *s, const roce_missing_range *range)
{
    const roce_history *history = &s->requests.history;
    bool kept = false;
    for (uint32_t i = roce_history_lower(history, range->start); i < history->n; i++) {
        roce_slot *slot = roce_history_at(history, i);
        if (slot->psn >= range->end) {
            break;
        }
        slot->flags |= ROCE_SLOT_SKIPPED;
        kept = kept || (slot->flags & ROCE_SLOT_IN_ORDER) == 0;
    }
    if (kept) {
        roce_trouble_make(t, s)->votes_selective++;
    }
}

/* Ranges that an ACK covers were delivered.  Where an earlier copy had been seen, it
 * was that copy. */
static void
cover_missing(roce_tracker *t, roce_stream_state *s, const roce_arrival *a, int64_t una)
{
    roce_missing *missing = &roce_requests(s)->missing;
    if (roce_loss_is_delivered(s)) {
        return;
    }
    roce_missing_mark_range(missing, &t->alloc, missing->ranges[0].start, una,
                            ROCE_MISSING_ACKED);
    note_misses(t, s, una);
    for (uint32_t i = 0; i < missing->n && missing->ranges[i].start < una;) {
        roce_missing_range range = missing->ranges[i];
        if (range.first_seen && !range.asked &&
            roce_missing_take(missing, &t->alloc, range.start, range.end, &range)) {
            cover_skipped(t, s, &range);
        } else {
            i++;
        }
    }
    roce_loss_trim(t, s, a, ROCE_SPACE_REQUESTS);
}

/* A go-back-N responder takes nothing behind a hole before it is sent again: an ACK for
 * what was sent before the round began shows one that keeps it. */
static void
vote_for_selective(roce_tracker *t, roce_stream_state *s, int64_t una)
{
    const roce_round *round = &roce_trouble_of(s)->round;
    if (!round->active || round->cause != ROCE_CAUSE_NAK_SEQUENCE ||
        una <= round->run_next) {
        return;
    }
    const roce_slot *slot = roce_history_find(&roce_requests(s)->history, una - 1);
    if (slot != NULL && slot->tx < round->first_tx && !round->voted) {
        roce_trouble *trouble = roce_trouble_make(t, s);
        trouble->round.voted = true;
        trouble->votes_selective++;
    }
}

void
roce_acknowledge_settle_recovery(roce_stream_state *s)
{
    const roce_trouble *votes = roce_trouble_of(s);
    roce_requests(s)->selective = votes->votes_selective > votes->votes_go_back;
    if (votes->votes_go_back > votes->votes_selective) {
        s->pub.recovery = ROCE_RECOVERY_GO_BACK_N;
    } else if (votes->votes_selective > votes->votes_go_back) {
        s->pub.recovery = ROCE_RECOVERY_SELECTIVE;
    } else {
        s->pub.recovery = ROCE_RECOVERY_UNKNOWN;
    }
}

/* One beyond the last packet before `una` that an ACK was due for. */
static int64_t
due_before(const roce_lane *lane, int64_t from, int64_t una)
{
    int64_t due = from;
    for (uint32_t i = roce_history_lower(&lane->history, from); i < lane->history.n;
         i++) {
        const roce_slot *slot = roce_history_at(&lane->history, i);
        if (slot->psn >= una) {
            break;
        }
        if ((slot->flags & (ROCE_SLOT_WANTS_ACK | ROCE_SLOT_MESSAGE_END)) != 0) {
            due = slot->psn + 1;
        }
    }
    return due;
}

/* Whether the ACK that jumps ahead of a timeout's round speaks of the first copies as they
 * arrive, only now: it came in less than half the time that anything took to be answered, for
 * what is repeated is answered without waiting for more; or it is the second that jumps, while
 * what a responder says of copies that it had is always the same. */
static bool
speaks_of_late_ones(const roce_stream_state *s, const roce_arrival *a)
{
    const roce_round *round = &roce_trouble_of(s)->round;
    bool began_here =
        !s->acked || round->start <= s->una; /* nothing before it unseen */
    return round->jumped ||
           (began_here && roce_acknowledge_is_sooner(
                              s, 2 * roce_since_ns(a->frame->time_ns, round->time_ns)));
}

/* Nothing was lost, neither data nor ACK, of what the round has repeated: it was needless.  So
 * were timeouts in a row before it, as one and the same silence is explained. */
static void
take_back_losses(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                 int64_t una)
{
    roce_history *history = &roce_requests(s)->history;
    const roce_round *round = &roce_trouble_of(s)->round;
    int64_t start = round->start;
    for (uint32_t i = roce_history_lower(history, start); i < history->n; i++) {
        roce_slot *slot = roce_history_at(history, i);
        if ((slot->flags & ROCE_SLOT_ACK_LOST) != 0) {
            slot->flags = (uint16_t)(slot->flags & ~(unsigned)ROCE_SLOT_ACK_LOST);
            roce_loss_withdraw(t, s, a, ROCE_SPACE_REQUESTS, ROCE_VERDICT_ACK_LOST,
                               slot->psn);
        }
    }
    roce_round_mark_spurious(t, s, a);
    if (round->n_doubts == 0 || round->doubted >= una) {
        return;
    }
    roce_slot *doubted = roce_history_find(history, round->doubted);
    if (doubted != NULL) {
        doubted->flags = (uint16_t)(doubted->flags & ~(unsigned)ROCE_SLOT_DOUBT_TOLD);
    }
    while (round->n_doubts > 0) {
        roce_round_take_back_doubt(t, s, a);
    }
}

/* The doubt about a copy is over: an ACK that jumped says that it had arrived. */
static void
settle_doubt(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
             roce_slot *slot, bool told, bool ack_lost)
{
    if (told) {
        roce_round *round = &roce_trouble_make(t, s)->round;
        if (round->doubted == slot->psn) {
            roce_round_forget_doubt(round);
        }
        roce_loss_withdraw(t, s, a, ROCE_SPACE_REQUESTS, ROCE_VERDICT_DATA_OR_ACK_LOST,
                           slot->psn);
    }
    if (ack_lost) {
        slot->flags |= ROCE_SLOT_ACK_LOST;
        roce_loss_say(t, s, a, ROCE_SPACE_REQUESTS, ROCE_VERDICT_ACK_LOST,
                      ROCE_EVIDENCE_ACK_JUMPED, slot->psn, 1, slot->frame);
    }
}

/* A timeout's copies were doubted.  If the first ACK after it covers PSNs that were not
 * yet sent again, everything had arrived: it was the ACK that got lost, if one was due, or
 * all was late.  Of a message whose last packet alone was lost none was due.  A responder
 * that keeps what comes beyond a gap answers so as well when the copy has filled it: the
 * doubt stays. */
static void
upgrade_doubted(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                int64_t una)
{
    if (roce_trouble_had(s) == NULL) {
        return; /* nothing was ever doubted */
    }
    roce_lane *lane = roce_requests(s);
    roce_round *round = &roce_trouble_make(t, s)->round;
    bool jumped = round->active && round->cause == ROCE_CAUSE_TIMEOUT &&
                  una > lane->next_tx && lane->next_tx < round->end;
    bool late = jumped && speaks_of_late_ones(s, a);
    bool kept = s->pub.recovery == ROCE_RECOVERY_SELECTIVE;
    int64_t due = jumped ? due_before(lane, s->una, una) : una;
    round->jumped |= jumped;
    if (late) {
        take_back_losses(t, s, a, una);
    }
    for (uint32_t i = roce_history_lower(&lane->history, s->una); i < lane->history.n;
         i++) {
        roce_slot *slot = roce_history_at(&lane->history, i);
        if (slot->psn >= una) {
            break;
        }
        if ((slot->flags & ROCE_SLOT_DOUBTED) == 0) {
            continue;
        }
        bool told = (slot->flags & ROCE_SLOT_DOUBT_TOLD) != 0;
        unsigned doubt = ROCE_SLOT_DOUBTED | ROCE_SLOT_DOUBT_TOLD;
        slot->flags = (uint16_t)(slot->flags & ~doubt);
        bool ack_lost = !late && slot->psn < due;
        if (jumped && !(ack_lost && kept)) {
            settle_doubt(t, s, a, slot, told, ack_lost);
        }
    }
}

void
roce_acknowledge_up_to(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                       int64_t una)
{
    roce_lane *lane = roce_requests(s);
    if (!lane->started || (s->acked && una <= s->una) || una <= lane->first) {
        return;
    }
    roce_measure_completed(t, s, a, una);
    vote_for_selective(t, s, una);
    upgrade_doubted(t, s, a, una);
    cover_missing(t, s, a, una);
    roce_acknowledge_settle_recovery(s);
    t->last.acked_from = s->acked ? s->una : lane->first;
    t->last.acked_until = una;
    s->acked = true;
    s->una = una;
    roce_heard *heard = roce_heard_make(t, s);
    heard->ack_step = (uint8_t)((heard->ack_step + 1) % ROCE_ACK_STEPS);
    heard->ack_steps[heard->ack_step].una = una;
    heard->ack_steps[heard->ack_step].time_ns = a->frame->time_ns;
    roce_acceptor_catch_up(lane, una);
}

/* Counts the ACKs that may answer what timeouts have cast doubt on, and what they repeated
 * behind that.  Had data or ACK been lost, copies alone would be answered: those that ask
 * for it, or, as some responders do, each one that came before.  One ACK more than copies
 * answers the first transmission, late, and so on: a doubt for each time that they are more
 * than one transmission of all of it has packets.  Fewer leave the doubt: where one ACK was
 * lost others may have been.
 *
 * Limitation: a copy of an ACK that the network makes and nothing tells apart counts. */
static void
weigh_doubt(roce_tracker *t, roce_stream_state *s, const roce_arrival *a, int64_t psn)
{
    const roce_round *told = &roce_trouble_of(s)->round;
    if (told->n_doubts == 0 || psn < told->doubted || told->jumped) {
        return;
    }
    const roce_lane *lane = roce_requests(s);
    roce_round *round = &roce_trouble_make(t, s)->round;
    int64_t end = round->active ? lane->next_tx : round->end;
    if (psn >= end || lane->selective) {
        round->n_doubts = 0; /* it answers what was not repeated: no more will come */
        return;
    }
    int64_t n_copies = end - round->from;
    n_copies = n_copies > round->n_before ? n_copies : round->n_before;
    if (round->n_acks++ / n_copies > round->n_back) {
        roce_round_take_back_doubt(t, s, a);
    }
}

static void
acknowledge_ack(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                int64_t psn)
{
    const roce_slot *slot = roce_history_find(&roce_requests(s)->history, psn);
    roce_measure_ack(t, s, a, psn, slot);
    bool fresh = !s->acked || psn >= s->una;
    const roce_round *round = &roce_trouble_of(s)->round;
    if (fresh && is_timed(slot, a)) {
        uint64_t taken_ns = a->frame->time_ns - slot->time_ns;
        if (!round->active && slot->tx >= round->first_tx) {
            roce_acknowledge_sample(t, s, taken_ns);
        } else {
            note_answer(t, s, taken_ns);
        }
    }
    roce_acknowledge_up_to(t, s, a, psn + 1);
    weigh_doubt(t, s, a, psn);
}

/* The newest NAK is about to be an older one. */
static void
remember_older(roce_trouble *trouble)
{
    const roce_last_nak *nak = &trouble->nak;
    if (nak->state == ROCE_NAK_SEQUENCE) {
        memmove(&trouble->older_naks[1], &trouble->older_naks[0],
                sizeof trouble->older_naks - sizeof trouble->older_naks[0]);
        trouble->older_naks[0] = (roce_older_nak){
            .psn = nak->psn,
            .time_ns = nak->time_ns,
            .frame = nak->frame & ROCE_SLOT_MAX_FRAME,
            .answered = nak->answered,
        };
    }
}

/* Remembers the NAK for the round that will answer it. */
static void
remember(roce_tracker *t, roce_stream_state *s, const roce_arrival *a, int64_t psn,
         roce_nak_state state)
{
    roce_trouble *trouble = roce_trouble_make(t, s);
    roce_last_nak *nak = &trouble->nak;
    remember_older(trouble);
    bool pending =
        nak->state == ROCE_NAK_SEQUENCE && !nak->answered && nak->oldest_psn < psn;
    int64_t oldest = pending && state == ROCE_NAK_SEQUENCE ? nak->oldest_psn : psn;
    *nak = (roce_last_nak){
        .state = state,
        .psn = psn,
        .oldest_psn = oldest,
        .oldest_ns = oldest < psn ? nak->oldest_ns : a->frame->time_ns,
        .time_ns = a->frame->time_ns,
        .frame = a->frame->number,
        .tx = roce_requests(s)->tx,
        .wait_ns = roce_aeth_wait_ns(a->packet->aeth_syndrome),
    };
}

/* A repeated NAK, or the sequence NAK in the wake of an RNR NAK. */
static bool
is_consequence(const roce_stream_state *s, int64_t psn)
{
    const roce_last_nak *nak = &roce_trouble_of(s)->nak;
    if (nak->state == ROCE_NAK_NONE || nak->psn != psn || nak->answered) {
        return false;
    }
    const roce_slot *slot = roce_history_find(&s->requests.history, psn);
    bool again = slot != NULL && slot->tx > nak->tx;
    return !again;
}

/* Judges the newest transmission of the PSN that a sequence NAK asks for, which nothing
 * seen here explains. */
static void
judge_asked(roce_tracker *t, roce_stream_state *s, const roce_arrival *a, int64_t psn)
{
    roce_lane *lane = roce_requests(s);
    roce_slot *slot = roce_history_find(&lane->history, psn);
    if (roce_missing_find(&lane->missing, psn) != NULL) {
        return; /* its newest transmission is one that went unseen */
    }
    if (slot == NULL || slot->psn != psn) {
        /* Not seen here at all; or inside a READ whose length was guessed. */
        return;
    }
    if (psn < lane->first && slot->copies == 1) {
        return; /* the copy before, which came before the capture, may be meant */
    }
    bool soon =
        roce_acknowledge_is_sooner(s, roce_since_ns(a->frame->time_ns, slot->time_ns));
    if (roce_slot_was_repeated(slot) && soon) {
        return; /* no answer comes that soon: it speaks of the copy before */
    }
    if ((slot->flags & (ROCE_SLOT_JUDGED | ROCE_SLOT_REFUSED)) == 0 &&
        roce_acceptor_has_taken(s, ROCE_SPACE_REQUESTS, slot)) {
        slot->flags |= ROCE_SLOT_JUDGED;
        roce_loss_say(t, s, a, ROCE_SPACE_REQUESTS,
                      ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE, ROCE_EVIDENCE_ASKED_FOR,
                      psn, 1, slot->frame);
    }
}

/* Whether the round that a NAK began has stopped before `psn`, which the answer to what it sent
 * last asks for as well.  A requester that goes back would have sent that by itself, but
 * behind a READ, of which only so many may wait for their answers.  NAKs come sooner than ACKs
 * that wait for more to acknowledge: half the least time that an answer takes is enough for
 * one. */
static bool
round_stopped(const roce_stream_state *s, const roce_arrival *a, int64_t psn)
{
    const roce_round *round = &roce_trouble_of(s)->round;
    const roce_lane *lane = &s->requests;
    const roce_slot *before = roce_history_find(&lane->history, psn - 1);
    return round->active && round->cause == ROCE_CAUSE_NAK_SEQUENCE &&
           psn == lane->next_tx && psn < lane->max_next && before != NULL &&
           before->tx == lane->tx && roce_slot_was_repeated(before) &&
           (before->flags & ROCE_SLOT_WANTS_RESPONSE) == 0 &&
           !roce_acknowledge_is_sooner(
               s, 2 * roce_since_ns(a->frame->time_ns, before->time_ns));
}

/* Whether the responder keeps what lies beyond a gap.  If its requester was not seen to skip
 * that, a packet that the point missed can make it look so once, and where it misses some, more
 * often. */
bool
roce_acknowledge_surely_keeps(const roce_tracker *t, const roce_stream_state *s)
{
    const roce_trouble *votes = roce_trouble_of(s);
    uint32_t enough = roce_misses_any(t, s->pub.point) ? 2 * SURE_VOTES : SURE_VOTES;
    return s->requests.selective &&
           (votes->skipped ||
            (votes->votes_selective >= enough &&
             votes->votes_selective >= enough * votes->votes_go_back));
}

/* Whether what the responder asks for came late here as well, once others had gone by. */
static bool
was_late_here(const roce_slot *slot)
{
    return slot != NULL && slot->copies == 1 && (slot->flags & ROCE_SLOT_UNTIMED) != 0;
}

/* Whether the responder asks for what never came by here before it found it missing.  One that
 * keeps what lies beyond a gap has not discarded what came by in front of that, and asks for
 * each gap, also behind others; of READs it is not known how far it has got. */
static bool
was_missing_here(const roce_tracker *t, const roce_stream_state *s, int64_t psn,
                 const roce_violation *violation)
{
    const roce_slot *slot = roce_history_find(&s->requests.history, psn);
    if (violation == NULL) {
        return s->requests.selective && was_late_here(slot);
    }
    return !roce_acknowledge_surely_keeps(t, s) || slot == NULL || slot->psn != psn ||
           (slot->flags & ROCE_SLOT_WANTS_RESPONSE) != 0 ||
           slot->frame > violation->frame;
}

static void
acknowledge_sequence_nak(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                         int64_t psn)
{
    roce_lane *lane = roce_requests(s);
    const roce_violation *violation = roce_acceptor_take_violation(s, psn);
    if (is_consequence(s, psn)) {
        return;
    }
    /* What lies beyond made the responder ask. */
    const roce_slot *beyond = roce_history_find(&lane->history, psn + 1);
    if ((!s->acked || psn >= s->una) && is_timed(beyond, a)) {
        note_answer(t, s, a->frame->time_ns - beyond->time_ns);
    }
    bool stopped = round_stopped(s, a, psn);
    if (stopped) {
        roce_trouble_make(t, s)->votes_selective++;
    }
    bool acked_first = !s->acked || s->una < psn;
    roce_acknowledge_up_to(t, s, a, psn);
    if (violation != NULL) {
        roce_measure_add(t, s, a, ROCE_LATENCY_NAK_GENERATION, violation->time_ns,
                         violation->frame);
    }
    bool gap_seen = was_missing_here(t, s, psn, violation);
    if (!gap_seen) {
        judge_asked(t, s, a, psn);
        roce_acceptor_expect(t, s, ROCE_SPACE_REQUESTS, psn);
    }
    roce_missing_mark_range(&lane->missing, &t->alloc, psn, psn + 1,
                            ROCE_MISSING_ASKED);
    roce_loss_trim(t, s, a, ROCE_SPACE_REQUESTS);
    remember(t, s, a, psn, ROCE_NAK_SEQUENCE);
    roce_last_nak *nak = &roce_trouble_make(t, s)->nak;
    nak->gap_seen = gap_seen;
    nak->round_stopped = stopped && lane->selective;
    nak->acked_first = acked_first;
}

static void
acknowledge_rnr_nak(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                    int64_t psn)
{
    roce_acknowledge_up_to(t, s, a, psn);
    roce_lane *lane = roce_requests(s);
    roce_slot *slot = roce_history_find(&lane->history, psn);
    if (slot != NULL) {
        slot->flags |= ROCE_SLOT_REFUSED;
    }
    /* It arrived; if it was not seen here, the capture missed it. */
    roce_missing_mark_range(&lane->missing, &t->alloc, psn, psn + 1,
                            ROCE_MISSING_ACKED);
    roce_loss_trim(t, s, a, ROCE_SPACE_REQUESTS);
    roce_acceptor_expect(t, s, ROCE_SPACE_REQUESTS, psn);
    remember(t, s, a, psn, ROCE_NAK_RNR);
}

/* What was sent right behind the newest copy of a request that was refused for want of a receive
 * request, and was on its way by then: 0 when it was not seen. */
static uint64_t
frame_behind_refused(const roce_history *history, const roce_slot *slot)
{
    if (slot == NULL || (slot->flags & ROCE_SLOT_REFUSED) == 0) {
        return 0;
    }
    const roce_slot *next = roce_history_find(history, slot->psn + slot->span);
    return next != NULL && next->tx > slot->tx ? next->frame : 0;
}

/* The request beyond `psn` that made the responder say that it expects `psn`: where that was
 * refused, what followed it; else the newest seen out of order here that no NAK has answered, or
 * that came behind the newest copy; 0 when it was not seen. */
static uint64_t
frame_beyond(const roce_stream_state *s, int64_t psn)
{
    const roce_history *history = &s->requests.history;
    const roce_slot *slot = roce_history_find(history, psn);
    uint64_t behind = frame_behind_refused(history, slot);
    return behind != 0
               ? behind
               : roce_acceptor_frame_beyond(s, psn, slot != NULL ? slot->frame : 0);
}

/* The request that a NAK answers: for a sequence NAK the first one beyond the expected
 * PSN, else the one it names; 0 when it was not seen. */
static uint64_t
provoking_frame(const roce_stream_state *s, int64_t psn, roce_aeth_kind kind,
                unsigned value)
{
    if (kind == ROCE_AETH_NAK && value == ROCE_NAK_PSN_SEQUENCE) {
        return frame_beyond(s, psn);
    }
    const roce_slot *slot = roce_history_find(&s->requests.history, psn);
    return slot != NULL ? slot->frame : 0;
}

static void
emit_nak(roce_tracker *t, const roce_stream_state *s, const roce_arrival *a,
         int64_t psn, roce_aeth_kind kind, unsigned value)
{
    roce_event e = roce_track_event(
        kind == ROCE_AETH_RNR_NAK ? ROCE_EVENT_RNR_NAK : ROCE_EVENT_NAK, s, a);
    e.psn = psn;
    e.detail = (uint8_t)value;
    e.related_frame = provoking_frame(s, psn, kind, value);
    e.duration_ns = roce_aeth_wait_ns(a->packet->aeth_syndrome);
    roce_track_emit(t, &e);
}

static void
acknowledge_nak(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                int64_t psn, unsigned code)
{
    if (code == ROCE_NAK_PSN_SEQUENCE) {
        acknowledge_sequence_nak(t, s, a, psn);
    } else {
        /* The request was refused for good; the queue pair goes to error. */
        roce_acknowledge_up_to(t, s, a, psn);
        roce_acceptor_expect(t, s, ROCE_SPACE_REQUESTS, psn);
        remember(t, s, a, psn, ROCE_NAK_FATAL);
    }
}

/* An acknowledgement of what lies further back speaks of another queue pair. */
static int64_t
oldest_sane(const roce_stream_state *s)
{
    const roce_lane *lane = &s->requests;
    int64_t from = s->acked ? s->una : lane->first;
    return from - ROCE_RESTART_DISTANCE;
}

static void
relate_to_named(roce_tracker *t, const roce_stream_state *s, const roce_arrival *a,
                int64_t psn)
{
    t->last.sequenced = true;
    t->last.space = ROCE_SPACE_RESPONSES;
    t->last.psn = psn;
    if (t->config.relation != NULL) {
        const roce_slot *slot = roce_history_find(&s->requests.history, psn);
        roce_track_relate(t, s, a, ROCE_RELATION_NAMES, slot != NULL ? slot->frame : 0);
    }
}

/* An ACK or a NAK speaks of all that is before it, a response of what it does not answer
 * alone. */
static void
note_told(roce_tracker *t, roce_stream_state *s, const roce_arrival *a, int64_t una)
{
    if (una >= roce_heard_of(s)->told.una) {
        roce_heard *heard = roce_heard_make(t, s);
        heard->told.una = una;
        heard->told.time_ns = a->frame->time_ns;
        heard->told.frame = a->frame->number;
    }
}

bool
roce_acknowledge(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
                 const roce_arrival *a)
{
    roce_lane *lane = roce_requests(s);
    if (!lane->started) {
        return false;
    }
    int64_t psn = roce_psn_expand(a->packet->bth.psn24, lane->max_next);
    bool sane = psn < lane->max_next + TOLERATED_AHEAD && psn >= oldest_sane(s);
    roce_pair_confirm(t, by, a, sane);
    if (!sane || !roce_stream_is_paired(&s->pub)) {
        return false;
    }
    roce_rebirth_hear(t, s, a, psn);
    relate_to_named(t, s, a, psn);
    roce_aeth_kind kind = roce_aeth_get_kind(a->packet->aeth_syndrome);
    unsigned value = roce_aeth_get_value(a->packet->aeth_syndrome);
    if (kind == ROCE_AETH_NAK || kind == ROCE_AETH_RNR_NAK) {
        emit_nak(t, s, a, psn, kind, value);
        if (s->acked && psn < s->una) {
            return true; /* stale */
        }
        roce_measure_nak(t, s, a, psn);
    }
    if (kind == ROCE_AETH_ACK) {
        note_told(t, s, a, psn + 1);
        acknowledge_ack(t, s, a, psn);
    } else if (kind == ROCE_AETH_NAK) {
        note_told(t, s, a, psn);
        acknowledge_nak(t, s, a, psn, value);
    } else if (kind == ROCE_AETH_RNR_NAK) {
        note_told(t, s, a, psn);
        acknowledge_rnr_nak(t, s, a, psn);
    }
    return true;
}
