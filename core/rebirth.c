/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queue pairs that were made anew with the number of an older one, and with PSNs near those
 * of that one: acknowledgements show it.
 *
 * The MSN of an ACK counts the messages that the responder has completed since the queue pair
 * was made (IBTA 9.7.7.1), and never goes back while PSNs go on.  So:
 *
 *   1. An ACK of a later PSN with an earlier MSN is another queue pair's.  It began behind the
 *      one gap that lies between the two ACKs: nothing is missing there.
 *   2. What a timeout repeats, though all of it and all behind it had been acknowledged, is
 *      answered with the newest MSN.  An ACK of one of its PSNs, or of one behind it, whose MSN
 *      is the number of messages since the round began is another queue pair's: nothing was
 *      sent again.
 *   3. Responses have an MSN as well (9.7.7.1), and a queue pair that reads alone has no other.
 *      They count as ACKs do for rule 1, where their request was sent once: those to what is
 *      asked again may have the MSN of before.
 *
 * Limitations: a round of READs is not taken back; nor is one of a queue pair that had completed
 * 2^23 messages.  What was told until the ACK stays told: the event of the restart names the
 * frame whose gap or round is none.  Where a request is in doubt (unnumbered.c) nothing is taken
 * back.
 */
#include "roce/aeth.h"
#include "track.h"

#include <string.h>

#define MSN_MASK 0xffffffu
#define MSN_HALF 0x800000u
#define MOST_COUNTED 4096 /* packets up to the first ACK of a queue pair */

static bool
is_earlier(uint32_t msn24, uint32_t than24)
{
    return ((msn24 - than24) & MSN_MASK) >= MSN_HALF;
}

/* Where a queue pair began. */
typedef struct beginning {
    int64_t psn;
    uint64_t frame, time_ns;
} beginning;

/* Nothing that came before it holds for the new queue pair; what was counted stays. */
static void
forget_before(roce_tracker *t, roce_stream_state *s, const beginning *at)
{
    roce_trouble *trouble = roce_trouble_make(t, s);
    if (trouble->nak.frame < at->frame) {
        trouble->nak = (roce_last_nak){0};
    }
    for (unsigned i = 0; i < ROCE_OLDER_NAKS; i++) {
        if (trouble->older_naks[i].frame < at->frame) {
            trouble->older_naks[i].frame = 0;
        }
    }
    if (trouble->round.frame <= at->frame) {
        trouble->round = (roce_round){0};
    }
    for (unsigned i = 0; i < trouble->bad_room; i++) {
        if (trouble->bad[i].frame < at->frame) {
            trouble->bad[i].frame = 0;
        }
    }
    if (s->heard != NULL && s->heard->ended_ns <= at->time_ns) {
        s->heard->ended_ns = 0;
    }
    trouble->early.tx = 0;
    roce_asked_part_forget(trouble);
    roce_measure_restart(s);
}

static void
tell(roce_tracker *t, roce_stream_state *s, const roce_arrival *a, const beginning *at)
{
    roce_trouble_make(t, s)->pub.restarts++;
    roce_event e = roce_track_event(ROCE_EVENT_STREAM_RESTART, s, a);
    e.psn = at->psn;
    e.count = 1; /* all before it had been acknowledged */
    e.related_frame = at->frame;
    roce_track_emit(t, &e);
}

/* ---- ahead ---- */

/* Whether all before a gap has been acknowledged, and nothing is in doubt. */
static bool
is_all_settled(const roce_stream_state *s, const roce_missing_range *range)
{
    const roce_trouble *trouble = roce_trouble_of(s);
    return s->acked && s->una == range->start && !roce_unnumbered_is_in_doubt(s) &&
           trouble->n_asked_late == 0;
}

/* Whether nothing of a gap has come since it opened, and nobody has asked for it, and a message
 * begins behind it. */
static bool
is_untouched(const roce_stream_state *s, const roce_missing_range *range)
{
    const roce_history *history = &s->requests.history;
    const roce_slot *before = roce_history_find(history, range->start - 1);
    const roce_slot *behind = roce_history_find(history, range->end);
    return !range->asked && !range->acked && !range->first_seen && range->copies == 1 &&
           before != NULL && before->frame < range->frame && behind != NULL &&
           behind->psn == range->end && behind->frame == range->frame &&
           (behind->flags & ROCE_SLOT_MESSAGE_START) != 0;
}

/* The widest gap between two PSNs that may be where a queue pair began; NULL: there is none. */
static const roce_missing_range *
find_gap(const roce_stream_state *s, int64_t after, int64_t psn)
{
    const roce_missing *missing = &s->requests.missing;
    const roce_missing_range *widest = NULL;
    for (uint32_t i = 0; i < missing->n; i++) {
        const roce_missing_range *range = &missing->ranges[i];
        if (range->start > after && range->end <= psn && is_untouched(s, range) &&
            is_all_settled(s, range) &&
            (widest == NULL ||
             range->end - range->start > widest->end - widest->start)) {
            widest = range;
        }
    }
    return widest;
}

static void
begin_behind(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
             const roce_missing_range *gap)
{
    roce_lane *lane = roce_requests(s);
    const beginning at = {gap->end, gap->frame, gap->time_ns};
    roce_missing_range taken;
    if (!roce_missing_take(&lane->missing, &t->alloc, gap->start, at.psn, &taken)) {
        return;
    }
    roce_disorder_counters *c =
        &roce_trouble_make(t, s)->pub.disorder[ROCE_SPACE_REQUESTS];
    uint64_t count = (uint64_t)(taken.end - taken.start);
    c->gaps -= c->gaps > 0 ? 1 : 0;
    c->missing_psns -= c->missing_psns > count ? count : c->missing_psns;
    lane->first = s->una = at.psn;
    roce_stream_state *peer = roce_track_peer(t, s);
    if (peer != NULL && roce_answers_of(peer)->lane.max_next <= at.psn) {
        roce_respond_restart(t, peer);
    }
    forget_before(t, s, &at);
    tell(t, s, a, &at);
}

/* ---- behind ---- */

/* Whether the newest round repeats, by timeout, what had all been acknowledged, and of what
 * was sent since nothing is missing. */
static bool
repeats_acknowledged(const roce_stream_state *s)
{
    const roce_lane *lane = &s->requests;
    const roce_trouble *trouble = roce_trouble_of(s);
    const roce_round *round = &trouble->round;
    return !roce_unnumbered_is_in_doubt(s) && trouble->n_asked_late == 0 &&
           !round->spurious && round->all_acked && s->una == round->end &&
           (round->active || lane->next_tx == lane->max_next) &&
           (lane->missing.n == 0 ||
            lane->missing.ranges[lane->missing.n - 1].end <= round->start);
}

/* How many messages end from where the round began up to `psn`; 0: not all of these came in
 * the round or behind it, or they are too many, or there is a READ among them. */
static uint32_t
count_messages(const roce_stream_state *s, int64_t psn)
{
    const roce_round *round = &roce_trouble_of(s)->round;
    const roce_history *history = &s->requests.history;
    uint32_t n = 0;
    uint32_t first = roce_history_lower(history, round->start);
    for (uint32_t i = first; i < history->n && i - first < MOST_COUNTED; i++) {
        const roce_slot *slot = roce_history_at(history, i);
        if (slot->tx < round->first_tx ||
            (slot->flags & ROCE_SLOT_WANTS_RESPONSE) != 0) {
            return 0;
        }
        n += (slot->flags & ROCE_SLOT_MESSAGE_END) != 0 ? 1 : 0;
        if (slot->psn >= psn) {
            return slot->psn == psn ? n : 0;
        }
    }
    return 0;
}

/* A packet of the round was a new one. */
static void
count_as_new(roce_tracker *t, roce_stream_state *s, roce_slot *slot)
{
    if (slot->copies > 1) { /* else it counted as new when it came */
        roce_trouble_make(t, s)->pub.disorder[ROCE_SPACE_REQUESTS].capture_repeats--;
        s->pub.space[ROCE_SPACE_REQUESTS].unique_psns++;
        s->pub.message_bytes += slot->message_bytes;
        s->pub.messages_completed += (slot->flags & ROCE_SLOT_MESSAGE_END) != 0 ? 1 : 0;
    }
    slot->flags = (uint16_t)(slot->flags & ~(unsigned)ROCE_SLOT_FILLED_AGAIN);
    slot->first_check = slot->newest_check;
    slot->first_ident = slot->newest_ident;
    slot->copies = 1;
    slot->lost = 0;
}

/* All that was sent again since the round began is of it. */
static void
count_back(roce_tracker *t, roce_stream_state *s)
{
    roce_stream_trouble *pub = &roce_trouble_make(t, s)->pub;
    const roce_round *round = &roce_trouble_of(s)->round;
    roce_retransmission_counters *r = &pub->retransmissions;
    pub->disorder[ROCE_SPACE_REQUESTS].resent -= r->packets - round->was.packets;
    r->packets = round->was.packets;
    r->bytes = round->was.bytes;
    r->requested_bytes = round->was.requested_bytes;
    r->rounds--;
    r->by_cause[round->cause]--;
}

/* Nothing was sent again. */
static void
take_back(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_lane *lane = roce_requests(s);
    roce_trouble *trouble = roce_trouble_make(t, s);
    const roce_round *round = &trouble->round;
    int64_t end = round->end < lane->next_tx ? round->end : lane->next_tx;
    for (uint32_t i = roce_history_lower(&lane->history, round->start);
         i < lane->history.n; i++) {
        roce_slot *slot = roce_history_at(&lane->history, i);
        if (slot->psn >= end) {
            break;
        }
        if (slot->tx < round->first_tx) {
            continue;
        }
        if ((slot->flags & ROCE_SLOT_ACK_SEEN) != 0) {
            slot->flags = (uint16_t)(slot->flags & ~(unsigned)ROCE_SLOT_ACK_SEEN);
            roce_loss_withdraw(t, s, a, ROCE_SPACE_REQUESTS, ROCE_VERDICT_ACK_LOST,
                               slot->psn);
        }
        count_as_new(t, s, slot);
    }
    count_back(t, s);
}

/* Forgets what is not of the round, nor was sent behind it. */
static void
forget_entries(roce_lane *lane, uint64_t first_tx)
{
    roce_history *history = &lane->history;
    uint32_t n = roce_history_lower(history, lane->next_tx);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        const roce_slot *slot = roce_history_at(history, i);
        if (slot->tx >= first_tx) {
            *roce_history_at(history, kept++) = *slot;
        }
    }
    history->n = kept;
}

static void
open_gap(roce_tracker *t, roce_stream_state *s, const roce_arrival *a, int64_t start,
         const roce_slot *behind)
{
    roce_disorder_counters *c =
        &roce_trouble_make(t, s)->pub.disorder[ROCE_SPACE_REQUESTS];
    uint64_t count = (uint64_t)(behind->psn - start);
    c->gaps++;
    c->missing_psns += count;
    roce_event e = roce_track_event(ROCE_EVENT_GAP, s, a);
    e.psn = start;
    e.count = count;
    e.frame = behind->frame;
    e.time_ns = behind->time_ns;
    roce_track_emit(t, &e);
    roce_loss_miss(t, s, a, ROCE_SPACE_REQUESTS, start, behind->psn, false);
}

/* Of the queue pair that began with a PSN, what is there was taken up to where something is
 * missing, which it was not as long as the queue pair of before had sent it. */
static void
follow_from(roce_tracker *t, roce_stream_state *s, const roce_arrival *a, int64_t next)
{
    roce_lane *lane = roce_requests(s);
    lane->accept_next = next;
    for (uint32_t i = 0; i < lane->history.n; i++) {
        roce_slot *slot = roce_history_at(&lane->history, i);
        if (slot->psn > next) {
            open_gap(t, s, a, next, slot);
        } else if (lane->accept_next == slot->psn) {
            slot->flags |= ROCE_SLOT_IN_ORDER;
            lane->accept_next += slot->span;
        }
        next = slot->psn + slot->span;
    }
    lane->max_next = lane->next_tx;
}

/* The newest round is none: with its first packet the queue pair began. */
static void
begin_with_round(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_lane *lane = roce_requests(s);
    roce_stream_state *peer = roce_track_peer(t, s);
    const roce_round *round = &roce_trouble_of(s)->round;
    const beginning at = {round->start, round->frame, round->time_ns};
    uint64_t first_tx = round->first_tx;
    roce_discard *discard = &roce_trouble_make(t, s)->discards[ROCE_SPACE_REQUESTS];
    if (discard->tx < first_tx) {
        *discard = (roce_discard){0};
    }
    take_back(t, s, a);
    roce_misses_settle(t, s, ROCE_SPACE_REQUESTS);
    forget_entries(lane, first_tx);
    lane->first = s->una = at.psn;
    follow_from(t, s, a, at.psn);
    if (peer != NULL) {
        roce_respond_restart(t, peer);
    }
    roce_heard *heard = roce_heard_make(t, s);
    memset(heard->ack_steps, 0, sizeof heard->ack_steps);
    memset(&heard->told, 0, sizeof heard->told);
    heard->msn.known = false;
    forget_before(t, s, &at);
    tell(t, s, a, &at);
}

bool
roce_rebirth_is_of_round(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    if (!repeats_acknowledged(s) || a->psn != s->requests.next_tx) {
        return false;
    }
    begin_with_round(t, s, a);
    return true;
}

/* ---- what is heard ---- */

static void
remember(roce_heard *heard, int64_t psn, uint32_t msn24)
{
    heard->msn.known = true;
    heard->msn.psn = psn;
    heard->msn.msn24 = msn24;
}

/* Whether the MSN, which lies before that of what came before, is that of a queue pair that
 * began behind a gap: then it is told. */
static bool
began_behind_gap(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                 int64_t psn)
{
    const roce_missing_range *gap = find_gap(s, roce_heard_of(s)->msn.psn, psn);
    if (gap == NULL || a->packet->aeth_msn > psn - gap->end + 1) {
        return false;
    }
    begin_behind(t, s, a, gap);
    return true;
}

void
roce_rebirth_hear(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                  int64_t psn)
{
    uint32_t msn24 = a->packet->aeth_msn;
    if (s->pub.transport != ROCE_TRANSPORT_RC || a->info->role != ROCE_ROLE_ACK ||
        roce_aeth_get_kind(a->packet->aeth_syndrome) != ROCE_AETH_ACK) {
        return;
    }
    roce_heard *heard = roce_heard_make(t, s);
    if (heard->msn.known && is_earlier(msn24, heard->msn.msn24) &&
        !began_behind_gap(t, s, a, psn)) {
        if (repeats_acknowledged(s) && msn24 != 0 && psn < s->requests.next_tx &&
            count_messages(s, psn) == msn24) {
            begin_with_round(t, s, a);
        } else if (psn <= heard->msn.psn) {
            return; /* it was overtaken */
        }
    }
    remember(heard, psn, msn24);
}

void
roce_rebirth_hear_response(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    uint32_t msn24 = a->packet->aeth_msn;
    const roce_slot *asked = roce_history_find(&s->requests.history, a->psn);
    bool once = asked != NULL && asked->copies == 1 &&
                (asked->flags & (ROCE_SLOT_FILLED_AGAIN | ROCE_SLOT_UNTIMED)) == 0;
    if (s->pub.transport != ROCE_TRANSPORT_RC || msn24 == 0 || !once) {
        return;
    }
    roce_heard *heard = roce_heard_make(t, s);
    if (heard->msn.known && a->psn <= heard->msn.psn) {
        return;
    }
    if (heard->msn.known && is_earlier(msn24, heard->msn.msn24)) {
        (void)began_behind_gap(t, s, a, a->psn);
    }
    remember(heard, a->psn, msn24);
}
