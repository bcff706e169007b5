/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A frame that the survey holds, as far as its decisions need it.
 *
 * The one rule: decisions look at one point's frames at a time, or at all, in an order of
 * their own; frames that are equal in it stay in the order in which they came.
 */
#ifndef ROCE_CORE_HELD_H
#define ROCE_CORE_HELD_H

#include "roce/packet.h"
#include "roce/survey.h"
#include "roce/wire_identity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum roce_held_kind {
    ROCE_HELD_OTHER,
    ROCE_HELD_REQUEST,
    ROCE_HELD_RESPONSE, /* with data, or of an atomic */
    ROCE_HELD_ACK,
} roce_held_kind;

/* Who may send the same bytes again. */
typedef enum roce_held_class {
    ROCE_HELD_STRANGER,   /* not RoCE: not known */
    ROCE_HELD_RELIABLE,   /* sends again what was lost */
    ROCE_HELD_UNRELIABLE, /* sends nothing again: UC, UD */
    ROCE_HELD_CNP,        /* all of one queue pair say the same */
} roce_held_class;

typedef struct roce_held {
    roce_frame frame; /* its bytes are at `at` of those that are held */
    size_t at;
    roce_survey_point *point;
    uint32_t place; /* of the point among those that have frames here, from 0 */
    roce_wire_identity identity;
    bool has_identity;
    uint64_t sender; /* roce_held_host_key() of the source, and of the destination */
    uint64_t recipient;
    uint64_t stream; /* hash of addresses and destination QPN; 0 none */
    uint64_t way;    /* hash of addresses, from source to destination */
    uint64_t back;   /* the same of the other direction */
    uint32_t psn24;
    uint16_t ipv4_ident;     /* 0 for IPv6 */
    roce_tenant_kind tunnel; /* that names its tenant */
    roce_held_kind kind;
    roce_held_class class;
    bool is_nak; /* its PSN is to be sent again */
} roce_held;

/* All that a frame says itself; where it is held, the caller adds. */
roce_held
roce_held_make(const roce_frame *frame, const roce_packet *packet);

/* Less than, equal to or greater than 0. */
typedef int (*roce_held_compare)(const roce_held *a, const roce_held *b);

/* By point, then identity; time; arrival. */
int
roce_held_by_identity(const roce_held *a, const roce_held *b);

int
roce_held_by_time(const roce_held *a, const roce_held *b);

int
roce_held_by_arrival(const roce_held *a, const roce_held *b);

/* Sorts as roce_sort() does. */
void
roce_held_sort(uint32_t *order, uint32_t *scratch, const roce_held *frames, uint32_t n,
               roce_held_compare compare);

/* Frames of one point, or all: a part of such an order. */
typedef struct roce_held_slice {
    const roce_held *frames;
    const uint32_t *order; /* indices into them */
    uint32_t begin, end;
} roce_held_slice;

static inline const roce_held *
roce_held_nth(const roce_held_slice *slice, uint32_t i)
{
    return &slice->frames[slice->order[i]];
}

/* How far the stamps of a point, in the order in which they came, lie behind the newest
 * before them, at most. */
uint64_t
roce_held_largest_step_ns(const roce_held_slice *by_arrival);

uint64_t
roce_held_host_key(const roce_addr *addr);

/* The key of a PSN on its way, in a roce_key_map. */
uint64_t
roce_held_psn_key(uint64_t way, uint32_t psn24);

static inline int
roce_compare_u64(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static inline bool
roce_reaches(uint32_t part, uint32_t whole, uint32_t percent)
{
    return (uint64_t)part * 100 >= (uint64_t)whole * percent;
}

#endif
