/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pairs of numbers as keys of GLib's hash tables.
 *
 * The one rule: pairs are not asked for by g_int64_hash(), which keeps the low half alone:
 * all of one second number would share a place, and a table of some thousands would be
 * searched from one end to the other.
 */
#ifndef RS_KEYS_H
#define RS_KEYS_H

#include <glib.h>

static inline guint64
rs_key_of(guint32 high, guint32 low)
{
    return high * ((guint64)1 << 32) + low; /* clang's analyzer denies it a shift */
}

/* For tables with guint64 keys: of all their bits. */
guint
rs_key_hash(gconstpointer key);

/* A table by guint64, each of which it copies in rs_keys_insert(), with values that
 * `free_value` frees, or NULL. */
GHashTable *
rs_keys_new(GDestroyNotify free_value);

/* Takes the value over; FALSE: it has taken the place of another one. */
gboolean
rs_keys_insert(GHashTable *table, guint64 key, gpointer value);

/* NULL: there is none. */
gpointer
rs_keys_find(GHashTable *table, guint64 key);

/* Keeps a key that stands for itself; FALSE: it was there. */
gboolean
rs_keys_add(GHashTable *table, guint64 key);

gboolean
rs_keys_have(GHashTable *table, guint64 key);

#endif
