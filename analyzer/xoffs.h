/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When pauses began, and who asked for them: the XOFFs of a capture in order of time.
 *
 * The one rule: a pause counts once, where it begins; refreshes are no further pauses.
 * The list is bounded, and says when it is not complete.
 */
#ifndef RS_XOFFS_H
#define RS_XOFFS_H

#include "nics.h"
#include "sight.h"

#include "roce/event.h"

#include <glib.h>

typedef struct rs_xoffs rs_xoffs;

rs_xoffs *
rs_xoffs_new(void);

void
rs_xoffs_free(rs_xoffs *xoffs);

/* The tracker says this while it takes a packet; then it has taken it. */
void
rs_xoffs_event(rs_xoffs *xoffs, const roce_event *event);
void
rs_xoffs_packet(rs_xoffs *xoffs, const rs_sight *sight);

/* No more will come: puts them in order, and finds whose they are. */
void
rs_xoffs_finish(rs_xoffs *xoffs, const rs_nics *nics);

gboolean
rs_xoffs_complete(const rs_xoffs *xoffs);

/* How many there were at all points in [from_ns, until_ns) that the NIC of `addr` did not
 * ask for itself.  After rs_xoffs_finish(). */
guint64
rs_xoffs_not_by(const rs_xoffs *xoffs, const roce_addr *addr, guint64 from_ns,
                guint64 until_ns);

#endif
