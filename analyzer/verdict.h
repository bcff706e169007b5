/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What can be said of a capture in all: that it is healthy, and how far to trust that.
 *
 * The one rule: what is said not to be there was looked for, and the words are the same in
 * every form of the report.
 */
#ifndef RS_VERDICT_H
#define RS_VERDICT_H

#include "summary.h"

#include <glib.h>

typedef enum rs_health {
    RS_HEALTH_NOTHING,    /* no RoCE packet of a queue pair, nothing to judge */
    RS_HEALTH_NO_WARNING, /* but loss, retransmissions or congestion there are */
    RS_HEALTH_HEALTHY,
} rs_health;

/* Of a capture without a warning.  Sets `label` ("Healthy") and `words` (what is behind
 * it, one sentence without its beginning; g_free()). */
rs_health
rs_verdict(const rs_analysis *analysis, const rs_summary *summary, const char **label,
           char **words);

/* What is wrong with a file, in a word or two; static.  NULL: nothing is. */
const char *
rs_verdict_file(const rs_file *file);

/* Likewise a line for each host that the user named, perhaps by a slip, and of which there
 * is nothing, and for each interface whose packets were passed over for their link layer. */
GPtrArray *
rs_verdict_unused(const rs_analysis *analysis);

/* Lines of text, each a sentence or more: what the capture can and cannot show.  Safe for
 * a terminal; elements are char *. */
GPtrArray *
rs_verdict_trust(const rs_analysis *analysis, const rs_summary *summary);

#endif
