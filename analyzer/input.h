/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes of a file or of standard input, unpacked if they are compressed.
 *
 * The one rule: everything that could be read is handed out before anything is said
 * about damage.  Nothing here fails half-way: an answer that is too short is the end,
 * and rs_input_error() then tells a good end (NULL) from a bad one.
 *
 * Pipes work, since nothing is ever sought: what is looked at stays until it is
 * skipped. Offsets count unpacked bytes from the start; only rs_input_position() counts
 * the bytes of the file itself.
 */
#ifndef RS_INPUT_H
#define RS_INPUT_H

#include <glib.h>

typedef struct rs_input rs_input;

/* Opens `path`; "-" is standard input.  Fails when it cannot be opened, is a directory,
 * or is compressed in a way that unpack.h does not know.  An empty file is no failure
 * here. */
rs_input *
rs_input_open(const char *path, GError **error);

/* From here on a thread reads, and unpacks, what comes next; nothing that is said here
 * changes by that.  FALSE where there is no use in it: for a pipe, which gives what it has
 * when it has it, for what has been read, or if the system has no thread left. */
gboolean
rs_input_read_ahead(rs_input *input);

/* NULL is fine. */
void
rs_input_close(rs_input *input);

/* What messages call it: the path in valid UTF-8 without control characters, or
 * "standard input". */
const char *
rs_input_name(const rs_input *input);

/* Points `bytes` at the next bytes without consuming them and returns how many are
 * there: at least `wanted`, fewer only at the end.  They live until a peek that wants
 * more than is there: skipping them leaves them in place, and a peek that wants 0 bytes
 * shows what is there without reading. */
gsize
rs_input_peek(rs_input *input, gsize wanted, const guint8 **bytes);

/* Consumes bytes that a peek has shown. */
void
rs_input_skip(rs_input *input, gsize n_bytes);

/* Whether it is compressed in a way that takes long to unpack; to be asked before it is read
 * ahead. */
gboolean
rs_input_takes_long(const rs_input *input);

/* Whether the file is compressed, so that offsets are of what it unpacks to. */
gboolean
rs_input_is_packed(const rs_input *input);

/* Unpacked bytes consumed so far. */
guint64
rs_input_offset(const rs_input *input);

/* Bytes read from the file itself so far, packed as they are: for progress. */
guint64
rs_input_position(const rs_input *input);

/* Size of the file from where reading began, packed as it is; 0 for a pipe. */
guint64
rs_input_file_bytes(const rs_input *input);

/* Why the input ends where it does: NULL for a good end.  To be asked after a short
 * answer: the reason may be known while bytes before it are still waiting. */
const GError *
rs_input_error(const rs_input *input);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_input, rs_input_close)

#endif
