/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that will be wanted soon, brought near.
 *
 * The one rule: what is fetched changes nothing but when it is there.
 */
#ifndef ROCE_FETCH_H
#define ROCE_FETCH_H

#include <stddef.h>

#define ROCE_CACHE_LINE_BYTES 64

/* gcc takes a function that does nothing but fetch for one without any effect, and leaves
 * out calls of it; what is volatile it leaves. */
static inline void
roce_fetch(const void *from, size_t bytes)
{
    __asm__ volatile("" : : "r"(from));
    for (size_t at = 0; at < bytes; at += ROCE_CACHE_LINE_BYTES) {
        __builtin_prefetch((const char *)from + at, 1);
    }
}

#endif
