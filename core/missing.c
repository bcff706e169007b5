/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "missing.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

void
roce_missing_clear(roce_missing *missing, const roce_alloc *alloc)
{
    if (missing->ranges != NULL) {
        alloc->release(alloc->ctx, missing->ranges);
    }
    *missing = (roce_missing){0};
}

/* Index of the first range that ends beyond `psn`. */
static uint32_t
lower(const roce_missing *missing, int64_t psn)
{
    uint32_t low = 0;
    uint32_t high = missing->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (missing->ranges[middle].end > psn) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

roce_missing_range *
roce_missing_find(const roce_missing *missing, int64_t psn)
{
    uint32_t i = lower(missing, psn);
    if (i == missing->n || missing->ranges[i].start > psn) {
        return NULL;
    }
    return &missing->ranges[i];
}

/* Makes room for `more` ranges, so that what follows cannot stop half-way. */
static bool
reserve(roce_missing *missing, const roce_alloc *alloc, uint32_t more)
{
    uint32_t capacity = missing->capacity == 0 ? 8 : missing->capacity;
    while (capacity - missing->n < more) {
        capacity *= 2;
    }
    if (capacity == missing->capacity) {
        return true;
    }
    roce_missing_range *ranges =
        alloc->resize(alloc->ctx, missing->ranges, capacity * sizeof *ranges);
    if (ranges == NULL) {
        return false;
    }
    assert(capacity <= UINT16_MAX); /* ROCE_MISSING_MAX are not many */
    missing->ranges = ranges;
    missing->capacity = (uint16_t)capacity;
    return true;
}

/* There is room for it. */
static void
insert_at(roce_missing *missing, uint32_t i, const roce_missing_range *range)
{
    memmove(&missing->ranges[i + 1], &missing->ranges[i],
            (missing->n - i) * sizeof *missing->ranges);
    missing->ranges[i] = *range;
    missing->n++;
    if (range->acked) {
        missing->n_acked++;
    }
}

static void
remove_at(roce_missing *missing, uint32_t i)
{
    missing->n--;
    if (missing->ranges[i].acked) {
        missing->n_acked--;
    }
    memmove(&missing->ranges[i], &missing->ranges[i + 1],
            (missing->n - i) * sizeof *missing->ranges);
}

/* Makes `psn` a border: a range that holds it inside becomes two.  There is room. */
static void
split_at(roce_missing *missing, int64_t psn)
{
    uint32_t i = lower(missing, psn);
    if (i == missing->n || missing->ranges[i].start >= psn) {
        return;
    }
    roce_missing_range tail = missing->ranges[i];
    tail.start = psn;
    insert_at(missing, i + 1, &tail);
    missing->ranges[i].end = psn;
}

bool
roce_missing_add(roce_missing *missing, const roce_alloc *alloc,
                 const roce_missing_range *like)
{
    if (like->start >= like->end) {
        return true;
    }
    /* Two splits, and a new range before each that is there and behind the last. */
    uint32_t there = lower(missing, like->end) - lower(missing, like->start);
    if (!reserve(missing, alloc, there + 4)) {
        return false;
    }
    split_at(missing, like->start);
    split_at(missing, like->end);
    int64_t at = like->start;
    for (uint32_t i = lower(missing, at); at < like->end; i++) {
        bool overlaps = i < missing->n && missing->ranges[i].start < like->end;
        int64_t until = overlaps ? missing->ranges[i].start : like->end;
        if (at < until) {
            roce_missing_range fresh = *like;
            fresh.start = at;
            fresh.end = until;
            fresh.copies = 1;
            insert_at(missing, i, &fresh);
            at = until;
        } else {
            missing->ranges[i].copies++;
            at = missing->ranges[i].end;
        }
    }
    return true;
}

bool
roce_missing_put(roce_missing *missing, const roce_alloc *alloc,
                 const roce_missing_range *range)
{
    if (!reserve(missing, alloc, 1)) {
        return false;
    }
    insert_at(missing, lower(missing, range->start), range);
    return true;
}

bool
roce_missing_trim(roce_missing *missing, roce_missing_range *out)
{
    if (missing->n <= ROCE_MISSING_MAX) {
        return false;
    }
    *out = missing->ranges[0];
    remove_at(missing, 0);
    return true;
}

bool
roce_missing_take(roce_missing *missing, const roce_alloc *alloc, int64_t start,
                  int64_t end, roce_missing_range *out)
{
    if (missing->n == 0 || start >= end || !reserve(missing, alloc, 2)) {
        return false;
    }
    split_at(missing, start);
    split_at(missing, end);
    uint32_t i = lower(missing, start);
    if (i == missing->n || missing->ranges[i].start >= end) {
        return false;
    }
    *out = missing->ranges[i];
    remove_at(missing, i);
    return true;
}

void
roce_missing_set_acked(roce_missing *missing, roce_missing_range *range)
{
    if (!range->acked) {
        range->acked = true;
        missing->n_acked++;
    }
}

void
roce_missing_mark_range(roce_missing *missing, const roce_alloc *alloc, int64_t start,
                        int64_t end, enum roce_missing_mark mark)
{
    if (missing->n == 0 || start >= end || !reserve(missing, alloc, 2)) {
        return;
    }
    split_at(missing, start);
    split_at(missing, end);
    for (uint32_t i = lower(missing, start);
         i < missing->n && missing->ranges[i].start < end; i++) {
        if (mark == ROCE_MISSING_ASKED) {
            missing->ranges[i].asked = true;
        } else {
            roce_missing_set_acked(missing, &missing->ranges[i]);
        }
    }
}
