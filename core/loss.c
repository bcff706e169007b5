/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verdicts on transmissions: lost, not captured, or not to be told; and the table of
 * what went unseen that they are made from.
 *
 * What is missing is judged when it comes again (something asked for it, or it was sent
 * again only), when an ACK covers it, or when the capture ends.  A verdict is withdrawn
 * when the packet it is about arrives late after all.
 */
#include "track.h"

/* Packets that came damaged, of a stream: room for them doubles when it is used up. */
#define LEAST_BAD 8
#define MOST_BAD 128

void
roce_loss_say(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
              roce_space space, roce_verdict verdict, roce_evidence evidence,
              int64_t psn, uint64_t copies, uint64_t related)
{
    roce_trouble_make(t, s)->pub.losses[space][verdict] += copies;
    roce_event e = roce_track_event(ROCE_EVENT_LOSS, s, a);
    e.space = space;
    e.detail = (uint8_t)verdict;
    e.evidence = evidence;
    e.psn = psn;
    e.count = copies;
    e.related_frame = related;
    roce_track_emit(t, &e);
}

void
roce_loss_withdraw(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                   roce_space space, roce_verdict verdict, int64_t psn)
{
    uint64_t *count = &roce_trouble_make(t, s)->pub.losses[space][verdict];
    if (*count == 0) {
        return;
    }
    (*count)--;
    roce_event e = roce_track_event(ROCE_EVENT_LOSS_WITHDRAWN, s, a);
    e.space = space;
    e.detail = (uint8_t)verdict;
    e.psn = psn;
    e.count = 1;
    roce_track_emit(t, &e);
}

/* Room for more than there are, the oldest first. */
static void
make_room_for_bad(roce_tracker *t, roce_trouble *trouble)
{
    uint16_t room = trouble->bad_room;
    uint16_t more = (uint16_t)(room == 0 ? LEAST_BAD : 2 * room);
    roce_bad *bad = roce_track_zeroed(t, more * sizeof *bad);
    if (bad == NULL) {
        return;
    }
    for (uint16_t i = 0; i < room; i++) {
        bad[i] = trouble->bad[(trouble->bad_at + i) % room];
    }
    roce_loss_forget_bad(t, trouble);
    trouble->bad = bad;
    trouble->bad_room = more;
    trouble->bad_at = room;
}

/* Remembers it in place of the oldest; of those that may still account for one that is missing,
 * so many at least. */
static void
remember_bad(roce_tracker *t, roce_trouble *trouble, const roce_bad *bad)
{
    bool is_wanted = trouble->bad_room == 0 || trouble->bad[trouble->bad_at].frame != 0;
    if (is_wanted && trouble->bad_room < MOST_BAD && trouble != &t->nowhere.trouble) {
        make_room_for_bad(t, trouble);
    }
    if (trouble->bad_room > 0) {
        trouble->bad[trouble->bad_at] = *bad;
        trouble->bad_at = (uint16_t)((trouble->bad_at + 1) % trouble->bad_room);
    }
}

void
roce_loss_forget_bad(roce_tracker *t, roce_trouble *trouble)
{
    if (trouble->bad != NULL) {
        t->alloc.release(t->alloc.ctx, trouble->bad);
        trouble->bad = NULL;
        trouble->bad_room = trouble->bad_at = 0;
    }
}

void
roce_loss_note_bad(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                   uint32_t psn24, roce_evidence evidence)
{
    roce_trouble *trouble = roce_trouble_make(t, s);
    roce_event_kind kind = ROCE_EVENT_ICRC_BAD;
    uint64_t *count = &trouble->pub.icrc_bad;
    if (evidence == ROCE_EVIDENCE_BAD_IP_CHECKSUM) {
        kind = ROCE_EVENT_IP_CHECKSUM_BAD;
        count = &trouble->pub.ip_checksum_bad;
    } else if (evidence == ROCE_EVIDENCE_BAD_PSN) {
        kind = ROCE_EVENT_PSN_BAD;
        count = &trouble->pub.psn_bad;
    }
    (*count)++;
    const roce_bad bad = {
        .frame = a->frame->number, .psn24 = psn24, .evidence = (uint8_t)evidence};
    remember_bad(t, trouble, &bad);
    roce_event e = roce_track_event(kind, s, a);
    e.psn = psn24;
    roce_track_emit(t, &e);
}

int64_t
roce_loss_first_bad(const roce_stream_state *s, int64_t start, int64_t end)
{
    const roce_trouble *trouble = roce_trouble_of(s);
    int64_t first = end;
    for (unsigned i = 0; i < trouble->bad_room; i++) {
        int64_t psn = roce_psn_expand(trouble->bad[i].psn24, start);
        if (trouble->bad[i].frame != 0 && psn >= start && psn < first) {
            first = psn;
        }
    }
    return first;
}

/* What the user says counts more than the direction, which a switch's port records as
 * well. */
bool
roce_loss_is_at_sender(const roce_stream_state *s)
{
    return s->vantage_given ? s->pub.vantage == ROCE_VANTAGE_REQUESTER
                            : s->directions == ROCE_DIRECTION_OUT;
}

/* Whether an earlier copy of what went unseen was seen here. */
static bool
was_seen(const roce_lane *lane, const roce_missing_range *range)
{
    return range->first_seen || roce_history_find(&lane->history, range->start) != NULL;
}

/* Each damaged packet of those PSNs was a copy that did not come whole, `most` of them
 * at most, the oldest first: how many there were. */
static uint32_t
tell_corrupt(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
             roce_space space, int64_t start, int64_t end, uint32_t most)
{
    roce_trouble *trouble = roce_trouble_had(s);
    uint32_t n = 0;
    for (unsigned i = 0; trouble != NULL && i < trouble->bad_room && n < most; i++) {
        unsigned at = (trouble->bad_at + i) % trouble->bad_room;
        uint64_t frame = trouble->bad[at].frame;
        int64_t psn = roce_psn_expand(trouble->bad[at].psn24, start);
        if (frame != 0 && psn >= start && psn < end) {
            trouble->bad[at].frame = 0; /* it accounts for no other copy */
            roce_loss_say(t, s, a, space, ROCE_VERDICT_CORRUPT,
                          (roce_evidence)trouble->bad[at].evidence, psn, 1, frame);
            n++;
        }
    }
    return n;
}

bool
roce_loss_corrupt(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                  roce_space space, int64_t start, int64_t end)
{
    return tell_corrupt(t, s, a, space, start, end, UINT32_MAX) > 0;
}

void
roce_loss_say_asked(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                    int64_t psn)
{
    roce_missing_range left;
    uint32_t copies = 1;
    while (
        roce_missing_take(&roce_requests(s)->missing, &t->alloc, psn, psn + 1, &left)) {
        copies += left.copies;
    }
    copies -= tell_corrupt(t, s, a, ROCE_SPACE_REQUESTS, psn, psn + 1, copies);
    if (copies > 0) {
        roce_loss_say(t, s, a, ROCE_SPACE_REQUESTS, ROCE_VERDICT_LOST_BEFORE_CAPTURE,
                      ROCE_EVIDENCE_ASKED_FOR, psn, copies, 0);
    }
}

/* The verdict on transmissions that went unseen and of which `a` is a later copy. */
roce_verdict
roce_loss_judge(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                roce_space space, roce_missing_range *range)
{
    roce_evidence evidence =
        range->asked ? ROCE_EVIDENCE_ASKED_FOR : ROCE_EVIDENCE_RESENT_ONLY;
    roce_verdict verdict = ROCE_VERDICT_LOST_BEFORE_CAPTURE;
    if (!range->acked) {
        range->copies -=
            tell_corrupt(t, s, a, space, a->psn, a->psn + 1, range->copies);
    }
    if (range->copies == 0) {
        return ROCE_VERDICT_CORRUPT;
    }
    if (range->acked) {
        verdict = ROCE_VERDICT_NOT_CAPTURED;
        evidence = ROCE_EVIDENCE_ACKNOWLEDGED;
    } else if (roce_loss_is_at_sender(s)) {
        verdict = ROCE_VERDICT_NOT_CAPTURED;
        roce_misses_note(t, s);
    } else if (roce_misses_may_explain(t, s, space, range)) {
        verdict = ROCE_VERDICT_UNKNOWN;
        evidence = ROCE_EVIDENCE_CAPTURE_MISSES;
    }
    roce_loss_say(t, s, a, space, verdict, evidence, a->psn, range->copies, 0);
    if (verdict == ROCE_VERDICT_LOST_BEFORE_CAPTURE) {
        roce_misses_remember(t, s, space, a->psn, range);
    }
    return verdict;
}

uint32_t
roce_loss_resolve(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                  roce_space space)
{
    roce_lane *lane = roce_lane_at(s, space);
    roce_missing_range all = {0};
    roce_missing_range part;
    while (
        roce_missing_take(&lane->missing, &t->alloc, a->psn, a->psn + a->span, &part)) {
        uint32_t copies = all.copies > part.copies ? all.copies : part.copies;
        bool asked = all.asked || part.asked;
        bool acked = all.copies == 0 ? part.acked : all.acked && part.acked;
        all = part;
        all.copies = copies;
        all.asked = asked;
        all.acked = acked;
    }
    roce_loss_trim(t, s, a, space);
    if (all.copies == 0 || (all.acked && was_seen(lane, &all))) {
        return 0; /* of the latter it may be the copy seen before that was acknowledged
                   */
    }
    roce_verdict verdict = roce_loss_judge(t, s, a, space, &all);
    return verdict == ROCE_VERDICT_LOST_BEFORE_CAPTURE ? all.copies : 0;
}

bool
roce_loss_unmiss(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                 roce_space space, roce_slot *slot)
{
    roce_missing *missing = &roce_lane_at(s, space)->missing;
    roce_missing_range part;
    bool any = false;
    for (int64_t at = a->psn;
         roce_missing_take(missing, &t->alloc, at, a->psn + a->span, &part);
         at = part.end) {
        any = true;
        if (part.copies > 1) {
            part.copies--;
            (void)roce_missing_put(missing, &t->alloc, &part);
        }
    }
    if (any) {
        roce_loss_trim(t, s, a, space);
        return false;
    }
    if (slot == NULL || slot->lost == 0) {
        return false;
    }
    slot->lost--;
    roce_misses_forget(t, s, space, slot);
    roce_loss_withdraw(t, s, a, space, ROCE_VERDICT_LOST_BEFORE_CAPTURE, slot->psn);
    return true;
}

void
roce_loss_note(roce_slot *slot, uint32_t copies)
{
    if (slot != NULL) {
        uint32_t lost = slot->lost + copies;
        slot->lost = (uint8_t)(lost < UINT8_MAX ? lost : UINT8_MAX);
    }
}

/* How many packets a range was: of a READ request all PSNs but the first are its
 * responses', if those were seen. */
static uint64_t
packets_in(const roce_tracker *t, const roce_stream_state *s, roce_space space,
           const roce_missing_range *range)
{
    uint64_t n = (uint64_t)(range->end - range->start);
    const roce_stream_state *peer = roce_track_peer(t, s);
    if (space == ROCE_SPACE_RESPONSES || peer == NULL) {
        return n;
    }
    const roce_history *responses = &roce_answers_of(peer)->lane.history;
    for (uint32_t i = roce_history_lower(responses, range->start); i < responses->n;
         i++) {
        const roce_slot *slot = roce_history_at(responses, i);
        if (slot->psn >= range->end) {
            break;
        }
        n -= (slot->flags & ROCE_SLOT_MESSAGE_START) == 0 ? 1 : 0;
    }
    return n;
}

/* Leftovers: never seen, never sent again. */
static void
judge_leftover(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
               roce_space space, const roce_missing_range *range)
{
    if (was_seen(roce_lane_at(s, space), range)) {
        return; /* an earlier copy was seen and nobody asked any more */
    }
    if (range->end == range->start + 1 &&
        roce_loss_first_bad(s, range->start, range->end) == range->start) {
        return; /* it came with a bad ICRC, and nobody asked for it again */
    }
    uint64_t packets = packets_in(t, s, space, range) * range->copies;
    if (packets == 0) {
        return;
    }
    roce_verdict verdict = ROCE_VERDICT_UNKNOWN;
    roce_evidence evidence = ROCE_EVIDENCE_CAPTURE_END;
    if (range->acked) {
        verdict = ROCE_VERDICT_NOT_CAPTURED;
        evidence = ROCE_EVIDENCE_ACKNOWLEDGED;
    } else if (s->pub.transport == ROCE_TRANSPORT_UC ||
               !roce_stream_is_paired(&s->pub)) {
        evidence = ROCE_EVIDENCE_NO_ACKNOWLEDGEMENTS;
    } else if (range->asked && space == ROCE_SPACE_REQUESTS &&
               !roce_loss_is_at_sender(s)) {
        bool missed = roce_misses_may_explain(t, s, space, range);
        verdict = missed ? verdict : ROCE_VERDICT_LOST_BEFORE_CAPTURE;
        evidence = missed ? ROCE_EVIDENCE_CAPTURE_MISSES : ROCE_EVIDENCE_ASKED_FOR;
    }
    roce_loss_say(t, s, a, space, verdict, evidence, range->start, packets, 0);
    if (a != NULL && verdict == ROCE_VERDICT_LOST_BEFORE_CAPTURE) {
        roce_misses_remember(t, s, space, range->start, range);
    }
}

void
roce_loss_trim(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
               roce_space space)
{
    roce_missing_range range;
    while (roce_missing_trim(&roce_lane_at(s, space)->missing, &range)) {
        roce_track_evicted(t, ROCE_TABLE_MISSING, s, a);
        judge_leftover(t, s, a, space, &range);
    }
}

void
roce_loss_miss(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
               roce_space space, int64_t start, int64_t end, bool first_seen)
{
    roce_lane *lane = roce_lane_at(s, space);
    roce_missing_range range = {
        .start = start,
        .end = end,
        .time_ns = a->frame->time_ns,
        .frame = a->frame->number,
        .first_seen = first_seen,
    };
    if (!roce_missing_add(&lane->missing, &t->alloc, &range)) {
        roce_track_evicted(t, ROCE_TABLE_MISSING, s, a);
    }
    if (space == ROCE_SPACE_REQUESTS && s->acked && s->una > start) {
        roce_missing_mark_range(&lane->missing, &t->alloc, start,
                                s->una < end ? s->una : end, ROCE_MISSING_ACKED);
    }
    roce_loss_trim(t, s, a, space);
}

void
roce_loss_finish(roce_tracker *t, roce_stream_state *s, roce_space space)
{
    if (roce_lane_of(s, space)->missing.n == 0) {
        return;
    }
    roce_missing *missing = &roce_lane_at(s, space)->missing;
    roce_missing_range range;
    while (missing->n > 0 &&
           roce_missing_take(missing, &t->alloc, missing->ranges[0].start,
                             missing->ranges[0].end, &range)) {
        judge_leftover(t, s, NULL, space, &range);
    }
}
