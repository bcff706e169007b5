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
 * unknown origin where it had been seen.
 *
 * A late original that a NAK had asked for should come once more, since the requester
 * answers the NAK.  If by the end it never did, it was itself the answer (a selective
 * repeat), and the loss is booked then.
 */
#include "track.h"

static roce_lane *
requests(roce_stream_state *s)
{
    return &s->lane[ROCE_SPACE_REQUESTS];
}

/* Takes a packet in doubt for what it is when it stays alone. */
static void
doubt(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
      const roce_slot *slot)
{
    const roce_missing_range *range = roce_missing_find(&requests(s)->missing, a->psn);
    bool named = roce_round_nak_explains(t, s, a) && a->psn == s->nak.oldest_psn;
    s->doubt = (roce_doubt){
        .valid = true,
        .late = slot == NULL,
        .asked = named,
        .psn = a->psn,
        .span = a->span,
        .frame = a->frame->number,
        .payload_bytes = a->packet->payload_bytes,
        .cause = roce_round_find_cause(t, s, a, slot),
        .age_ns = roce_round_age(s, a, slot),
        .copies = range != NULL ? range->copies : 0,
        .acked = range != NULL && range->acked,
    };
}

bool
roce_unnumbered_missing(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_lane *lane = requests(s);
    bool runs_on = s->round.active && a->psn == lane->next_tx;
    if (runs_on || (!roce_round_nak_explains(t, s, a) &&
                    roce_round_find_cause(t, s, a, NULL) == ROCE_CAUSE_TIMEOUT)) {
        return false;
    }
    doubt(t, s, a, NULL);
    return true;
}

bool
roce_unnumbered_repeated(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                         roce_slot *slot)
{
    roce_lane *lane = requests(s);
    bool runs_on = s->round.active && a->psn == lane->next_tx;
    bool reissue = a->info->role == ROCE_ROLE_READ_REQUEST && a->psn > slot->psn;
    bool named = roce_round_nak_explains(t, s, a) && a->psn == s->nak.oldest_psn;
    roce_cause cause = roce_round_find_cause(t, s, a, slot);
    if (runs_on || reissue || named || cause == ROCE_CAUSE_TIMEOUT ||
        cause == ROCE_CAUSE_READ_REISSUE) {
        return false;
    }
    doubt(t, s, a, slot);
    return true;
}

/* Counts what is now known to have been sent again, not late and no duplicate. */
static void
recount(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
        const roce_doubt *d)
{
    roce_space_counters *n = &s->pub.space[ROCE_SPACE_REQUESTS];
    if (d->late) {
        n->reordered--;
    } else {
        n->duplicates--;
    }
    n->resent++;
    s->pub.retransmissions.packets++;
    s->pub.retransmissions.bytes += d->payload_bytes;
    roce_event e = roce_track_event(ROCE_EVENT_RETRANSMISSION, s, a);
    e.psn = d->psn;
    e.detail = (uint8_t)s->round.cause;
    e.related_frame = d->frame;
    roce_track_emit(t, &e);
}

/* The transmissions that went unseen before the packet in doubt. */
static void
judge_unseen(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
             const roce_doubt *d, roce_slot *slot)
{
    if (d->copies == 0) {
        return;
    }
    roce_missing_range range = {
        .copies = d->copies, .asked = d->asked, .acked = d->acked};
    if (roce_loss_judge(t, s, a, ROCE_SPACE_REQUESTS, &range) ==
        ROCE_VERDICT_LOST_BEFORE_CAPTURE) {
        roce_loss_note(slot, d->copies);
    }
}

/* What was in doubt was sent again. */
static void
promote(roce_tracker *t, roce_stream_state *s, const roce_arrival *now,
        const roce_doubt *d)
{
    roce_lane *lane = requests(s);
    roce_slot *slot = roce_history_find(&lane->history, d->psn);
    roce_arrival a = *now;
    a.psn = d->psn;
    a.span = d->span;
    bool runs_on =
        s->round.active && d->psn >= lane->next_tx && d->psn < lane->max_next;
    if (d->late && s->nak.psn == d->psn) {
        s->nak.was_late = false;
    }
    if (runs_on) {
        roce_round_continue(t, s, &a);
    } else {
        roce_round_start(t, s, &a, d->cause, d->age_ns);
    }
    recount(t, s, now, d);
    if (d->late) {
        judge_unseen(t, s, &a, d, slot);
        if (slot != NULL) {
            slot->flags |= ROCE_SLOT_FILLED_AGAIN;
        }
    } else if (slot != NULL) {
        roce_round_judge_copy(t, s, &a, slot, !runs_on);
        slot->frame = d->frame;
        slot->time_ns = now->frame->time_ns;
        slot->tx = ++lane->tx;
    }
    lane->next_tx = d->psn + d->span;
}

/* A lone repeat of what was judged lost and sent again: the original after all.  That
 * explains with one cause what would else be a loss and a duplicate. */
static void
take_for_original(roce_tracker *t, roce_stream_state *s, const roce_arrival *now,
                  roce_slot *slot, const roce_doubt *d)
{
    roce_arrival a = *now;
    a.psn = d->psn;
    a.span = d->span;
    (void)roce_loss_unmiss(t, s, &a, ROCE_SPACE_REQUESTS, slot);
    s->pub.space[ROCE_SPACE_REQUESTS].duplicates--;
    s->pub.space[ROCE_SPACE_REQUESTS].reordered++;
    roce_event e = roce_track_event(ROCE_EVENT_LATE, s, now);
    e.psn = d->psn;
    e.evidence = ROCE_EVIDENCE_COPIES;
    e.related_frame = d->frame;
    roce_track_emit(t, &e);
    if (d->psn >= s->round.start && d->psn < s->round.end) {
        roce_round_mark_spurious(t, s, now);
    }
}

void
roce_unnumbered_settle(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_doubt d = s->doubt;
    s->doubt.valid = false;
    if (!d.valid) {
        return;
    }
    const roce_lane *lane = requests(s);
    bool run = a->psn == d.psn + d.span;
    bool run_with_gaps = d.asked && a->psn > d.psn && a->psn < lane->max_next;
    if (run || run_with_gaps) {
        promote(t, s, a, &d);
        return;
    }
    roce_slot *slot = roce_history_find(&requests(s)->history, d.psn);
    if (slot == NULL) {
        return;
    }
    if (d.late && d.asked) {
        slot->flags |= ROCE_SLOT_ASKED_LATE;
    } else if (!d.late && slot->lost > 0) {
        take_for_original(t, s, a, slot, &d);
    }
}

/* Late originals that had been asked for and never came once more were the answers. */
void
roce_unnumbered_finish(roce_tracker *t, roce_stream_state *s)
{
    roce_lane *lane = requests(s);
    for (uint32_t i = 0; i < lane->history.n; i++) {
        roce_slot *slot = roce_history_at(&lane->history, i);
        if ((slot->flags & ROCE_SLOT_ASKED_LATE) == 0 || slot->copies > 1 ||
            !s->acked || slot->psn >= s->una) {
            continue;
        }
        s->pub.space[ROCE_SPACE_REQUESTS].reordered--;
        s->pub.space[ROCE_SPACE_REQUESTS].resent++;
        s->pub.retransmissions.packets++;
        s->pub.retransmissions.rounds++;
        s->pub.retransmissions.by_cause[ROCE_CAUSE_NAK_SEQUENCE]++;
        s->pub.retransmissions.bytes += slot->message_bytes;
        roce_loss_say(t, s, NULL, ROCE_SPACE_REQUESTS, ROCE_VERDICT_LOST_BEFORE_CAPTURE,
                      ROCE_EVIDENCE_ASKED_FOR, slot->psn, 1, 0);
    }
}
