/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where streams go to: the destination addresses at each point, numbered as they appear.
 *
 * The one rule: an address is one inside its tenant and at its point; nothing is brought
 * together over points.  The table is bounded.
 */
#ifndef RS_DESTINATIONS_H
#define RS_DESTINATIONS_H

#include "tenant_addr.h"

#include "roce/stream.h"

#include <glib.h>

#define RS_NO_DESTINATION G_MAXUINT32

typedef struct rs_destination {
    guint32 point;
    rs_tenant_addr host;
} rs_destination;

typedef struct rs_destinations {
    guint max;
    guint64 omitted;
    GPtrArray *all;     /* rs_destination */
    GHashTable *by_key; /* rs_destination -> its number + 1 */
    GArray *of_stream;  /* guint32 by stream id: the number + 1, or RS_NO_DESTINATION; 0
                         * not asked for yet */
} rs_destinations;

/* Keeps the first `max` of them. */
rs_destinations *
rs_destinations_new(guint max);

void
rs_destinations_free(rs_destinations *destinations);

/* Number of a stream's destination; RS_NO_DESTINATION beyond the bound.  O(1) for a stream
 * that was asked for before. */
static inline guint32
rs_destinations_of(rs_destinations *destinations, const roce_stream *stream);

/* The same, for a stream that may not have been asked for before. */
guint32
rs_destinations_ask(rs_destinations *destinations, const roce_stream *stream);

static inline guint32
rs_destinations_of(rs_destinations *destinations, const roce_stream *stream)
{
    const GArray *known = destinations->of_stream;
    if (stream->id < known->len) {
        guint32 number = g_array_index(known, guint32, stream->id);
        if (number != 0 && number != RS_NO_DESTINATION) {
            return number - 1;
        }
    }
    return rs_destinations_ask(destinations, stream);
}

/* The same without adding it; and that of what goes the other way, to its source. */
guint32
rs_destinations_find(const rs_destinations *destinations, const roce_stream *stream);
guint32
rs_destinations_find_back(const rs_destinations *destinations,
                          const roce_stream *stream);

/* The destination of that number. */
const rs_destination *
rs_destinations_at(const rs_destinations *destinations, guint32 i);

/* Streams whose destination is beyond the bound. */
guint64
rs_destinations_omitted(const rs_destinations *destinations);

#endif
