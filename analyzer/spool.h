/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Temporary files that nobody sees, in $TMPDIR, else in /var/tmp: what does not fit into
 * memory.
 *
 * The one rule: they have no name, so nothing is left behind, however the program ends.
 */
#ifndef RS_SPOOL_H
#define RS_SPOOL_H

#include <glib.h>

/* Makes standard input readable from the beginning more than once: what is no file is
 * copied into one, which takes its place. */
gboolean
rs_spool_stdin(GError **error);

/* Back to where standard input was when it was spooled. */
gboolean
rs_spool_rewind_stdin(GError **error);

/* Rows that grow with the highest number asked for, all zero at first, in a file that is
 * mapped into memory. */
typedef struct rs_spooled_rows rs_spooled_rows;

rs_spooled_rows *
rs_spooled_rows_new(gsize row_bytes, GError **error);

/* NULL is fine. */
void
rs_spooled_rows_free(rs_spooled_rows *rows);

/* How many there are: one more than the highest number asked for. */
guint64
rs_spooled_rows_n(const rs_spooled_rows *rows);

/* A row, made if need be; valid until the next one is made.  NULL with `error` set if there
 * is no room on the disk. */
gpointer
rs_spooled_rows_make(rs_spooled_rows *rows, guint64 number, GError **error);

/* A row that there is. */
gpointer
rs_spooled_rows_at(const rs_spooled_rows *rows, guint64 number);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_spooled_rows, rs_spooled_rows_free)

#endif
