/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys: what the report of a capture depends on.
 *
 * The program itself and the libraries that it reads and names traffic with; every option
 * that changes a report, and the contents of the user's tables; the paths of the capture's
 * files, since reports name them, and their contents.  No time stamp and no number of a
 * worker.
 *
 * The one rule: of two captures with the same key, the reports are the same.  An option
 * that changes reports is added here.
 */
#ifndef RS_BATCH_KEY_H
#define RS_BATCH_KEY_H

#include "batch_inputs.h"
#include "options.h"

#include <glib.h>

/* What all captures of a batch have in common; g_free(). */
char *
rs_batch_key_common(const rs_options *options);

/* The key of a capture: of its files in their order, the paths and digests; g_free(). */
char *
rs_batch_key(const char *common, const char *const *paths, const char *const *digests,
             guint n_files);

/* What was found for a batch: the paths and sizes of files (rs_batch_file), and the label
 * (NULL: none) that tells them from those of another host; g_free(). */
char *
rs_batch_key_found(const GPtrArray *files, const char *label);

#endif
