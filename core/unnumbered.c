/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies without a telling identification: IPv6, and devices whose identification never
 * changes or is random.
 *
 * A PSN that comes again, or that fills a gap, may be sent again, late, or (if it was
 * seen) a network duplicate.  What is sent again comes in a run: the next request
 * follows it.  So a packet that nothing else explains is in doubt until the next
 * request of the stream: if that one runs on from it, both were sent again; if not, it
 * stays what it was taken for: a late original where it filled a gap, a duplicate of
 * unknown origin where it had been seen.  A packet that is late itself tells nothing of one
 * that is ahead in a round: the next but one does.  A round has holes where copies were lost
 * again: what lies ahead in it is of the round as well if what follows goes on ahead, or
 * goes back to what a NAK asks for.  What a round had skipped was overtaken when it
 * comes, unless a NAK asks for it and the next request runs on from it: then the round
 * begins anew there.  Late originals can come in a run, too, where packets take several
 * paths: what filled a gap was not sent again where the other side is known, and neither
 * asked for it nor was silent for long.
 *
 * A late original that a NAK had asked for should come once more, since the requester
 * answers the NAK.  If it does not for a while, it was itself the answer (a selective
 * repeat), and the loss is booked then; until then the NAK counts as answered.
 */
#include "track.h"

#include <string.h>

/* So many repeats, each right behind the one before it in sequence, no network makes. */
#define REPEATS_IN_ROW 3

/* Whether a transmission of it went unseen. */
static bool
is_missing(const roce_stream_state *s, int64_t psn)
{
    return roce_missing_find(&s->requests.missing, psn) != NULL;
}

/* Whether it is just what an unanswered NAK asks for. */
static bool
is_named(const roce_tracker *t, const roce_stream_state *s, const roce_arrival *a)
{
    const roce_last_nak *nak = &roce_trouble_of(s)->nak;
    return roce_round_nak_explains(t, s, a) &&
           (a->psn == nak->oldest_psn || a->psn == nak->psn);
}

/* Takes a packet in doubt for what it is when it stays alone. */
static void
doubt(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
      const roce_slot *slot)
{
    const roce_missing_range *range =
        roce_missing_find(&roce_requests(s)->missing, a->psn);
    bool named = is_named(t, s, a);
    roce_trouble_make(t, s)->doubt = (roce_doubt){
        .valid = true,
        .late = slot == NULL,
        .asked = named,
        .psn = a->psn,
        .span = a->span,
        .frame = a->frame->number,
        .related_frame = slot != NULL ? slot->frame : roce_requests(s)->top_frame,
        .nak_frame = roce_trouble_of(s)->nak.frame,
        .asked_ns = roce_round_asked_ns(s, a),
        .seen_ns = a->frame->time_ns,
        .missed_ns = range != NULL ? range->time_ns : 0,
        .payload_bytes = a->packet->payload_bytes,
        .requested_bytes =
            a->info->role == ROCE_ROLE_READ_REQUEST ? a->packet->reth.length_bytes : 0,
        .cause = roce_round_find_cause(t, s, a, slot),
        .age_ns = roce_round_age(s, a, slot),
        .copies = range != NULL ? range->copies : 0,
        .acked = range != NULL && range->acked,
    };
}

/* Whether it is asked for, but came sooner than any NAK was ever answered: it was on its way. */
static bool
is_before_answer(const roce_tracker *t, const roce_stream_state *s,
                 const roce_arrival *a)
{
    uint64_t since_ns = roce_since_ns(a->frame->time_ns, roce_round_asked_ns(s, a));
    return is_named(t, s, a) &&
           since_ns <
               roce_too_soon_ns(roce_round_path_ns(s), roce_heard_of(s)->n_reactions);
}

/* Whether it is the next packet of the round that is under way. */
static bool
is_next_in_round(const roce_stream_state *s, const roce_arrival *a)
{
    return roce_trouble_of(s)->round.active && a->psn == s->requests.next_tx;
}

bool
roce_unnumbered_missing(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    if (is_next_in_round(s, a) ||
        (!roce_round_nak_explains(t, s, a) &&
         roce_round_find_cause(t, s, a, NULL) == ROCE_CAUSE_TIMEOUT)) {
        return false;
    }
    if (!is_before_answer(t, s, a)) {
        doubt(t, s, a, NULL);
    }
    return true;
}

/* Whether the newest round has gone past it, and is under way or has nothing that would have it
 * begin anew there. */
static bool
was_skipped(const roce_tracker *t, const roce_stream_state *s, const roce_arrival *a,
            const roce_slot *slot)
{
    const roce_round *round = &roce_trouble_of(s)->round;
    if (round->active) {
        return a->psn >= round->start && a->psn < s->requests.next_tx;
    }
    return !is_named(t, s, a) &&
           roce_round_find_cause(t, s, a, slot) == ROCE_CAUSE_UNKNOWN;
}

bool
roce_unnumbered_overtaken(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                          const roce_slot *slot)
{
    const roce_missing_range *range = roce_missing_find(&s->requests.missing, a->psn);
    if (roce_ident_mode_of(s) == ROCE_IDENT_RISING || range == NULL) {
        return false;
    }
    if (is_before_answer(t, s, a)) {
        return true;
    }
    if (!was_skipped(t, s, a, slot)) {
        return false;
    }
    if (is_named(t, s, a) || !roce_trouble_of(s)->round.active) {
        uint64_t age_ns = roce_since_ns(a->frame->time_ns, range->time_ns);
        doubt(t, s, a, slot);
        roce_doubt *d = &roce_trouble_make(t, s)->doubt;
        d->overtaken = true;
        d->age_ns = age_ns;
    }
    return true;
}

/* A requester that did not hear an ACK waits, and goes back to what it was for, and on from
 * there; one packet alone, of which the ACK went by here, may as well be a copy that the
 * network made, and that took its time. */
static bool
may_be_alone(const roce_stream_state *s, const roce_arrival *a, const roce_slot *slot)
{
    const roce_trouble *trouble = roce_trouble_of(s);
    int64_t end = a->psn + a->span;
    return s->acked && end <= s->una && end < s->requests.max_next &&
           (slot->flags & ROCE_SLOT_WANTS_RESPONSE) == 0 &&
           trouble->votes_selective <= trouble->votes_go_back;
}

/* Whether a copy of it is unaccounted for: it was called lost, or a round has gone past it. */
static bool
is_due(const roce_stream_state *s, const roce_slot *slot)
{
    return slot->lost > 0 || is_missing(s, slot->psn) ||
           (slot->flags & ROCE_SLOT_SKIPPED) != 0;
}

/* Likewise, and others are behind it, which a requester that asks again repeats as well: what
 * follows tells at once. */
static bool
may_be_overdue(const roce_stream_state *s, const roce_arrival *a, const roce_slot *slot)
{
    return is_due(s, slot) && a->psn + a->span < s->requests.max_next;
}

bool
roce_unnumbered_repeated(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                         roce_slot *slot)
{
    roce_ident_mode mode = roce_ident_mode_of(s);
    /* Another random number is another packet; but which of two was first? */
    if (mode == ROCE_IDENT_RISING || (mode == ROCE_IDENT_CHANGING && slot->lost == 0)) {
        return false;
    }
    bool runs_on = is_next_in_round(s, a) || roce_sequence_runs_on_from_before(s, a);
    bool reissue = a->info->role == ROCE_ROLE_READ_REQUEST && a->psn > slot->psn;
    bool named = is_named(t, s, a);
    roce_cause cause = roce_round_find_cause(t, s, a, slot);
    bool waited = cause == ROCE_CAUSE_TIMEOUT && roce_round_was_silent(t, s, a, slot) &&
                  !may_be_alone(s, a, slot);
    if (runs_on || reissue || named || waited ||
        (cause == ROCE_CAUSE_READ_REISSUE && !may_be_overdue(s, a, slot))) {
        return false;
    }
    doubt(t, s, a, slot);
    return true;
}

/* Says what a packet in doubt was: of its own frame, not of the one that settled it. */
static void
say(roce_tracker *t, const roce_stream_state *s, const roce_arrival *a,
    roce_event_kind kind, const roce_doubt *d, roce_evidence evidence)
{
    roce_event e = roce_track_event(kind, s, a);
    e.psn = d->psn;
    e.evidence = evidence;
    e.frame = d->frame;
    e.time_ns = d->seen_ns;
    e.related_frame = d->related_frame;
    roce_track_emit(t, &e);
}

/* It stays what it was taken for. */
static void
say_as_taken(roce_tracker *t, const roce_stream_state *s, const roce_arrival *a,
             const roce_doubt *d)
{
    if (d->late) {
        say(t, s, a, ROCE_EVENT_LATE, d, ROCE_EVIDENCE_TIME);
    } else if (!d->overtaken) { /* that was told when it came */
        say(t, s, a, ROCE_EVENT_DUPLICATE, d, ROCE_EVIDENCE_NONE);
    }
}

/* Counts what is now known to have been sent again, not late and no duplicate; `earlier` is the
 * frame of the copy before, 0: that was not seen, or is not known. */
static void
recount(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
        const roce_doubt *d, uint64_t earlier)
{
    roce_trouble *trouble = roce_trouble_make(t, s);
    roce_disorder_counters *n = &trouble->pub.disorder[ROCE_SPACE_REQUESTS];
    if (d->late) {
        n->reordered--;
    } else {
        n->duplicates--;
    }
    n->resent++;
    trouble->pub.retransmissions.packets++;
    trouble->pub.retransmissions.bytes += d->payload_bytes;
    roce_event e = roce_track_event(ROCE_EVENT_RETRANSMISSION, s, a);
    e.psn = d->psn;
    e.detail = (uint8_t)trouble->round.cause;
    e.frame = d->frame; /* not the frame that settled it */
    e.related_frame = earlier;
    e.time_ns = d->seen_ns;
    roce_track_emit(t, &e);
    if (d->requested_bytes > 0) {
        trouble->pub.retransmissions.requested_bytes += d->requested_bytes;
        e.kind = ROCE_EVENT_READ_REISSUE;
        e.count = d->requested_bytes;
        roce_track_emit(t, &e);
    }
}

/* The transmissions that went unseen before the packet in doubt. */
static void
judge_unseen(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
             const roce_doubt *d, roce_slot *slot)
{
    if (d->copies == 0) {
        return;
    }
    roce_missing_range left; /* when it came, one of them was taken to be this one */
    while (roce_missing_take(&roce_requests(s)->missing, &t->alloc, d->psn,
                             d->psn + d->span, &left)) {
    }
    roce_loss_trim(t, s, a, ROCE_SPACE_REQUESTS);
    roce_missing_range range = {
        .copies = d->copies, .asked = d->asked, .acked = d->acked};
    if (roce_loss_judge(t, s, a, ROCE_SPACE_REQUESTS, &range) ==
        ROCE_VERDICT_LOST_BEFORE_CAPTURE) {
        roce_loss_note(slot, range.copies);
    }
}

/* What was in doubt was sent again. */
static void
promote(roce_tracker *t, roce_stream_state *s, const roce_arrival *now,
        const roce_doubt *d)
{
    roce_lane *lane = roce_requests(s);
    roce_slot *slot = roce_history_find(&lane->history, d->psn);
    roce_arrival a = *now;
    a.seen_ns = d->seen_ns;
    a.seen_frame = d->frame;
    a.missed_ns = d->missed_ns;
    a.nak_frame = d->nak_frame;
    a.asked_later = roce_trouble_of(s)->nak.frame != d->nak_frame;
    a.psn = d->psn;
    a.span = d->span;
    bool runs_on = roce_round_is_ahead(s, d->psn);
    if (d->late && roce_trouble_of(s)->nak.psn == d->psn) {
        roce_trouble_make(t, s)->nak.was_late = false;
    }
    if (runs_on) {
        roce_round_continue(t, s, &a);
    } else {
        roce_round_start(t, s, &a, d->cause, d->age_ns);
        roce_round *round = &roce_trouble_make(t, s)->round;
        round->all_acked = round->all_acked && !d->late && !d->overtaken;
    }
    if (!d->overtaken) { /* that was taken for sent again when it came */
        recount(t, s, now, d, d->late ? 0 : d->related_frame);
    }
    if (d->late || d->overtaken) {
        judge_unseen(t, s, &a, d, slot);
    } else if (slot != NULL) {
        roce_round_judge_copy(t, s, &a, slot, !runs_on);
        slot->frame = d->frame & ROCE_SLOT_MAX_FRAME;
        slot->time_ns = now->frame->time_ns;
    }
    if (slot != NULL && d->late) {
        slot->flags |= ROCE_SLOT_FILLED_AGAIN;
    } else if (slot != NULL) {
        slot->tx = ++lane->tx & ROCE_SLOT_MAX_TX;
        if (!d->overtaken) {
            roce_slot_count_copy(slot);
            roce_asked_part_note(t, s, slot, a.psn + a.span);
        }
    }
    lane->next_tx = d->psn + d->span;
}

/* A lone repeat of what was judged lost and sent again, or of what a round has skipped: that
 * copy after all, the original or one that was sent again itself.  That explains with one
 * cause what would else be a loss and a duplicate. */
static void
was_not_lost(roce_tracker *t, roce_stream_state *s, const roce_arrival *now,
             roce_slot *slot, const roce_doubt *d)
{
    roce_arrival a = *now;
    a.psn = d->psn;
    a.span = d->span;
    bool missing = is_missing(s, d->psn);
    bool skipped = missing || (slot->flags & ROCE_SLOT_SKIPPED) != 0;
    if (missing || !skipped) {
        (void)roce_loss_unmiss(t, s, &a, ROCE_SPACE_REQUESTS, slot);
    } else {
        slot->flags = (uint16_t)(slot->flags & ~ROCE_SLOT_SKIPPED);
    }
    roce_trouble *trouble = roce_trouble_make(t, s);
    if (!skipped && (slot->flags & ROCE_SLOT_FILLED_AGAIN) != 0) {
        slot->flags = (uint16_t)(slot->flags & ~ROCE_SLOT_FILLED_AGAIN);
        trouble->pub.disorder[ROCE_SPACE_REQUESTS].duplicates--;
        trouble->pub.disorder[ROCE_SPACE_REQUESTS].reordered++;
        roce_measure_late(s, d->psn);
        say(t, s, now, ROCE_EVENT_LATE, d, ROCE_EVIDENCE_COPIES);
    } else {
        recount(t, s, now, d, 0);
    }
    if (!skipped && d->psn >= trouble->round.start && d->psn < trouble->round.end) {
        roce_round_mark_spurious(t, s, now);
    }
}

/* It never came once more: it was the answer to the NAK, and an earlier copy was lost.
 */
static void
take_for_answer(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                const roce_asked_late *late)
{
    roce_trouble *trouble = roce_trouble_make(t, s);
    trouble->pub.disorder[ROCE_SPACE_REQUESTS].reordered--;
    trouble->pub.disorder[ROCE_SPACE_REQUESTS].resent++;
    trouble->pub.retransmissions.packets++;
    trouble->pub.retransmissions.bytes += late->payload_bytes;
    trouble->pub.retransmissions.rounds++;
    trouble->pub.retransmissions.by_cause[ROCE_CAUSE_NAK_SEQUENCE]++;
    trouble->votes_selective++;
    roce_round_learn_reaction(t, s, late->asked_ns, late->seen_ns);
    if (trouble->nak.frame == late->nak_frame) {
        trouble->nak.was_late = false;
    }
    roce_event e = roce_track_event(ROCE_EVENT_ROUND, s, a);
    e.psn = late->psn;
    e.detail = ROCE_CAUSE_NAK_SEQUENCE;
    e.frame = late->frame;
    e.time_ns = late->seen_ns;
    e.related_frame = late->nak_frame;
    roce_track_emit(t, &e);
    e.kind = ROCE_EVENT_RETRANSMISSION;
    e.related_frame = 0;
    roce_track_emit(t, &e);
    roce_loss_say_asked(t, s, a, late->psn);
}

/* The newest NAK is taken to be answered by the packet that waits. */
static void
take_for_answered(roce_tracker *t, roce_stream_state *s, const roce_asked_late *late)
{
    roce_last_nak *nak = &roce_trouble_make(t, s)->nak;
    if (nak->frame == late->nak_frame && nak->psn == late->psn) {
        nak->answered = true;
    }
}

/* After all it was not; another NAK may have come since. */
static void
take_for_unanswered(roce_tracker *t, roce_stream_state *s, const roce_asked_late *late)
{
    roce_last_nak *nak = &roce_trouble_make(t, s)->nak;
    if (nak->frame == late->nak_frame && nak->psn == late->psn) {
        nak->answered = false;
    } else if (nak->state == ROCE_NAK_SEQUENCE && !nak->answered &&
               late->psn < nak->oldest_psn) {
        nak->oldest_psn = late->psn;
        nak->oldest_ns = late->asked_ns;
    }
}

/* The answer came once more: this one was late. */
static void
say_late(roce_tracker *t, const roce_stream_state *s, const roce_arrival *a,
         const roce_asked_late *late)
{
    const roce_doubt d = {.psn = late->psn,
                          .frame = late->frame,
                          .related_frame = late->related_frame,
                          .seen_ns = late->seen_ns};
    say(t, s, a, ROCE_EVENT_LATE, &d, ROCE_EVIDENCE_TIME);
}

/* Waits whether the NAK is answered by another copy; the oldest wait makes room. */
static void
await_answer(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
             const roce_doubt *d)
{
    roce_trouble *trouble = roce_trouble_make(t, s);
    if (trouble->n_asked_late == ROCE_ASKED_LATE) {
        take_for_answer(t, s, a, &trouble->asked_late[0]);
        memmove(&trouble->asked_late[0], &trouble->asked_late[1],
                (ROCE_ASKED_LATE - 1) * sizeof trouble->asked_late[0]);
        trouble->n_asked_late--;
    }
    trouble->asked_late[trouble->n_asked_late++] = (roce_asked_late){
        .psn = d->psn,
        .frame = d->frame,
        .related_frame = d->related_frame,
        .seen_ns = d->seen_ns,
        .nak_frame = d->nak_frame,
        .asked_ns = d->asked_ns,
        .deadline_ns = a->frame->time_ns + 4 * t->config.path_delay_ns,
        .payload_bytes = d->payload_bytes,
    };
    take_for_answered(t, s, &trouble->asked_late[trouble->n_asked_late - 1]);
}

/* A copy of what is waited for came, or the time is up. */
static void
review_asked_late(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_trouble *trouble = roce_trouble_make(t, s);
    uint8_t kept = 0;
    for (uint8_t i = 0; i < trouble->n_asked_late; i++) {
        const roce_asked_late late = trouble->asked_late[i];
        if (a->psn == late.psn) {
            take_for_unanswered(t, s, &late);
            say_late(t, s, a, &late);
            continue;
        }
        if (a->frame->time_ns > late.deadline_ns) {
            take_for_answer(t, s, a, &late);
            continue;
        }
        trouble->asked_late[kept++] = late;
    }
    trouble->n_asked_late = kept;
}

/* Whether a repeat came sooner behind the packet than the other side has ever answered. */
static bool
is_before_any_nak(const roce_stream_state *s, const roce_doubt *d)
{
    return roce_acknowledge_is_sooner(s, d->age_ns);
}

/* Whether `a`, the request that follows the one in doubt, shows that this was sent again.
 */
static bool
shows_sent_again(const roce_tracker *t, const roce_stream_state *s,
                 const roce_arrival *a, const roce_doubt *d)
{
    const roce_lane *lane = &s->requests;
    bool ahead = roce_round_is_ahead(s, d->psn);
    /* Behind a repeat of the newest request comes the next new one in any case: that tells
     * something where there was a reason to send it again. */
    bool reason = d->cause != ROCE_CAUSE_UNKNOWN || ahead;
    bool tells = d->late || reason || a->psn < lane->max_next;
    bool run = tells && a->psn == d->psn + d->span;
    if (d->overtaken) {
        bool whole = roce_missing_find(&lane->missing, a->psn) == NULL;
        return (run || (a->psn > d->psn && whole)) && a->psn < lane->next_tx;
    }
    /* A requester that was sent no NAK and has not waited sends nothing again: where
     * packets take several paths, some that were overtaken come one after the other.
     * That holds for a round as well, unless copies go on behind it; and for repeats that
     * come sooner than any NAK could have asked for them, which a network makes. */
    bool for_nothing = d->cause == ROCE_CAUSE_UNKNOWN &&
                       roce_stream_is_paired(&s->pub) &&
                       (d->late || (!ahead && is_before_any_nak(s, d)));
    bool copy = roce_history_find(&lane->history, a->psn) != NULL;
    bool row = run && !d->late && roce_trouble_of(s)->n_in_row >= REPEATS_IN_ROW;
    bool in_round = ahead && (!for_nothing || copy);
    bool run_with_holes = (d->asked || in_round) && a->psn > d->psn &&
                          a->psn < lane->max_next &&
                          roce_round_may_lose(s, (uint64_t)(a->psn - d->psn), 0);
    bool cut_short = ahead && !d->late && is_named(t, s, a); /* the round, by a NAK */
    return (run && !for_nothing) || row || run_with_holes || cut_short;
}

/* Counts a repeat in doubt which the packet behind it, `psn`, another repeat, runs on from. */
static void
count_in_row(roce_trouble *trouble, const roce_doubt *d, int64_t psn, int64_t max_next)
{
    bool runs_on = !d->late && psn == d->psn + d->span && psn < max_next;
    if (!runs_on || trouble->row_next != d->psn) {
        trouble->n_in_row = 0;
    }
    if (runs_on && trouble->n_in_row < REPEATS_IN_ROW) {
        trouble->n_in_row++;
    }
    trouble->row_next = psn;
}

/* Whether a packet that is late itself has come between the one in doubt, ahead in the round, and
 * the one that follows it there. */
static bool
tells_nothing(const roce_tracker *t, const roce_stream_state *s, const roce_arrival *a,
              const roce_doubt *d)
{
    return roce_round_is_ahead(s, d->psn) && a->psn < s->requests.next_tx &&
           !is_named(t, s, a);
}

/* What was in doubt is settled by the request `a`. */
static void
settle(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
       const roce_doubt *d)
{
    roce_trouble *trouble = roce_trouble_make(t, s);
    if (shows_sent_again(t, s, a, d)) {
        trouble->n_in_row = 0;
        promote(t, s, a, d);
        return;
    }
    roce_slot *slot = roce_history_find(&roce_requests(s)->history, d->psn);
    if (slot != NULL && d->late && d->asked && a->psn != d->psn) {
        await_answer(t, s, a, d);
    } else if (slot != NULL && !d->late && !d->overtaken && is_due(s, slot)) {
        was_not_lost(t, s, a, slot, d);
    } else {
        say_as_taken(t, s, a, d);
    }
}

void
roce_unnumbered_settle(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_trouble *trouble = roce_trouble_had(s);
    if (trouble == NULL) {
        return;
    }
    if (trouble->n_asked_late > 0) {
        review_asked_late(t, s, a);
    }
    if (trouble->kept.valid) {
        const roce_doubt d = trouble->kept;
        trouble->kept.valid = false;
        settle(t, s, a, &d);
    }
    if (trouble->doubt.valid) {
        const roce_doubt d = trouble->doubt;
        trouble->doubt.valid = false;
        count_in_row(trouble, &d, a->psn, roce_requests(s)->max_next);
        if (tells_nothing(t, s, a, &d)) {
            trouble->kept = d;
        } else {
            settle(t, s, a, &d);
        }
    }
}

bool
roce_unnumbered_is_in_doubt(const roce_stream_state *s)
{
    const roce_trouble *trouble = roce_trouble_of(s);
    return trouble->doubt.valid || trouble->kept.valid;
}

void
roce_unnumbered_finish(roce_tracker *t, roce_stream_state *s)
{
    roce_trouble *trouble = roce_trouble_had(s);
    if (trouble == NULL) {
        return;
    }
    roce_doubt *open[] = {&trouble->kept, &trouble->doubt};
    for (unsigned i = 0; i < sizeof open / sizeof open[0]; i++) {
        if (open[i]->valid) {
            open[i]->valid = false;
            say_as_taken(t, s, NULL, open[i]);
        }
    }
    for (uint8_t i = 0; i < trouble->n_asked_late; i++) {
        const roce_asked_late *late = &trouble->asked_late[i];
        if (s->acked && late->psn < s->una) {
            take_for_answer(t, s, NULL, late);
        } else {
            say_late(t, s, NULL, late);
        }
    }
    trouble->n_asked_late = 0;
}
