/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dcb.h"

#include "format.h"
#include "mac_key.h"

#include "roce/decode.h"

#include <stdlib.h>
#include <string.h>

#define MAX_PORTS 1024
#define MAX_TEXT_BYTES 64 /* shown of a name */

static const guint8 nearest_bridge[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e};

struct rs_dcb {
    GHashTable *ports; /* rs_dcb_port, by its point and address */
    GPtrArray *sorted;
    guint64 beyond;
};

static guint
hash_port(gconstpointer data)
{
    const rs_dcb_port *port = data;
    return rs_mac_hash(port->point, port->mac);
}

static gboolean
same_port(gconstpointer a, gconstpointer b)
{
    const rs_dcb_port *x = a;
    const rs_dcb_port *y = b;
    return rs_mac_equal(x->point, x->mac, y->point, y->mac);
}

static void
free_port(gpointer data)
{
    rs_dcb_port *port = data;
    g_free(port->chassis);
    g_free(port->port);
    g_free(port->system);
    g_free(port);
}

rs_dcb *
rs_dcb_new(void)
{
    rs_dcb *dcb = g_new0(rs_dcb, 1);
    dcb->ports = g_hash_table_new_full(hash_port, same_port, NULL, free_port);
    dcb->sorted = g_ptr_array_new();
    return dcb;
}

void
rs_dcb_free(rs_dcb *dcb)
{
    if (dcb == NULL) {
        return;
    }
    g_ptr_array_unref(dcb->sorted);
    g_hash_table_unref(dcb->ports);
    g_free(dcb);
}

/* ---- a frame ---- */

static char *
text_of_bytes(const roce_lldp_text *text)
{
    g_autofree char *raw =
        g_strndup((const char *)text->bytes, MIN(text->n_bytes, MAX_TEXT_BYTES));
    return rs_format_safe(raw);
}

/* An identifier as a person reads it: MAC and IP addresses as such, all else as text. */
static char *
text_of_identifier(const roce_lldp_text *text, guint8 mac_kind, guint8 address_kind)
{
    if (text->bytes == NULL) {
        return NULL;
    }
    if (text->subtype == mac_kind && text->n_bytes == 6) {
        return rs_format_mac(text->bytes);
    }
    gsize size = text->n_bytes - 1u; /* behind IANA's number of the address family */
    if (text->subtype == address_kind &&
        ((text->bytes[0] == 1 && size == 4) || (text->bytes[0] == 2 && size == 16))) {
        roce_addr addr = {.family = size == 4 ? 4 : 6};
        memcpy(addr.bytes, text->bytes + 1, size);
        return rs_format_addr(&addr);
    }
    return text_of_bytes(text);
}

static void
replace(char **text, char *by)
{
    if (by != NULL) {
        g_free(*text);
        *text = by;
    }
}

static void
take_identity(rs_dcb_port *port, const roce_lldp *lldp)
{
    replace(&port->chassis, text_of_identifier(&lldp->chassis, ROCE_LLDP_CHASSIS_MAC,
                                               ROCE_LLDP_CHASSIS_ADDRESS));
    replace(&port->port, text_of_identifier(&lldp->port, ROCE_LLDP_PORT_MAC,
                                            ROCE_LLDP_PORT_ADDRESS));
    if (lldp->system_name.bytes != NULL) {
        replace(&port->system, text_of_bytes(&lldp->system_name));
    }
    if (lldp->has_ttl) {
        port->ttl_s = lldp->ttl_s;
    }
}

/* What a frame that was cut does not say stays as it was. */
static void
fill_from_before(roce_dcb *now, const roce_dcb *before)
{
    if (!now->ets.present) {
        now->ets = before->ets;
    }
    if (!now->ets_recommended.present) {
        now->ets_recommended = before->ets_recommended;
    }
    if (!now->pfc.present) {
        now->pfc = before->pfc;
    }
    if (now->n_apps < before->n_apps) {
        now->n_apps = before->n_apps;
        now->apps_on = before->apps_on;
        now->apps_willing = before->apps_willing;
        memcpy(now->apps, before->apps, sizeof now->apps);
    }
    if (now->n_app_vlans < before->n_app_vlans) {
        now->n_app_vlans = before->n_app_vlans;
        memcpy(now->app_vlans, before->app_vlans, sizeof now->app_vlans);
    }
}

/* The parts have no padding, the whole has. */
static gboolean
same_dcb(const roce_dcb *a, const roce_dcb *b)
{
    return memcmp(&a->ets, &b->ets, sizeof a->ets) == 0 &&
           memcmp(&a->ets_recommended, &b->ets_recommended, sizeof a->ets) == 0 &&
           memcmp(&a->pfc, &b->pfc, sizeof a->pfc) == 0 && a->n_apps == b->n_apps &&
           a->apps_on == b->apps_on && a->apps_willing == b->apps_willing &&
           memcmp(a->apps, b->apps, sizeof a->apps) == 0 &&
           a->n_app_vlans == b->n_app_vlans &&
           memcmp(a->app_vlans, b->app_vlans, sizeof a->app_vlans) == 0;
}

static void
take_dcb(rs_dcb_port *port, const roce_lldp *lldp, guint64 frame)
{
    gboolean withdrawn = lldp->has_ttl && lldp->ttl_s == 0;
    rs_dcbx version = withdrawn            ? RS_DCBX_NONE
                      : lldp->ieee.present ? RS_DCBX_IEEE
                      : lldp->cee.present  ? RS_DCBX_CEE
                                           : RS_DCBX_NONE;
    gboolean cut = lldp->outcome == ROCE_TRUNCATED;
    if (version == RS_DCBX_NONE && cut && !withdrawn) {
        return;
    }
    static const roce_dcb nothing;
    roce_dcb now = version == RS_DCBX_NONE  ? nothing
                   : version == RS_DCBX_CEE ? lldp->cee
                                            : lldp->ieee;
    if (cut && version == port->version) {
        fill_from_before(&now, &port->dcb);
    }
    if (version == port->version && same_dcb(&now, &port->dcb)) {
        return;
    }
    port->changes += port->frames > 1 ? 1 : 0;
    port->change_frame = frame;
    port->version = version;
    port->dcb = now;
}

static rs_dcb_port *
port_of(rs_dcb *dcb, const rs_sight *sight)
{
    rs_dcb_port key = {.point = sight->frame->point};
    memcpy(key.mac, sight->packet->src_mac, sizeof key.mac);
    rs_dcb_port *port = g_hash_table_lookup(dcb->ports, &key);
    if (port != NULL || g_hash_table_size(dcb->ports) >= MAX_PORTS) {
        return port;
    }
    port = g_memdup2(&key, sizeof key);
    port->first_frame = port->change_frame = sight->frame->number;
    g_hash_table_add(dcb->ports, port);
    return port;
}

void
rs_dcb_packet(rs_dcb *dcb, const rs_sight *sight)
{
    roce_lldp lldp;
    if (sight->packet->lldp_offset == 0 ||
        !roce_lldp_of_frame(sight->frame, sight->packet, &lldp)) {
        return;
    }
    rs_dcb_port *port = port_of(dcb, sight);
    if (port == NULL) {
        dcb->beyond++;
        return;
    }
    port->frames++;
    port->truncated += lldp.outcome == ROCE_TRUNCATED ? 1 : 0;
    if (lldp.outcome == ROCE_MALFORMED) {
        port->malformed++;
        return;
    }
    port->newest_frame = sight->frame->number;
    port->nearest =
        memcmp(sight->packet->dst_mac, nearest_bridge, sizeof nearest_bridge) == 0;
    take_identity(port, &lldp);
    take_dcb(port, &lldp, sight->frame->number);
}

/* ---- when the capture has ended ---- */

static gint
by_point_and_mac(gconstpointer a, gconstpointer b)
{
    const rs_dcb_port *x = *(rs_dcb_port *const *)a;
    const rs_dcb_port *y = *(rs_dcb_port *const *)b;
    if (x->point != y->point) {
        return x->point < y->point ? -1 : 1;
    }
    return memcmp(x->mac, y->mac, sizeof x->mac);
}

void
rs_dcb_finish(rs_dcb *dcb)
{
    GHashTableIter iter;
    gpointer port;
    g_hash_table_iter_init(&iter, dcb->ports);
    while (g_hash_table_iter_next(&iter, &port, NULL)) {
        g_ptr_array_add(dcb->sorted, port);
    }
    g_ptr_array_sort(dcb->sorted, by_point_and_mac);
}

guint
rs_dcb_n_ports(const rs_dcb *dcb)
{
    return dcb->sorted->len;
}

const rs_dcb_port *
rs_dcb_port_at(const rs_dcb *dcb, guint i)
{
    return g_ptr_array_index(dcb->sorted, i);
}

guint64
rs_dcb_beyond(const rs_dcb *dcb)
{
    return dcb->beyond;
}

/* How many ports of one link there are, the first at *first; 3 for more than a link
 * has. */
static guint
count_ends(const rs_dcb *dcb, guint32 point, guint *first)
{
    guint n = 0;
    for (guint i = 0; i < dcb->sorted->len && n <= 2; i++) {
        const rs_dcb_port *port = rs_dcb_port_at(dcb, i);
        if (port->point == point) {
            *first = n == 0 ? i : *first;
            n = port->nearest ? n + 1 : 3;
        }
    }
    return n;
}

gboolean
rs_dcb_link(const rs_dcb *dcb, guint32 point, guint *first)
{
    return count_ends(dcb, point, first) == 2;
}

gboolean
rs_dcb_one_link(const rs_dcb *dcb, guint32 point)
{
    guint first = 0;
    guint n = count_ends(dcb, point, &first);
    return n == 1 || n == 2;
}

gboolean
rs_dcb_port_pfc(const rs_dcb_port *port, guint8 *priorities)
{
    const roce_dcb_pfc *pfc = &port->dcb.pfc;
    if (!pfc->present) {
        return FALSE;
    }
    *priorities = pfc->on ? pfc->enabled : 0;
    return TRUE;
}

gboolean
rs_dcb_point_pfc(const rs_dcb *dcb, guint32 point, guint8 *some, guint8 *all)
{
    gboolean any = FALSE;
    guint8 one, united = 0, common = 0xff;
    for (guint i = 0; i < dcb->sorted->len; i++) {
        const rs_dcb_port *port = rs_dcb_port_at(dcb, i);
        if (port->point == point && rs_dcb_port_pfc(port, &one)) {
            any = TRUE;
            united |= one;
            common &= one;
        }
    }
    if (any) {
        *some = united;
        *all = common;
    }
    return any;
}

/* An application stands there once for each of its priorities. */
static gboolean
find_app(const roce_dcb *dcb, guint selectors, guint protocol, guint8 *priorities)
{
    guint8 found = 0;
    for (guint i = 0; dcb->apps_on && i < MIN(dcb->n_apps, ROCE_DCB_APPS); i++) {
        const roce_dcb_app *app = &dcb->apps[i];
        if ((selectors & 1u << app->selector) != 0 && app->protocol == protocol) {
            found |= app->priorities;
        }
    }
    if (found != 0) {
        *priorities = found;
    }
    return found != 0;
}

gboolean
rs_dcb_port_roce(const rs_dcb_port *port, guint8 *priorities)
{
    return find_app(&port->dcb, 1u << ROCE_DCB_UDP_PORT | 1u << ROCE_DCB_ANY_PORT,
                    ROCE_UDP_PORT, priorities);
}

gboolean
rs_dcb_port_dscp(const rs_dcb_port *port, guint8 dscp, guint8 *priorities)
{
    return find_app(&port->dcb, 1u << ROCE_DCB_DSCP, dscp, priorities);
}

char *
rs_dcb_ets_words(const roce_dcb_ets *ets)
{
    g_autoptr(GString) words = g_string_new(NULL);
    for (guint group = 0; group < 16; group++) {
        guint8 members = 0;
        for (guint i = 0; i < 8; i++) {
            if (ets->class_of_priority[i] == group) {
                members |= (guint8)(1u << i);
            }
        }
        if (members == 0) {
            continue;
        }
        g_autofree char *list = rs_format_priorities(members);
        g_string_append_printf(words, "%s%s: ", words->len > 0 ? "; " : "", list);
        if (group < 8 && ets->algorithm[group] == ROCE_DCB_ETS) {
            g_string_append_printf(words, "%u %%", ets->bandwidth_percent[group]);
        } else {
            g_string_append(words, "first");
        }
    }
    return g_strdup(words->str);
}

const char *
rs_dcbx_name(rs_dcbx version)
{
    static const char *const names[] = {
        [RS_DCBX_NONE] = NULL,
        [RS_DCBX_IEEE] = "ieee",
        [RS_DCBX_CEE] = "cee",
    };
    return names[version];
}
