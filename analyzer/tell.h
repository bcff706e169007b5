/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The second stage of an analysis: what has been tracked is told to all who keep something
 * of it, in the order in which it came.
 *
 * The one rule: what of a window concerns one part of the watchers is told with that part,
 * and what concerns nobody's part is told with the network's.
 */
#ifndef RS_TELL_H
#define RS_TELL_H

#include "occurrence.h"
#include "watchers.h"
#include "window.h"

#include <glib.h>

/* Tells a window, as stages.h has it; `analysis` is an rs_analysis. */
void
rs_tell_window(gpointer analysis, rs_watch_parts parts, const rs_window *window);

/* Tells an event by itself. */
void
rs_tell_event(rs_analysis *analysis, rs_watch_parts parts,
              const rs_occurrence *occurrence);

#endif
