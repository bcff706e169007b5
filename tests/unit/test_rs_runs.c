/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets in runs are told as they would be without: of each stream in order, and summed
 * up alike. */
#include "runs.h"

#include "sight_maker.h"

#include <string.h>

#define STREAMS 5
#define PACKETS 4000
#define KINDS 16

/* What one packet was. */
typedef struct told {
    guint64 time_ns, frame;
    gint64 psn;
    guint64 address;
    guint32 payload_bytes, udp_bytes, psn24;
    rs_counted counted;
    guint8 opcode, traffic_class;
} told;

typedef struct sum {
    guint64 n, payload_bytes, wire_bytes, newest_frame;
} sum;

typedef struct listener {
    GArray *steps[STREAMS]; /* told */
    sum sums[STREAMS][KINDS];
} listener;

static told
tell_of(const rs_sight *sight)
{
    return (told){
        .time_ns = sight->frame->time_ns,
        .frame = sight->frame->number,
        .psn = sight->sighting->psn,
        .address = sight->packet->reth.address,
        .payload_bytes = sight->packet->payload_bytes,
        .udp_bytes = sight->packet->udp_length,
        .psn24 = sight->packet->bth.psn24,
        .counted = sight->counted,
        .opcode = sight->packet->bth.opcode,
        .traffic_class = sight->packet->traffic_class,
    };
}

static void
take_step(gpointer ctx, const rs_sight *sight)
{
    listener *l = ctx;
    const told one = tell_of(sight);
    CHECK_INT(sight->n, 1);
    g_array_append_val(l->steps[sight->stream->id], one);
}

static void
take_count(gpointer ctx, const rs_sight *sight)
{
    listener *l = ctx;
    gboolean is_other = sight->packet->src_port == 4791;
    guint kind = sight->packet->traffic_class + (is_other ? 8u : 0u);
    sum *s = &l->sums[sight->stream->id][kind];
    s->n += sight->n;
    s->payload_bytes += sight->payload_bytes;
    s->wire_bytes += sight->wire_bytes;
    s->newest_frame = MAX(s->newest_frame, sight->frame->number);
}

static void
listener_init(listener *l)
{
    *l = (listener){0};
    for (guint i = 0; i < STREAMS; i++) {
        l->steps[i] = g_array_new(FALSE, TRUE, sizeof(told));
    }
}

static void
listener_clear(listener *l)
{
    for (guint i = 0; i < STREAMS; i++) {
        g_array_unref(l->steps[i]);
    }
}

/* As the watchers do; whether it joined a run. */
static gboolean
take_packet(rs_runs *runs, listener *l, const rs_sight *sight)
{
    gboolean joined = rs_runs_join(runs, sight);
    if (!joined) {
        take_step(l, sight);
        take_count(l, sight);
        rs_runs_begin(runs, sight);
    }
    return joined;
}

/* A packet of some stream: most are like the one before, some are not, in this or that. */
static rs_sight *
next_sight(sight_maker *m, GRand *random, guint i)
{
    static const guint8 opcodes[] = {0x06, 0x07, 0x07, 0x07, 0x08, 0x0a};
    guint stream = (guint)g_rand_int_range(random, 0, STREAMS);
    rs_sight *sight = make_sight(m, stream, 100 * (guint64)i);
    roce_stream *s = &m->streams[stream];
    gboolean odd = g_rand_int_range(random, 0, 20) == 0;
    m->packet.bth.opcode = opcodes[g_rand_int_range(random, 0, (gint32)sizeof opcodes)];
    m->packet.bth.psn24 = (uint32_t)m->sighting.psn & 0xffffff;
    m->packet.headers = m->packet.bth.opcode == 0x0a ? ROCE_HEADER_RETH : 0;
    m->packet.reth.address = m->packet.headers != 0 ? 0x1000 + i : 0;
    m->packet.payload_bytes = (uint32_t)g_rand_int_range(random, 1, 1024);
    m->packet.udp_length = m->packet.payload_bytes + 24;
    m->packet.traffic_class = odd ? (uint8_t)g_rand_int_range(random, 0, 8) : 2;
    m->packet.src_port = g_rand_int_range(random, 0, 20) == 0 ? 4791 : 50000;
    m->frame.wire_bytes = m->packet.payload_bytes + 58;
    s->ecn.codepoint[roce_packet_ecn(&m->packet)]++;
    s->trouble->retransmissions.packets += g_rand_int_range(random, 0, 40) == 0 ? 1 : 0;
    s->congestion->cnps_sent += g_rand_int_range(random, 0, 80) == 0 ? 1 : 0;
    rs_sight_complete(sight);
    return sight;
}

static gboolean
same_steps(const GArray *a, const GArray *b)
{
    for (guint i = 0; i < MIN(a->len, b->len); i++) {
        const told *x = &g_array_index(a, told, i);
        const told *y = &g_array_index(b, told, i);
        if (x->time_ns != y->time_ns || x->frame != y->frame || x->psn != y->psn ||
            x->address != y->address || x->payload_bytes != y->payload_bytes ||
            x->udp_bytes != y->udp_bytes || x->psn24 != y->psn24 ||
            x->opcode != y->opcode || x->traffic_class != y->traffic_class ||
            memcmp(&x->counted, &y->counted, sizeof x->counted) != 0) {
            return FALSE;
        }
    }
    return a->len == b->len;
}

static void
check_same(const listener *a, const listener *b)
{
    for (guint i = 0; i < STREAMS; i++) {
        CHECK(same_steps(a->steps[i], b->steps[i]));
        CHECK(memcmp(a->sums[i], b->sums[i], sizeof a->sums[i]) == 0);
    }
}

static void
check_random(guint32 seed)
{
    listener alone, in_runs;
    listener_init(&alone);
    listener_init(&in_runs);
    const rs_runs_listener told_to = {
        .step = take_step, .count = take_count, .ctx = &in_runs};
    rs_runs *runs = rs_runs_new(&told_to);
    g_autoptr(GRand) random = g_rand_new_with_seed(seed);
    sight_maker m;
    sight_maker_init(&m);
    guint waiting = 0;
    guint at_once = 0;
    for (guint i = 0; i < PACKETS; i++) {
        const rs_sight *sight = next_sight(&m, random, i);
        take_step(&alone, sight);
        take_count(&alone, sight);
        guint before = in_runs.steps[sight->stream->id]->len;
        gboolean joined = take_packet(runs, &in_runs, sight);
        gboolean waits = in_runs.steps[sight->stream->id]->len == before;
        waiting += waits ? 1 : 0;
        at_once += joined && !waits && sight->stream->id == 0 ? 1 : 0;
        /* Of one stream packets rarely wait together, and are told at once. */
        gint32 seldom = sight->stream->id == 0 ? 2 : 100;
        if (g_rand_int_range(random, 0, seldom) == 0) {
            rs_runs_tell_steps(runs, sight->stream->id);
        }
    }
    rs_runs_end(runs);
    CHECK(waiting > PACKETS / 2); /* else nothing was tried */
    CHECK(at_once > PACKETS / 50);
    check_same(&alone, &in_runs);
    rs_runs_free(runs);
    listener_clear(&alone);
    listener_clear(&in_runs);
}

int
main(void)
{
    for (guint32 seed = 1; seed <= 20; seed++) {
        check_random(seed);
    }
    return check_status();
}
