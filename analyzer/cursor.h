/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading the fields of a file format in the byte order that the file has.
 *
 * The one rule: a cursor cannot leave its bytes.  A read beyond the end gives zero,
 * marks the cursor bad and empties it, so that it can be asked once, after the last
 * field.
 */
#ifndef RS_CURSOR_H
#define RS_CURSOR_H

#include <glib.h>
#include <string.h>

typedef struct rs_cursor {
    const guint8 *at;
    gsize n_left;
    gboolean big_endian;
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
    guint16 value = 0;
    const guint8 *at = rs_cursor_take(from, sizeof value);
    if (at) {
        memcpy(&value, at, sizeof value);
    }
    return (guint16)(from->big_endian ? GUINT16_FROM_BE(value)
                                      : GUINT16_FROM_LE(value));
}

static inline guint32
rs_cursor_u32(rs_cursor *from)
{
    guint32 value = 0;
    const guint8 *at = rs_cursor_take(from, sizeof value);
    if (at) {
        memcpy(&value, at, sizeof value);
    }
    return from->big_endian ? GUINT32_FROM_BE(value) : GUINT32_FROM_LE(value);
}

static inline guint64
rs_cursor_u64(rs_cursor *from)
{
    guint64 value = 0;
    const guint8 *at = rs_cursor_take(from, sizeof value);
    if (at) {
        memcpy(&value, at, sizeof value);
    }
    return from->big_endian ? GUINT64_FROM_BE(value) : GUINT64_FROM_LE(value);
}

#endif
