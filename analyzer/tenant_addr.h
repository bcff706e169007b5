/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A host as packets name it, by an address inside its tenant network; also as a key of
 * tables.
 *
 * The one rule: the same address in two tenants is two hosts.
 */
#ifndef RS_TENANT_ADDR_H
#define RS_TENANT_ADDR_H

#include "roce/hash.h"
#include "roce/packet.h"

#include <glib.h>

typedef struct rs_tenant_addr {
    roce_tenant tenant;
    roce_addr addr;
} rs_tenant_addr;

/* For hash tables with rs_tenant_addr keys. */
static inline guint
rs_tenant_addr_hash(gconstpointer key)
{
    const rs_tenant_addr *host = key;
    return (guint)roce_hash_addr(roce_hash_tenant(0, &host->tenant), &host->addr);
}

static inline gboolean
rs_tenant_addr_equal(gconstpointer a, gconstpointer b)
{
    const rs_tenant_addr *x = a;
    const rs_tenant_addr *y = b;
    return roce_tenant_equal(&x->tenant, &y->tenant) &&
           roce_addr_equal(&x->addr, &y->addr);
}

/* A set of them, with copies of its own. */
static inline GHashTable *
rs_tenant_addr_set_new(void)
{
    return g_hash_table_new_full(rs_tenant_addr_hash, rs_tenant_addr_equal, g_free,
                                 NULL);
}

/* Whether it is new there. */
static inline gboolean
rs_tenant_addr_set_add(GHashTable *set, const roce_tenant *tenant,
                       const roce_addr *addr)
{
    const rs_tenant_addr host = {.tenant = *tenant, .addr = *addr};
    return !g_hash_table_contains(set, &host) &&
           g_hash_table_add(set, g_memdup2(&host, sizeof host));
}

#endif
