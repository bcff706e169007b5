/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "text_dcb.h"

#include "dcb.h"
#include "format.h"

/* clang-format off */
static const rs_column columns[] = {
    {"at", TRUE, 2, FALSE}, {"port", FALSE, 0, FALSE}, {"of", FALSE, 1, TRUE},
    {"DCBX", FALSE, 3, FALSE}, {"PFC on for", FALSE, 0, FALSE}, {"willing", FALSE, 2, FALSE},
    {"ETS (priorities: share)", FALSE, 1, TRUE}, {"RoCE is for", FALSE, 1, TRUE},
};
/* clang-format on */

static char *
pfc_words(const rs_dcb_port *port)
{
    guint8 priorities;
    return rs_dcb_port_pfc(port, &priorities) ? rs_format_priorities(priorities)
                                              : g_strdup("?");
}

static char *
roce_words(const rs_dcb_port *port)
{
    guint8 priorities;
    return rs_dcb_port_roce(port, &priorities) ? rs_format_priorities(priorities)
                                               : g_strdup("");
}

static void
add_port(rs_table *table, const rs_hosts *hosts, const rs_dcb_port *port)
{
    rs_table_add(table, g_strdup_printf("%u", port->point));
    rs_table_add(table, rs_hosts_label_mac(hosts, port->mac));
    rs_table_add(table, g_strdup(port->system != NULL ? port->system : ""));
    rs_table_add(table, g_strdup(rs_dcbx_name(port->version)));
    rs_table_add(table, pfc_words(port));
    rs_table_add(table, g_strdup(port->dcb.pfc.willing ? "yes" : "no"));
    rs_table_add(table, port->dcb.ets.present ? rs_dcb_ets_words(&port->dcb.ets)
                                              : g_strdup(""));
    rs_table_add(table, roce_words(port));
}

void
rs_text_dcb(const rs_text *r)
{
    const rs_dcb *dcb = r->analysis->watchers.dcb;
    g_autoptr(GPtrArray) speaking = g_ptr_array_new();
    for (guint i = 0; i < rs_dcb_n_ports(dcb); i++) {
        const rs_dcb_port *port = rs_dcb_port_at(dcb, i);
        if (port->version != RS_DCBX_NONE) {
            g_ptr_array_add(speaking, (gpointer)(guintptr)port);
        }
    }
    if (speaking->len == 0) {
        return;
    }
    rs_text_heading(r, "What ports say of their priorities (DCBX)");
    g_autoptr(rs_table) table = rs_table_new(columns, G_N_ELEMENTS(columns));
    guint shown = rs_text_rows_shown(r, speaking->len);
    for (guint i = 0; i < shown; i++) {
        add_port(table, r->analysis->told->hosts, g_ptr_array_index(speaking, i));
    }
    rs_table_print(table, r->out, r->width);
    rs_text_say_more(r, speaking->len, shown);
}
