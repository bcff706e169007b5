/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text_pause.h"

#include "format.h"
#include "table.h"

/* clang-format off */
static const rs_column pause_columns[] = {
    {"at", TRUE, 2, FALSE}, {"from", FALSE, 0, FALSE}, {"priority", FALSE, 0, FALSE},
    {"XOFF", TRUE, 0, FALSE}, {"refresh", TRUE, 1, FALSE}, {"XON", TRUE, 1, FALSE},
    {"expired", TRUE, 1, FALSE}, {"paused", TRUE, 0, FALSE}, {"longest", TRUE, 1, FALSE},
    {"link", FALSE, 3, FALSE},
};
/* clang-format on */

static void
add_pause(rs_table *table, const rs_hosts *hosts, const roce_pause_source *p)
{
    rs_table_add(table, g_strdup_printf("%u", p->point));
    rs_table_add(table, rs_hosts_label_mac(hosts, p->src_mac));
    rs_table_add(table, p->priority == ROCE_PRIORITY_GLOBAL
                            ? g_strdup("all (802.3x)")
                            : g_strdup_printf("%u", p->priority));
    rs_text_add_count(table, p->xoff);
    rs_text_add_count(table, p->refresh);
    rs_text_add_count(table, p->xon);
    if (p->speed_known) {
        rs_text_add_count(table, p->expired);
        rs_table_add(table, rs_format_duration(p->total_ns, 0));
        rs_table_add(table, rs_format_duration(p->longest_ns, 0));
        rs_table_add(table, rs_format_speed(p->link_speed_bps));
    } else {
        rs_table_add(table, g_strdup("?"));
        rs_table_add(table,
                     g_strdup_printf("%" G_GUINT64_FORMAT " quanta", p->total_quanta));
        rs_table_add(table, g_strdup("?"));
        rs_table_add(table, g_strdup("speed unknown"));
    }
}

void
rs_text_pauses(const rs_text *r)
{
    guint32 n = roce_tracker_n_pauses(r->analysis->tracker);
    if (n == 0) {
        return;
    }
    rs_text_heading(r, "Pauses");
    g_autoptr(rs_table) table =
        rs_table_new(pause_columns, G_N_ELEMENTS(pause_columns));
    guint shown = rs_text_rows_shown(r, n);
    for (guint i = 0; i < shown; i++) {
        add_pause(table, r->analysis->told->hosts,
                  roce_tracker_pause(r->analysis->tracker, i));
    }
    rs_table_print(table, r->out, r->width);
    rs_text_say_more(r, n, shown);
}
