/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "withdrawn.h"

typedef struct verdict_key {
    gint64 psn;
    guint32 stream;
    guint8 space, detail;
} verdict_key;

/* The newest of its key. */
typedef struct verdict {
    guint64 event_i;
    guint64 n; /* transmissions that it still holds of */
} verdict;

static guint
verdict_hash(gconstpointer data)
{
    const verdict_key *key = data;
    return (guint)key->psn * 2654435761u ^ key->stream * 40503u ^
           (guint)(key->space << 8 | key->detail);
}

static gboolean
verdict_equal(gconstpointer a, gconstpointer b)
{
    const verdict_key *x = a;
    const verdict_key *y = b;
    return x->psn == y->psn && x->stream == y->stream && x->space == y->space &&
           x->detail == y->detail;
}

static void
take_back(GHashTable *verdicts, const verdict_key *key, guint64 n,
          GHashTable *withdrawn)
{
    verdict *wrong = g_hash_table_lookup(verdicts, key);
    if (wrong == NULL || wrong->n == 0) {
        return;
    }
    wrong->n -= MIN(wrong->n, n);
    if (wrong->n == 0) {
        (void)g_hash_table_add(withdrawn,
                               g_memdup2(&wrong->event_i, sizeof wrong->event_i));
    }
}

GHashTable *
rs_withdrawn_of(const rs_trace *trace)
{
    GHashTable *withdrawn =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    g_autoptr(GHashTable) verdicts =
        g_hash_table_new_full(verdict_hash, verdict_equal, g_free, g_free);
    for (guint64 i = 0; i < rs_trace_n_events(trace); i++) {
        const roce_event *event = rs_trace_event(trace, i);
        const verdict_key key = {event->psn, event->stream, (guint8)event->space,
                                 event->detail};
        if (event->kind == ROCE_EVENT_LOSS) {
            const verdict newest = {i, event->count};
            g_hash_table_replace(verdicts, g_memdup2(&key, sizeof key),
                                 g_memdup2(&newest, sizeof newest));
        } else if (event->kind == ROCE_EVENT_LOSS_WITHDRAWN) {
            take_back(verdicts, &key, event->count, withdrawn);
        }
    }
    return withdrawn;
}
