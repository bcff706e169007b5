/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transmissions that a point did not see, as ranges of PSNs.
 *
 * The one rule: ranges are disjoint and in order; each says how many transmissions of
 * its PSNs went unseen, since a copy that was sent again can be lost again.
 */
#ifndef ROCE_CORE_MISSING_H
#define ROCE_CORE_MISSING_H

#include "roce/alloc.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct roce_missing_range {
    int64_t start, end;
    uint64_t time_ns; /* when the skip was noticed */
    uint64_t frame;   /* the frame behind the skip */
    uint32_t copies;
    bool asked;      /* a NAK or a re-issued READ named a PSN of it */
    bool acked;      /* an ACK covers it */
    bool first_seen; /* an earlier copy of these PSNs was seen here */
} roce_missing_range;

#define ROCE_MISSING_MAX 256

typedef struct roce_missing {
    roce_missing_range *ranges;
    uint32_t n;
    uint16_t capacity;
    uint16_t n_acked; /* of the n */
} roce_missing;

void
roce_missing_clear(roce_missing *missing, const roce_alloc *alloc);

/* Adds one unseen transmission of each PSN in [like->start, like->end).  Returns
 * whether it was added; lack of memory is the only reason why not. */
bool
roce_missing_add(roce_missing *missing, const roce_alloc *alloc,
                 const roce_missing_range *like);

/* Adding, taking and marking can split ranges; call this afterwards until it returns
 * false: it moves the oldest range beyond ROCE_MISSING_MAX to *out. */
bool
roce_missing_trim(roce_missing *missing, roce_missing_range *out);

/* The range that holds `psn`, or NULL. */
roce_missing_range *
roce_missing_find(const roce_missing *missing, int64_t psn);

/* Takes the lowest part of [start, end) that is missing out of the table and into *out.
 * Returns whether there was one. */
bool
roce_missing_take(roce_missing *missing, const roce_alloc *alloc, int64_t start,
                  int64_t end, roce_missing_range *out);

/* Puts a range back that was taken; nothing of it is in the table. */
bool
roce_missing_put(roce_missing *missing, const roce_alloc *alloc,
                 const roce_missing_range *range);

/* Marks what lies in [start, end) as asked for or as acknowledged. */
enum roce_missing_mark {
    ROCE_MISSING_ASKED,
    ROCE_MISSING_ACKED
};
void
roce_missing_mark_range(roce_missing *missing, const roce_alloc *alloc, int64_t start,
                        int64_t end, enum roce_missing_mark mark);

/* The same of one range, without splitting it. */
void
roce_missing_set_acked(roce_missing *missing, roce_missing_range *range);

/* Whether nothing is missing but what is acknowledged. */
static inline bool
roce_missing_is_acked(const roce_missing *missing)
{
    return missing->n_acked == missing->n;
}

/* The same, all of it before `una`. */
static inline bool
roce_missing_is_before(const roce_missing *missing, int64_t una)
{
    return missing->n == 0 || (roce_missing_is_acked(missing) &&
                               missing->ranges[missing->n - 1].end <= una);
}

#endif
