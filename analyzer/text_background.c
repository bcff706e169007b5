/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text_background.h"

#include "background.h"
#include "format.h"
#include "table.h"

/* clang-format off */
static const rs_column background_columns[] = {
    {"protocol", FALSE, 0, FALSE}, {"category", FALSE, 1, FALSE}, {"flows", TRUE, 1, FALSE},
    {"packets", TRUE, 0, FALSE}, {"bytes", TRUE, 0, FALSE},
};
/* clang-format on */

void
rs_text_background(const rs_text *r)
{
    const rs_background *background = r->analysis->watchers.background;
    guint n = background != NULL ? rs_background_n_rows(background) : 0;
    if (n == 0) {
        return;
    }
    rs_text_heading(r, "What else is on the wire");
    g_autoptr(rs_table) table =
        rs_table_new(background_columns, G_N_ELEMENTS(background_columns));
    guint shown = rs_text_rows_shown(r, n);
    for (guint i = 0; i < shown; i++) {
        const rs_background_row *row = rs_background_row_at(background, i);
        rs_table_add(table, rs_format_safe(row->protocol));
        rs_table_add(table, rs_format_safe(row->category));
        rs_text_add_count(table, row->flows);
        rs_text_add_count(table, row->packets);
        rs_table_add(table, rs_format_bytes(row->bytes));
    }
    rs_table_print(table, r->out, r->width);
    rs_text_say_more(r, n, shown);
}
