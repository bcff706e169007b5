/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "keys.h"

#include "roce/hash.h"

guint
rs_key_hash(gconstpointer key)
{
    return (guint)(roce_hash_mix(0, *(const guint64 *)key) >> 32);
}

GHashTable *
rs_keys_new(GDestroyNotify free_value)
{
    return g_hash_table_new_full(rs_key_hash, g_int64_equal, g_free, free_value);
}

gboolean
rs_keys_insert(GHashTable *table, guint64 key, gpointer value)
{
    return g_hash_table_insert(table, g_memdup2(&key, sizeof key), value);
}

gpointer
rs_keys_find(GHashTable *table, guint64 key)
{
    return g_hash_table_lookup(table, &key);
}

gboolean
rs_keys_add(GHashTable *table, guint64 key)
{
    return g_hash_table_add(table, g_memdup2(&key, sizeof key));
}

gboolean
rs_keys_have(GHashTable *table, guint64 key)
{
    return g_hash_table_contains(table, &key);
}
