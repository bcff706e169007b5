/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trains in the tracker: a conversation of messages, a loss, a late packet and
 * acknowledgements is tracked one by one and in trains, and must come to the same; and
 * memory may fail at any time.
 */
#include "failing_alloc.h"
#include "packet_maker.h"

#include "roce/psn.h"
#include "roce/train.h"

#include <stddef.h>

#define N_MESSAGES 60
#define PACKETS_OF_MESSAGE 4
#define MESSAGES_PER_ACK 3
#define LOST_PSN 121 /* the second packet of a message */
#define LATE_PSN 202 /* two others pass it */
#define IDENT_AGAIN 1000
#define PAYLOAD_BYTES 256
#define MOST_CARS 8
#define QPN_OF_A 0x11
#define QPN_OF_B 0x22
#define MAX_EVENTS 512

typedef enum manner {
    ONE_BY_ONE,
    IN_TRAINS,
} manner;

typedef struct line {
    failing_alloc memory;
    manner manner;
    roce_tracker *tracker;
    roce_event events[MAX_EVENTS];
    uint32_t n_events;
    uint64_t n_frames, n_errors;
    bool has_mould;
    roce_mould mould;
    uint32_t stream; /* of the mould */
    roce_car cars[MOST_CARS];
    uint32_t n_cars, room, n_trains;
    int64_t psn; /* of the first car */
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
line_init(line *l, manner how, uint64_t fail_from, uint64_t fail_until)
{
    *l = (line){.memory = {.fail_from = fail_from, .fail_until = fail_until},
                .manner = how};
    const roce_alloc alloc = failing_alloc_make(&l->memory);
    roce_tracker_config config;
    roce_tracker_config_init(&config);
    config.event = take_event;
    config.ctx = l;
    config.max_history_packets = 64; /* it grows, and then it forgets */
    return roce_tracker_new(&l->tracker, &alloc, &config) == ROCE_OK &&
           roce_tracker_add_pair(l->tracker, &host_a, QPN_OF_A, &host_b, QPN_OF_B) ==
               ROCE_OK;
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
        roce_tracker_take_train(l->tracker, l->stream, ROCE_ICRC_GOOD, l->cars,
                                l->n_cars);
        l->n_trains++;
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
    if (!l->has_mould || !roce_mould_fits(&l->mould, frame, &car)) {
        return false;
    }
    if (l->n_cars == l->room) {
        uint16_t ident;
        take_cars(l);
        l->room =
            roce_tracker_train_room(l->tracker, l->stream, MOST_CARS, &l->psn, &ident);
    }
    if (l->n_cars == l->room || car.psn24 != roce_psn_wrap(l->psn + l->n_cars)) {
        return false;
    }
    l->cars[l->n_cars++] = car;
    return true;
}

static void
add(line *l, const packet_maker *m)
{
    const roce_frame frame = {
        .bytes = m->bytes,
        .captured_bytes = m->n,
        .wire_bytes = m->n,
        .time_ns = 1000 * l->n_frames,
        .number = ++l->n_frames,
    };
    if (l->manner == IN_TRAINS && board(l, &frame)) {
        return;
    }
    roce_packet packet;
    take_cars(l);
    decode(ROCE_LINK_ETHERNET, m->bytes, m->n, m->n, &packet);
    int error = roce_tracker_add(l->tracker, &frame, &packet, ROCE_ICRC_GOOD);
    l->n_errors += error != ROCE_OK ? 1 : 0;
    if (roce_tracker_last_stream(l->tracker) != ROCE_NO_STREAM) {
        l->stream = roce_tracker_last_stream(l->tracker);
        l->has_mould = roce_mould_take(&frame, &packet, &l->mould);
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

/* A part of a WRITE, or of a SEND, from a to b.  What is sent later has a greater
 * identification. */
static void
request(line *l, uint32_t psn24, uint32_t ident)
{
    static const uint8_t of_part[PACKETS_OF_MESSAGE] = {0, 1, 1, 2};
    bool is_write = psn24 / PACKETS_OF_MESSAGE % 20 < 10;
    uint8_t part = of_part[psn24 % PACKETS_OF_MESSAGE];
    bool has_reth = is_write && part == 0;
    packet_maker m = {0};
    put_ethernet_ipv4_udp(&m, 12 + (has_reth ? 16 : 0) + PAYLOAD_BYTES + 4);
    m.bytes[18] = (uint8_t)(ident >> 8);
    m.bytes[19] = (uint8_t)ident;
    put_bth(&m, (uint8_t)((is_write ? 6 : 0) + part), QPN_OF_B, psn24);
    if (has_reth) {
        put_number(&m, 8, 4096 * (uint64_t)psn24);
        put_number(&m, 8, (uint64_t)7 << 32 | PACKETS_OF_MESSAGE * PAYLOAD_BYTES);
    }
    put_filler(&m, PAYLOAD_BYTES);
    put_number(&m, 4, 0x10000 + ident); /* ICRC: each has its own */
    add(l, &m);
}

/* From b to a. */
static void
answer(line *l, uint32_t psn24, uint8_t syndrome)
{
    packet_maker m = {0};
    put_ethernet_ipv4_udp(&m, 12 + 4 + 4);
    memcpy(m.bytes + 26, host_b.bytes, 4);
    memcpy(m.bytes + 30, host_a.bytes, 4);
    put_bth(&m, 0x11, QPN_OF_A, psn24);
    put_number(&m, 4, (uint32_t)syndrome << 24);
    put_number(&m, 4, 0x20000 + psn24);
    add(l, &m);
}

/* A request with what happens to it, and what it is answered. */
static void
exchange(line *l, uint32_t psn24)
{
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
    roce_tracker_finish(l->tracker);
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
    CHECK_INT(x->packets, y->packets);
    CHECK_INT(x->wire_bytes, y->wire_bytes);
    CHECK_INT(x->payload_bytes, y->payload_bytes);
    CHECK_INT(x->message_bytes, y->message_bytes);
    CHECK_INT(x->messages_completed, y->messages_completed);
    CHECK_INT(x->first_time_ns, y->first_time_ns);
    CHECK_INT(x->last_time_ns, y->last_time_ns);
    CHECK_INT(x->last_frame, y->last_frame);
    CHECK_INT(x->icrc_checked, y->icrc_checked);
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
test_same(void)
{
    static line a;
    static line b;
    check_row("one by one and in trains");
    CHECK(line_init(&a, ONE_BY_ONE, UINT64_MAX, UINT64_MAX));
    CHECK(line_init(&b, IN_TRAINS, UINT64_MAX, UINT64_MAX));
    talk(&a);
    talk(&b);
    CHECK_INT(a.n_trains, 0);
    CHECK(b.n_trains >= N_MESSAGES / 2); /* what follows would prove nothing */
    CHECK_INT(roce_tracker_n_streams(b.tracker), 2);
    CHECK_INT(roce_tracker_totals_get(a.tracker)->roce_packets, a.n_frames);
    CHECK_INT(roce_tracker_totals_get(b.tracker)->roce_packets, a.n_frames);
    CHECK(a.n_events > 4); /* the loss is among them */
    compare_events(&a, &b);
    for (uint32_t i = 0; i < 2; i++) {
        compare_streams(roce_tracker_stream(a.tracker, i),
                        roce_tracker_stream(b.tracker, i));
    }
    line_clear(&a);
    line_clear(&b);
}

/* Every packet is counted, tracked or not, and all memory comes back. */
static void
test_memory(void)
{
    static line l;
    CHECK(line_init(&l, IN_TRAINS, UINT64_MAX, UINT64_MAX));
    talk(&l);
    const uint64_t n_calls = l.memory.n_calls;
    line_clear(&l);
    for (uint64_t i = 0; i < 2 * n_calls; i++) {
        uint64_t fail = i / 2;
        check_row(i % 2 == 0 ? "memory fails once" : "memory fails for good");
        if (line_init(&l, IN_TRAINS, fail, i % 2 == 0 ? fail + 1 : UINT64_MAX)) {
            talk(&l);
            const roce_tracker_totals *totals = roce_tracker_totals_get(l.tracker);
            CHECK_INT(totals->roce_packets, l.n_frames);
            CHECK_INT(totals->untracked_packets, l.n_errors);
        }
        line_clear(&l);
    }
    check_row(NULL);
}

int
main(void)
{
    test_same();
    test_memory();
    return check_status();
}
