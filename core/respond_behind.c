/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Responses at or behind the newest PSN seen (see respond.c, whose rules these are).
 *
 * What was seen before, or is missing, is one of three: a copy that the network made, an
 * original that others overtook, or an answer that is sent again.  The identification tells
 * them apart where it rises, but for the rest of a first answer that came to be asked for
 * again: what comes before any answer can, and does not begin one, was late.  Where it does
 * not rise: a copy comes again although nobody asked; an
 * answer that is sent again begins where it was asked for, no sooner than a round trip later,
 * and runs on; what fits neither was overtaken.  Where one response could be either, the one
 * behind it decides, and what was said is taken back (`lone`, `late_frame`).  A copy that
 * begins an answer of which the rest comes again as well is none that the network made: a copy
 * of the request was answered, behind this point (`copied`).
 */
#include "track.h"

#define ASKED_BEHIND 64 /* requests, among which one is looked for */

/* The request for this PSN; or NULL. */
static const roce_slot *
request_for(const roce_stream_state *s, int64_t psn)
{
    return s != NULL ? roce_history_find(&s->requests.history, psn) : NULL;
}

/* Likewise, if it was seen more than once, whoever made the copy: a responder answers each. */
static const roce_slot *
asked_again(const roce_stream_state *s, int64_t psn)
{
    const roce_slot *slot = request_for(s, psn);
    bool again =
        slot != NULL && (slot->copies > 1 || (slot->flags & ROCE_SLOT_UNTIMED) != 0);
    return again ? slot : NULL;
}

/* Whether a READ was asked for again from this PSN, in its midst. */
static bool
begins_midway(const roce_stream_state *s, int64_t psn)
{
    const roce_slot *slot = asked_again(s, psn);
    return slot != NULL && slot->skipped > 0 &&
           psn == slot->psn + (int64_t)slot->skipped;
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

/* Whether a response goes on with what was under way before that one, and not with it, nor
 * answers anew; one more may be missing between. */
static bool
goes_on_as_before(const roce_stream_state *s, const roce_answers *answers,
                  const roce_arrival *a)
{
    int64_t next_tx = answers->lone.next_tx;
    bool anew = roce_part_starts(a->info->part) && begins_midway(s, a->psn);
    bool between = answers->lone.psn < next_tx || a->psn < answers->lone.psn;
    return a->psn >= next_tx && between && !anew;
}

/* What was said to be lost before it was not, and what is due goes on from where it was. */
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
    roce_event e = roce_respond_event(ROCE_EVENT_LATE, by, a, answers->late_start);
    e.evidence = ROCE_EVIDENCE_TIME;
    e.frame = answers->late_frame;
    e.time_ns = answers->late_ns;
    e.related_frame = answers->late_related;
    answers->late_frame = 0;
    roce_track_emit(t, &e);
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

/* The responder starts over: of what the partly answered READ still owes, where that ends which
 * it has sent, and which went unseen. */
static int64_t
end_of_tail(const roce_stream_state *s, const roce_stream_state *by,
            const roce_arrival *a)
{
    int64_t from = by->answers->lane.max_next;
    const roce_slot *slot = roce_history_find(&s->requests.history, from);
    if (slot == NULL || slot->psn >= from ||
        (slot->flags & ROCE_SLOT_WANTS_RESPONSE) == 0) {
        return from;
    }
    return from + sent_of_tail(by, slot, a, slot->psn + slot->span - from);
}

/* Up to `end`, but for what has been said to be missing since. */
static void
miss_tail(roce_tracker *t, roce_stream_state *by, const roce_arrival *a, int64_t end)
{
    roce_lane *lane = roce_responses(by);
    if (end > lane->max_next) {
        roce_respond_gap(t, by, a, lane->max_next, (uint64_t)(end - lane->max_next));
        roce_loss_miss(t, by, a, ROCE_SPACE_RESPONSES, lane->max_next, end, false);
        lane->max_next = end;
    }
}

/* What was taken for the beginning of an answer is one, now that another response comes: what
 * should have come before it did not. */
static void
take_for_beginning(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
                   const roce_arrival *a)
{
    roce_answers *answers = by->answers;
    bool alone = answers->lone.tx != 0 && answers->lone.tx == answers->lane.tx;
    if (s == NULL || !alone) {
        return;
    }
    if (a->psn < answers->lane.max_next) {
        miss_tail(t, by, a, answers->lone.tail_end);
    }
    if (answers->lone.due_from != ROCE_NO_PSN) {
        roce_respond_miss_again(t, s, by, a, answers->lone.due_from, answers->lone.psn);
    }
    answers->lone.tx = 0;
}

/* Another response comes, which says what the one before it was. */
static void
settle_lone(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
            const roce_arrival *a)
{
    if (was_late(s, by) && goes_on_as_before(s, by->answers, a)) {
        take_for_late(t, by, a);
    } else {
        take_for_beginning(t, s, by, a);
    }
}

/* The copy that waits, of which is known now what it is. */
static void
say_copied(roce_tracker *t, roce_stream_state *by, const roce_arrival *a,
           roce_event_kind kind)
{
    roce_event e = roce_respond_event(kind, by, a, by->answers->copied.psn);
    e.frame = by->answers->copied.frame;
    e.time_ns = by->answers->copied.time_ns;
    e.related_frame = by->answers->copied.related;
    by->answers->copied.frame = 0;
    roce_track_emit(t, &e);
}

/* None behind it has come again: the network made it. */
static void
settle_copied(roce_tracker *t, roce_stream_state *by, const roce_arrival *a)
{
    if (by->answers->copied.frame != 0) {
        say_copied(t, by, a, ROCE_EVENT_DUPLICATE);
    }
}

void
roce_respond_settle_late(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
                         const roce_arrival *a)
{
    settle_late(t, by, a);
    settle_copied(t, by, a);
    settle_lone(t, s, by, a);
}

void
roce_respond_asked_before_lone(roce_tracker *t, roce_stream_state *s,
                               roce_stream_state *by, const roce_arrival *a)
{
    const roce_answers *answers = by->answers;
    if (answers->lone.due_from != ROCE_NO_PSN && a->psn >= answers->lone.due_from &&
        a->psn < answers->lone.psn) {
        take_for_beginning(t, s, by, a);
    }
}

/* Where the answer to a round begins of which this is the first response that is seen;
 * ROCE_NO_PSN: it is not the first of one. */
static int64_t
begin_answer(const roce_stream_state *s, roce_stream_state *by, const roce_arrival *a)
{
    const roce_round *round = &roce_trouble_of(s)->round;
    bool begins = round->first_tx > 0 && by->answers->answered_tx != round->first_tx &&
                  a->psn >= round->start;
    by->answers->answered_tx = round->first_tx;
    return begins ? round->start : ROCE_NO_PSN;
}

static void
report_resent(roce_tracker *t, roce_stream_state *by, const roce_arrival *a,
              const roce_slot *slot)
{
    roce_trouble_make(t, by)->pub.disorder[ROCE_SPACE_RESPONSES].resent++;
    roce_event e = roce_respond_event(ROCE_EVENT_RESPONSE_RESENT, by, a, a->psn);
    e.related_frame = slot != NULL ? slot->frame : 0;
    roce_track_emit(t, &e);
}

/* It was the first of an answer that is sent again. */
static void
take_back_copy(roce_tracker *t, roce_stream_state *by, const roce_arrival *a)
{
    if (by->answers->copied.frame != 0) {
        roce_disorder_counters *n =
            &roce_trouble_make(t, by)->pub.disorder[ROCE_SPACE_RESPONSES];
        n->duplicates--;
        n->resent++;
        say_copied(t, by, a, ROCE_EVENT_RESPONSE_RESENT);
    }
}

/* A request that timeouts have repeated.  Had it been lost each time but the last, or its
 * answers, one would have come: each further one takes a doubt back. */
static void
settle_doubt(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
             const roce_slot *response)
{
    const roce_round *round = &roce_trouble_of(s)->round;
    const roce_slot *asked = request_for(s, a->psn);
    bool whole = asked != NULL && asked->psn == a->psn;
    if (whole && round->n_doubts > 0 && round->doubted == a->psn && response != NULL &&
        response->lost == 0 && response->copies > 1) {
        roce_round_take_back_doubt(t, s, a);
    }
}

/* From where on responses should have come again before this one; ROCE_NO_PSN: none should. */
static int64_t
due_again_from(const roce_stream_state *s, roce_stream_state *by, const roce_arrival *a)
{
    const roce_lane *lane = &by->answers->lane;
    if (s == NULL || a->psn == lane->next_tx) {
        return ROCE_NO_PSN;
    }
    return a->psn > lane->next_tx ? lane->next_tx : begin_answer(s, by, a);
}

/* How often this PSN of a READ was asked for, parts that end before it left out. */
static uint32_t
times_asked_for(const roce_stream_state *s, const roce_slot *asked, int64_t psn)
{
    uint32_t n_parts = roce_asked_part_count(s, asked, psn, UINT64_MAX);
    return asked->copies > n_parts ? asked->copies - n_parts : 0;
}

/* Copies of a response were judged lost. */
static void
note_lost(const roce_stream_state *s, roce_slot *slot, uint32_t copies)
{
    const roce_slot *asked =
        slot != NULL && copies > 0 ? request_for(s, slot->psn) : NULL;
    roce_loss_note(slot, copies);
    if (asked != NULL) {
        slot->n_asked = times_asked_for(s, asked, slot->psn);
    }
    if (slot != NULL && copies > 0 && slot->copies == 1) {
        slot->flags |= ROCE_SLOT_FILLED_AGAIN;
    }
}

/* Whether it begins an answer in the midst of a READ, as the first answer to it did not. */
static bool
begins_anew(const roce_stream_state *s, const roce_arrival *a)
{
    const roce_slot *asked = asked_again(s, a->psn);
    return asked != NULL && a->psn > asked->psn && roce_part_starts(a->info->part);
}

static void
sent_again(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
           const roce_arrival *a, roce_slot *slot)
{
    roce_lane *lane = roce_responses(by);
    const int64_t next_tx = lane->next_tx;
    const uint64_t answered_tx = by->answers->answered_tx;
    const bool lone = a->psn != next_tx && !begins_anew(s, a) &&
                      roce_ident_mode_of(by) != ROCE_IDENT_RISING;
    const int64_t due_from = due_again_from(s, by, a);
    const int64_t tail_end =
        s != NULL && a->psn < next_tx ? end_of_tail(s, by, a) : lane->max_next;
    if (!lone) {
        miss_tail(t, by, a, tail_end);
    }
    if (!lone && due_from != ROCE_NO_PSN) {
        roce_respond_miss_again(t, s, by, a, due_from, a->psn);
    }
    report_resent(t, by, a, slot);
    uint32_t lost = roce_loss_resolve(t, by, a, ROCE_SPACE_RESPONSES);
    slot = roce_respond_place(t, s, by, a, slot);
    note_lost(s, slot, lost);
    if (s != NULL) {
        settle_doubt(t, s, a, slot);
    }
    if (lone) {
        by->answers->lone.tx = lane->tx;
        by->answers->lone.lost = lost > 0;
        by->answers->lone.psn = a->psn;
        by->answers->lone.round_tx = s != NULL ? roce_trouble_of(s)->round.first_tx : 0;
        by->answers->lone.next_tx = next_tx;
        by->answers->lone.answered_tx = answered_tx;
        by->answers->lone.due_from = due_from;
        by->answers->lone.tail_end = tail_end;
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
    (void)roce_respond_place(t, s, by, a, slot);
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
    (void)roce_respond_place(t, s, by, a, NULL);
    lane->next_tx = next_tx;
}

static void
arrived_late(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
             const roce_arrival *a, roce_slot *slot, roce_evidence evidence)
{
    roce_event e = roce_respond_event(ROCE_EVENT_LATE, by, a, a->psn);
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
    roce_event e = roce_respond_event(ROCE_EVENT_DUPLICATE, by, a, a->psn);
    e.related_frame = slot->frame;
    roce_track_emit(t, &e);
}

/* Whether the newest response came again. */
static bool
is_behind_copy(const roce_answers *answers)
{
    return answers->copied.tx != 0 && answers->copied.tx == answers->lane.tx;
}

/* Whether it comes again right behind the response before it, which came again as well. */
static bool
runs_on_from_copy(const roce_answers *answers, int64_t psn)
{
    return is_behind_copy(answers) && answers->copied.psn + 1 == psn;
}

/* Whether it comes once more right behind itself, among such. */
static bool
repeats_copy(const roce_answers *answers, int64_t psn)
{
    return is_behind_copy(answers) && answers->copied.psn == psn;
}

/* The same as one before, where nothing numbers packets, and nobody was seen asking again.
 * Where it begins an answer, and the rest comes again behind it, a copy of the request has
 * reached the responder, which answered that. */
static void
came_again(roce_tracker *t, roce_stream_state *by, const roce_arrival *a,
           const roce_slot *slot)
{
    roce_answers *answers = by->answers;
    bool starts = roce_part_starts(a->info->part) && !roce_part_ends(a->info->part);
    if (runs_on_from_copy(answers, a->psn)) {
        take_back_copy(t, by, a);
        report_resent(t, by, a, slot);
    } else if (repeats_copy(answers, a->psn)) {
        duplicated(t, by, a, slot);
    } else if (starts) {
        roce_trouble_make(t, by)->pub.disorder[ROCE_SPACE_RESPONSES].duplicates++;
        answers->copied.tx = answers->lane.tx;
        answers->copied.frame = a->frame->number;
        answers->copied.related = slot->frame;
        answers->copied.time_ns = a->frame->time_ns;
    } else {
        answers->copied.tx = 0;
        duplicated(t, by, a, slot);
    }
    answers->copied.psn = a->psn;
}

/* A copy that was called lost comes after all: the first one, or one that was sent again. */
static void
was_not_lost(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
             const roce_arrival *a, roce_slot *slot)
{
    if ((slot->flags & ROCE_SLOT_FILLED_AGAIN) != 0) {
        slot->flags = (uint16_t)(slot->flags & ~ROCE_SLOT_FILLED_AGAIN);
        arrived_late(t, s, by, a, slot, ROCE_EVIDENCE_COPIES);
    } else {
        copy_arrived_late(t, s, by, a, slot);
    }
}

/* Whether it comes sooner behind the request than any answer ever did. */
static bool
is_before_any_answer(const roce_stream_state *s, const roce_arrival *a,
                     const roce_slot *asked)
{
    return roce_acknowledge_is_sooner(s,
                                      roce_since_ns(a->frame->time_ns, asked->time_ns));
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
    return a->psn >= start && !is_before_any_answer(s, a, slot) &&
           (a->psn > start || starts);
}

/* Whether this is of the first answer to a READ that was asked for again in its midst, and
 * missing for that alone: the first to come since, it does not begin an answer, and comes
 * sooner than any ever did; or it goes on with such a one. */
static bool
is_of_first_answer(const roce_stream_state *s, const roce_stream_state *by,
                   const roce_arrival *a)
{
    const roce_answers *answers = by->answers;
    const roce_missing_range *range = roce_missing_find(&answers->lane.missing, a->psn);
    const roce_slot *asked = asked_again(s, a->psn);
    if (asked == NULL || range == NULL || range->time_ns != asked->time_ns ||
        roce_part_starts(a->info->part)) {
        return false;
    }
    bool runs_on = answers->first_tx != 0 && answers->first_tx == answers->lane.tx &&
                   answers->first_next == a->psn;
    return runs_on || (answers->response_time_ns <= asked->time_ns &&
                       is_before_any_answer(s, a, asked));
}

/* Whether it is of the answer that is being sent again, though one before it is missing: its
 * first copy would have been on its way for longer than a round trip. */
static bool
runs_ahead_again(const roce_stream_state *s, const roce_lane *lane,
                 const roce_arrival *a)
{
    const roce_slot *asked = asked_again(s, a->psn);
    return lane->next_tx < lane->max_next && asked != NULL && a->psn > lane->next_tx &&
           asked->psn <= lane->next_tx;
}

/* Whether it goes on with what is being sent again, or may be where that begins. */
static bool
is_again(const roce_stream_state *s, const roce_stream_state *by, const roce_arrival *a)
{
    const roce_lane *lane = &by->answers->lane;
    return a->psn == lane->next_tx || runs_ahead_again(s, lane, a) ||
           may_answer_again(s, by, a);
}

/* What was taken for a late one was sent again after all: the one before was lost. */
static void
take_back_late(roce_tracker *t, const roce_stream_state *s, roce_stream_state *by,
               const roce_arrival *a, int64_t psn)
{
    roce_disorder_counters *n =
        &roce_trouble_make(t, by)->pub.disorder[ROCE_SPACE_RESPONSES];
    roce_slot *slot = roce_history_find(&by->answers->lane.history, psn);
    roce_arrival again = *a;
    again.psn = psn;
    n->reordered--;
    n->resent++;
    roce_event e = roce_respond_event(ROCE_EVENT_RESPONSE_RESENT, by, a, psn);
    e.frame = by->answers->late_frame;
    e.time_ns = by->answers->late_ns;
    roce_track_emit(t, &e);
    by->answers->late_frame = 0;
    roce_missing_range range = {
        .start = psn, .end = psn + 1, .copies = 1, .asked = true};
    if (roce_loss_judge(t, by, &again, ROCE_SPACE_RESPONSES, &range) ==
        ROCE_VERDICT_LOST_BEFORE_CAPTURE) {
        note_lost(s, slot, range.copies);
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
        take_back_late(t, s, by, a, answers->late_start);
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

/* Whether a response is missing for no other reason than that the two directions had not been
 * paired when those around it came, which have overtaken it: nobody was seen asking again.  A
 * network's copy of one that came before the pairing looks the same. */
static bool
is_late_from_before(const roce_stream_state *s, const roce_stream_state *by,
                    const roce_arrival *a)
{
    const roce_lane *lane = &by->answers->lane;
    const roce_slot *asked = request_for(s, a->psn);
    return a->psn < lane->first && asked != NULL && asked->copies == 1 &&
           roce_ident_was_overtaken(by, lane, a);
}

/* Whether one more response, with those seen and those called lost, is more than was
 * seen asked for: then one was not lost.  A READ that is asked for from further on has this
 * one, and was asked for it no more since.  But where an answer began in the midst of the
 * READ, the first one did not: neither of two such is the one that was lost; and one that
 * does not begin there is older than one that does, if nobody asked since. */
static bool
is_one_too_many(const roce_stream_state *s, const roce_arrival *a,
                const roce_slot *slot)
{
    const roce_slot *asked = slot->lost > 0 ? request_for(s, slot->psn) : NULL;
    if (asked == NULL) {
        return false;
    }
    int64_t into = slot->psn - asked->psn;
    bool anew = into > 0 && (slot->flags & ROCE_SLOT_MESSAGE_START) != 0;
    if (anew && !roce_part_starts(a->info->part) && (int64_t)asked->skipped >= into) {
        return true;
    }
    bool has_it = (int64_t)asked->skipped > into && slot->n_asked > 0;
    uint32_t n_asked = has_it ? slot->n_asked : times_asked_for(s, asked, slot->psn);
    return slot->copies + slot->lost + 1u > n_asked &&
           !(anew && roce_part_starts(a->info->part));
}

/* One that was never seen here. */
static void
fill(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
     const roce_arrival *a, bool rising)
{
    const roce_lane *lane = roce_responses(by);
    bool missing = roce_missing_find(&lane->missing, a->psn) != NULL;
    bool late = rising ? roce_ident_was_overtaken(by, lane, a) : !is_again(s, by, a);
    if (missing && is_first_answer(s, by, a)) {
        (void)roce_loss_unmiss(t, by, a, ROCE_SPACE_RESPONSES, NULL);
        (void)roce_respond_place(t, s, by, a, NULL);
    } else if (missing && late && !rising && begins_midway(s, a->psn)) {
        may_have_arrived_late(t, s, by, a);
    } else if ((missing && late) || is_late_from_before(s, by, a)) {
        arrived_late(t, s, by, a, NULL,
                     rising ? ROCE_EVIDENCE_IDENTIFICATION : ROCE_EVIDENCE_TIME);
    } else if (rising && is_of_first_answer(s, by, a)) {
        arrived_late(t, s, by, a, NULL, ROCE_EVIDENCE_TIME);
        by->answers->first_next = a->psn + 1;
        by->answers->first_tx = lane->tx;
    } else {
        sent_again(t, s, by, a, NULL);
    }
}

void
roce_respond_behind(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
                    const roce_arrival *a)
{
    roce_lane *lane = roce_responses(by);
    roce_slot *slot = roce_history_find(&lane->history, a->psn);
    bool rising = roce_ident_mode_of(by) == ROCE_IDENT_RISING;
    bool constant = roce_ident_mode_of(by) == ROCE_IDENT_CONSTANT;
    settle_lone(t, s, by, a);
    bool too_many = slot != NULL && !rising && is_one_too_many(s, a, slot);
    learn_midway(t, s, by, a, slot);
    settle_late(t, by, a);
    if (slot == NULL || (!runs_on_from_copy(by->answers, a->psn) &&
                         !repeats_copy(by->answers, a->psn))) {
        settle_copied(t, by, a);
    }
    if (slot == NULL) {
        fill(t, s, by, a, rising);
    } else if (constant && asked_again(s, a->psn) == NULL) {
        came_again(t, by, a, slot);
    } else if (roce_ident_same_copy(by, slot, &a->identity)) {
        duplicated(t, by, a, slot);
    } else if (roce_ident_was_before(by, slot, a)) {
        arrived_late(t, s, by, a, slot, ROCE_EVIDENCE_IDENTIFICATION);
    } else if (roce_ident_was_overtaken(by, lane, a)) {
        copy_arrived_late(t, s, by, a, slot);
    } else if (too_many && !is_again(s, by, a)) {
        was_not_lost(t, s, by, a, slot);
    } else {
        if (too_many) {
            (void)roce_loss_unmiss(t, by, a, ROCE_SPACE_RESPONSES, slot);
        }
        sent_again(t, s, by, a, slot);
    }
}
