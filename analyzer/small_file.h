/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that are read as a whole: what the user tells beside the captures.
 *
 * The one rule: no file takes more memory than the limit, whatever it claims to be.
 */
#ifndef RS_SMALL_FILE_H
#define RS_SMALL_FILE_H

#include <glib.h>
#include <jansson.h>

#define RS_SMALL_FILE_BYTES ((gsize)64 * 1024 * 1024)

/* The content of a file or pipe, without a byte order mark in front and with a NUL behind
 * it that `size` does not count; the caller's to g_free().  NULL with `error` set if it
 * cannot be read, is empty, or is longer than the limit. */
char *
rs_small_file_read(const char *path, gsize *size, GError **error);

/* The content as JSON, json_decref() by the caller; NULL with `error` set if it is none. */
json_t *
rs_small_file_json(const char *path, const char *text, gsize size, GError **error);

/* A copy of the line that begins at *at, which moves on to the one behind it, without its
 * end; the caller's to g_free().  NULL at `end`.  `is_text` tells of a line with a NUL in
 * it, whose copy ends there. */
char *
rs_small_file_line(const char **at, const char *end, gboolean *is_text);

#endif
