/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table sized to the terminal.
 *
 * The one rule: no line is wider than asked for; columns that do not fit are left out,
 * the least important first, and the last line says which.
 */
#ifndef RS_TABLE_H
#define RS_TABLE_H

#include <glib.h>
#include <stdio.h>

/* Which columns are left out though they have room. */
typedef enum rs_column_optional {
    RS_COLUMN_ALWAYS = FALSE,        /* none */
    RS_COLUMN_UNLESS_NOTHING = TRUE, /* where every cell is empty, "0" or "-" */
    RS_COLUMN_UNLESS_EMPTY,          /* where every cell is: 0 is a name */
} rs_column_optional;

typedef struct rs_column {
    const char *title;
    gboolean number;  /* aligned to the right */
    guint importance; /* 0: never left out; higher goes first */
    rs_column_optional optional;
} rs_column;

typedef struct rs_table rs_table;

/* `columns` must outlive the table. */
rs_table *
rs_table_new(const rs_column *columns, guint n_columns);

void
rs_table_free(rs_table *table);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_table, rs_table_free)

/* Adds the next cell, row by row; takes the text over. */
void
rs_table_add(rs_table *table, char *cell);

gboolean
rs_table_is_empty(const rs_table *table);

void
rs_table_print(const rs_table *table, FILE *out, guint width);

#endif
