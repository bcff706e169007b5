/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a requester did before anybody knew what the other side said: a NAK that the other
 * direction had carried is heard, and the newest round gets its cause, once the two are paired.
 */
#include "track.h"

/* Whether the other direction has carried a NAK, which may have been about `s` before the
 * two were paired. */
static bool
was_refused(const roce_tracker *t, const roce_stream_state *s)
{
    const roce_stream_state *peer = roce_track_peer(t, s);
    const uint64_t *naks = roce_stream_trouble_of(&peer->pub)->naks_sent;
    uint64_t n = 0;
    for (unsigned i = 0; i < ROCE_N_NAKS; i++) {
        n += naks[i];
    }
    return n > 0;
}

/* Whether the requester went back to just what a NAK asks for that the other direction had
 * carried before, and that no other round has answered, the newest of which began on
 * `before_frame`: it came while nobody knew about whose requests. */
static bool
unheard_nak_explains(const roce_tracker *t, const roce_stream_state *s,
                     const roce_went_back *to, uint64_t before_frame)
{
    const roce_stream_state *peer = roce_track_peer(t, s);
    const roce_unheard_nak *nak = &roce_trouble_of(peer)->unheard_nak;
    return nak->state != ROCE_NAK_NONE && nak->frame < to->frame &&
           nak->frame > before_frame &&
           roce_psn_expand(nak->psn24, to->psn) == to->psn &&
           roce_since_ns(to->time_ns, nak->time_ns) <=
               roce_round_answer_within_ns(t, s, nak->wait_ns);
}

void
roce_unheard_hear_late(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    const roce_stream_state *peer = roce_track_peer(t, s);
    const roce_trouble *told = roce_trouble_of(s);
    const roce_went_back to = {a->psn, a->frame->time_ns, a->frame->number};
    if (peer == NULL || !unheard_nak_explains(t, s, &to, told->round.frame)) {
        return;
    }
    const roce_unheard_nak *nak = &roce_trouble_of(peer)->unheard_nak;
    if (told->nak.frame > nak->frame) {
        return;
    }
    roce_trouble_make(t, s)->nak = (roce_last_nak){
        .state = nak->state,
        .psn = a->psn,
        .oldest_psn = a->psn,
        .oldest_ns = nak->time_ns,
        .time_ns = nak->time_ns,
        .frame = nak->frame,
        .tx = roce_requests(s)->tx,
        .wait_ns = nak->wait_ns,
    };
    roce_missing_mark_range(&roce_requests(s)->missing, &t->alloc, a->psn, a->psn + 1,
                            nak->state == ROCE_NAK_RNR ? ROCE_MISSING_ACKED
                                                       : ROCE_MISSING_ASKED);
}

/* The cause of the round under way, when what the other direction said can be known. */
static roce_cause
reconsidered_cause(const roce_tracker *t, const roce_stream_state *s)
{
    const roce_round *round = &roce_trouble_of(s)->round;
    if (unheard_nak_explains(t, s, &round->to, round->before_frame)) {
        const roce_stream_state *peer = roce_track_peer(t, s);
        bool rnr = roce_trouble_of(peer)->unheard_nak.state == ROCE_NAK_RNR;
        return rnr ? ROCE_CAUSE_RNR : ROCE_CAUSE_NAK_SEQUENCE;
    }
    bool waited = round->age_ns >= roce_round_timeout_floor_ns(t, s);
    return waited && !was_refused(t, s) ? ROCE_CAUSE_TIMEOUT : ROCE_CAUSE_UNKNOWN;
}

void
roce_unheard_reconsider(roce_tracker *t, roce_stream_state *s, const roce_arrival *a)
{
    roce_trouble *trouble = roce_trouble_had(s);
    if (trouble == NULL || !trouble->round.unheard ||
        trouble->round.cause != ROCE_CAUSE_UNKNOWN) {
        return;
    }
    roce_cause cause = reconsidered_cause(t, s);
    if (cause == ROCE_CAUSE_UNKNOWN) {
        return;
    }
    trouble->round.unheard = false;
    trouble->round.cause = cause;
    trouble->pub.retransmissions.by_cause[ROCE_CAUSE_UNKNOWN]--;
    trouble->pub.retransmissions.by_cause[cause]++;
    trouble->pub.reconsidered_frame = trouble->round.frame;
    trouble->pub.reconsidered_cause = cause;
    roce_round_judge_anew(t, s, a);
}
