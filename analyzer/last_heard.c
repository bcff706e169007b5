/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "last_heard.h"

#include "tenant_addr.h"

#define ENOUGH 3 /* different addresses: one of them is neither of two */

typedef struct host {
    rs_tenant_addr name;
    guint64 last_ns;
} host;

struct rs_last_heard {
    GHashTable *hosts;     /* host, by its name */
    const host *newest[2]; /* of all, and of those with another address; NULL: none */
    const roce_addr *some[ENOUGH];
    guint n_some;
};

static host *
host_of(rs_last_heard *heard, const roce_stream *s)
{
    const host fresh = {.name = {.tenant = s->tenant, .addr = s->src}};
    host *known = g_hash_table_lookup(heard->hosts, &fresh.name);
    if (known == NULL) {
        known = g_memdup2(&fresh, sizeof fresh);
        g_hash_table_insert(heard->hosts, &known->name, known);
    }
    return known;
}

static gboolean
have_one(const host *known, const host *other)
{
    return known != NULL && roce_addr_equal(&known->name.addr, &other->name.addr);
}

static void
take_newest(rs_last_heard *heard, const host *one)
{
    const host **newest = heard->newest;
    if (newest[0] == NULL || one->last_ns > newest[0]->last_ns) {
        newest[1] = have_one(newest[0], one) ? newest[1] : newest[0];
        newest[0] = one;
    } else if (!have_one(newest[0], one) &&
               (newest[1] == NULL || one->last_ns > newest[1]->last_ns)) {
        newest[1] = one;
    }
}

static void
take_some(rs_last_heard *heard, const host *one)
{
    for (guint i = 0; i < heard->n_some; i++) {
        if (roce_addr_equal(heard->some[i], &one->name.addr)) {
            return;
        }
    }
    if (heard->n_some < ENOUGH) {
        heard->some[heard->n_some++] = &one->name.addr;
    }
}

rs_last_heard *
rs_last_heard_new(const rs_analysis *analysis)
{
    const roce_tracker *tracker = analysis->tracker;
    rs_last_heard *heard = g_new0(rs_last_heard, 1);
    heard->hosts =
        g_hash_table_new_full(rs_tenant_addr_hash, rs_tenant_addr_equal, NULL, g_free);
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        const roce_stream *s = roce_tracker_stream(tracker, id);
        host *one = host_of(heard, s);
        one->last_ns = MAX(one->last_ns, s->last_time_ns);
    }
    GHashTableIter at;
    gpointer value;
    g_hash_table_iter_init(&at, heard->hosts);
    while (g_hash_table_iter_next(&at, NULL, &value)) {
        const host *one = value;
        g_assert(one != NULL);
        take_newest(heard, one);
        take_some(heard, one);
    }
    return heard;
}

void
rs_last_heard_free(rs_last_heard *heard)
{
    if (heard != NULL) {
        g_hash_table_unref(heard->hosts);
        g_free(heard);
    }
}

gboolean
rs_last_heard_at(const rs_last_heard *heard, const roce_tenant *tenant,
                 const roce_addr *addr, guint64 *last_ns)
{
    const rs_tenant_addr name = {.tenant = *tenant, .addr = *addr};
    const host *known = g_hash_table_lookup(heard->hosts, &name);
    *last_ns = known != NULL ? known->last_ns : 0;
    return known != NULL;
}

gboolean
rs_last_heard_alone(const rs_last_heard *heard, const roce_addr *addr,
                    const roce_addr *other, guint64 since_ns)
{
    for (guint i = 0; i < G_N_ELEMENTS(heard->newest); i++) {
        const host *one = heard->newest[i];
        if (one != NULL && one->last_ns >= since_ns &&
            !roce_addr_equal(&one->name.addr, addr)) {
            return FALSE;
        }
    }
    for (guint i = 0; i < heard->n_some; i++) {
        if (!roce_addr_equal(heard->some[i], addr) &&
            !roce_addr_equal(heard->some[i], other)) {
            return TRUE;
        }
    }
    return FALSE;
}
