/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests in sequence: what each one is, and what became of the copies before it.
 *
 * A point on the path sees, of what the requester sends, all that was not lost before
 * the point.  Two cursors follow it:
 *
 *   next_tx      the PSN the requester would send next if nothing were lost.  A packet
 *                beyond it means that transmissions went unseen (lane.missing); a
 *                packet before it is a copy of something, or a late original.
 *   accept_next  the expected PSN of a responder that stood at this point.  Packets
 *                beyond it are discarded by a go-back-N responder: they are neither
 *                delivered nor lost, and may be sent again for that reason alone.
 *                ACKs and NAKs of the true responder correct it (acceptor.c).
 *
 * Each request with unwrapped PSN x and span k is one of these:
 *
 *   1. x >= max_next: new.  Beyond max_next a gap opens: [max_next, x) joins `missing`.
 *   2. x was seen before, with the same wire identity: a duplicate made by the network.
 *   3. x was never seen and is in `missing`: a late original if its IPv4 identification
 *      is older than the newest seen.
 *   4. x was filled by a copy sent again, and this one is older: that was the late
 *      original, the verdict is withdrawn and the round was spurious.
 *   5. x was seen, and this copy is older than the newest: sent again and overtaken.  It
 *      moves neither next_tx nor the round.
 *   6. anything else: sent again.
 *
 * Where the identification tells nothing (IPv6, some devices), unnumbered.c stands in
 * for rules 2 to 5.
 *
 * Verdicts, each about one transmission:
 *
 *   missing, then sent again        lost_before_capture (asked_for if a NAK named it),
 *                                   unless the point misses too much (misses.c)
 *   missing, an ACK covers it       not_captured; nothing at all when an earlier copy
 *                                   had been seen: then the recovery is selective
 *   accepted here, then NAKed       undelivered_after_capture (acknowledge.c)
 *   accepted here, then a timeout   ack_lost if a covering ACK was seen a round trip
 *                                   earlier, else data_or_ack_lost, upgraded when the
 *                                   next ACK covers PSNs not yet sent again; of all
 *                                   that one timeout repeats, only where the silence
 *                                   began (round.c)
 *   READ and atomics answered here  the response is judged (respond.c)
 *   missing to the end              unknown
 *
 * Limitations: packets are counted one per PSN where they never come again; a whole
 * round that is lost before this point is invisible.
 */
#include "track.h"

#include <string.h>

#define ON_ITS_WAY_NS 5000000       /* beside a DREQ */
#define EARLY_BASE ROCE_PSN_MODULUS /* room for PSNs before the first */

int64_t
roce_sequence_due(const roce_stream_state *s)
{
    const roce_lane *lane = &s->requests;
    return s->acked && s->una > lane->next_tx ? s->una : lane->next_tx;
}

int64_t
roce_sequence_keep_from(const roce_stream_state *s)
{
    /* What nobody acknowledges is wanted no longer than there is room. */
    const roce_lane *lane = &s->requests;
    bool heard = s->acked || !roce_stream_is_paired(&s->pub);
    return !heard ? lane->first : s->acked ? s->una : lane->max_next;
}

/* Of the PSNs of a new entry those before the next one. */
static uint32_t
free_span(const roce_history *history, const roce_slot *slot, uint32_t span)
{
    if (slot == roce_history_at(history, history->n - 1)) {
        return span;
    }
    uint32_t next = roce_history_lower(history, slot->psn + 1);
    int64_t room = roce_history_at(history, next)->psn - slot->psn;
    return room < span ? (uint32_t)room : span;
}

/* A PSN that had not been seen here: its entry, and its part in a message. */
static roce_slot *
new_entry(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_lane *lane = roce_requests(s);
    uint64_t forgot = 0;
    s->pub.space[ROCE_SPACE_REQUESTS].unique_psns++;
    s->pub.message_bytes += roce_request_bytes(a);
    bool ends = roce_part_ends(a->info->part);
    bool is_uc =
        s->pub.transport == ROCE_TRANSPORT_UC; /* where it is known if it is taken */
    s->pub.messages_completed += ends && !is_uc ? 1 : 0;
    roce_slot *slot =
        roce_room_take(t, &lane->history, a->psn, roce_sequence_keep_from(s), &forgot);
    if (forgot > 0) {
        roce_track_evicted(t, ROCE_TABLE_HISTORY, s, a);
    }
    if (slot == NULL) {
        return NULL;
    }
    roce_slot_set_span(slot, free_span(&lane->history, slot, a->span));
    roce_slot_set_first(slot, &a->identity);
    roce_request_describe(slot, a);
    return slot;
}

/* A copy that moves nothing else may still be the one that the acceptor waits for. */
static void
offer_copy(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
           roce_slot *slot)
{
    slot->flags |= ROCE_SLOT_UNTIMED;
    if (roce_acceptor_offer(t, s, a)) {
        slot->flags |= ROCE_SLOT_IN_ORDER;
    }
}

/* A transmission takes its place: entry, acceptor, top. */
static void
place(roce_tracker *t, roce_stream_state *s, const roce_arrival *a, roce_slot *slot)
{
    roce_lane *lane = roce_requests(s);
    int64_t end = a->psn + a->span;
    bool in_order = roce_acceptor_offer(t, s, a);
    bool is_first = slot == NULL || slot->copies == 0;
    if (s->pub.transport == ROCE_TRANSPORT_UC && in_order && is_first) {
        s->pub.messages_completed += roce_part_ends(a->info->part) ? 1 : 0;
    }
    lane->tx++;
    if (slot != NULL) {
        roce_slot_set_newest(slot, &a->identity, a->frame->time_ns, a->frame->number,
                             lane->tx);
        if ((slot->flags & ROCE_SLOT_WANTS_RESPONSE) != 0) {
            slot->skipped = (uint64_t)(a->psn - slot->psn) & ROCE_SLOT_MAX_SKIPPED;
        }
        roce_slot_count_copy(slot);
        uint16_t drop = ROCE_SLOT_IN_ORDER | ROCE_SLOT_REFUSED | ROCE_SLOT_JUDGED |
                        ROCE_SLOT_WANTS_ACK;
        slot->flags = (uint16_t)(slot->flags & ~drop);
        slot->flags =
            (uint16_t)(slot->flags | (in_order ? ROCE_SLOT_IN_ORDER : 0) |
                       (a->packet->bth.ack_request ? ROCE_SLOT_WANTS_ACK : 0));
    }
    roce_ident_follow_lane(lane, a);
    if (end > lane->max_next) {
        lane->max_next = end;
        lane->top_frame = a->frame->number;
    }
}

bool
roce_sequence_runs_on_from_before(const roce_stream_state *s, const roce_arrival *a)
{
    const roce_early_run *run = &roce_trouble_of(s)->early;
    return run->tx != 0 && run->tx == s->requests.tx && run->next == a->psn;
}

/* The round that `a` begins.  Whether it is where the requester went back to. */
static bool
begin_round(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
            const roce_slot *slot)
{
    bool began_before = roce_sequence_runs_on_from_before(s, a);
    roce_cause cause =
        began_before ? ROCE_CAUSE_UNKNOWN : roce_round_find_cause(t, s, a, slot);
    roce_round_start(t, s, a, cause, roce_round_age(s, a, slot));
    if (began_before) {
        roce_trouble *trouble = roce_trouble_make(t, s);
        trouble->round.to = trouble->early.first;
        trouble->round.age_ns = 0; /* who knows what was waited for */
    }
    return !began_before;
}

/* The requester has kept the responses beyond the one that it misses. */
static void
learn_that_it_keeps(roce_tracker *t, roce_stream_state *s)
{
    roce_trouble *trouble = roce_trouble_make(t, s);
    trouble->votes_selective++;
    trouble->skipped = true;
    roce_acknowledge_settle_recovery(s);
    roce_stream_state *peer = roce_track_peer(t, s);
    if (peer != NULL && peer->answers != NULL) {
        roce_responses(peer)->selective = s->requests.selective;
    }
}

/* Sent again.  `slot` is the entry of an earlier copy, or NULL. */
static void
sent_again(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
           roce_slot *slot)
{
    roce_lane *lane = roce_requests(s);
    if (roce_asked_part_is(slot, a->psn + a->span)) {
        learn_that_it_keeps(t, s);
    }
    bool runs_on = roce_round_is_ahead(s, a->psn) &&
                   !roce_round_is_asked_anew(t, s, a, slot) &&
                   !roce_round_timed_out_again(t, s, a);
    bool opens = false;
    if (runs_on) {
        roce_round_continue(t, s, a);
    } else {
        opens = begin_round(t, s, a, slot);
    }
    uint64_t earlier = slot != NULL ? slot->frame : 0;
    if (slot != NULL) {
        roce_round_judge_copy(t, s, a, slot, opens);
        roce_trouble_make(t, s)->pub.disorder[ROCE_SPACE_REQUESTS].capture_repeats++;
    }
    uint32_t lost = roce_loss_resolve(t, s, a, ROCE_SPACE_REQUESTS);
    if (slot == NULL) {
        slot = new_entry(t, s, a);
        if (slot != NULL) {
            slot->flags |= ROCE_SLOT_FILLED_AGAIN;
        }
    }
    roce_loss_note(slot, lost);
    roce_round_count(t, s, a, earlier);
    lane->next_tx = a->psn + a->span;
    place(t, s, a, slot);
    roce_asked_part_note(t, s, slot, a->psn + a->span);
}

/* Whether what it is said to be will be said when that is settled. */
static bool
is_in_doubt(const roce_stream_state *s, const roce_arrival *a)
{
    const roce_doubt *doubt = &roce_trouble_of(s)->doubt;
    return doubt->valid && doubt->frame == a->frame->number;
}

static void
report_late(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
            roce_evidence evidence)
{
    roce_trouble_make(t, s)->pub.disorder[ROCE_SPACE_REQUESTS].reordered++;
    roce_measure_late(s, a->psn);
    if (is_in_doubt(s, a)) {
        return;
    }
    roce_event e = roce_track_event(ROCE_EVENT_LATE, s, a);
    e.psn = a->psn;
    e.evidence = evidence;
    e.related_frame = roce_requests(s)->top_frame;
    roce_track_emit(t, &e);
}

/* A copy that was sent again and overtaken on the way. */
static void
copy_arrived_late(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                  roce_slot *slot)
{
    uint64_t earlier = slot->frame;
    roce_trouble_make(t, s)->pub.disorder[ROCE_SPACE_REQUESTS].capture_repeats++;
    (void)roce_loss_unmiss(t, s, a, ROCE_SPACE_REQUESTS, slot);
    roce_round_count(t, s, a, earlier);
    place(t, s, a, slot);
    roce_asked_part_note(t, s, slot, a->psn + a->span);
}

/* An original that was overtaken fills its place in a gap. */
static void
arrived_late(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
             roce_evidence evidence)
{
    report_late(t, s, a, evidence);
    (void)roce_loss_unmiss(t, s, a, ROCE_SPACE_REQUESTS, NULL);
    roce_last_nak *nak = &roce_trouble_make(t, s)->nak;
    if (nak->state == ROCE_NAK_SEQUENCE && nak->psn >= a->psn &&
        nak->psn < a->psn + a->span) {
        nak->was_late = true;
        if (nak->answered) {
            roce_round_mark_spurious(t, s, a);
        }
    }
    roce_slot *slot = new_entry(t, s, a);
    if (slot != NULL) {
        slot->flags |= ROCE_SLOT_UNTIMED;
    }
    place(t, s, a, slot);
}

/* The original comes after the copy that was sent again: what was said is withdrawn. */
static void
overtaken_by_copy(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                  roce_slot *slot)
{
    const roce_round *round = &roce_trouble_of(s)->round;
    slot->flags = (uint16_t)(slot->flags & ~ROCE_SLOT_FILLED_AGAIN);
    if (roce_loss_unmiss(t, s, a, ROCE_SPACE_REQUESTS, slot) &&
        slot->psn >= round->start && slot->psn < round->end) {
        roce_round_mark_spurious(t, s, a);
    }
    roce_slot_set_first(slot, &a->identity);
    offer_copy(t, s, a, slot);
    roce_trouble_make(t, s)->pub.disorder[ROCE_SPACE_REQUESTS].capture_repeats++;
    report_late(t, s, a, ROCE_EVIDENCE_IDENTIFICATION);
}

static void
duplicated(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
           roce_slot *slot)
{
    roce_stream_trouble *trouble = &roce_trouble_make(t, s)->pub;
    trouble->disorder[ROCE_SPACE_REQUESTS].duplicates++;
    trouble->disorder[ROCE_SPACE_REQUESTS].capture_repeats++;
    roce_trouble_make(t, s)->round.n_doubts = 0; /* it will be answered as well */
    offer_copy(t, s, a, slot);
    if (is_in_doubt(s, a)) {
        return;
    }
    roce_event e = roce_track_event(ROCE_EVENT_DUPLICATE, s, a);
    e.psn = a->psn;
    e.related_frame = slot->frame;
    roce_track_emit(t, &e);
}

/* A packet from before the first one of the stream that came here, and nothing was seen
 * that would have it sent again: the first was overtaken on its way, or the capture began
 * between two copies.  Nothing is said of it. */
static bool
is_unaccounted(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    return a->psn < roce_requests(s)->first && !roce_trouble_of(s)->round.active &&
           roce_round_find_cause(t, s, a, NULL) == ROCE_CAUSE_UNKNOWN;
}

static void
take_early(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    bool runs_on = roce_sequence_runs_on_from_before(s, a);
    place(t, s, a, new_entry(t, s, a));
    roce_early_run *run = &roce_trouble_make(t, s)->early;
    if (!runs_on) {
        run->first = (roce_went_back){a->psn, a->frame->time_ns, a->frame->number};
    }
    run->next = a->psn + a->span;
    run->tx = s->requests.tx;
}

/* Rules 3 and 6 for a PSN that was never seen here. */
static void
fill(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    const roce_lane *lane = roce_requests(s);
    roce_unheard_hear_late(t, s, a);
    bool missing = roce_missing_find(&lane->missing, a->psn) != NULL;
    bool rising = roce_ident_mode_of(s) == ROCE_IDENT_RISING;
    if (rising && roce_ident_was_overtaken(s, lane, a)) {
        arrived_late(t, s, a, ROCE_EVIDENCE_IDENTIFICATION);
    } else if (missing && !rising && roce_unnumbered_missing(t, s, a)) {
        arrived_late(t, s, a, ROCE_EVIDENCE_TIME);
    } else if (is_unaccounted(t, s, a)) {
        take_early(t, s, a);
    } else {
        sent_again(t, s, a, NULL);
    }
}

/* Rules 2 to 6. */
static void
behind(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_lane *lane = roce_requests(s);
    roce_slot *slot = roce_history_find(&lane->history, a->psn);
    if (slot == NULL) {
        fill(t, s, a);
    } else if (roce_ident_same_copy(s, slot, &a->identity)) {
        duplicated(t, s, a, slot);
    } else if (roce_ident_was_before(s, slot, a)) {
        overtaken_by_copy(t, s, a, slot);
    } else if (roce_ident_was_overtaken(s, lane, a)) {
        copy_arrived_late(t, s, a, slot);
    } else if (roce_unnumbered_overtaken(t, s, a, slot)) {
        copy_arrived_late(t, s, a, slot);
    } else if (roce_unnumbered_repeated(t, s, a, slot)) {
        duplicated(t, s, a, slot);
    } else {
        sent_again(t, s, a, slot);
    }
}

/* What is missing; of UC, which sends nothing again, without what came with a bad ICRC. */
static void
miss(roce_tracker *t, roce_stream_state *s, const roce_arrival *a, int64_t start,
     int64_t end)
{
    while (start < end && s->pub.transport == ROCE_TRANSPORT_UC) {
        int64_t bad = roce_loss_first_bad(s, start, end);
        if (bad > start) {
            roce_loss_miss(t, s, a, ROCE_SPACE_REQUESTS, start, bad, false);
        }
        start = bad + 1;
    }
    if (start < end) {
        roce_loss_miss(t, s, a, ROCE_SPACE_REQUESTS, start, end, false);
    }
}

static void
open_gap(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_lane *lane = roce_requests(s);
    uint64_t count = (uint64_t)(a->psn - lane->max_next);
    roce_stream_trouble *trouble = &roce_trouble_make(t, s)->pub;
    trouble->disorder[ROCE_SPACE_REQUESTS].gaps++;
    trouble->disorder[ROCE_SPACE_REQUESTS].missing_psns += count;
    roce_event e = roce_track_event(ROCE_EVENT_GAP, s, a);
    e.psn = lane->max_next;
    e.count = count;
    e.related_frame = lane->top_frame;
    roce_track_emit(t, &e);
    miss(t, s, a, lane->max_next, a->psn);
    const roce_last_nak *nak = &roce_trouble_of(s)->nak;
    if (nak->state == ROCE_NAK_SEQUENCE && !nak->answered) {
        /* A NAK may be captured before the packets that it speaks of. */
        roce_missing_mark_range(&lane->missing, &t->alloc, nak->psn, nak->psn + 1,
                                ROCE_MISSING_ASKED);
        roce_loss_trim(t, s, a, ROCE_SPACE_REQUESTS);
    }
}

/* A request beyond all seen begins a message, or goes on with one. */
static void
take_new(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    place(t, s, a, new_entry(t, s, a));
}

/* Rule 1. */
static void
ahead(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_lane *lane = roce_requests(s);
    if (roce_ident_was_overtaken(s, lane, a)) {
        /* New here, but copies sent after it came before it: the round goes on. */
        if (a->psn > lane->max_next) {
            open_gap(t, s, a);
        }
        take_new(t, s, a);
        return;
    }
    const roce_round *round = &roce_trouble_of(s)->round;
    bool lone = round->active && round->first_tx == lane->tx &&
                roce_ident_mode_of(s) != ROCE_IDENT_RISING;
    if (round->active && lane->next_tx < lane->max_next && !lone) {
        /* The round should have gone on to its end. */
        roce_round_skip(t, s, a, lane->max_next);
    }
    if (a->psn == lane->max_next && lane->missing.n == 0 && !round->active) {
        lane->ident_known = false; /* nothing is late: the number counts from here */
    }
    if (round->active) {
        roce_trouble_make(t, s)->round.active = false;
    }
    if (a->psn > lane->max_next) {
        open_gap(t, s, a);
    }
    lane->next_tx = a->psn + a->span;
    take_new(t, s, a);
}

/* Where the request stands; `expected` is not known before the first one, and while a
 * READ's span is not. */
static void
sight(roce_tracker *t, const roce_stream_state *s, const roce_arrival *a)
{
    const roce_lane *lane = &s->requests;
    t->last.sequenced = true;
    t->last.space = ROCE_SPACE_REQUESTS;
    t->last.psn = a->psn;
    t->last.span = a->span;
    t->last.expected = lane->max_next;
    t->last.expected_known = !lane->span_unknown;
}

/* That of the first packet of a queue pair, unwrapped. */
static int64_t
first_psn(const roce_arrival *a)
{
    return (int64_t)a->packet->bth.psn24 + EARLY_BASE;
}

/* The PSN that a stream begins with: that of the packet, unless CM has named one shortly
 * before it, which is missing then. */
static int64_t
begins_at(const roce_tracker *t, const roce_stream_state *s, const roce_arrival *a)
{
    uint32_t psn24;
    if (!roce_connection_begins_before(t, s, a->packet->bth.psn24, &psn24)) {
        return a->psn;
    }
    int64_t psn = roce_psn_expand(psn24, a->psn);
    return psn < a->psn && psn > a->psn - ROCE_RESTART_DISTANCE ? psn : a->psn;
}

/* The first packet of a queue pair, which begins with the PSN `first`. */
static void
start_lane(roce_tracker *t, roce_stream_state *s, const roce_arrival *a, int64_t first)
{
    roce_lane *lane = roce_requests(s);
    sight(t, s, a);
    t->last.expected_known = false;
    lane->started = true;
    lane->broken = lane->in_message = false;
    lane->first = lane->next_tx = lane->max_next = lane->accept_next = first;
    s->una = lane->first;
    s->acked = false;
    roce_trouble *trouble = roce_trouble_had(s);
    if (trouble != NULL) {
        trouble->doubt.valid = trouble->kept.valid = false;
        memset(trouble->violations, 0, sizeof trouble->violations);
    }
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
        roce_respond_restart(t, peer);
        roce_trouble *said = roce_trouble_had(peer);
        if (said != NULL) {
            said->unheard_nak.state = ROCE_NAK_NONE;
        }
    }
    roce_misses_settle(t, s, ROCE_SPACE_REQUESTS);
    roce_room_give_back(t, roce_requests(s));
    roce_leap_forget(s, ROCE_SPACE_REQUESTS);
    roce_trouble *trouble = roce_trouble_make(t, s);
    bool was_answered = s->acked && s->una > trouble->round.start;
    trouble->nak = (roce_last_nak){0};
    memset(trouble->older_naks, 0, sizeof trouble->older_naks);
    trouble->round = (roce_round){0};
    trouble->early.tx = 0;
    trouble->discards[ROCE_SPACE_REQUESTS] = (roce_discard){0};
    roce_asked_part_forget(trouble);
    roce_loss_forget_bad(t, trouble);
    if (s->heard != NULL) {
        memset(s->heard->ack_steps, 0, sizeof s->heard->ack_steps);
        memset(&s->heard->told, 0, sizeof s->heard->told);
        s->heard->msn.known = false;
        s->heard->ended_ns = 0;
    }
    roce_measure_restart(s);
    trouble->pub.restarts++;
    a->psn = first_psn(a);
    start_lane(t, s, a, s->reborn ? begins_at(t, s, a) : a->psn);
    s->reborn = false;
    roce_event e = roce_track_event(ROCE_EVENT_STREAM_RESTART, s, a);
    e.psn = a->psn;
    e.count = was_answered ? 1 : 0;
    roce_track_emit(t, &e);
}

static bool
is_restart(const roce_stream_state *s, int64_t psn)
{
    const roce_lane *lane = &s->requests;
    int64_t distance = psn - lane->max_next;
    if (distance > ROCE_RESTART_DISTANCE) {
        return true;
    }
    return distance < -ROCE_RESTART_DISTANCE &&
           roce_history_find(&lane->history, psn) == NULL &&
           roce_missing_find(&lane->missing, psn) == NULL;
}

/* Whether CM has ended the queue pair of before, which has sent nothing since, but for what was
 * on its way. */
static bool
has_ended(const roce_stream_state *s, const roce_arrival *a)
{
    const roce_history *history = &s->requests.history;
    uint64_t ended_ns = roce_heard_of(s)->ended_ns;
    uint64_t newest_ns =
        history->n > 0 ? roce_history_at(history, history->n - 1)->time_ns : 0;
    return ended_ns != 0 && newest_ns < ended_ns + ON_ITS_WAY_NS &&
           a->frame->time_ns > ended_ns + ON_ITS_WAY_NS &&
           roce_part_starts(a->info->part) && a->psn != s->requests.next_tx;
}

void
roce_sequence_take(roce_tracker *t, roce_stream_state *s, roce_arrival *a)
{
    roce_lane *lane = roce_requests(s);
    roce_span_learn_from(s, a->info->part, a->packet->payload_bytes);
    bool unknown;
    a->span = roce_span_of(s, a, &unknown);
    if (!lane->started) {
        s->reborn = false;
        a->psn = first_psn(a);
        start_lane(t, s, a, begins_at(t, s, a));
        lane->span_unknown = unknown;
        return;
    }
    a->psn = roce_psn_expand(a->packet->bth.psn24, lane->max_next);
    sight(t, s, a);
    roce_span_resynchronise(s, a->psn);
    bool is_anothers = roce_request_is_of_another(s, a);
    if (s->reborn || is_restart(s, a->psn) || is_anothers || has_ended(s, a)) {
        s->pub.pmtu_bytes = roce_connection_pmtu_bytes(t, s);
        s->least_pmtu = 0;
        roce_span_learn_from(s, a->info->part, a->packet->payload_bytes);
        a->span = roce_span_of(s, a, &unknown);
        if (!s->reborn && is_anothers && roce_rebirth_is_of_round(t, s, a)) {
            ahead(t, s, a);
        } else {
            restart(t, s, a);
        }
        lane->span_unknown = unknown;
        return;
    }
    roce_unnumbered_settle(t, s, a);
    if (a->psn >= lane->max_next && roce_missing_find(&lane->missing, a->psn) == NULL) {
        ahead(t, s, a);
        lane->span_unknown = unknown;
    } else {
        behind(t, s, a);
    }
}

void
roce_sequence_begin_anew(roce_tracker *t, roce_stream_state *s, roce_arrival *a)
{
    roce_lane *lane = roce_requests(s);
    roce_stream_state *peer = roce_track_peer(t, s);
    const roce_slot *first = roce_history_at(&lane->history, 0);
    s->pub.space[ROCE_SPACE_REQUESTS].unique_psns--;
    s->pub.message_bytes -= first->message_bytes;
    unsigned counted =
        ROCE_SLOT_MESSAGE_END |
        (s->pub.transport == ROCE_TRANSPORT_UC ? ROCE_SLOT_IN_ORDER : 0u);
    s->pub.messages_completed -= (first->flags & counted) == counted ? 1 : 0;
    if (peer != NULL) {
        roce_respond_restart(t, peer);
    }
    roce_room_give_back(t, lane);
    roce_measure_restart(s);
    lane->started = false;
    roce_sequence_take(t, s, a);
}

void
roce_sequence_request(roce_tracker *t, roce_stream_state *s, roce_arrival *a)
{
    if (roce_leap_is_held(s, ROCE_SPACE_REQUESTS)) {
        if (s->reborn) {
            roce_leap_forget(s, ROCE_SPACE_REQUESTS);
        } else {
            roce_leap_settle(t, s, ROCE_SPACE_REQUESTS, a);
        }
    }
    int64_t due = roce_leap_due(s, ROCE_SPACE_REQUESTS, s->requests.next_tx);
    if (!roce_leap_is_one_bit(a->packet->bth.psn24, due) ||
        !roce_leap_hold_request(t, s, a, due)) {
        roce_sequence_take(t, s, a);
    }
}

/* Messages whose last packet nobody acknowledged are not complete, where acknowledgements
 * would have been seen. */
static void
take_back_unacknowledged(roce_stream_state *s)
{
    if (s->pub.transport == ROCE_TRANSPORT_UC) {
        return; /* what was not seen whole did not count in the first place */
    }
    const roce_lane *lane = roce_requests(s);
    bool is_heard = roce_stream_is_reliable(&s->pub) &&
                    roce_stream_is_paired(&s->pub) && lane->history.n > 0 &&
                    roce_history_at(&lane->history, 0)->psn == lane->first;
    if (!s->acked && !is_heard) {
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
    roce_unnumbered_finish(t, s);
    roce_loss_finish(t, s, ROCE_SPACE_REQUESTS);
    take_back_unacknowledged(s);
    roce_vantage_finish(s);
}
