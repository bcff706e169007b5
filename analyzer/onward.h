/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which streams have a router in front of them still, where they were seen.
 *
 * The one rule: a router takes a stream onward from a point if all that the point saw of it was
 * bound for the MAC address of a port that is known to be a router's, or came by another point
 * with a lower hop limit.  What was marked or lost by then was not marked or lost at the far
 * end of its way: at least the router lies between the two.  Of all other streams nothing is
 * said.
 */
#ifndef RS_ONWARD_H
#define RS_ONWARD_H

#include "summary.h"

#include <glib.h>

/* gboolean, by stream; g_array_unref(). */
GArray *
rs_onward_streams(const rs_analysis *analysis, const rs_summary *summary);

/* The most that is measured of a stream at one of the points from which it goes on; 0 where
 * there is none. */
guint64
rs_onward_most(const GArray *onward, const rs_summary *summary,
               const roce_tracker *tracker, guint32 stream,
               guint64 (*measure)(const roce_stream *stream));

#endif
