/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verdicts that turned out to be wrong.
 *
 * The one rule: what was told stays where it was told, and so does its end; whoever tells
 * of it once more, or counts it, leaves it out.
 */
#ifndef RS_WITHDRAWN_H
#define RS_WITHDRAWN_H

#include "trace.h"

#include <glib.h>

/* Which events of a trace are verdicts of which later ones took back all: a set of
 * guint64, numbers of events; g_hash_table_unref(). */
GHashTable *
rs_withdrawn_of(const rs_trace *trace);

#endif
