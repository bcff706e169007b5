/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a conversation: each step is one structurally valid frame, most of them
 * plausible in their place, and all of them free to come in any order.  What the
 * tracker says is checked for what can never be.
 *
 *   0    caps: streams (bits 0-1), history (2-3), delays (4-5), link speed (6-7)
 *   1    memory: 0 never fails; n < 128: every n-th request; else all from 8 * (n -
 * 128) 2..  steps of 6 bytes, see take_step()
 */
#include "roce/decode.h"
#include "roce/tracker.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS 2
#define STEP 6
#define MAX_STEPS 600
#define HOSTS 4
#define QPNS 4
#define MAX_FRAME 4400
#define LARGE 65536 /* tables that are too slow to fill for each input */
#define START_NS UINT64_C(1700000000000000000)
#define SANE (UINT64_C(1) << 40) /* no counter gets there but by running below 0 */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- Memory ---- */

typedef struct memory {
    uint64_t n_calls, n_live;
    uint64_t every, from; /* 0: never */
} memory;

typedef union block {
    size_t size;
    max_align_t align;
} block;

static void
release(void *ctx, void *old)
{
    memory *m = ctx;
    assert(old != NULL);
    m->n_live--;
    free((block *)old - 1);
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
    block *b = malloc(sizeof *b + size);
    if (b == NULL) {
        abort();
    }
    b->size = size;
    size_t kept = 0;
    if (old != NULL) {
        const block *was = (const block *)old - 1;
        kept = was->size < size ? was->size : size;
        memcpy(b + 1, old, kept);
    }
    if (size < LARGE) {
        memset((uint8_t *)(b + 1) + kept, 0xa5, size - kept); /* unset fields show */
    }
    m->n_live++;
    if (old != NULL) {
        release(ctx, old);
    }
    return b + 1;
}

/* ---- The world ---- */

typedef struct world {
    memory memory;
    roce_tracker *tracker;
    uint64_t link_speed_bps;
    uint64_t now_ns, first_ns, last_ns;
    uint64_t n_frames, n_added;
    uint16_t ident[HOSTS];
    uint32_t psn[HOSTS][HOSTS][QPNS]; /* next of requests */
    uint8_t frame[MAX_FRAME];
    uint32_t n, captured;
    uint32_t point;
    roce_icrc_status icrc;
} world;

static uint64_t
link_speed(void *ctx, uint32_t point)
{
    const world *w = ctx;
    return point == 2 ? 0 : w->link_speed_bps;
}

static bool
is_pause(roce_event_kind kind)
{
    return kind == ROCE_EVENT_PAUSE_XOFF || kind == ROCE_EVENT_PAUSE_REFRESH ||
           kind == ROCE_EVENT_PAUSE_XON || kind == ROCE_EVENT_PAUSE_EXPIRED;
}

static void
check_detail(const world *w, const roce_event *e)
{
    if (e->kind == ROCE_EVENT_RETRANSMISSION || e->kind == ROCE_EVENT_ROUND ||
        e->kind == ROCE_EVENT_SPURIOUS_ROUND) {
        assert(e->detail < ROCE_N_CAUSES);
        assert(roce_cause_name((roce_cause)e->detail) != NULL);
    } else if (e->kind == ROCE_EVENT_LOSS || e->kind == ROCE_EVENT_LOSS_WITHDRAWN) {
        assert(e->detail < ROCE_N_VERDICTS);
        assert(roce_verdict_name((roce_verdict)e->detail) != NULL);
    } else if (e->kind == ROCE_EVENT_CONNECTED) {
        assert(e->detail <= ROCE_PAIRING_CM);
        assert(roce_pairing_name((roce_pairing)e->detail) != NULL);
        assert(e->count < roce_tracker_n_streams(w->tracker) && e->count != e->stream);
    } else if (e->kind == ROCE_EVENT_EVICTED) {
        assert(e->detail < ROCE_N_TABLES);
        assert(roce_table_name((roce_table)e->detail) != NULL);
    } else if (e->kind == ROCE_EVENT_ECN_TRANSITION) {
        assert(e->detail < 16 && e->detail >> 2 != (e->detail & 3));
    } else if (is_pause(e->kind)) {
        assert(e->detail <= ROCE_PRIORITY_GLOBAL);
    }
}

static void
take_event(void *ctx, const roce_event *e)
{
    const world *w = ctx;
    assert(e->kind < ROCE_N_EVENTS && roce_event_kind_name(e->kind) != NULL);
    assert(e->space < ROCE_N_SPACES);
    assert(e->evidence < ROCE_N_EVIDENCES && roce_evidence_name(e->evidence) != NULL);
    assert(e->stream == ROCE_NO_STREAM ||
           e->stream < roce_tracker_n_streams(w->tracker));
    assert(e->frame <= w->n_frames && e->related_frame <= w->n_frames);
    assert(e->point < 3);
    assert(e->psn == ROCE_NO_PSN ||
           (e->psn > -(INT64_C(1) << 40) && e->psn < (INT64_C(1) << 40)));
    assert(e->count < SANE);
    if (!is_pause(e->kind)) {
        /* RNR NAKs ask for up to 655 ms; nothing else is longer than the capture. */
        assert(e->duration_ns <= w->last_ns - w->first_ns + 655360000);
        assert(e->time_ns >= w->first_ns && e->time_ns <= w->last_ns);
    }
    check_detail(w, e);
}

/* ---- Frames ---- */

static void
put(world *w, unsigned n_bytes, uint64_t value)
{
    for (unsigned i = n_bytes; i > 0; i--) {
        assert(w->n < MAX_FRAME);
        w->frame[w->n++] = (uint8_t)(value >> (8 * (i - 1)));
    }
}

static void
put_filler(world *w, uint32_t n, uint8_t value)
{
    assert(n <= MAX_FRAME - w->n);
    memset(w->frame + w->n, value, n);
    w->n += n;
}

/* MACs, IPv4 and UDP before `n` bytes. */
static void
begin_frame(world *w, unsigned from, unsigned to, uint8_t traffic_class, uint16_t ident,
            uint32_t n)
{
    w->n = 0;
    put(w, 6, UINT64_C(0x020000000000) + to);
    put(w, 6, UINT64_C(0x020000000000) + from);
    put(w, 2, 0x0800);
    put(w, 1, 0x45);
    put(w, 1, traffic_class);
    put(w, 2, 28 + n);
    put(w, 2, ident);
    put(w, 4, 0x40004011);
    put(w, 2, 0);
    put(w, 4, UINT64_C(0x0a000000) + from);
    put(w, 4, UINT64_C(0x0a000000) + to);
    put(w, 2, 0xc000);
    put(w, 2, ROCE_UDP_PORT);
    put(w, 2, 8 + n);
    put(w, 2, 0);
}

/* The step's own bits. */
typedef struct step {
    uint8_t what, who, psn, flags, value, wait;
} step;

/* READs of 0 bytes up to 2 GiB. */
static uint32_t
read_length(uint8_t value)
{
    return value < 0xe0 ? (uint32_t)value * 256 : (uint32_t)1 << (value & 0x1f);
}

static void
put_header(world *w, roce_header header, const step *s)
{
    switch (header) {
    case ROCE_HEADER_RETH:
        put(w, 8, 0x7f0000001000 + (uint64_t)s->value);
        put(w, 4, 0x100);
        put(w, 4, read_length(s->value));
        break;
    case ROCE_HEADER_AETH:
        put(w, 1, s->value);
        put(w, 3, s->psn);
        break;
    case ROCE_HEADER_DETH:
        put(w, 4, 0x80010000);
        put(w, 4, s->who & 3);
        break;
    case ROCE_HEADER_RDETH:
    case ROCE_HEADER_XRCETH:
    case ROCE_HEADER_FETH:
    case ROCE_HEADER_ATOMICETH:
    case ROCE_HEADER_ATOMICACK:
    case ROCE_HEADER_IMMDT:
    case ROCE_HEADER_IETH:
    case ROCE_HEADER_CNP:
        put_filler(w, roce_header_size(header), 0);
        break;
    }
}

static uint32_t
headers_size(uint16_t headers)
{
    uint32_t size = 0;
    for (unsigned i = 0; i < ROCE_N_HEADERS; i++) {
        size += (headers & 1u << i) != 0 ? roce_header_size((roce_header)(1u << i)) : 0;
    }
    return size;
}

static bool
has_payload(const roce_opcode_info *info)
{
    return info->role == ROCE_ROLE_SEND || info->role == ROCE_ROLE_WRITE ||
           info->role == ROCE_ROLE_READ_RESPONSE || info->role == ROCE_ROLE_UNKNOWN;
}

/* One in four goes on, one in four repeats, the others lie around what is next. */
static uint32_t
choose_psn(uint32_t *next, uint8_t psn)
{
    uint32_t chosen = *next;
    if (psn >= 0xf8) {
        chosen += UINT32_C(0x200000) << (psn & 3); /* far away, up to half the space */
    } else if (psn >= 0x40) {
        chosen += (uint32_t)(psn & 0x3f) - 0x20;
    }
    if (psn < 0x80) {
        *next = chosen + 1;
    }
    return chosen & 0xffffff;
}

static uint16_t
choose_ident(world *w, unsigned from, uint8_t flags)
{
    unsigned how = flags >> 2 & 3;
    if (from == HOSTS - 1) {
        return 0; /* as hosts that never fragment may */
    }
    if (how == 3) {
        return (uint16_t)(w->ident[from] - 3); /* an earlier one */
    }
    return how == 2 ? 0 : ++w->ident[from];
}

/* `who`: from (bits 0-1), to (2-3), QP (4-5), point (6-7).  `flags`: ECN (0-1),
 * identification (2-3), ICRC (4-5), cut short (6), AckReq (7). */
static void
make_roce(world *w, const step *s, uint8_t opcode)
{
    const roce_opcode_info *info = roce_opcode_get(opcode);
    unsigned from = s->who & 3;
    unsigned to = s->who >> 2 & 3;
    unsigned qp = s->who >> 4 & 3;
    bool request = roce_role_is_request(info->role);
    uint32_t *next = request ? &w->psn[from][to][qp] : &w->psn[to][from][qp];
    uint32_t psn = choose_psn(next, s->psn);
    static const uint16_t sizes[] = {0, 4, 256, 512, 1024, 1024, 1024, 4096};
    uint32_t payload = has_payload(info) ? sizes[s->value & 7] : 0;
    uint32_t n = 12 + headers_size(info->headers) + payload + 4;
    uint16_t ident = choose_ident(w, from, s->flags);
    begin_frame(w, from, to, (uint8_t)(0x68 | (s->flags & 3)), ident, n);
    put(w, 1, opcode);
    put(w, 1, 0x40);
    put(w, 2, 0xffff);
    put(w, 4, 0x10 + qp);
    put(w, 1, (s->flags & 0x80) != 0 ? 0x80 : 0);
    put(w, 3, psn);
    for (unsigned i = 0; i < ROCE_N_HEADERS; i++) {
        if ((info->headers & 1u << i) != 0) {
            put_header(w, (roce_header)(1u << i), s);
        }
    }
    put_filler(w, payload, s->value);
    put(w, 4, ident * UINT64_C(2654435761) ^ psn ^ (uint64_t)opcode << 24);
    w->captured = w->n;
    if ((s->flags & 0x40) != 0) {
        uint32_t cut = 42 + (uint32_t)(s->value & 0x3f);
        w->captured = cut < w->n ? cut : w->n;
    }
    static const roce_icrc_status statuses[] = {ROCE_ICRC_GOOD, ROCE_ICRC_GOOD,
                                                ROCE_ICRC_UNCHECKED, ROCE_ICRC_BAD};
    w->icrc = statuses[s->flags >> 4 & 3];
}

/* A CM message: `psn` says which, the identifiers come from `who` and `value`. */
static void
make_cm(world *w, const step *s)
{
    unsigned from = s->who & 3;
    unsigned to = s->who >> 2 & 3;
    begin_frame(w, from, to, 0, choose_ident(w, from, s->flags), 12 + 8 + 256 + 4);
    put(w, 5, UINT64_C(0x6440ffff00));
    put(w, 3, 1);
    put(w, 4, s->psn);
    put(w, 8, UINT64_C(0x8001000000000001));
    put(w, 8, UINT64_C(0x0107020300000000));
    put(w, 8, s->value & 3); /* transaction */
    put(w, 2, 0x0010u + s->psn % 9);
    put(w, 6, 0);
    uint32_t at = w->n;
    put(w, 4, s->value & 3);      /* local id */
    put(w, 4, s->value >> 2 & 3); /* remote id */
    put_filler(w, 232 - 8, s->flags);
    unsigned qp = s->who >> 4 & 3;
    static const uint8_t qpn_at[9] = {32, 0, 0, 12, 0, 8, 0, 0, 8};
    w->frame[at + qpn_at[s->psn % 9]] = 0;
    w->frame[at + qpn_at[s->psn % 9] + 1] = 0;
    w->frame[at + qpn_at[s->psn % 9] + 2] = (uint8_t)(0x10 + qp);
    put(w, 4, 0);
    w->captured = w->n;
    w->icrc = ROCE_ICRC_UNCHECKED;
}

static void
make_pause(world *w, const step *s)
{
    w->n = 0;
    put(w, 6, UINT64_C(0x0180c2000001));
    put(w, 6, UINT64_C(0x020000000000) + (s->who & 3));
    put(w, 2, ROCE_ETHERTYPE_MAC_CONTROL);
    put(w, 2, (s->flags & 1) != 0 ? 0x0101 : 0x0001);
    put(w, 2, s->psn);
    for (unsigned i = 0; i < 8; i++) {
        put(w, 2, (s->flags >> 1 & i) == 0 ? (uint64_t)s->value << (i & 7) : 0);
    }
    put_filler(w, 26, 0);
    w->captured = w->n;
    w->icrc = ROCE_ICRC_UNCHECKED;
}

/* Hands the frame in, out of memory that ends where what was captured does. */
static void
add_frame(world *w)
{
    uint8_t *bytes = malloc(w->captured);
    if (bytes == NULL) {
        abort();
    }
    memcpy(bytes, w->frame, w->captured);
    const roce_frame frame = {
        .bytes = bytes,
        .captured_bytes = w->captured,
        .wire_bytes = w->n,
        .time_ns = w->now_ns,
        .number = ++w->n_frames,
        .point = w->point,
        .link = ROCE_LINK_ETHERNET,
        .direction = (roce_direction)(w->now_ns >> 8 & 1),
    };
    roce_ports ports;
    roce_ports_init(&ports);
    roce_packet packet;
    roce_decode(&frame, &ports, &packet);
    roce_icrc_status icrc = w->icrc;
    if (packet.end_offset > w->captured && icrc != ROCE_ICRC_UNCHECKED) {
        icrc = ROCE_ICRC_TRUNCATED;
    }
    int result = roce_tracker_add(w->tracker, &frame, &packet, icrc);
    free(bytes);
    w->n_added++;
    assert(result == ROCE_OK || result == ROCE_ERROR_MEMORY);
    uint32_t stream = roce_tracker_last_stream(w->tracker);
    assert(stream == ROCE_NO_STREAM || stream < roce_tracker_n_streams(w->tracker));
}

/* Time goes on by 2^n ns, up to half a second, or steps back. */
static void
wait(world *w, uint8_t wait)
{
    uint64_t step_ns = UINT64_C(1) << (wait & 0x1f) % 30;
    if ((wait & 0xe0) != 0xe0) {
        w->now_ns += step_ns;
    } else if (w->now_ns - START_NS > step_ns) {
        w->now_ns -= step_ns;
    }
    w->first_ns = w->now_ns < w->first_ns ? w->now_ns : w->first_ns;
    w->last_ns = w->now_ns > w->last_ns ? w->now_ns : w->last_ns;
}

static void
take_step(world *w, const step *s)
{
    static const uint8_t common[] = {
        0x00, 0x01, 0x02, 0x04, 0x06, 0x07, 0x08, 0x0a, 0x0c, 0x0d, 0x0e,
        0x0f, 0x10, 0x11, 0x11, 0x11, 0x12, 0x13, 0x1c, 0x1d, 0x81, 0x64,
    };
    wait(w, s->wait);
    unsigned point = s->who >> 6;
    w->point = point == 3 ? 0 : point; /* point 0 more often */
    if (s->what >= 0xf8 && w->n > 0) {
        add_frame(w); /* the same again */
        return;
    }
    if (s->what >= 0xf0) {
        make_pause(w, s);
    } else if (s->what >= 0xe0) {
        make_cm(w, s);
    } else if (s->what == 0xdf) {
        const roce_addr a = {.bytes = {10, 0, 0, s->who & 3}, .family = 4};
        const roce_addr b = {.bytes = {10, 0, 0, s->who >> 2 & 3}, .family = 4};
        const roce_addr host[2] = {a, b};
        uint32_t lqpn = 0x10u + (s->value & 3);
        uint32_t rqpn = 0x10u + (s->value >> 2 & 3);
        int result = (s->value & 0x80) != 0
                         ? roce_tracker_add_queue_pair(
                               w->tracker, host, 1 + (s->value >> 6 & 1), lqpn, rqpn)
                         : roce_tracker_add_pair(w->tracker, &a, lqpn, &b, rqpn);
        assert(result == ROCE_OK || result == ROCE_ERROR_MEMORY ||
               result == ROCE_ERROR_INVALID);
        return;
    } else if (s->what >= 0xc0) {
        make_roce(w, s, s->psn); /* any opcode */
    } else {
        make_roce(w, s, common[s->what % sizeof common]);
    }
    add_frame(w);
}

/* ---- What is said at the end ---- */

static void
check_space(const roce_stream *s, roce_space space)
{
    const roce_space_counters *c = &s->space[space];
    const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
    const roce_disorder_counters *d = &trouble->disorder[space];
    assert(c->packets <= s->packets && d->duplicates <= c->packets);
    assert(d->gaps < SANE &&
           d->reordered <= c->packets); /* a request opens gaps, too */
    assert(d->resent <= c->packets && d->capture_repeats <= c->packets);
    assert(d->missing_psns < SANE && c->unique_psns < SANE);
    for (unsigned v = 0; v < ROCE_N_VERDICTS; v++) {
        assert(trouble->losses[space][v] < SANE);
    }
}

static uint64_t
samples(const roce_stream *s, roce_latency latency)
{
    const roce_histogram *h = roce_stream_latency(s, latency);
    return h != NULL ? h->count : 0;
}

static void
check_latencies(const world *w, const roce_stream *s)
{
    for (unsigned i = 0; i < ROCE_N_LATENCIES; i++) {
        const roce_histogram *h = roce_stream_latency(s, (roce_latency)i);
        if (h == NULL) {
            continue;
        }
        assert(roce_stream_is_paired(s));
        assert(h->count > 0 && h->count <= w->n_frames && h->unplaced <= h->count);
        assert(h->min_ns <= h->max_ns && h->max_ns <= w->last_ns - w->first_ns);
        assert(roce_histogram_quantile(h, 500) <= roce_histogram_quantile(h, 990));
        assert(roce_histogram_mean(h) >= h->min_ns);
        assert(roce_histogram_stddev(h) <= h->max_ns - h->min_ns);
    }
    const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
    assert(samples(s, ROCE_LATENCY_NAK_GENERATION) <=
           trouble->naks_received[ROCE_NAKS_PSN_SEQUENCE]);
    assert(samples(s, ROCE_LATENCY_NAK_REACTION) <= trouble->retransmissions.rounds);
    assert(samples(s, ROCE_LATENCY_RECOVERY) <= trouble->retransmissions.rounds);
}

static void
check_stream(const world *w, uint32_t id)
{
    const roce_stream *s = roce_tracker_stream(w->tracker, id);
    assert(s->id == id && s->point < 3);
    check_latencies(w, s);
    assert(s->first_time_ns <= s->last_time_ns);
    assert(roce_vantage_name(s->vantage) != NULL);
    assert(roce_recovery_name(s->recovery) != NULL);
    assert(roce_transport_name(s->transport) != NULL);
    assert(s->n_udp_src_ports <= ROCE_STREAM_PORTS && s->n_vlans <= ROCE_STREAM_VLANS);
    assert(s->n_opcodes <= ROCE_STREAM_OPCODES && s->n_other_opcodes < 256);
    assert(roce_stream_is_paired(s) == (s->peer != ROCE_NO_STREAM));
    if (s->peer != ROCE_NO_STREAM) {
        assert(s->peer < roce_tracker_n_streams(w->tracker));
        assert(roce_tracker_stream(w->tracker, s->peer)->peer == id);
    }
    assert(s->connection == ROCE_NO_STREAM ||
           s->connection < roce_tracker_n_connections(w->tracker));
    const roce_retransmission_counters *r = &roce_stream_trouble_of(s)->retransmissions;
    uint64_t rounds = 0;
    for (unsigned cause = 0; cause < ROCE_N_CAUSES; cause++) {
        rounds += r->by_cause[cause];
    }
    assert(rounds == r->rounds && r->spurious_rounds <= r->rounds);
    assert(r->packets <= s->packets && r->bytes <= s->payload_bytes);
    const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
    assert(trouble->icrc_bad <= s->icrc_checked);
    assert(trouble->naks_sent[0] <= s->packets);
    assert(s->messages_completed <= s->packets && s->message_bytes < SANE);
    check_space(s, ROCE_SPACE_REQUESTS);
    check_space(s, ROCE_SPACE_RESPONSES);
}

static void
check_totals(const world *w)
{
    const roce_tracker_totals *n = roce_tracker_totals_get(w->tracker);
    assert(n->roce_packets + n->pfc_frames + n->pause_frames + n->other_packets +
               n->not_ib_on_roce_port + n->fragments ==
           w->n_added);
    uint64_t packets = 0;
    for (uint32_t i = 0; i < roce_tracker_n_streams(w->tracker); i++) {
        check_stream(w, i);
        packets += roce_tracker_stream(w->tracker, i)->packets;
    }
    assert(packets <= n->roce_packets);
    for (uint32_t i = 0; i < roce_tracker_n_pauses(w->tracker); i++) {
        const roce_pause_source *p = roce_tracker_pause(w->tracker, i);
        assert(p->longest_ns <= p->total_ns && p->priority <= ROCE_PRIORITY_GLOBAL);
        assert(p->total_ns <= w->last_ns - w->first_ns);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < SETTINGS) {
        return 0;
    }
    static const uint32_t streams[] = {1, 3, 16, 1000};
    static const uint32_t history[] = {64, 64, 128, 100};
    static const uint64_t delays[] = {0, 1000, 1000000, UINT64_C(1000000000)};
    static const uint64_t speeds[] = {0, 1, UINT64_C(100000000000),
                                      UINT64_C(1000000000)};
    static world w; /* too large for a stack */
    memset(&w, 0, sizeof w);
    w.now_ns = w.first_ns = w.last_ns = START_NS;
    w.link_speed_bps = speeds[data[0] >> 6];
    w.memory.every = data[1] < 128 ? data[1] : 0;
    w.memory.from = data[1] < 128 ? 0 : UINT64_C(8) * (data[1] - 128u);
    roce_tracker_config config;
    roce_tracker_config_init(&config);
    config.max_streams = streams[data[0] & 3];
    config.max_history_packets = history[data[0] >> 2 & 3];
    config.ce_episode_pause_ns = config.path_delay_ns = delays[data[0] >> 4 & 3];
    config.link_speed_bps = link_speed;
    config.event = take_event;
    config.ctx = &w;
    const roce_alloc alloc = {.resize = resize, .release = release, .ctx = &w.memory};
    if (roce_tracker_new(&w.tracker, &alloc, &config) == ROCE_OK) {
        size_t n_steps = (size - SETTINGS) / STEP;
        for (size_t i = 0; i < n_steps && i < MAX_STEPS; i++) {
            step s;
            memcpy(&s, data + SETTINGS + i * STEP, sizeof s);
            take_step(&w, &s);
        }
        assert(roce_tracker_n_streams(w.tracker) <= config.max_streams);
        roce_tracker_finish(w.tracker);
        check_totals(&w);
        roce_tracker_free(w.tracker);
    }
    assert(w.memory.n_live == 0);
    return 0;
}
