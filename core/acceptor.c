/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The acceptor: who takes packets, as if it stood at this point.  That of requests is the
 * responder, that of responses the requester.
 *
 * It waits for one PSN, lane.accept_next, and discards what comes beyond that (go-back-N): of
 * requests, this is what a responder sends a NAK for, one for each PSN that it waits for.  It
 * takes what the true one may not have got, which was lost behind this point; and it waits for
 * what the true one has got, which this point missed.  So ACKs and NAKs correct it, forwards and
 * backwards.
 *
 * That of UC (IBTA 9.8.2.2) waits for the next packet of a message, and drops the rest of it
 * when another one comes, be it late or a copy; what begins a message is taken whatever its PSN.
 */
#include "track.h"

bool
roce_acceptor_has_taken(const roce_stream_state *s, roce_space space,
                        const roce_slot *slot)
{
    if (roce_lane_of(s, space)->selective) {
        return true; /* nothing is discarded */
    }
    const roce_discard *told = &roce_trouble_of(s)->discards[space];
    bool told_otherwise =
        told->tx > 0 && slot->psn + slot->span > told->psn && slot->tx <= told->tx;
    return (slot->flags & ROCE_SLOT_IN_ORDER) != 0 && !told_otherwise;
}

void
roce_acceptor_expect(roce_tracker *t, roce_stream_state *s, roce_space space,
                     int64_t psn)
{
    roce_lane *lane = roce_lane_at(s, space);
    roce_trouble_make(t, s)->discards[space] =
        (roce_discard){.psn = psn, .tx = lane->tx};
    if (lane->accept_next > psn) {
        lane->accept_next = psn;
    }
}

void
roce_acceptor_discard(roce_tracker *t, roce_stream_state *s, uint64_t frame,
                      uint64_t time_ns)
{
    roce_trouble *trouble = roce_trouble_make(t, s);
    int64_t expected = roce_requests(s)->accept_next;
    const roce_violation *newest = &trouble->violations[trouble->violation];
    if (newest->frame != 0 && newest->expected == expected && !newest->answered) {
        return;
    }
    trouble->violation = (uint8_t)((trouble->violation + 1) % ROCE_VIOLATIONS);
    trouble->violations[trouble->violation] = (roce_violation){
        .expected = expected,
        .frame = frame,
        .time_ns = time_ns,
    };
}

/* Of UC.  What goes on where no message is under way is of one whose first packet is missing, if
 * it is new; else it is late, or a copy. */
static bool
offer_of_message(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_lane *lane = roce_requests(s);
    bool starts = roce_part_starts(a->info->part);
    bool ends = roce_part_ends(a->info->part);
    bool is_new = a->psn >= lane->max_next;
    bool breaks = starts ? lane->in_message
                         : a->psn != lane->accept_next && (lane->in_message || is_new);
    if (breaks && !(lane->broken && lane->in_message)) {
        roce_trouble_make(t, s)->pub.messages_broken++;
    }
    bool is_taken = starts || (!lane->broken && a->psn == lane->accept_next);
    bool comes_between = starts && ends && breaks && !is_new; /* the rest is to come */
    lane->broken = !is_taken || comes_between;
    lane->in_message =
        comes_between || ((starts || lane->in_message || breaks) && !ends);
    if (is_taken) {
        lane->accept_next = a->psn + a->span;
    }
    return is_taken;
}

bool
roce_acceptor_offer(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_lane *lane = roce_requests(s);
    int64_t end = a->psn + a->span;
    if (s->pub.transport == ROCE_TRANSPORT_UC) {
        return offer_of_message(t, s, a);
    }
    if (a->psn > lane->accept_next) {
        roce_acceptor_discard(t, s, a->frame->number, a->frame->time_ns);
        return false;
    }
    if (end > lane->accept_next) {
        lane->accept_next = end;
    }
    return true;
}

void
roce_acceptor_catch_up(roce_lane *lane, int64_t una)
{
    if (lane->accept_next >= una || una > lane->max_next) {
        return;
    }
    lane->accept_next = una;
    uint64_t tx = 0;
    for (uint32_t i = roce_history_lower(&lane->history, lane->accept_next);
         i < lane->history.n; i++) {
        roce_slot *slot = roce_history_at(&lane->history, i);
        if (slot->psn != lane->accept_next || slot->tx < tx) {
            return;
        }
        tx = slot->tx;
        slot->flags |= ROCE_SLOT_IN_ORDER;
        lane->accept_next = slot->psn + slot->span;
    }
}

/* The newest request that it discarded while it waited for `psn`, if no NAK has answered it or it
 * came after a frame: where it stands, or ROCE_VIOLATIONS.  A responder lags behind the capture,
 * so that the moment it speaks of may be some packets back. */
static unsigned
find_violation(const roce_stream_state *s, int64_t psn, uint64_t after)
{
    const roce_trouble *trouble = roce_trouble_of(s);
    for (unsigned i = 0; i < ROCE_VIOLATIONS; i++) {
        unsigned at =
            (unsigned)(trouble->violation + ROCE_VIOLATIONS - i) % ROCE_VIOLATIONS;
        const roce_violation *violation = &trouble->violations[at];
        if (violation->frame != 0 && violation->expected == psn &&
            (!violation->answered || violation->frame > after)) {
            return at;
        }
    }
    return ROCE_VIOLATIONS;
}

const roce_violation *
roce_acceptor_take_violation(roce_stream_state *s, int64_t psn)
{
    unsigned at = find_violation(s, psn, UINT64_MAX);
    if (at == ROCE_VIOLATIONS) {
        return NULL;
    }
    roce_violation *violation = &roce_trouble_had(s)->violations[at];
    violation->answered = true;
    return violation;
}

uint64_t
roce_acceptor_frame_beyond(const roce_stream_state *s, int64_t psn, uint64_t after)
{
    unsigned at = find_violation(s, psn, after);
    return at != ROCE_VIOLATIONS ? roce_trouble_of(s)->violations[at].frame : 0;
}
