/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packet sequence numbers: 24 bits on the wire, 64 bits inside.
 *
 * The one rule: a PSN is unwrapped once, at the tracker's door, and compared with plain
 * < and == ever after.  No modular comparison stands anywhere else.
 */
#ifndef ROCE_PSN_H
#define ROCE_PSN_H

#include "roce/linkage.h"

#include <stdint.h>

ROCE_BEGIN

#define ROCE_PSN_MODULUS ((int64_t)1 << 24)
#define ROCE_PSN_HALF ((int64_t)1 << 23)
#define ROCE_PSN_MASK 0xffffffu

/* The unwrapped PSN nearest to `reference` whose low 24 bits are `psn24`.  Exactly half
 * the space away is ambiguous (IBTA 9.7.2 allows at most 2^23 - 1 outstanding) and is
 * taken as ahead. */
static inline int64_t
roce_psn_expand(uint32_t psn24, int64_t reference)
{
    int64_t distance =
        (int64_t)((psn24 - (uint32_t)(uint64_t)reference) & ROCE_PSN_MASK);
    return reference +
           (distance > ROCE_PSN_HALF ? distance - ROCE_PSN_MODULUS : distance);
}

/* What stands on the wire for an unwrapped PSN. */
static inline uint32_t
roce_psn_wrap(int64_t psn)
{
    return (uint32_t)(uint64_t)psn & ROCE_PSN_MASK;
}

/* PSNs that a READ request of `length` bytes takes: max(1, ceil(length / pmtu));
 * `pmtu` in bytes, not 0 (IBTA 9.7.2). */
static inline uint32_t
roce_psn_read_span(uint32_t length_bytes, uint32_t pmtu_bytes)
{
    return length_bytes == 0 ? 1 : (length_bytes - 1) / pmtu_bytes + 1;
}

ROCE_END

#endif
