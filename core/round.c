/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rounds of retransmission, and what caused them.  What they say of the copies before is in
 * round_doubt.c.
 *
 * A round goes on while copies run on from next_tx; a step back starts the next one, and so
 * does a timer that has gone off once more.
 * Its cause, the first that applies:
 *
 *   nak_sequence, rnr   a NAK at or before its first PSN that no round has answered, and no
 *                       ACK has passed since, unless it is just there; not if it waited as
 *                       for a timeout, and answers sooner: the NAK was lost
 *   unknown             the other direction is not known: nobody can be heard asking
 *   read_reissue        a READ or atomic whose response is missing while later ones
 *                       came, or an ACK or a NAK that covers it (an implied NAK), soon
 *                       after those
 *   nak_sequence, rnr   such a NAK, although an ACK has passed it since
 *   timeout             the newest copy is older than any ACK took (RFC 6298's bound),
 *                       and so long the requester has sent nothing, but the round itself;
 *                       or it goes back to the oldest that is not acknowledged, and no
 *                       ACK that it can have heard is newer
 *   unknown             else
 */
#include "track.h"

#include <string.h>

#define LEAST_TIMEOUT_NS 100000u
#define LOST_IN_A_ROW 8      /* of a round, where nothing numbers packets */
#define REACTIONS_KNOWN 4    /* so many tell how long this requester takes ... */
#define REACTION_SPREAD 256u /* ... at most: times the least of them */
#define TIMER_SPREAD 4u      /* a timer's longest time, of its shortest */
#define REACTION_MARGIN 4u   /* times the longest of those that no timer can be */

/* As TCP reckons it (RFC 6298), from the ACK latencies seen here; before the first,
 * four of the assumed path delays. */
uint64_t
roce_round_timeout_floor_ns(const roce_tracker *t, const roce_stream_state *s)
{
    const roce_heard *heard = roce_heard_of(s);
    if (heard->srtt_ns == 0) {
        return 4 * t->config.path_delay_ns;
    }
    uint64_t floor = heard->srtt_ns + 4 * heard->rttvar_ns;
    return floor > LEAST_TIMEOUT_NS ? floor : LEAST_TIMEOUT_NS;
}

uint64_t
roce_round_answer_within_ns(const roce_tracker *t, const roce_stream_state *s,
                            uint64_t wait_ns)
{
    const roce_heard *heard = roce_heard_of(s);
    uint64_t most = 32 * t->config.path_delay_ns;
    if (heard->n_reactions >= REACTIONS_KNOWN &&
        heard->least_reaction_ns < most / REACTION_SPREAD) {
        most = REACTION_SPREAD * heard->least_reaction_ns;
    }
    uint64_t least = 4 * t->config.path_delay_ns;
    return wait_ns + (most > least ? most : least);
}

uint64_t
roce_round_path_ns(const roce_stream_state *s)
{
    const roce_heard *heard = roce_heard_of(s);
    return heard->n_reactions > 2 ? heard->second_reaction_ns
                                  : heard->least_reaction_ns;
}

uint64_t
roce_round_asked_ns(const roce_stream_state *s, const roce_arrival *a)
{
    const roce_last_nak *nak = &roce_trouble_of(s)->nak;
    return a->psn < nak->psn ? nak->oldest_ns : nak->time_ns;
}

/* The frame of that NAK: of those before this the one that asks for the highest PSN up to it. */
static uint64_t
asked_frame(const roce_stream_state *s, const roce_arrival *a)
{
    const roce_trouble *trouble = roce_trouble_of(s);
    const roce_last_nak *nak = &trouble->nak;
    bool newest = nak->psn <= a->psn && nak->frame <= a->seen_frame;
    int64_t psn = newest ? nak->psn : INT64_MIN;
    uint64_t frame = newest ? nak->frame : a->nak_frame;
    for (unsigned i = 0; i < ROCE_OLDER_NAKS; i++) {
        const roce_older_nak *older = &trouble->older_naks[i];
        if (older->frame != 0 && older->frame <= a->seen_frame &&
            older->psn <= a->psn && older->psn > psn) {
            psn = older->psn;
            frame = older->frame;
        }
    }
    return frame;
}

/* Whether the newest copy may have been sent when a NAK of that time had been heard. */
static bool
has_come_since(const roce_stream_state *s, const roce_slot *slot, uint64_t asked_ns)
{
    uint64_t path_ns = roce_round_path_ns(s);
    return slot != NULL && path_ns != 0 &&
           roce_since_ns(slot->time_ns, asked_ns) >= path_ns;
}

/* Without numbers such a packet may as well be late. */
const roce_older_nak *
roce_round_older_nak(const roce_tracker *t, const roce_stream_state *s,
                     const roce_arrival *a)
{
    const roce_older_nak *naks = roce_trouble_of(s)->older_naks;
    uint64_t within_ns = roce_round_answer_within_ns(t, s, 0);
    if (roce_ident_mode_of(s) != ROCE_IDENT_RISING) {
        return NULL;
    }
    for (unsigned i = 0; i < ROCE_OLDER_NAKS && naks[i].frame != 0; i++) {
        if (naks[i].psn == a->psn && naks[i].frame <= a->seen_frame) {
            const roce_slot *slot = roce_history_find(&s->requests.history, a->psn);
            bool is_open =
                !naks[i].answered && !has_come_since(s, slot, naks[i].time_ns) &&
                roce_since_ns(a->frame->time_ns, naks[i].time_ns) <= within_ns;
            return is_open ? &naks[i] : NULL;
        }
    }
    return NULL;
}

/* A NAK that no round has answered explains copies from there on.  When an ACK has
 * passed it since, what it asked for has come late; the requester may still answer it,
 * but not for long. */
bool
roce_round_nak_explains(const roce_tracker *t, const roce_stream_state *s,
                        const roce_arrival *a)
{
    const roce_last_nak *nak = &roce_trouble_of(s)->nak;
    if ((nak->state != ROCE_NAK_SEQUENCE && nak->state != ROCE_NAK_RNR) ||
        nak->answered || a->psn < nak->oldest_psn) {
        return false;
    }
    uint64_t within_ns = roce_round_answer_within_ns(t, s, nak->wait_ns);
    if (roce_since_ns(a->frame->time_ns, nak->time_ns) > within_ns) {
        return false; /* it did not get there: a timer had to do its work */
    }
    bool obsolete = s->acked && s->una > nak->psn;
    uint64_t patience = roce_round_timeout_floor_ns(t, s);
    if (patience < 4 * t->config.path_delay_ns) {
        patience = 4 * t->config.path_delay_ns;
    }
    return !obsolete || roce_since_ns(a->frame->time_ns, nak->time_ns) < patience;
}

uint64_t
roce_round_age(const roce_stream_state *s, const roce_arrival *a, const roce_slot *slot)
{
    const roce_lane *lane = &s->requests;
    if (slot != NULL) {
        return roce_since_ns(a->frame->time_ns, slot->time_ns);
    }
    const roce_missing_range *range = roce_missing_find(&lane->missing, a->psn);
    return range != NULL ? roce_since_ns(a->frame->time_ns, range->time_ns) : 0;
}

/* For how long nothing was sent before this: a timer mostly goes off in silence, as a
 * requester with something in doubt soon has sent all that it may.  As long as can be where
 * the newest request was not seen. */
static uint64_t
silence_ns(const roce_stream_state *s, const roce_arrival *a)
{
    const roce_lane *lane = &s->requests;
    const roce_slot *newest = roce_history_find(&lane->history, lane->next_tx - 1);
    return newest != NULL ? roce_since_ns(a->seen_ns, newest->time_ns) : UINT64_MAX;
}

bool
roce_round_was_silent(const roce_tracker *t, const roce_stream_state *s,
                      const roce_arrival *a, const roce_slot *slot)
{
    const roce_round *round = &roce_trouble_of(s)->round;
    bool repeats = round->active && round->cause == ROCE_CAUSE_TIMEOUT &&
                   slot != NULL && slot->tx < round->first_tx;
    return repeats || silence_ns(s, a) >= roce_round_timeout_floor_ns(t, s);
}

/* For how long no ACK came that may have restarted the timer for `a`. */
static uint64_t
heard_nothing_ns(const roce_stream_state *s, const roce_arrival *a)
{
    return roce_since_ns(a->frame->time_ns, roce_acknowledge_time_before(s, a->psn));
}

/* A requester may post something new just before its timer goes off, which runs since the
 * oldest that is not acknowledged was sent, or since the newest ACK came (IBTA 9.7.6.1.3).
 * Of what never came here it must be known that it is the oldest, and not late. */
static bool
may_run_out(const roce_tracker *t, const roce_stream_state *s, const roce_arrival *a,
            const roce_slot *slot)
{
    bool numbered = roce_ident_mode_of(s) == ROCE_IDENT_RISING;
    if (a->psn > s->una || (slot == NULL && (a->psn < s->una || !numbered))) {
        return false;
    }
    return heard_nothing_ns(s, a) >= roce_round_timeout_floor_ns(t, s);
}

/* Whether this requester, which is known to answer NAKs sooner, has waited in silence for a
 * timer although one was seen here at that time: it did not get there. */
static bool
waits_for_timer(const roce_tracker *t, const roce_stream_state *s,
                const roce_arrival *a, const roce_slot *slot, uint64_t asked_ns)
{
    const roce_heard *heard = roce_heard_of(s);
    return heard->n_prompt >= REACTIONS_KNOWN &&
           roce_since_ns(a->frame->time_ns, asked_ns) >
               REACTION_MARGIN * heard->most_prompt_ns &&
           roce_round_age(s, a, slot) >= roce_round_timeout_floor_ns(t, s) &&
           silence_ns(s, a) >= roce_round_timeout_floor_ns(t, s);
}

bool
roce_round_is_ahead(const roce_stream_state *s, int64_t psn)
{
    const roce_lane *lane = &s->requests;
    return roce_trouble_of(s)->round.active && psn >= lane->next_tx &&
           psn < lane->max_next;
}

/* What a round has repeated so far is answered, and the next one, which is now the oldest
 * without an ACK, comes only when the timer has gone off for it.  That timer is set once for
 * a queue pair and may run from one to four times as long (IBTA 9.7.6.1.3): behind a
 * timeout, a shorter silence was a pause, and behind a NAK, one that may have been slept
 * over. */
bool
roce_round_timed_out_again(const roce_tracker *t, const roce_stream_state *s,
                           const roce_arrival *a)
{
    const roce_round *round = &roce_trouble_of(s)->round;
    if (!s->acked || a->psn > s->una || roce_round_nak_explains(t, s, a)) {
        return false;
    }
    uint64_t floor_ns = roce_round_timeout_floor_ns(t, s);
    uint64_t least_ns = round->cause == ROCE_CAUSE_TIMEOUT
                            ? round->age_ns / TIMER_SPREAD
                            : roce_round_answer_within_ns(t, s, 0);
    least_ns = least_ns > floor_ns ? least_ns : floor_ns;
    uint64_t silent_ns = silence_ns(s, a);
    bool is_known = silent_ns != UINT64_MAX; /* else the history has lost it */
    return is_known && silent_ns >= least_ns && heard_nothing_ns(s, a) >= least_ns;
}

/* The requester saw a later response than the one it asks for again, or an ACK or a NAK that
 * covers its request. */
static bool
response_gap_explains(const roce_tracker *t, const roce_stream_state *s, int64_t psn,
                      const roce_slot *slot)
{
    const roce_stream_state *peer = roce_track_peer(t, s);
    if (peer == NULL) {
        return false;
    }
    const roce_lane *responses = &roce_answers_of(peer)->lane;
    return (responses->started && responses->max_next > psn + 1) || s->una > psn + 1 ||
           roce_acknowledge_is_told(s, slot);
}

/* A READ or atomic whose response is missing while later ones came, soon after those. */
static bool
is_read_reissue(const roce_tracker *t, const roce_stream_state *s,
                const roce_arrival *a, const roce_slot *slot)
{
    const roce_stream_state *peer = roce_track_peer(t, s);
    if (peer == NULL || slot == NULL || (slot->flags & ROCE_SLOT_WANTS_RESPONSE) == 0) {
        return false; /* nor is anything known of responses once a pairing was wrong */
    }
    uint64_t heard_ns =
        roce_answers_of(peer)->response_time_ns; /* or of an ACK or NAK */
    const roce_heard *heard = roce_heard_of(s);
    uint64_t acked_ns = heard->ack_steps[heard->ack_step].time_ns;
    if (s->una > a->psn + 1 && acked_ns > heard_ns) {
        heard_ns = acked_ns;
    }
    if (roce_acknowledge_is_told(s, slot) && heard->told.time_ns > heard_ns) {
        heard_ns = heard->told.time_ns;
    }
    uint64_t silence = roce_since_ns(a->frame->time_ns, heard_ns);
    uint64_t soon = 4 * t->config.path_delay_ns + roce_round_timeout_floor_ns(t, s);
    return response_gap_explains(t, s, a->psn, slot) && silence < soon;
}

/* Whether what seems to be sent again now is: its number tells, or no packet has come late. */
static bool
is_in_order(const roce_stream_state *s)
{
    return roce_ident_mode_of(s) == ROCE_IDENT_RISING ||
           roce_trouble_of(s)->pub.disorder[ROCE_SPACE_REQUESTS].reordered == 0;
}

/* Whether a round that begins between what two NAKs ask for is about a response: who has heard
 * the newer one goes back no further than that. */
static bool
is_between_naks(const roce_stream_state *s, const roce_arrival *a)
{
    const roce_last_nak *nak = &roce_trouble_of(s)->nak;
    return is_in_order(s) && a->psn > nak->oldest_psn && a->psn < nak->psn;
}

roce_cause
roce_round_find_cause(const roce_tracker *t, const roce_stream_state *s,
                      const roce_arrival *a, const roce_slot *slot)
{
    const roce_older_nak *older = roce_round_older_nak(t, s, a);
    if (older != NULL && !waits_for_timer(t, s, a, slot, older->time_ns)) {
        return ROCE_CAUSE_NAK_SEQUENCE;
    }
    const roce_last_nak *newest = &roce_trouble_of(s)->nak;
    bool nak = roce_round_nak_explains(t, s, a) &&
               !(newest->state == ROCE_NAK_SEQUENCE &&
                 waits_for_timer(t, s, a, slot, roce_round_asked_ns(s, a))) &&
               !(is_between_naks(s, a) && is_read_reissue(t, s, a, slot));
    roce_cause of_nak =
        newest->state == ROCE_NAK_RNR ? ROCE_CAUSE_RNR : ROCE_CAUSE_NAK_SEQUENCE;
    if (nak && (!s->acked || s->una <= newest->psn ||
                (a->psn == newest->psn && !has_come_since(s, slot, newest->time_ns)))) {
        return of_nak;
    }
    if (!roce_stream_is_paired(&s->pub)) {
        return ROCE_CAUSE_UNKNOWN; /* what the other side said cannot be known */
    }
    if (is_read_reissue(t, s, a, slot)) {
        return ROCE_CAUSE_READ_REISSUE;
    }
    if (nak) {
        return of_nak; /* passed by an ACK since; it may be answered all the same */
    }
    bool waited = roce_round_age(s, a, slot) >= roce_round_timeout_floor_ns(t, s) &&
                  (roce_round_was_silent(t, s, a, slot) || may_run_out(t, s, a, slot));
    return waited ? ROCE_CAUSE_TIMEOUT : ROCE_CAUSE_UNKNOWN;
}

/* A jump to what a new NAK asks for answers that NAK, if no ACK explains it; and so does the
 * next packet of a round that had stopped until then. */
static bool
answers_new_nak(const roce_tracker *t, const roce_stream_state *s,
                const roce_arrival *a)
{
    const roce_last_nak *nak = &roce_trouble_of(s)->nak;
    const roce_lane *lane = &s->requests;
    if (a->psn > lane->next_tx && roce_round_older_nak(t, s, a) != NULL) {
        return true;
    }
    if (nak->state != ROCE_NAK_SEQUENCE || nak->answered || nak->psn != a->psn) {
        return false;
    }
    if (a->psn <= lane->next_tx) {
        return nak->round_stopped && a->psn == lane->next_tx;
    }
    return a->psn > roce_sequence_due(s) || nak->acked_first || lane->selective;
}

/* A requester that sends nothing again but what it misses has passed over responses that it
 * has, and asks for another one: each is noticed by itself. */
static bool
asks_for_another(const roce_tracker *t, const roce_stream_state *s,
                 const roce_arrival *a, const roce_slot *slot)
{
    return a->psn > s->requests.next_tx && roce_trouble_of(s)->skipped &&
           roce_acknowledge_surely_keeps(t, s) &&
           roce_round_find_cause(t, s, a, slot) == ROCE_CAUSE_READ_REISSUE;
}

bool
roce_round_is_asked_anew(const roce_tracker *t, const roce_stream_state *s,
                         const roce_arrival *a, const roce_slot *slot)
{
    return answers_new_nak(t, s, a) || asks_for_another(t, s, a, slot);
}

void
roce_round_count_spurious(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                          int64_t start, uint64_t frame)
{
    roce_trouble_make(t, s)->pub.retransmissions.spurious_rounds++;
    roce_event e = roce_track_event(ROCE_EVENT_SPURIOUS_ROUND, s, a);
    e.psn = start;
    e.related_frame = frame;
    roce_track_emit(t, &e);
}

void
roce_round_mark_spurious(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    if (roce_trouble_of(s)->round.spurious ||
        roce_trouble_of(s)->pub.retransmissions.rounds == 0) {
        return;
    }
    roce_round *round = &roce_trouble_make(t, s)->round;
    round->spurious = true;
    if (round->n_doubts > 0 &&
        round->doubts[round->n_doubts - 1].frame == round->frame) {
        round->doubts[round->n_doubts - 1].frame = 0;
    }
    roce_round_count_spurious(t, s, a, round->start, round->frame);
}

/* How long the requester took to answer a sequence NAK tells of the path.  One that sent
 * requests until it went back has had no timer go off. */
static void
learn_reaction(roce_tracker *t, roce_stream_state *s, uint64_t taken_ns, bool prompt)
{
    roce_heard *heard = roce_heard_make(t, s);
    if (heard->n_reactions == 0 || taken_ns < heard->least_reaction_ns) {
        heard->second_reaction_ns = heard->least_reaction_ns;
        heard->least_reaction_ns = taken_ns;
    } else if (heard->n_reactions == 1 || taken_ns < heard->second_reaction_ns) {
        heard->second_reaction_ns = taken_ns;
    }
    heard->n_reactions++;
    if (prompt) {
        heard->n_prompt++;
        heard->most_prompt_ns =
            taken_ns > heard->most_prompt_ns ? taken_ns : heard->most_prompt_ns;
    }
}

void
roce_round_learn_reaction(roce_tracker *t, roce_stream_state *s, uint64_t asked_ns,
                          uint64_t answered_ns)
{
    if (answered_ns > asked_ns) {
        learn_reaction(t, s, answered_ns - asked_ns, false);
    }
}

bool
roce_round_may_lose(const roce_stream_state *s, uint64_t n, uint64_t seen)
{
    return roce_ident_mode_of(s) == ROCE_IDENT_RISING || n <= LOST_IN_A_ROW ||
           n <= seen;
}

/* Whether a copy that was not seen may have been overtaken like others, and was not needed: one
 * before it was seen. */
static bool
may_come_yet(const roce_stream_state *s, int64_t psn)
{
    return roce_ident_mode_of(s) == ROCE_IDENT_RISING &&
           roce_trouble_of(s)->pub.disorder[ROCE_SPACE_REQUESTS].reordered > 0 &&
           roce_history_find(&s->requests.history, psn) != NULL;
}

/* The round answers a NAK of that time. */
static void
learn_from_round(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                 uint64_t asked_ns)
{
    if (a->seen_ns > asked_ns) {
        bool prompt = silence_ns(s, a) < roce_round_timeout_floor_ns(t, s);
        learn_reaction(t, s, a->seen_ns - asked_ns, prompt);
    }
}

static void
answer_older_nak(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                 roce_older_nak *older)
{
    roce_last_nak *newest = &roce_trouble_make(t, s)->nak;
    older->answered = true;
    if (newest->oldest_psn <= older->psn) {
        newest->oldest_psn = newest->psn;
        newest->oldest_ns = newest->time_ns;
    }
    learn_from_round(t, s, a, older->time_ns);
}

/* The round answers the NAK: what that tells of the path and of the requester. */
static void
answer_nak(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_trouble *trouble = roce_trouble_make(t, s);
    const roce_older_nak *older = roce_round_older_nak(t, s, a);
    if (older != NULL) {
        answer_older_nak(t, s, a, &trouble->older_naks[older - trouble->older_naks]);
        return;
    }
    roce_last_nak *nak = &trouble->nak;
    uint64_t asked_ns = roce_round_asked_ns(s, a);
    uint64_t taken = roce_since_ns(a->seen_ns, asked_ns);
    int64_t asked = nak->oldest_psn;
    /* Of two NAKs the round answers the older, and the newer may get one of its own; but
     * where copies cannot be told apart, a NAK that stays open would explain too much. */
    bool another =
        nak->oldest_psn < nak->psn && roce_ident_mode_of(s) == ROCE_IDENT_RISING;
    nak->answered = a->psn >= nak->psn && !another;
    nak->oldest_psn = nak->psn;
    nak->oldest_ns = nak->time_ns;
    if (nak->state == ROCE_NAK_RNR) {
        bool kept = taken >= nak->wait_ns;
        trouble->pub.rnr_waits_kept += kept ? 1 : 0;
        trouble->pub.rnr_waits_broken += kept ? 0 : 1;
        roce_event e = roce_track_event(ROCE_EVENT_RNR_WAIT, s, a);
        e.psn = nak->psn;
        e.related_frame = nak->frame;
        e.duration_ns = taken;
        e.count = kept ? 1 : 0;
        roce_track_emit(t, &e);
    } else {
        learn_from_round(t, s, a, asked_ns);
    }
    if (a->psn >= nak->psn && a->psn > asked) {
        /* The round began with what was asked for; those copies went unseen. */
        int64_t from = asked > s->una ? asked : s->una;
        if (from < a->psn && roce_round_may_lose(s, (uint64_t)(a->psn - from), 0)) {
            roce_loss_miss(t, s, a, ROCE_SPACE_REQUESTS, from, a->psn,
                           may_come_yet(s, from));
        }
    }
}

/* How many packets a timeout's round, or one in a row before it, has repeated at most. */
static int64_t
most_repeated(const roce_round *round)
{
    int64_t n = round->end - round->from;
    return n > round->n_before ? n : round->n_before;
}

/* The round before cast doubt on a packet of which no ACK was due.  If its copy was answered
 * and the timer goes off for the next one, that one explains the silence by itself. */
static void
shift_doubt(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    const roce_round *before = &roce_trouble_of(s)->round;
    if (before->n_undue == 0 || a->psn != before->doubted + 1 || a->psn != s->una) {
        return;
    }
    roce_round *round = &roce_trouble_make(t, s)->round;
    for (; round->n_undue > 0; round->n_undue--) {
        roce_loss_withdraw(t, s, a, ROCE_SPACE_REQUESTS, ROCE_VERDICT_DATA_OR_ACK_LOST,
                           round->doubted);
    }
    round->n_doubts = 0;
}

void
roce_round_start(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                 roce_cause cause, uint64_t age_ns)
{
    if (cause == ROCE_CAUSE_TIMEOUT) {
        shift_doubt(t, s, a);
    }
    roce_lane *lane = roce_requests(s);
    bool by_nak = cause == ROCE_CAUSE_NAK_SEQUENCE || cause == ROCE_CAUSE_RNR;
    roce_trouble *trouble = roce_trouble_make(t, s);
    const roce_round before = trouble->round;
    bool again = cause == ROCE_CAUSE_TIMEOUT && before.n_acks == 0;
    trouble->round = (roce_round){
        .active = true,
        .cause = cause,
        .start = a->psn,
        .end = lane->max_next,
        .frame = a->seen_frame,
        .first_tx = lane->tx + 1,
        .unheard = !roce_stream_is_paired(&s->pub),
        .all_acked =
            cause == ROCE_CAUSE_TIMEOUT && s->acked && s->una == lane->max_next,
        .was = {trouble->pub.retransmissions.packets,
                trouble->pub.retransmissions.bytes,
                trouble->pub.retransmissions.requested_bytes},
        .age_ns = age_ns,
        .time_ns = a->seen_ns,
        .to = {a->psn, a->seen_ns, a->seen_frame},
        .before_frame = before.frame,
        .run_next = a->psn + a->span,
        .from = s->acked && s->una < a->psn ? s->una : a->psn,
        .n_doubts = again ? before.n_doubts : 0,
        .doubted = before.doubted,
        .n_undue = cause == ROCE_CAUSE_TIMEOUT ? before.n_undue : 0,
        .n_before = again ? most_repeated(&before) : 0,
    };
    memcpy(trouble->round.doubts, before.doubts, sizeof before.doubts);
    trouble->pub.retransmissions.rounds++;
    trouble->pub.retransmissions.by_cause[cause]++;
    roce_event e = roce_track_event(ROCE_EVENT_ROUND, s, a);
    e.psn = a->psn;
    e.detail = (uint8_t)cause;
    e.frame = a->seen_frame;
    e.time_ns = a->seen_ns;
    e.related_frame = by_nak ? asked_frame(s, a) : 0;
    e.duration_ns = age_ns;
    roce_track_emit(t, &e);
    roce_measure_round(t, s, a, cause, age_ns);
    if (by_nak) {
        bool was_late = trouble->nak.was_late;
        answer_nak(t, s, a);
        if (was_late) {
            roce_round_mark_spurious(t, s, a);
        }
    } else if (cause == ROCE_CAUSE_TIMEOUT && s->acked && s->una < a->psn &&
               roce_missing_find(&lane->missing, s->una) != NULL) {
        /* A timeout repeats from the oldest that is not acknowledged, and that one is
         * still missing here: its copies went unseen again. */
        roce_loss_miss(t, s, a, ROCE_SPACE_REQUESTS, s->una, a->psn, true);
    }
}

/* Learns whether the requester goes back by the second packet of a round. */
static void
vote_on_recovery(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_trouble *trouble = roce_trouble_make(t, s);
    roce_round *round = &trouble->round;
    if (round->voted || round->cause != ROCE_CAUSE_NAK_SEQUENCE ||
        round->run_next >= round->end) {
        return;
    }
    round->voted = true;
    if (a->psn == round->run_next) {
        trouble->votes_go_back++;
    }
}

/* How many copies of the newest round have been seen, with the one that comes now. */
static uint64_t
copies_with_next(const roce_stream_state *s)
{
    return s->requests.tx + 1 - roce_trouble_of(s)->round.first_tx;
}

void
roce_round_skip(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                int64_t until)
{
    roce_lane *lane = roce_requests(s);
    int64_t from = roce_sequence_due(s);
    if (from >= until || s->pub.recovery == ROCE_RECOVERY_SELECTIVE) {
        return;
    }
    uint32_t skipped = roce_history_lower(&lane->history, until) -
                       roce_history_lower(&lane->history, from);
    if (skipped > roce_ident_room(s, lane, a)) {
        roce_trouble *trouble = roce_trouble_make(t, s);
        trouble->votes_selective++;
        trouble->skipped = true;
        return;
    }
    uint64_t seen = copies_with_next(s);
    if (roce_round_may_lose(s, skipped, seen)) {
        roce_loss_miss(t, s, a, ROCE_SPACE_REQUESTS, from, until, true);
    } else {
        roce_trouble_make(t, s)->votes_selective++;
    }
}

/* The round goes on past what a NAK asks for: if the requester has heard that one by now, the
 * round answers it, or nothing does. */
static void
pass_nak(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    const roce_last_nak *nak = &roce_trouble_of(s)->nak;
    if (nak->state != ROCE_NAK_SEQUENCE || nak->answered || a->psn < nak->psn ||
        roce_ident_mode_of(s) != ROCE_IDENT_RISING) {
        return;
    }
    const roce_heard *heard = roce_heard_of(s);
    uint64_t margin = a->psn == nak->psn ? 1 : REACTION_MARGIN;
    if (heard->n_prompt >= REACTIONS_KNOWN &&
        roce_since_ns(a->seen_ns, nak->time_ns) > margin * heard->most_prompt_ns) {
        roce_trouble_make(t, s)->nak.answered = true;
    }
}

/* The round goes on past what has been acknowledged, below what the newest ACK covers: who has
 * not heard that one sends all of it, and what went unseen may come yet. */
static void
pass_acknowledged(roce_stream_state *s, const roce_arrival *a)
{
    roce_lane *lane = roce_requests(s);
    uint32_t first = roce_history_lower(&lane->history, lane->next_tx);
    uint32_t end = roce_history_lower(&lane->history, a->psn);
    uint64_t seen = copies_with_next(s);
    if (roce_ident_mode_of(s) == ROCE_IDENT_RISING || !s->acked || a->psn >= s->una ||
        s->pub.recovery == ROCE_RECOVERY_SELECTIVE ||
        !roce_round_may_lose(s, end - first, seen)) {
        return;
    }
    for (uint32_t i = first; i < end; i++) {
        roce_history_at(&lane->history, i)->flags |= ROCE_SLOT_SKIPPED;
    }
}

void
roce_round_continue(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    vote_on_recovery(t, s, a);
    pass_nak(t, s, a);
    pass_acknowledged(s, a);
    roce_round_skip(t, s, a, a->psn);
}

void
roce_round_count(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                 uint64_t earlier)
{
    roce_trouble *trouble = roce_trouble_make(t, s);
    roce_retransmission_counters *r = &trouble->pub.retransmissions;
    r->packets++;
    r->bytes += a->packet->payload_bytes;
    trouble->pub.disorder[ROCE_SPACE_REQUESTS].resent++;
    roce_event e = roce_track_event(ROCE_EVENT_RETRANSMISSION, s, a);
    e.psn = a->psn;
    e.detail = (uint8_t)trouble->round.cause;
    e.related_frame = earlier;
    roce_track_emit(t, &e);
    if (a->info->role == ROCE_ROLE_READ_REQUEST) {
        r->requested_bytes += a->packet->reth.length_bytes;
        e.kind = ROCE_EVENT_READ_REISSUE;
        e.count = a->packet->reth.length_bytes;
        roce_track_emit(t, &e);
    }
}
