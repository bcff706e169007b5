/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An allocator that fails when it is told to, moves what it resizes and fills what is
 * new, so that stale pointers and unset fields show.
 *
 * The one rule: n_live is 0 once everything was given back.
 */
#ifndef FAILING_ALLOC_H
#define FAILING_ALLOC_H

#include "roce/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct failing_alloc {
    uint64_t n_calls;
    uint64_t fail_from, fail_until; /* calls [from, until) fail; the first call is 0 */
    uint64_t n_live;
} failing_alloc;

typedef union failing_block {
    size_t size;
    max_align_t align;
} failing_block;

static inline void
failing_release(void *ctx, void *old)
{
    failing_alloc *state = ctx;
    if (old == NULL) {
        abort(); /* core promises not to */
    }
    state->n_live--;
    free((failing_block *)old - 1);
}

static inline void *
failing_resize(void *ctx, void *old, size_t size)
{
    failing_alloc *state = ctx;
    uint64_t call = state->n_calls++;
    if (size == 0) {
        abort();
    }
    if (call >= state->fail_from && call < state->fail_until) {
        return NULL;
    }
    failing_block *block = malloc(sizeof *block + size);
    if (block == NULL) {
        abort();
    }
    block->size = size;
    memset(block + 1, 0xa5, size);
    state->n_live++;
    if (old != NULL) {
        size_t was = ((failing_block *)old - 1)->size;
        memcpy(block + 1, old, was < size ? was : size);
        failing_release(ctx, old);
    }
    return block + 1;
}

/* A roce_alloc that stands on `state`, which the caller zeroes and keeps. */
static inline roce_alloc
failing_alloc_make(failing_alloc *state)
{
    return (roce_alloc){
        .resize = failing_resize, .release = failing_release, .ctx = state};
}

#endif
