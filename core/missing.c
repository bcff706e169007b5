/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "missing.h"

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

static bool
make_room(roce_missing *missing, const roce_alloc *alloc)
{
    if (missing->n < missing->capacity) {
        return true;
    }
    uint32_t capacity = missing->capacity == 0 ? 8 : missing->capacity * 2;
    roce_missing_range *ranges =
        alloc->resize(alloc->ctx, missing->ranges, capacity * sizeof *ranges);
    if (ranges == NULL) {
        return false;
    }
    missing->ranges = ranges;
    missing->capacity = capacity;
    return true;
}

static bool
insert_at(roce_missing *missing, const roce_alloc *alloc, uint32_t i,
          const roce_missing_range *range)
{
    if (!make_room(missing, alloc)) {
        return false;
    }
    memmove(&missing->ranges[i + 1], &missing->ranges[i],
            (missing->n - i) * sizeof *missing->ranges);
    missing->ranges[i] = *range;
    missing->n++;
    return true;
}

static void
remove_at(roce_missing *missing, uint32_t i)
{
    missing->n--;
    memmove(&missing->ranges[i], &missing->ranges[i + 1],
            (missing->n - i) * sizeof *missing->ranges);
}

/* Makes `psn` a border: a range that holds it inside becomes two. */
static void
split_at(roce_missing *missing, const roce_alloc *alloc, int64_t psn)
{
    uint32_t i = lower(missing, psn);
    if (i == missing->n || missing->ranges[i].start >= psn) {
        return;
    }
    roce_missing_range tail = missing->ranges[i];
    tail.start = psn;
    if (insert_at(missing, alloc, i + 1, &tail)) {
        missing->ranges[i].end = psn;
    }
}

bool
roce_missing_add(roce_missing *missing, const roce_alloc *alloc,
                 const roce_missing_range *like)
{
    if (like->start >= like->end) {
        return true;
    }
    split_at(missing, alloc, like->start);
    split_at(missing, alloc, like->end);
    int64_t at = like->start;
    for (uint32_t i = lower(missing, at); at < like->end; i++) {
        bool overlaps = i < missing->n && missing->ranges[i].start < like->end;
        int64_t until = overlaps ? missing->ranges[i].start : like->end;
        if (at < until) {
            roce_missing_range fresh = *like;
            fresh.start = at;
            fresh.end = until;
            fresh.copies = 1;
            if (!insert_at(missing, alloc, i, &fresh)) {
                return false;
            }
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
    return insert_at(missing, alloc, lower(missing, range->start), range);
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
    if (missing->n == 0 || start >= end) {
        return false;
    }
    split_at(missing, alloc, start);
    split_at(missing, alloc, end);
    uint32_t i = lower(missing, start);
    if (i == missing->n || missing->ranges[i].start >= end) {
        return false;
    }
    *out = missing->ranges[i];
    remove_at(missing, i);
    return true;
}

void
roce_missing_mark_range(roce_missing *missing, const roce_alloc *alloc, int64_t start,
                        int64_t end, enum roce_missing_mark mark)
{
    if (missing->n == 0 || start >= end) {
        return;
    }
    split_at(missing, alloc, start);
    split_at(missing, alloc, end);
    for (uint32_t i = lower(missing, start);
         i < missing->n && missing->ranges[i].start < end; i++) {
        if (mark == ROCE_MISSING_ASKED) {
            missing->ranges[i].asked = true;
        } else {
            missing->ranges[i].acked = true;
        }
    }
}
