/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets for tests of watchers: of streams from several hosts to one, and of few fields.
 *
 * The one rule: nothing of a packet matters here but what is set; the order of calls is
 * that of the capture.
 */
#ifndef SIGHT_MAKER_H
#define SIGHT_MAKER_H

#include "sight.h"

#include "check.h"

#define N_ROWS(rows) (sizeof(rows) / sizeof(rows)[0])
#define MOST_STREAMS 8
#define START_NS (UINT64_C(1795000000) * 1000000000)

#define RC_SEND_ONLY 0x04
#define RC_WRITE_ONLY 0x0a

/* Stream i goes from host i + 1 to host 100.  A packet of 100 bytes has PSNs in order
 * unless its sighting says otherwise. */
typedef struct sight_maker {
    roce_stream streams[MOST_STREAMS];
    roce_stream_trouble troubles[MOST_STREAMS];
    roce_stream_congestion congestions[MOST_STREAMS];
    roce_frame frame;
    roce_packet packet;
    roce_sighting sighting;
    rs_sight sight;
    uint64_t n_frames;
} sight_maker;

static inline roce_addr
host_addr(uint8_t number)
{
    return (roce_addr){.bytes = {10, 0, 0, number}, .family = 4};
}

static inline void
sight_maker_init(sight_maker *m)
{
    *m = (sight_maker){0};
    for (uint8_t i = 0; i < MOST_STREAMS; i++) {
        m->streams[i] = (roce_stream){
            .trouble = &m->troubles[i],
            .congestion = &m->congestions[i],
            .id = i,
            .src = host_addr((uint8_t)(i + 1)),
            .dst = host_addr(100),
            .dst_qpn = 0x100u + i,
        };
    }
}

/* The next packet of a stream, `at_ns` after the start. */
static inline rs_sight *
make_sight(sight_maker *m, unsigned stream, uint64_t at_ns)
{
    roce_stream *s = &m->streams[stream];
    m->frame = (roce_frame){
        .wire_bytes = 158, /* Ethernet, IPv4, UDP, BTH, 100 bytes, ICRC */
        .time_ns = START_NS + at_ns,
        .number = ++m->n_frames,
    };
    m->packet = (roce_packet){
        .kind = ROCE_CLASS_ROCE,
        .has_macs = true,
        .hop_limit = 64,
        .src = s->src,
        .dst = s->dst,
        .has_bth = true,
        .bth = {.opcode = RC_SEND_ONLY},
        .payload_bytes = 100,
    };
    m->sighting = (roce_sighting){
        .stream = s->id,
        .sequenced = true,
        .space = ROCE_SPACE_REQUESTS,
        .psn = (int64_t)s->packets,
        .span = 1,
    };
    s->packets++;
    s->last_frame = m->frame.number;
    m->sight = (rs_sight){
        .frame = &m->frame,
        .packet = &m->packet,
        .stream = s,
        .sighting = &m->sighting,
    };
    rs_sight_complete(&m->sight);
    return &m->sight;
}

#endif
