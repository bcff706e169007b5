/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the capture point stands to a stream, and whether it sees one path of several: what the
 * user told or the frames' direction says, else what the requests tell at the end, where it is
 * plain.
 *
 *   lost or overtaken on the way here    the point is not at the requester
 *   lost behind the point                nor at the responder
 *   ACKs, or what NAKs ask for, at once  it is on that side, if the other takes much longer
 */
#include "track.h"

#define PARTIAL_LEAST 8 /* packets that went unseen, and more than 5 % of the stream */
#define PARTIAL_SHARE 19
#define PARTIAL_GAPS 3 /* fewer are holes in the capture */

/* What was lost on the way here, or lost later, tells where the point is not. */
static roce_vantage
find_vantage(const roce_stream_state *s)
{
    if (s->vantage_given) {
        return s->pub.vantage;
    }
    if (s->directions == ROCE_DIRECTION_OUT) {
        return ROCE_VANTAGE_REQUESTER;
    }
    if (s->directions == ROCE_DIRECTION_IN) {
        return ROCE_VANTAGE_RESPONDER;
    }
    const roce_stream_trouble *trouble = &roce_trouble_of(s)->pub;
    const uint64_t *lost = trouble->losses[ROCE_SPACE_REQUESTS];
    bool before = lost[ROCE_VERDICT_LOST_BEFORE_CAPTURE] > 0 ||
                  trouble->disorder[ROCE_SPACE_REQUESTS].reordered > 0;
    bool after = lost[ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE] > 0;
    if (before && after) {
        return ROCE_VANTAGE_MIDDLE;
    }
    /* Which side answers at once; nothing is said unless it is plain. */
    const uint32_t enough = 16;
    const roce_heard *heard = roce_heard_of(s);
    if (heard->n_answers < enough || heard->n_reactions < enough) {
        return ROCE_VANTAGE_UNKNOWN;
    }
    if (!after && heard->least_answer_ns < heard->least_reaction_ns / 8) {
        return ROCE_VANTAGE_RESPONDER;
    }
    if (!before && heard->least_reaction_ns < heard->least_answer_ns / 8) {
        return ROCE_VANTAGE_REQUESTER;
    }
    return ROCE_VANTAGE_UNKNOWN;
}

/* Gaps that are not those of losses and of late packets, at least: each of these has one
 * packet or more. */
static uint64_t
gaps_unseen(const roce_stream_trouble *trouble)
{
    const roce_disorder_counters *disorder = &trouble->disorder[ROCE_SPACE_REQUESTS];
    const uint64_t *verdicts = trouble->losses[ROCE_SPACE_REQUESTS];
    uint64_t others = disorder->reordered + verdicts[ROCE_VERDICT_LOST_BEFORE_CAPTURE] +
                      verdicts[ROCE_VERDICT_CORRUPT];
    return disorder->gaps > others ? disorder->gaps - others : 0;
}

/* Whether the point sees one path of several: much of the stream was delivered and never
 * seen, now and again; a capture with a hole in it misses as much at once.  Where no ACK is
 * captured, that nothing of what is missing was sent again tells the same of a reliable
 * service, whose requester does not leave a hole behind. */
static bool
is_partial(const roce_stream_state *s)
{
    const roce_stream_trouble *trouble = &roce_trouble_of(s)->pub;
    const uint64_t *verdicts = trouble->losses[ROCE_SPACE_REQUESTS];
    uint64_t seen = s->pub.space[ROCE_SPACE_REQUESTS].unique_psns;
    uint64_t unseen = verdicts[ROCE_VERDICT_NOT_CAPTURED];
    if (roce_stream_is_reliable(&s->pub) && !roce_stream_is_paired(&s->pub) &&
        trouble->disorder[ROCE_SPACE_REQUESTS].gaps >= PARTIAL_LEAST &&
        trouble->retransmissions.packets == 0) {
        unseen += verdicts[ROCE_VERDICT_UNKNOWN];
    }
    return unseen >= PARTIAL_LEAST && gaps_unseen(trouble) >= PARTIAL_GAPS &&
           unseen * PARTIAL_SHARE > seen;
}

void
roce_vantage_finish(roce_stream_state *s)
{
    s->pub.partial_path = s->pub.partial_path || is_partial(s);
    s->pub.vantage = find_vantage(s);
}
