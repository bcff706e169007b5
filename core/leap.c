/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets that were damaged in their PSN, in captures that do not have their ICRC.
 *
 * A bit of the PSN that was turned over on the way makes of the packet one that jumps ahead
 * or back, by a power of two.  Its ICRC would prove that it was damaged; where packets were
 * cut before that, the next one of the stream does.  Senders go on from where they jump to,
 * and what was overtaken on its way was so by a few packets:
 *
 *   1. A packet of which one bit alone is other than in the PSN due, and which jumps further
 *      than any reordering, is held, unless something is known that explains it: a NAK, a
 *      timeout, a gap that it fills.
 *   2. The next packet comes right behind the PSN that was due, or that one comes and nobody
 *      had asked for it: the one held was damaged.  It has moved nothing, and is remembered
 *      as one with a bad ICRC is.  So it was if the next one jumps likewise from what is due
 *      behind it: two were damaged, one after the other.  And of what jumped as far as queue
 *      pairs do that begin anew, by whatever stands where it jumped from.
 *   3. Anything else, a NAK that it explains, and an ACK from where it jumped to, shows that it
 *      was not: it is taken, as if it came now, and then what showed it.
 *
 * How far packets may be overtaken is guessed, and with care; where identifications rise, they
 * tell which of the two was sent first, and the guess matters little.
 *
 * The first request of a stream was damaged if the second one jumps likewise and the stream
 * goes on from there: a queue pair that begins anew has more than one packet, and nothing was
 * sent between packets whose identifications follow one another.
 *
 * Limitations: bits that stand for less are not told from reordering.  Of the first response,
 * and of the last packet if no ACK covers what was due, nothing can be told; nor of a first
 * request behind which the stream goes back, as a requester may.
 */
#include "roce/aeth.h"
#include "track.h"

#define LEAST_DISTANCE 128 /* PSNs */
#define HOLES_SHARE 8      /* part of the distance that may be lost behind it */

struct roce_leap {
    bool open;         /* it is held */
    int64_t due;       /* the PSN that it had, if it was damaged */
    int64_t due_after; /* once it was found damaged: what is due behind it ... */
    uint64_t tx;       /* ... while this is the lane's newest */
    roce_frame frame;
    roce_packet packet;
    roce_arrival arrival; /* of these two */
};

/* NULL: there never was one. */
static roce_leap *
leap_of(const roce_stream_state *s, roce_space space)
{
    return roce_trouble_of(s)->leaps[space];
}

bool
roce_leap_is_open(const roce_stream_state *s, roce_space space)
{
    const roce_leap *leap = leap_of(s, space);
    return leap != NULL && leap->open;
}

int64_t
roce_leap_due_behind(const roce_stream_state *s, roce_space space, int64_t next)
{
    const roce_leap *leap = leap_of(s, space);
    bool damaged = leap != NULL && !leap->open && leap->tx > 0 &&
                   leap->tx == roce_lane_of(s, space)->tx;
    return damaged ? leap->due_after : next;
}

static int64_t
distance_of(int64_t psn, int64_t due)
{
    return psn > due ? psn - due : due - psn;
}

/* Whether a packet is one bit off from the PSN due, and that far. */
static bool
is_leap(const roce_stream_state *s, uint32_t psn24, int64_t due)
{
    return roce_leap_is_one_bit(psn24, due) &&
           (distance_of(roce_psn_expand(psn24, due), due) >= LEAST_DISTANCE ||
            roce_ident_mode_of(s) == ROCE_IDENT_RISING);
}

bool
roce_leap_may_be(const roce_stream_state *s, const roce_arrival *a, int64_t due)
{
    return a->icrc == ROCE_ICRC_TRUNCATED && is_leap(s, a->packet->bth.psn24, due);
}

static roce_leap *
make_leap(roce_tracker *t, roce_stream_state *s, roce_space space)
{
    (void)roce_trouble_make(t, s);
    roce_trouble *trouble = roce_trouble_had(s);
    if (trouble != NULL && trouble->leaps[space] == NULL) {
        trouble->leaps[space] = roce_track_zeroed(t, sizeof *trouble->leaps[space]);
    }
    return trouble != NULL ? trouble->leaps[space] : NULL;
}

bool
roce_leap_hold(roce_tracker *t, roce_stream_state *s, roce_space space,
               const roce_arrival *a, int64_t due)
{
    roce_leap *leap = make_leap(t, s, space);
    if (leap == NULL) {
        return false;
    }
    s->has_leapt = true;
    *leap = (roce_leap){.open = true,
                        .due = due,
                        .frame = *a->frame,
                        .packet = *a->packet,
                        .arrival = *a};
    leap->frame.bytes = NULL; /* they are gone by then */
    leap->frame.captured_bytes = 0;
    leap->arrival.frame = &leap->frame;
    leap->arrival.packet = &leap->packet;
    leap->arrival.psn = roce_psn_expand(a->packet->bth.psn24, due);
    return true;
}

/* Whether a request that is not the one due may be another one: the first behind a round, one
 * that fills a gap, a copy that was asked for or that the network made. */
static bool
is_explained(const roce_tracker *t, const roce_stream_state *s, const roce_arrival *a)
{
    const roce_lane *lane = &s->requests;
    if (a->psn == lane->max_next || a->psn == roce_sequence_due(s) ||
        roce_missing_find(&lane->missing, a->psn) != NULL) {
        return true;
    }
    const roce_slot *slot = roce_history_find(&lane->history, a->psn);
    if (slot != NULL && roce_ident_same_copy(s, slot, &a->identity)) {
        return true;
    }
    if (a->psn >= lane->max_next || a->psn < lane->first) {
        return false;
    }
    roce_cause cause = roce_round_find_cause(t, s, a, slot);
    return cause != ROCE_CAUSE_UNKNOWN && cause != ROCE_CAUSE_TIMEOUT;
}

bool
roce_leap_hold_request(roce_tracker *t, roce_stream_state *s, roce_arrival *a,
                       int64_t due)
{
    const roce_lane *lane = &s->requests;
    if (!lane->started || s->reborn || lane->span_unknown ||
        !roce_leap_may_be(s, a, due)) {
        return false;
    }
    a->psn = roce_psn_expand(a->packet->bth.psn24, due);
    return !is_explained(t, s, a) && roce_leap_hold(t, s, ROCE_SPACE_REQUESTS, a, due);
}

/* ---- what it was ---- */

/* How many PSNs it takes. */
static uint32_t
span_of(const roce_stream_state *s, roce_space space, const roce_leap *leap)
{
    bool unknown;
    return space == ROCE_SPACE_REQUESTS ? roce_span_of(s, &leap->arrival, &unknown) : 1;
}

/* Whether the PSN that was due comes now although the sender has not been asked for it. */
static bool
comes_for_the_first_time(const roce_tracker *t, const roce_stream_state *s,
                         roce_space space, const roce_leap *leap, const roce_arrival *a)
{
    int64_t psn = leap->arrival.psn;
    if (space == ROCE_SPACE_RESPONSES) {
        const roce_stream_state *asks = roce_track_peer(t, s);
        return asks != NULL && psn >= asks->requests.max_next;
    }
    /* It would have been asked for if there had been a gap before the other one. */
    bool was_late = roce_ident_mode_of(s) != ROCE_IDENT_RISING &&
                    roce_since_ns(a->frame->time_ns, leap->frame.time_ns) <
                        roce_round_timeout_floor_ns(t, s);
    return psn > leap->due && roce_stream_is_reliable(&s->pub) &&
           roce_stream_is_paired(&s->pub) && !was_late;
}

/* Whether the next packet shows that the one held was damaged. */
static bool
shows_damage(const roce_tracker *t, const roce_stream_state *s, roce_space space,
             const roce_leap *leap, const roce_arrival *a)
{
    uint32_t psn24 = a->packet->bth.psn24;
    int64_t behind = roce_psn_expand(psn24, leap->due) - leap->due;
    int64_t distance = distance_of(leap->arrival.psn, leap->due);
    if (roce_ident_was_sent_before(s, a, &leap->arrival)) {
        return false;
    }
    if (distance > ROCE_RESTART_DISTANCE && behind <= ROCE_RESTART_DISTANCE &&
        behind >= -ROCE_RESTART_DISTANCE) {
        return true; /* nobody begins anew for one packet */
    }
    if (behind == 0) {
        return comes_for_the_first_time(t, s, space, leap, a);
    }
    if (behind > 0 && behind <= distance / HOLES_SHARE) {
        return true;
    }
    uint32_t span = span_of(s, space, leap);
    return psn24 != roce_psn_wrap(leap->arrival.psn + span) &&
           roce_leap_may_be(s, a, leap->due + span);
}

static void
find_damaged(roce_tracker *t, roce_stream_state *s, roce_space space, roce_leap *leap)
{
    leap->due_after = leap->due + span_of(s, space, leap);
    leap->tx = roce_lane_of(s, space)->tx;
    roce_loss_note_bad(t, s, &leap->arrival, roce_psn_wrap(leap->due),
                       ROCE_EVIDENCE_BAD_PSN);
}

static void
take(roce_tracker *t, roce_stream_state *s, roce_space space, roce_leap *leap)
{
    const roce_sighting now = t->last; /* of the packet that is being tracked */
    if (space == ROCE_SPACE_REQUESTS) {
        roce_sequence_take(t, s, &leap->arrival);
    } else {
        roce_respond_take(t, s, &leap->arrival);
    }
    t->last = now;
}

/* Whether `a` goes on from the one held, and shows that the only request before that was
 * damaged. */
static bool
shows_first_damaged(const roce_stream_state *s, roce_space space, const roce_leap *leap,
                    const roce_arrival *a)
{
    const roce_lane *lane = &s->requests;
    int64_t psn = leap->arrival.psn;
    if (space != ROCE_SPACE_REQUESTS || lane->tx != 1 || lane->history.n != 1 ||
        s->acked ||
        roce_psn_wrap(psn + span_of(s, space, leap)) != a->packet->bth.psn24) {
        return false;
    }
    uint16_t ident = leap->arrival.identity.ident;
    bool is_run = (uint16_t)(ident - lane->newest_ident) == 1 &&
                  (uint16_t)(a->identity.ident - ident) == 1;
    return distance_of(psn, leap->due) > ROCE_RESTART_DISTANCE ||
           (psn > leap->due && is_run);
}

static void
find_first_damaged(roce_tracker *t, roce_stream_state *s, roce_leap *leap)
{
    const roce_slot *first = roce_history_at(&s->requests.history, 0);
    const roce_frame frame = {
        .time_ns = first->time_ns, .number = first->frame, .point = s->pub.point};
    const roce_arrival a = {.frame = &frame};
    uint32_t span = first->span;
    roce_loss_note_bad(t, s, &a, roce_psn_wrap(leap->arrival.psn - span),
                       ROCE_EVIDENCE_BAD_PSN);
    roce_sequence_begin_anew(t, s, &leap->arrival);
}

void
roce_leap_settle(roce_tracker *t, roce_stream_state *s, roce_space space,
                 const roce_arrival *a)
{
    roce_leap *leap = leap_of(s, space);
    leap->open = false;
    if (shows_damage(t, s, space, leap, a)) {
        find_damaged(t, s, space, leap);
    } else if (shows_first_damaged(s, space, leap, a)) {
        find_first_damaged(t, s, leap);
    } else {
        take(t, s, space, leap);
    }
}

void
roce_leap_hear(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_leap *leap = leap_of(s, ROCE_SPACE_REQUESTS);
    int64_t jumped_to = leap->arrival.psn;
    int64_t psn = roce_psn_expand(a->packet->bth.psn24, leap->due);
    bool is_there = distance_of(psn, jumped_to) < distance_of(psn, leap->due);
    bool asks = jumped_to > leap->due && psn >= leap->due &&
                roce_aeth_get_kind(a->packet->aeth_syndrome) == ROCE_AETH_NAK;
    if (is_there || asks) {
        leap->open = false;
        take(t, s, ROCE_SPACE_REQUESTS, leap);
    }
}

void
roce_leap_forget(roce_stream_state *s, roce_space space)
{
    roce_leap *leap = leap_of(s, space);
    if (leap != NULL) {
        leap->open = false;
        leap->tx = 0;
    }
}

void
roce_leap_finish(roce_tracker *t, roce_stream_state *s)
{
    for (roce_space space = 0; space < ROCE_N_SPACES; space++) {
        roce_leap *leap = leap_of(s, space);
        if (leap == NULL || !leap->open) {
            continue;
        }
        leap->open = false;
        if (space == ROCE_SPACE_REQUESTS && s->acked && s->una > leap->due) {
            find_damaged(t, s, space, leap); /* what was due had come */
        } else {
            take(t, s, space, leap);
        }
    }
}
