/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rails.h"

static void
free_crossing(gpointer data)
{
    rs_rail_crossing *crossing = data;
    g_array_unref(crossing->streams);
    g_free(crossing);
}

static guint
hash_crossing(gconstpointer data)
{
    const rs_rail_crossing *crossing = data;
    return g_direct_hash(crossing->src) * 31 + g_direct_hash(crossing->dst);
}

static gboolean
same_crossing(gconstpointer a, gconstpointer b)
{
    const rs_rail_crossing *x = a;
    const rs_rail_crossing *y = b;
    return x->src == y->src && x->dst == y->dst;
}

static void
add_crossing(rs_rails *rails, GHashTable *index, const rs_host *src, const rs_host *dst,
             const roce_stream *s)
{
    const rs_rail_crossing key = {.src = src, .dst = dst};
    rs_rail_crossing *crossing = g_hash_table_lookup(index, &key);
    if (crossing == NULL) {
        crossing = g_memdup2(&key, sizeof key);
        crossing->streams = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_ptr_array_add(rails->crossings, crossing);
        g_hash_table_add(index, crossing);
    }
    crossing->packets += s->packets;
    crossing->bytes += s->wire_bytes;
    g_array_append_val(crossing->streams, s->id);
}

static void
add_stream(rs_rails *rails, GHashTable *index, const rs_hosts *hosts,
           const roce_stream *s)
{
    const rs_host *src = rs_hosts_find(hosts, &s->src);
    const rs_host *dst = rs_hosts_find(hosts, &s->dst);
    if (src == NULL || dst == NULL || src->rail == NULL || dst->rail == NULL) {
        rails->unknown_bytes += s->wire_bytes;
        return;
    }
    rails->known = TRUE;
    if (g_str_equal(src->name, dst->name)) {
        rails->within_host_bytes += s->wire_bytes;
    } else if (g_str_equal(src->rail, dst->rail)) {
        rails->within_bytes += s->wire_bytes;
    } else {
        rails->across_bytes += s->wire_bytes;
        add_crossing(rails, index, src, dst, s);
    }
}

static gint
by_bytes(gconstpointer a, gconstpointer b)
{
    const rs_rail_crossing *x = *(rs_rail_crossing *const *)a;
    const rs_rail_crossing *y = *(rs_rail_crossing *const *)b;
    if (x->bytes != y->bytes) {
        return x->bytes > y->bytes ? -1 : 1;
    }
    guint32 first = g_array_index(x->streams, guint32, 0);
    guint32 other = g_array_index(y->streams, guint32, 0);
    return first < other ? -1 : 1;
}

rs_rails *
rs_rails_new(const rs_analysis *analysis, const rs_summary *summary)
{
    rs_rails *rails = g_new0(rs_rails, 1);
    rails->crossings = g_ptr_array_new_with_free_func(free_crossing);
    g_autoptr(GHashTable) index = g_hash_table_new(hash_crossing, same_crossing);
    for (guint32 id = 0; id < roce_tracker_n_streams(analysis->tracker); id++) {
        if (rs_summary_stands(summary, id)) {
            add_stream(rails, index, analysis->told->hosts,
                       roce_tracker_stream(analysis->tracker, id));
        }
    }
    g_ptr_array_sort(rails->crossings, by_bytes);
    return rails;
}

void
rs_rails_free(rs_rails *rails)
{
    if (rails != NULL) {
        g_ptr_array_unref(rails->crossings);
        g_free(rails);
    }
}
