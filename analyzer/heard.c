/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heard.h"

gboolean *
rs_heard_at(const rs_edges *edges, guint32 point)
{
    guint n = rs_edges_n(edges);
    gboolean *heard = g_new0(gboolean, n);
    for (guint i = 0; i < n; i++) {
        heard[i] = rs_edges_at(edges, i)->point == point;
    }
    return heard;
}

static gint64
key_of(guint32 high, guint32 low)
{
    return (gint64)((guint64)high << 32 | low);
}

static gint64
key_of_pair(const rs_edge *edge)
{
    return key_of(edge->src, edge->dst);
}

static void
insert(GHashTable *table, gint64 key, guint32 value)
{
    g_hash_table_insert(table, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(value));
}

static GHashTable *
new_table(void)
{
    return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
}

/* Where hosts are seen to receive: point << 32 | node. */
static GHashTable *
receiving(const rs_edges *edges)
{
    GHashTable *known = new_table();
    for (guint i = 0; i < rs_edges_n(edges); i++) {
        const rs_edge *edge = rs_edges_at(edges, i);
        if (edge->bytes > 0) {
            insert(known, key_of(edge->point, edge->dst), 1);
        }
    }
    return known;
}

static gboolean
is_better(GHashTable *known, const rs_edge *edge, const rs_edge *than)
{
    gint64 own = key_of(edge->point, edge->src);
    gint64 other = key_of(than->point, than->src);
    gboolean is_known = g_hash_table_contains(known, &own);
    return is_known != g_hash_table_contains(known, &other) ? is_known
                                                            : edge->bytes > than->bytes;
}

/* Whether two points stand in one file. */
static gboolean
share_file(const GArray *files, guint32 a, guint32 b)
{
    return a < files->len && b < files->len &&
           g_array_index(files, guint32, a) == g_array_index(files, guint32, b);
}

gboolean
rs_heard_beside(const rs_edges *edges, guint32 point, const GArray *files,
                gboolean *heard)
{
    g_autoptr(GHashTable) known = receiving(edges);
    g_autoptr(GHashTable) best = new_table(); /* by pair: an edge, + 1 */
    gboolean any = FALSE;
    for (guint32 i = 0; i < rs_edges_n(edges); i++) {
        const rs_edge *edge = rs_edges_at(edges, i);
        const rs_edge *there = rs_edges_find(edges, point, edge->src, edge->dst);
        if (edge->bytes == 0 || edge->src == edge->dst ||
            (there != NULL && there->bytes > 0) ||
            !share_file(files, edge->point, point)) {
            continue;
        }
        gint64 key = key_of_pair(edge);
        guint32 other = GPOINTER_TO_UINT(g_hash_table_lookup(best, &key));
        if (other == 0 || is_better(known, edge, rs_edges_at(edges, other - 1))) {
            insert(best, key, i + 1);
            heard[i] = TRUE;
            if (other != 0) {
                heard[other - 1] = FALSE;
            }
        }
        any = TRUE;
    }
    return any;
}
