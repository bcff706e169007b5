/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a conversation (traffic.h), tracked.  What the tracker says is checked for
 * what can never be (accounts.h), and a second run has to say the same: over memory that
 * holds other rubbish, and with its memory brought near for packets before they come.
 *
 *   0    caps: streams (bits 0-1), history (2-3), delays (4-5), link speed (6-7)
 *   1    memory: 0 never fails; n < 128: every n-th request; else all from 8 * (n - 128)
 *   2..  steps
 */
#include "accounts.h"
#include "traffic.h"

#include "roce/decode.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS 2
#define MAX_STEPS 600
#define LARGE 65536 /* bytes of tables that are too slow to fetch and fill each time */
#define SPARES 4    /* of them that are kept */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- memory ---- */

typedef struct memory {
    uint64_t n_calls, n_live;
    uint64_t every, from; /* that fail; 0: never */
    uint8_t rubbish;
} memory;

typedef union block {
    size_t size;
    max_align_t align;
} block;

static block *spares[SPARES]; /* large ones, from one run to the next */

static block *
fetch(size_t size)
{
    for (unsigned i = 0; i < SPARES; i++) {
        if (spares[i] != NULL && spares[i]->size == size) {
            block *spare = spares[i];
            spares[i] = NULL;
            return spare;
        }
    }
    block *b = malloc(sizeof *b + size);
    if (b == NULL) {
        abort();
    }
    b->size = size;
    return b;
}

static void
release(void *ctx, void *old)
{
    memory *m = ctx;
    assert(old != NULL);
    m->n_live--;
    block *b = (block *)old - 1;
    for (unsigned i = 0; i < SPARES && b->size >= LARGE; i++) {
        if (spares[i] == NULL) {
            spares[i] = b;
            return;
        }
    }
    free(b);
}

static void *
resize(void *ctx, void *old, size_t size)
{
    memory *m = ctx;
    m->n_calls++;
    assert(size > 0);
    if ((m->every != 0 && m->n_calls % m->every == 0) ||
        (m->from != 0 && m->n_calls >= m->from)) {
        return NULL;
    }
    block *b = fetch(size);
    size_t kept = 0;
    if (old != NULL) {
        const block *was = (const block *)old - 1;
        kept = was->size < size ? was->size : size;
        memcpy(b + 1, old, kept);
    }
    if (size < LARGE) {
        memset((uint8_t *)(b + 1) + kept, m->rubbish, size - kept);
    }
    m->n_live++;
    if (old != NULL) {
        release(ctx, old);
    }
    return b + 1;
}

/* ---- a run ---- */

typedef enum foresight {
    UNFORESEEN,
    FORESEEN,
} foresight;

/* What the input says beside its steps. */
typedef struct settings {
    roce_tracker_config config;
    uint64_t link_speed_bps;
    uint64_t every, from; /* of memory that fails */
} settings;

typedef struct run {
    accounts *accounts;
    traffic *traffic;
    const settings *given;
    memory memory;
    foresight foresight;
} run;

static uint64_t
link_speed(void *ctx, uint32_t point)
{
    const run *r = ctx;
    return point == 2 ? 0 : r->given->link_speed_bps;
}

static void
take_event(void *ctx, const roce_event *event)
{
    accounts_take_event(((const run *)ctx)->accounts, event);
}

static void
take_relation(void *ctx, const roce_relation *relation)
{
    accounts_take_relation(((const run *)ctx)->accounts, relation);
}

static void
approach(const roce_tracker *tracker, uint32_t point, const roce_packet *packet)
{
    uint64_t foreseen = roce_tracker_foresee(tracker, point, packet);
    uint32_t stream = roce_tracker_guess(tracker, foreseen);
    assert(stream == ROCE_NO_STREAM || stream < roce_tracker_n_streams(tracker));
    if (stream != ROCE_NO_STREAM) {
        roce_tracker_approach(tracker, stream, packet);
    }
}

/* Hands the newest frame in, out of memory that ends where what was captured does. */
static void
add_frame(run *r)
{
    const traffic *t = r->traffic;
    roce_tracker *tracker = r->accounts->tracker;
    roce_frame frame =
        traffic_frame(t, accounts_note_frame(r->accounts, t->point, t->now_ns));
    uint8_t *bytes = traffic_copy(t->bytes, t->captured_bytes);
    frame.bytes = bytes;
    roce_ports ports;
    roce_ports_init(&ports);
    roce_packet packet;
    roce_decode(&frame, &ports, &packet);
    roce_icrc_status icrc = t->icrc;
    if (packet.end_offset > t->captured_bytes && icrc != ROCE_ICRC_UNCHECKED) {
        icrc = ROCE_ICRC_TRUNCATED;
    }
    if (r->foresight == FORESEEN) {
        approach(tracker, t->point, &packet);
    }
    int result = roce_tracker_add(tracker, &frame, &packet, icrc);
    assert(result == ROCE_OK ||
           (result == ROCE_ERROR_MEMORY && (r->memory.every | r->memory.from) != 0));
    accounts_check_sighting(r->accounts, &packet);
    free(bytes);
}

static void
add_pairing(const run *r, const traffic_step *s)
{
    const traffic_pairing p = traffic_pairing_of(s);
    roce_tracker *tracker = r->accounts->tracker;
    int result =
        p.is_by_table
            ? roce_tracker_add_queue_pair(tracker, p.host, p.n_addrs, p.lqpn, p.rqpn)
            : roce_tracker_add_pair(tracker, &p.host[0], p.lqpn, &p.host[1], p.rqpn);
    assert(result == ROCE_OK || result == ROCE_ERROR_MEMORY ||
           result == ROCE_ERROR_INVALID);
}

/* Where every packet had its place and memory never failed, nothing was pushed out. */
static void
check_evictions(const run *r)
{
    const roce_tracker_totals *n = roce_tracker_totals_get(r->accounts->tracker);
    bool fails = (r->memory.every | r->memory.from) != 0;
    if (fails || r->given->config.max_streams < ACCOUNTS_STREAMS) {
        return;
    }
    assert(n->evicted[ROCE_TABLE_STREAMS] == 0);
    assert(n->evicted[ROCE_TABLE_PAUSES] == 0);
    assert(n->evicted[ROCE_TABLE_CONNECTIONS] == 0);
    assert(n->evicted[ROCE_TABLE_LATENCIES] == 0);
    assert(r->given->config.max_history_packets <= MAX_STEPS ||
           n->evicted[ROCE_TABLE_HISTORY] == 0);
}

static void
take_steps(run *r, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < MAX_STEPS && size >= TRAFFIC_STEP_BYTES; i++) {
        const traffic_step s = traffic_read(data);
        traffic_kind kind = traffic_take(r->traffic, &s);
        if (kind == TRAFFIC_FRAME) {
            add_frame(r);
        } else if (kind == TRAFFIC_PAIRING) {
            add_pairing(r, &s);
        }
        data += TRAFFIC_STEP_BYTES;
        size -= TRAFFIC_STEP_BYTES;
    }
}

/* The digest of what the tracker told. */
static uint64_t
track(const settings *given, foresight how, uint8_t rubbish, const uint8_t *data,
      size_t size)
{
    static accounts all; /* both are too large for a stack */
    static traffic conversation;
    run r = {
        .accounts = &all,
        .traffic = &conversation,
        .given = given,
        .memory = {.every = given->every, .from = given->from, .rubbish = rubbish},
        .foresight = how,
    };
    roce_tracker_config config = given->config;
    config.link_speed_bps = link_speed;
    config.event = take_event;
    config.relation = take_relation;
    config.ctx = &r;
    const roce_alloc alloc = {.resize = resize, .release = release, .ctx = &r.memory};
    traffic_init(&conversation);
    accounts_open(&all, config.max_streams);
    all.memory_fails = (given->every | given->from) != 0;
    if (roce_tracker_new(&all.tracker, &alloc, &config) == ROCE_OK) {
        take_steps(&r, data, size);
        assert(roce_tracker_n_streams(all.tracker) <= config.max_streams);
        roce_tracker_finish(all.tracker);
        accounts_close(&all);
        check_evictions(&r);
        roce_tracker_free(all.tracker);
    }
    assert(r.memory.n_live == 0);
    return all.digest;
}

static settings
read_settings(const uint8_t data[SETTINGS])
{
    static const uint32_t streams[] = {1, 3, 16, ACCOUNTS_STREAMS};
    static const uint32_t history[] = {64, 128, 100, 1000};
    static const uint64_t delays[] = {0, 1000, 1000000, UINT64_C(1000000000)};
    static const uint64_t speeds[] = {0, 1, UINT64_C(100000000000),
                                      UINT64_C(1000000000)};
    settings s = {
        .link_speed_bps = speeds[data[0] >> 6],
        .every = data[1] < 128 ? data[1] : 0,
        .from = data[1] < 128 ? 0 : UINT64_C(8) * (data[1] - 128u),
    };
    roce_tracker_config_init(&s.config);
    s.config.max_streams = streams[data[0] & 3];
    s.config.max_history_packets = history[data[0] >> 2 & 3];
    s.config.ce_episode_pause_ns = delays[data[0] >> 4 & 3];
    s.config.path_delay_ns = delays[data[0] >> 4 & 3];
    return s;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < SETTINGS) {
        return 0;
    }
    const settings given = read_settings(data);
    const uint8_t *steps = data + SETTINGS;
    size_t n_bytes = size - SETTINGS;
    uint64_t plain = track(&given, UNFORESEEN, 0xa5, steps, n_bytes);
    uint64_t again = track(&given, FORESEEN, 0x5a, steps, n_bytes);
    assert(plain == again);
    return 0;
}
