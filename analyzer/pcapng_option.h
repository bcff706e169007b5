/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of a pcapng block (draft-ietf-opsawg-pcapng, section 3.5).
 *
 *   code 2, length 2, value, padding to a multiple of 4; code 0 ends the list, as the end
 *   of the block does
 *
 * The one rule: a list that overruns its block leaves a bad cursor, which whoever reads it
 * asks about in the end.
 */
#ifndef RS_PCAPNG_OPTION_H
#define RS_PCAPNG_OPTION_H

#include "cursor.h"

#include <glib.h>

/* Borrows its value from the block. */
typedef struct rs_pcapng_option {
    guint code;
    rs_cursor value;
} rs_pcapng_option;

/* Passes over the padding behind `n_bytes`.  Some writers leave it out behind the last
 * thing in a block. */
void
rs_pcapng_take_padding(rs_cursor *from, gsize n_bytes);

/* Takes the next option of a list; FALSE at its end, or with a bad cursor. */
gboolean
rs_pcapng_next_option(rs_cursor *options, rs_pcapng_option *option);

/* The text of an option, in valid UTF-8; the caller's to g_free().  Some writers end it
 * with a zero. */
char *
rs_pcapng_option_text(const rs_pcapng_option *option);

#endif
