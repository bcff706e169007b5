/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "csv_sheet.h"

#include "error.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <unistd.h>

static gboolean
fail_directory(const char *path, int why, GError **error)
{
    g_set_error(error, RS_ERROR, RS_ERROR_IO, "%s: cannot be made a directory: %s",
                path, g_strerror(why));
    return FALSE;
}

gboolean
rs_csv_make_directory(const char *path, GError **error)
{
    return g_mkdir_with_parents(path, 0777) == 0 || fail_directory(path, errno, error);
}

static char *
path_of(const char *directory, const rs_sheet *sheet)
{
    g_autofree char *name = g_strconcat(sheet->name, ".csv", NULL);
    return g_build_filename(directory, name, NULL);
}

gboolean
rs_csv_probe(const char *directory, const rs_sheet *sheet, GError **error)
{
    if (g_file_test(directory, G_FILE_TEST_IS_DIR)) {
        g_autofree char *path = path_of(directory, sheet);
        return rs_output_probe(path, error);
    }
    g_autofree char *above = g_strdup(directory);
    while (!g_file_test(above, G_FILE_TEST_EXISTS)) { /* "." and "/" do */
        char *next = g_path_get_dirname(above);
        g_free(above);
        above = next;
    }
    if (!g_file_test(above, G_FILE_TEST_IS_DIR)) {
        return fail_directory(directory, ENOTDIR, error);
    }
    return access(above, W_OK | X_OK) == 0 || fail_directory(directory, errno, error);
}

rs_output *
rs_csv_open(const char *directory, const rs_sheet *sheet, rs_csv *csv, GError **error)
{
    g_autofree char *path = path_of(directory, sheet);
    rs_output *output = rs_output_open(path, error);
    if (output == NULL) {
        return NULL;
    }
    rs_csv_init(csv, rs_output_stream(output));
    for (guint i = 0; i < sheet->n_columns; i++) {
        rs_csv_text(csv, sheet->columns[i].name);
    }
    rs_csv_end_record(csv);
    return output;
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

void
rs_csv_row(rs_csv *csv, const rs_sheet *sheet, const json_t *row)
{
    for (guint i = 0; i < sheet->n_columns; i++) {
        g_auto(rs_value) value;
        (void)rs_column_read(&sheet->columns[i], row, &value);
        write_value(csv, &value);
    }
    rs_csv_end_record(csv);
}
