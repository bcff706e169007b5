/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sequence.c and its neighbours do with packets that come in sequence while nothing
 * is amiss, for some of them at once.
 *
 * Of the rules there, only the first has anything to do with such packets, so that no
 * event is emitted and nothing but their stream changes.  Here stands what it does, packet
 * by packet where it has to be, and for all where it adds up.
 */
#include "roce/train.h"

#include "roce/aeth.h"
#include "track.h"

/* Whether nothing is missing, and the acceptor has all up to the newest packet. */
static bool
is_in_order(const roce_lane *lane)
{
    return lane->started && lane->missing.n == 0 && lane->next_tx == lane->max_next &&
           lane->accept_next == lane->max_next;
}

/* Whether the packet is the next one of the lane. */
static bool
is_due(const roce_lane *lane, const roce_packet *packet)
{
    return roce_psn_wrap(lane->max_next) == packet->bth.psn24;
}

/* Whether the next request in sequence means nothing but itself. */
static bool
is_calm(const roce_stream_state *s)
{
    const roce_trouble *trouble = roce_trouble_of(s);
    return roce_stream_is_reliable(&s->pub) && roce_stream_is_paired(&s->pub) &&
           !s->reborn && is_in_order(&s->requests) && !s->requests.span_unknown &&
           !trouble->round.active && !trouble->doubt.valid &&
           trouble->n_asked_late == 0;
}

/* ---- what may be taken ---- */

/* How many entries a history takes, of at most `most`, without growing and without
 * forgetting one that is still wanted.  Those that would be forgotten are not looked at:
 * each entry behind one takes a PSN at least, which tells where that one ends at most. */
static uint32_t
room_of(const roce_tracker *t, const roce_stream_state *s, uint32_t most)
{
    const roce_history *history = &s->requests.history;
    uint32_t vacant = history->capacity - history->n;
    bool may_grow = (uint64_t)history->capacity * 2 <= t->history_max;
    if (vacant >= most || may_grow || history->n < most) {
        return vacant < most ? vacant : most;
    }
    uint32_t behind = history->n - (most - vacant);
    bool unwanted = s->requests.max_next - behind <= roce_sequence_keep_from(s);
    return unwanted ? most : vacant;
}

uint32_t
roce_tracker_train_room(const roce_tracker *t, uint32_t stream, uint32_t most,
                        int64_t *psn, uint16_t *ident)
{
    const roce_stream_state *s = roce_state_at(t, stream);
    if (!is_calm(s) || !s->requests.ident_known || s->pub.pmtu_bytes == 0) {
        return 0;
    }
    *psn = s->requests.max_next;
    *ident = s->requests.newest_ident;
    return room_of(t, s, most);
}

/* The PSN of an acknowledgement names a request that is outstanding. */
static bool
acknowledges(const roce_stream_state *s, const roce_packet *packet)
{
    const roce_lane *lane = &s->requests;
    int64_t psn = roce_psn_expand(packet->bth.psn24, lane->max_next);
    return is_calm(s) && psn < lane->max_next &&
           psn >= (s->acked ? s->una : lane->first);
}

/* The next response where none is missing. */
static bool
responds(const roce_stream_state *s, const roce_stream_state *by,
         const roce_packet *packet)
{
    const roce_lane *lane = &roce_answers_of(by)->lane;
    return is_calm(s) && is_in_order(lane) && is_due(lane, packet);
}

bool
roce_tracker_is_plain(const roce_tracker *t, uint32_t stream, const roce_packet *packet)
{
    const roce_stream_state *s = roce_state_at(t, stream);
    const roce_opcode_info *info = roce_opcode_get(packet->bth.opcode);
    if (packet->outcome != ROCE_DECODED || packet->kind != ROCE_CLASS_ROCE ||
        !packet->has_bth || s->pub.peer == ROCE_NO_STREAM) {
        return false;
    }
    if (roce_role_is_request(info->role)) {
        return is_calm(s) && is_due(&s->requests, packet);
    }
    const roce_stream_state *peer = roce_track_peer(t, s);
    if (info->role == ROCE_ROLE_ACK) {
        return (packet->headers & ROCE_HEADER_AETH) != 0 &&
               roce_aeth_get_kind(packet->aeth_syndrome) == ROCE_AETH_ACK &&
               acknowledges(peer, packet);
    }
    return roce_role_is_response_data(info->role) && responds(peer, s, packet);
}

bool
roce_tracker_is_crowded(const roce_tracker *t)
{
    return t->history_packets > t->config.history_room_packets;
}

/* ---- taking it ---- */

/* Entries that are far away are asked for together. */
void
roce_tracker_approach_train(const roce_tracker *t, uint32_t stream, uint32_t n)
{
    const roce_history *history = &roce_state_at(t, stream)->requests.history;
    for (uint32_t i = 0; i < n && i < history->capacity; i++) {
        uint32_t at = (history->first + history->n + i) & (history->capacity - 1);
        __builtin_prefetch(&history->slots[at], 1);
        __builtin_prefetch((const char *)(&history->slots[at] + 1) - 1, 1);
    }
}

/* What an entry tells by the part of its message alone. */
static const uint16_t flags_of_part[] = {
    [ROCE_PART_NONE] = ROCE_SLOT_IN_ORDER,
    [ROCE_PART_FIRST] = ROCE_SLOT_IN_ORDER | ROCE_SLOT_MESSAGE_START,
    [ROCE_PART_MIDDLE] = ROCE_SLOT_IN_ORDER,
    [ROCE_PART_LAST] = ROCE_SLOT_IN_ORDER | ROCE_SLOT_MESSAGE_END,
    [ROCE_PART_ONLY] =
        ROCE_SLOT_IN_ORDER | ROCE_SLOT_MESSAGE_START | ROCE_SLOT_MESSAGE_END,
};

/* One more that the acceptor takes, as place() of sequence.c has it. */
static void
enter(roce_lane *lane, const roce_opcode_info *info, const roce_car *car)
{
    roce_slot *slot = roce_history_push(&lane->history, lane->max_next);
    lane->tx++;
    *slot = (roce_slot){
        .psn = lane->max_next++,
        .time_ns = car->time_ns,
        .frame = car->frame & ROCE_SLOT_MAX_FRAME,
        .span = 1,
        .tx = lane->tx & ROCE_SLOT_MAX_TX,
        .first_check = car->check,
        .newest_check = car->check,
        .first_ident = car->ident,
        .newest_ident = car->ident,
        .message_bytes = car->payload_bytes,
        .flags = (uint16_t)(flags_of_part[info->part] |
                            (car->ack_request ? ROCE_SLOT_WANTS_ACK : 0)),
        .copies = 1,
    };
}

static void
count(roce_tracker *t, roce_stream_state *s, const roce_opcode_info *info,
      const roce_car *car)
{
    roce_stream *pub = &s->pub;
    pub->wire_bytes += car->wire_bytes;
    pub->payload_bytes += car->payload_bytes;
    pub->message_bytes += car->payload_bytes;
    pub->messages_completed += roce_part_ends(info->part) ? 1 : 0;
    pub->first_time_ns =
        car->time_ns < pub->first_time_ns ? car->time_ns : pub->first_time_ns;
    pub->last_time_ns =
        car->time_ns > pub->last_time_ns ? car->time_ns : pub->last_time_ns;
    roce_track_opcode(t, pub, car->opcode);
    roce_ident_follow(s, car->ident);
}

static void
count_all(roce_tracker *t, roce_stream_state *s, uint32_t n)
{
    t->totals.roce_packets += n;
    s->pub.packets += n;
    s->pub.space[ROCE_SPACE_REQUESTS].packets += n;
    s->pub.space[ROCE_SPACE_REQUESTS].unique_psns += n;
    s->pub.ecn.codepoint[s->last_ecn] += n;
    if (s->pub.congestion != NULL) {
        roce_congestion_make(t, s)->episode_since += n;
    }
    roce_misses_saw(t, s, n);
}

void
roce_tracker_take_train(roce_tracker *t, uint32_t stream, roce_icrc_status icrc,
                        const roce_car *cars, uint32_t n)
{
    roce_stream_state *s = roce_state_at(t, stream);
    roce_lane *lane = roce_requests(s);
    roce_tracker_approach_train(t, stream, n);
    for (uint32_t i = 0; i < n; i++) {
        const roce_opcode_info *info = roce_opcode_get(cars[i].opcode);
        enter(lane, info, &cars[i]);
        count(t, s, info, &cars[i]);
    }
    const roce_car *newest = &cars[n - 1];
    lane->next_tx = lane->accept_next = lane->max_next;
    lane->newest_ident = newest->ident;
    lane->newest_ns = newest->time_ns;
    lane->top_frame = newest->frame;
    count_all(t, s, n);
    s->pub.icrc_checked += icrc == ROCE_ICRC_GOOD ? n : 0;
    s->pub.icrc_truncated += icrc == ROCE_ICRC_TRUNCATED ? n : 0;
    s->pub.last_frame = newest->frame;
    t->latest_ns =
        s->pub.last_time_ns > t->latest_ns ? s->pub.last_time_ns : t->latest_ns;
}
