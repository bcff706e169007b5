/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a batch or of a merge: the common files, what is told, and the exit status.
 *
 * The one rule: a directory tells of every capture that belongs to it; the exit status
 * tells of those that this run had to do with.
 */
#ifndef RS_BATCH_OUTCOME_H
#define RS_BATCH_OUTCOME_H

#include "batch_dir.h"
#include "batch_files.h"
#include "batch_run.h"
#include "options.h"
#include "table.h"

#include <glib.h>

typedef struct rs_batch_outcome {
    rs_batch_dir *dir;         /* the caller's, as are options */
    const rs_options *options; /* top, fail_on, quiet */
    GPtrArray *names;          /* char *: captures that belong to the directory */
    GArray *results;           /* rs_batch_result, of each */
    rs_batch_extent extent;    /* its n_missing is counted when files are written */
    gboolean told_in_part;     /* something else was left out that the user gave */
    rs_table *worst;           /* of the captures; NULL: nobody asked */
} rs_batch_outcome;

void
rs_batch_outcome_init(rs_batch_outcome *outcome, rs_batch_dir *dir,
                      const rs_options *options);

void
rs_batch_outcome_clear(rs_batch_outcome *outcome);

/* Adds a capture; to be done in the order of their names. */
void
rs_batch_outcome_add(rs_batch_outcome *outcome, const char *name,
                     const rs_batch_result *result);

/* Tells the directory of everything that may appear in it. */
gboolean
rs_batch_outcome_expect(const rs_batch_outcome *outcome, GError **error);

typedef enum rs_batch_outcome_form {
    RS_BATCH_ALL_FILES,
    RS_BATCH_PARTS_ONLY, /* of a share: the common files are made when it is merged */
} rs_batch_outcome_form;

/* Writes the common files, and removes what an earlier run left that is none of this
 * one's, once there is anything to put in its place. */
gboolean
rs_batch_outcome_write(rs_batch_outcome *outcome, rs_batch_outcome_form form,
                       GError **error);

/* Whether every capture was dealt with. */
gboolean
rs_batch_outcome_is_complete(const rs_batch_outcome *outcome);

/* The exit status. */
int
rs_batch_outcome_status(const rs_batch_outcome *outcome);

/* That of a run which could not even begin. */
int
rs_batch_outcome_without(const GError *error);

/* Prints it to standard output; `where` is told at the end.  FALSE: it cannot be
 * written. */
gboolean
rs_batch_outcome_print(const rs_batch_outcome *outcome, const char *where);

#endif
