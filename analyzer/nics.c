/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nics.h"

#include "mac_key.h"

#include "roce/hash.h"

#include <string.h>

/* Beyond them a pause is no host's own: less is claimed. */
#define MAX_NICS 65536
#define MAX_HOSTS_OF_NIC 64

typedef struct nic {
    guint32 point;
    guint8 mac[6];
    gboolean is_host; /* the network sends nothing with it */
    GArray *hosts;    /* rs_nic_host */
} nic;

struct rs_nics {
    GHashTable *all; /* of nic */
};

guint
rs_nic_host_hash(gconstpointer data)
{
    const rs_nic_host *host = data;
    return (guint)roce_hash_addr(host->point, &host->addr);
}

gboolean
rs_nic_host_equal(gconstpointer a, gconstpointer b)
{
    const rs_nic_host *x = a;
    const rs_nic_host *y = b;
    return x->point == y->point && roce_addr_equal(&x->addr, &y->addr);
}

static guint
hash_nic(gconstpointer data)
{
    const nic *n = data;
    return rs_mac_hash(n->point, n->mac);
}

static gboolean
same_nic(gconstpointer a, gconstpointer b)
{
    const nic *x = a;
    const nic *y = b;
    return rs_mac_equal(x->point, x->mac, y->point, y->mac);
}

static void
free_nic(gpointer data)
{
    nic *n = data;
    g_array_unref(n->hosts);
    g_free(n);
}

rs_nics *
rs_nics_new(void)
{
    rs_nics *nics = g_new0(rs_nics, 1);
    nics->all = g_hash_table_new_full(hash_nic, same_nic, free_nic, NULL);
    return nics;
}

void
rs_nics_free(rs_nics *nics)
{
    if (nics != NULL) {
        g_hash_table_unref(nics->all);
        g_free(nics);
    }
}

static nic *
find_nic(const rs_nics *nics, guint32 point, const guint8 mac[6])
{
    nic key = {.point = point};
    memcpy(key.mac, mac, sizeof key.mac);
    return g_hash_table_lookup(nics->all, &key);
}

static nic *
add_nic(rs_nics *nics, guint32 point, const guint8 mac[6])
{
    if (g_hash_table_size(nics->all) == MAX_NICS) {
        return NULL;
    }
    nic *n = g_new0(nic, 1);
    n->point = point;
    memcpy(n->mac, mac, sizeof n->mac);
    n->hosts = g_array_new(FALSE, FALSE, sizeof(rs_nic_host));
    g_hash_table_add(nics->all, n);
    return n;
}

static gboolean
has_host(const nic *n, const roce_addr *addr)
{
    guint i = 0;
    while (i < n->hosts->len &&
           !roce_addr_equal(&g_array_index(n->hosts, rs_nic_host, i).addr, addr)) {
        i++;
    }
    return i < n->hosts->len;
}

void
rs_nics_packet(rs_nics *nics, const rs_sight *sight)
{
    const roce_packet *p = sight->packet;
    /* A NIC keeps its MAC: one look at each stream will do. */
    if (sight->stream == NULL || sight->counted.packets != 1 || !p->has_macs) {
        return;
    }
    guint32 point = sight->stream->point;
    nic *n = find_nic(nics, point, p->src_mac);
    n = n != NULL ? n : add_nic(nics, point, p->src_mac);
    if (n != NULL && n->hosts->len < MAX_HOSTS_OF_NIC && !has_host(n, &p->src)) {
        const rs_nic_host host = {.point = point, .addr = p->src};
        g_array_append_val(n->hosts, host);
    }
}

void
rs_nics_finish(rs_nics *nics, const rs_macs *macs)
{
    for (guint32 i = 0; i < rs_macs_n(macs); i++) {
        const rs_mac *mac = rs_macs_at(macs, i);
        nic *n = find_nic(nics, mac->point, mac->bytes);
        if (n != NULL) {
            rs_sender_evidence evidence;
            n->is_host = rs_macs_sender(macs, mac, &evidence) == RS_SENDER_HOST;
        }
    }
}

const GArray *
rs_nics_hosts(const rs_nics *nics, guint32 point, const guint8 mac[6])
{
    const nic *n = find_nic(nics, point, mac);
    return n != NULL && n->is_host ? n->hosts : NULL;
}
