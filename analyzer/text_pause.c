/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text_pause.h"

#include "format.h"
#include "pausing.h"
#include "table.h"

/* clang-format off */
static const rs_column pause_columns[] = {
    {"at", TRUE, 2, FALSE}, {"from", FALSE, 0, FALSE}, {"a", FALSE, 2, FALSE},
    {"priority", FALSE, 0, FALSE},
    {"XOFF", TRUE, 0, FALSE}, {"refresh", TRUE, 1, FALSE}, {"XON", TRUE, 1, FALSE},
    {"expired", TRUE, 1, FALSE}, {"paused", TRUE, 0, FALSE}, {"longest", TRUE, 1, FALSE},
    {"held back", TRUE, 2, FALSE}, {"link", FALSE, 3, FALSE},
};
/* clang-format on */

static const char *
sender_word(const rs_pausing *pausing, guint32 pause)
{
    static const char *const words[] = {
        [RS_SENDER_UNKNOWN] = "?",
        [RS_SENDER_HOST] = "host",
        [RS_SENDER_NETWORK] = "network",
        [RS_SENDER_AMBIGUOUS] = "several",
    };
    rs_sender_evidence evidence;
    return words[rs_pausing_sender(pausing, pause, &evidence)];
}

/* For how long what it stops was silent in its pauses. */
static char *
held_back(const rs_pausing *pausing, guint32 pause)
{
    const rs_pause_watch *watch = rs_pausing_watch(pausing, pause);
    return rs_pausing_knows_victims(pausing, pause)
               ? rs_format_duration(watch->held.held_ns, 0)
               : g_strdup("?");
}

static void
add_pause(rs_table *table, const rs_analysis *a, guint32 pause)
{
    const roce_pause_source *p = roce_tracker_pause(a->tracker, pause);
    const rs_pausing *pausing = a->watchers.pausing;
    rs_table_add(table, g_strdup_printf("%u", p->point));
    rs_table_add(table, rs_hosts_label_mac(a->told->hosts, p->src_mac));
    rs_table_add(table, g_strdup(sender_word(pausing, pause)));
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
        rs_table_add(table, held_back(pausing, pause));
        rs_table_add(table, rs_format_speed(p->link_speed_bps));
    } else {
        rs_table_add(table, g_strdup("?"));
        rs_table_add(table,
                     g_strdup_printf("%" G_GUINT64_FORMAT " quanta", p->total_quanta));
        rs_table_add(table, g_strdup("?"));
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
        add_pause(table, r->analysis, i);
    }
    rs_table_print(table, r->out, r->width);
    rs_text_say_more(r, n, shown);
}
