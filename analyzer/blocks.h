/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Something for each number, such as that of a stream, that stays where it is.
 *
 * The one rule: elements never move, so that who has found one once need not look for it
 * again.  They begin as zeroes; a block begins where a line of memory does.
 */
#ifndef RS_BLOCKS_H
#define RS_BLOCKS_H

#include "approach.h"

#include <glib.h>

#define RS_BLOCK 64 /* elements that are made at once */

typedef struct rs_blocks {
    GPtrArray *all; /* blocks, or NULL */
    gsize element_bytes;
} rs_blocks;

static inline rs_blocks
rs_blocks_make(gsize element_bytes)
{
    return (rs_blocks){g_ptr_array_new_with_free_func(g_aligned_free), element_bytes};
}

static inline void
rs_blocks_clear(rs_blocks *blocks)
{
    g_ptr_array_unref(blocks->all);
}

/* So many numbers have, or may have, an element. */
static inline guint
rs_blocks_n(const rs_blocks *blocks)
{
    return blocks->all->len * RS_BLOCK;
}

static inline gpointer
rs_block_at(const rs_blocks *blocks, gpointer block, guint i)
{
    return (char *)block + i % RS_BLOCK * blocks->element_bytes;
}

/* NULL: neither it nor one of its block was ever asked for. */
static inline gpointer
rs_blocks_find(const rs_blocks *blocks, guint i)
{
    if (i >= rs_blocks_n(blocks) || blocks->all->pdata[i / RS_BLOCK] == NULL) {
        return NULL;
    }
    return rs_block_at(blocks, blocks->all->pdata[i / RS_BLOCK], i);
}

/* Made if need be. */
static inline gpointer
rs_blocks_get(rs_blocks *blocks, guint i)
{
    if (i >= rs_blocks_n(blocks)) {
        g_ptr_array_set_size(blocks->all, (gint)(i / RS_BLOCK + 1));
    }
    gpointer *block = &blocks->all->pdata[i / RS_BLOCK];
    if (*block == NULL) {
        *block = g_aligned_alloc0(RS_BLOCK, blocks->element_bytes, RS_CACHE_LINE_BYTES);
    }
    return rs_block_at(blocks, *block, i);
}

#endif
