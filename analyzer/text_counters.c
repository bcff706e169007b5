/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text_counters.h"

#include "counter_check.h"
#include "format.h"

/* clang-format off */
static const rs_column columns[] = {
    {"counter", FALSE, 0, FALSE}, {"rose by", TRUE, 0, FALSE}, {"captured", TRUE, 0, FALSE},
    {"of", FALSE, 1, FALSE}, {"", FALSE, 0, FALSE},
};
/* clang-format on */

/* "agrees", "20 more", "reset" */
static char *
verdict_words(const rs_counter_row *row)
{
    g_autofree char *difference = rs_format_count(row->difference);
    switch (row->verdict) {
    case RS_COUNTER_AGREES:
        return g_strdup(row->state == RS_COUNTER_WRAPPED ? "agrees, wrapped"
                                                         : "agrees");
    case RS_COUNTER_MORE:
        return g_strdup_printf("%s more", difference);
    case RS_COUNTER_FEWER:
        return g_strdup_printf("%s fewer", difference);
    case RS_COUNTER_UNKNOWN:
        break;
    }
    return g_strdup(
        row->state == RS_COUNTER_COUNTED ? "?" : rs_counter_state_name(row->state));
}

static void
add_row(rs_table *table, const rs_counter_row *row, gboolean has_streams)
{
    gboolean counted =
        row->state == RS_COUNTER_COUNTED || row->state == RS_COUNTER_WRAPPED;
    rs_table_add(table, g_strdup(row->name));
    rs_table_add(table, counted ? rs_format_count(row->increase) : g_strdup("?"));
    rs_table_add(table, has_streams ? rs_format_count(row->captured) : g_strdup("?"));
    rs_table_add(table, g_strdup(row->words));
    rs_table_add(table, verdict_words(row));
}

static gboolean
is_worth_a_line(const rs_counter_row *row)
{
    return row->verdict != RS_COUNTER_AGREES || row->increase > 0 || row->captured > 0;
}

static void
print_check(const rs_text *r, const rs_counter_check *check)
{
    gboolean placed = check->addrs->len > 0;
    g_autoptr(rs_table) table = rs_table_new(columns, G_N_ELEMENTS(columns));
    g_autofree char *path = rs_format_safe(check->told->after_path);
    g_autofree char *host =
        placed ? rs_hosts_label(r->analysis->told->hosts,
                                &g_array_index(check->addrs, roce_addr, 0))
               : g_strdup("a host that is not known");
    g_autofree char *line = g_strdup_printf("%s: %s", path, host);
    guint n = 0;
    rs_text_wrapped(r, line, 2);
    for (guint i = 0; i < check->rows->len; i++) {
        const rs_counter_row *row = &g_array_index(check->rows, rs_counter_row, i);
        if (is_worth_a_line(row)) {
            add_row(table, row, check->n_streams > 0);
            n++;
        }
    }
    if (n > 0) {
        rs_table_print(table, r->out, r->width);
    } else {
        rs_text_wrapped(r, "No counter that is understood here rose.", 2);
    }
}

void
rs_text_counters(const rs_text *r)
{
    g_autoptr(GPtrArray) checks = rs_counter_checks_new(r->analysis, r->summary);
    if (checks->len == 0) {
        return;
    }
    rs_text_heading(r, "Counters and the capture");
    for (guint i = 0; i < checks->len; i++) {
        print_check(r, g_ptr_array_index(checks, i));
    }
}
