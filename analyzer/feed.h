/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frames of all files of a capture as one sequence.
 *
 * The one rule: within a file the order is the file's; between files, the one whose
 * clock is behind goes first.  A file's clock is its newest stamp, so that stamps that
 * step back reorder nothing.
 */
#ifndef RS_FEED_H
#define RS_FEED_H

#include "reader.h"

#include <glib.h>

typedef struct rs_feed rs_feed;

typedef enum rs_feed_kind {
    RS_FEED_END,      /* of everything */
    RS_FEED_FRAME,    /* `record` is the next frame of `file_i` */
    RS_FEED_FILE_END, /* of `file_i`; `problem` says why, if that was too early */
} rs_feed_kind;

/* What rs_feed_next() gives; pointers hold until the next call. */
typedef struct rs_feed_step {
    rs_feed_kind kind;
    guint file_i;
    rs_reader *reader; /* NULL for a file that could not be opened */
    rs_record record;
    const GError *problem;
} rs_feed_step;

/* `paths` are to outlive the feed.  Files are opened here, all of them, to see where in
 * time they begin; what is wrong with one is told when its turn has come. */
rs_feed *
rs_feed_new(GStrv paths);

void
rs_feed_free(rs_feed *feed);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_feed, rs_feed_free)

/* Up to `n` files at a time, from their turn on, are read ahead by a thread each. */
void
rs_feed_read_ahead(rs_feed *feed, guint n);

/* Whether to unpack the file that is read first takes longer than to analyze what it has. */
gboolean
rs_feed_takes_long(const rs_feed *feed);

void
rs_feed_next(rs_feed *feed, rs_feed_step *step);

/* Frames of one file that come next: what is at hand without reading, so that a live
 * pipe is not held up, and no more than is the file's turn. */
typedef struct rs_feed_batch {
    rs_feed_kind kind;
    guint file_i;
    rs_reader *reader;
    rs_record *records; /* the caller may write to them */
    guint n_records;    /* at least 1, if these are frames; else 0 */
    const GError *problem;
} rs_feed_batch;

#define RS_FEED_BATCH_RECORDS 64 /* at most */

/* rs_feed_next() for several frames at a time; all that it gives is valid until the next
 * call of either. */
void
rs_feed_next_batch(rs_feed *feed, rs_feed_batch *batch);

/* Nothing more is wanted: gives up the next of the files that are open.  FALSE when
 * there is none left. */
gboolean
rs_feed_abandon(rs_feed *feed, rs_feed_step *step);

/* For progress, in bytes of the files as they are: read so far; in all, or 0 if that is
 * not known. */
guint64
rs_feed_position(const rs_feed *feed);

guint64
rs_feed_total_bytes(const rs_feed *feed);

#endif
