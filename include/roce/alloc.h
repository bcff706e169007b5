/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The allocator that core objects are built with.
 *
 * The one rule: core never calls malloc; whoever creates an object says where its
 * memory comes from (file scope in the plugin, GLib in the analyzer, a failing one in
 * tests).
 */
#ifndef ROCE_ALLOC_H
#define ROCE_ALLOC_H

#include "roce/linkage.h"

#include <stddef.h>

ROCE_BEGIN

/* Whoever sets members one by one zeroes it first. */
typedef struct roce_alloc {
    /* Resizes `old` (NULL: allocates) to `size` bytes; NULL on failure, `old` kept. */
    void *(*resize)(void *ctx, void *old, size_t size);
    /* Gives back what resize() returned; `old` is never NULL. */
    void (*release)(void *ctx, void *old);
    void *ctx; /* passed to all; owned by the caller, outlives the object */
    /* Allocates `size` bytes that are 0; NULL on failure.  Optional: where it is NULL, core
     * clears what resize() returns.  One that takes the memory from the system fresh spares
     * the time for what is never looked at. */
    void *(*zeroed)(void *ctx, size_t size);
} roce_alloc;

ROCE_END

#endif
