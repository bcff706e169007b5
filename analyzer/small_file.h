/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that are read as a whole: what the user tells beside the captures.
 *
 * The one rule: no file takes more memory than the limit, whatever it claims to be.
 */
#ifndef RS_SMALL_FILE_H
#define RS_SMALL_FILE_H

#include <glib.h>

#define RS_SMALL_FILE_BYTES ((gsize)64 * 1024 * 1024)

/* The content of a file or pipe, with a NUL behind it that `size` does not count; the
 * caller's to g_free().  NULL with `error` set if it cannot be read, is empty, or is
 * longer than the limit. */
char *
rs_small_file_read(const char *path, gsize *size, GError **error);

#endif
