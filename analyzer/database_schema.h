/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a batch's database consists of; each text is SQL and the caller's to g_free(). */
#ifndef RS_DATABASE_SCHEMA_H
#define RS_DATABASE_SCHEMA_H

#include "sheets.h"

#include <glib.h>

/* Columns of `captures` that come from the head of a part, before those of its sheet. */
typedef struct rs_database_head_column {
    const char *name;
    const char *type; /* with its constraints */
    const char *what;
} rs_database_head_column;

extern const rs_database_head_column rs_database_head_columns[];
extern const guint rs_database_n_head_columns;

/* Whether a sheet becomes a table.  Those that would make parts as large as reports do
 * not: the reports tell what is in them. */
gboolean
rs_database_keeps(const rs_sheet *sheet);

/* The table that a sheet becomes, and an index of its captures. */
char *
rs_database_table(const rs_sheet *sheet);

/* "INSERT INTO …" with a "?" for each column. */
char *
rs_database_insert(const char *table, gsize n_columns);

/* How many columns the table of a sheet has. */
gsize
rs_database_n_columns(const rs_sheet *sheet);

/* The view that ranks captures. */
char *
rs_database_captures_view(void);

/* Tables that are no sheets, before them; indexes and the other view, behind them. */
extern const char rs_database_tables[];
extern const char rs_database_views[];

/* The worst hosts and links first. */
#define RS_DATABASE_WORST "lost DESC, resent DESC, held_ns DESC, ce DESC"

/* Asks for streams as each capture saw them, those of one stream and day together (column
 * "key"), in the order of time; for fleet.c. */
extern const char rs_database_sightings[];

#endif
