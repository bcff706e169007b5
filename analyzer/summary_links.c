/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections: the two directions of one queue pair, over all points. */
#include "summary_parts.h"

#include "sorting.h"

#include "roce/hash.h"

#define NO_LINK G_MAXUINT32

static void
free_link(gpointer data)
{
    rs_link *link = data;
    g_array_unref(link->streams);
    g_free(link);
}

gboolean
rs_link_process(const rs_link *link, guint side, const rs_qp_maps *maps,
                rs_process *process)
{
    guint other = 1 - side;
    return link->qpn_known[side] &&
           rs_qp_maps_process(maps, &link->addr[side], link->qpn[side],
                              link->qpn_known[other] ? &link->qpn[other] : NULL,
                              process);
}

static rs_link *
add_link(rs_summary *summary)
{
    rs_link *link = g_new0(rs_link, 1);
    link->streams = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_ptr_array_add(summary->links, link);
    return link;
}

static const char *
trust_of(const roce_stream *s, const roce_stream *peer)
{
    guint32 evidence = MAX(s->pairing_evidence, peer->pairing_evidence);
    if (s->paired_by == ROCE_PAIRING_USER &&
        (s->table_contradicted || peer->table_contradicted)) {
        return "low";
    }
    if (s->paired_by != ROCE_PAIRING_PSN || s->paired_ports_agree || evidence >= 16) {
        return "high";
    }
    return evidence >= 3 ? "medium" : "low";
}

static void
join_link(rs_summary *summary, const rs_analysis *analysis, guint32 id, guint link_i)
{
    rs_link *link = g_ptr_array_index(summary->links, link_i);
    const roce_stream *s = rs_summary_stream(analysis, id);
    g_array_append_val(link->streams, id);
    g_array_index(summary->link_of, guint32, id) = link_i;
    link->paired_by = MAX(link->paired_by, s->paired_by);
    if (s->connection != ROCE_NO_STREAM) {
        link->cm = roce_tracker_connection(analysis->tracker, s->connection);
    }
}

/* Where the connection between two ends is found. */
typedef struct signpost {
    roce_ends ends;
    guint link_i;
} signpost;

static guint
hash_signpost(gconstpointer data)
{
    const signpost *post = data;
    const roce_ends *ends = &post->ends;
    guint64 hash = roce_hash_tenant(0, &ends->tenant);
    hash = roce_hash_addr(roce_hash_addr(hash, &ends->addr[0]), &ends->addr[1]);
    return (guint)roce_hash_mix(hash, (guint64)ends->qpn[0] << 32 | ends->qpn[1]);
}

static gboolean
same_ends(gconstpointer a, gconstpointer b)
{
    const roce_ends *x = &((const signpost *)a)->ends;
    const roce_ends *y = &((const signpost *)b)->ends;
    return x->qpn[0] == y->qpn[0] && x->qpn[1] == y->qpn[1] &&
           roce_tenant_equal(&x->tenant, &y->tenant) &&
           roce_addr_equal(&x->addr[0], &y->addr[0]) &&
           roce_addr_equal(&x->addr[1], &y->addr[1]);
}

static guint
find_link(rs_summary *summary, const roce_stream *s, GHashTable *signposts)
{
    signpost post = {.link_i = summary->links->len};
    roce_stream_ends(s, &post.ends);
    const signpost *found = g_hash_table_lookup(signposts, &post);
    if (found != NULL) {
        return found->link_i;
    }
    rs_link *link = add_link(summary);
    link->addr[0] = s->src;
    link->addr[1] = s->dst;
    link->qpn[0] = s->src_qpn;
    link->qpn[1] = s->dst_qpn;
    link->qpn_known[0] = link->qpn_known[1] = TRUE;
    g_hash_table_add(signposts, g_memdup2(&post, sizeof post));
    return post.link_i;
}

/* Connections that CM told of and that no captured stream belongs to. */
static void
add_bare_connections(rs_summary *summary, const rs_analysis *analysis)
{
    guint n = roce_tracker_n_connections(analysis->tracker);
    g_autoptr(GHashTable) used = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < summary->links->len; i++) {
        const rs_link *link = g_ptr_array_index(summary->links, i);
        g_hash_table_add(used, (gpointer)(guintptr)link->cm);
    }
    for (guint i = 0; i < n; i++) {
        const roce_connection *c = roce_tracker_connection(analysis->tracker, i);
        if (g_hash_table_contains(used, c)) {
            continue;
        }
        rs_link *link = add_link(summary);
        for (guint side = 0; side < 2; side++) {
            link->addr[side] = c->addr[side];
            link->qpn[side] = c->qpn[side];
            link->qpn_known[side] = (c->known & 1u << side) != 0;
        }
        link->paired_by = ROCE_PAIRING_CM;
        link->trust = "high";
        link->cm = c;
    }
}

typedef struct paired_stream {
    guint32 paired_as, id;
} paired_stream;

static gint
by_pairing(gconstpointer a, gconstpointer b)
{
    const paired_stream *x = a;
    const paired_stream *y = b;
    if (x->paired_as != y->paired_as) {
        return x->paired_as < y->paired_as ? -1 : 1;
    }
    return rs_by_number(x->id, y->id);
}

/* Connections are numbered in the order in which they were found, as in the plugin. */
void
rs_summary_find_links(rs_summary *summary, const rs_analysis *analysis)
{
    guint n = roce_tracker_n_streams(analysis->tracker);
    g_autoptr(GHashTable) signposts =
        g_hash_table_new_full(hash_signpost, same_ends, g_free, NULL);
    g_autoptr(GArray) paired = g_array_new(FALSE, FALSE, sizeof(paired_stream));
    summary->links = g_ptr_array_new_with_free_func(free_link);
    summary->link_of = g_array_new(FALSE, TRUE, sizeof(guint32));
    g_array_set_size(summary->link_of, n);
    for (guint32 id = 0; id < n; id++) {
        g_array_index(summary->link_of, guint32, id) = NO_LINK;
        const paired_stream entry = {rs_summary_stream(analysis, id)->paired_as, id};
        if (roce_stream_is_paired(rs_summary_stream(analysis, id))) {
            g_array_append_val(paired, entry);
        }
    }
    g_array_sort(paired, by_pairing);
    for (guint i = 0; i < paired->len; i++) {
        guint32 id = g_array_index(paired, paired_stream, i).id;
        const roce_stream *s = rs_summary_stream(analysis, id);
        guint link_i = find_link(summary, s, signposts);
        rs_link *link = g_ptr_array_index(summary->links, link_i);
        link->trust = trust_of(s, rs_summary_stream(analysis, s->peer));
        join_link(summary, analysis, id, link_i);
    }
    for (guint i = 0; i < summary->links->len; i++) {
        const rs_link *link = g_ptr_array_index(summary->links, i);
        g_array_sort(link->streams, rs_by_u32);
    }
    add_bare_connections(summary, analysis);
}
