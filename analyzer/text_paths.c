/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text_paths.h"

#include "format.h"
#include "rails.h"

/* clang-format off */
static const rs_column columns[] = {
    {"from", FALSE, 0, FALSE}, {"to", FALSE, 0, FALSE}, {"packets", TRUE, 1, FALSE},
    {"bytes", TRUE, 0, FALSE},
};
/* clang-format on */

void
rs_text_paths(const rs_text *r)
{
    g_autoptr(rs_rails) rails = rs_rails_new(r->analysis, r->summary);
    if (!rails->known) {
        return;
    }
    g_autofree char *within = rs_format_bytes(rails->within_bytes);
    g_autofree char *across = rs_format_bytes(rails->across_bytes);
    g_autofree char *unknown = rs_format_bytes(rails->unknown_bytes);
    g_autofree char *line =
        g_strdup_printf("Within a rail: %s. Across: %s. An end without a rail: %s.",
                        within, across, unknown);
    rs_text_heading(r, "Rails");
    rs_text_wrapped(r, line, 2);
    if (rails->crossings->len == 0) {
        return;
    }
    g_autoptr(rs_table) table = rs_table_new(columns, G_N_ELEMENTS(columns));
    guint shown = rs_text_rows_shown(r, rails->crossings->len);
    for (guint i = 0; i < shown; i++) {
        const rs_rail_crossing *crossing = g_ptr_array_index(rails->crossings, i);
        rs_table_add(table, g_strdup(crossing->src->label));
        rs_table_add(table, g_strdup(crossing->dst->label));
        rs_text_add_count(table, crossing->packets);
        rs_table_add(table, rs_format_bytes(crossing->bytes));
    }
    rs_table_print(table, r->out, r->width);
    rs_text_say_more(r, rails->crossings->len, shown);
}
