/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pairs.h"

#include "format.h"

#include "roce/hash.h"

static void
free_pair(gpointer data)
{
    rs_pair *pair = data;
    g_array_unref(pair->streams);
    g_free(pair);
}

guint
rs_pair_hash(gconstpointer data)
{
    const rs_pair *pair = data;
    guint64 hash = roce_hash_tenant(0, &pair->tenant);
    return (guint)roce_hash_addr(roce_hash_addr(hash, &pair->src), &pair->dst);
}

gboolean
rs_pair_equal(gconstpointer a, gconstpointer b)
{
    const rs_pair *x = a;
    const rs_pair *y = b;
    return roce_tenant_equal(&x->tenant, &y->tenant) &&
           roce_addr_equal(&x->src, &y->src) && roce_addr_equal(&x->dst, &y->dst);
}

static void
add_stream(GPtrArray *pairs, GHashTable *index, const roce_stream *s)
{
    const rs_pair key = {.tenant = s->tenant, .src = s->src, .dst = s->dst};
    rs_pair *pair = g_hash_table_lookup(index, &key);
    if (pair == NULL) {
        pair = g_memdup2(&key, sizeof key);
        pair->streams = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_ptr_array_add(pairs, pair);
        g_hash_table_add(index, pair);
    }
    g_array_append_val(pair->streams, s->id);
}

/* Of streams that are the same, some of which have it: the one that stands for all, else the
 * first of the others. */
static guint32
first_that_has(const rs_findings *all, rs_pair_fn has, guint32 standing)
{
    const roce_tracker *tracker = all->analysis->tracker;
    const GArray *members = rs_summary_members(all->summary, standing);
    guint32 first = standing;
    for (guint i = 0; !has(all, roce_tracker_stream(tracker, first)); i++) {
        first = g_array_index(members, guint32, i);
    }
    return first;
}

/* Whether a stream that has it is the one that speaks of it. */
static gboolean
speaks(const rs_findings *all, rs_pair_points points, rs_pair_fn has, guint32 id)
{
    guint32 standing = rs_summary_group(all->summary, id);
    switch (points) {
    case RS_PAIRS_ONCE:
        return standing == id;
    case RS_PAIRS_AT_ANY:
        return first_that_has(all, has, standing) == id;
    case RS_PAIRS_EVERYWHERE:
        break;
    }
    return TRUE;
}

GPtrArray *
rs_pairs_of(const rs_findings *all, rs_pair_points points, rs_pair_fn has)
{
    const roce_tracker *tracker = all->analysis->tracker;
    GPtrArray *pairs = g_ptr_array_new_with_free_func(free_pair);
    g_autoptr(GHashTable) index = g_hash_table_new(rs_pair_hash, rs_pair_equal);
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        const roce_stream *s = roce_tracker_stream(tracker, id);
        if (has(all, s) && speaks(all, points, has, id)) {
            add_stream(pairs, index, s);
        }
    }
    return pairs;
}

char *
rs_pair_label(const rs_findings *all, const rs_pair *pair)
{
    return rs_findings_ends(all, &pair->tenant, &pair->src, &pair->dst);
}

void
rs_pair_name(rs_finding *finding, const rs_pair *pair)
{
    g_autofree char *what = rs_format_ends(&pair->src, &pair->dst);
    rs_finding_about(finding, what);
    rs_finding_in(finding, &pair->tenant);
}
