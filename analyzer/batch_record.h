/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a directory of reports is of: the batches that went into it, and which shares of
 * them.  It makes the results of a share tell for themselves what else there is.
 *
 *   {"rocescope_batch":1,
 *    "batches":[{"options":"…","found":"…","inputs":100,"bytes":…,
 *                "shares":{"of":8,"have":[[3,12,…]]}}],
 *    "digest":"…"}
 *
 *   "options"   key of the options and the program (batch_key.h)
 *   "found"     digest of the paths and sizes of all files that were found, before they
 *               were divided
 *   "inputs"    how many they are; rotated files that stay together count as one
 *   "bytes"     of all of them
 *   "shares"    null: all of it is here; else how many there are, and of each that is
 *               here its number, inputs and bytes
 *   "digest"    of the text of "batches"
 *
 * The one rule: records add up to the same record in any order and grouping, and those of
 * all shares to that of the batch that was never divided.
 */
#ifndef RS_BATCH_RECORD_H
#define RS_BATCH_RECORD_H

#include "batch_share.h"

#include <glib.h>
#include <stdio.h>

#define RS_BATCH_RECORD_VERSION 1

typedef struct rs_batch_record rs_batch_record;

/* Shares of one batch that are not here. */
typedef struct rs_batch_lack {
    guint of;                 /* shares */
    const GArray *numbers;    /* guint, of those that are missing, from 1 on */
    rs_batch_share_size size; /* of these together */
} rs_batch_lack;

/* Of nothing. */
rs_batch_record *
rs_batch_record_new(void);

void
rs_batch_record_free(rs_batch_record *record);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_batch_record, rs_batch_record_free)

/* Adds a share of a batch with these options, which found these files: `all` in total and
 * `size` of them in this share. */
void
rs_batch_record_add(rs_batch_record *record, const char *options, const char *found,
                    const rs_batch_share *share, const rs_batch_share_size *all,
                    const rs_batch_share_size *size);

/* Adds everything that another one is of. */
void
rs_batch_record_merge(rs_batch_record *record, const rs_batch_record *other);

/* How many sorts of options and programs the batches were made with. */
guint
rs_batch_record_n_options(const rs_batch_record *record);

/* Tells of each batch that is not whole; what it is handed holds for the call. */
typedef void (*rs_batch_record_visitor)(const rs_batch_lack *lack, void *ctx);

void
rs_batch_record_lacks(const rs_batch_record *record, rs_batch_record_visitor visit,
                      void *ctx);

/* Reads one; NULL with `error` set unless it is whole. */
rs_batch_record *
rs_batch_record_read(const char *path, GError **error);

/* Writes it.  Write errors stay in the stream. */
void
rs_batch_record_write(const rs_batch_record *record, FILE *out);

#endif
