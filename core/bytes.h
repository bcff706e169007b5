/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers out of bytes: big-endian, but for the one that the wire has the other way
 * round, the ICRC.
 *
 * The one rule: the caller knows that the bytes are there; who does not reads through a
 * cursor (cursor.h).
 */
#ifndef ROCE_CORE_BYTES_H
#define ROCE_CORE_BYTES_H

#include <stdint.h>

static inline uint16_t
roce_be16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t
roce_be24(const uint8_t *p)
{
    return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static inline uint32_t
roce_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t
roce_be64(const uint8_t *p)
{
    return (uint64_t)roce_be32(p) << 32 | roce_be32(p + 4);
}

static inline uint32_t
roce_le32(const uint8_t *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

#endif
