/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The database of a batch: parts as tables of SQLite.
 *
 * Table `captures` has a row for each capture, `no_captures` one for each file that is
 * none; every other table is a sheet of the report (sheets.h) with the capture's number in
 * front.  The views rank captures and streams by what is worst.  What columns mean stands
 * as comments in the schema.
 *
 * The one rule: content and order come from the parts alone, so that the same parts make
 * the same database.
 */
#ifndef RS_DATABASE_H
#define RS_DATABASE_H

#include "parts_ahead.h"

#include <glib.h>
#include <jansson.h>

#define RS_DATABASE_VERSION 1 /* PRAGMA user_version */

typedef struct rs_database rs_database;

/* Makes a database at `path`, where there is no file. */
rs_database *
rs_database_new(const char *path, GError **error);

void
rs_database_free(rs_database *database);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_database, rs_database_free)

/* Adds the next part as the next capture. */
gboolean
rs_database_add(rs_database *database, rs_parts_ahead *parts, GError **error);

/* Makes indexes and views; from now on queries can be asked. */
gboolean
rs_database_index(rs_database *database, GError **error);

/* Adds a row to a table of ours that is no sheet: all of its columns, in an array. */
gboolean
rs_database_put(rs_database *database, const char *table, const json_t *values,
                GError **error);

/* Has everything stay. */
gboolean
rs_database_finish(rs_database *database, GError **error);

/* Takes a row of an answer as an object of its columns, in their order; FALSE: no more. */
typedef gboolean (*rs_database_visitor)(const json_t *row, void *ctx);

/* Asks; `sql` is ours, `limit` the value of its "?", if it has one. */
gboolean
rs_database_ask(rs_database *database, const char *sql, gint64 limit,
                rs_database_visitor visit, void *ctx, GError **error);

/* The number in the only column of the only row of an answer. */
gboolean
rs_database_count(rs_database *database, const char *sql, guint64 *n, GError **error);

/* Names of the columns of an answer; NULL with `error` set.  g_strfreev(). */
GStrv
rs_database_columns(rs_database *database, const char *sql, GError **error);

#endif
