/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "checksum.h"

#include "walk.h"

#define IPV4_BYTES 20
#define LENGTH_AT 2
#define FRAGMENT_AT 6
#define FRAGMENT_BITS 0x3fffu /* more to come; offset */
#define UDP_BYTES 8

typedef enum standing {
    RIGHT,
    WRONG,
    UNKNOWN, /* it says nothing */
} standing;

static uint32_t
header_bytes(const uint8_t *ipv4)
{
    return (ipv4[0] & 0x0fu) * 4;
}

/* How far the ones' complement sum of a header is from all ones, to which that of a right one
 * comes (RFC 1071). */
static uint32_t
sum_over(const uint8_t *ipv4)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < header_bytes(ipv4); i += 2) {
        sum += roce_be16(ipv4 + i);
    }
    return sum % 0xffff;
}

bool
roce_checksum_is_right(const uint8_t *ipv4)
{
    return sum_over(ipv4) == 0;
}

/* The copy of a packet that a mirror takes while the switch marks it may have the mark and not
 * yet the checksum: then what is right belongs to ECT(0) or ECT(1), of which CE is one or two
 * more. */
static standing
standing_of(const uint8_t *ipv4)
{
    uint32_t over = sum_over(ipv4);
    if (over == 0) {
        return RIGHT;
    }
    return (ipv4[1] & 3) == ROCE_ECN_CE && over <= 2 ? UNKNOWN : WRONG;
}

/* The header, if it is one of IPv4 with a checksum, and `behind` bytes behind it were captured;
 * or NULL. */
static const uint8_t *
header_of(const roce_frame *frame, const roce_packet *p, uint32_t behind)
{
    if (p->src.family != 4 || p->ip_offset + IPV4_BYTES > frame->captured_bytes) {
        return NULL;
    }
    const uint8_t *ipv4 = frame->bytes + p->ip_offset;
    if (header_bytes(ipv4) < IPV4_BYTES ||
        p->ip_offset + header_bytes(ipv4) + behind > frame->captured_bytes ||
        roce_checksum_is_left_out(ipv4)) {
        return NULL;
    }
    return ipv4;
}

bool
roce_checksum_proves_damage(uint8_t *credits, const roce_frame *frame,
                            const roce_packet *packet)
{
    const uint8_t *ipv4 = header_of(frame, packet, UDP_BYTES);
    if (ipv4 == NULL) {
        return false;
    }
    standing of = standing_of(ipv4);
    bool is_proof = of == WRONG && *credits > 0;
    *credits = of == RIGHT ? ROCE_CHECKSUM_CREDITS : (uint8_t)(*credits - is_proof);
    return is_proof;
}

/* Whether a header is wrong, and right with another word in that place. */
static bool
is_right_with(const uint8_t *ipv4, uint32_t at, uint32_t word)
{
    uint32_t over = sum_over(ipv4);
    uint32_t without = over + 0xffff - roce_be16(ipv4 + at);
    return over != 0 && (without + word) % 0xffff == 0;
}

bool
roce_checksum_denies_fragment(const roce_frame *frame, const roce_packet *packet)
{
    const uint8_t *ipv4 = header_of(frame, packet, 0);
    return ipv4 != NULL &&
           is_right_with(ipv4, FRAGMENT_AT,
                         roce_be16(ipv4 + FRAGMENT_AT) & ~FRAGMENT_BITS);
}

bool
roce_checksum_denies_length(const roce_frame *frame, const roce_packet *packet)
{
    const uint8_t *ipv4 = header_of(frame, packet, UDP_BYTES);
    if (ipv4 == NULL || packet->ip_protocol != ROCE_PROTOCOL_UDP) {
        return false;
    }
    uint32_t header = header_bytes(ipv4);
    return is_right_with(ipv4, LENGTH_AT,
                         header + roce_be16(ipv4 + header + UDP_LENGTH_AT));
}
