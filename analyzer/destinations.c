/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "destinations.h"

#include "roce/hash.h"

static guint
hash_destination(gconstpointer data)
{
    const rs_destination *d = data;
    guint64 hash = roce_hash_tenant(d->point, &d->host.tenant);
    return (guint)roce_hash_addr(hash, &d->host.addr);
}

static gboolean
same_destination(gconstpointer a, gconstpointer b)
{
    const rs_destination *x = a;
    const rs_destination *y = b;
    return x->point == y->point && rs_tenant_addr_equal(&x->host, &y->host);
}

rs_destinations *
rs_destinations_new(guint max)
{
    rs_destinations *destinations = g_new0(rs_destinations, 1);
    destinations->max = max;
    destinations->all = g_ptr_array_new_with_free_func(g_free);
    destinations->by_key = g_hash_table_new(hash_destination, same_destination);
    destinations->of_stream = g_array_new(FALSE, TRUE, sizeof(guint32));
    return destinations;
}

void
rs_destinations_free(rs_destinations *destinations)
{
    if (destinations != NULL) {
        g_hash_table_unref(destinations->by_key);
        g_ptr_array_unref(destinations->all);
        g_array_unref(destinations->of_stream);
        g_free(destinations);
    }
}

static rs_destination
destination_of(const roce_stream *s)
{
    return (rs_destination){.point = s->point, .host = {s->tenant, s->dst}};
}

static guint32
find_or_add(rs_destinations *destinations, const roce_stream *stream)
{
    const rs_destination key = destination_of(stream);
    guint32 i = GPOINTER_TO_UINT(g_hash_table_lookup(destinations->by_key, &key));
    if (i != 0) {
        return i - 1;
    }
    if (destinations->all->len == destinations->max) {
        destinations->omitted++;
        return RS_NO_DESTINATION;
    }
    rs_destination *added = g_new(rs_destination, 1);
    *added = key;
    g_ptr_array_add(destinations->all, added);
    g_hash_table_insert(destinations->by_key, added,
                        GUINT_TO_POINTER(destinations->all->len));
    return destinations->all->len - 1;
}

guint32
rs_destinations_ask(rs_destinations *destinations, const roce_stream *stream)
{
    GArray *known = destinations->of_stream;
    if (stream->id >= known->len) {
        g_array_set_size(known, stream->id + 1);
    }
    guint32 *number = &g_array_index(known, guint32, stream->id);
    if (*number == 0) {
        guint32 i = find_or_add(destinations, stream);
        *number = i == RS_NO_DESTINATION ? i : i + 1;
    }
    return *number == RS_NO_DESTINATION ? RS_NO_DESTINATION : *number - 1;
}

static guint32
find(const rs_destinations *destinations, const rs_destination *key)
{
    guint32 i = GPOINTER_TO_UINT(g_hash_table_lookup(destinations->by_key, key));
    return i == 0 ? RS_NO_DESTINATION : i - 1;
}

guint32
rs_destinations_find(const rs_destinations *destinations, const roce_stream *stream)
{
    const rs_destination key = destination_of(stream);
    return find(destinations, &key);
}

guint32
rs_destinations_find_back(const rs_destinations *destinations,
                          const roce_stream *stream)
{
    rs_destination key = destination_of(stream);
    key.host.addr = stream->src;
    return find(destinations, &key);
}

const rs_destination *
rs_destinations_at(const rs_destinations *destinations, guint32 i)
{
    return g_ptr_array_index(destinations->all, i);
}

guint64
rs_destinations_omitted(const rs_destinations *destinations)
{
    return destinations->omitted;
}
