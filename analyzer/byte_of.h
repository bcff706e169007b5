/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays of a byte for each number, such as that of a stream. */
#ifndef RS_BYTE_OF_H
#define RS_BYTE_OF_H

#include <glib.h>
#include <string.h>

/* The byte of a number; the array becomes so long if need be, and what is new is 0.  Until
 * the array is changed. */
static inline guint8 *
rs_byte_of(GByteArray *bytes, guint i)
{
    guint before = bytes->len;
    if (i >= before) {
        g_byte_array_set_size(bytes, i + 1);
        memset(bytes->data + before, 0, bytes->len - before);
    }
    return &bytes->data[i];
}

#endif
