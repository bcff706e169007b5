/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hash that wire identities go by.
 *
 * The one rule: whoever reads a packet with a BTH, and however, comes to the same hash.
 */
#ifndef ROCE_CORE_WIRE_IDENTITY_H
#define ROCE_CORE_WIRE_IDENTITY_H

#include "roce/hash.h"

#include <stdbool.h>
#include <stdint.h>

/* What such a packet is known by, beside its addresses and its identification. */
typedef struct roce_wire_numbers {
    uint32_t udp_length, psn24, dest_qpn;
    uint16_t src_port;
    uint8_t opcode;
    bool ack_request;
} roce_wire_numbers;

/* The addresses of a packet, with its IPv4 identification. */
static inline uint64_t
roce_wire_hash_ends(uint16_t ipv4_ident, const roce_addr *src, const roce_addr *dst)
{
    return roce_hash_addr(roce_hash_addr(ipv4_ident, src), dst);
}

/* Takes the rest in; `h` is what the function above says. */
static inline uint64_t
roce_wire_hash_numbers(uint64_t h, const roce_wire_numbers *n)
{
    h = roce_hash_mix(h, (uint64_t)n->udp_length << 32 | n->psn24);
    h = roce_hash_mix(h, (uint64_t)n->dest_qpn << 8 | n->opcode);
    return roce_hash_mix(h, (uint64_t)n->src_port << 1 | (n->ack_request ? 1 : 0));
}

/* 0 means that there is none. */
static inline uint64_t
roce_wire_narrow(uint64_t h)
{
    return h == 0 ? 1 : h;
}

#endif
