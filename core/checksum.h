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

/* Not filled in, as far as can be told. */
static inline bool
roce_checksum_is_left_out(const uint8_t *ipv4)
{
    return roce_be16(ipv4 + 10) == 0;
}

/* What the words of an IPv4 header that differ from packet to packet add to its sum: length,
 * identification and checksum.  Modulo 0xffff it is the same for packets that share the
 * others, if the checksums of all of them are right; in whatever order bytes are in a word
 * (RFC 1071 2). */
static inline uint32_t
roce_checksum_of_changing(const uint8_t *ipv4)
{
    uint16_t length_and_ident[2];
    uint16_t checksum;
    memcpy(length_and_ident, ipv4 + 2, sizeof length_and_ident);
    memcpy(&checksum, ipv4 + 10, sizeof checksum);
    return (uint32_t)length_and_ident[0] + length_and_ident[1] + checksum;
}

#endif
