/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of statistics.
 *
 * The one rule: a row is written with its first packet that is final, and until then with
 * every one.
 *
 * Wireshark keeps one set of rows for all windows that show a table, and each window
 * points into them: rows of an earlier look are retired, and freed when no window is
 * left.
 */
#include "stats_table.h"

#include <string.h>

#define LEAST_WIDTH 10

static unsigned
width_of(const stats_column *column)
{
    unsigned width = MAX((unsigned)strlen(column->title), LEAST_WIDTH);
    return MAX(width, column->width);
}

static char *
aligned(const char *text, const stats_column *column)
{
    int width = (int)width_of(column);
    return g_strdup_printf("%*s", column->is_left_aligned ? -width : width, text);
}

const char *
stats_table_number(const void *row, const stats_column *column, wmem_allocator_t *scope)
{
    uint64_t n;
    memcpy(&n, (const char *)row + column->offset, sizeof n);
    return wmem_strdup_printf(scope, "%" G_GUINT64_FORMAT, n);
}

static stat_tap_table *
rows_of(const stats_table *table)
{
    return g_array_index(table->ui.tables, stat_tap_table *, 0);
}

/* ---- rows ---- */

static void
write_row(stats_table *table, unsigned number, const void *row)
{
    wmem_allocator_t *scope = wmem_allocator_new(WMEM_ALLOCATOR_SIMPLE);
    for (unsigned i = 0; i < table->n_columns; i++) {
        const stats_column *column = &table->columns[i];
        stat_tap_table_item_type *cell =
            stat_tap_get_field_data(rows_of(table), number, i);
        g_free(cell->user_data.ptr_value);
        cell->user_data.ptr_value = aligned(column->text(row, column, scope), column);
        cell->type = TABLE_ITEM_STRING;
        cell->value.string_value = cell->user_data.ptr_value;
    }
    wmem_destroy_allocator(scope);
}

static unsigned
add_row(stats_table *table, uint32_t id)
{
    stat_tap_table *rows = rows_of(table);
    stat_tap_table_item_type *cells =
        g_new0(stat_tap_table_item_type, table->n_columns);
    unsigned number = rows->num_elements;
    stat_tap_init_table_row(rows, number, table->n_columns, cells);
    g_free(cells);
    g_hash_table_insert(table->row_of, GUINT_TO_POINTER(id),
                        GUINT_TO_POINTER(number + 1));
    return number;
}

void
stats_table_take(stats_table *table, const taken_packet *packet, uint32_t id)
{
    const void *row = table->row(id);
    if (row == NULL) {
        return;
    }
    if (table->session != packet->session) {
        table->session = packet->session;
        g_hash_table_remove_all(table->row_of);
    }
    gpointer found = g_hash_table_lookup(table->row_of, GUINT_TO_POINTER(id));
    unsigned number = found == NULL ? add_row(table, id) : GPOINTER_TO_UINT(found) - 1;
    if (found == NULL || !packet->is_final) {
        write_row(table, number, row);
    }
}

/* ---- what Wireshark asks for ---- */

static void
free_cells(stat_tap_table_item_type *cells, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        g_free(cells[i].user_data.ptr_value);
    }
}

static void
free_cell(stat_tap_table *rows, guint row, guint column, stat_tap_table_item_type *cell)
{
    (void)rows, (void)row, (void)column;
    g_free(cell->user_data.ptr_value);
    cell->user_data.ptr_value = NULL;
}

/* Nobody looks at retired rows any more. */
static void
free_retired(stats_table *table)
{
    for (guint i = 0; i < table->retired->len; i++) {
        stat_tap_table_item_type *cells = g_ptr_array_index(table->retired, i);
        free_cells(cells, table->n_columns);
        g_free(cells);
    }
    g_ptr_array_set_size(table->retired, 0);
}

static void
retire_rows(stats_table *table, stat_tap_table *rows)
{
    for (guint i = 0; i < rows->num_elements; i++) {
        g_ptr_array_add(table->retired, rows->elements[i]);
    }
    rows->num_elements = 0;
    g_hash_table_remove_all(table->row_of);
}

static tap_packet_status
take(void *tap_data, packet_info *pinfo, epan_dissect_t *edt, const void *tapped,
     tap_flags_t flags)
{
    (void)edt, (void)flags;
    const stat_data_t *data = tap_data;
    stats_table *table = (stats_table *)data->stat_tap_data;
    ending_take(table->take, table, pinfo, tapped);
    return TAP_PACKET_REDRAW;
}

static GPtrArray *tables; /* stats_table: all of them */

static void
reset(stat_tap_table *rows)
{
    for (guint i = 0; i < tables->len; i++) {
        stats_table *table = g_ptr_array_index(tables, i);
        if (table->ui.tables != NULL && table->ui.tables->len > 0 &&
            rows_of(table) == rows) {
            retire_rows(table, rows);
        }
    }
}

static void
init(stat_tap_table_ui *ui)
{
    stats_table *table = (stats_table *)ui;
    stat_tap_table *rows = stat_tap_find_table(ui, ui->title);
    if (rows != NULL) {
        retire_rows(table, rows);
        return;
    }
    free_retired(table);
    g_hash_table_remove_all(table->row_of);
    rows = stat_tap_init_table(ui->title, (int)table->n_columns, 0, NULL);
    stat_tap_add_table(ui, rows);
}

void
stats_table_register(stats_table *table)
{
    static tap_param filter = {PARAM_FILTER, "filter", "Filter", NULL, TRUE};
    stat_tap_table_item *fields = g_new0(stat_tap_table_item, table->n_columns);
    for (unsigned i = 0; i < table->n_columns; i++) {
        const stats_column *column = &table->columns[i];
        fields[i].type = TABLE_ITEM_STRING;
        fields[i].align = column->is_left_aligned ? TAP_ALIGN_LEFT : TAP_ALIGN_RIGHT;
        fields[i].column_name = aligned(column->title, column);
        fields[i].field_format = "%s";
    }
    table->ui.group = REGISTER_PACKET_STAT_GROUP_UNSORTED;
    table->ui.packet_func = take;
    table->ui.stat_tap_init_cb = init;
    table->ui.stat_tap_reset_table_cb = reset;
    table->ui.stat_tap_free_table_item_cb = free_cell;
    table->ui.nfields = table->n_columns;
    table->ui.fields = fields;
    table->ui.nparams = 1;
    table->ui.params = &filter;
    table->row_of = g_hash_table_new(NULL, NULL);
    table->retired = g_ptr_array_new();
    if (tables == NULL) {
        tables = g_ptr_array_new();
    }
    g_ptr_array_add(tables, table);
    register_stat_tap_table_ui(&table->ui);
}
