/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queue pairs that repeated one packet until they stopped, and whether those whom they asked
 * were heard of at all since.
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

/* Whether a host was heard of, and when for the last time: by the newest RoCE packet that it
 * sent, at any point.  Looks at all streams. */
gboolean
rs_last_heard(const rs_analysis *analysis, const roce_tenant *tenant,
              const roce_addr *host, guint64 *last_ns);

#endif
