/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of two points a stream comes to first.
 *
 * The one rule: clocks do not tell, since they may differ.  What does is where the points
 * stand (roce_vantage), and how long answers take: the nearer the receiver, the sooner an ACK
 * follows what it acknowledges, or a response its READ, and the later a repair its NAK.
 */
#ifndef RS_FURTHER_H
#define RS_FURTHER_H

#include "roce/stream.h"

#include <glib.h>

/* The same stream at two points: below 0, it comes to that of `a` first; above 0, to that of
 * `b`; 0: nobody can tell. */
gint
rs_further(const roce_stream *a, const roce_stream *b);

#endif
