/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a frame was captured, as far as the frame itself says: one interface of a
 * capture can carry what was captured at several places.
 *
 * The one rule: a capture point is one origin at one interface, and the frame alone says
 * which, so that everyone who reads it finds the same points.
 */
#ifndef ROCE_ORIGIN_H
#define ROCE_ORIGIN_H

#include "roce/linkage.h"
#include "roce/packet.h"

#include <stdbool.h>
#include <stdint.h>

ROCE_BEGIN

/* How many origins are told apart in a capture, those at interfaces themselves not
 * counted.  A mirror's header is anyone's to make up: frames of more than these count as
 * captured at their interface itself. */
#define ROCE_MAX_ORIGINS 4096

typedef enum roce_origin_kind {
    ROCE_ORIGIN_INTERFACE, /* the interface itself */
    ROCE_ORIGIN_IFINDEX,   /* an interface of a cooked capture of all of them (SLL2) */
    ROCE_ORIGIN_MIRROR,    /* a session of a switch that mirrors */
} roce_origin_kind;

/* All zero is the interface itself. */
typedef struct roce_origin {
    roce_origin_kind kind;
    uint32_t number;                 /* IFINDEX: the index; MIRROR: the session, or 0 */
    roce_mirror_kind mirror;         /* MIRROR alone has this ... */
    roce_mirror_direction direction; /* ... this, as its header says it ... */
    roce_addr source;                /* ... and this: the switch */
} roce_origin;

roce_origin
roce_origin_of(const roce_packet *packet);

bool
roce_origin_equal(const roce_origin *a, const roce_origin *b);

/* Takes an origin into a hash (see roce/hash.h). */
uint64_t
roce_origin_hash(uint64_t hash, const roce_origin *origin);

/* Whether the mirror's header names a session: ERSPAN II and III, and Arista's policy. */
bool
roce_origin_has_session(const roce_origin *origin);

ROCE_END

#endif
