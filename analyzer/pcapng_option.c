/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcapng_option.h"

#include "pcapng.h"

void
rs_pcapng_take_padding(rs_cursor *from, gsize n_bytes)
{
    gsize padding = (4 - n_bytes % 4) % 4;
    rs_cursor_take(from, MIN(padding, from->n_left));
}

gboolean
rs_pcapng_next_option(rs_cursor *options, rs_pcapng_option *option)
{
    if (options->n_left == 0) {
        return FALSE;
    }
    option->code = rs_cursor_u16(options);
    guint length = rs_cursor_u16(options);
    const guint8 *value = rs_cursor_take(options, length);
    rs_pcapng_take_padding(options, length);
    option->value = (rs_cursor){value, length, options->byte_order, FALSE};
    return !options->bad && option->code != RS_PCAPNG_OPTION_END;
}

char *
rs_pcapng_option_text(const rs_pcapng_option *option)
{
    gsize length = option->value.n_left;
    while (length > 0 && option->value.at[length - 1] == 0) {
        length--;
    }
    return g_utf8_make_valid((const char *)option->value.at, (gssize)length);
}
