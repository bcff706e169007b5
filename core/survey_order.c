/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a point's frames are in the order of their stamps rather than of the file.
 *
 * In the true order PSNs step back only where something was sent again or overtaken, an
 * answer never stands before its request, and what a NAK asks for is not sent again
 * before it.  A file whose two queues or directions were merged has far more of these
 * than the order of its stamps has.
 */
#include "survey_parts.h"

#include "roce/psn.h"

#define DISORDER_LEAST 8 /* of all that is out of order */
#define DISORDER_FACTOR 2

/* Whether the PSN of this frame lies behind the one before of its stream and kind. */
static bool
steps_back(roce_key_map *last, const roce_held *h)
{
    uint64_t lane = roce_held_psn_key(h->stream, (uint32_t)h->kind);
    uint32_t before = roce_key_map_get(last, lane);
    roce_key_map_set(last, lane, h->psn24 + 1);
    return before != 0 && roce_psn_expand(h->psn24, before - 1) < (int64_t)before - 1;
}

/* What a map knows of a PSN that is sent again. */
enum {
    SENT_AGAIN = 1, /* nobody had asked for it */
    ASKED_FOR,
};

/* Whether a NAK stands behind what it asks for: that was sent again before. */
static bool
asks_too_late(roce_key_map *again, const roce_held *nak)
{
    uint64_t key = roce_held_psn_key(nak->back, nak->psn24);
    bool too_late = roce_key_map_get(again, key) == SENT_AGAIN;
    roce_key_map_set(again, key, ASKED_FOR);
    return too_late;
}

/* Whether a request that steps back does so without being asked. */
static bool
is_unasked(roce_key_map *again, const roce_held *request)
{
    uint64_t key = roce_held_psn_key(request->way, request->psn24);
    if (roce_key_map_get(again, key) == ASKED_FOR) {
        return false;
    }
    roce_key_map_set(again, key, SENT_AGAIN);
    return true;
}

/* PSNs that step back in their stream without being asked for, requests that stand behind
 * their own acknowledgement, and NAKs behind their repair, when a point's frames are taken
 * in this order. */
static uint32_t
disorder_in(const roce_held_slice *slice, roce_survey_desk *desk)
{
    roce_key_map *last = &desk->maps[0]; /* lane -> PSN + 1 */
    roce_key_map *asked = &desk->maps[1];
    roce_key_map *early = &desk->maps[2]; /* answers not asked for so far */
    roce_key_map *again = &desk->maps[3];
    uint32_t n_frames = slice->end - slice->begin;
    for (uint32_t i = 0; i < ROCE_DESK_MAPS; i++) {
        roce_key_map_begin(&desk->maps[i], n_frames);
    }
    uint32_t n = 0;
    for (uint32_t i = slice->begin; i < slice->end; i++) {
        const roce_held *h = roce_held_nth(slice, i);
        if (h->is_nak) {
            n += asks_too_late(again, h) ? 1 : 0;
        }
        if (h->kind == ROCE_HELD_OTHER) {
            continue;
        }
        bool asks = h->kind == ROCE_HELD_REQUEST;
        n += steps_back(last, h) && (!asks || is_unasked(again, h)) ? 1 : 0;
        if (asks) {
            uint64_t key = roce_held_psn_key(h->way, h->psn24);
            if (roce_key_map_get(early, key) != 0) {
                roce_key_map_set(early, key, 0);
                n++;
            }
            roce_key_map_set(asked, key, 1);
            continue;
        }
        uint64_t key = roce_held_psn_key(h->back, h->psn24);
        if (roce_key_map_get(asked, key) == 0) {
            roce_key_map_set(early, key, 1);
        }
    }
    return n;
}

void
roce_decide_on_order(roce_survey_point *point, const roce_held_slice *by_arrival,
                     const roce_held_slice *by_time, roce_survey_desk *desk)
{
    uint64_t step_ns = roce_held_largest_step_ns(by_arrival);
    if (step_ns == 0) {
        return; /* both orders are one */
    }
    uint32_t in_file = disorder_in(by_arrival, desk);
    uint32_t in_time = disorder_in(by_time, desk);
    if (in_file >= in_time + DISORDER_LEAST && in_time * DISORDER_FACTOR <= in_file) {
        point->order = ROCE_ORDER_STAMP;
        point->horizon_ns =
            step_ns < ROCE_MAX_HORIZON_NS / 2 ? 2 * step_ns : ROCE_MAX_HORIZON_NS;
    }
}
