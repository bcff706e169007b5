/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "table.h"

#include <string.h>

#define GAP 2
#define INDENT 2

struct rs_table {
    const rs_column *columns;
    guint n_columns;
    GPtrArray *cells;
};

rs_table *
rs_table_new(const rs_column *columns, guint n_columns)
{
    rs_table *table = g_new0(rs_table, 1);
    table->columns = columns;
    table->n_columns = n_columns;
    table->cells = g_ptr_array_new_with_free_func(g_free);
    return table;
}

void
rs_table_free(rs_table *table)
{
    if (table != NULL) {
        g_ptr_array_unref(table->cells);
        g_free(table);
    }
}

void
rs_table_add(rs_table *table, char *cell)
{
    g_ptr_array_add(table->cells, cell);
}

gboolean
rs_table_is_empty(const rs_table *table)
{
    return table->cells->len == 0;
}

static guint
n_rows(const rs_table *table)
{
    return table->cells->len / table->n_columns;
}

static const char *
cell(const rs_table *table, guint row, guint column)
{
    return g_ptr_array_index(table->cells, row * table->n_columns + column);
}

static guint
column_width(const rs_table *table, guint column)
{
    glong width = g_utf8_strlen(table->columns[column].title, -1);
    for (guint row = 0; row < n_rows(table); row++) {
        width = MAX(width, g_utf8_strlen(cell(table, row, column), -1));
    }
    return (guint)width;
}

static gboolean
is_nothing(const char *text)
{
    return *text == '\0' || g_str_equal(text, "0") || g_str_equal(text, "-");
}

static gboolean
may_be_left_out(const rs_table *table, guint column)
{
    rs_column_optional optional = table->columns[column].optional;
    gboolean may = optional != RS_COLUMN_ALWAYS;
    for (guint row = 0; row < n_rows(table) && may; row++) {
        const char *text = cell(table, row, column);
        may = optional == RS_COLUMN_UNLESS_EMPTY ? *text == '\0' : is_nothing(text);
    }
    return may;
}

/* Chooses the columns to print: widths[i] is 0 for those left out. */
static void
fit(const rs_table *table, guint width, guint *widths, GString *left_out)
{
    guint total = INDENT;
    for (guint i = 0; i < table->n_columns; i++) {
        gboolean skip = may_be_left_out(table, i);
        widths[i] = skip ? 0 : column_width(table, i);
        total += skip ? 0 : widths[i] + GAP;
    }
    while (total - GAP > width) {
        guint least = table->n_columns;
        for (guint i = 0; i < table->n_columns; i++) {
            guint importance = table->columns[i].importance;
            if (widths[i] > 0 && importance > 0 &&
                (least == table->n_columns ||
                 importance >= table->columns[least].importance)) {
                least = i;
            }
        }
        if (least == table->n_columns) {
            return;
        }
        total -= widths[least] + GAP;
        widths[least] = 0;
        g_string_append_printf(left_out, "%s%s", left_out->len > 0 ? ", " : "",
                               table->columns[least].title);
    }
}

static void
print_cell(GString *line, const char *text, guint width, gboolean number)
{
    guint length = (guint)g_utf8_strlen(text, -1);
    guint pad = width > length ? width - length : 0;
    g_string_append_printf(line, "%*s%s%*s", number ? (int)pad : 0, "", text,
                           number ? 0 : (int)pad, "");
    g_string_append_printf(line, "%*s", GAP, "");
}

static void
print_line(const rs_table *table, FILE *out, const guint *widths, gint row)
{
    GString *line = g_string_new(NULL);
    g_string_append_printf(line, "%*s", INDENT, "");
    for (guint i = 0; i < table->n_columns; i++) {
        if (widths[i] > 0) {
            print_cell(line,
                       row < 0 ? table->columns[i].title : cell(table, (guint)row, i),
                       widths[i], table->columns[i].number);
        }
    }
    g_strchomp(line->str);
    fprintf(out, "%s\n", line->str);
    g_string_free(line, TRUE);
}

void
rs_table_print(const rs_table *table, FILE *out, guint width)
{
    g_autofree guint *widths = g_new0(guint, table->n_columns);
    GString *left_out = g_string_new(NULL);
    fit(table, width, widths, left_out);
    print_line(table, out, widths, -1);
    for (guint row = 0; row < n_rows(table); row++) {
        print_line(table, out, widths, (gint)row);
    }
    if (left_out->len > 0) {
        fprintf(out, "  (left out for width: %s)\n", left_out->str);
    }
    g_string_free(left_out, TRUE);
}
