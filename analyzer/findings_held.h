/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What pauses have to do with what flows lost or waited for. */
#ifndef RS_FINDINGS_HELD_H
#define RS_FINDINGS_HELD_H

#include "findings_pause.h"

/* At which of its passages pauses held a stream. */
typedef enum rs_held_where {
    RS_HELD_ANYWHERE,
    RS_HELD_FIRST, /* on its way, see rs_passages_find_firsts() */
} rs_held_where;

/* By stream at its point, the source of pauses + 1 that may have held it there, the one with the
 * longest; g_hash_table_unref(). */
GHashTable *
rs_findings_holders(const rs_findings *all, rs_held_where where);

/* A silence that ended in a timeout, and for how long of it a source paused. */
typedef struct rs_hold_up {
    guint32 pause;
    guint64 silence_ns, held_ns;
} rs_hold_up;

/* Whether one pause held a queue pair of the flow up for half of the longest silence before
 * its timeouts, or more. */
gboolean
rs_flow_was_held(const rs_flow *flow, rs_hold_up *most);

/* "02:00:00:00:01:02 paused priority 3 for 180 ms of the longest silence, 200 ms"; g_free(). */
char *
rs_hold_up_words(const rs_findings *all, const rs_hold_up *hold_up);

/* Says of what was sent again by timeout whether a pause held it up, which may have made it late,
 * or a watchdog drop it. */
void
rs_flow_tell_pause(const rs_flow *flow, rs_finding *finding);

/* So many packets that had to leave by the port that a source paused for too long were lost in
 * that time: a watchdog acts there. */
guint64
rs_pause_dropped(const rs_findings *all, guint32 pause);

/* Says of `lost` packets whether a watchdog of a paused port may have dropped them. */
void
rs_flow_tell_watchdog(const rs_flow *flow, rs_finding *finding, guint64 lost);

/* Says of `lost` packets that were lost between two points how many of them came in by a link
 * whose far end had paused it, and was sent to all the same. */
void
rs_flow_tell_ignored(const rs_flow *flow, rs_finding *finding, guint64 lost);

#endif
