/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that reports are written to.
 *
 * The one rule: a regular file appears whole or not at all.  One that was there keeps its
 * mode, and the links that lead to it.  What is no regular file (/dev/null, a FIFO, standard
 * output) is written in place.
 */
#ifndef RS_OUTPUT_H
#define RS_OUTPUT_H

#include <glib.h>
#include <stdio.h>

typedef struct rs_output rs_output;

/* Writes all of it to a file, a pipe or a terminal that may make it wait, whatever signals come.
 * FALSE with errno set. */
gboolean
rs_output_put(int fd, const char *bytes, gsize n_bytes);

/* Opens `path` ("-": standard output) for writing. */
rs_output *
rs_output_open(const char *path, GError **error);

/* Whether it could be opened, for who will write much later; leaves nothing behind. */
gboolean
rs_output_probe(const char *path, GError **error);

/* The path that symbolic links lead to, of a file that need not be there; the caller's to
 * g_free().  NULL with errno set if they lead nowhere. */
char *
rs_output_follow(const char *path);

FILE *
rs_output_stream(rs_output *output);

/* Whether what is written is there at once: there is no file that appears whole. */
gboolean
rs_output_is_in_place(const rs_output *output);

/* Makes the file appear and frees the output, also when it fails. */
gboolean
rs_output_commit(rs_output *output, GError **error);

/* Gives up: nothing appears.  NULL is fine. */
void
rs_output_abandon(rs_output *output);

#endif
