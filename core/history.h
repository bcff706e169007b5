/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packets of one PSN space that a point has seen, in PSN order, newest last.
 *
 * The one rule: entries never overlap.  A packet that comes again updates its entry, so
 * an entry always describes the newest transmission, and remembers the wire identity of
 * the first.
 */
#ifndef ROCE_CORE_HISTORY_H
#define ROCE_CORE_HISTORY_H

#include "roce/alloc.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

/* What tells one copy of a packet from another: IPv4 identification and ICRC, or, where
 * the ICRC was cut off, a hash of the headers (a weak identity). */
typedef struct roce_identity {
    uint32_t check;
    uint16_t ident;
} roce_identity;

enum roce_slot_flag {
    ROCE_SLOT_IN_ORDER =
        1 << 0, /* the peer, were it here, had accepted the newest copy */
    ROCE_SLOT_REFUSED = 1 << 1, /* answered by an RNR NAK: arrived, and was not taken */
    ROCE_SLOT_JUDGED = 1 << 2,  /* the newest copy has its verdict */
    ROCE_SLOT_FILLED_AGAIN = 1 << 3, /* the first copy seen here was a retransmission */
    ROCE_SLOT_WANTS_RESPONSE = 1 << 4,
    ROCE_SLOT_MESSAGE_END = 1 << 5,
    ROCE_SLOT_DOUBTED = 1 << 6, /* data_or_ack_lost; the next ACK may tell more */
    ROCE_SLOT_MESSAGE_START = 1 << 7,
    ROCE_SLOT_WANTS_ACK = 1 << 8,  /* the newest copy asked for an ACK */
    ROCE_SLOT_DOUBT_TOLD = 1 << 9, /* that it is in doubt is a verdict */
    ROCE_SLOT_READS = 1 << 10,
    ROCE_SLOT_UNTIMED = 1 << 11, /* it was late, or more copies than one were seen:
                                  * nobody can tell which one was answered */
    ROCE_SLOT_ACK_LOST =
        1 << 12, /* that its ACK was lost, since one jumped, is a verdict */
    ROCE_SLOT_PASSED_OVER =
        1 << 13, /* an ACK or a NAK that covers the request came before this response */
    ROCE_SLOT_SKIPPED =
        1 << 14, /* a round has gone past it, and nobody asked any more: a copy may come
                  * yet, though others, sent again, come first */
    ROCE_SLOT_ACK_SEEN =
        1 << 15, /* a timeout has repeated it, and that its ACK, seen here, was lost is
                  * a verdict */
};

#define ROCE_SLOT_FRAME_BITS 39
#define ROCE_SLOT_TX_BITS 40

/* They are most of what a long stream takes, so that they are packed: a READ takes 2^24
 * PSNs at most, 4 GiB at the least path MTU; frames go around after half a million million
 * of them, which is days at line rate. */
typedef struct __attribute__((packed, aligned(4))) roce_slot {
    int64_t psn;
    uint64_t time_ns; /* of the newest copy */
    union {
        struct {
            uint64_t frame : ROCE_SLOT_FRAME_BITS; /* likewise */
            uint64_t span : 25;                    /* PSNs it takes */
        };
        uint64_t frame_and_span; /* roce_slot_pair_of() */
    };
    union {
        struct {
            /* Number of the newest copy among the space's transmissions; and how many PSNs
             * into its span a re-issued READ starts, of a WRITE where it writes to, see
             * roce_slot_place_of(). */
            uint64_t tx : ROCE_SLOT_TX_BITS;
            uint64_t skipped : 24;
        };
        uint64_t tx_and_skipped; /* likewise */
    };
    uint32_t first_check, newest_check; /* of the identities of these copies */
    uint16_t first_ident, newest_ident;
    union {
        uint32_t
            message_bytes; /* of a request: what it brings or asks for, saturated */
        uint32_t n_asked; /* of a response: how often its READ had been asked for when a
                           * copy was judged lost */
    };
    uint16_t flags; /* bits of roce_slot_flag */
    uint8_t copies; /* saturated */
    uint8_t lost;   /* unseen transmissions of it that were judged lost; saturated */
} roce_slot;
_Static_assert(sizeof(roce_slot) == 52, "as long as docs/performance.md says");

/* What is kept of the address in the RETH of a WRITE, which all copies of it share:
 * 0 is not known.  Of two addresses that differ in a bit it differs in one. */
static inline uint32_t
roce_slot_place_of(uint64_t address)
{
    return (uint32_t)((address ^ address >> 24 ^ address >> 48) & 0xffffff);
}

/* Two fields that share a word, of which the first has so many bits, for writing both at once:
 * one by one, the second would be written around the first, which is read for that. */
static inline uint64_t
roce_slot_pair_of(uint64_t first, unsigned first_bits, uint64_t second)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return second << first_bits | first;
#else
    return first << (64 - first_bits) | second;
#endif
}

#define ROCE_SLOT_MAX_FRAME 0x7fffffffff
#define ROCE_SLOT_MAX_SPAN 0x1ffffff
#define ROCE_SLOT_MAX_TX 0xffffffffff
#define ROCE_SLOT_MAX_SKIPPED 0xffffff

/* Whether it was sent more than once, seen here or not. */
static inline bool
roce_slot_was_repeated(const roce_slot *slot)
{
    return slot->copies > 1 || (slot->flags & ROCE_SLOT_FILLED_AGAIN) != 0;
}

static inline void
roce_slot_count_copy(roce_slot *slot)
{
    if (slot->copies < UINT8_MAX) {
        slot->copies++;
    }
}

static inline void
roce_slot_set_span(roce_slot *slot, uint32_t span)
{
    slot->span = span & ROCE_SLOT_MAX_SPAN;
}

/* The newest copy: what it is known by, when it came, and as which frame. */
static inline void
roce_slot_set_newest(roce_slot *slot, const roce_identity *identity, uint64_t time_ns,
                     uint64_t frame, uint64_t tx)
{
    slot->newest_check = identity->check;
    slot->newest_ident = identity->ident;
    slot->time_ns = time_ns;
    slot->frame = frame & ROCE_SLOT_MAX_FRAME;
    slot->tx = tx & ROCE_SLOT_MAX_TX;
}

static inline void
roce_slot_set_first(roce_slot *slot, const roce_identity *identity)
{
    slot->first_check = identity->check;
    slot->first_ident = identity->ident;
}

typedef struct roce_history {
    roce_slot *slots;            /* a ring */
    uint32_t first, n, capacity; /* capacity: 0 or a power of two */
} roce_history;

void
roce_history_clear(roce_history *history, const roce_alloc *alloc);

/* The i-th entry in PSN order, i < n. */
static inline roce_slot *
roce_history_at(const roce_history *history, uint32_t i)
{
    assert(i < history->n);
    return &history->slots[(history->first + i) & (history->capacity - 1)];
}

/* Makes n entries behind all others, no more than there is room for in all; where it is
 * full they take the places of the oldest.  Returns where the first one is in the ring: they
 * are the caller's to fill. */
static inline uint32_t
roce_history_extend(roce_history *history, uint32_t n)
{
    assert(n <= history->capacity);
    uint32_t mask = history->capacity - 1;
    uint32_t behind = history->first + history->n;
    uint32_t room = history->capacity - history->n;
    uint32_t forgotten = n > room ? n - room : 0;
    history->first = (history->first + forgotten) & mask;
    history->n += n - forgotten;
    return behind & mask;
}

/* Index of the first entry that ends beyond `psn`; n when there is none. */
uint32_t
roce_history_lower(const roce_history *history, int64_t psn);

/* The entry whose span holds `psn`, or NULL. */
roce_slot *
roce_history_find(const roce_history *history, int64_t psn);

/* Doubles what it has room for, or makes it, up to `max` entries; returns whether it has.
 * Entries move. */
bool
roce_history_grow(roce_history *history, const roce_alloc *alloc, uint32_t max);

/* Makes room for an entry at `psn`, which no entry covers, and returns it with `psn`
 * set and the rest zero.  Grows up to `max` entries, and forgets the oldest then:
 * *forgot counts those that were still wanted (end beyond `keep_from`).  NULL when the
 * entry is older than everything in a full history, or for lack of memory.  Entries
 * move: every other pointer into the history is void afterwards. */
roce_slot *
roce_history_insert(roce_history *history, const roce_alloc *alloc, int64_t psn,
                    int64_t keep_from, uint32_t max, uint64_t *forgot);

/* Forgets the oldest entries beyond `max`, a power of two, and counts in *forgot those
 * that were still wanted; room for more is given back.  For lack of memory, which takes
 * some to save more, the room stays.  Every pointer into the history is void afterwards.
 */
void
roce_history_shrink(roce_history *history, const roce_alloc *alloc, uint32_t max,
                    int64_t keep_from, uint64_t *forgot);

#endif
