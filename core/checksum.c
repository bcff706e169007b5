/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "checksum.h"

#define IPV4_BYTES 20

typedef enum standing {
    RIGHT,
    WRONG,
    UNKNOWN, /* it says nothing */
} standing;

/* By how much the ones' complement sum of a header goes beyond all ones, which a right one
 * comes to (RFC 1071). */
static uint32_t
excess_of(const uint8_t *ipv4)
{
    uint32_t bytes = (ipv4[0] & 0x0fu) * 4;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < bytes; i += 2) {
        sum += roce_be16(ipv4 + i);
    }
    return sum % 0xffff;
}

bool
roce_checksum_is_right(const uint8_t *ipv4)
{
    return excess_of(ipv4) == 0;
}

/* The copy of a packet that a mirror takes while the switch marks it may have the mark and not
 * yet the checksum: then what is right belongs to ECT(0) or ECT(1), of which CE is one or two
 * more. */
static standing
standing_of(const uint8_t *ipv4)
{
    uint32_t over = excess_of(ipv4);
    if (over == 0) {
        return RIGHT;
    }
    return (ipv4[1] & 3) == ROCE_ECN_CE && over <= 2 ? UNKNOWN : WRONG;
}

static bool
has_checksum(const roce_frame *frame, const roce_packet *p)
{
    return p->src.family == 4 && !p->is_grh &&
           p->bth_offset >= p->ip_offset + IPV4_BYTES &&
           p->bth_offset <= frame->captured_bytes &&
           !roce_checksum_is_left_out(frame->bytes + p->ip_offset);
}

bool
roce_checksum_proves_damage(uint8_t *credits, const roce_frame *frame,
                            const roce_packet *packet)
{
    if (!has_checksum(frame, packet)) {
        return false;
    }
    standing of = standing_of(frame->bytes + packet->ip_offset);
    bool is_proof = of == WRONG && *credits > 0;
    *credits = of == RIGHT ? ROCE_CHECKSUM_CREDITS : (uint8_t)(*credits - is_proof);
    return is_proof;
}
