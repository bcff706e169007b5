/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report_csv.h"

#include "csv.h"
#include "error.h"
#include "output.h"
#include "sheets.h"

#include <errno.h>
#include <glib/gstdio.h>

/* The file of one sheet. */
typedef struct table {
    rs_output *output;
    rs_csv csv;
} table;

static gboolean
make_directory(const char *path, GError **error)
{
    if (g_mkdir_with_parents(path, 0777) == 0) {
        return TRUE;
    }
    g_set_error(error, RS_ERROR, RS_ERROR_IO, "%s: cannot be made a directory: %s",
                path, g_strerror(errno));
    return FALSE;
}

static void
write_names(rs_csv *csv, const rs_sheet *sheet)
{
    for (guint i = 0; i < sheet->n_columns; i++) {
        rs_csv_text(csv, sheet->columns[i].name);
    }
    rs_csv_end_record(csv);
}

static gboolean
open_table(table *to, const rs_sheet *sheet, const char *directory, GError **error)
{
    g_autofree char *name = g_strconcat(sheet->name, ".csv", NULL);
    g_autofree char *path = g_build_filename(directory, name, NULL);
    to->output = rs_output_open(path, error);
    if (to->output == NULL) {
        return FALSE;
    }
    rs_csv_init(&to->csv, rs_output_stream(to->output));
    write_names(&to->csv, sheet);
    return TRUE;
}

static void
write_value(rs_csv *csv, const rs_value *value)
{
    switch (value->type) {
    case RS_VALUE_NULL:
        rs_csv_null(csv);
        break;
    case RS_VALUE_INTEGER:
        rs_csv_integer(csv, value->integer);
        break;
    case RS_VALUE_REAL:
        rs_csv_real(csv, value->real);
        break;
    case RS_VALUE_BOOLEAN:
        rs_csv_boolean(csv, value->integer != 0);
        break;
    case RS_VALUE_TEXT:
        rs_csv_text(csv, value->text);
        break;
    }
}

static gboolean
write_row(const rs_sheet *sheet, const json_t *row, void *data)
{
    table *tables = data;
    rs_csv *csv = &tables[sheet - rs_sheets].csv;
    for (guint i = 0; i < sheet->n_columns; i++) {
        g_auto(rs_value) value;
        (void)rs_column_read(&sheet->columns[i], row, &value);
        write_value(csv, &value);
    }
    rs_csv_end_record(csv);
    return TRUE; /* a write that failed stays in the stream */
}

gboolean
rs_report_csv(const rs_report *report, const char *directory, GError **error)
{
    g_autofree table *tables = g_new0(table, rs_n_sheets);
    gboolean good = make_directory(directory, error);
    for (guint i = 0; i < rs_n_sheets && good; i++) {
        good = open_table(&tables[i], &rs_sheets[i], directory, error);
    }
    if (good) {
        (void)rs_sheets_visit(report, write_row, tables);
    }
    for (guint i = 0; i < rs_n_sheets; i++) {
        if (good) {
            good = rs_output_commit(tables[i].output, error);
        } else {
            rs_output_abandon(tables[i].output);
        }
    }
    return good;
}
