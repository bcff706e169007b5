/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which frames of a capture are wanted: of streams, connections, findings, around a frame,
 * in a stretch of time.
 *
 * The one rule: what several selections name is added up, and time cuts what they named.
 *
 * Of a finding and around a frame it is the named frames and what stands near them of the
 * same connection, in both directions and at all points, as many packets or as much time
 * on either side as the context says; near a frame that is of no connection, of its
 * stream; of no stream, what its capture point saw.  A finding that can name no frames
 * stands for all packets of its streams' connections.
 */
#ifndef RS_SELECTION_H
#define RS_SELECTION_H

#include "report.h"
#include "time_range.h"
#include "trace.h"

#include <glib.h>

/* How much is near: packets, or time. */
typedef struct rs_context {
    gboolean by_time;
    guint64 packets;
    guint64 ns;
} rs_context;

#define RS_CONTEXT_PACKETS 50 /* unless the user says otherwise */

/* What the user asks for; arrays may be empty. */
typedef struct rs_wish {
    GArray *streams;     /* guint64: ids of the report, as all of these */
    GArray *connections; /* guint64 */
    GPtrArray *findings; /* char * */
    GArray *frames;      /* guint64: around these */
    gboolean has_time;
    rs_time_range time;
    rs_context context;
} rs_wish;

void
rs_wish_init(rs_wish *wish);

void
rs_wish_clear(rs_wish *wish);

/* "20", "1.5ms": a number of packets, or a time in ns, us, ms or s. */
gboolean
rs_context_parse(const char *text, rs_context *context);

/* Sets RS_TRACE_CHOSEN on the frames that are wanted.  Fails for what does not exist. */
gboolean
rs_select_frames(const rs_wish *wish, const rs_report *report, rs_trace *trace,
                 GError **error);

/* Whether a packet of some connection is left out between others of it that are wanted; where
 * single streams are asked for, of some stream. */
gboolean
rs_selection_has_gaps(const rs_wish *wish, const rs_report *report,
                      const rs_trace *trace);

#endif
