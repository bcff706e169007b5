/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a point itself misses, and the verdicts that this spoils.
 *
 * A packet that was acknowledged, never seen and never sent again went by unseen: the
 * capture dropped it, or it took another path.  Where that happens, a copy that was not
 * seen need not have been lost before the point:
 *
 *   - Of what was sent again without being asked for, most had come to the acceptor and
 *     was discarded behind a hole; the point missed its share of that.
 *   - Of what was asked for, some had been lost behind the point; it missed its share of
 *     that as well.
 *
 * Both shares are known, so the number of wrong claims can be expected.  Claims are made
 * while that number is small beside theirs; otherwise the fate of such copies is unknown.
 */
#include "track.h"

#define MAX_POINTS 65536
#define WRONG_RESENT 64 /* claims for each wrong one that is expected, at least */
#define WRONG_ASKED 4

bool
roce_misses_make_tally(roce_tracker *t, uint32_t point)
{
    if (point >= MAX_POINTS) {
        return false;
    }
    while (point >= t->n_tallies) {
        if (!roce_track_reserve(t, (void **)&t->tallies, &t->tallies_capacity,
                                t->n_tallies, sizeof *t->tallies)) {
            return false;
        }
        t->tallies[t->n_tallies++] = (roce_point_tally){0};
    }
    return true;
}

static roce_point_tally *
tally_of(roce_tracker *t, uint32_t point)
{
    return roce_misses_make_tally(t, point) ? &t->tallies[point] : NULL;
}

/* Whether too many of the claims of this kind can be expected to be wrong. */
static bool
spoils(roce_tracker *t, const roce_stream_state *s, roce_space space, bool asked)
{
    const roce_point_tally *n = tally_of(t, s->pub.point);
    if (n == NULL || n->missed == 0) {
        return false;
    }
    const roce_trouble *trouble = roce_trouble_of(s);
    uint64_t could_miss =
        asked ? trouble->pub.losses[space][ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE]
              : trouble->pub.disorder[space].resent;
    uint64_t claims =
        asked ? trouble->unseen_asked[space] : trouble->unseen_resent[space];
    uint64_t factor = asked ? WRONG_ASKED : WRONG_RESENT;
    double share = (double)n->missed / (double)(n->seen + n->missed);
    return (double)could_miss * share * (double)factor > (double)claims;
}

bool
roce_misses_may_explain(roce_tracker *t, roce_stream_state *s, roce_space space,
                        const roce_missing_range *range)
{
    roce_trouble *trouble = roce_trouble_make(t, s);
    uint64_t *unseen = range->asked ? trouble->unseen_asked : trouble->unseen_resent;
    unseen[space] += range->copies;
    return spoils(t, s, space, range->asked);
}

static void
drop(roce_tracker *t, roce_loss_claim *claim)
{
    claim->stream = 0;
    t->n_claims--;
}

void
roce_misses_remember(roce_tracker *t, const roce_stream_state *s, roce_space space,
                     int64_t psn, const roce_missing_range *range)
{
    t->claim_at = (t->claim_at + 1) % ROCE_LOSS_CLAIMS;
    t->n_claims += t->claims[t->claim_at].stream == 0 ? 1 : 0;
    t->claims[t->claim_at] = (roce_loss_claim){
        .stream = s->pub.id + 1,
        .space = space,
        .psn = psn,
        .copies = range->copies,
        .asked = range->asked,
    };
}

void
roce_misses_forget(roce_tracker *t, const roce_stream_state *s, roce_space space,
                   const roce_slot *slot)
{
    for (unsigned i = 0; i < ROCE_LOSS_CLAIMS; i++) {
        roce_loss_claim *claim = &t->claims[i];
        if (claim->stream == s->pub.id + 1 && claim->space == space &&
            claim->psn >= slot->psn && claim->psn < slot->psn + slot->span) {
            if (--claim->copies == 0) {
                drop(t, claim);
            }
            return;
        }
    }
}

void
roce_misses_settle(roce_tracker *t, const roce_stream_state *s, roce_space space)
{
    for (unsigned i = 0; i < ROCE_LOSS_CLAIMS; i++) {
        roce_loss_claim *claim = &t->claims[i];
        if (claim->stream == s->pub.id + 1 && claim->space == space) {
            drop(t, claim);
        }
    }
}

/* A claim from before it was known that the point misses packets. */
static void
take_back(roce_tracker *t, const roce_loss_claim *claim)
{
    roce_stream_state *s = roce_state_at(t, claim->stream - 1);
    roce_slot *slot =
        roce_history_find(&roce_lane_at(s, claim->space)->history, claim->psn);
    for (uint32_t i = 0; i < claim->copies; i++) {
        roce_loss_withdraw(t, s, NULL, claim->space, ROCE_VERDICT_LOST_BEFORE_CAPTURE,
                           claim->psn);
        if (slot != NULL && slot->lost > 0) {
            slot->lost--;
        }
    }
    roce_loss_say(t, s, NULL, claim->space, ROCE_VERDICT_UNKNOWN,
                  ROCE_EVIDENCE_CAPTURE_MISSES, claim->psn, claim->copies, 0);
}

void
roce_misses_note(roce_tracker *t, const roce_stream_state *s)
{
    roce_point_tally *n = tally_of(t, s->pub.point);
    if (n == NULL) {
        return;
    }
    n->missed++;
    for (unsigned i = 0; i < ROCE_LOSS_CLAIMS && t->n_claims > 0; i++) {
        roce_loss_claim claim = t->claims[i];
        if (claim.stream == 0) {
            continue;
        }
        const roce_stream_state *of = roce_state_at(t, claim.stream - 1);
        if (of->pub.point == s->pub.point && spoils(t, of, claim.space, claim.asked)) {
            drop(t, &t->claims[i]);
            take_back(t, &claim);
        }
    }
}
