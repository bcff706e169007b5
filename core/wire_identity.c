/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire_identity.h"

#include "roce/wire_identity.h"

#include <string.h>

#define IPV4_HEADER 20u
#define IPV6_HEADER 40u
#define ICRC_BYTES 4u
#define STRANGER_BYTES 64u /* of what is not RoCE: its ports, numbers, checksum */

static uint32_t
least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint64_t
hash_roce(uint64_t h, const roce_packet *p)
{
    const roce_wire_numbers numbers = {
        .udp_length = p->udp_length,
        .psn24 = p->bth.psn24,
        .dest_qpn = p->bth.dest_qpn,
        .src_port = p->src_port,
        .opcode = p->bth.opcode,
        .ack_request = p->bth.ack_request,
    };
    return roce_wire_hash_numbers(h, &numbers);
}

/* One beyond the packet in the frame: links pad short frames, each to its own length.
 * A packet that offloading has built may be too long to say how long it is. */
static uint32_t
packet_end(const roce_frame *frame, const roce_packet *p)
{
    bool is_ipv4 = p->src.family == 4;
    const uint8_t *length = frame->bytes + p->ip_offset + (is_ipv4 ? 2 : 4);
    uint32_t bytes = (uint32_t)(length[0] << 8 | length[1]);
    return bytes == 0 ? frame->captured_bytes
                      : p->ip_offset + bytes + (is_ipv4 ? 0 : IPV6_HEADER);
}

static uint64_t
hash_stranger(uint64_t h, const roce_frame *frame, const roce_packet *p)
{
    uint32_t at = p->ip_offset + (p->src.family == 4 ? IPV4_HEADER : IPV6_HEADER);
    uint32_t end = least(frame->captured_bytes, packet_end(frame, p));
    end = least(end, at + STRANGER_BYTES);
    h = roce_hash_mix(h, p->ip_protocol);
    for (; at + sizeof(uint64_t) <= end; at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, frame->bytes + at, sizeof word);
        h = roce_hash_mix(h, word);
    }
    return h;
}

bool
roce_wire_identity_of(const roce_frame *frame, const roce_packet *p,
                      roce_wire_identity *identity)
{
    if (p->src.family == 0) {
        return false;
    }
    *identity = (roce_wire_identity){0};
    uint64_t h = roce_wire_hash_ends(p->ipv4_ident, &p->src, &p->dst);
    if (p->has_bth) {
        h = hash_roce(h, p);
        if (roce_packet_has_icrc(p, frame->captured_bytes)) {
            identity->has_icrc = true;
            memcpy(&identity->icrc, frame->bytes + p->end_offset - ICRC_BYTES,
                   sizeof identity->icrc);
        }
    } else {
        h = hash_stranger(h, frame, p);
    }
    identity->narrow = roce_wire_narrow(h);
    return true;
}
