/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directory that a batch writes.
 *
 *   index.html summary.csv summary.json rocescope.sqlite     made at the end
 *   captures/NAME.json, captures/NAME.html                   reports
 *   .rocescope/parts/NAME.jsonl                              parts, see part.h
 *   .rocescope/manifest                                      all files that batches made
 *   .rocescope/batch.json                                    of what, see batch_record.h
 *   .rocescope/due                                           captures yet to be dealt with
 *   .rocescope/lock                                          held while a batch runs
 *   .rocescope/tmp/                                          files until they are whole
 *
 * A file stands in the manifest before it appears, so that nothing that a batch made is
 * forgotten, whatever ends it.  Nor is a part, should the manifest be lost or damaged.
 *
 * The one rule: nothing is overwritten or removed that no batch has made.
 */
#ifndef RS_BATCH_DIR_H
#define RS_BATCH_DIR_H

#include "batch_record.h"

#include <glib.h>

typedef struct rs_batch_dir rs_batch_dir;

/* Files that are about all captures. */
typedef enum rs_batch_common {
    RS_BATCH_INDEX,
    RS_BATCH_SUMMARY_CSV,
    RS_BATCH_SUMMARY_JSON,
    RS_BATCH_DATABASE,
    RS_N_BATCH_COMMON,
} rs_batch_common;

/* Their names. */
extern const char *const rs_batch_common_names[RS_N_BATCH_COMMON];

/* Makes the directory if need be, locks it, and clears what an earlier batch left half
 * done.  NULL with `error` set, of RS_ERROR_USAGE if another batch is writing there or the
 * directory holds what no batch made. */
rs_batch_dir *
rs_batch_dir_open(const char *path, GError **error);

/* Opens one to be read alone, and keeps batches from writing there.  NULL with `error` set
 * if no batch has made it, or one is writing there. */
rs_batch_dir *
rs_batch_dir_look(const char *path, GError **error);

/* Whether a directory of that name is a batch's. */
gboolean
rs_batch_dir_is_ours(const char *path);

/* Whether `path` leads to this directory. */
gboolean
rs_batch_dir_is(const rs_batch_dir *dir, const char *path);

/* Removes drafts that did not become whole, and unlocks it. */
void
rs_batch_dir_close(rs_batch_dir *dir);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_batch_dir, rs_batch_dir_close)

/* Names of files in it; g_free(). */
char *
rs_batch_dir_report(const char *name, const char *extension);
char *
rs_batch_dir_part(const char *name);

/* The path of a file in it; g_free(). */
char *
rs_batch_dir_path(const rs_batch_dir *dir, const char *file);

/* Names of captures that it has a part of, or should have: char *, sorted.
 * g_ptr_array_unref(). */
GPtrArray *
rs_batch_dir_captures(const rs_batch_dir *dir);

/* What it is of; NULL with `error` set unless that is known. */
rs_batch_record *
rs_batch_dir_read_record(const rs_batch_dir *dir, GError **error);

gboolean
rs_batch_dir_write_record(const rs_batch_dir *dir, const rs_batch_record *record,
                          GError **error);

/* Captures that the batch which writes or wrote here has not come to: what there is of them
 * may be of before.  A set of char *, empty where it came to all; NULL with `error` set if
 * it cannot be read. */
GHashTable *
rs_batch_dir_read_due(const rs_batch_dir *dir, GError **error);

/* These are, and no others. */
gboolean
rs_batch_dir_write_due(const rs_batch_dir *dir, GHashTable *names, GError **error);

/* One of them has been dealt with.  If that cannot be noted, it stays due. */
void
rs_batch_dir_note_done(const rs_batch_dir *dir, const char *name);

/* Where to write a file until it is whole: a path of its own for each `file`; g_free(). */
char *
rs_batch_dir_draft(const rs_batch_dir *dir, const char *file);

/* Has a draft, whole and on disk, appear as `file`; removes the draft if that fails. */
gboolean
rs_batch_dir_publish(const rs_batch_dir *dir, const char *draft, const char *file,
                     GError **error);

/* Has a file of another directory appear under the same name: one file with two names where
 * the file system can, else a copy.  It is on disk behind rs_batch_dir_sync(). */
gboolean
rs_batch_dir_adopt(const rs_batch_dir *dir, const rs_batch_dir *from, const char *file,
                   GError **error);

/* Sees to it that everything that was adopted is on disk. */
gboolean
rs_batch_dir_sync(const rs_batch_dir *dir, GError **error);

/* Adds to the manifest what is going to appear; a set of names. */
gboolean
rs_batch_dir_expect(rs_batch_dir *dir, GHashTable *files, GError **error);

/* Removes everything in the manifest but these, and directories that become empty, and
 * leaves these in the manifest. */
gboolean
rs_batch_dir_settle(rs_batch_dir *dir, GHashTable *files, GError **error);

#endif
