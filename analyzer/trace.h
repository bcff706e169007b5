/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an analysis made of each frame, kept to be gone through afterwards.
 *
 * The one rule: it is kept on the disk, frame by frame and event by event, so that memory
 * does not follow the length of the capture.
 */
#ifndef RS_TRACE_H
#define RS_TRACE_H

#include "analysis.h"

#include <glib.h>

enum rs_trace_flag {
    RS_TRACE_TRACKED = 1,     /* `stream`, `point` and `time_ns` are known */
    RS_TRACE_SECOND_COPY = 2, /* a mirror's, left out: but for `stream`, likewise */
    RS_TRACE_NAMED = 4,       /* for selection.c: what is around it counts, too */
    RS_TRACE_CHOSEN = 8,      /* likewise: it is selected */
};

/* A frame; one without flags was not looked at, since --filter left it out. */
typedef struct rs_trace_row {
    guint64 time_ns;
    guint32 stream; /* or ROCE_NO_STREAM */
    guint32 point;
    guint32 flags; /* of rs_trace_flag */
} rs_trace_row;

/* A message of the communication manager. */
typedef struct rs_trace_cm {
    guint64 frame;
    roce_addr src, dst;
    guint32 local_comm_id, remote_comm_id;
} rs_trace_cm;

typedef struct rs_trace rs_trace;

/* NULL with `error` set if there is no place for it. */
rs_trace *
rs_trace_new(GError **error);

/* NULL is fine. */
void
rs_trace_free(rs_trace *trace);

/* What fills it, for rs_analysis_run_tapped(). */
rs_tap
rs_trace_tap(rs_trace *trace);

/* FALSE with `error` set: the disk was full before the capture had ended. */
gboolean
rs_trace_is_whole(const rs_trace *trace, GError **error);

/* Number of the last frame; they count from 1. */
guint64
rs_trace_last_frame(const rs_trace *trace);

rs_trace_row *
rs_trace_at(const rs_trace *trace, guint64 frame);

/* Events in the order in which the tracker told them. */
guint64
rs_trace_n_events(const rs_trace *trace);

const roce_event *
rs_trace_event(const rs_trace *trace, guint64 event_i);

/* rs_trace_cm, the first RS_TRACE_CMS. */
const GArray *
rs_trace_cms(const rs_trace *trace);

#define RS_TRACE_CMS 1000000

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_trace, rs_trace_free)

#endif
