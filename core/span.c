/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many PSNs a request takes: one, but a READ as many as its response will have packets
 * (IBTA 9.7.2), and so the path MTU has to be known for it.
 *
 * The path MTU is what a First or Middle packet carries, of either direction, or what the
 * communication manager says.  Until then a READ of more than fits in one packet of the least
 * path MTU possible is of unknown length: the path MTU gives it the length, or the next
 * request, before which no gap is seen.
 */
#include "track.h"

#define MOST_PMTU 4096

/* Gives the newest READ its length, now that it is known. */
static void
settle_span(roce_stream_state *s, roce_slot *slot, int64_t end)
{
    roce_lane *lane = roce_requests(s);
    int64_t before = slot->psn + slot->span;
    roce_slot_set_span(slot, (uint32_t)(end - slot->psn));
    lane->next_tx = lane->next_tx == before ? end : lane->next_tx;
    lane->max_next = lane->max_next == before ? end : lane->max_next;
    lane->accept_next = lane->accept_next == before ? end : lane->accept_next;
    lane->span_unknown = false;
}

void
roce_span_learn_pmtu(roce_stream_state *s, uint32_t pmtu_bytes)
{
    roce_lane *lane = roce_requests(s);
    s->pub.pmtu_bytes = pmtu_bytes;
    if (!lane->span_unknown || lane->history.n == 0) {
        return;
    }
    roce_slot *slot = roce_history_at(&lane->history, lane->history.n - 1);
    if (slot->message_bytes == 0) {
        return; /* its length was cut off */
    }
    settle_span(s, slot,
                slot->psn + roce_psn_read_span(slot->message_bytes, pmtu_bytes));
}

static bool
is_pmtu(uint32_t bytes)
{
    return bytes >= ROCE_LEAST_PMTU && bytes <= MOST_PMTU && (bytes & (bytes - 1)) == 0;
}

/* No path MTU is smaller than 256 bytes, and none than what a packet carries: a READ of no
 * more has one response. */
static uint32_t
least_pmtu(const roce_stream_state *s)
{
    return s->least_pmtu > ROCE_LEAST_PMTU ? s->least_pmtu : ROCE_LEAST_PMTU;
}

static void
learn_least_pmtu(roce_stream_state *s, uint32_t payload_bytes)
{
    roce_lane *lane = roce_requests(s);
    if (payload_bytes <= least_pmtu(s) || payload_bytes > MOST_PMTU) {
        return;
    }
    uint16_t pmtu = ROCE_LEAST_PMTU;
    while (pmtu < payload_bytes) {
        pmtu *= 2;
    }
    s->least_pmtu = pmtu;
    if (lane->span_unknown && lane->history.n > 0) {
        roce_slot *slot = roce_history_at(&lane->history, lane->history.n - 1);
        if (slot->message_bytes > 0 && slot->message_bytes <= pmtu) {
            settle_span(s, slot, slot->psn + 1);
        }
    }
}

void
roce_span_learn_from(roce_stream_state *s, roce_part part, uint32_t payload_bytes)
{
    if (s->pub.pmtu_bytes == 0) {
        learn_least_pmtu(s, payload_bytes);
    }
    bool full = part == ROCE_PART_FIRST || part == ROCE_PART_MIDDLE;
    if (full && s->pub.pmtu_bytes == 0 && is_pmtu(payload_bytes)) {
        roce_span_learn_pmtu(s, payload_bytes);
    }
}

void
roce_span_resynchronise(roce_stream_state *s, int64_t psn)
{
    roce_lane *lane = roce_requests(s);
    if (!lane->span_unknown || psn < lane->max_next || lane->history.n == 0) {
        return;
    }
    roce_slot *slot = roce_history_at(&lane->history, lane->history.n - 1);
    uint32_t most = slot->message_bytes == 0
                        ? ROCE_RESTART_DISTANCE
                        : roce_psn_read_span(slot->message_bytes, least_pmtu(s));
    if (psn - slot->psn <= (int64_t)most) {
        settle_span(s, slot, psn);
    }
    lane->span_unknown = false;
}

uint32_t
roce_span_of(const roce_stream_state *s, const roce_arrival *a, bool *unknown)
{
    *unknown = false;
    if (a->info->role != ROCE_ROLE_READ_REQUEST) {
        return 1;
    }
    if ((a->packet->headers & ROCE_HEADER_RETH) == 0) {
        *unknown = true; /* cut off with its RETH */
        return 1;
    }
    uint32_t length = a->packet->reth.length_bytes;
    if (s->pub.pmtu_bytes != 0) {
        return roce_psn_read_span(length, s->pub.pmtu_bytes);
    }
    *unknown = length > least_pmtu(s);
    return 1;
}
