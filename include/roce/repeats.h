/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Second copies from a mirror that delivers every packet twice.
 *
 * The one rule: copies are paired off.  One of a pair counts and the other does not, so that
 * a packet that the network made twice, and the mirror four times, is still seen twice.
 */
#ifndef ROCE_REPEATS_H
#define ROCE_REPEATS_H

#include "roce/alloc.h"
#include "roce/error.h"
#include "roce/linkage.h"
#include "roce/wire_identity.h"

#include <stdbool.h>
#include <stdint.h>

ROCE_BEGIN

typedef struct roce_repeats roce_repeats;

/* What is remembered of a copy. */
typedef struct roce_copy {
    uint64_t time_ns;
    uint64_t number; /* of its frame */
    bool is_marked;  /* CE */
} roce_copy;

/* Allocates all that it will ever need.  ROCE_ERROR_MEMORY. */
int
roce_repeats_new(roce_repeats **repeats, const roce_alloc *alloc);

/* NULL is fine. */
void
roce_repeats_free(roce_repeats *repeats);

/* Whether this is the second of a pair of copies at `point` whose stamps are no more
 * than `within_ns` apart; then `first` tells of the other one.  The table is bounded: a
 * second copy far behind its first is not known. */
bool
roce_repeats_is_second(roce_repeats *repeats, uint32_t point,
                       const roce_wire_identity *identity, const roce_copy *copy,
                       uint64_t within_ns, roce_copy *first);

ROCE_END

#endif
