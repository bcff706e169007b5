/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts one after the other, which threads of their own read ahead: to read their lines
 * takes longer than what is made of them.
 *
 * The one rule: who asks gets what rs_part_open() and rs_part_next() say, part by part, and
 * memory depends neither on the number of parts nor on their length.
 */
#ifndef RS_PARTS_AHEAD_H
#define RS_PARTS_AHEAD_H

#include "part.h"

#include <glib.h>

typedef struct rs_parts_ahead rs_parts_ahead;

/* Of `paths`, char *, which outlive it; by up to `n_threads` threads beside the caller's.
 * With none, or where the system has none left, they are read when they are asked for. */
rs_parts_ahead *
rs_parts_ahead_new(const GPtrArray *paths, guint n_threads);

void
rs_parts_ahead_free(rs_parts_ahead *ahead);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_parts_ahead, rs_parts_ahead_free)

/* Goes on to the next of the paths, of which there is one more: its head, until the next
 * call; NULL with `error` set if it is no part, and nothing comes behind that. */
const json_t *
rs_parts_ahead_open(rs_parts_ahead *ahead, GError **error);

/* The next row of that part; FALSE: there is none. */
gboolean
rs_parts_ahead_next(rs_parts_ahead *ahead, rs_part_row *row);

#endif
