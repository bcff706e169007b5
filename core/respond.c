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

/* How often the responder may have been asked: where the first request seen is a repeat, the
 * one before it may have got there, unless it is called lost. */
static uint32_t
times_asked(const roce_slot *slot)
{
    bool once_more = (slot->flags & ROCE_SLOT_FILLED_AGAIN) != 0 && slot->lost == 0;
    return slot->copies + (once_more ? 1u : 0u);
}

/* How often a response was sent: those that were seen, called lost, or are missing. */
static uint32_t
times_answered(const roce_lane *lane, int64_t psn)
{
    const roce_slot *response = roce_history_find(&lane->history, psn);
    const roce_missing_range *range = roce_missing_find(&lane->missing, psn);
    uint32_t n = response != NULL ? (uint32_t)response->copies + response->lost : 0;
    return n + (range != NULL ? range->copies : 0);
}

/* The transmission of the request that the response answers, or one behind it: the only one, or
 * one before the newest round if it comes sooner behind that than any answer can; as late as can
 * be where this does not tell. */
static uint64_t
answered_by(const roce_stream_state *s, const roce_arrival *a)
{
    const roce_slot *slot = roce_history_find(&s->requests.history, a->psn);
    uint64_t first_tx = roce_trouble_of(s)->round.first_tx;
    if (slot == NULL) {
        return UINT64_MAX;
    }
    if (slot->copies == 1) {
        return slot->tx;
    }
    uint64_t taken_ns = roce_since_ns(a->frame->time_ns, slot->time_ns);
    bool is_earlier =
        first_tx > 0 && slot->tx >= first_tx && roce_acknowledge_is_sooner(s, taken_ns);
    return is_earlier ? first_tx - 1 : UINT64_MAX;
}

/* Whether the newest answer that `slot` asks for, from `from` on, is due before that to the
 * transmission `before_tx`: it was sent less often than it was asked for by then, if it was not
 * a network that made copies of requests; or than what comes before it in the same answer, which
 * may have been asked for unseen.  Parts that end here are taken for answered: one that is still on
 * its way hides what such an answer lost. */
static bool
is_due_again(const roce_stream_state *s, const roce_answers *answers,
             const roce_slot *slot, int64_t from, uint64_t before_tx)
{
    uint32_t n = times_answered(&answers->lane, from);
    uint32_t n_parts = roce_asked_part_count(s, slot, from, before_tx);
    uint32_t n_asked = times_asked(slot) - (slot->tx > before_tx ? 1u : 0u);
    bool asked = answers->answered_tx > 0 && n + n_parts < n_asked;
    uint32_t n_ended = roce_asked_part_count(s, slot, from, UINT64_MAX) -
                       roce_asked_part_count(s, slot, from - 1, UINT64_MAX);
    return asked ||
           (from > slot->psn && n + n_ended < times_answered(&answers->lane, from - 1));
}

/* Responses from `start` to `end`, that came before the one that arrives or are missing. */
typedef struct due_range {
    int64_t start, end;
    uint64_t since_tx;  /* those asked for again since; 0: those asked for at all */
    uint64_t before_tx; /* and before the transmission that is answered now */
    bool numbered;
    bool count_only; /* nothing is missed yet */
} due_range;

/* Misses the responses to `slot` in a range; of what is asked for again, each part that is due.
 * Returns how many. */
static uint64_t
miss_parts(roce_tracker *t, const roce_stream_state *s, roce_stream_state *by,
           const roce_arrival *a, const due_range *due, const roce_slot *slot,
           int64_t from, int64_t until)
{
    const bool again = due->since_tx > 0;
    uint64_t n = 0;
    while (from < until) {
        const int64_t end = again ? roce_asked_part_end(s, from, until) : until;
        if (!again || is_due_again(s, by->answers, slot, from, due->before_tx)) {
            if (!due->count_only) {
                roce_loss_miss(t, by, a, ROCE_SPACE_RESPONSES, from, end, again);
            }
            n += (uint64_t)(end - from);
        }
        from = end;
    }
    return n;
}

static uint64_t
miss_all(roce_tracker *t, const roce_stream_state *s, roce_stream_state *by,
         const roce_arrival *a, const due_range *due)
{
    const roce_history *asked = &s->requests.history;
    uint64_t n = 0;
    for (uint32_t i = roce_history_lower(asked, due->start); i < asked->n; i++) {
        const roce_slot *slot = roce_history_at(asked, i);
        if (slot->psn >= due->end) {
            break;
        }
        if ((slot->flags & ROCE_SLOT_WANTS_RESPONSE) == 0 || slot->tx < due->since_tx) {
            continue;
        }
        int64_t from = slot->psn + (due->since_tx > 0 ? (int64_t)slot->skipped : 0);
        int64_t until = slot->psn + slot->span;
        /* Likelier one request was lost than all packets of its answer. */
        bool unanswered = due->since_tx > 0 && !due->numbered && from >= due->start &&
                          until <= due->end && until > from + 1;
        from = from > due->start ? from : due->start;
        until = until < due->end ? until : due->end;
        if (!unanswered) {
            n += miss_parts(t, s, by, a, due, slot, from, until);
        }
    }
    return n;
}

/* Whether so many can have been sent since the newest seen: all of a range, unless some may end
 * before that. */
static bool
have_room(roce_tracker *t, const roce_stream_state *s, roce_stream_state *by,
          const roce_arrival *a, due_range due)
{
    uint64_t room = roce_ident_room(by, roce_responses(by), a);
    if ((uint64_t)(due.end - due.start) <= room) {
        return true;
    }
    due.count_only = true;
    return roce_trouble_of(s)->asked_parts != NULL &&
           miss_all(t, s, by, a, &due) <= room;
}

uint64_t
roce_respond_miss_due(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
                      const roce_arrival *a, int64_t start, int64_t end,
                      uint64_t since_tx)
{
    const int64_t first = roce_responses(by)->first;
    due_range due = {
        .start =
            since_tx == 0 || start > first ? start : first, /* what was is not known */
        .end = end,
        .since_tx = since_tx,
        .numbered = roce_ident_mode_of(by) == ROCE_IDENT_RISING,
    };
    if (due.start >= end) {
        return 0;
    }
    due.before_tx = answered_by(s, a);
    return since_tx > 0 && !have_room(t, s, by, a, due) ? 0
                                                        : miss_all(t, s, by, a, &due);
}

void
roce_respond_miss_again(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
                        const roce_arrival *a, int64_t start, int64_t end)
{
    uint64_t since_tx = by->answers->answered_tx > 0 ? by->answers->answered_tx : 1;
    (void)roce_respond_miss_due(t, s, by, a, start, end, since_tx);
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

/* Whether an ACK or a NAK that covers the request has come before its response, so that the
 * requester takes that for lost: one that is sent again comes behind ACKs of copies, which name
 * the newest PSN of all, and a network may reorder them. */
static bool
was_passed_over(const roce_stream_state *s, int64_t psn)
{
    if (s == NULL || roce_heard_of(s)->told.una <= psn) {
        return false;
    }
    const roce_slot *asked = roce_history_find(&s->requests.history, psn);
    return asked != NULL && roce_acknowledge_is_told(s, asked) &&
           asked->frame < roce_heard_of(s)->told.frame;
}

roce_slot *
roce_respond_place(roce_tracker *t, const roce_stream_state *s, roce_stream_state *by,
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
        bool passed_over = was_passed_over(s, a->psn);
        slot->flags = (uint16_t)((slot->flags & ROCE_SLOT_FILLED_AGAIN) |
                                 (in_order ? ROCE_SLOT_IN_ORDER : 0) |
                                 (starts ? ROCE_SLOT_MESSAGE_START : 0) |
                                 (passed_over ? ROCE_SLOT_PASSED_OVER : 0));
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

roce_event
roce_respond_event(roce_event_kind kind, const roce_stream_state *by,
                   const roce_arrival *a, int64_t psn)
{
    roce_event e = roce_track_event(kind, by, a);
    e.space = ROCE_SPACE_RESPONSES;
    e.psn = psn;
    return e;
}

void
roce_respond_gap(roce_tracker *t, roce_stream_state *by, const roce_arrival *a,
                 int64_t psn, uint64_t count)
{
    roce_stream_trouble *trouble = &roce_trouble_make(t, by)->pub;
    trouble->disorder[ROCE_SPACE_RESPONSES].gaps++;
    trouble->disorder[ROCE_SPACE_RESPONSES].missing_psns += count;
    roce_event e = roce_respond_event(ROCE_EVENT_GAP, by, a, psn);
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

/* Whether the requester has a copy of what was not seen once more; or may have, where what came
 * of it before is no longer remembered. */
static bool
is_superfluous(const roce_stream_state *by, const roce_missing_range *range)
{
    const roce_slot *slot =
        roce_history_find(&roce_answers_of(by)->lane.history, range->start);
    return slot != NULL ? roce_acceptor_has_taken(by, ROCE_SPACE_RESPONSES, slot)
                        : range->first_seen;
}

/* How long a requester goes on at most without asking again for a response that it has to
 * miss. */
static uint64_t
patience_ns(const roce_tracker *t, const roce_stream_state *s)
{
    return 2 * roce_round_timeout_floor_ns(t, s);
}

/* Whether a response was asked for later than that. */
static bool
was_asked_since(const roce_stream_state *s, int64_t psn, uint64_t time_ns)
{
    const roce_slot *asked = roce_history_find(&s->requests.history, psn);
    return asked != NULL && asked->time_ns > time_ns;
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
    uint64_t patience = patience_ns(t, s);
    for (uint32_t i = 0; i < missing->n; i++) {
        roce_missing_range *range = &missing->ranges[i];
        if (range->acked || range->asked || now_ns <= range->time_ns + patience) {
            continue;
        }
        if (!was_asked_since(s, range->start, range->time_ns)) {
            roce_missing_set_acked(missing, range);
            if (is_superfluous(by, range)) {
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

/* Until when the requester has been seen, by what the clock shows now: where it was set back,
 * some stamps are later than any time since. */
static uint64_t
seen_until_ns(const roce_stream_state *s, const roce_arrival *a)
{
    uint64_t last_ns = s->pub.last_time_ns;
    return last_ns < a->frame->time_ns ? last_ns : a->frame->time_ns;
}

/* Tells of the responses that were seen here if the requester has got them.  It knows that
 * one is missing when the next comes; a copy that is asked for once more behind this was not
 * got.  Of what had been asked for before it may have another copy; and one that has asked
 * again, and has to miss that too, may leave it to its timer. */
static void
tell_followed(roce_tracker *t, const roce_stream_state *s, roce_stream_state *by,
              const roce_arrival *a)
{
    const roce_history *seen = &by->answers->lane.history;
    const uint64_t patience = patience_ns(t, s);
    uint32_t i = roce_history_lower(seen, by->answers->followed_next);
    for (; i + 1 < seen->n; i++) {
        const roce_slot *slot = roce_history_at(seen, i);
        uint64_t told_ns = roce_history_at(seen, i + 1)->time_ns;
        told_ns = told_ns > slot->time_ns ? told_ns : slot->time_ns;
        if (seen_until_ns(s, a) <= told_ns + patience) {
            return;
        }
        by->answers->followed_next = slot->psn + 1;
        if (!roce_slot_was_repeated(slot) &&
            !was_asked_since(s, slot->psn, slot->time_ns)) {
            roce_track_relate(t, s, a, ROCE_RELATION_FOLLOWS, slot->frame);
        }
    }
}

static void
ahead(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
      const roce_arrival *a)
{
    roce_lane *lane = roce_responses(by);
    uint64_t missing = 0;
    const int64_t next_tx = lane->next_tx;
    /* New here, but answers that are sent again have overtaken it: those go on. */
    const bool overtaken = roce_ident_was_overtaken(by, lane, a);
    roce_respond_settle_late(t, s, by, a);
    if (s != NULL) {
        if (!overtaken) { /* what was asked for again should have come before this */
            roce_respond_miss_again(t, s, by, a, lane->next_tx, lane->max_next);
        }
        missing = roce_respond_miss_due(t, s, by, a, lane->max_next, a->psn, 0);
    } else if (by->answers->response_message_next != ROCE_NO_PSN &&
               a->psn > by->answers->response_message_next) {
        missing = (uint64_t)(a->psn - by->answers->response_message_next);
        roce_loss_miss(t, by, a, ROCE_SPACE_RESPONSES,
                       by->answers->response_message_next, a->psn, false);
    }
    if (missing > 0) {
        roce_respond_gap(t, by, a, lane->max_next, missing);
    }
    cover_missing(t, s, by, s != NULL ? seen_until_ns(s, a) : 0);
    (void)roce_respond_place(t, s, by, a, NULL);
    lane->next_tx = overtaken ? next_tx : lane->next_tx;
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
    by->answers->followed_next = first;
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

/* Who asks; NULL: its requests are not captured here. */
static roce_stream_state *
requester_of(const roce_tracker *t, const roce_stream_state *by)
{
    roce_stream_state *s = roce_track_peer(t, by);
    return s != NULL && s->requests.started ? s : NULL;
}

void
roce_respond_take(roce_tracker *t, roce_stream_state *by, roce_arrival *a)
{
    roce_stream_state *s = requester_of(t, by);
    roce_lane *lane = roce_responses(by);
    int64_t reference = lane->started ? lane->max_next : ROCE_PSN_MODULUS;
    if (s != NULL) {
        reference = s->requests.max_next;
    } else if (!lane->started) {
        reference += a->packet->bth.psn24;
    }
    a->psn = roce_psn_expand(a->packet->bth.psn24, reference);
    a->span = 1;
    if (s != NULL && (a->packet->headers & ROCE_HEADER_AETH) != 0) {
        roce_rebirth_hear_response(t, s, a);
    }
    if (!lane->started) {
        start_lane(s, by, a);
    }
    if (s != NULL) {
        roce_span_learn_from(s, a->info->part, a->packet->payload_bytes);
    }
    sight(t, s, by, a);
    if (a->psn >= lane->max_next) {
        ahead(t, s, by, a);
        roce_measure_response(t, s, by, a);
    } else {
        roce_respond_behind(t, s, by, a);
        roce_measure_response_behind(t, s, by, a);
    }
    by->answers->response_message_next =
        roce_part_ends(a->info->part) ? ROCE_NO_PSN : a->psn + 1;
    by->answers->response_time_ns = a->frame->time_ns;
    if (s != NULL) {
        roce_respond_sample(t, s, a);
        roce_acknowledge_up_to(t, s, a,
                               roce_part_ends(a->info->part) ? a->psn + 1 : a->psn);
        if (t->config.relation != NULL) {
            tell_followed(t, s, by, a);
        }
    }
}

/* The response that comes next, if none was lost; ROCE_NO_PSN: that is not known. */
static int64_t
next_due(const roce_stream_state *s, const roce_stream_state *by)
{
    const roce_answers *answers = roce_answers_of(by);
    if (answers->response_message_next != ROCE_NO_PSN || s == NULL) {
        return answers->response_message_next;
    }
    const roce_history *asked = &s->requests.history;
    int64_t next = answers->lane.next_tx;
    for (uint32_t i = roce_history_lower(asked, next); i < asked->n; i++) {
        const roce_slot *slot = roce_history_at(asked, i);
        if ((slot->flags & ROCE_SLOT_WANTS_RESPONSE) != 0) {
            return slot->psn > next ? slot->psn : next;
        }
    }
    return ROCE_NO_PSN;
}

/* Whether a response that is not the one due may be another one: one that fills a gap, or of a
 * READ that was asked for once more. */
static bool
is_explained(const roce_stream_state *s, const roce_stream_state *by, int64_t psn)
{
    const roce_lane *lane = &by->answers->lane;
    const roce_slot *asked =
        s != NULL ? roce_history_find(&s->requests.history, psn) : NULL;
    return roce_missing_find(&lane->missing, psn) != NULL ||
           (asked != NULL && times_asked(asked) > 1);
}

/* Holds a response that may have been damaged in its PSN. */
static bool
hold(roce_tracker *t, roce_stream_state *by, const roce_arrival *a)
{
    if (a->icrc != ROCE_ICRC_TRUNCATED || !by->answers->lane.started ||
        roce_psn_wrap(by->answers->response_message_next) == a->packet->bth.psn24) {
        return false;
    }
    const roce_stream_state *s = requester_of(t, by);
    int64_t due = roce_leap_due(by, ROCE_SPACE_RESPONSES, next_due(s, by));
    return due != ROCE_NO_PSN && roce_leap_is_one_bit(a->packet->bth.psn24, due) &&
           roce_leap_may_be(by, a, due) &&
           !is_explained(s, by, roce_psn_expand(a->packet->bth.psn24, due)) &&
           roce_leap_hold(t, by, ROCE_SPACE_RESPONSES, a, due);
}

void
roce_respond(roce_tracker *t, roce_stream_state *by, roce_arrival *a)
{
    if (roce_answers_make(t, by) == NULL) {
        return;
    }
    roce_misses_saw(t, by->pub.point);
    if (roce_leap_is_held(by, ROCE_SPACE_RESPONSES)) {
        roce_leap_settle(t, by, ROCE_SPACE_RESPONSES, a);
    }
    if (!hold(t, by, a)) {
        roce_respond_take(t, by, a);
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

/* Whether the requester asks again because an ACK or a NAK has passed this copy over, whatever
 * became of it. */
static bool
is_asked_for_that_alone(const roce_tracker *t, const roce_stream_state *by,
                        const roce_slot *response)
{
    const roce_stream_state *s = roce_track_peer(t, by);
    return (response->flags & ROCE_SLOT_PASSED_OVER) != 0 && s != NULL &&
           roce_trouble_of(s)->round.cause == ROCE_CAUSE_READ_REISSUE;
}

/* Learns how soon a requester asks again, of what shows it that a response is missing: the first
 * copy of all, which went by here, or the one behind it where it did not. */
static void
learn_reissue(const roce_stream_state *s, roce_answers *answers,
              const roce_slot *response, const roce_missing_range *range,
              uint64_t now_ns)
{
    bool once = response != NULL ? response->copies == 1 && range == NULL
                                 : range != NULL && range->copies == 1;
    if (!once || s == NULL ||
        roce_trouble_of(s)->round.cause != ROCE_CAUSE_READ_REISSUE ||
        (response != NULL && (response->flags & ROCE_SLOT_PASSED_OVER) != 0)) {
        return;
    }
    uint64_t shown_ns = response != NULL ? response->time_ns : range->time_ns;
    uint64_t age_ns = roce_since_ns(now_ns, shown_ns);
    if (answers->n_asked == 0 || age_ns < answers->least_asked_ns) {
        answers->least_asked_ns = age_ns;
    }
    answers->n_asked++;
}

/* Whether the requester cannot have missed this copy yet: when it asked again, the copy
 * was still on its way. */
static bool
is_too_soon(const roce_answers *answers, const roce_slot *response, uint64_t now_ns)
{
    return response->copies > 1 &&
           roce_since_ns(now_ns, response->time_ns) <
               roce_too_soon_ns(answers->least_asked_ns, answers->n_asked);
}

bool
roce_respond_asked_again(roce_tracker *t, roce_stream_state *by, const roce_arrival *a,
                         const roce_slot *slot, bool opens_round)
{
    if (roce_answers_make(t, by) == NULL) {
        return false;
    }
    if (opens_round) {
        roce_respond_asked_before_lone(t, roce_track_peer(t, by), by, a);
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
        bool carried_out =
            s != NULL && (s->una > end || roce_acknowledge_is_told(s, slot));
        if (carried_out && a->psn >= lane->max_next) {
            if (!lane->started) {
                start_lane(NULL, by, a);
            }
            (void)roce_respond_miss_due(t, s, by, a, lane->max_next, a->psn, 0);
            roce_respond_gap(t, by, a, a->psn, slot->span);
            roce_loss_miss(t, by, a, ROCE_SPACE_RESPONSES, a->psn, end, false);
            pass_over(lane, end);
        } else if (roce_missing_find(&lane->missing, a->psn) == NULL) {
            return false;
        }
        answered = true;
    }
    if (a->psn == lane->max_next && a->psn > slot->psn) {
        /* Asked for from where the answer broke off: the rest of it went unseen. */
        roce_respond_gap(t, by, a, lane->max_next, (uint64_t)(end - lane->max_next));
        roce_loss_miss(t, by, a, ROCE_SPACE_RESPONSES, lane->max_next, end, false);
        pass_over(lane, end);
    }
    if (!opens_round) {
        return answered; /* the requester may have discarded what came behind the gap */
    }
    roce_slot *response = roce_history_find(&lane->history, a->psn);
    learn_reissue(roce_track_peer(t, by), by->answers, response,
                  roce_missing_find(&lane->missing, a->psn), a->frame->time_ns);
    roce_missing_mark_range(&lane->missing, &t->alloc, a->psn, a->psn + 1,
                            ROCE_MISSING_ASKED);
    roce_loss_trim(t, by, a, ROCE_SPACE_RESPONSES);
    if (response != NULL && lane->accept_next < a->psn &&
        came_behind_the_one_before(lane, response) &&
        roce_missing_find(&lane->missing, a->psn) == NULL) {
        response->flags |= ROCE_SLOT_IN_ORDER; /* what is before it has been taken */
    }
    bool on_its_way =
        response != NULL && (is_too_soon(by->answers, response, a->frame->time_ns) ||
                             is_asked_for_that_alone(t, by, response));
    const roce_stream_state *s = roce_track_peer(t, by);
    if (on_its_way && s != NULL && roce_ident_mode_of(s) == ROCE_IDENT_RISING) {
        return answered; /* it may be taken when it gets there */
    }
    if (response != NULL && !on_its_way && (response->flags & ROCE_SLOT_JUDGED) == 0 &&
        roce_acceptor_has_taken(by, ROCE_SPACE_RESPONSES, response)) {
        response->flags |= ROCE_SLOT_JUDGED;
        roce_loss_say(t, by, a, ROCE_SPACE_RESPONSES,
                      ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE, ROCE_EVIDENCE_ASKED_FOR,
                      a->psn, 1, response->frame);
    }
    roce_acceptor_expect(t, by, ROCE_SPACE_RESPONSES, a->psn);
    return answered;
}

void
roce_respond_restart(roce_tracker *t, roce_stream_state *by)
{
    if (by->answers == NULL) {
        return;
    }
    roce_leap_forget(by, ROCE_SPACE_RESPONSES);
    roce_respond_settle_late(t, NULL, by, NULL);
    roce_misses_settle(t, by, ROCE_SPACE_RESPONSES);
    roce_room_give_back(t, roce_responses(by));
    if (roce_trouble_had(by) != NULL) {
        roce_trouble_had(by)->discards[ROCE_SPACE_RESPONSES] = (roce_discard){0};
    }
    by->answers->answered_tx = 0;
    by->answers->answer.clean = false;
    by->answers->midway = ROCE_MIDWAY_UNKNOWN;
    by->answers->late_tx = 0;
    by->answers->copied.tx = 0;
    by->answers->first_tx = 0;
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
    roce_respond_settle_late(t, NULL, by, NULL);
    cover_missing(t, s, by, s != NULL ? until_ns(s, by) : 0);
    roce_loss_finish(t, by, ROCE_SPACE_RESPONSES);
}
