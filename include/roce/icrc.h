/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The invariant CRC (IBTA Vol. 1, 7.8.1 and A17.3.3): CRC-32 with the zlib polynomial
 * over the packet from its IP header (or GRH) on, with the fields that a network may
 * change set to ones.
 *
 * The one rule: it can only be checked on a packet that was captured whole.
 */
#ifndef ROCE_ICRC_H
#define ROCE_ICRC_H

#include "roce/linkage.h"
#include "roce/packet.h"

#include <stddef.h>
#include <stdint.h>

ROCE_BEGIN

/* Continues a CRC-32 (zlib's polynomial and conventions: start with 0) over `size`
 * bytes; the signature of zlib's crc32 and libdeflate's, so a faster one can be used.
 */
typedef uint32_t (*roce_crc32_fn)(uint32_t crc, const uint8_t *bytes, size_t size);

typedef enum roce_icrc_status {
    ROCE_ICRC_UNCHECKED, /* nobody asked */
    ROCE_ICRC_TRUNCATED, /* the packet was cut; cannot be told */
    ROCE_ICRC_GOOD,
    ROCE_ICRC_BAD,
} roce_icrc_status;

/* Core's own table-driven CRC-32. */
uint32_t
roce_crc32(uint32_t crc, const uint8_t *bytes, size_t size);

/* Checks the ICRC of a decoded ROCE_CLASS_ROCE packet in its frame's bytes.  `crc32` is
 * roce_crc32 or a faster equal. */
roce_icrc_status
roce_icrc_check(const uint8_t *frame, uint32_t captured_bytes,
                const roce_packet *packet, roce_crc32_fn crc32);

/* The ICRC that the packet ought to carry, in host order (it is stored little-endian);
 * returns 0, or ROCE_ERROR_INVALID when the packet is not whole. */
int
roce_icrc_compute(const uint8_t *frame, uint32_t captured_bytes,
                  const roce_packet *packet, roce_crc32_fn crc32, uint32_t *icrc);

ROCE_END

#endif
