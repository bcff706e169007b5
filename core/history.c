/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history.h"

#include <stddef.h>
#include <string.h>

#define SMALLEST 4

void
roce_history_clear(roce_history *history, const roce_alloc *alloc)
{
    if (history->slots != NULL) {
        alloc->release(alloc->ctx, history->slots);
    }
    *history = (roce_history){0};
}

static bool
ends_beyond(const roce_history *history, uint32_t i, int64_t psn)
{
    const roce_slot *slot = roce_history_at(history, i);
    return slot->psn + slot->span > psn;
}

/* Where the entry stands, which is none behind the newest one, if none is missing from there
 * on and each takes one PSN, as is the rule; n where that is not so. */
static uint32_t
guess(const roce_history *history, int64_t psn)
{
    const uint32_t n = history->n;
    int64_t behind = roce_history_at(history, n - 1)->psn - psn;
    if (behind >= n) {
        return n;
    }
    uint32_t i = n - 1 - (uint32_t)behind;
    bool right =
        ends_beyond(history, i, psn) && (i == 0 || !ends_beyond(history, i - 1, psn));
    return right ? i : n;
}

uint32_t
roce_history_lower(const roce_history *history, int64_t psn)
{
    if (history->n == 0) {
        return 0;
    }
    const roce_slot *newest = roce_history_at(history, history->n - 1);
    if (newest->psn <= psn) { /* where all others have ended */
        return newest->psn + newest->span > psn ? history->n - 1 : history->n;
    }
    uint32_t guessed = guess(history, psn);
    if (guessed < history->n) {
        return guessed;
    }
    uint32_t low = 0;
    uint32_t high = history->n - 1;
    for (uint32_t step = 2; step <= history->n; step *= 2) { /* mostly it is new */
        if (!ends_beyond(history, history->n - step, psn)) {
            low = history->n - step + 1;
            break;
        }
        high = history->n - step;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ends_beyond(history, middle, psn)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

roce_slot *
roce_history_find(const roce_history *history, int64_t psn)
{
    uint32_t i = roce_history_lower(history, psn);
    if (i == history->n) {
        return NULL;
    }
    roce_slot *slot = roce_history_at(history, i);
    return slot->psn <= psn ? slot : NULL;
}

/* Gives the ring another size, at least that of what is in it. */
static bool
resize(roce_history *history, const roce_alloc *alloc, uint32_t capacity)
{
    roce_slot *slots = alloc->resize(alloc->ctx, NULL, capacity * sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < history->n; i++) {
        slots[i] = *roce_history_at(history, i);
    }
    if (history->slots != NULL) {
        alloc->release(alloc->ctx, history->slots);
    }
    *history = (roce_history){.slots = slots, .n = history->n, .capacity = capacity};
    return true;
}

bool
roce_history_grow(roce_history *history, const roce_alloc *alloc, uint32_t max)
{
    uint32_t capacity = history->capacity == 0 ? SMALLEST : history->capacity * 2;
    return capacity <= max && resize(history, alloc, capacity);
}

/* Counts it in *forgot if it was still wanted. */
static void
forget_oldest(roce_history *history, int64_t keep_from, uint64_t *forgot)
{
    *forgot += ends_beyond(history, 0, keep_from) ? 1 : 0;
    history->first = (history->first + 1) & (history->capacity - 1);
    history->n--;
}

/* Whether there is room for one more after growing or forgetting. */
static bool
make_room(roce_history *history, const roce_alloc *alloc, int64_t keep_from,
          uint32_t max, uint64_t *forgot)
{
    if (history->n < history->capacity) {
        return true;
    }
    if (roce_history_grow(history, alloc, max)) {
        return true;
    }
    if (history->n == 0) {
        return false;
    }
    forget_oldest(history, keep_from, forgot);
    return true;
}

void
roce_history_shrink(roce_history *history, const roce_alloc *alloc, uint32_t max,
                    int64_t keep_from, uint64_t *forgot)
{
    if (history->capacity <= max) {
        return;
    }
    while (history->n > max) {
        forget_oldest(history, keep_from, forgot);
    }
    resize(history, alloc, max);
}

/* As nearly every new entry is. */
static bool
is_behind_all(const roce_history *history, int64_t psn)
{
    return history->n == 0 || roce_history_at(history, history->n - 1)->psn < psn;
}

roce_slot *
roce_history_insert(roce_history *history, const roce_alloc *alloc, int64_t psn,
                    int64_t keep_from, uint32_t max, uint64_t *forgot)
{
    bool oldest = history->n > 0 && psn < roce_history_at(history, 0)->psn;
    if (oldest && history->n == history->capacity &&
        !roce_history_grow(history, alloc, max)) {
        return NULL; /* nothing newer is forgotten for it */
    }
    if (!make_room(history, alloc, keep_from, max, forgot)) {
        return NULL;
    }
    uint32_t i =
        is_behind_all(history, psn) ? history->n : roce_history_lower(history, psn);
    history->n++;
    for (uint32_t j = history->n - 1; j > i; j--) {
        *roce_history_at(history, j) = *roce_history_at(history, j - 1);
    }
    roce_slot *slot = roce_history_at(history, i);
    *slot = (roce_slot){.psn = psn};
    return slot;
}
