/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nics.h"

#include "roce/hash.h"

#include <string.h>

#define MAX_NICS 65536 /* beyond them a pause is nobody's own: less is claimed */

typedef struct nic {
    guint32 point;
    guint8 mac[6];
    roce_addr addr;
} nic;

struct rs_nics {
    GHashTable *all; /* of nic */
};

static guint
hash_nic(gconstpointer data)
{
    const nic *n = data;
    guint64 word = 0;
    memcpy(&word, n->mac, sizeof n->mac);
    return (guint)roce_hash_addr(roce_hash_mix(n->point, word), &n->addr);
}

static gboolean
same_nic(gconstpointer a, gconstpointer b)
{
    const nic *x = a;
    const nic *y = b;
    return x->point == y->point && memcmp(x->mac, y->mac, sizeof x->mac) == 0 &&
           roce_addr_equal(&x->addr, &y->addr);
}

rs_nics *
rs_nics_new(void)
{
    rs_nics *nics = g_new0(rs_nics, 1);
    nics->all = g_hash_table_new_full(hash_nic, same_nic, g_free, NULL);
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

static nic
nic_of(guint32 point, const roce_addr *addr, const guint8 mac[6])
{
    nic n = {.point = point, .addr = *addr};
    memcpy(n.mac, mac, sizeof n.mac);
    return n;
}

static gboolean
is_initial(guint8 hop_limit)
{
    return hop_limit == 64 || hop_limit == 128 || hop_limit == 255;
}

void
rs_nics_packet(rs_nics *nics, const rs_sight *sight)
{
    const roce_packet *p = sight->packet;
    /* A NIC keeps its MAC: one look at each stream will do. */
    if (sight->stream == NULL || sight->stream->packets != 1 || !p->has_macs ||
        !is_initial(p->hop_limit) || g_hash_table_size(nics->all) >= MAX_NICS) {
        return;
    }
    nic n = nic_of(sight->stream->point, &p->src, p->src_mac);
    g_hash_table_add(nics->all, g_memdup2(&n, sizeof n));
}

gboolean
rs_nics_owns(const rs_nics *nics, guint32 point, const roce_addr *addr,
             const guint8 mac[6])
{
    const nic n = nic_of(point, addr, mac);
    return g_hash_table_contains(nics->all, &n);
}
