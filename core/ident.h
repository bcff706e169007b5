/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hash that stands for a packet's ICRC where that was cut off: of what was captured.
 *
 * The one rule: whoever reads a packet, and however, comes to the same hash.
 */
#ifndef ROCE_CORE_IDENT_H
#define ROCE_CORE_IDENT_H

#include "roce/hash.h"

#include <stdbool.h>
#include <stdint.h>

/* What extension headers say: the RETH's address; its length, and the AETH's syndrome
 * above; MSN, and immediate data above; what atomics swap or add; what they compare with.
 * Headers that the packet has not are 0. */
#define ROCE_IDENT_WORDS 5

/* Of a packet without extension headers. */
static inline uint64_t
roce_ident_hash(uint32_t payload_bytes, uint16_t src_port, uint32_t psn24,
                uint8_t opcode, bool ack_request)
{
    uint64_t h = payload_bytes + ((uint64_t)src_port << 32);
    return roce_hash_mix(h,
                         psn24 | (uint64_t)opcode << 32 | (uint64_t)ack_request << 40);
}

/* Takes extension headers in, for a packet that has some. */
static inline uint64_t
roce_ident_hash_more(uint64_t h, const uint64_t words[ROCE_IDENT_WORDS])
{
    for (unsigned i = 0; i < ROCE_IDENT_WORDS; i++) {
        h = roce_hash_mix(h, words[i]);
    }
    return h;
}

#endif
