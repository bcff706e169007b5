/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that a batch is about: PATHs are files, directories, or patterns for names
 * ("*.pcap", as shells have them) where nothing has that name itself.
 *
 * Directories are read with everything below them; each once, however many links lead to
 * it, and by its own name rather than a link's.  So is each file.  What is neither file
 * nor directory is passed over, and so is everything below the batch's own directory and
 * below those that other batches made, such as the other shares of this one.
 *
 * The one rule: the same files are found, and in the same order, whatever the order of the
 * PATHs and of directories.
 */
#ifndef RS_BATCH_INPUTS_H
#define RS_BATCH_INPUTS_H

#include <glib.h>

typedef struct rs_batch_file {
    char *path; /* tidy, below the PATH as it was given */
    guint64 bytes;
    gboolean named; /* by a PATH, so that it has to be a capture */
    char *refusal;  /* why it cannot be read: one line; NULL: it may be tried */
} rs_batch_file;

/* Files by their paths, compared byte by byte; elements are rs_batch_file.  What of
 * `paths` is not there is among them, refused.  `own_directory` need not exist. */
GPtrArray *
rs_batch_inputs_find(const char *const *paths, const char *own_directory);

#endif
