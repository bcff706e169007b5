/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that a packet of a stream will want soon, brought near.
 *
 * The one rule: approaching changes nothing, and what is not there yet is not made.
 */
#ifndef RS_APPROACH_H
#define RS_APPROACH_H

#include <glib.h>

#define RS_CACHE_LINE_BYTES 64

/* The first `bytes` of what is there; NULL is fine.
 *
 * gcc takes a function that does nothing but approach for one without any effect, and leaves
 * out calls of it; what is volatile it leaves. */
static inline void
rs_approach(gconstpointer what, gsize bytes)
{
    __asm__ volatile("" : : "r"(what));
    if (what == NULL) {
        return;
    }
    for (gsize at = 0; at < bytes; at += RS_CACHE_LINE_BYTES) {
        __builtin_prefetch((const char *)what + at, 1);
    }
}

/* The same of what is to be written and was another thread's: in one go, where what comes
 * near for reading would have to be asked for once more. */
static inline void
rs_approach_to_fill(gpointer what, gsize bytes)
{
    for (gsize at = 0; at < bytes; at += RS_CACHE_LINE_BYTES) {
#if defined(__x86_64__)
        __asm__ volatile("prefetchw %0" : : "m"(((const char *)what)[at]));
#else
        __builtin_prefetch((char *)what + at, 1);
#endif
    }
}

/* Element i of an array of structures, or of pointers to some. */
static inline void
rs_approach_element(const GArray *array, guint i, gsize element_bytes)
{
    if (i < array->len) {
        rs_approach(array->data + (gsize)i * element_bytes, element_bytes);
    }
}

static inline void
rs_approach_pointed(const GPtrArray *array, guint i, gsize bytes)
{
    if (i < array->len) {
        rs_approach(array->pdata[i], bytes);
    }
}

#endif
