/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a conversation between a few hosts: each step is one structurally valid
 * frame, most of them plausible in their place, and all of them free to come in any order
 * and at any time.
 *
 * The one rule: the same bytes make the same frames, for whatever looks at them: the
 * tracker alone, the whole analyzer, or Wireshark.
 *
 *   0  what    from 0xf8 the same frame again; 0xf0 pauses; 0xe0 CM; 0xdf the user tells
 *              of a pairing; 0xde LLDP or another stranger; 0xc0 the opcode that `psn`
 *              says; below, a common opcode
 *   1  who     from (bits 0-1), to (2-3), QP (4-5), point (6-7; 3 is 0)
 *   2  psn     beside the one that is due: see choose_psn()
 *   3  flags   ECN (0-1), identification (2-3), ICRC (4-5), cut short (6), AckReq (7)
 *   4  value   payload, length, syndrome, quanta: whatever the frame has room for
 *   5  wait    before it: see wait_for()
 *   6  net     around it (0-1: nothing, a VLAN tag, VXLAN, IPv6), which one (2-3), UDP
 *              source port (4-5), solicited event (6), FECN and BECN (7)
 */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include "roce/icrc.h"
#include "roce/packet.h"

#include <stddef.h>
#include <stdint.h>

#define TRAFFIC_STEP_BYTES 7
#define TRAFFIC_HOSTS 4
#define TRAFFIC_QPNS 4
#define TRAFFIC_POINTS 3
#define TRAFFIC_FIRST_QPN 0x10
#define TRAFFIC_MAX_FRAME 4608
#define TRAFFIC_START_NS UINT64_C(1700000000000000000)

typedef struct traffic_step {
    uint8_t what, who, psn, flags, value, wait, net;
} traffic_step;

typedef enum traffic_kind {
    TRAFFIC_NOTHING, /* there was no frame to repeat */
    TRAFFIC_FRAME,   /* `bytes` and what follows hold the next one */
    TRAFFIC_PAIRING, /* the user tells of one: traffic_pairing_of() */
} traffic_kind;

typedef struct traffic {
    uint8_t bytes[TRAFFIC_MAX_FRAME];
    uint32_t wire_bytes, captured_bytes;
    uint32_t point;
    uint64_t now_ns;
    roce_icrc_status icrc; /* what it is to be; the bytes have it once it is sealed */
    uint16_t ident[TRAFFIC_HOSTS];
    uint32_t psn[TRAFFIC_HOSTS][TRAFFIC_HOSTS][TRAFFIC_QPNS]; /* next of requests */
} traffic;

/* What the user tells: there, `lqpn` talks to `rqpn`. */
typedef struct traffic_pairing {
    roce_addr host[2];
    uint32_t lqpn, rqpn;
    uint8_t n_addrs;     /* of the one host: 1 or 2 */
    uint8_t is_by_table; /* a row of its table; else both hosts are named */
} traffic_pairing;

void
traffic_init(traffic *t);

/* A step from its bytes. */
traffic_step
traffic_read(const uint8_t bytes[TRAFFIC_STEP_BYTES]);

/* Takes a step. */
traffic_kind
traffic_take(traffic *t, const traffic_step *step);

traffic_pairing
traffic_pairing_of(const traffic_step *step);

/* Gives the newest frame the ICRC that it is to have: right, unless it is to be bad. */
void
traffic_seal(traffic *t);

/* The newest frame; its bytes are those of `t`.  The number is the caller's. */
roce_frame
traffic_frame(const traffic *t, uint64_t number);

/* A copy that ends where the bytes do, so that a sanitizer sees who reads beyond;
 * free(). */
uint8_t *
traffic_copy(const uint8_t *bytes, size_t n_bytes);

#endif
