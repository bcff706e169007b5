/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Directories of batches, or shares of one, made into one directory.
 *
 * Each capture comes from one of them.  Where several have it, and not the same, it is the
 * one whose status is better, and among those of one status the one whose part has the
 * greater digest: so that neither order nor grouping matters.
 *
 * The one rule: what cannot be used is named and left out, and the rest is merged.
 */
#ifndef RS_BATCH_MERGE_H
#define RS_BATCH_MERGE_H

#include "batch_outcome.h"

#include <glib.h>

/* Merges directories `paths` into that of `outcome`, which has been initialised and is
 * empty; writes everything but the common files.  Whatever is wrong with one of them is told
 * on standard error and kept in `outcome`.  FALSE with `error` set if it cannot be written,
 * or nothing is there to merge. */
gboolean
rs_batch_merge(rs_batch_outcome *outcome, const char *const *paths, GError **error);

#endif
