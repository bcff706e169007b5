/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queue pairs that repeated one packet until they stopped.
 *
 * The one rule: a queue pair stopped if nothing came back since the first repeat of its last
 * packet, and no more repeat came when the next one was due.
 */
#ifndef RS_STOPPED_H
#define RS_STOPPED_H

#include "analysis.h"
#include "stalls.h"

#include <glib.h>

/* What became of a stream whose last packet was repeated and repeated. */
typedef enum rs_stop {
    RS_WENT_ON,      /* or it was never so */
    RS_STOPPED,      /* nobody answered, and it was given up */
    RS_CAPTURE_ENDS, /* nobody answered, as far as was captured */
} rs_stop;

rs_stop
rs_stop_of(const rs_analysis *analysis, const roce_stream *stream);

/* How often a stream that nobody ever answered repeated its first packet here until it stopped,
 * or its connection was ended; 0: it did not, or some of its packets take another path, or it
 * had gone on to a later packet: it was answered, and not seen to be.  That its answers were to
 * be seen here is for the caller to know. */
guint
rs_stop_unanswered_repeats(const rs_analysis *analysis, const roce_stream *stream);

#endif
