/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evidence.h"

#include "keys.h"

#include "roce/aeth.h"

#include <string.h>

#define MAX_ENTRIES 200000 /* streams times kinds that keep frames */

struct rs_evidence_table {
    GHashTable *entries; /* by kind and stream: rs_evidence */
};

rs_evidence_table *
rs_evidence_table_new(void)
{
    rs_evidence_table *table = g_new0(rs_evidence_table, 1);
    table->entries = rs_keys_new(g_free);
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

/* No finding is about what every stream or pair does. */
static gboolean
tells_something(roce_event_kind kind)
{
    return kind != ROCE_EVENT_STREAM_START && kind != ROCE_EVENT_CONNECTED;
}

static rs_evidence *
entry_of(rs_evidence_table *table, guint32 stream, guint kind)
{
    guint64 key = rs_key_of(kind, stream);
    rs_evidence *evidence = rs_keys_find(table->entries, key);
    if (evidence == NULL && g_hash_table_size(table->entries) < MAX_ENTRIES) {
        evidence = g_new0(rs_evidence, 1);
        (void)rs_keys_insert(table->entries, key, evidence);
    }
    return evidence;
}

static void
keep_frame(rs_evidence_table *table, guint kind, const roce_event *event, guint64 frame)
{
    rs_evidence *evidence = frame != 0 ? entry_of(table, event->stream, kind) : NULL;
    if (evidence == NULL) {
        return;
    }
    if (evidence->n < RS_EVIDENCE_FRAMES) {
        evidence->frames[evidence->n] = frame;
        evidence->psns[evidence->n++] = event->psn;
    } else {
        evidence->more |= frame != evidence->frames[evidence->n - 1];
    }
}

/* A verdict was wrong: its frame shows nothing. */
static void
withdraw(rs_evidence_table *table, const roce_event *event)
{
    guint64 key =
        rs_key_of(RS_EVIDENCE_KIND(ROCE_EVENT_LOSS, event->detail), event->stream);
    rs_evidence *evidence = rs_keys_find(table->entries, key);
    for (guint i = evidence != NULL ? evidence->n : 0; i-- > 0;) {
        if (evidence->psns[i] == event->psn) {
            guint behind = --evidence->n - i;
            memmove(&evidence->frames[i], &evidence->frames[i + 1],
                    behind * sizeof evidence->frames[0]);
            memmove(&evidence->psns[i], &evidence->psns[i + 1],
                    behind * sizeof evidence->psns[0]);
            return;
        }
    }
}

guint
rs_evidence_kind_of(const roce_event *event)
{
    gboolean has_detail = event->kind == ROCE_EVENT_LOSS ||
                          event->kind == ROCE_EVENT_ROUND ||
                          event->kind == ROCE_EVENT_NAK;
    return RS_EVIDENCE_KIND(event->kind, has_detail ? event->detail : 0);
}

/* A CE episode is known to have ended where something else came, which may not be marked: its
 * first packet is.  So with a queue pair that an ACK shows to be a new one. */
static guint64
frame_of(const roce_event *event)
{
    gboolean is_known_later =
        event->kind == ROCE_EVENT_CE_EPISODE ||
        (event->kind == ROCE_EVENT_STREAM_RESTART && event->related_frame != 0);
    return is_known_later ? event->related_frame : event->frame;
}

void
rs_evidence_keep(rs_evidence_table *table, const roce_event *event)
{
    if (event->kind == ROCE_EVENT_LOSS_WITHDRAWN) {
        withdraw(table, event);
    }
    if (!tells_something(event->kind)) {
        return;
    }
    guint kind = rs_evidence_kind_of(event);
    keep_frame(table, kind, event, frame_of(event));
    if (event->kind == ROCE_EVENT_NAK && event->detail != ROCE_NAK_PSN_SEQUENCE) {
        keep_frame(table, RS_EVIDENCE_REFUSED | kind, event, event->related_frame);
    }
}

const rs_evidence *
rs_evidence_get(const rs_evidence_table *table, guint32 stream, guint kind)
{
    return rs_keys_find(table->entries, rs_key_of(kind, stream));
}
