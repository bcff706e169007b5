/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far a batch is: a line on a terminal, or lines of JSON for a scheduler.
 *
 * Each JSON line has "event", which says what else it has:
 *
 *   "sets"      while rotated files are looked at, before anything else, at most once a
 *               second: "files_done", "files"
 *   "start"     "captures", "files", "bytes": what there is to do
 *   "capture"   one has ended: "name", "status", "reason" or null, "reused": there was a
 *               report of it, "findings": how many of each severity, or null; and the
 *               members of "progress"
 *   "progress"  at most once a second: "captures_done", "captures", "bytes_done", "bytes",
 *               "elapsed_s", "bytes_per_s", "left_s" or null
 *   "end"       "complete": whether all captures were dealt with, "exit_status"
 *
 * The one rule: what cannot be told yet is null, and the terminal's line is empty when
 * anything else is printed.
 */
#ifndef RS_BATCH_PROGRESS_H
#define RS_BATCH_PROGRESS_H

#include <glib.h>
#include <jansson.h>

typedef enum rs_batch_progress_form {
    RS_BATCH_PROGRESS_NONE,
    RS_BATCH_PROGRESS_TERMINAL, /* on standard error, if that is one */
    RS_BATCH_PROGRESS_JSON,     /* on standard output */
} rs_batch_progress_form;

/* How far it is, in captures and in bytes of their files. */
typedef struct rs_batch_tally {
    guint captures, captures_done;
    guint64 bytes, bytes_done;
} rs_batch_tally;

typedef struct rs_batch_progress rs_batch_progress;

rs_batch_progress *
rs_batch_progress_new(rs_batch_progress_form form);

void
rs_batch_progress_free(rs_batch_progress *progress);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_batch_progress, rs_batch_progress_free)

/* Rotated files have been looked at, so many of so many; to be called often. */
void
rs_batch_progress_sets(rs_batch_progress *progress, guint n_done, guint n_files);

void
rs_batch_progress_start(rs_batch_progress *progress, const rs_batch_tally *tally,
                        guint n_files);

/* `message` has the members of "capture" but "name". */
void
rs_batch_progress_capture(rs_batch_progress *progress, const rs_batch_tally *tally,
                          const char *name, const json_t *message);

/* To be called often. */
void
rs_batch_progress_tick(rs_batch_progress *progress, const rs_batch_tally *tally);

/* Takes the line off the terminal, since something else is to be printed. */
void
rs_batch_progress_clear(rs_batch_progress *progress);

/* FALSE, and a complaint, if standard output could not be written; a reader that has left is
 * no failure. */
gboolean
rs_batch_progress_end(rs_batch_progress *progress, gboolean complete, int exit_status);

#endif
