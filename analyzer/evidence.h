/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What findings can point at: the first frames of each kind of event of each stream, but
 * for those that streams and pairs begin with.
 *
 * The one rule: few frames of many streams, never many of few.  The table is bounded.
 */
#ifndef RS_EVIDENCE_H
#define RS_EVIDENCE_H

#include "roce/event.h"

#include <glib.h>

#define RS_EVIDENCE_FRAMES 10

typedef struct rs_evidence {
    guint64 frames[RS_EVIDENCE_FRAMES];
    gint64 psns[RS_EVIDENCE_FRAMES]; /* that each is about */
    guint n;
    gboolean more; /* there were others */
} rs_evidence;

/* An event kind with its detail (of losses, rounds and NAKs), as findings need them. */
#define RS_EVIDENCE_KIND(kind, detail) ((guint)(kind) << 8 | (guint)(detail))
/* Of NAKs that refuse: the requests that were refused. */
#define RS_EVIDENCE_REFUSED 0x10000u

/* The RS_EVIDENCE_KIND of an event. */
guint
rs_evidence_kind_of(const roce_event *event);

typedef struct rs_evidence_table rs_evidence_table;

rs_evidence_table *
rs_evidence_table_new(void);

/* NULL is fine. */
void
rs_evidence_table_free(rs_evidence_table *table);

void
rs_evidence_keep(rs_evidence_table *table, const roce_event *event);

/* The first frames of that kind, but of verdicts that were withdrawn, on
 * a stream (or ROCE_NO_STREAM); of CE episodes the first marked packets.  NULL when none. */
const rs_evidence *
rs_evidence_get(const rs_evidence_table *table, guint32 stream, guint kind);

#endif
