/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shares of a batch: who of several machines does which captures.
 *
 * Files whose names make one set of them stay together; such units go, the largest first,
 * each to the share that has the fewest bytes so far.  All machines have to see the same
 * files.
 *
 * The one rule: every file is in exactly one share, and which one depends on nothing but
 * the paths and sizes of all files.
 */
#ifndef RS_BATCH_SHARE_H
#define RS_BATCH_SHARE_H

#include "batch_inputs.h"

#include <glib.h>

#define RS_BATCH_MAX_SHARES 4096

typedef struct rs_batch_share {
    guint number; /* from 1 */
    guint of;     /* 1: the whole batch */
} rs_batch_share;

/* Reads "3/8"; or "slurm": from the variables of an array of jobs, which has to have no
 * gaps.  FALSE with `error` set. */
gboolean
rs_batch_share_parse(const char *text, rs_batch_share *share, GError **error);

/* How much is in a share. */
typedef struct rs_batch_share_size {
    guint64 inputs; /* files; those that stay together count as one */
    guint64 bytes;
} rs_batch_share_size;

/* Divides files (rs_batch_file, sorted) into `of` shares: of each file the share, from 0
 * on, and in `sizes`, of `of` elements, what is in each.  g_free(). */
guint *
rs_batch_share_divide(const GPtrArray *files, guint of, rs_batch_share_size *sizes);

#endif
