/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host_matrix.h"

#include "sorting.h"

/* A host while they are counted. */
typedef struct entry {
    rs_tenant_addr host;
    guint64 bytes; /* on the wire, sent and received */
    guint number;  /* G_MAXUINT: it has no place */
} entry;

static entry *
entry_of(GHashTable *entries, const roce_tenant *tenant, const roce_addr *addr)
{
    const rs_tenant_addr host = {*tenant, *addr};
    entry *e = g_hash_table_lookup(entries, &host);
    if (e == NULL) {
        e = g_new0(entry, 1);
        e->host = host;
        e->number = G_MAXUINT;
        g_hash_table_insert(entries, &e->host, e);
    }
    return e;
}

/* Each host that a standing stream begins or ends at. */
static GHashTable *
count_hosts(const rs_analysis *analysis, const rs_summary *summary)
{
    GHashTable *entries =
        g_hash_table_new_full(rs_tenant_addr_hash, rs_tenant_addr_equal, NULL, g_free);
    for (guint32 id = 0; id < roce_tracker_n_streams(analysis->tracker); id++) {
        const roce_stream *s = roce_tracker_stream(analysis->tracker, id);
        if (rs_summary_stands(summary, id)) {
            entry_of(entries, &s->tenant, &s->src)->bytes += s->wire_bytes;
            entry_of(entries, &s->tenant, &s->dst)->bytes += s->wire_bytes;
        }
    }
    return entries;
}

static gint
compare_hosts(const rs_tenant_addr *a, const rs_tenant_addr *b)
{
    gint order = roce_addr_compare(&a->addr, &b->addr);
    order = order != 0 ? order : rs_by_number(a->tenant.kind, b->tenant.kind);
    return order != 0 ? order : rs_by_number(a->tenant.id, b->tenant.id);
}

static gint
by_bytes(gconstpointer a, gconstpointer b)
{
    const entry *first = *(const entry *const *)a;
    const entry *second = *(const entry *const *)b;
    if (first->bytes != second->bytes) {
        return first->bytes > second->bytes ? -1 : 1;
    }
    return compare_hosts(&first->host, &second->host);
}

static gint
by_addr(gconstpointer a, gconstpointer b)
{
    const entry *first = *(const entry *const *)a;
    const entry *second = *(const entry *const *)b;
    return compare_hosts(&first->host, &second->host);
}

/* Gives those with most traffic a number each, in the order of addresses. */
static void
number_hosts(rs_host_matrix *matrix, GHashTable *entries)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new();
    GHashTableIter iter;
    gpointer e;
    g_hash_table_iter_init(&iter, entries);
    while (g_hash_table_iter_next(&iter, NULL, &e)) {
        g_ptr_array_add(all, e);
    }
    g_ptr_array_sort(all, by_bytes);
    if (all->len > RS_MATRIX_HOSTS) {
        matrix->hosts_omitted = all->len - RS_MATRIX_HOSTS;
        g_ptr_array_set_size(all, RS_MATRIX_HOSTS);
    }
    g_ptr_array_sort(all, by_addr);
    for (guint i = 0; i < all->len; i++) {
        entry *host = g_ptr_array_index(all, i);
        host->number = i;
        matrix->several_tenants |= !roce_tenant_equal(
            &host->host.tenant, &((entry *)g_ptr_array_index(all, 0))->host.tenant);
        g_array_append_val(matrix->hosts, host->host);
    }
}

static void
add_counters(rs_matrix_cell *cell, const rs_counters *c)
{
    const guint64 *codepoint = c->ecn.codepoint;
    cell->packets += c->packets;
    cell->payload_bytes += c->payload_bytes;
    cell->data += codepoint[0] + codepoint[1] + codepoint[2] + codepoint[3];
    cell->ce += codepoint[ROCE_ECN_CE];
    cell->lost += rs_losses_of(c->losses[ROCE_SPACE_REQUESTS]) +
                  rs_losses_of(c->losses[ROCE_SPACE_RESPONSES]);
    cell->retransmissions +=
        c->retransmissions.packets + c->space[ROCE_SPACE_RESPONSES].resent;
    cell->cnps += c->cnps_received;
    cell->cnps_known |= c->paired_streams > 0 || c->cnps_received > 0;
}

static void
fill_cells(rs_host_matrix *matrix, GHashTable *entries, const rs_analysis *analysis,
           const rs_summary *summary)
{
    guint n = matrix->hosts->len;
    g_autofree rs_matrix_cell *cells = g_new0(rs_matrix_cell, (gsize)n * n);
    for (guint32 id = 0; id < roce_tracker_n_streams(analysis->tracker); id++) {
        const roce_stream *s = roce_tracker_stream(analysis->tracker, id);
        guint src = entry_of(entries, &s->tenant, &s->src)->number;
        guint dst = entry_of(entries, &s->tenant, &s->dst)->number;
        if (rs_summary_stands(summary, id) && src < n && dst < n) {
            rs_counters counters;
            rs_summary_count_once(summary, analysis, id, &counters);
            add_counters(&cells[(gsize)src * n + dst], &counters);
        }
    }
    for (guint i = 0; i < n * n; i++) {
        if (cells[i].packets > 0) {
            cells[i].src = i / n;
            cells[i].dst = i % n;
            g_array_append_val(matrix->cells, cells[i]);
        }
    }
}

rs_host_matrix *
rs_host_matrix_new(const rs_analysis *analysis, const rs_summary *summary)
{
    rs_host_matrix *matrix = g_new0(rs_host_matrix, 1);
    matrix->hosts = g_array_new(FALSE, FALSE, sizeof(rs_tenant_addr));
    matrix->cells = g_array_new(FALSE, FALSE, sizeof(rs_matrix_cell));
    g_autoptr(GHashTable) entries = count_hosts(analysis, summary);
    number_hosts(matrix, entries);
    fill_cells(matrix, entries, analysis, summary);
    return matrix;
}

void
rs_host_matrix_free(rs_host_matrix *matrix)
{
    if (matrix == NULL) {
        return;
    }
    g_array_unref(matrix->hosts);
    g_array_unref(matrix->cells);
    g_free(matrix);
}
