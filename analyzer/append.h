/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text that comes a few bytes at a time, as from a writer of JSON. */
#ifndef RS_APPEND_H
#define RS_APPEND_H

#include <glib.h>
#include <string.h>

/* As g_string_append_len(), with no call of it where there is room. */
static inline void
rs_append(GString *text, const char *bytes, gsize n)
{
    if (text->len + n >= text->allocated_len) {
        g_string_append_len(text, bytes, (gssize)n);
        return;
    }
    memcpy(text->str + text->len, bytes, n);
    text->len += n;
    text->str[text->len] = '\0';
}

#endif
