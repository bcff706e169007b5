/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Latencies: which pairs of packets are a sample.  include/roce/stream.h defines them.
 *
 *   ACK          names the request that it is the answer to.
 *   message      acknowledgements walk through the requests in order; the walk takes
 *                the time at a message's first packet and the sample at its last one.
 *                READs and atomics are complete with their last response instead.
 *   READ         responses that come in order and for the first time are followed from
 *                the first to the last.  Behind a response that is missing the
 *                requester discards what comes and asks again, so nothing is taken
 *                until that is settled, or so long ago that it does not matter.
 *   recovery     begins with a round, and then with what showed the loss: the gap if it
 *                was seen here, else the NAK, else (a timeout) the copy before.  It
 *                ends with the first answer that covers the PSN.  A round for the same
 *                PSN goes on with it; if that was merely late there is no sample.
 *
 * Limitations: a tail that was lost before the point leaves no gap, and its second copy
 * is taken for the first.  A requester that missed the NAK seen here and timed out
 * gives a reaction of that length.
 */
#include "track.h"

#define PATIENCE 16 /* path delays that a missing response matters for */

/* Where the sample goes; NULL for lack of memory. */
static roce_histogram *
histogram_of(roce_tracker *t, roce_stream_state *s, roce_latency latency)
{
    if (s->pub.latencies == NULL) {
        s->pub.latencies = roce_track_resize(t, NULL, sizeof *s->pub.latencies);
        if (s->pub.latencies == NULL) {
            return NULL;
        }
        *s->pub.latencies = (roce_stream_latencies){0};
    }
    roce_histogram **h = &s->pub.latencies->of[latency];
    if (*h == NULL) {
        *h = roce_track_resize(t, NULL, sizeof **h);
        if (*h != NULL) {
            **h = (roce_histogram){0};
        }
    }
    return *h;
}

void
roce_measure_add(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                 roce_latency latency, uint64_t from_ns, uint64_t from_frame)
{
    if (a->seen_ns < from_ns) {
        return; /* the clock stepped back */
    }
    roce_histogram *h = histogram_of(t, s, latency);
    uint64_t unplaced = h != NULL ? h->unplaced : 0;
    if (h != NULL) {
        roce_room_sample(t, h, a->seen_ns - from_ns);
    }
    if (h == NULL || h->unplaced > unplaced) {
        roce_track_evicted(t, ROCE_TABLE_LATENCIES, s, a);
    }
    if (t->config.relation != NULL) {
        const roce_relation relation = {
            .kind = ROCE_RELATION_TAKES,
            .latency = latency,
            .stream = s->pub.id,
            .frame = a->seen_frame,
            .to = from_frame,
            .duration_ns = a->seen_ns - from_ns,
        };
        t->config.relation(t->config.ctx, &relation);
    }
}

/* Karn's rule: whether it is plain which copy was answered, where this is the newest round
 * of its stream. */
static inline bool
is_clean_beside(const roce_round *round, const roce_slot *slot)
{
    const unsigned doubtful = ROCE_SLOT_REFUSED | ROCE_SLOT_JUDGED |
                              ROCE_SLOT_FILLED_AGAIN | ROCE_SLOT_DOUBTED |
                              ROCE_SLOT_UNTIMED;
    /* A timeout repeats all that is not acknowledged, seen here or not. */
    bool in_round = slot->psn < round->end &&
                    (slot->psn >= round->start || round->cause == ROCE_CAUSE_TIMEOUT);
    return slot->copies == 1 && slot->lost == 0 && !in_round &&
           (slot->flags & doubtful) == 0;
}

static bool
is_clean(const roce_stream_state *s, const roce_slot *slot)
{
    return is_clean_beside(&roce_trouble_of(s)->round, slot);
}

/* ---- repair ---- */

/* When `psn` was noticed missing here; 0 if it is not. */
static uint64_t
missed_since(const roce_stream_state *s, roce_space space, int64_t psn)
{
    const roce_missing_range *range =
        roce_missing_find(&roce_lane_of(s, space)->missing, psn);
    return range != NULL ? range->time_ns : 0;
}

/* What the NAK that this round answers asked for; its copy may have gone unseen.  Of
 * two NAKs the older one counts, unless it is settled. */
static int64_t
asked_for(const roce_stream_state *s, const roce_arrival *a)
{
    const roce_last_nak *nak = &roce_trouble_of(s)->nak;
    bool settled = s->acked && nak->oldest_psn < s->una;
    return settled && a->psn == nak->psn ? nak->psn : nak->oldest_psn;
}

/* What a NAK asked for came late, before the round. */
static bool
came_late(const roce_stream_state *s, int64_t psn, uint64_t missed_ns)
{
    const roce_last_nak *nak = &roce_trouble_of(s)->nak;
    bool covered = s->acked && psn < s->una;
    return covered || nak->was_late || (nak->gap_seen && missed_ns == 0);
}

static bool
wants_response(const roce_stream_state *s, const roce_arrival *a, int64_t psn)
{
    const roce_slot *slot = roce_history_find(&s->requests.history, psn);
    return slot != NULL ? (slot->flags & ROCE_SLOT_WANTS_RESPONSE) != 0
                        : roce_role_wants_response(a->info->role);
}

/* When the loss of a response showed here: the gap, or when it went by; 0 neither. */
static uint64_t
response_evident(const roce_tracker *t, const roce_stream_state *s, int64_t psn)
{
    const roce_stream_state *peer = roce_track_peer(t, s);
    if (peer == NULL) {
        return 0;
    }
    const roce_slot *slot =
        roce_history_find(&roce_answers_of(peer)->lane.history, psn);
    uint64_t missed_ns = missed_since(peer, ROCE_SPACE_RESPONSES, psn);
    return missed_ns != 0 || slot == NULL ? missed_ns : slot->time_ns;
}

void
roce_measure_round(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                   roce_cause cause, uint64_t age_ns)
{
    bool by_nak = cause == ROCE_CAUSE_NAK_SEQUENCE;
    const roce_older_nak *older = by_nak ? roce_round_older_nak(t, s, a) : NULL;
    int64_t psn = by_nak && older == NULL ? asked_for(s, a) : a->psn;
    const roce_last_nak *nak = &roce_trouble_of(s)->nak;
    bool newest = older == NULL && psn == nak->psn;
    bool asked = !newest || !a->asked_later;
    uint64_t asked_ns = older != NULL ? older->time_ns
                        : newest      ? nak->time_ns
                                      : nak->oldest_ns;
    if (by_nak && psn == a->psn && asked) {
        uint64_t frame = older != NULL ? older->frame : newest ? nak->frame : 0;
        roce_measure_add(t, s, a, ROCE_LATENCY_NAK_REACTION, asked_ns, frame);
    }
    uint64_t missed_ns = missed_since(s, ROCE_SPACE_REQUESTS, psn);
    if (missed_ns == 0 && psn == a->psn) {
        missed_ns = a->missed_ns;
    }
    /* READs are answered in order: asked from further on, the repair went unseen. */
    const roce_repair_clock *repair = &roce_trouble_of(s)->repair;
    bool same = repair->psn == psn || (repair->psn < psn && !repair->by_response);
    bool goes_on = repair->running && same;
    bool unexplained = cause == ROCE_CAUSE_UNKNOWN && missed_ns == 0;
    bool needless = cause == ROCE_CAUSE_RNR || (by_nak && came_late(s, psn, missed_ns));
    if (goes_on || unexplained || needless) {
        return;
    }
    bool by_response = wants_response(s, a, psn);
    if (missed_ns == 0 && by_response) {
        missed_ns = response_evident(t, s, psn);
    }
    uint64_t evident_ns = by_nak ? asked_ns : a->seen_ns - age_ns;
    roce_trouble_make(t, s)->repair = (roce_repair_clock){
        .running = true,
        .by_response = by_response,
        .psn = psn,
        .evident_ns = missed_ns != 0 ? missed_ns : evident_ns,
    };
}

void
roce_measure_late(roce_stream_state *s, int64_t psn)
{
    roce_trouble *trouble = roce_trouble_had(s);
    if (trouble != NULL && trouble->repair.psn == psn) {
        trouble->repair.running = false;
    }
}

/* What was repaired is here, or answered. */
static void
end_repair(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_repair_clock *repair = &roce_trouble_make(t, s)->repair;
    repair->running = false;
    roce_measure_add(t, s, a, ROCE_LATENCY_RECOVERY, repair->evident_ns, 0);
}

/* An ACK or NAK covers everything below `una`, for the first time or not. */
static void
cover(roce_tracker *t, roce_stream_state *s, const roce_arrival *a, int64_t una)
{
    const roce_repair_clock *repair = &roce_trouble_of(s)->repair;
    if (repair->running && !repair->by_response && una > repair->psn) {
        end_repair(t, s, a);
    }
}

/* A response: to what was asked for again, or beyond it. */
static void
answer_repair(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    const roce_repair_clock *repair = &roce_trouble_of(s)->repair;
    if (repair->running && repair->by_response && a->psn == repair->psn) {
        end_repair(t, s, a);
    }
    cover(t, s, a, a->psn);
}

/* ---- acknowledgement ---- */

void
roce_measure_ack(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                 int64_t psn, const roce_slot *slot)
{
    cover(t, s, a, psn + 1);
    bool fresh = !s->acked || psn >= s->una;
    if (fresh && slot != NULL && (slot->flags & ROCE_SLOT_WANTS_RESPONSE) == 0 &&
        is_clean(s, slot)) {
        roce_measure_add(t, s, a, ROCE_LATENCY_ACK, slot->time_ns, slot->frame);
    }
}

void
roce_measure_nak(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                 int64_t psn)
{
    cover(t, s, a, psn);
}

/* One more request of a message. */
static inline void
take_part(roce_message_clock *message, const roce_slot *slot, bool clean)
{
    if ((slot->flags & ROCE_SLOT_MESSAGE_START) != 0) {
        message->clean = clean;
        message->start_ns = slot->time_ns;
        message->start_frame = slot->frame;
    } else {
        message->clean = message->clean && clean && slot->psn == message->next;
    }
    message->next = slot->psn + slot->span;
}

static void
end_message(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
            roce_message_clock *message, const roce_slot *slot)
{
    if (message->clean && (slot->flags & ROCE_SLOT_WANTS_RESPONSE) == 0) {
        roce_measure_add(t, s, a, ROCE_LATENCY_MESSAGE_COMPLETION, message->start_ns,
                         message->start_frame);
    }
    message->clean = false;
}

/* What changes with each request is kept apart until all are through: each packet of most
 * captures comes by here. */
void
roce_measure_completed(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                       int64_t una)
{
    const roce_history history = roce_requests(s)->history;
    int64_t from = s->acked ? s->una : roce_requests(s)->first;
    const uint32_t first = roce_history_lower(&history, from);
    if (first == history.n || roce_history_at(&history, first)->psn >= una) {
        return;
    }
    const roce_round round = roce_trouble_of(s)->round;
    roce_heard *heard = roce_heard_make(t, s);
    roce_message_clock message = heard->message;
    bool is_related = t->config.relation != NULL;
    for (uint32_t i = first; i < history.n; i++) {
        const roce_slot *slot = roce_history_at(&history, i);
        if (slot->psn >= una) {
            break;
        }
        if (is_related) {
            roce_track_relate(t, s, a, ROCE_RELATION_COVERS, slot->frame);
        }
        take_part(&message, slot, is_clean_beside(&round, slot));
        if ((slot->flags & ROCE_SLOT_MESSAGE_END) != 0) {
            end_message(t, s, a, &message, slot);
        }
    }
    heard->message = message;
}

/* ---- responses ---- */

/* A response went missing here lately: the requester may discard what follows. */
static bool
is_disturbed(const roce_tracker *t, const roce_stream_state *by, const roce_arrival *a)
{
    const roce_missing *missing = &roce_answers_of(by)->lane.missing;
    if (missing->n == 0) {
        return false;
    }
    uint64_t noticed_ns = missing->ranges[missing->n - 1].time_ns;
    return a->seen_ns <= noticed_ns + PATIENCE * t->config.path_delay_ns;
}

void
roce_measure_response(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
                      const roce_arrival *a)
{
    if (s == NULL) {
        return;
    }
    roce_answer_clock *answer = &by->answers->answer;
    answer_repair(t, s, a);
    const roce_slot *slot = roce_history_find(&roce_requests(s)->history, a->psn);
    if (slot == NULL || (slot->flags & ROCE_SLOT_WANTS_RESPONSE) == 0 ||
        !is_clean(s, slot) || is_disturbed(t, by, a)) {
        answer->clean = false;
        return;
    }
    bool reads = (slot->flags & ROCE_SLOT_READS) != 0;
    answer->clean = a->psn == slot->psn || (answer->clean && a->psn == answer->next);
    answer->next = a->psn + 1;
    if (a->psn == slot->psn && reads) {
        roce_measure_add(t, s, a, ROCE_LATENCY_READ_FIRST, slot->time_ns, slot->frame);
    }
    if (!roce_part_ends(a->info->part) || !answer->clean ||
        a->psn != slot->psn + slot->span - 1) {
        return;
    }
    answer->clean = false;
    if (reads) {
        roce_measure_add(t, s, a, ROCE_LATENCY_READ, slot->time_ns, slot->frame);
    }
    roce_measure_add(t, s, a, ROCE_LATENCY_MESSAGE_COMPLETION, slot->time_ns,
                     slot->frame);
}

void
roce_measure_response_behind(roce_tracker *t, roce_stream_state *s,
                             roce_stream_state *by, const roce_arrival *a)
{
    by->answers->answer.clean = false;
    if (s != NULL) {
        answer_repair(t, s, a);
    }
}

/* ---- what is given up ---- */

void
roce_measure_untime(roce_stream_state *s, uint32_t psn24)
{
    roce_history *history = &roce_requests(s)->history;
    int64_t psn = roce_psn_expand(psn24, s->requests.max_next);
    for (uint32_t i = 0; i < history->n; i++) {
        roce_slot *slot = roce_history_at(history, i);
        if (slot->psn + slot->span <= psn) {
            slot->flags |= ROCE_SLOT_UNTIMED;
        }
    }
}

void
roce_measure_restart(roce_stream_state *s)
{
    roce_trouble *trouble = roce_trouble_had(s);
    if (s->heard != NULL) {
        s->heard->message.clean = false;
    }
    if (trouble != NULL) {
        trouble->repair.running = false;
    }
}

void
roce_measure_forget(roce_tracker *t, roce_stream_state *s)
{
    roce_measure_restart(s);
    if (s->answers != NULL) {
        s->answers->answer.clean = false;
    }
    if (s->pub.congestion != NULL) {
        roce_congestion_make(t, s)->cnp_seen = false;
    }
    if (s->pub.latencies == NULL) {
        return;
    }
    for (unsigned i = 0; i < ROCE_N_LATENCIES; i++) {
        roce_histogram *h = s->pub.latencies->of[i];
        if (h != NULL) {
            roce_room_forget_samples(t, h);
            t->alloc.release(t->alloc.ctx, h);
        }
    }
    t->alloc.release(t->alloc.ctx, s->pub.latencies);
    s->pub.latencies = NULL;
}
