/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pairs of numbers as keys. */
#include "check.h"
#include "keys.h"

/* Pairs that differ in one number alone, as those of one address at many points do, do not
 * all share one place. */
static void
check_hash(void)
{
    g_autoptr(GHashTable) by_low = g_hash_table_new(NULL, NULL);
    g_autoptr(GHashTable) by_high = g_hash_table_new(NULL, NULL);
    for (guint32 i = 0; i <= G_MAXUINT16; i++) {
        guint64 low = rs_key_of(1, i);
        guint64 high = rs_key_of(i, 1);
        g_hash_table_add(by_low, GUINT_TO_POINTER(rs_key_hash(&low)));
        g_hash_table_add(by_high, GUINT_TO_POINTER(rs_key_hash(&high)));
    }
    CHECK(g_hash_table_size(by_low) > G_MAXUINT16 / 2);
    CHECK(g_hash_table_size(by_high) > G_MAXUINT16 / 2);
}

static guint n_freed;

static void
count_freed(gpointer value)
{
    n_freed++;
    g_free(value);
}

static void
check_values(void)
{
    GHashTable *table = rs_keys_new(count_freed);
    guint64 key = rs_key_of(G_MAXUINT32, 0);
    CHECK(rs_keys_find(table, key) == NULL);
    CHECK(rs_keys_insert(table, key, g_strdup("first")));
    CHECK(!rs_keys_insert(table, key, g_strdup("second")));
    CHECK_INT(n_freed, 1);
    CHECK_STR(rs_keys_find(table, key), "second");
    CHECK(rs_keys_find(table, rs_key_of(0, G_MAXUINT32)) == NULL);
    g_hash_table_unref(table);
    CHECK_INT(n_freed, 2);
}

static void
check_keys_alone(void)
{
    g_autoptr(GHashTable) table = rs_keys_new(NULL);
    CHECK(!rs_keys_have(table, rs_key_of(7, 9)));
    CHECK(rs_keys_add(table, rs_key_of(7, 9)));
    CHECK(!rs_keys_add(table, rs_key_of(7, 9)));
    CHECK(rs_keys_have(table, rs_key_of(7, 9)));
    CHECK(!rs_keys_have(table, rs_key_of(9, 7)));
    CHECK(!rs_keys_have(table, rs_key_of(8, 9)));
}

int
main(void)
{
    check_hash();
    check_values();
    check_keys_alone();
    return check_status();
}
