/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An event of the tracker's, and what was known of its stream when it came.
 *
 * The one rule: what watchers want to know of streams, but for what never changes, stands
 * here.  By the time that they are told, the tracker may have gone on.
 */
#ifndef RS_OCCURRENCE_H
#define RS_OCCURRENCE_H

#include "roce/tracker.h"

#include <glib.h>

typedef struct rs_occurrence {
    roce_event event;
    const roce_stream *stream; /* that the event names; NULL: none */
    guint32 carrier; /* the stream of the packet that it came with, or ROCE_NO_STREAM */
    gboolean is_paired;      /* the stream */
    gboolean peer_carries;   /* the carrier is the stream's other direction */
    guint64 cnp_interval_ns; /* of a CNP: between two of whoever sends it; 0 unknown */
} rs_occurrence;

/* `tracker` has just told of the event. */
rs_occurrence
rs_occurrence_of(const roce_event *event, const roce_tracker *tracker);

#endif
