/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What came of a batch, on the terminal. */
#ifndef RS_BATCH_TEXT_H
#define RS_BATCH_TEXT_H

#include "batch_files.h"
#include "batch_run.h"
#include "database.h"
#include "table.h"

#include <glib.h>
#include <stdio.h>

/* How many captures there are of which kind. */
typedef struct rs_batch_counts {
    guint by_status[RS_BATCH_STATUSES];
    guint critical, warning; /* whose worst finding is that */
    guint reused, missing;
} rs_batch_counts;

void
rs_batch_count(rs_batch_counts *counts, const rs_batch_result *results,
               guint n_captures);

/* The captures that something is wrong with, the worst first, `top` at most; 0: all.
 * NULL with `error` set if the database cannot be asked. */
rs_table *
rs_batch_text_worst(rs_database *database, guint top, GError **error);

/* Prints counts, table (NULL: none), and where it all is. */
void
rs_batch_text(FILE *out, const rs_batch_counts *counts, const rs_batch_extent *extent,
              const rs_table *worst, guint width, const char *where);

#endif
