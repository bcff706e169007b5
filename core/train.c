/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sequence.c and its neighbours do with packets that come in sequence while nothing
 * waits to be judged by them, for some of them at once.
 *
 * Of the rules there, only the first has anything to do with such packets, so that no
 * event is emitted and nothing but their stream changes.  Here stands what it does, packet
 * by packet where it has to be, and for all where it adds up.
 */
#include "roce/train.h"

#include "checksum.h"
#include "fetch.h"
#include "track.h"

#include "roce/aeth.h"

#include <limits.h>

/* Of more PSNs than these it could not be told which of two a number means. */
#define MAX_OUTSTANDING ((int64_t)ROCE_PSN_MODULUS / 4)

/* Whether what was sent last is the newest. */
static bool
is_at_its_top(const roce_lane *lane)
{
    return lane->started && lane->next_tx == lane->max_next;
}

/* Whether the acceptor takes the next packet and those behind it.  If not, it waits for one
 * before them and takes none; but see due_responses(). */
static bool
is_accepting(const roce_lane *lane)
{
    return lane->accept_next >= lane->max_next;
}

/* Whether what was sent last is the newest, and no response is missing but what is known to
 * have come, since others have long after it. */
static bool
is_whole(const roce_lane *lane)
{
    return is_at_its_top(lane) && roce_missing_is_acked(&lane->missing);
}

/* Whether the packet is the next one of the lane. */
static bool
is_due(const roce_lane *lane, const roce_packet *packet)
{
    return roce_psn_wrap(lane->max_next) == packet->bth.psn24;
}

/* Whether the next request in sequence means nothing but itself, whatever is missing before
 * it: nothing waits to be judged by what comes next. */
static bool
goes_on(const roce_stream_state *s)
{
    const roce_lane *lane = &s->requests;
    const roce_trouble *trouble = roce_trouble_of(s);
    return roce_stream_is_reliable(&s->pub) && !s->reborn && is_at_its_top(lane) &&
           !lane->span_unknown && !trouble->round.active &&
           !roce_unnumbered_is_in_doubt(s) && trouble->n_asked_late == 0 &&
           !roce_leap_is_held(s, ROCE_SPACE_REQUESTS);
}

/* The same, and the acceptor has all of them; nothing is missing but what is known to have
 * come. */
static bool
is_calm(const roce_stream_state *s)
{
    return goes_on(s) && s->requests.accept_next == s->requests.max_next &&
           roce_loss_is_delivered(s);
}

/* ---- what may be taken ---- */

/* How many entries the history of a lane takes, of at most `most`, without growing and
 * without forgetting one that is still wanted, which ends beyond `keep_from`.  Those that
 * would be forgotten are not looked at: each entry behind one takes a PSN at least, which
 * tells where that one ends at most. */
static uint32_t
room_of(const roce_tracker *t, const roce_lane *lane, int64_t keep_from, uint32_t most)
{
    const roce_history *history = &lane->history;
    uint32_t room = history->capacity - history->n;
    if (room < most && !roce_room_may_grow(t, history)) {
        int64_t unwanted = history->n - (lane->max_next - keep_from); /* at least */
        unwanted = unwanted < history->n ? unwanted : history->n;
        room += unwanted > 0 ? (uint32_t)unwanted : 0;
    }
    return room < most ? room : most;
}

static uint32_t
due_requests(const roce_stream_state *s, uint32_t most)
{
    return goes_on(s) ? most : 0;
}

/* The first response to a READ and the last tell how long they took.  Where distributions
 * are about to use up what they share, it is told at once. */
static bool
has_room_for_samples(const roce_tracker *t)
{
    return t->histogram_buckets <= t->config.histogram_room_buckets / 2;
}

/* Whether the READ is kept, whatever requests come beside its answer, and all before it has
 * been acknowledged. */
static bool
is_kept(const roce_stream_state *s, const roce_slot *asked)
{
    return s->acked && s->una >= asked->psn && s->una < asked->psn + asked->span;
}

/* Whether the next response tells what the newest one was. */
static bool
is_to_be_settled(const roce_stream_state *by)
{
    const roce_answers *answers = roce_answers_of(by);
    return answers->late_frame != 0 || answers->copied.frame != 0 ||
           roce_leap_is_held(by, ROCE_SPACE_RESPONSES) ||
           (answers->lone.tx != 0 && answers->lone.tx == answers->lane.tx);
}

/* Those that are left of the answer to a READ, before which nothing is left to be
 * acknowledged.  Where the requester waits for another response, it takes none of them, but
 * perhaps the first: READs tell that which may be forgotten in the meantime. */
static uint32_t
due_responses(const roce_tracker *t, const roce_stream_state *by, uint32_t most)
{
    const roce_stream_state *s = roce_track_peer(t, by);
    const roce_lane *lane = &roce_answers_of(by)->lane;
    if (s == NULL || !is_calm(s) || s->pub.pmtu_bytes == 0 || !is_whole(lane) ||
        is_to_be_settled(by) || roce_trouble_of(s)->repair.running ||
        s->requests.max_next - lane->max_next > MAX_OUTSTANDING) {
        return 0;
    }
    const roce_slot *asked = roce_history_find(&s->requests.history, lane->max_next);
    if (asked == NULL || asked->psn < s->requests.first ||
        (asked->flags & ROCE_SLOT_WANTS_RESPONSE) == 0 || !is_kept(s, asked)) {
        return 0;
    }
    bool tells = has_room_for_samples(t);
    if (asked->psn == lane->max_next && !(tells && is_accepting(lane))) {
        return 0;
    }
    int64_t left = asked->psn + asked->span - lane->max_next - (tells ? 0 : 1);
    return left < (int64_t)most ? (uint32_t)left : most;
}

roce_train_room
roce_tracker_train_room(const roce_tracker *t, uint32_t stream, roce_space space,
                        uint32_t most)
{
    const roce_stream_state *s = roce_state_at(t, stream);
    const roce_lane *lane = roce_lane_of(s, space);
    bool asks = space == ROCE_SPACE_REQUESTS;
    uint32_t due = asks ? due_requests(s, most) : due_responses(t, s, most);
    if (due == 0 || !lane->ident_known) {
        return (roce_train_room){0};
    }
    uint32_t n =
        room_of(t, lane, asks ? roce_sequence_keep_from(s) : lane->max_next, due);
    return (roce_train_room){
        .n = n,
        .may_grow = n == 0 && roce_room_may_grow(t, &lane->history),
        .psn = lane->max_next,
        .ident = lane->newest_ident,
        .una = asks ? 0 : roce_track_peer(t, s)->una,
    };
}

bool
roce_tracker_grow_room(roce_tracker *t, uint32_t stream, roce_space space)
{
    return roce_room_grow(t, &roce_lane_at(roce_state_at(t, stream), space)->history);
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
    return is_calm(s) && is_whole(lane) && !is_to_be_settled(by) &&
           is_due(lane, packet);
}

/* The next request of a stream that goes on, or what answers a calm one. */
static bool
is_next(const roce_stream_state *s, const roce_stream_state *peer,
        const roce_packet *packet, roce_role role)
{
    if (roce_role_is_request(role)) {
        return goes_on(s) && is_due(&s->requests, packet);
    }
    if (peer == NULL) {
        return false;
    }
    if (role == ROCE_ROLE_ACK) {
        return (packet->headers & ROCE_HEADER_AETH) != 0 &&
               roce_aeth_get_kind(packet->aeth_syndrome) == ROCE_AETH_ACK &&
               acknowledges(peer, packet);
    }
    return roce_role_is_response_data(role) && responds(peer, s, packet);
}

static bool
is_answer(roce_role role)
{
    return role == ROCE_ROLE_ACK || roce_role_is_response_data(role);
}

/* Whether an acknowledgement covers what was never seen: then the point missed it. */
static bool
covers_missing(const roce_stream_state *s, const roce_packet *packet, roce_role role)
{
    const roce_missing *missing = &s->requests.missing;
    if (roce_leap_is_held(s, ROCE_SPACE_REQUESTS)) {
        return true; /* it may open a gap first */
    }
    if (missing->n == 0 || role != ROCE_ROLE_ACK) {
        return missing->n > 0;
    }
    int64_t psn = roce_psn_expand(packet->bth.psn24, s->requests.max_next);
    bool itself = roce_aeth_get_kind(packet->aeth_syndrome) == ROCE_AETH_ACK;
    return missing->ranges[0].start < psn + (itself ? 1 : 0);
}

/* Whatever is amiss, what is said of one stream goes by others in two ways, but for CNPs
 * of switches and the room that all share: an acknowledgement may pair it with one, and
 * what the point is found to have missed may take back what was said of others.  Whether an
 * answer can have no part in either. */
static bool
answers_privately(const roce_tracker *t, const roce_stream_state *by,
                  const roce_packet *packet, roce_role role)
{
    bool any;
    const roce_stream_state *s = roce_pair_foresee(t, by, packet, &any);
    bool shows_none = roce_answers_of(by)->lane.missing.n == 0 &&
                      !roce_leap_is_held(by, ROCE_SPACE_RESPONSES) &&
                      (s == NULL || !covers_missing(s, packet, role));
    return !any && (shows_none || t->n_claims == 0);
}

/* Whether a request can have no part in the latter. */
static bool
requests_privately(const roce_tracker *t, const roce_stream_state *s,
                   const roce_stream_state *peer)
{
    bool shows_none = !roce_loss_is_at_sender(s) &&
                      (peer == NULL || roce_answers_of(peer)->lane.missing.n == 0);
    return shows_none || t->n_claims == 0;
}

/* The same of any packet. */
static bool
is_private(const roce_tracker *t, const roce_stream_state *s,
           const roce_stream_state *peer, const roce_packet *packet, roce_role role)
{
    if (!roce_stream_is_reliable(&s->pub)) {
        return false;
    }
    if (role == ROCE_ROLE_CNP) {
        return true; /* about the peer's data, or nobody's */
    }
    if ((packet->direction | s->directions) != s->directions) {
        return false; /* it tells where the point is */
    }
    if (packet->transport != s->pub.transport) {
        return false;
    }
    if (roce_role_is_request(role)) {
        return requests_privately(t, s, peer);
    }
    return is_answer(role) && answers_privately(t, s, packet, role);
}

bool
roce_tracker_is_plain(const roce_tracker *t, uint32_t stream, const roce_packet *packet)
{
    const roce_stream_state *s = roce_state_at(t, stream);
    const roce_stream_state *peer = roce_track_peer(t, s);
    if (packet->outcome != ROCE_DECODED || packet->kind != ROCE_CLASS_ROCE ||
        !packet->has_bth) {
        return false;
    }
    roce_role role = roce_opcode_get(packet->bth.opcode)->role;
    return is_private(t, s, peer, packet, role) || is_next(s, peer, packet, role);
}

uint32_t
roce_tracker_partner(const roce_tracker *t, uint32_t stream, const roce_packet *packet)
{
    const roce_stream_state *s = roce_state_at(t, stream);
    bool any;
    const roce_stream_state *other =
        is_answer(roce_opcode_get(packet->bth.opcode)->role)
            ? roce_pair_foresee(t, s, packet, &any)
            : roce_track_peer(t, s);
    return other != NULL ? other->pub.id : ROCE_NO_STREAM;
}

bool
roce_tracker_is_crowded(const roce_tracker *t)
{
    return t->history_packets > t->config.history_room_packets && roce_room_may_cut(t);
}

/* ---- taking it ---- */

uint64_t
roce_tracker_note_way(roce_tracker *t, uint32_t stream)
{
    return roce_pair_way(roce_state_at(t, stream));
}

void
roce_tracker_approach_note(const roce_tracker *t, uint64_t way, uint32_t psn24)
{
    roce_pair_approach_note(t, way, psn24);
}

void
roce_tracker_note_car(roce_tracker *t, uint64_t way, uint32_t stream, uint32_t psn24)
{
    roce_pair_note(t, way, stream, psn24);
}

void
roce_tracker_see_car(roce_tracker *t, uint32_t point)
{
    roce_misses_saw(t, point);
}

void
roce_tracker_count_mirrored(roce_tracker *t, uint32_t n)
{
    t->totals.mirrored_packets += n;
    t->totals.tunnelled_packets += n;
}

/* Entries that are far away are asked for together, up to where the last one ends. */
void
roce_tracker_approach_train(const roce_tracker *t, uint32_t stream, roce_space space,
                            uint32_t n)
{
    const roce_stream_state *s = roce_state_at(t, stream);
    const roce_history *history = &roce_lane_of(s, space)->history;
    if (history->capacity == 0) {
        return;
    }
    uint32_t at = (history->first + history->n) & (history->capacity - 1);
    uint32_t until_end = history->capacity - at;
    uint32_t n_slots = n + 1 < history->capacity ? n + 1 : history->capacity;
    uint32_t n_there = n_slots < until_end ? n_slots : until_end;
    roce_fetch(&history->slots[at], n_there * sizeof *history->slots);
    roce_fetch(history->slots, (n_slots - n_there) * sizeof *history->slots);
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

/* An entry for a packet, as place() of sequence.c and roce_respond_place() have it. */
static inline void
enter(roce_slot *slot, int64_t psn, uint64_t tx, const roce_car *car, unsigned flags,
      uint32_t message_bytes, uint32_t place)
{
    *slot = (roce_slot){
        .psn = psn,
        .time_ns = car->time_ns,
        .frame_and_span = roce_slot_pair_of(car->frame & ROCE_SLOT_MAX_FRAME,
                                            ROCE_SLOT_FRAME_BITS, 1),
        .tx_and_skipped = roce_slot_pair_of(tx & ROCE_SLOT_MAX_TX, ROCE_SLOT_TX_BITS,
                                            place & ROCE_SLOT_MAX_SKIPPED),
        .first_check = car->check,
        .newest_check = car->check,
        .first_ident = car->ident,
        .newest_ident = car->ident,
        .message_bytes = message_bytes,
        .flags = (uint16_t)flags,
        .copies = 1,
    };
}

static unsigned
flags_kept(const roce_lane *lane)
{
    return is_accepting(lane) ? UINT_MAX : ~(unsigned)ROCE_SLOT_IN_ORDER;
}

static void
move_on(roce_lane *lane, uint32_t n)
{
    bool accepts = is_accepting(lane);
    lane->max_next += n;
    lane->next_tx = lane->max_next;
    if (accepts && lane->accept_next < lane->max_next) {
        lane->accept_next = lane->max_next;
    }
    lane->tx += n;
}

static void
take_requests(roce_tracker *t, roce_stream_state *s, const roce_car *cars, uint32_t n)
{
    roce_lane *lane = &s->requests;
    const uint32_t at = roce_history_extend(&lane->history, n);
    const roce_history history = lane->history;
    const int64_t psn = lane->max_next;
    const uint64_t tx = lane->tx;
    const unsigned kept = flags_kept(lane);
    uint64_t bytes = 0;
    uint32_t n_ends = 0;
    if (!is_accepting(lane)) {
        roce_acceptor_discard(t, s, cars[0].frame, cars[0].time_ns);
    }
    for (uint32_t i = 0; i < n; i++) {
        const roce_car *car = &cars[i];
        roce_part part = roce_opcode_get(car->opcode)->part;
        unsigned asks = car->ack_request ? ROCE_SLOT_WANTS_ACK : 0;
        enter(&history.slots[(at + i) & (history.capacity - 1)], psn + i, tx + 1 + i,
              car, (flags_of_part[part] & kept) | asks, car->payload_bytes,
              roce_slot_place_of(car->address));
        bytes += car->payload_bytes;
        n_ends += roce_part_ends(part) ? 1 : 0;
    }
    for (uint32_t i = 0; i < n && s->pub.pmtu_bytes == 0; i++) {
        roce_span_learn_from(s, roce_opcode_get(cars[i].opcode)->part,
                             cars[i].payload_bytes);
    }
    move_on(lane, n);
    s->pub.message_bytes += bytes;
    s->pub.messages_completed += n_ends;
}

static void
take_responses(roce_stream_state *by, const roce_car *cars, uint32_t n)
{
    roce_lane *lane = roce_responses(by);
    const uint32_t at = roce_history_extend(&lane->history, n);
    const roce_history history = lane->history;
    const unsigned kept = flags_kept(lane) & ~(unsigned)ROCE_SLOT_MESSAGE_END;
    for (uint32_t i = 0; i < n; i++) {
        roce_part part = roce_opcode_get(cars[i].opcode)->part;
        unsigned flags = flags_of_part[part] & kept;
        enter(&history.slots[(at + i) & (history.capacity - 1)], lane->max_next + i,
              lane->tx + 1 + i, &cars[i], flags, 0, 0);
    }
    move_on(lane, n);
}

/* What is counted of each car. */
static void
count(roce_tracker *t, roce_stream_state *s, const roce_car *cars, uint32_t n)
{
    roce_stream *pub = &s->pub;
    uint64_t wire_bytes = 0;
    uint64_t payload_bytes = 0;
    uint64_t first_ns = pub->first_time_ns;
    uint64_t last_ns = pub->last_time_ns;
    uint32_t counted = 0; /* by opcode */
    for (uint32_t i = 0; i < n; i++) {
        const roce_car *car = &cars[i];
        wire_bytes += car->wire_bytes;
        payload_bytes += car->payload_bytes;
        first_ns = car->time_ns < first_ns ? car->time_ns : first_ns;
        last_ns = car->time_ns > last_ns ? car->time_ns : last_ns;
        if (i + 1 == n || car[1].opcode != car->opcode) {
            roce_count_opcode(t, pub, car->opcode, i + 1 - counted);
            counted = i + 1;
        }
    }
    roce_ident_follow_train(s, cars, n);
    pub->wire_bytes += wire_bytes;
    pub->payload_bytes += payload_bytes;
    pub->first_time_ns = first_ns;
    pub->last_time_ns = last_ns;
}

static void
count_all(roce_tracker *t, roce_stream_state *s, roce_space space, uint32_t n)
{
    t->totals.roce_packets += n;
    s->pub.packets += n;
    s->pub.space[space].packets += n;
    s->pub.space[space].unique_psns += n;
    s->pub.ecn.codepoint[s->last_ecn] += n;
    if (s->pub.congestion != NULL) {
        roce_congestion_make(t, s)->episode_since += n;
    }
}

/* Each response acknowledges what is before it.  Of the READ that all of them answer that
 * tells nothing new but when it was; the newest one tells the rest. */
static void
step_up(roce_tracker *t, roce_stream_state *s, int64_t psn, const roce_car *cars,
        uint32_t n)
{
    roce_heard *heard = roce_heard_make(t, s);
    for (uint32_t i = 0; i < n; i++) {
        if (psn + i > s->una) {
            heard->ack_step = (uint8_t)((heard->ack_step + 1) % ROCE_ACK_STEPS);
            heard->ack_steps[heard->ack_step].una = psn + i;
            heard->ack_steps[heard->ack_step].time_ns = cars[i].time_ns;
        }
    }
}

static uint64_t
earliest_ns(const roce_car *cars, uint32_t n)
{
    uint64_t time_ns = cars[0].time_ns;
    for (uint32_t i = 1; i < n; i++) {
        time_ns = cars[i].time_ns < time_ns ? cars[i].time_ns : time_ns;
    }
    return time_ns;
}

/* Some responses that all mean the same: what one of them finds amiss holds for all.  Where
 * an answer begins and where it ends one stands alone. */
static void
time_responses(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
               int64_t psn, const roce_car *cars, uint32_t n)
{
    const roce_frame frame = {
        .time_ns = cars[0].time_ns, .number = cars[0].frame, .point = by->pub.point};
    const roce_arrival a = {
        .frame = &frame,
        .seen_ns = earliest_ns(cars, n),
        .seen_frame = frame.number,
        .info = roce_opcode_get(cars[0].opcode),
        .psn = psn,
        .span = 1,
    };
    roce_measure_response(t, s, by, &a);
    by->answers->answer.next = psn + n;
    roce_respond_sample(t, s, &a);
}

/* What the responses, which the lane has taken, say of their READ. */
static void
tell_requester(roce_tracker *t, roce_stream_state *by, int64_t psn,
               const roce_car *cars, uint32_t n)
{
    roce_stream_state *s = roce_track_peer(t, by);
    const roce_car *newest = &cars[n - 1];
    const roce_opcode_info *info = roce_opcode_get(newest->opcode);
    bool ends = roce_part_ends(info->part);
    uint32_t alike = n - (ends ? 1 : 0); /* but for the first of them */
    time_responses(t, s, by, psn, cars, 1);
    if (alike > 1) {
        time_responses(t, s, by, psn + 1, &cars[1], alike - 1);
    }
    if (ends && n > 1) {
        time_responses(t, s, by, psn + n - 1, newest, 1);
    }
    by->answers->response_message_next = ends ? ROCE_NO_PSN : psn + n;
    by->answers->response_time_ns = newest->time_ns;
    step_up(t, s, psn, cars, n - 1);
    const roce_frame frame = {
        .time_ns = newest->time_ns, .number = newest->frame, .point = by->pub.point};
    const roce_arrival a = {
        .frame = &frame,
        .seen_ns = newest->time_ns,
        .seen_frame = newest->frame,
        .info = info,
        .psn = psn + n - 1,
        .span = 1,
    };
    roce_acknowledge_up_to(t, s, &a, ends ? psn + n : a.psn);
}

void
roce_tracker_take_train(roce_tracker *t, uint32_t stream, roce_space space,
                        roce_icrc_status icrc, const roce_car *cars, uint32_t n)
{
    roce_stream_state *s = roce_state_at(t, stream);
    roce_lane *lane = roce_lane_at(s, space);
    int64_t psn = lane->max_next;
    roce_tracker_approach_train(t, stream, space, n);
    if (space == ROCE_SPACE_REQUESTS) {
        take_requests(t, s, cars, n);
    } else {
        take_responses(s, cars, n);
    }
    count(t, s, cars, n);
    const roce_car *newest = &cars[n - 1];
    lane->newest_ident = newest->ident;
    lane->newest_ns = newest->time_ns;
    lane->top_frame = newest->frame;
    count_all(t, s, space, n);
    s->checksum_credits = s->checksum_credits > 0 ? ROCE_CHECKSUM_CREDITS : 0;
    s->pub.icrc_checked += icrc == ROCE_ICRC_GOOD ? n : 0;
    s->pub.icrc_truncated += icrc == ROCE_ICRC_TRUNCATED ? n : 0;
    s->pub.last_frame = newest->frame;
    t->latest_ns =
        s->pub.last_time_ns > t->latest_ns ? s->pub.last_time_ns : t->latest_ns;
    if (space == ROCE_SPACE_RESPONSES) {
        tell_requester(t, s, psn, cars, n);
    }
}
