/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts: what a batch keeps of each capture, and everything that its common files are made
 * of.  A part is a file of lines, each a JSON object:
 *
 *   {"rocescope_part":1, …}                  the head: what the capture is, see batch_work.h
 *   {"sheet":"streams","columns":["id",…]}   before the first row of a sheet
 *   {"streams":[0,…]}                        a row of that sheet
 *   {"end":{"lines":7,"digest":"…"}}         how many lines stand before, and their digest
 *
 * It can be read without any other file.  Damage anywhere shows in the last line.
 *
 * The one rule: a part is whole or it is no part.
 */
#ifndef RS_PART_H
#define RS_PART_H

#include <glib.h>
#include <jansson.h>

#define RS_PART_VERSION 1

typedef struct rs_part_writer rs_part_writer;

/* Begins a part at `path`; takes `head` over, and adds the version. */
rs_part_writer *
rs_part_writer_new(const char *path, json_t *head, GError **error);

/* Adds a row of a sheet: its columns by name, and their values in the same order; takes
 * `values` over. */
void
rs_part_writer_add(rs_part_writer *writer, const char *sheet,
                   const char *const *columns, guint n_columns, json_t *values);

/* Has the part appear; frees the writer, also when it fails. */
gboolean
rs_part_writer_commit(rs_part_writer *writer, GError **error);

typedef struct rs_part rs_part;

/* A row: pointers hold until the next one. */
typedef struct rs_part_row {
    const char *sheet;
    const json_t *columns; /* array of names */
    const json_t *values;  /* array, of the same length */
} rs_part_row;

/* Opens a part and reads it through; NULL with `error` set unless it is whole. */
rs_part *
rs_part_open(const char *path, GError **error);

void
rs_part_close(rs_part *part);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_part, rs_part_close)

/* The part's. */
const json_t *
rs_part_head(const rs_part *part);

/* The digest of its lines: the part's. */
const char *
rs_part_digest(const rs_part *part);

/* The next row; FALSE: there is none. */
gboolean
rs_part_next(rs_part *part, rs_part_row *row);

/* The same, to be kept: pointers hold as long as what is returned, a new reference, and the
 * part; NULL: there is none. */
json_t *
rs_part_take(rs_part *part, rs_part_row *row);

#endif
