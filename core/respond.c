/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Responses in sequence: READ responses and atomic acknowledgements
 * (IBTA 9.7.5.1, 9.7.6).
 *
 * A response echoes the PSN of the peer's request, so what may come is known from the
 * requests seen on the other stream of the pair: the spans of READ, atomic, FLUSH and
 * ATOMIC WRITE requests, in order.  Bare ACKs are in no sequence: they are coalesced.
 *
 *   - A response beyond the next one due: those in between went unseen.
 *   - A response seen before, with the same identity: a network duplicate.
 *   - A step back: the responder executes a repeated request.  If it works in order, it
 *     had by then sent all that the partly answered READ before still owed, and that tail
 *     went unseen too; but some leave off.  Identifications tell, else time.
 *   - The requester takes responses in order as well; what it sees beyond a gap it
 *     discards, and asks again from the first one missing (an implied NAK).  So the
 *     request that opens a round judges the newest copy of the response that it starts
 *     at, and nothing is said of those behind it: lost or discarded.
 *
 * Where identifications do not tell how many responses were sent, nothing is said of an
 * answer to a repeated READ of which no packet came, of several: that its request was lost
 * is likelier than that all of them were.
 *
 * Without the peer's stream only the continuation of a message (First, Middle, Last) is
 * known to be due.
 */
#include "track.h"

#define ASKED_BEHIND 64 /* requests, among which one is looked for */

/* Calls for each PSN range in [start, end) that `s` has asked a response for; with
 * `since_tx`, only what was asked for since that transmission, from where it starts. */
static uint64_t
miss_due(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
         const roce_arrival *a, int64_t start, int64_t end, uint64_t since_tx)
{
    const roce_history *asked = &s->requests.history;
    bool numbered = roce_ident_mode_of(by) == ROCE_IDENT_RISING;
    uint64_t n = 0;
    if (start >= end) {
        return 0;
    }
    if (since_tx > 0 &&
        end - start > (int64_t)roce_ident_room(by, roce_responses(by), a)) {
        return 0; /* they cannot all have been sent since the newest seen */
    }
    for (uint32_t i = roce_history_lower(asked, start); i < asked->n; i++) {
        const roce_slot *slot = roce_history_at(asked, i);
        if (slot->psn >= end) {
            break;
        }
        if ((slot->flags & ROCE_SLOT_WANTS_RESPONSE) == 0 || slot->tx < since_tx) {
            continue;
        }
        int64_t from = slot->psn + (since_tx > 0 ? (int64_t)slot->skipped : 0);
        int64_t until = slot->psn + slot->span;
        /* Likelier one request was lost than all packets of its answer. */
        bool unanswered = since_tx > 0 && !numbered && from >= start && until <= end &&
                          until > from + 1;
        from = from > start ? from : start;
        until = until < end ? until : end;
        if (from < until && !unanswered) {
            roce_loss_miss(t, by, a, ROCE_SPACE_RESPONSES, from, until, since_tx > 0);
            n += (uint64_t)(until - from);
        }
    }
    return n;
}

/* Whether the requester, were it here, expects just this response. */
static bool
is_expected(const roce_stream_state *s, const roce_lane *lane, int64_t psn)
{
    if (psn <= lane->accept_next) {
        return true;
    }
    if (s == NULL) {
        return lane->missing.n == 0;
    }
    const roce_history *asked = &s->requests.history;
    for (uint32_t i = roce_history_lower(asked, lane->accept_next); i < asked->n; i++) {
        const roce_slot *slot = roce_history_at(asked, i);
        if ((slot->flags & ROCE_SLOT_WANTS_RESPONSE) != 0) {
            int64_t due = slot->psn > lane->accept_next ? slot->psn : lane->accept_next;
            return due >= psn;
        }
    }
    return true;
}

/* A transmission takes its place; returns its entry, or NULL for lack of room. */
static roce_slot *
place(roce_tracker *t, const roce_stream_state *s, roce_stream_state *by,
      const roce_arrival *a, roce_slot *slot)
{
    roce_lane *lane = roce_responses(by);
    bool in_order = is_expected(s, lane, a->psn);
    lane->tx++;
    if (slot == NULL) {
        by->pub.space[ROCE_SPACE_RESPONSES].unique_psns++;
        uint64_t forgot = 0; /* nothing here is wanted for ever: old responses go */
        slot = roce_room_take(t, &lane->history, a->psn, lane->max_next, &forgot);
        if (slot != NULL) {
            roce_slot_set_span(slot, 1);
            roce_slot_set_first(slot, &a->identity);
        }
    }
    if (slot != NULL) {
        roce_slot_set_newest(slot, &a->identity, a->frame->time_ns, a->frame->number,
                             lane->tx);
        roce_slot_count_copy(slot);
        bool starts = roce_part_starts(a->info->part);
        slot->flags = (uint16_t)((in_order ? ROCE_SLOT_IN_ORDER : 0) |
                                 (starts ? ROCE_SLOT_MESSAGE_START : 0));
    }
    if (in_order && a->psn + 1 > lane->accept_next) {
        lane->accept_next = a->psn + 1;
    }
    lane->next_tx = a->psn + 1;
    roce_ident_follow_lane(lane, a);
    if (a->psn + 1 > lane->max_next) {
        lane->max_next = a->psn + 1;
        lane->top_frame = a->frame->number;
    }
    return slot;
}

/* An event about a response with this PSN. */
static roce_event
event_of(roce_event_kind kind, const roce_stream_state *by, const roce_arrival *a,
         int64_t psn)
{
    roce_event e = roce_track_event(kind, by, a);
    e.space = ROCE_SPACE_RESPONSES;
    e.psn = psn;
    return e;
}

static void
report_gap(roce_tracker *t, roce_stream_state *by, const roce_arrival *a, int64_t psn,
           uint64_t count)
{
    roce_stream_trouble *trouble = &roce_trouble_make(t, by)->pub;
    trouble->disorder[ROCE_SPACE_RESPONSES].gaps++;
    trouble->disorder[ROCE_SPACE_RESPONSES].missing_psns += count;
    roce_event e = event_of(ROCE_EVENT_GAP, by, a, psn);
    e.count = count;
    e.related_frame = roce_responses(by)->top_frame;
    roce_track_emit(t, &e);
}

/* The requester waited here for what it had got: the point had missed it.  What was seen
 * behind it, sent in order, was taken as well. */
static void
catch_up(const roce_stream_state *s, roce_lane *lane)
{
    uint64_t tx = 0;
    for (uint32_t i = roce_history_lower(&lane->history, lane->accept_next);
         i < lane->history.n; i++) {
        roce_slot *slot = roce_history_at(&lane->history, i);
        if (!is_expected(s, lane, slot->psn) || slot->tx < tx) {
            return;
        }
        tx = slot->tx;
        slot->flags |= ROCE_SLOT_IN_ORDER;
        lane->accept_next = slot->psn + 1;
    }
}

/* Whether the requester has a copy of what was not seen once more. */
static bool
is_superfluous(const roce_stream_state *by, int64_t psn)
{
    const roce_slot *slot = roce_history_find(&roce_answers_of(by)->lane.history, psn);
    return slot != NULL && roce_sequence_was_accepted(by, ROCE_SPACE_RESPONSES, slot);
}

/* A requester that went on long after it had to miss a response, and has not asked for
 * it again, has got it. */
static void
cover_missing(roce_tracker *t, const roce_stream_state *s, roce_stream_state *by,
              uint64_t now_ns)
{
    roce_lane *lane = roce_responses(by);
    roce_missing *missing = &lane->missing;
    if (s == NULL || missing->n == 0) {
        return;
    }
    uint64_t patience = 2 * roce_round_timeout_floor_ns(t, s);
    for (uint32_t i = 0; i < missing->n; i++) {
        roce_missing_range *range = &missing->ranges[i];
        if (range->acked || range->asked || now_ns <= range->time_ns + patience) {
            continue;
        }
        const roce_slot *asked = roce_history_find(&s->requests.history, range->start);
        if (asked == NULL || asked->time_ns <= range->time_ns) {
            roce_missing_set_acked(missing, range);
            if (is_superfluous(by, range->start)) {
                continue;
            }
            if (lane->accept_next >= range->start && lane->accept_next < range->end) {
                lane->accept_next = range->end;
                catch_up(s, lane);
            }
            roce_misses_note(t, by);
        }
    }
}

/* Whether more was asked for again behind this PSN: an answer goes on with it. */
static bool
goes_on_behind(const roce_stream_state *s, int64_t psn)
{
    const roce_history *asked = &s->requests.history;
    uint64_t since_tx = roce_trouble_of(s)->round.first_tx;
    uint32_t first = roce_history_lower(asked, psn);
    for (uint32_t i = first; i < asked->n && i - first < ASKED_BEHIND; i++) {
        const roce_slot *slot = roce_history_at(asked, i);
        bool again = slot->copies > 1 && slot->tx >= since_tx &&
                     (slot->flags & ROCE_SLOT_WANTS_RESPONSE) != 0;
        if (again && slot->psn + slot->span > psn + 1) {
            return true;
        }
    }
    return false;
}

/* Whether what was taken for the beginning of an answer is followed by something else: it was
 * a late one. */
static bool
was_late(const roce_stream_state *s, const roce_stream_state *by)
{
    const roce_answers *answers = by->answers;
    return s != NULL && answers->lone.tx != 0 && answers->lone.tx == answers->lane.tx &&
           answers->lone.round_tx == roce_trouble_of(s)->round.first_tx &&
           goes_on_behind(s, answers->lone.psn);
}

/* What was said to be lost before it was not, and what is due goes on from where it was.
 * Limitation: what was taken to be missing before it stays so. */
static void
take_for_late(roce_tracker *t, roce_stream_state *by, const roce_arrival *now)
{
    roce_answers *answers = by->answers;
    roce_arrival late = *now;
    late.psn = answers->lone.psn;
    answers->lane.next_tx = answers->lone.next_tx;
    answers->answered_tx = answers->lone.answered_tx;
    if (answers->lone.lost) {
        (void)roce_loss_unmiss(
            t, by, &late, ROCE_SPACE_RESPONSES,
            roce_history_find(&answers->lane.history, answers->lone.psn));
    }
    answers->lone.tx = 0;
}

/* What may have been where an answer is sent again from was not: it was late. */
static void
settle_late(roce_tracker *t, roce_stream_state *by, const roce_arrival *a)
{
    roce_answers *answers = by->answers;
    if (answers->late_frame == 0) {
        return;
    }
    roce_event e = event_of(ROCE_EVENT_LATE, by, a, answers->late_start);
    e.evidence = ROCE_EVIDENCE_TIME;
    e.frame = answers->late_frame;
    e.time_ns = answers->late_ns;
    e.related_frame = answers->late_related;
    answers->late_frame = 0;
    roce_track_emit(t, &e);
}

static void
ahead(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
      const roce_arrival *a)
{
    roce_lane *lane = roce_responses(by);
    uint64_t missing = 0;
    settle_late(t, by, a);
    if (was_late(s, by)) {
        take_for_late(t, by, a);
    }
    if (s != NULL) {
        /* What was asked for again should have come again before this. */
        (void)miss_due(t, s, by, a, lane->next_tx, lane->max_next,
                       by->answers->answered_tx);
        missing = miss_due(t, s, by, a, lane->max_next, a->psn, 0);
    } else if (by->answers->response_message_next != ROCE_NO_PSN &&
               a->psn > by->answers->response_message_next) {
        missing = (uint64_t)(a->psn - by->answers->response_message_next);
        roce_loss_miss(t, by, a, ROCE_SPACE_RESPONSES,
                       by->answers->response_message_next, a->psn, false);
    }
    if (missing > 0) {
        report_gap(t, by, a, lane->max_next, missing);
    }
    cover_missing(t, s, by, s != NULL ? s->pub.last_time_ns : 0);
    (void)place(t, s, by, a, NULL);
}

/* Whether there was time for n responses more, at the pace of those that are seen of the
 * answer; where that is one, there was. */
static bool
had_time_for(const roce_lane *lane, const roce_slot *asked, int64_t n, uint64_t now_ns)
{
    const roce_history *seen = &lane->history;
    const roce_slot *newest = roce_history_find(seen, lane->max_next - 1);
    uint32_t i = roce_history_lower(seen, asked->psn);
    if (newest == NULL || i == seen->n) {
        return true;
    }
    const roce_slot *first = roce_history_at(seen, i);
    uint64_t took_ns = roce_since_ns(newest->time_ns, first->time_ns);
    uint64_t had_ns = roce_since_ns(now_ns, newest->time_ns);
    return had_ns >= took_ns / (uint64_t)(newest->psn - first->psn + 1) * (uint64_t)n;
}

/* How many of the n responses that a partly answered READ still owed had been sent by the
 * time that the responder started over.  One that works in order sends all of them first;
 * others leave off. */
static int64_t
sent_of_tail(const roce_stream_state *by, const roce_slot *asked, const roce_arrival *a,
             int64_t n)
{
    const roce_lane *lane = &by->answers->lane;
    uint32_t room = roce_ident_room(by, lane, a);
    if (room != UINT32_MAX) {
        return room < n ? room : n;
    }
    return had_time_for(lane, asked, n, a->frame->time_ns) ? n : 0;
}

/* The responder starts over: what the partly answered READ still owed, and had been sent,
 * went unseen. */
static void
miss_tail(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
          const roce_arrival *a)
{
    roce_lane *lane = roce_responses(by);
    const roce_slot *slot = roce_history_find(&s->requests.history, lane->max_next);
    if (slot == NULL || slot->psn >= lane->max_next ||
        (slot->flags & ROCE_SLOT_WANTS_RESPONSE) == 0) {
        return;
    }
    int64_t end = lane->max_next +
                  sent_of_tail(by, slot, a, slot->psn + slot->span - lane->max_next);
    if (end == lane->max_next) {
        return;
    }
    report_gap(t, by, a, lane->max_next, (uint64_t)(end - lane->max_next));
    roce_loss_miss(t, by, a, ROCE_SPACE_RESPONSES, lane->max_next, end, false);
    lane->max_next = end;
}

/* The first answer to a round that is seen is not the first that was due. */
static void
miss_start(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
           const roce_arrival *a)
{
    const roce_round *round = &roce_trouble_of(s)->round;
    bool begins = round->first_tx > 0 && by->answers->answered_tx != round->first_tx &&
                  a->psn >= round->start;
    by->answers->answered_tx = round->first_tx;
    if (begins) {
        (void)miss_due(t, s, by, a, round->start, a->psn, round->first_tx);
    }
}

static void
report_resent(roce_tracker *t, roce_stream_state *by, const roce_arrival *a,
              const roce_slot *slot)
{
    roce_trouble_make(t, by)->pub.disorder[ROCE_SPACE_RESPONSES].resent++;
    roce_event e = event_of(ROCE_EVENT_RESPONSE_RESENT, by, a, a->psn);
    e.related_frame = slot != NULL ? slot->frame : 0;
    roce_track_emit(t, &e);
}

/* The request for this PSN; or NULL. */
static const roce_slot *
request_for(const roce_stream_state *s, int64_t psn)
{
    return s != NULL ? roce_history_find(&s->requests.history, psn) : NULL;
}

/* A request that a timeout has repeated, and of which as many answers came as copies of it:
 * none of them was lost. */
static void
settle_doubt(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
             const roce_slot *response)
{
    const roce_round *round = &roce_trouble_of(s)->round;
    if (!round->doubt_told || round->doubt_over || round->doubted != a->psn ||
        response == NULL || response->lost > 0) {
        return;
    }
    const roce_slot *asked = request_for(s, a->psn);
    if (asked != NULL && asked->psn == a->psn && response->copies >= asked->copies) {
        roce_round_take_back_doubt(t, s, a);
    }
}

static void
sent_again(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
           const roce_arrival *a, roce_slot *slot)
{
    roce_lane *lane = roce_responses(by);
    const int64_t next_tx = lane->next_tx;
    const uint64_t answered_tx = by->answers->answered_tx;
    if (s != NULL && a->psn < lane->next_tx) {
        miss_tail(t, s, by, a);
        miss_start(t, s, by, a);
    } else if (s != NULL && a->psn > lane->next_tx) {
        (void)miss_due(t, s, by, a, lane->next_tx, a->psn, by->answers->answered_tx);
    }
    report_resent(t, by, a, slot);
    uint32_t lost = roce_loss_resolve(t, by, a, ROCE_SPACE_RESPONSES);
    slot = place(t, s, by, a, slot);
    roce_loss_note(slot, lost);
    if (s != NULL) {
        settle_doubt(t, s, a, slot);
    }
    if (a->psn != next_tx && roce_ident_mode_of(by) != ROCE_IDENT_RISING) {
        by->answers->lone.tx = lane->tx;
        by->answers->lone.lost = lost > 0;
        by->answers->lone.psn = a->psn;
        by->answers->lone.round_tx = s != NULL ? roce_trouble_of(s)->round.first_tx : 0;
        by->answers->lone.next_tx = next_tx;
        by->answers->lone.answered_tx = answered_tx;
    }
}

/* A copy that was sent again and overtaken on the way. */
static void
copy_arrived_late(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
                  const roce_arrival *a, roce_slot *slot)
{
    int64_t next_tx = roce_responses(by)->next_tx;
    (void)roce_loss_unmiss(t, by, a, ROCE_SPACE_RESPONSES, slot);
    report_resent(t, by, a, slot);
    (void)place(t, s, by, a, slot);
    roce_responses(by)->next_tx = next_tx;
}

/* Takes its place as a late one, which has not been said yet. */
static void
take_late(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
          const roce_arrival *a, roce_slot *slot)
{
    roce_lane *lane = roce_responses(by);
    int64_t next_tx = lane->next_tx;
    roce_trouble_make(t, by)->pub.disorder[ROCE_SPACE_RESPONSES].reordered++;
    (void)roce_loss_unmiss(t, by, a, ROCE_SPACE_RESPONSES, slot);
    if (slot != NULL) {
        /* the copy that was asked for came first */
        roce_slot_set_first(slot, &a->identity);
        roce_slot_count_copy(slot);
        return;
    }
    (void)place(t, s, by, a, NULL);
    lane->next_tx = next_tx;
}

static void
arrived_late(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
             const roce_arrival *a, roce_slot *slot, roce_evidence evidence)
{
    roce_event e = event_of(ROCE_EVENT_LATE, by, a, a->psn);
    e.evidence = evidence;
    e.related_frame = roce_responses(by)->top_frame;
    roce_track_emit(t, &e);
    take_late(t, s, by, a, slot);
}

/* Likewise, but what follows may tell that an answer is sent again from there. */
static void
may_have_arrived_late(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
                      const roce_arrival *a)
{
    roce_answers *answers = by->answers;
    answers->late_related = answers->lane.top_frame;
    take_late(t, s, by, a, NULL);
    answers->late_start = a->psn;
    answers->late_tx = answers->lane.tx;
    answers->late_frame = a->frame->number;
    answers->late_ns = a->seen_ns;
}

static void
duplicated(roce_tracker *t, roce_stream_state *by, const roce_arrival *a,
           const roce_slot *slot)
{
    roce_trouble_make(t, by)->pub.disorder[ROCE_SPACE_RESPONSES].duplicates++;
    roce_event e = event_of(ROCE_EVENT_DUPLICATE, by, a, a->psn);
    e.related_frame = slot->frame;
    roce_track_emit(t, &e);
}

/* Likewise, if the requester was seen asking for it again. */
static const roce_slot *
asked_again(const roce_stream_state *s, int64_t psn)
{
    const roce_slot *slot = request_for(s, psn);
    return slot != NULL && slot->copies > 1 ? slot : NULL;
}

/* Whether this may be the answer to a request that was seen asking again: it asked for
 * this PSN, long enough ago, and where the new answer begins it begins a message. */
static bool
may_answer_again(const roce_stream_state *s, const roce_stream_state *by,
                 const roce_arrival *a)
{
    const roce_slot *slot = asked_again(s, a->psn);
    if (s == NULL || slot == NULL) {
        return false;
    }
    int64_t start = slot->psn + (int64_t)slot->skipped;
    bool midway = start > slot->psn;
    bool starts = roce_part_starts(a->info->part) ||
                  (midway && by->answers->midway == ROCE_MIDWAY_GOES_ON);
    if (a->psn == start && midway && roce_part_starts(a->info->part)) {
        return true; /* the first answer had none that starts in its midst */
    }
    const roce_heard *heard = roce_heard_of(s);
    bool soon = heard->n_answers > 0 &&
                a->frame->time_ns < slot->time_ns + heard->least_answer_ns;
    return a->psn >= start && !soon && (a->psn > start || starts);
}

/* Whether it goes on with what is being sent again, or may be where that begins. */
static bool
is_again(const roce_stream_state *s, const roce_stream_state *by, const roce_arrival *a)
{
    const roce_lane *lane = &by->answers->lane;
    const roce_history *seen = &lane->history;
    bool among_seen = seen->n > 0 && roce_history_at(seen, seen->n - 1)->psn >= a->psn;
    return (among_seen && a->psn == lane->next_tx) || may_answer_again(s, by, a);
}

/* Whether a READ was asked for again from this PSN, in its midst. */
static bool
begins_midway(const roce_stream_state *s, int64_t psn)
{
    const roce_slot *slot = asked_again(s, psn);
    return slot != NULL && slot->skipped > 0 &&
           psn == slot->psn + (int64_t)slot->skipped;
}

/* What was taken for a late one was sent again after all: the one before was lost. */
static void
take_back_late(roce_tracker *t, roce_stream_state *by, const roce_arrival *a,
               int64_t psn)
{
    roce_disorder_counters *n =
        &roce_trouble_make(t, by)->pub.disorder[ROCE_SPACE_RESPONSES];
    roce_slot *slot = roce_history_find(&by->answers->lane.history, psn);
    roce_arrival again = *a;
    again.psn = psn;
    n->reordered--;
    n->resent++;
    roce_event e = event_of(ROCE_EVENT_RESPONSE_RESENT, by, a, psn);
    e.frame = by->answers->late_frame;
    e.time_ns = by->answers->late_ns;
    roce_track_emit(t, &e);
    by->answers->late_frame = 0;
    roce_missing_range range = {
        .start = psn, .end = psn + 1, .copies = 1, .asked = true};
    if (roce_loss_judge(t, by, &again, ROCE_SPACE_RESPONSES, &range) ==
        ROCE_VERDICT_LOST_BEFORE_CAPTURE) {
        roce_loss_note(slot, range.copies);
    }
}

/* Learns how the responder answers then.  What was taken for a late one and is followed by
 * what had been seen already was the first of the new answer. */
static void
learn_midway(roce_tracker *t, const roce_stream_state *s, roce_stream_state *by,
             const roce_arrival *a, const roce_slot *slot)
{
    roce_answers *answers = by->answers;
    if (s == NULL) {
        return; /* no longer paired */
    }
    if (begins_midway(s, a->psn) && roce_part_starts(a->info->part)) {
        answers->midway = ROCE_MIDWAY_ANEW;
    } else if (answers->midway == ROCE_MIDWAY_UNKNOWN && slot != NULL &&
               answers->late_frame != 0 && answers->late_tx == answers->lane.tx &&
               a->psn == answers->late_start + 1) {
        answers->midway = ROCE_MIDWAY_GOES_ON;
        answers->answered_tx = roce_trouble_of(s)->round.first_tx;
        answers->lane.next_tx = a->psn; /* the one before it is answered, too */
        take_back_late(t, by, a, answers->late_start);
    }
}

/* Whether a response that is missing before the first one seen is not that of an answer which
 * is sent again, but of the first: nobody was seen asking again, and so what came before it
 * answered what had been asked before the capture. */
static bool
is_first_answer(const roce_stream_state *s, const roce_stream_state *by,
                const roce_arrival *a)
{
    return a->psn < by->answers->first_seen && request_for(s, a->psn) != NULL &&
           asked_again(s, a->psn) == NULL;
}

/* Whether one more response, with those seen and those called lost, is more than was
 * seen asked for: then one was not lost.  But where an answer began in the midst of the
 * READ, the first one did not: neither of two such is the one that was lost. */
static bool
is_one_too_many(const roce_stream_state *s, const roce_arrival *a,
                const roce_slot *slot)
{
    const roce_slot *asked = slot->lost > 0 ? request_for(s, slot->psn) : NULL;
    if (asked == NULL || slot->copies + slot->lost + 1 <= asked->copies) {
        return false;
    }
    return slot->psn == asked->psn || !roce_part_starts(a->info->part) ||
           (slot->flags & ROCE_SLOT_MESSAGE_START) == 0;
}

static void
behind(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
       const roce_arrival *a)
{
    roce_lane *lane = roce_responses(by);
    roce_slot *slot = roce_history_find(&lane->history, a->psn);
    bool rising = roce_ident_mode_of(by) == ROCE_IDENT_RISING;
    bool constant = roce_ident_mode_of(by) == ROCE_IDENT_CONSTANT;
    if (a->psn == by->answers->lone.next_tx && was_late(s, by)) {
        take_for_late(t, by, a); /* what was under way goes on */
    }
    bool too_many = slot != NULL && !rising && is_one_too_many(s, a, slot);
    learn_midway(t, s, by, a, slot);
    settle_late(t, by, a);
    if (slot == NULL) {
        bool missing = roce_missing_find(&lane->missing, a->psn) != NULL;
        if (missing && is_first_answer(s, by, a)) {
            (void)roce_loss_unmiss(t, by, a, ROCE_SPACE_RESPONSES, NULL);
            (void)place(t, s, by, a, NULL);
            return;
        }
        bool late =
            rising ? roce_ident_was_overtaken(by, lane, a) : !is_again(s, by, a);
        if (missing && late && !rising && begins_midway(s, a->psn)) {
            may_have_arrived_late(t, s, by, a);
            return;
        }
        if (missing && late) {
            arrived_late(t, s, by, a, NULL,
                         rising ? ROCE_EVIDENCE_IDENTIFICATION : ROCE_EVIDENCE_TIME);
            return;
        }
        sent_again(t, s, by, a, NULL);
    } else if (roce_ident_same_copy(by, slot, &a->identity) ||
               (constant && asked_again(s, a->psn) == NULL)) {
        duplicated(t, by, a, slot);
    } else if (roce_ident_was_before(by, slot, a)) {
        arrived_late(t, s, by, a, slot, ROCE_EVIDENCE_IDENTIFICATION);
    } else if (roce_ident_was_overtaken(by, lane, a)) {
        copy_arrived_late(t, s, by, a, slot);
    } else if (too_many && !is_again(s, by, a)) {
        arrived_late(t, s, by, a, slot, ROCE_EVIDENCE_COPIES);
    } else {
        if (too_many) {
            (void)roce_loss_unmiss(t, by, a, ROCE_SPACE_RESPONSES, slot);
        }
        sent_again(t, s, by, a, slot);
    }
}

void
roce_respond_sample(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    const roce_slot *slot = roce_history_find(&s->requests.history, a->psn);
    bool fresh = !s->acked || a->psn >= s->una;
    if (fresh && slot != NULL && slot->psn == a->psn && slot->copies == 1 &&
        !roce_trouble_of(s)->round.active && a->frame->time_ns >= slot->time_ns) {
        roce_acknowledge_sample(t, s, a->frame->time_ns - slot->time_ns);
    }
}

/* Where the responses of a stream begin: at the first request seen, so that losing the
 * very first response is noticed; but not where some came before. */
static void
start_lane(const roce_stream_state *s, roce_stream_state *by, const roce_arrival *a)
{
    roce_lane *lane = roce_responses(by);
    int64_t first = a->psn;
    by->answers->first_seen = a->psn;
    if (s != NULL && !by->answers->began_before && s->requests.first < first) {
        first = s->requests.first;
    }
    by->answers->began_before = false;
    lane->started = true;
    lane->first = lane->next_tx = lane->max_next = lane->accept_next = first;
    by->answers->response_message_next = ROCE_NO_PSN;
}

/* Where the response stands, and what it is the response to. */
static void
sight(roce_tracker *t, const roce_stream_state *s, const roce_stream_state *by,
      const roce_arrival *a)
{
    t->last.sequenced = true;
    t->last.space = ROCE_SPACE_RESPONSES;
    t->last.psn = a->psn;
    t->last.span = 1;
    t->last.expected = by->answers->response_message_next;
    t->last.expected_known = by->answers->response_message_next != ROCE_NO_PSN;
    if (s != NULL && t->config.relation != NULL) {
        const roce_slot *slot = roce_history_find(&s->requests.history, a->psn);
        roce_track_relate(t, s, a, ROCE_RELATION_ANSWERS,
                          slot != NULL ? slot->frame : 0);
    }
}

void
roce_respond(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
             roce_arrival *a)
{
    if (roce_answers_make(t, by) == NULL) {
        return;
    }
    roce_lane *lane = roce_responses(by);
    roce_misses_saw(t, by->pub.point);
    if (s != NULL && !s->requests.started) {
        s = NULL; /* its requests are not captured here */
    }
    int64_t reference = lane->started ? lane->max_next : ROCE_PSN_MODULUS;
    if (s != NULL) {
        reference = s->requests.max_next;
    } else if (!lane->started) {
        reference += a->packet->bth.psn24;
    }
    a->psn = roce_psn_expand(a->packet->bth.psn24, reference);
    a->span = 1;
    if (!lane->started) {
        start_lane(s, by, a);
    }
    if (s != NULL) {
        roce_sequence_learn_from(s, a->info->part, a->packet->payload_bytes);
    }
    sight(t, s, by, a);
    if (a->psn >= lane->max_next) {
        ahead(t, s, by, a);
        roce_measure_response(t, s, by, a);
    } else {
        behind(t, s, by, a);
        roce_measure_response_behind(t, s, by, a);
    }
    by->answers->response_message_next =
        roce_part_ends(a->info->part) ? ROCE_NO_PSN : a->psn + 1;
    by->answers->response_time_ns = a->frame->time_ns;
    if (s != NULL) {
        roce_respond_sample(t, s, a);
        roce_acknowledge_up_to(t, s, a,
                               roce_part_ends(a->info->part) ? a->psn + 1 : a->psn);
    }
}

/* Responses that went unseen, and were sent: others come behind them. */
static void
pass_over(roce_lane *lane, int64_t end)
{
    lane->next_tx = lane->next_tx == lane->max_next ? end : lane->next_tx;
    lane->max_next = end;
}

/* Whether a response came behind the one before it, the newest copy of that, and was not
 * discarded for the lack of it. */
static bool
came_behind_the_one_before(const roce_lane *lane, const roce_slot *response)
{
    uint32_t i = roce_history_lower(&lane->history, response->psn);
    return i == 0 || roce_history_at(&lane->history, i - 1)->tx < response->tx;
}

/* Whether the requester cannot have missed this copy yet: when it asked again, the copy
 * was still on its way.  How long it takes is learned from responses that came once. */
static bool
is_too_soon(const roce_tracker *t, roce_stream_state *by, const roce_slot *response,
            uint64_t now_ns)
{
    const roce_stream_state *s = roce_track_peer(t, by);
    uint64_t age_ns = roce_since_ns(now_ns, response->time_ns);
    if (response->copies > 1) {
        return age_ns <
               by->answers->least_asked_ns / 8; /* hosts may be slow at times */
    }
    bool at_once =
        s != NULL && roce_trouble_of(s)->round.cause == ROCE_CAUSE_READ_REISSUE;
    if (at_once &&
        (by->answers->least_asked_ns == 0 || age_ns < by->answers->least_asked_ns)) {
        by->answers->least_asked_ns = age_ns;
    }
    return false;
}

bool
roce_respond_asked_again(roce_tracker *t, roce_stream_state *by, const roce_arrival *a,
                         const roce_slot *slot, bool opens_round)
{
    if (roce_answers_make(t, by) == NULL) {
        return false;
    }
    roce_lane *lane = roce_responses(by);
    int64_t end = slot->psn + slot->span;
    uint32_t i = roce_history_lower(&lane->history, slot->psn);
    bool answered =
        i < lane->history.n && roce_history_at(&lane->history, i)->psn < end;
    if (!answered && roce_loss_corrupt(t, by, a, ROCE_SPACE_RESPONSES, a->psn, end)) {
        return true;
    }
    if (!answered && a->psn == slot->psn) {
        /* Nothing of it was seen: the gap before a later response tells that the
         * responder answered; else the request itself is in doubt. */
        roce_stream_state *s = roce_track_peer(t, by);
        bool carried_out = s != NULL && s->una > end; /* by an ACK beyond it */
        if (carried_out && a->psn >= lane->max_next) {
            if (!lane->started) {
                start_lane(NULL, by, a);
            }
            (void)miss_due(t, s, by, a, lane->max_next, a->psn, 0);
            report_gap(t, by, a, a->psn, slot->span);
            roce_loss_miss(t, by, a, ROCE_SPACE_RESPONSES, a->psn, end, false);
            pass_over(lane, end);
        } else if (roce_missing_find(&lane->missing, a->psn) == NULL) {
            return false;
        }
        answered = true;
    }
    if (a->psn == lane->max_next && a->psn > slot->psn) {
        /* Asked for from where the answer broke off: the rest of it went unseen. */
        report_gap(t, by, a, lane->max_next, (uint64_t)(end - lane->max_next));
        roce_loss_miss(t, by, a, ROCE_SPACE_RESPONSES, lane->max_next, end, false);
        pass_over(lane, end);
    }
    if (!opens_round) {
        return answered; /* the requester may have discarded what came behind the gap */
    }
    roce_missing_mark_range(&lane->missing, &t->alloc, a->psn, a->psn + 1,
                            ROCE_MISSING_ASKED);
    roce_loss_trim(t, by, a, ROCE_SPACE_RESPONSES);
    roce_slot *response = roce_history_find(&lane->history, a->psn);
    if (response != NULL && lane->accept_next < a->psn &&
        came_behind_the_one_before(lane, response) &&
        roce_missing_find(&lane->missing, a->psn) == NULL) {
        response->flags |= ROCE_SLOT_IN_ORDER; /* what is before it has been taken */
    }
    if (response != NULL && (response->flags & ROCE_SLOT_JUDGED) == 0 &&
        !is_too_soon(t, by, response, a->frame->time_ns) &&
        roce_sequence_was_accepted(by, ROCE_SPACE_RESPONSES, response)) {
        response->flags |= ROCE_SLOT_JUDGED;
        roce_loss_say(t, by, a, ROCE_SPACE_RESPONSES,
                      ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE, ROCE_EVIDENCE_ASKED_FOR,
                      a->psn, 1, response->frame);
    }
    roce_sequence_expect(t, by, ROCE_SPACE_RESPONSES, a->psn);
    return answered;
}

void
roce_respond_restart(roce_tracker *t, roce_stream_state *by)
{
    if (by->answers == NULL) {
        return;
    }
    settle_late(t, by, NULL);
    roce_misses_settle(t, by, ROCE_SPACE_RESPONSES);
    roce_room_give_back(t, roce_responses(by));
    if (roce_trouble_had(by) != NULL) {
        roce_trouble_had(by)->discards[ROCE_SPACE_RESPONSES] = (roce_discard){0};
    }
    by->answers->answered_tx = 0;
    by->answers->answer.clean = false;
    by->answers->midway = ROCE_MIDWAY_UNKNOWN;
    by->answers->late_tx = 0;
    by->answers->lone.tx = 0;
    by->answers->began_before = false;
}

void
roce_respond_adopt(roce_tracker *t, roce_stream_state *by)
{
    roce_respond_restart(t, by);
    if (by->answers != NULL) {
        by->answers->began_before = by->pub.space[ROCE_SPACE_RESPONSES].unique_psns > 0;
    }
}

/* READs behind the newest response, of which nothing came here, and beyond which ACKs are
 * all the same: the responder, which works in order, had answered them, and the requester,
 * which asked no more, had its answers. */
static void
tell_unseen(roce_tracker *t, const roce_stream_state *s, roce_stream_state *by)
{
    const roce_lane *lane = &roce_answers_of(by)->lane;
    const roce_history *asked = &s->requests.history;
    int64_t start = lane->started ? lane->max_next : s->requests.first;
    if (!lane->started && by->pub.space[ROCE_SPACE_RESPONSES].unique_psns > 0) {
        return; /* they came before the two were paired */
    }
    for (uint32_t i = roce_history_lower(asked, start); s->acked && i < asked->n; i++) {
        const roce_slot *slot = roce_history_at(asked, i);
        int64_t end = slot->psn + slot->span;
        if (end > s->una) {
            return;
        }
        if ((slot->flags & ROCE_SLOT_WANTS_RESPONSE) != 0 && slot->psn >= start &&
            slot->copies == 1 && slot->lost == 0) {
            roce_loss_say(t, by, NULL, ROCE_SPACE_RESPONSES, ROCE_VERDICT_NOT_CAPTURED,
                          ROCE_EVIDENCE_ACKNOWLEDGED, slot->psn, slot->span, 0);
        }
    }
}

/* How long the two have been seen. */
static uint64_t
until_ns(const roce_stream_state *s, const roce_stream_state *by)
{
    uint64_t a = s->pub.last_time_ns;
    uint64_t b = by->pub.last_time_ns;
    return a > b ? a : b;
}

void
roce_respond_finish(roce_tracker *t, roce_stream_state *by)
{
    const roce_stream_state *s = roce_track_peer(t, by);
    if (s != NULL && s->requests.started) {
        tell_unseen(t, s, by);
    }
    if (by->answers == NULL) {
        return;
    }
    settle_late(t, by, NULL);
    cover_missing(t, s, by, s != NULL ? until_ns(s, by) : 0);
    roce_loss_finish(t, by, ROCE_SPACE_RESPONSES);
}
