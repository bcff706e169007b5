/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "alloc.h"

#include "roce/error.h"

#include <glib.h>

static void *
resize(void *ctx, void *old, size_t size)
{
    (void)ctx;
    return g_try_realloc(old, size);
}

static void *
zeroed(void *ctx, size_t size)
{
    (void)ctx;
    return g_try_malloc0(size);
}

static void
release(void *ctx, void *old)
{
    (void)ctx;
    g_free(old);
}

roce_alloc
rs_alloc_make(void)
{
    return (roce_alloc){.resize = resize, .release = release, .zeroed = zeroed};
}

void
rs_must(int error)
{
    if (error != ROCE_OK) {
        g_error("out of memory");
    }
}
