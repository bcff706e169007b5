/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report_csv.h"

#include "csv_sheet.h"

/* The file of one sheet. */
typedef struct table {
    rs_output *output; /* NULL if it was not opened */
    rs_csv csv;
} table;

static gboolean
write_row(const rs_sheet *sheet, const json_t *row, void *data)
{
    table *tables = data;
    rs_csv_row(&tables[sheet - rs_sheets].csv, sheet, row);
    return TRUE; /* a write that failed stays in the stream */
}

gboolean
rs_report_csv(const rs_report *report, const char *directory, GError **error)
{
    g_autofree table *tables = g_new0(table, rs_n_sheets);
    gboolean good = rs_csv_make_directory(directory, error);
    for (guint i = 0; i < rs_n_sheets && good; i++) {
        tables[i].output = rs_csv_open(directory, &rs_sheets[i], &tables[i].csv, error);
        good = tables[i].output != NULL;
    }
    if (good) {
        (void)rs_sheets_visit(report, NULL, write_row, tables);
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

gboolean
rs_report_csv_probe(const char *directory, GError **error)
{
    return rs_csv_probe(directory, &rs_sheets[0], error);
}
