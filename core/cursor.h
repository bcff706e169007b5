/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bounds-checked reader of big-endian fields.
 *
 * The one rule: a read beyond what was captured returns zero and sets a sticky outcome:
 * truncated where the wire went on, malformed where it did not.  Callers read through
 * and look at the outcome once, at the end.
 */
#ifndef ROCE_CORE_CURSOR_H
#define ROCE_CORE_CURSOR_H

#include "bytes.h"
#include "roce/packet.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct roce_cursor {
    const uint8_t *bytes;
    uint32_t at;
    uint32_t captured; /* bytes that are there */
    uint32_t wire;     /* bytes that were there; >= captured */
    roce_outcome outcome;
} roce_cursor;

static inline roce_cursor
roce_cursor_make(const uint8_t *bytes, uint32_t captured, uint32_t wire)
{
    return (roce_cursor){
        .bytes = bytes,
        .captured = captured,
        .wire = wire < captured ? captured : wire,
        .outcome = ROCE_DECODED,
    };
}

/* Whether the next `n` bytes can be read; sets the outcome when not. */
static inline bool
roce_cursor_have(roce_cursor *c, uint32_t n)
{
    if (c->outcome != ROCE_DECODED) {
        return false;
    }
    if (n <= c->captured && c->at <= c->captured - n) {
        return true;
    }
    bool on_wire = n <= c->wire && c->at <= c->wire - n;
    c->outcome = on_wire ? ROCE_TRUNCATED : ROCE_MALFORMED;
    return false;
}

static inline void
roce_cursor_skip(roce_cursor *c, uint32_t n)
{
    if (roce_cursor_have(c, n)) {
        c->at += n;
    }
}

static inline uint8_t
roce_cursor_u8(roce_cursor *c)
{
    return roce_cursor_have(c, 1) ? c->bytes[c->at++] : 0;
}

static inline uint16_t
roce_cursor_u16(roce_cursor *c)
{
    if (!roce_cursor_have(c, 2)) {
        return 0;
    }
    const uint8_t *p = c->bytes + c->at;
    c->at += 2;
    return roce_be16(p);
}

static inline uint32_t
roce_cursor_u24(roce_cursor *c)
{
    if (!roce_cursor_have(c, 3)) {
        return 0;
    }
    const uint8_t *p = c->bytes + c->at;
    c->at += 3;
    return roce_be24(p);
}

static inline uint32_t
roce_cursor_u32(roce_cursor *c)
{
    if (!roce_cursor_have(c, 4)) {
        return 0;
    }
    const uint8_t *p = c->bytes + c->at;
    c->at += 4;
    return roce_be32(p);
}

static inline uint64_t
roce_cursor_u64(roce_cursor *c)
{
    if (!roce_cursor_have(c, 8)) {
        return 0;
    }
    uint64_t high = roce_cursor_u32(c);
    return high << 32 | roce_cursor_u32(c);
}

static inline void
roce_cursor_copy(roce_cursor *c, uint8_t *to, uint32_t n)
{
    if (roce_cursor_have(c, n)) {
        memcpy(to, c->bytes + c->at, n);
        c->at += n;
    }
}

#endif
