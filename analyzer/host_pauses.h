/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pauses that the receiver of a stream asked for, by its own NIC, and what they did to that
 * stream.
 *
 * The one rule: a pause counts for a stream while the stream lasts.  What a NIC pauses before
 * a stream begins and behind its end held nothing of it up.
 */
#ifndef RS_HOST_PAUSES_H
#define RS_HOST_PAUSES_H

#include "nics.h"
#include "pausing.h"

#include "roce/tracker.h"

#include <glib.h>

/* Of one NIC the first sources count: there is one for each priority, and one for all. */
#define RS_HOST_SOURCES (ROCE_PRIORITY_GLOBAL + 1)

typedef struct rs_host_pause {
    guint64 pauses;    /* of its priorities, and of the whole link */
    guint64 paused_ns; /* all of them, what overlaps counted once; valid if known */
    guint64 held_ns;   /* of that, while nothing of it came: at least; likewise */
    gboolean known; /* the link's speed is: without it nobody knows when a pause ends */
    guint64 frame;  /* the first of whoever paused; 0: nobody did */
    guint32 by[RS_HOST_SOURCES]; /* who did: n_by of the tracker's numbers */
    guint n_by;
    /* When the stream ended: with its last packet; or, where that was in the midst of a
     * message, with a pause that lasts to the capture's end. */
    guint64 until_ns;
} rs_host_pause;

typedef struct rs_host_pauses rs_host_pauses;

/* Of a tracker, and of pauses, that have finished; all three outlive it. */
rs_host_pauses *
rs_host_pauses_new(const rs_nics *nics, const rs_pausing *pausing,
                   const roce_tracker *tracker);

/* NULL is fine. */
void
rs_host_pauses_free(rs_host_pauses *pauses);

/* What they did to a stream with packets of these priorities, a bit for each. */
rs_host_pause
rs_host_pauses_of(const rs_host_pauses *pauses, const roce_stream *stream,
                  guint8 priorities);

#endif
