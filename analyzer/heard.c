/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heard.h"

#include "keys.h"

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

GHashTable *
rs_heard_receiving(const rs_edges *edges)
{
    GHashTable *receiving = rs_keys_new(NULL);
    for (guint i = 0; i < rs_edges_n(edges); i++) {
        const rs_edge *edge = rs_edges_at(edges, i);
        guint64 key = rs_key_of(edge->point, edge->dst);
        if (edge->bytes > 0 && !rs_keys_have(receiving, key)) {
            (void)rs_keys_add(receiving, key);
        }
    }
    return receiving;
}

gboolean
rs_heard_better(GHashTable *receiving, const rs_edge *edge, const rs_edge *than)
{
    gboolean answers = rs_keys_have(receiving, rs_key_of(edge->point, edge->src));
    return answers != rs_keys_have(receiving, rs_key_of(than->point, than->src))
               ? answers
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
    g_autoptr(GHashTable) receiving = rs_heard_receiving(edges);
    g_autoptr(GHashTable) best = rs_keys_new(NULL); /* by pair: an edge, + 1 */
    gboolean any = FALSE;
    for (guint32 i = 0; i < rs_edges_n(edges); i++) {
        const rs_edge *edge = rs_edges_at(edges, i);
        const rs_edge *there = rs_edges_find(edges, point, edge->src, edge->dst);
        if (edge->bytes == 0 || edge->src == edge->dst ||
            (there != NULL && there->bytes > 0) ||
            !share_file(files, edge->point, point)) {
            continue;
        }
        guint64 key = rs_key_of(edge->src, edge->dst);
        guint32 other = GPOINTER_TO_UINT(rs_keys_find(best, key));
        if (other == 0 ||
            rs_heard_better(receiving, edge, rs_edges_at(edges, other - 1))) {
            (void)rs_keys_insert(best, key, GUINT_TO_POINTER(i + 1));
            heard[i] = TRUE;
            if (other != 0) {
                heard[other - 1] = FALSE;
            }
        }
        any = TRUE;
    }
    return any;
}
