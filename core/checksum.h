/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checksum of the IPv4 header (RFC 791 3.1), for which hosts discard a packet before they
 * look at its ICRC.  It covers what the ICRC leaves to the network: type of service and time
 * to live.
 *
 * The one rule: it proves damage only where the same sender's was right before.  A sender that
 * leaves it to its hardware is captured with whatever stood there, and so is one whose
 * addresses were made anonymous afterwards.
 */
#ifndef ROCE_CORE_CHECKSUM_H
#define ROCE_CORE_CHECKSUM_H

#include "bytes.h"
#include "roce/packet.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Wrong ones, one after the other, that a right one vouches for. */
#define ROCE_CHECKSUM_CREDITS 3

/* Follows the header checksum of a sender's next packet, of ROCE_CLASS_ROCE: whether it proves
 * that the packet was damaged.  `credits` is the sender's, and begins as 0. */
bool
roce_checksum_proves_damage(uint8_t *credits, const roce_frame *frame,
                            const roce_packet *packet);

/* Whether that of a whole header is right; a header that is all zero is, too. */
bool
roce_checksum_is_right(const uint8_t *ipv4);

/* What a damaged header is taken for, of which its own checksum says that it is not: it is right
 * with the word that the sender put there, so that no right one has to vouch for it.  Of other
 * words it fits one in 65,535 by chance.
 *
 * A fragment, which is none but for a turned-over bit; a packet of another length than its UDP
 * header has.  False as well where that is not known. */
bool
roce_checksum_denies_fragment(const roce_frame *frame, const roce_packet *packet);
bool
roce_checksum_denies_length(const roce_frame *frame, const roce_packet *packet);

/* Not filled in, as far as can be told: 0, in either of its two forms. */
static inline bool
roce_checksum_is_left_out(const uint8_t *ipv4)
{
    return roce_be16(ipv4 + 10) % 0xffff == 0;
}

/* What the words of an IPv4 header behind its length, up to its checksum, add to its sum, 0 to
 * 0xfffe.  The four are one number here, which has their sum's remainder, in whatever order
 * bytes are in a word (RFC 1071 2). */
static inline uint16_t
roce_checksum_of_middle(const uint8_t *ipv4)
{
    uint64_t words;
    memcpy(&words, ipv4 + 4, sizeof words);
    return (uint16_t)(words % 0xffff);
}

/* The same with the length: what it is of packets with right checksums that have all other
 * words in common. */
static inline uint16_t
roce_checksum_of_changing(const uint8_t *ipv4)
{
    uint16_t length;
    memcpy(&length, ipv4 + 2, sizeof length);
    return (uint16_t)((roce_checksum_of_middle(ipv4) + (uint32_t)length) % 0xffff);
}

#endif
