/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading the fields of a file format in the byte order that the file has.
 *
 * The one rule: a cursor cannot leave its bytes.  A read beyond the end gives zero,
 * marks the cursor bad and empties it, so that it can be asked once, after the last
 * field.  What is loaded without a cursor is asked about before.
 *
 * A byte order is G_LITTLE_ENDIAN or G_BIG_ENDIAN.
 */
#ifndef RS_CURSOR_H
#define RS_CURSOR_H

#include <glib.h>
#include <string.h>

static inline guint16
rs_load_u16(const guint8 *at, gint byte_order)
{
    guint16 value;
    memcpy(&value, at, sizeof value);
    return (guint16)(byte_order == G_BYTE_ORDER ? value : GUINT16_SWAP_LE_BE(value));
}

static inline guint32
rs_load_u32(const guint8 *at, gint byte_order)
{
    guint32 value;
    memcpy(&value, at, sizeof value);
    return byte_order == G_BYTE_ORDER ? value : GUINT32_SWAP_LE_BE(value);
}

static inline guint64
rs_load_u64(const guint8 *at, gint byte_order)
{
    guint64 value;
    memcpy(&value, at, sizeof value);
    return byte_order == G_BYTE_ORDER ? value : GUINT64_SWAP_LE_BE(value);
}

typedef struct rs_cursor {
    const guint8 *at;
    gsize n_left;
    gint byte_order;
    gboolean bad; /* something was wanted that is not there */
} rs_cursor;

/* The next bytes, which stay where they are; NULL if there are not so many. */
static inline const guint8 *
rs_cursor_take(rs_cursor *from, gsize n_bytes)
{
    if (n_bytes > from->n_left) {
        from->bad = TRUE;
        from->n_left = 0;
        return NULL;
    }
    const guint8 *at = from->at;
    from->at += n_bytes;
    from->n_left -= n_bytes;
    return at;
}

static inline guint16
rs_cursor_u16(rs_cursor *from)
{
    const guint8 *at = rs_cursor_take(from, sizeof(guint16));
    return at ? rs_load_u16(at, from->byte_order) : 0;
}

static inline guint32
rs_cursor_u32(rs_cursor *from)
{
    const guint8 *at = rs_cursor_take(from, sizeof(guint32));
    return at ? rs_load_u32(at, from->byte_order) : 0;
}

static inline guint64
rs_cursor_u64(rs_cursor *from)
{
    const guint8 *at = rs_cursor_take(from, sizeof(guint64));
    return at ? rs_load_u64(at, from->byte_order) : 0;
}

#endif
