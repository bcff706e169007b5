/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The common files of a batch: database, summaries, index.
 *
 * The one rule: they are made of the parts, in the order of their names, and of nothing
 * else, so that any way to the same parts leads to the same files.
 */
#ifndef RS_BATCH_FILES_H
#define RS_BATCH_FILES_H

#include "batch_dir.h"
#include "database.h"
#include "html_page.h"

#include <glib.h>
#include <stdio.h>

/* What the common files tell beside the parts. */
typedef struct rs_batch_extent {
    guint n_missing;          /* captures that were not dealt with */
    gboolean merged;          /* from parts; else a batch was interrupted */
    gboolean parts_missing;   /* beside those captures */
    guint64 n_inputs_missing; /* of those parts, as far as that is known */
} rs_batch_extent;

/* Adds their names to a set. */
void
rs_batch_files_names(GHashTable *files);

/* Is asked once, with the database that all of them were made of. */
typedef gboolean (*rs_batch_asker)(rs_database *database, void *ctx, GError **error);

/* Makes all of them; `names` are those of the parts, sorted. */
gboolean
rs_batch_files_write(const rs_batch_dir *dir, const GPtrArray *names,
                     const rs_batch_extent *extent, rs_batch_asker ask, void *ctx,
                     GError **error);

/* Writes one of them; FALSE with `error` set if the database cannot be asked.  Write
 * errors stay in the stream. */
typedef gboolean (*rs_batch_writer)(FILE *out, rs_database *database,
                                    const rs_batch_extent *extent, GError **error);

gboolean
rs_batch_summary_csv(FILE *out, rs_database *database, const rs_batch_extent *extent,
                     GError **error);
gboolean
rs_batch_summary_json(FILE *out, rs_database *database, const rs_batch_extent *extent,
                      GError **error);
/* The section of index.html with the matrix of hosts, where there are enough of them. */
gboolean
rs_batch_matrix(rs_html *page, rs_database *database, GError **error);
/* The section with the trend over days, where there are several. */
gboolean
rs_batch_trend(rs_html *page, rs_database *database, GError **error);
gboolean
rs_batch_index(FILE *out, rs_database *database, const rs_batch_extent *extent,
               GError **error);

#endif
