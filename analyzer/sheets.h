/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report as tables: what CSV files and databases are made of.
 *
 * The one rule: a row is made of an object of the JSON report, and a column is a path
 * into it, so that no table can say anything else than the JSON report.
 */
#ifndef RS_SHEETS_H
#define RS_SHEETS_H

#include "report.h"

#include <glib.h>
#include <jansson.h>
#include <stdio.h>

typedef enum rs_value_type {
    RS_VALUE_NULL, /* of a value alone: not known; no column has this type */
    RS_VALUE_INTEGER,
    RS_VALUE_REAL,
    RS_VALUE_TEXT,
    RS_VALUE_BOOLEAN,
} rs_value_type;

/*
 * A path is made of keys with dots between them; behind an array stands the index of one
 * of its elements, or "*" for all of them.  What leads to an array becomes a text, its
 * elements with blanks between them.
 */
typedef struct rs_sheet_column {
    const char *name; /* snake_case; no other column of the sheet has it */
    const char *path;
    rs_value_type type;
    const char *what;   /* it is, in one line of Markdown without a full stop */
    const char *refers; /* the sheet whose `id` it is, or NULL */
} rs_sheet_column;

/*
 * Rows of most sheets are elements of an array of the report.  Rows of a sheet that
 * belongs to another one are objects of three members: "of", the `id` of the row they
 * belong to, or null if it has none; "item", an element of the array or object at `list`
 * in that row; "key", the element's name if that is an object, else null.
 */
typedef struct rs_sheet {
    const char *name; /* snake_case, in the plural */
    const char *what; /* its rows are, in one line of Markdown without a full stop */
    const char *of;   /* the sheet that it belongs to, or NULL */
    const char *list; /* path in a row of that sheet */
    const rs_sheet_column *columns;
    guint n_columns;
} rs_sheet;

extern const rs_sheet rs_sheets[];
extern const guint rs_n_sheets;

/* NULL if there is none. */
const rs_sheet *
rs_sheet_find(const char *name);

/* "integer", "real", "text", "boolean"; "null". */
const char *
rs_value_type_name(rs_value_type type);

typedef struct rs_value {
    rs_value_type type; /* RS_VALUE_NULL, or the column's */
    gint64 integer;     /* of an integer; of a boolean 0 or 1 */
    double real;
    char *text; /* UTF-8, the value's; as it stands in the report, whatever it holds */
} rs_value;

/* What stands in a column of a row.  What lies behind a null is null.  FALSE, and null,
 * if the row has no such path or something of another type there: a defect of the table,
 * which tests look for.  rs_value_clear() frees the text. */
gboolean
rs_column_read(const rs_sheet_column *column, const json_t *row, rs_value *value);

void
rs_value_clear(rs_value *value);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(rs_value, rs_value_clear)

/* All sheets and their columns as Markdown: docs/columns.md. */
void
rs_sheets_print_tables(FILE *out);

/* Takes a row, which is lent to it.  FALSE: no more rows are wanted. */
typedef gboolean (*rs_sheet_visitor)(const rs_sheet *sheet, const json_t *row,
                                     void *data);

/* Whether rows of a sheet are wanted.  Of one whose are not there are none of the sheets that
 * belong to it either. */
typedef gboolean (*rs_sheet_choice)(const rs_sheet *sheet);

/* Makes all rows of the sheets that are chosen, NULL for all, in the order of the report;
 * those that belong to a row follow it.  Each is freed before the next one is made, so that
 * memory does not follow their number.  FALSE as soon as the visitor returns that. */
gboolean
rs_sheets_visit(const rs_report *report, rs_sheet_choice choice, rs_sheet_visitor visit,
                void *data);

#endif
