/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings about what ports say of their priorities (DCBX): whether the two ends of a link
 * agree, and whether what is on the wire is what they say.
 */
#include "dcb.h"
#include "findings_filter.h"
#include "findings_parts.h"
#include "format.h"
#include "priorities.h"

#include <string.h>

/* "leaf1 swp3", "gpu01", "02:00:00:00:00:11". */
static char *
port_label(const rs_findings *all, const rs_dcb_port *port)
{
    if (port->system == NULL) {
        return rs_hosts_label_mac(all->analysis->told->hosts, port->mac);
    }
    return port->port != NULL ? g_strdup_printf("%s %s", port->system, port->port)
                              : g_strdup(port->system);
}

static void
add_lldp_filter(rs_finding *f, const rs_dcb_port *port)
{
    g_autofree char *mac = rs_format_mac(port->mac);
    rs_finding_add_filter(f,
                          g_strdup_printf("eth.src == %s && eth.type == 0x88cc", mac));
}

/* ---- the two ends of a link ---- */

typedef struct link_ends {
    const rs_dcb_port *end[2];
    char *label[2];
} link_ends;

static void
clear_ends(link_ends *ends)
{
    g_free(ends->label[0]);
    g_free(ends->label[1]);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(link_ends, clear_ends)

static gboolean
find_ends(const rs_findings *all, guint32 point, link_ends *ends)
{
    guint first;
    const rs_dcb *dcb = all->analysis->watchers.dcb;
    *ends = (link_ends){0};
    if (!rs_dcb_link(dcb, point, &first)) {
        return FALSE;
    }
    for (guint i = 0; i < 2; i++) {
        ends->end[i] = rs_dcb_port_at(dcb, first + i);
        ends->label[i] = port_label(all, ends->end[i]);
    }
    return TRUE;
}

static void
about_link(rs_finding *f, const link_ends *ends)
{
    g_autofree char *a = rs_format_mac(ends->end[0]->mac);
    g_autofree char *b = rs_format_mac(ends->end[1]->mac);
    g_autofree char *what = g_strdup_printf("%s~%s", a, b);
    rs_finding_about(f, what);
    for (guint i = 0; i < 2; i++) {
        rs_finding_add_frame(f, ends->end[i]->newest_frame);
    }
    rs_finding_add_filter(
        f, g_strdup_printf("eth.type == 0x88cc && eth.src in {%s, %s}", a, b));
}

/* Whether a willing end has had the time to take over what the other says: each has
 * spoken again since either said something new. */
static gboolean
is_settled(const link_ends *ends)
{
    guint64 change = MAX(ends->end[0]->change_frame, ends->end[1]->change_frame);
    return ends->end[0]->newest_frame > change && ends->end[1]->newest_frame > change;
}

static const char *
willing_words(gboolean a, gboolean b, gboolean settled)
{
    if (!a && !b) {
        return "Neither end is willing to take over what the other says.";
    }
    return settled
               ? "A willing end ought to take over what the other says, and has not."
               : "A willing end may still take over what the other says: neither "
                 "has spoken since.";
}

/* "  12 pause frames of priority 3 were seen here." */
static char *
pauses_words(const rs_findings *all, guint32 point, guint8 priorities)
{
    g_autoptr(GString) words = g_string_new(NULL);
    const roce_tracker *tracker = all->analysis->tracker;
    guint64 n[8] = {0};
    for (guint32 i = 0; i < roce_tracker_n_pauses(tracker); i++) {
        const roce_pause_source *p = roce_tracker_pause(tracker, i);
        if (p->point == point && p->priority < 8) {
            n[p->priority] += p->xoff + p->refresh;
        }
    }
    for (guint i = 0; i < 8; i++) {
        if (n[i] > 0 && (priorities & 1u << i) != 0) {
            g_autofree char *frames =
                rs_finding_count(n[i], "pause frame", "pause frames");
            g_string_append_printf(words, "  %s of priority %u %s seen here.", frames,
                                   i, n[i] == 1 ? "was" : "were");
        }
    }
    return g_strdup(words->str);
}

static void
find_pfc_mismatch(rs_findings *all, const rs_finding_row *row, const link_ends *ends)
{
    guint8 on[2];
    for (guint i = 0; i < 2; i++) {
        if (!rs_dcb_port_pfc(ends->end[i], &on[i])) {
            return;
        }
    }
    if (on[0] == on[1]) {
        return;
    }
    const roce_dcb_pfc *a = &ends->end[0]->dcb.pfc;
    const roce_dcb_pfc *b = &ends->end[1]->dcb.pfc;
    gboolean settled = is_settled(ends);
    gboolean stands = settled || (!a->willing && !b->willing);
    rs_finding *f =
        rs_finding_add(all, row, stands ? RS_SEVERITY_WARNING : RS_SEVERITY_NOTE);
    g_autofree char *first = rs_format_priorities(on[0]);
    g_autofree char *second = rs_format_priorities(on[1]);
    g_autofree char *one_sided = rs_format_priorities(on[0] ^ on[1]);
    g_autofree char *pauses = pauses_words(all, ends->end[0]->point, on[0] ^ on[1]);
    rs_finding_say(
        f,
        g_strdup_printf("PFC differs between %s (priorities: %s) and %s (%s)",
                        ends->label[0], first, ends->label[1], second),
        g_strdup_printf("Priorities with PFC on at one end alone: %s.  %s%s", one_sided,
                        willing_words(a->willing, b->willing, settled), pauses));
    about_link(f, ends);
}

/* Whether both serve each priority alike: with the same share of the bandwidth, and
 * together with the same others. */
static gboolean
same_service(const roce_dcb_ets *a, const roce_dcb_ets *b)
{
    for (guint i = 0; i < 8; i++) {
        guint x = a->class_of_priority[i];
        guint y = b->class_of_priority[i];
        gboolean shares_x = x < 8 && a->algorithm[x] == ROCE_DCB_ETS;
        gboolean shares_y = y < 8 && b->algorithm[y] == ROCE_DCB_ETS;
        if (shares_x != shares_y ||
            (shares_x && a->bandwidth_percent[x] != b->bandwidth_percent[y])) {
            return FALSE;
        }
        for (guint k = 0; k < i; k++) {
            if ((a->class_of_priority[k] == x) != (b->class_of_priority[k] == y)) {
                return FALSE;
            }
        }
    }
    return TRUE;
}

static void
find_ets_mismatch(rs_findings *all, const rs_finding_row *row, const link_ends *ends)
{
    const roce_dcb_ets *a = &ends->end[0]->dcb.ets;
    const roce_dcb_ets *b = &ends->end[1]->dcb.ets;
    if (!a->present || !b->present || !a->on || !b->on || same_service(a, b)) {
        return;
    }
    rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_NOTE);
    g_autofree char *first = rs_dcb_ets_words(a);
    g_autofree char *second = rs_dcb_ets_words(b);
    rs_finding_say(
        f,
        g_strdup_printf("%s and %s share bandwidth between priorities differently",
                        ends->label[0], ends->label[1]),
        g_strdup_printf("%s: %s.  %s: %s.  %s", ends->label[0], first, ends->label[1],
                        second,
                        willing_words(a->willing, b->willing, is_settled(ends))));
    about_link(f, ends);
}

static void
each_link(rs_findings *all, const rs_finding_row *row,
          void (*look)(rs_findings *, const rs_finding_row *, const link_ends *))
{
    for (guint point = 0; point < rs_points_n(all->analysis->points); point++) {
        g_auto(link_ends) ends;
        if (find_ends(all, point, &ends)) {
            look(all, row, &ends);
        }
    }
}

void
rs_find_dcb_pfc(rs_findings *all, const rs_finding_row *row)
{
    each_link(all, row, find_pfc_mismatch);
}

void
rs_find_dcb_ets(rs_findings *all, const rs_finding_row *row)
{
    each_link(all, row, find_ets_mismatch);
}

/* ---- ports of one system ---- */

#define SETTINGS_NAMED 4

/* The first port of each setting of PFC that ports of one chassis have. */
static GPtrArray *
settings_of(const rs_dcb *dcb, const char *chassis)
{
    guint8 on, other;
    GPtrArray *firsts = g_ptr_array_new();
    for (guint i = 0; i < rs_dcb_n_ports(dcb); i++) {
        const rs_dcb_port *port = rs_dcb_port_at(dcb, i);
        gboolean is_new =
            g_strcmp0(port->chassis, chassis) == 0 && rs_dcb_port_pfc(port, &on);
        for (guint k = 0; is_new && k < firsts->len; k++) {
            (void)rs_dcb_port_pfc(g_ptr_array_index(firsts, k), &other);
            is_new = on != other;
        }
        if (is_new) {
            g_ptr_array_add(firsts, (gpointer)(guintptr)port);
        }
    }
    return firsts;
}

static void
find_settings(rs_findings *all, const rs_finding_row *row, const rs_dcb_port *of)
{
    g_autoptr(GPtrArray) firsts = settings_of(all->analysis->watchers.dcb, of->chassis);
    if (firsts->len < 2) {
        return;
    }
    g_autoptr(GString) words = g_string_new(NULL);
    rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_NOTE);
    rs_finding_about(f, of->chassis);
    f->weight = firsts->len;
    for (guint i = 0; i < firsts->len; i++) {
        const rs_dcb_port *port = g_ptr_array_index(firsts, i);
        guint8 on = 0;
        (void)rs_dcb_port_pfc(port, &on);
        g_autofree char *label = port_label(all, port);
        g_autofree char *list = rs_format_priorities(on);
        rs_finding_add_frame(f, port->newest_frame);
        add_lldp_filter(f, port);
        if (i < SETTINGS_NAMED) {
            g_string_append_printf(words, "%s%s: %s", i > 0 ? "; " : "", label, list);
        }
    }
    rs_finding_say(f,
                   g_strdup_printf("Ports of %s have PFC on for different priorities",
                                   of->system != NULL ? of->system : of->chassis),
                   g_strdup_printf("%s%s.", words->str,
                                   firsts->len > SETTINGS_NAMED ? "; and others" : ""));
}

void
rs_find_dcb_ports(rs_findings *all, const rs_finding_row *row)
{
    const rs_dcb *dcb = all->analysis->watchers.dcb;
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < rs_dcb_n_ports(dcb); i++) {
        const rs_dcb_port *port = rs_dcb_port_at(dcb, i);
        if (port->chassis != NULL && g_hash_table_add(seen, port->chassis)) {
            find_settings(all, row, port);
        }
    }
}

/* ---- pauses that DCBX does not announce ---- */

/* Who at the pause's point says that it has PFC off for its priority: NULL, nobody. */
static const rs_dcb_port *
find_denier(const rs_dcb *dcb, const roce_pause_source *p)
{
    const rs_dcb_port *denier = NULL;
    for (guint i = 0; i < rs_dcb_n_ports(dcb); i++) {
        const rs_dcb_port *port = rs_dcb_port_at(dcb, i);
        guint8 on;
        if (port->point != p->point || !rs_dcb_port_pfc(port, &on) ||
            (on & 1u << p->priority) != 0) {
            continue;
        }
        gboolean own = memcmp(port->mac, p->src_mac, sizeof port->mac) == 0;
        denier = denier == NULL || own ? port : denier;
    }
    return denier;
}

static void
find_unannounced(rs_findings *all, const rs_finding_row *row,
                 const roce_pause_source *p)
{
    const rs_dcb *dcb = all->analysis->watchers.dcb;
    const rs_dcb_port *denier = find_denier(dcb, p);
    gboolean own =
        denier != NULL && memcmp(denier->mac, p->src_mac, sizeof denier->mac) == 0;
    /* Of several links at one point, nobody knows which the pause is on. */
    if (denier == NULL || (!own && !rs_dcb_one_link(dcb, p->point))) {
        return;
    }
    g_autofree char *mac = rs_format_mac(p->src_mac);
    g_autofree char *what = g_strdup_printf("%s:%u", mac, p->priority);
    g_autofree char *who = rs_hosts_label_mac(all->analysis->told->hosts, p->src_mac);
    g_autofree char *other = port_label(all, denier);
    g_autofree char *pauses = rs_finding_count(p->xoff + p->refresh, "pause", "pauses");
    rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_WARNING);
    rs_finding_about(f, what);
    f->weight = p->xoff + p->refresh;
    rs_finding_say(
        f,
        own ? g_strdup_printf(
                  "%s pauses priority %u, for which it says that it has PFC "
                  "off",
                  who, p->priority)
            : g_strdup_printf("%s pauses priority %u, for which %s has PFC off", who,
                              p->priority, other),
        g_strdup_printf("%s.  %s", pauses,
                        own ? "Its neighbour obeys them only if its own PFC is on for "
                              "that priority."
                            : "A port obeys a pause only in priorities that it has PFC "
                              "on for: these stop nothing."));
    rs_finding_add_frame(f, denier->newest_frame);
    rs_finding_add_frames(f, &p->first_frame, 1, p->xoff + p->refresh + p->xon);
    rs_finding_add_filter(f, rs_filter_of_pauses(all, p, (guint8)(1u << p->priority)));
    add_lldp_filter(f, denier);
}

void
rs_find_dcb_pause(rs_findings *all, const rs_finding_row *row)
{
    const roce_tracker *tracker = all->analysis->tracker;
    for (guint32 i = 0; i < roce_tracker_n_pauses(tracker); i++) {
        const roce_pause_source *p = roce_tracker_pause(tracker, i);
        if (p->priority < 8) {
            find_unannounced(all, row, p);
        }
    }
}

/* ---- where RoCE belongs ---- */

/* RoCE data at a port's point in a priority that its application table does not have. */
static void
find_misplaced(rs_findings *all, const rs_finding_row *row, const rs_dcb_port *port,
               guint8 wanted, guint priority)
{
    const rs_point_priorities *point =
        rs_priorities_point(all->analysis->watchers.priorities, port->point);
    const rs_priority_data *data = &point->data[priority];
    guint8 on = 0;
    gboolean worse =
        rs_dcb_port_pfc(port, &on) && (on & wanted) != 0 && (on & 1u << priority) == 0;
    g_autofree char *label = port_label(all, port);
    g_autofree char *mac = rs_format_mac(port->mac);
    g_autofree char *what = g_strdup_printf("%s:%u", mac, priority);
    g_autofree char *list = rs_format_priorities(wanted);
    g_autofree char *n = rs_finding_packets(data->packets);
    rs_finding *f =
        rs_finding_add(all, row, worse ? RS_SEVERITY_WARNING : RS_SEVERITY_NOTE);
    rs_finding_about(f, what);
    f->weight = data->packets;
    rs_finding_say(
        f,
        g_strdup_printf("%s of RoCE data ride in priority %u; %s wants it in %s", n,
                        priority, label, list),
        g_strdup_printf("Its application table has UDP port 4791 in %s.%s", list,
                        worse ? "  It has PFC on for that, and not for the priority in "
                                "use."
                              : ""));
    rs_finding_add_frame(f, port->newest_frame);
    rs_finding_add_kept(f, &data->frames);
    rs_finding_add_filter(f, rs_filter_of_priority(all, port->point, priority));
    add_lldp_filter(f, port);
}

void
rs_find_dcb_application(rs_findings *all, const rs_finding_row *row)
{
    const rs_dcb *dcb = all->analysis->watchers.dcb;
    for (guint i = 0; i < rs_dcb_n_ports(dcb); i++) {
        const rs_dcb_port *port = rs_dcb_port_at(dcb, i);
        const rs_point_priorities *point =
            rs_priorities_point(all->analysis->watchers.priorities, port->point);
        guint8 wanted;
        if (point == NULL || !rs_dcb_one_link(dcb, port->point) ||
            !rs_dcb_port_roce(port, &wanted)) {
            continue;
        }
        for (guint k = 0; k < 8; k++) {
            if (point->data[k].packets > 0 && (wanted & 1u << k) == 0) {
                find_misplaced(all, row, port, wanted, k);
            }
        }
    }
}

/* ---- DSCPs that a port maps otherwise than this report does ---- */

static void
find_map_of_port(rs_findings *all, const rs_finding_row *row, const rs_dcb_port *port)
{
    const rs_options *options = all->analysis->options;
    const rs_point_priorities *point =
        rs_priorities_point(all->analysis->watchers.priorities, port->point);
    guint8 wanted;
    for (guint dscp = 0; point != NULL && dscp < RS_N_DSCPS; dscp++) {
        guint8 taken = options->dscp_map[dscp];
        if (point->untagged_dscps[dscp] == 0 ||
            !rs_dcb_port_dscp(port, (guint8)dscp, &wanted) ||
            (wanted & 1u << taken) != 0) {
            continue;
        }
        g_autofree char *mac = rs_format_mac(port->mac);
        g_autofree char *what = g_strdup_printf("%s:%u", mac, dscp);
        g_autofree char *label = port_label(all, port);
        g_autofree char *list = rs_format_priorities(wanted);
        guint64 n = point->untagged_dscps[dscp];
        g_autofree char *packets = rs_finding_packets(n);
        rs_finding *f = rs_finding_add(all, row, RS_SEVERITY_NOTE);
        rs_finding_about(f, what);
        f->weight = n;
        rs_finding_say(f,
                       g_strdup_printf("%s has DSCP %u in priority %s; this report "
                                       "took it for %u",
                                       label, dscp, list, taken),
                       g_strdup_printf("%s of RoCE data %s it.  What is said of "
                                       "priorities here holds only if the network "
                                       "maps it as the report does.",
                                       packets, n == 1 ? "has" : "have"));
        rs_finding_add_frame(f, port->newest_frame);
    }
}

void
rs_find_dcb_dscp(rs_findings *all, const rs_finding_row *row)
{
    const rs_dcb *dcb = all->analysis->watchers.dcb;
    for (guint i = 0; i < rs_dcb_n_ports(dcb); i++) {
        const rs_dcb_port *port = rs_dcb_port_at(dcb, i);
        if (rs_dcb_one_link(dcb, port->point)) {
            find_map_of_port(all, row, port);
        }
    }
}
