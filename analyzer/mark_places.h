/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between which two places packets were marked, where several points saw them.
 *
 * The one rule: each mark is counted once, on the stream at whose point it was first seen.
 */
#ifndef RS_MARK_PLACES_H
#define RS_MARK_PLACES_H

#include "point_names.h"

#include <glib.h>

typedef struct rs_mark_place {
    rs_place from, to; /* ECT there, and CE here */
    guint64 packets;
} rs_mark_place;

/* None; g_array_unref(). */
GArray *
rs_mark_places_new(void);

/* What was marked on the way to the point of a stream. */
void
rs_mark_places_add(GArray *places, const rs_analysis *analysis, guint32 stream);

/* Each place once, most first: when all have been added. */
void
rs_mark_places_sort(GArray *places);

#endif
