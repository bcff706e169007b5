/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets for tests of what looks at capture points: of two hosts, and of few fields.
 *
 * The one rule: nothing of a packet matters here but what is set.
 */
#ifndef SURVEY_MAKER_H
#define SURVEY_MAKER_H

#include "check.h"
#include "failing_alloc.h"

#include "roce/decode.h"

#define N_ROWS(rows) (sizeof(rows) / sizeof(rows)[0])
#define MAX_POINTS 4

#define RC_WRITE_ONLY 0x0a
#define RC_ACKNOWLEDGE 0x11
#define UC_WRITE_ONLY 0x2a
#define CNP 0x81

/* Of two hosts that have one queue pair each, one sends to the other. */
typedef enum host {
    HOST_1,
    HOST_2,
} host;

static inline roce_packet
packet_from(host from, uint8_t opcode, uint32_t psn24, uint16_t ipv4_ident)
{
    return (roce_packet){
        .outcome = ROCE_DECODED,
        .kind = ROCE_CLASS_ROCE,
        .src = {.bytes = {10, 0, 0, from == HOST_1 ? 1 : 2}, .family = 4},
        .dst = {.bytes = {10, 0, 0, from == HOST_1 ? 2 : 1}, .family = 4},
        .ipv4_ident = ipv4_ident,
        .src_port = 49152,
        .dst_port = ROCE_UDP_PORT,
        .udp_length = 24,
        .has_bth = true,
        .transport = roce_opcode_get(opcode)->transport,
        .bth = {.opcode = opcode,
                .dest_qpn = from == HOST_1 ? 0x22 : 0x11,
                .psn24 = psn24},
        .aeth_syndrome = 0x1f, /* an ACK, not a NAK */
    };
}

#endif
