/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evidence.h"

#include "roce/aeth.h"

#define MAX_ENTRIES 200000 /* streams times kinds that keep frames */

struct rs_evidence_table {
    GHashTable *entries; /* gint64: kind << 32 | stream -> rs_evidence */
};

rs_evidence_table *
rs_evidence_table_new(void)
{
    rs_evidence_table *table = g_new0(rs_evidence_table, 1);
    table->entries = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    return table;
}

void
rs_evidence_table_free(rs_evidence_table *table)
{
    if (table == NULL) {
        return;
    }
    g_hash_table_unref(table->entries);
    g_free(table);
}

static gint64
key_of(guint32 stream, guint kind)
{
    return (gint64)((guint64)kind << 32 | stream); /* g_int64_hash keeps the low half */
}

static void
keep_frame(rs_evidence *evidence, guint64 frame)
{
    if (frame == 0) {
        return;
    }
    if (evidence->n < RS_EVIDENCE_FRAMES) {
        evidence->frames[evidence->n++] = frame;
    } else {
        evidence->more = TRUE;
    }
}

void
rs_evidence_keep(rs_evidence_table *table, const roce_event *event)
{
    gboolean has_detail = event->kind == ROCE_EVENT_LOSS ||
                          event->kind == ROCE_EVENT_ROUND ||
                          event->kind == ROCE_EVENT_NAK;
    guint kind = RS_EVIDENCE_KIND(event->kind, has_detail ? event->detail : 0);
    gint64 key = key_of(event->stream, kind);
    rs_evidence *evidence = g_hash_table_lookup(table->entries, &key);
    if (evidence == NULL) {
        if (g_hash_table_size(table->entries) >= MAX_ENTRIES) {
            return;
        }
        evidence = g_new0(rs_evidence, 1);
        g_hash_table_insert(table->entries, g_memdup2(&key, sizeof key), evidence);
    }
    gboolean refused =
        event->kind == ROCE_EVENT_NAK && event->detail != ROCE_NAK_PSN_SEQUENCE;
    if (refused) {
        keep_frame(evidence, event->related_frame); /* the request that was refused */
    }
    keep_frame(evidence, event->frame);
}

const rs_evidence *
rs_evidence_get(const rs_evidence_table *table, guint32 stream, guint kind)
{
    gint64 key = key_of(stream, kind);
    return g_hash_table_lookup(table->entries, &key);
}
