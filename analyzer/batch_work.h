/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is done with one capture of a batch, in a worker of its own.
 *
 * A capture whose part says that it was done with this key, and whose reports are as that
 * part left them, is done.  Of any other the reports appear first and the part at last.
 *
 * The head of a part has these members:
 *
 *   "tool"      what made it: "name", "version"
 *   "name"      of the capture, as rs_batch_name() makes it of its first file
 *   "status"    see rs_batch_status
 *   "reason"    why it is not complete, or null
 *   "key"       see batch_key.h; null: it has to be tried again
 *   "files"     "path" and "bytes" of each, in the order of time
 *   "findings"  how many of each severity: "critical", "warning", "note"; null without
 *               a report
 *   "reports"   "file" below the directory and "digest" of each
 *
 * The one rule: no capture is reported twice, and none whose report would differ is passed
 * over.
 */
#ifndef RS_BATCH_WORK_H
#define RS_BATCH_WORK_H

#include "batch_dir.h"
#include "options.h"
#include "workers.h"

#include <glib.h>
#include <jansson.h>

typedef enum rs_batch_status {
    RS_BATCH_COMPLETE,
    RS_BATCH_INCOMPLETE, /* not all of it could be read; there is a report of the rest */
    RS_BATCH_UNREADABLE, /* none of it could be read: there is no report */
    RS_BATCH_FAILED,     /* its worker came to no end: there is no report */
    RS_BATCH_NO_CAPTURE, /* a file that is none, and nobody said that it is */
} rs_batch_status;

#define RS_BATCH_STATUSES 5

/* Extensions of the reports of each capture. */
#define RS_BATCH_FORMS 2

extern const char *const rs_batch_extensions[RS_BATCH_FORMS];

/* "complete", "incomplete", "unreadable", "failed", "no_capture". */
const char *
rs_batch_status_name(rs_batch_status status);

/* FALSE: there is no such name. */
gboolean
rs_batch_status_from(const char *name, rs_batch_status *status);

/* A capture: one file, or a rotated set. */
typedef struct rs_batch_capture {
    char *name;
    GPtrArray *files; /* rs_batch_file, the caller's, in the order of time */
    guint64 bytes;    /* of all of them */
} rs_batch_capture;

typedef struct rs_batch_task {
    const rs_options *options;
    const char *common_key;
    const rs_batch_dir *dir;
} rs_batch_task;

/* Does it.  Tells {"position"} while a capture is read, in bytes of its files; at last
 * {"status","reason","reused","findings"}, or {"failure"} if something could not be
 * written. */
void
rs_batch_work(const rs_batch_task *task, const rs_batch_capture *capture,
              rs_worker_line *parent);

/* Writes the part of a capture whose worker came to no end. */
gboolean
rs_batch_work_failed(const rs_batch_task *task, const rs_batch_capture *capture,
                     const char *reason, GError **error);

#endif
