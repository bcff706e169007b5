/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trains in the tracker: a conversation of messages, READs, a loss, a late packet and
 * acknowledgements, of which all, some or none are seen, is tracked one by one and in
 * trains, and must come to the same, wherever it breaks off; and memory may fail at any
 * time.
 */
#include "failing_alloc.h"
#include "packet_maker.h"
#include "seeded.h"
#include "track.h"

#include "roce/psn.h"
#include "roce/train.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#define N_MESSAGES 60
#define PACKETS_OF_MESSAGE 4
#define MESSAGES_PER_ACK 3
#define LOST_PSN 121 /* the second packet of a message */
#define LATE_PSN 202 /* two others pass it */
#define SEND_FIRST 0x00
#define SEND_MIDDLE 0x01
#define SEND_ONLY 0x04
#define READ_REQUEST 0x0c
#define READ_RESPONSE_FIRST 0x0d
#define READ_RESPONSE_MIDDLE 0x0e
#define READ_RESPONSE_LAST 0x0f
#define READ_RESPONSE_ONLY 0x10
#define READ_PSN 48 /* in each period a READ stands for some messages */
#define READ_RESPONSES 16
#define PERIOD_PSNS 80
#define IDENT_AGAIN 1000
#define PACE_NS 1000         /* from packet to packet */
#define LONG_NS 1000000000   /* nobody waits as long for a response */
#define PATIENCE_NS 16000000 /* that a missing response disturbs what is measured */
#define PAYLOAD_BYTES 256
#define MOST_CARS 8
#define QPN_OF_A 0x11
#define QPN_OF_B 0x22
#define STREAM_A 0 /* a speaks first */
#define STREAM_B 1
#define MAX_EVENTS 512
#define N_CHATS SEEDED_TIMES(4000)

typedef enum manner {
    ONE_BY_ONE,
    IN_TRAINS,
} manner;

/* What is known of who talks to whom. */
typedef struct hearing {
    const char *name;
    bool is_told;        /* by the user */
    uint32_t heard_from; /* PSN: acknowledgements of those before are not seen */
    uint32_t n_streams;
    uint32_t n_trains, n_read_trains; /* at least */
    uint32_t room;                    /* of all histories, in packets; 0: as usual */
} hearing;

static const hearing hearings[] = {
    {"pair told", true, 0, 2, N_MESSAGES / 4, 4, 0},
    {"pair found", false, 0, 2, N_MESSAGES / 4, 4, 0},
    {"pair found late", false, 130, 2, N_MESSAGES / 4, 2, 0},
    {"one direction alone", false, UINT32_MAX, 1, N_MESSAGES / 4, 0, 0},
    {"little room", true, 0, 2, N_MESSAGES / 4, 4, 70},
    {"less room than there can be", true, 0, 2, N_MESSAGES / 4, 4, 10},
};
#define N_HEARINGS (sizeof hearings / sizeof *hearings)

typedef struct line {
    failing_alloc memory;
    manner manner;
    const hearing *heard;
    roce_tracker *tracker;
    roce_event events[MAX_EVENTS];
    uint32_t n_events;
    uint64_t n_frames, n_errors;
    uint64_t pause_ns;    /* in which nothing came, until now */
    uint64_t most_frames; /* then it breaks off */
    bool has_mould;
    roce_mould mould;
    uint32_t stream; /* of the mould */
    roce_car cars[MOST_CARS];
    uint32_t n_cars, room, n_grown, n_trains_in[ROCE_N_SPACES];
    int64_t psn; /* of the first car */
    int64_t una;
    uint64_t way;
    uint64_t n_acknowledging; /* responses that tell something new */
    roce_direction direction; /* of what comes */
    bool was_plain;           /* the newest packet that went by itself */
    uint32_t partner;
} line;

static void
take_event(void *ctx, const roce_event *event)
{
    line *l = ctx;
    if (l->n_events < MAX_EVENTS) {
        l->events[l->n_events++] = *event;
    }
}

static const roce_addr host_a = {.bytes = {10, 0, 0, 1}, .family = 4};
static const roce_addr host_b = {.bytes = {10, 0, 0, 2}, .family = 4};

/* False where there was no memory for it. */
static bool
line_init(line *l, manner how, const hearing *heard, uint64_t fail_from,
          uint64_t fail_until)
{
    *l = (line){.memory = {.fail_from = fail_from, .fail_until = fail_until},
                .manner = how,
                .most_frames = UINT64_MAX,
                .heard = heard};
    const roce_alloc alloc = failing_alloc_make(&l->memory);
    roce_tracker_config config;
    roce_tracker_config_init(&config);
    config.event = take_event;
    config.ctx = l;
    config.max_history_packets = 64; /* it grows, and then it forgets */
    if (heard->room > 0) {
        config.history_room_packets = heard->room;
    }
    return roce_tracker_new(&l->tracker, &alloc, &config) == ROCE_OK &&
           (!heard->is_told || roce_tracker_add_pair(l->tracker, &host_a, QPN_OF_A,
                                                     &host_b, QPN_OF_B) == ROCE_OK);
}

static void
line_clear(line *l)
{
    roce_tracker_free(l->tracker);
    CHECK_INT(l->memory.n_live, 0);
}

/* ---- trains ---- */

static void
take_cars(line *l)
{
    if (l->n_cars > 0) {
        roce_space space = roce_mould_space(&l->mould);
        roce_tracker_take_train(l->tracker, l->stream, space, ROCE_ICRC_GOOD, l->cars,
                                l->n_cars);
        l->n_trains_in[space]++;
    }
    l->n_cars = 0;
    l->room = 0;
}

/* Whether the frame has become a car.  Cars are not looked at for identifications that step
 * back: none of these does in sequence. */
static bool
board(line *l, const roce_frame *frame)
{
    roce_car car;
    if (!l->has_mould || roce_tracker_is_crowded(l->tracker) ||
        !roce_mould_fits(&l->mould, frame, &car)) {
        return false;
    }
    roce_space space = roce_mould_space(&l->mould);
    bool may_grow = false;
    if (l->n_cars == l->room) {
        take_cars(l);
        const roce_train_room room =
            roce_tracker_train_room(l->tracker, l->stream, space, MOST_CARS);
        l->room = room.n;
        l->psn = room.psn;
        l->una = room.una;
        l->way = roce_tracker_note_way(l->tracker, l->stream);
        may_grow = room.may_grow;
    }
    if (l->n_cars == l->room && !may_grow) {
        return false;
    }
    if (car.psn24 != roce_psn_wrap(l->psn + l->n_cars)) {
        return false;
    }
    if (may_grow) {
        CHECK_INT(l->room, 0);
        if (!roce_tracker_grow_room(l->tracker, l->stream, space)) {
            return false;
        }
        l->room = roce_tracker_train_room(l->tracker, l->stream, space, MOST_CARS).n;
        CHECK(l->room > 0);
        l->n_grown++;
    }
    roce_tracker_see_car(l->tracker, 0);
    if (l->way != 0) {
        roce_tracker_note_car(l->tracker, l->way, l->stream, car.psn24);
    }
    bool responds = space == ROCE_SPACE_RESPONSES;
    bool ends = responds && roce_part_ends(roce_opcode_get(car.opcode)->part);
    l->n_acknowledging +=
        responds && l->psn + l->n_cars + (ends ? 1 : 0) > l->una ? 1 : 0;
    l->cars[l->n_cars++] = car;
    l->room = ends ? l->n_cars : l->room;
    return true;
}

/* What is said of a packet before it is tracked. */
static void
foresee(line *l, const roce_packet *packet)
{
    uint32_t stream = roce_tracker_find(l->tracker, 0, packet);
    bool is_new = stream == ROCE_NO_STREAM;
    l->was_plain = !is_new && roce_tracker_is_plain(l->tracker, stream, packet);
    l->partner =
        is_new ? ROCE_NO_STREAM : roce_tracker_partner(l->tracker, stream, packet);
}

static void
add(line *l, const packet_maker *m)
{
    if (l->n_frames == l->most_frames) {
        return;
    }
    const roce_frame frame = {
        .bytes = m->bytes,
        .captured_bytes = m->n,
        .wire_bytes = m->n,
        .time_ns = PACE_NS * l->n_frames + l->pause_ns,
        .number = ++l->n_frames,
    };
    if (l->manner == IN_TRAINS && board(l, &frame)) {
        return;
    }
    roce_packet packet;
    take_cars(l);
    decode(ROCE_LINK_ETHERNET, m->bytes, m->n, m->n, &packet);
    packet.direction = l->direction;
    foresee(l, &packet);
    int error = roce_tracker_add(l->tracker, &frame, &packet, ROCE_ICRC_GOOD);
    l->n_errors += error != ROCE_OK ? 1 : 0;
    const roce_sighting *sighting = roce_tracker_last_sighting(l->tracker);
    roce_role role = roce_opcode_get(packet.bth.opcode)->role;
    l->n_acknowledging +=
        role == ROCE_ROLE_READ_RESPONSE && sighting->acked_until > sighting->acked_from
            ? 1
            : 0;
    if (roce_tracker_last_stream(l->tracker) != ROCE_NO_STREAM) {
        l->stream = roce_tracker_last_stream(l->tracker);
        l->has_mould =
            (l->has_mould && roce_mould_admits(&l->mould, &frame, &packet)) ||
            roce_mould_take(&frame, &packet, &l->mould);
    }
}

/* ---- the conversation ---- */

static void
put_bth(packet_maker *m, uint8_t opcode, uint32_t qpn, uint32_t psn24)
{
    put_number(m, 4, (uint32_t)opcode << 24 | 0x40ffff);
    put_number(m, 4, qpn);
    put_number(m, 4, psn24);
}

/* From a to b; with a RETH if that names a length, which is a READ's without payload. */
static void
carry(line *l, uint8_t opcode, uint32_t psn24, uint32_t ident, uint32_t length_bytes)
{
    packet_maker m = {0};
    uint32_t payload_bytes = opcode == READ_REQUEST ? 0 : PAYLOAD_BYTES;
    put_ethernet_ipv4_udp(&m, 12 + (length_bytes > 0 ? 16u : 0u) + payload_bytes + 4);
    m.bytes[18] = (uint8_t)(ident >> 8);
    m.bytes[19] = (uint8_t)ident;
    put_right_checksum(m.bytes + 14);
    put_bth(&m, opcode, QPN_OF_B, psn24);
    if (length_bytes > 0) {
        put_number(&m, 8, 4096 * (uint64_t)psn24);
        put_number(&m, 8, (uint64_t)7 << 32 | length_bytes);
    }
    put_filler(&m, payload_bytes);
    put_number(&m, 4, 0x10000 + ident); /* ICRC: each has its own */
    add(l, &m);
}

/* A part of a WRITE, or of a SEND.  What is sent later has a greater identification. */
static void
request(line *l, uint32_t psn24, uint32_t ident)
{
    static const uint8_t of_part[PACKETS_OF_MESSAGE] = {0, 1, 1, 2};
    bool is_write = psn24 / PACKETS_OF_MESSAGE % 20 < 10;
    uint8_t part = of_part[psn24 % PACKETS_OF_MESSAGE];
    uint32_t bytes = is_write && part == 0 ? PACKETS_OF_MESSAGE * PAYLOAD_BYTES : 0;
    carry(l, (uint8_t)((is_write ? 6 : 0) + part), psn24, ident, bytes);
}

/* From b to a; with an AETH if there is a syndrome. */
static void
carry_back(line *l, uint8_t opcode, uint32_t psn24, uint32_t ident, uint32_t syndrome,
           uint32_t payload_bytes)
{
    packet_maker m = {0};
    if (psn24 < l->heard->heard_from) {
        return;
    }
    put_ethernet_ipv4_udp(&m, 12 + (syndrome != 0 ? 4u : 0u) + payload_bytes + 4);
    memcpy(m.bytes + 26, host_b.bytes, 4);
    memcpy(m.bytes + 30, host_a.bytes, 4);
    m.bytes[18] = (uint8_t)(ident >> 8);
    m.bytes[19] = (uint8_t)ident;
    put_right_checksum(m.bytes + 14);
    put_bth(&m, opcode, QPN_OF_A, psn24);
    if (syndrome != 0) {
        put_number(&m, 4, syndrome << 24);
    }
    put_filler(&m, payload_bytes);
    put_number(&m, 4, 0x20000 + ident);
    add(l, &m);
}

static void
answer(line *l, uint32_t psn24, uint8_t syndrome)
{
    carry_back(l, 0x11, psn24, psn24, syndrome, 0);
}

/* The i-th response of n. */
static void
respond(line *l, uint32_t psn24, uint32_t ident, uint32_t i, uint32_t n)
{
    uint8_t opcode = i == 0 ? READ_RESPONSE_FIRST : READ_RESPONSE_LAST;
    if (i > 0 && i + 1 < n) {
        carry_back(l, READ_RESPONSE_MIDDLE, psn24, ident, 0, PAYLOAD_BYTES);
    } else {
        opcode = n == 1 ? READ_RESPONSE_ONLY : opcode;
        carry_back(l, opcode, psn24, ident, 0x1f, PAYLOAD_BYTES);
    }
}

static void
read_and_respond(line *l, uint32_t psn24)
{
    carry(l, READ_REQUEST, psn24, psn24 + IDENT_AGAIN, READ_RESPONSES * PAYLOAD_BYTES);
    for (uint32_t i = 0; i < READ_RESPONSES; i++) {
        respond(l, psn24 + i, psn24 + i, i, READ_RESPONSES);
    }
}

/* A request with what happens to it, and what it is answered. */
static void
exchange(line *l, uint32_t psn24)
{
    uint32_t in_period = psn24 % PERIOD_PSNS;
    if (in_period >= READ_PSN && in_period < READ_PSN + READ_RESPONSES) {
        if (in_period == READ_PSN) {
            read_and_respond(l, psn24);
        }
        return;
    }
    uint32_t ident = psn24 < LOST_PSN + 5 ? psn24 : psn24 + IDENT_AGAIN;
    if (psn24 != LOST_PSN && psn24 != LATE_PSN) {
        request(l, psn24, ident);
    }
    if (psn24 == LATE_PSN + 2) {
        request(l, LATE_PSN, ident - 2);
    }
    if (psn24 == LOST_PSN + 4) {
        answer(l, LOST_PSN, 0x60);
        for (uint32_t again = LOST_PSN; again <= psn24; again++) {
            request(l, again, again + IDENT_AGAIN);
        }
    }
    if ((psn24 + 1) % (MESSAGES_PER_ACK * PACKETS_OF_MESSAGE) == 0) {
        answer(l, psn24, 0x1f);
    }
}

static void
talk(line *l)
{
    for (uint32_t psn24 = 0; psn24 < N_MESSAGES * PACKETS_OF_MESSAGE; psn24++) {
        exchange(l, psn24);
    }
    for (uint32_t i = PACKETS_OF_MESSAGE; i > 0; i--) { /* the last message again */
        uint32_t psn24 = N_MESSAGES * PACKETS_OF_MESSAGE - i;
        request(l, psn24, psn24 + 2 * IDENT_AGAIN);
    }
    take_cars(l);
}

/* ---- a conversation at random ---- */

#define RANDOM_PSNS 400
#define RANDOM_STEPS 120
#define MOST_RESPONSES 24

/* What stands at a PSN: a packet of a SEND, or the i-th response of n. */
typedef struct place {
    uint32_t i, n; /* n: 0 for a SEND */
} place;

typedef struct chat {
    line *line;
    seeded random;
    place places[RANDOM_PSNS];
    uint32_t n_lone; /* messages of one packet, before a long one begins */
    uint32_t next;   /* PSN of the next request */
    uint32_t due;    /* and of what is answered next */
    uint32_t ident, back_ident;
    uint32_t ident_step; /* from one request to the next */
} chat;

static uint32_t
next_ident(chat *c)
{
    return c->ident += c->ident_step;
}

static void
ask(chat *c)
{
    uint32_t n = 1 + seeded_below(&c->random, MOST_RESPONSES);
    if (c->next + n > RANDOM_PSNS) {
        return;
    }
    carry(c->line, READ_REQUEST, c->next, next_ident(c), n * PAYLOAD_BYTES);
    for (uint32_t i = 0; i < n; i++) {
        c->places[c->next++] = (place){i, n};
    }
}

static uint8_t
opcode_at(const chat *c, uint32_t psn24)
{
    return psn24 < c->n_lone    ? SEND_ONLY
           : psn24 == c->n_lone ? SEND_FIRST
                                : SEND_MIDDLE;
}

static void
send_some(chat *c)
{
    for (uint32_t n = seeded_below(&c->random, 12); n > 0 && c->next < RANDOM_PSNS;
         n--) {
        carry(c->line, opcode_at(c, c->next), c->next, next_ident(c), 0);
        c->places[c->next++] = (place){0, 0};
    }
}

/* What is due next is answered, if anything is. */
static void
answer_next(chat *c)
{
    if (c->due >= c->next) {
        return;
    }
    const place *at = &c->places[c->due];
    if (at->n > 0) {
        respond(c->line, c->due, ++c->back_ident, at->i, at->n);
    } else if (seeded_below(&c->random, 8) == 0) {
        carry_back(c->line, 0x11, c->due, ++c->back_ident, 0x1f, 0);
    }
    c->due++;
}

/* A part of an answer, whether it is in its place or not. */
static void
respond_somehow(chat *c, uint32_t psn24, uint32_t ident)
{
    uint8_t opcode = (uint8_t)(READ_RESPONSE_FIRST + seeded_below(&c->random, 4));
    bool is_plain = opcode == READ_RESPONSE_MIDDLE;
    carry_back(c->line, opcode, psn24, ident, is_plain ? 0 : 0x1f, PAYLOAD_BYTES);
}

/* One of the PSNs that are not answered, or were not long ago. */
static uint32_t
some_psn(chat *c)
{
    uint32_t from = c->due > MOST_RESPONSES ? c->due - MOST_RESPONSES : 0;
    return from + seeded_below(&c->random, c->next - from + 1);
}

static void
ask_again(chat *c, uint32_t psn24)
{
    const place *at = &c->places[psn24];
    if (psn24 < c->next && at->n > 0) {
        carry(c->line, READ_REQUEST, psn24, next_ident(c),
              (at->n - at->i) * PAYLOAD_BYTES);
        c->due = seeded_below(&c->random, 2) == 0 ? psn24 : c->due;
    } else if (psn24 < c->next) {
        carry(c->line, opcode_at(c, psn24), psn24, next_ident(c), 0);
    }
}

/* Some others pass a request, or it is not seen at all. */
static void
overtake(chat *c, bool is_seen)
{
    uint32_t n = 1 + seeded_below(&c->random, 3);
    if (c->next + n >= RANDOM_PSNS) {
        return;
    }
    uint32_t late = c->next++;
    uint32_t ident = next_ident(c);
    c->places[late] = (place){0, 0};
    for (; n > 0; n--) {
        carry(c->line, opcode_at(c, c->next), c->next, next_ident(c), 0);
        c->places[c->next++] = (place){0, 0};
    }
    if (is_seen) {
        carry(c->line, opcode_at(c, late), late, ident, 0);
    }
}

/* A response passes the one before it. */
static void
swap_responses(chat *c)
{
    if (c->due + 1 >= c->next || c->places[c->due].n == 0 ||
        c->places[c->due + 1].n == 0) {
        return;
    }
    for (uint32_t i = 2; i-- > 0;) {
        const place *at = &c->places[c->due + i];
        respond(c->line, c->due + i, c->back_ident + 1 + i, at->i, at->n);
    }
    c->back_ident += 2;
    c->due += 2;
}

static void
disturb(chat *c)
{
    uint32_t psn24 = some_psn(c);
    switch (seeded_below(&c->random, 10)) {
    case 0: /* lost */
        c->due += c->due < c->next ? 1 : 0;
        break;
    case 1: /* where none is due, or another one */
        respond_somehow(c, psn24, ++c->back_ident);
        break;
    case 2: /* the newest one again */
        respond_somehow(c, psn24, c->back_ident);
        break;
    case 3:
        carry_back(c->line, 0x11, psn24, ++c->back_ident, 0x1f, 0);
        break;
    case 4:
        carry_back(c->line, 0x11, psn24, ++c->back_ident, 0x60, 0);
        break;
    case 5: /* the answer to a READ lacks its end */
        respond_somehow(c, c->due++, ++c->back_ident);
        break;
    case 6:
        overtake(c, true);
        break;
    case 7:
        overtake(c, false);
        break;
    case 8:
        swap_responses(c);
        break;
    default:
        ask_again(c, psn24);
        break;
    }
}

static void
chat_at_random(line *l, uint64_t seed)
{
    chat c = {.line = l, .random = {seed}};
    uint32_t calm = 2 + seeded_below(&c.random, 40);
    static const uint32_t steps[] = {0, 1, 1, 5000};
    c.ident_step = steps[seed % N_ROWS(steps)];
    c.n_lone = seeded_below(&c.random, 2) == 0 ? 0 : seeded_below(&c.random, 80);
    for (uint32_t step = 0; step < RANDOM_STEPS; step++) {
        uint32_t what = seeded_below(&c.random, 8 + calm);
        if (what == 0) {
            disturb(&c);
        } else if (what < 3) {
            send_some(&c);
        } else if (what < 6) {
            ask(&c);
        } else {
            for (uint32_t n = seeded_below(&c.random, 20); n > 0; n--) {
                answer_next(&c);
            }
        }
    }
    take_cars(l);
}

/* ---- what came of it ---- */

static void
compare_events(const line *a, const line *b)
{
    if (!CHECK_INT(a->n_events, b->n_events)) {
        return;
    }
    for (uint32_t i = 0; i < a->n_events; i++) {
        const roce_event *x = &a->events[i];
        const roce_event *y = &b->events[i];
        CHECK_INT(x->kind, y->kind);
        CHECK_INT(x->frame, y->frame);
        CHECK_INT(x->time_ns, y->time_ns);
        CHECK_INT(x->stream, y->stream);
        CHECK_INT(x->count, y->count);
        CHECK_INT(x->detail, y->detail);
        CHECK_INT(x->related_frame, y->related_frame);
        CHECK_INT(x->duration_ns, y->duration_ns);
    }
}

static void
compare_streams(const roce_stream *x, const roce_stream *y)
{
    CHECK_INT(x->pmtu_bytes, y->pmtu_bytes);
    CHECK_INT(x->packets, y->packets);
    CHECK_INT(x->wire_bytes, y->wire_bytes);
    CHECK_INT(x->payload_bytes, y->payload_bytes);
    CHECK_INT(x->message_bytes, y->message_bytes);
    CHECK_INT(x->messages_completed, y->messages_completed);
    CHECK_INT(x->first_time_ns, y->first_time_ns);
    CHECK_INT(x->last_time_ns, y->last_time_ns);
    CHECK_INT(x->last_frame, y->last_frame);
    CHECK_INT(x->icrc_checked, y->icrc_checked);
    for (unsigned opcode = 0; opcode <= UINT8_MAX; opcode++) {
        CHECK_INT(roce_stream_opcode_packets(x, (uint8_t)opcode),
                  roce_stream_opcode_packets(y, (uint8_t)opcode));
    }
    for (int i = 0; i < ROCE_N_SPACES; i++) {
        CHECK_INT(x->space[i].packets, y->space[i].packets);
        CHECK_INT(x->space[i].unique_psns, y->space[i].unique_psns);
    }
    for (int i = 0; i < ROCE_N_LATENCIES; i++) {
        const roce_histogram *p = roce_stream_latency(x, (roce_latency)i);
        const roce_histogram *q = roce_stream_latency(y, (roce_latency)i);
        if (CHECK((p != NULL) == (q != NULL)) && p != NULL) {
            CHECK_INT(p->count, q->count);
            CHECK_INT(p->min_ns, q->min_ns);
            CHECK_INT(p->max_ns, q->max_ns);
            CHECK_INT(p->sum[0], q->sum[0]);
        }
    }
}

static void
compare_lanes(const roce_lane *x, const roce_lane *y)
{
    CHECK_INT(x->ident_known, y->ident_known);
    CHECK_INT(x->newest_ident, y->newest_ident);
    CHECK_INT(x->next_tx, y->next_tx);
    CHECK_INT(x->max_next, y->max_next);
    CHECK_INT(x->accept_next, y->accept_next);
    CHECK_INT(x->tx, y->tx);
    CHECK_INT(x->newest_ns, y->newest_ns);
    CHECK_INT(x->top_frame, y->top_frame);
    CHECK_INT(x->missing.n, y->missing.n);
    CHECK_INT(x->history.capacity, y->history.capacity);
    if (CHECK_INT(x->history.n, y->history.n)) {
        for (uint32_t i = 0; i < x->history.n; i++) {
            CHECK(memcmp(roce_history_at(&x->history, i),
                         roce_history_at(&y->history, i), sizeof(roce_slot)) == 0);
        }
    }
}

/* What NAKs are held against. */
static void
compare_violations(const roce_trouble *x, const roce_trouble *y)
{
    CHECK_INT(x->violation, y->violation);
    for (int i = 0; i < ROCE_VIOLATIONS; i++) {
        CHECK_INT(x->violations[i].expected, y->violations[i].expected);
        CHECK_INT(x->violations[i].frame, y->violations[i].frame);
        CHECK_INT(x->violations[i].time_ns, y->violations[i].time_ns);
        CHECK_INT(x->violations[i].answered, y->violations[i].answered);
    }
}

/* What rules go by from here on. */
static void
compare_states(const roce_stream_state *x, const roce_stream_state *y)
{
    CHECK_INT(x->una, y->una);
    CHECK_INT(x->acked, y->acked);
    CHECK_INT(x->ident_last, y->ident_last);
    CHECK_INT(x->ident_rises, y->ident_rises);
    CHECK_INT(x->ident_same, y->ident_same);
    CHECK_INT(x->ident_other, y->ident_other);
    compare_lanes(&x->requests, &y->requests);
    compare_violations(roce_trouble_of(x), roce_trouble_of(y));
    CHECK(memcmp(roce_heard_of(x), roce_heard_of(y), sizeof(roce_heard)) == 0);
    const roce_answers *p = roce_answers_of(x);
    const roce_answers *q = roce_answers_of(y);
    compare_lanes(&p->lane, &q->lane);
    CHECK_INT(p->response_message_next, q->response_message_next);
    CHECK_INT(p->response_time_ns, q->response_time_ns);
    CHECK_INT(p->answer.clean, q->answer.clean);
    CHECK(!p->answer.clean || p->answer.next == q->answer.next);
}

static void
compare(const line *a, const line *b)
{
    uint32_t n_streams = roce_tracker_n_streams(a->tracker);
    CHECK_INT(roce_tracker_totals_get(a->tracker)->roce_packets, a->n_frames);
    CHECK_INT(roce_tracker_totals_get(b->tracker)->roce_packets, a->n_frames);
    compare_events(a, b);
    CHECK_INT(a->n_acknowledging, b->n_acknowledging);
    CHECK_INT(a->tracker->history_packets, b->tracker->history_packets);
    CHECK_INT(a->tracker->history_max, b->tracker->history_max);
    if (!CHECK_INT(roce_tracker_n_streams(b->tracker), n_streams)) {
        return;
    }
    for (uint32_t i = 0; i < n_streams; i++) {
        compare_streams(roce_tracker_stream(a->tracker, i),
                        roce_tracker_stream(b->tracker, i));
        compare_states(roce_state_at(a->tracker, i), roce_state_at(b->tracker, i));
    }
}

/* Both, and some train has to be in that space. */
static void
compare_talk(const hearing *heard, void (*talk_of)(line *), roce_space space)
{
    static line a;
    static line b;
    CHECK(line_init(&a, ONE_BY_ONE, heard, UINT64_MAX, UINT64_MAX));
    CHECK(line_init(&b, IN_TRAINS, heard, UINT64_MAX, UINT64_MAX));
    talk_of(&a);
    talk_of(&b);
    take_cars(&b);
    CHECK(b.n_trains_in[space] > 0);
    compare(&a, &b);
    line_clear(&a);
    line_clear(&b);
}

/* Both, up to some frame; false where the conversation is shorter. */
static bool
compare_up_to(const hearing *heard, uint64_t most_frames)
{
    static line a;
    static line b;
    CHECK(line_init(&a, ONE_BY_ONE, heard, UINT64_MAX, UINT64_MAX));
    CHECK(line_init(&b, IN_TRAINS, heard, UINT64_MAX, UINT64_MAX));
    a.most_frames = b.most_frames = most_frames;
    talk(&a);
    talk(&b);
    bool broke_off = a.n_frames == most_frames;
    compare(&a, &b);
    if (!broke_off) {
        /* What was compared would prove nothing without. */
        CHECK(b.n_trains_in[ROCE_SPACE_REQUESTS] >= heard->n_trains);
        CHECK(b.n_trains_in[ROCE_SPACE_RESPONSES] >= heard->n_read_trains);
        CHECK_INT(roce_tracker_n_streams(b.tracker), heard->n_streams);
        CHECK(b.n_grown > 0);
        CHECK(a.n_events > 4); /* the loss is among them */
        roce_tracker_finish(a.tracker);
        roce_tracker_finish(b.tracker);
        compare(&a, &b);
    }
    line_clear(&a);
    line_clear(&b);
    return broke_off;
}

static void
test_same(void)
{
    for (size_t i = 0; i < N_HEARINGS; i++) {
        check_row(hearings[i].name);
        for (uint64_t n = 1; compare_up_to(&hearings[i], n); n++) {
        }
    }
    check_row(NULL);
}

/* Cars tell it where none that went by itself has. */
static void
test_path_mtu(void)
{
    static const uint8_t opcodes[] = {SEND_ONLY, SEND_ONLY, SEND_FIRST, SEND_MIDDLE};
    static line l;
    CHECK(line_init(&l, IN_TRAINS, &hearings[3], UINT64_MAX, UINT64_MAX));
    for (uint32_t i = 0; i < N_ROWS(opcodes); i++) {
        carry(&l, opcodes[i], i, i, 0);
    }
    CHECK_INT(l.n_cars, 3);
    CHECK_INT(roce_tracker_stream(l.tracker, STREAM_A)->pmtu_bytes, 0);
    take_cars(&l);
    CHECK_INT(roce_tracker_stream(l.tracker, STREAM_A)->pmtu_bytes, PAYLOAD_BYTES);
    line_clear(&l);
}

/* A READ of which nobody could tell how many PSNs it takes is followed by the next one, which
 * shows that it takes one; and comes again, when the path MTU tells that it takes 32. */
static void
talk_of_unknown_span(line *l)
{
    const uint32_t length_bytes = 32 * PAYLOAD_BYTES;
    for (uint32_t psn24 = 0; psn24 < 4; psn24++) {
        carry(l, SEND_ONLY, psn24, 1 + psn24, 0);
    }
    carry(l, READ_REQUEST, 4, 5, length_bytes);
    carry(l, SEND_ONLY, 5, 6, 0);
    carry(l, SEND_FIRST, 6, 7, 0);
    carry(l, READ_REQUEST, 4, 5, length_bytes);
    for (uint32_t psn24 = 7; psn24 < 16; psn24++) {
        carry(l, SEND_MIDDLE, psn24, 1 + psn24, 0);
    }
    take_cars(l);
    const roce_lane *lane = &roce_state_at(l->tracker, STREAM_A)->requests;
    CHECK_INT(lane->accept_next - lane->max_next, 4 + 32 - 16);
}

static void
test_unknown_span(void)
{
    compare_talk(&hearings[3], talk_of_unknown_span, ROCE_SPACE_REQUESTS);
}

static uint32_t
room_for_responses(line *l)
{
    take_cars(l);
    return roce_tracker_train_room(l->tracker, STREAM_B, ROCE_SPACE_RESPONSES,
                                   READ_RESPONSES)
        .n;
}

/* READs of all durations: where distributions have used up half of what they share, first
 * and last responses go by themselves. */
static void
test_room_of_samples(void)
{
    static line l;
    CHECK(line_init(&l, IN_TRAINS, &hearings[0], UINT64_MAX, UINT64_MAX));
    l.tracker->config.histogram_room_buckets = 512;
    uint32_t n_told_at_once = 0;
    uint64_t pause_ns = 1000;
    for (uint32_t i = 0; i < 300; i++, pause_ns += pause_ns / 25) {
        uint32_t psn24 = i * READ_RESPONSES;
        bool has_forgotten = i > 16; /* then histories grow no more */
        carry(&l, READ_REQUEST, psn24, psn24, READ_RESPONSES * PAYLOAD_BYTES);
        bool at_once = l.tracker->histogram_buckets > 256;
        n_told_at_once += at_once ? 1 : 0;
        if (has_forgotten) {
            CHECK_INT(room_for_responses(&l), at_once ? 0 : READ_RESPONSES);
        }
        l.pause_ns += pause_ns;
        respond(&l, psn24, psn24, 0, READ_RESPONSES);
        if (has_forgotten) {
            CHECK_INT(room_for_responses(&l), READ_RESPONSES - (at_once ? 2 : 1));
        }
        l.pause_ns += pause_ns;
        for (uint32_t k = 1; k < READ_RESPONSES; k++) {
            respond(&l, psn24 + k, psn24 + k, k, READ_RESPONSES);
        }
    }
    CHECK(n_told_at_once > 0);
    CHECK(n_told_at_once < 250);
    line_clear(&l);
}

static uint64_t
room_of_histories(const roce_tracker *tracker)
{
    uint64_t packets = 0;
    for (uint32_t i = 0; i < roce_tracker_n_streams(tracker); i++) {
        const roce_stream_state *s = roce_state_at(tracker, i);
        packets += s->requests.history.capacity;
        packets += roce_answers_of(s)->lane.history.capacity;
    }
    return packets;
}

/* Every packet is counted, tracked or not, and all memory comes back. */
static void
lack_memory(const hearing *heard)
{
    static line l;
    CHECK(line_init(&l, IN_TRAINS, heard, UINT64_MAX, UINT64_MAX));
    talk(&l);
    roce_tracker_finish(l.tracker);
    const uint64_t n_calls = l.memory.n_calls;
    line_clear(&l);
    for (uint64_t i = 0; i < 2 * n_calls; i++) {
        uint64_t fail = i / 2;
        check_row(i % 2 == 0 ? "memory fails once" : "memory fails for good");
        if (line_init(&l, IN_TRAINS, heard, fail, i % 2 == 0 ? fail + 1 : UINT64_MAX)) {
            talk(&l);
            roce_tracker_finish(l.tracker);
            const roce_tracker_totals *totals = roce_tracker_totals_get(l.tracker);
            CHECK_INT(totals->roce_packets, l.n_frames);
            CHECK_INT(totals->untracked_packets, l.n_errors);
            CHECK_INT(l.tracker->history_packets, room_of_histories(l.tracker));
        }
        line_clear(&l);
    }
    check_row(NULL);
}

static void
test_memory(void)
{
    for (size_t i = 0; i < N_HEARINGS; i++) {
        lack_memory(&hearings[i]);
    }
}

static void
test_at_random(void)
{
    static line a;
    static line b;
    uint32_t n_read_trains = 0;
    for (uint64_t seed = 0; seed < N_CHATS; seed++) {
        const hearing *heard = &hearings[seed % 2];
        char name[64];
        snprintf(name, sizeof name, "seed %" PRIu64, seed);
        check_row(name);
        CHECK(line_init(&a, ONE_BY_ONE, heard, UINT64_MAX, UINT64_MAX));
        CHECK(line_init(&b, IN_TRAINS, heard, UINT64_MAX, UINT64_MAX));
        a.most_frames = b.most_frames = 20 + seed % 400;
        chat_at_random(&a, seed);
        chat_at_random(&b, seed);
        compare(&a, &b);
        roce_tracker_finish(a.tracker);
        roce_tracker_finish(b.tracker);
        compare(&a, &b);
        n_read_trains += b.n_trains_in[ROCE_SPACE_RESPONSES];
        line_clear(&a);
        line_clear(&b);
    }
    CHECK(n_read_trains > N_CHATS);
    check_row(NULL);
}

/* ---- who else has to do with a packet ---- */

#define ACKNOWLEDGE 0x11
#define CNP 0x81
#define NONE ROCE_NO_STREAM

typedef struct step {
    const char *name;
    uint8_t opcode, syndrome;
    uint32_t psn24;
    bool is_plain;
    uint32_t partner;
    roce_direction direction;
} step;

static bool
goes_back(const step *s)
{
    roce_role role = roce_opcode_get(s->opcode)->role;
    return role == ROCE_ROLE_ACK || role == ROCE_ROLE_CNP ||
           role == ROCE_ROLE_READ_RESPONSE;
}

/* One after the other; the first of each conversation opens a stream. */
static const step pairing[] = {
    {"the first of a stream", SEND_MIDDLE, 0, 0, false, NONE, 0},
    {"the next request", SEND_MIDDLE, 0, 1, true, NONE, 0},
    {"the first that b says", ACKNOWLEDGE, 0x1f, 50, false, NONE, 0},
    {"what nobody has sent: ports tell whose it is", ACKNOWLEDGE, 0x1f, 51, true,
     STREAM_A, 0},
    {"a CNP about nobody's data", CNP, 0, 0, true, NONE, 0},
    {"what a has sent", ACKNOWLEDGE, 0x1f, 1, true, STREAM_A, 0},
    {"what a has sent, again", ACKNOWLEDGE, 0x1f, 1, true, STREAM_A, 0},
    {"a CNP about the peer's data", CNP, 0, 0, true, STREAM_A, 0},
    {"a gap", SEND_MIDDLE, 0, 5, true, STREAM_B, 0},
    {"a NAK for what is missing", ACKNOWLEDGE, 0x60, 2, true, STREAM_A, 0},
    {"an ACK of what is missing", ACKNOWLEDGE, 0x1f, 2, true, STREAM_A, 0},
    {"a request, once the point has missed one", SEND_MIDDLE, 0, 9, true, STREAM_B, 0},
    {"a CNP then", CNP, 0, 0, true, STREAM_A, 0},
    {0},
};

/* A packet is said to be lost before the point. */
static const step lost[] = {
    {"the first of a stream", SEND_MIDDLE, 0, 0, false, NONE, 0},
    {"the first that b says", ACKNOWLEDGE, 0x1f, 0, false, NONE, 0},
    {"a gap", SEND_MIDDLE, 0, 2, true, STREAM_B, 0},
    {"a NAK", ACKNOWLEDGE, 0x60, 1, true, STREAM_A, 0},
    {"what it asks for was lost", SEND_MIDDLE, 0, 1, true, STREAM_B, 0},
    {"the next one again", SEND_MIDDLE, 0, 2, true, STREAM_B, 0},
    {0},
};

/* Behind that: the point may have missed it as well. */
static const step claiming[] = {
    {"another gap", SEND_MIDDLE, 0, 4, true, STREAM_B, 0},
    {"an ACK of what is before", ACKNOWLEDGE, 0x1f, 2, true, STREAM_A, 0},
    {"a NAK for what is missing", ACKNOWLEDGE, 0x60, 3, true, STREAM_A, 0},
    {"an ACK of what is missing", ACKNOWLEDGE, 0x1f, 3, false, STREAM_A, 0},
    {"a request, once the point has missed one", SEND_MIDDLE, 0, 9, true, STREAM_B, 0},
    {0},
};

/* Behind that: it is taken back once, when the point has missed enough. */
static const step taken[] = {
    {"a NAK for what was seen", ACKNOWLEDGE, 0x60, 2, true, STREAM_A, 0},
    {"once more", SEND_MIDDLE, 0, 2, true, STREAM_B, 0},
    {"a gap", SEND_MIDDLE, 0, 4, true, STREAM_B, 0},
    {"a gap", SEND_MIDDLE, 0, 6, true, STREAM_B, 0},
    {"a gap", SEND_MIDDLE, 0, 8, true, STREAM_B, 0},
    {"a gap", SEND_MIDDLE, 0, 10, true, STREAM_B, 0},
    {"a gap", SEND_MIDDLE, 0, 12, true, STREAM_B, 0},
    {"a gap", SEND_MIDDLE, 0, 14, true, STREAM_B, 0},
    {"a gap", SEND_MIDDLE, 0, 16, true, STREAM_B, 0},
    {"an ACK of what is missing", ACKNOWLEDGE, 0x1f, 16, false, STREAM_A, 0},
    {"one more gap", SEND_MIDDLE, 0, 18, true, STREAM_B, 0},
    {"an ACK of that", ACKNOWLEDGE, 0x1f, 18, true, STREAM_A, 0},
    {0},
};

/* Behind that. */
static const step reading[] = {
    {"a READ", READ_REQUEST, 0, 3, true, STREAM_B, 0},
    {"the first response", READ_RESPONSE_FIRST, 0x1f, 3, true, STREAM_A, 0},
    {"a response too early", READ_RESPONSE_MIDDLE, 0, 5, true, STREAM_A, 0},
    {"a response behind a missing one", READ_RESPONSE_MIDDLE, 0, 6, false, STREAM_A, 0},
    {"an ACK meanwhile", ACKNOWLEDGE, 0x60, 30, false, STREAM_A, 0},
    {"a gap meanwhile", SEND_MIDDLE, 0, 30, false, STREAM_B, 0},
    {0},
};

/* Likewise. */
static const step outbound[] = {
    {"outbound of a sudden", SEND_MIDDLE, 0, 5, false, STREAM_B, ROCE_DIRECTION_OUT},
    {"at the sender", SEND_MIDDLE, 0, 9, false, STREAM_B, ROCE_DIRECTION_OUT},
    {0},
};

/* Nothing was said to be lost. */
static const step sent[] = {
    {"the first of a stream", SEND_MIDDLE, 0, 0, false, NONE, ROCE_DIRECTION_OUT},
    {"a gap", SEND_MIDDLE, 0, 4, true, NONE, ROCE_DIRECTION_OUT},
    {"what was missed", SEND_MIDDLE, 0, 2, true, NONE, ROCE_DIRECTION_OUT},
    {0},
};

static void
follow_steps(line *l, const step *steps)
{
    for (const step *at = steps; at->name != NULL; at++) {
        uint32_t ident = 1 + (uint32_t)l->n_frames;
        check_row(at->name);
        l->direction = at->direction;
        if (goes_back(at)) {
            uint32_t bytes = at->opcode == CNP           ? 16
                             : at->opcode == ACKNOWLEDGE ? 0
                                                         : PAYLOAD_BYTES;
            carry_back(l, at->opcode, at->psn24, ident, at->syndrome, bytes);
        } else {
            bool reads = at->opcode == READ_REQUEST;
            carry(l, at->opcode, at->psn24, ident, reads ? 16 * PAYLOAD_BYTES : 0);
        }
        CHECK_INT(l->was_plain, at->is_plain);
        CHECK_INT(l->partner, at->partner);
    }
    check_row(NULL);
}

/* What happens, behind what happened before. */
static void
check_steps(const step *before, const step *steps)
{
    static line l;
    CHECK(line_init(&l, ONE_BY_ONE, &hearings[1], UINT64_MAX, UINT64_MAX));
    follow_steps(&l, before);
    follow_steps(&l, steps);
    line_clear(&l);
}

static void
test_partners(void)
{
    static const step nothing[] = {{0}};
    check_steps(nothing, pairing);
    check_steps(lost, claiming);
    check_steps(lost, taken);
    check_steps(lost, reading);
    check_steps(lost, outbound);
    check_steps(nothing, sent);
}

static bool
takes_cars(const line *l, uint32_t stream, roce_space space)
{
    const roce_train_room room =
        roce_tracker_train_room(l->tracker, stream, space, MOST_CARS);
    return room.n > 0 || room.may_grow;
}

static bool
takes_requests(const line *l)
{
    return takes_cars(l, STREAM_A, ROCE_SPACE_REQUESTS);
}

static bool
takes_responses(const line *l)
{
    return takes_cars(l, STREAM_B, ROCE_SPACE_RESPONSES);
}

/* What is missing is in the way of no request behind it, nor is what comes late; what is sent
 * again is, until the requester has sent all of it. */
static void
test_gap(void)
{
    static const struct {
        const char *name;
        uint32_t psn24, ident;
        bool takes;
    } rows[] = {
        {"the first", 0, 1, true},    {"the next", 1, 2, true},
        {"the next", 2, 3, true},     {"the next", 3, 4, true},
        {"the next", 4, 5, true},     {"behind a gap", 6, 7, true},
        {"the next", 7, 8, true},     {"what was overtaken", 5, 6, true},
        {"the next", 8, 9, true},     {"behind a gap", 10, 11, true},
        {"sent again", 9, 12, false}, {"sent again", 10, 13, false},
        {"the next", 11, 14, true},
    };
    static line l;
    CHECK(line_init(&l, ONE_BY_ONE, &hearings[1], UINT64_MAX, UINT64_MAX));
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        carry(&l, SEND_MIDDLE, rows[i].psn24, rows[i].ident, 0);
        CHECK_INT(takes_requests(&l), rows[i].takes);
    }
    check_row(NULL);
    line_clear(&l);
}

/* A request that is missing is in the way of answers, until one of them covers it. */
static void
test_answers_around_gap(void)
{
    static line l;
    CHECK(line_init(&l, ONE_BY_ONE, &hearings[1], UINT64_MAX, UINT64_MAX));
    carry(&l, SEND_MIDDLE, 0, 1, 0);
    carry_back(&l, ACKNOWLEDGE, 0, 2, 0x1f, 0);
    carry(&l, SEND_MIDDLE, 2, 3, 0);
    carry(&l, READ_REQUEST, 3, 4, READ_RESPONSES * PAYLOAD_BYTES);
    CHECK(!takes_responses(&l));
    respond(&l, 3, 5, 0, READ_RESPONSES);
    CHECK(takes_responses(&l));
    carry(&l, SEND_MIDDLE, 3 + READ_RESPONSES + 1, 6, 0);
    CHECK(!takes_responses(&l));
    line_clear(&l);
}

/* The responses to the READ that begins there, but for one; whether the third may be a
 * car. */
static void
read_but(line *l, uint32_t psn24, uint32_t missed, bool takes)
{
    carry(l, READ_REQUEST, psn24, 1 + psn24, READ_RESPONSES * PAYLOAD_BYTES);
    for (uint32_t i = 0; i < READ_RESPONSES; i++) {
        if (psn24 + i != missed) {
            respond(l, psn24 + i, 1 + psn24 + i, i, READ_RESPONSES);
        }
        if (i == 1) {
            CHECK_INT(takes_responses(l), takes);
        }
    }
}

/* A response that comes late is in the way of none behind it, though the requester has
 * discarded those that passed it; but of the first to the next READ. */
static void
test_late_response(void)
{
    static line l;
    CHECK(line_init(&l, ONE_BY_ONE, &hearings[1], UINT64_MAX, UINT64_MAX));
    carry(&l, READ_REQUEST, 0, 1, READ_RESPONSES * PAYLOAD_BYTES);
    static const uint32_t order[] = {0, 1, 2, 3, 4, 6, 5, 7};
    for (uint32_t i = 0; i < N_ROWS(order); i++) {
        respond(&l, order[i], 1 + order[i], order[i], READ_RESPONSES);
        CHECK_INT(takes_responses(&l), i > 0 && order[i] != 6);
    }
    for (uint32_t i = N_ROWS(order); i < READ_RESPONSES; i++) {
        respond(&l, i, 1 + i, i, READ_RESPONSES);
    }
    carry(&l, READ_REQUEST, READ_RESPONSES, 2, READ_RESPONSES * PAYLOAD_BYTES);
    CHECK(!takes_responses(&l));
    respond(&l, READ_RESPONSES, 1 + READ_RESPONSES, 0, READ_RESPONSES);
    CHECK(takes_responses(&l));
    line_clear(&l);
}

/* An answer of which all has been acknowledged: its READ may be forgotten. */
static void
test_acknowledged_answer(void)
{
    static line l;
    CHECK(line_init(&l, ONE_BY_ONE, &hearings[1], UINT64_MAX, UINT64_MAX));
    carry(&l, READ_REQUEST, 0, 1, READ_RESPONSES * PAYLOAD_BYTES);
    respond(&l, 0, 1, 0, READ_RESPONSES);
    respond(&l, 1, 2, 1, READ_RESPONSES);
    CHECK(takes_responses(&l));
    carry_back(&l, ACKNOWLEDGE, READ_RESPONSES - 2, 3, 0x1f, 0);
    CHECK(takes_responses(&l));
    carry_back(&l, ACKNOWLEDGE, READ_RESPONSES - 1, 4, 0x1f, 0);
    CHECK(!takes_responses(&l));
    line_clear(&l);
}

/* A response is, until others have come so long after it that it would have been asked for
 * again. */
static void
test_gap_of_responses(void)
{
    static line l;
    CHECK(line_init(&l, ONE_BY_ONE, &hearings[1], UINT64_MAX, UINT64_MAX));
    read_but(&l, 0, 2, true);
    read_but(&l, 16, 22, false);
    read_but(&l, 32, UINT32_MAX, false);
    l.pause_ns += LONG_NS;
    read_but(&l, 48, 50, true);
    read_but(&l, 64, UINT32_MAX, false);
    line_clear(&l);
}

/* A response is missed, and others come until it is no longer in the way.  Of the last READ
 * the First is captured when what is measured is disturbed no more, and a Middle with a
 * stamp from before that. */
static void
talk_of_disturbance(line *l)
{
    uint64_t disturbed_from = 0;
    for (uint32_t psn24 = 0; psn24 < 64; psn24 += READ_RESPONSES) {
        carry(l, READ_REQUEST, psn24, 1 + psn24, READ_RESPONSES * PAYLOAD_BYTES);
        for (uint32_t i = 0; i < READ_RESPONSES; i++) {
            bool steps_back = psn24 == 48 && i == 4;
            l->pause_ns -= steps_back ? 8 * PACE_NS : 0;
            if (psn24 != 0 || i != 2) {
                respond(l, psn24 + i, 1 + psn24 + i, i, READ_RESPONSES);
            }
            l->pause_ns += steps_back ? 8 * PACE_NS : 0;
            if (psn24 == 0 && i == 3) {
                disturbed_from = PACE_NS * (l->n_frames - 1);
            }
        }
        l->pause_ns += PATIENCE_NS / 4;
        if (psn24 == 32) { /* the READ that is next comes at the end of it */
            l->pause_ns = disturbed_from + PATIENCE_NS - PACE_NS * l->n_frames;
        }
    }
}

static void
test_disturbance(void)
{
    compare_talk(&hearings[1], talk_of_disturbance, ROCE_SPACE_RESPONSES);
}

int
main(void)
{
    test_partners();
    test_gap();
    test_answers_around_gap();
    test_late_response();
    test_acknowledged_answer();
    test_gap_of_responses();
    test_disturbance();
    test_same();
    test_path_mtu();
    test_unknown_span();
    test_room_of_samples();
    test_at_random();
    test_memory();
    return check_status();
}
