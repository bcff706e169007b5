/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What findings about pauses share; `pause` is the tracker's number of a source. */
#ifndef RS_FINDINGS_PAUSE_H
#define RS_FINDINGS_PAUSE_H

#include "findings_parts.h"
#include "pausing.h"

const roce_pause_source *
rs_pause_source(const rs_findings *all, guint32 pause);
const rs_pause_watch *
rs_pause_watch_of(const rs_findings *all, guint32 pause);
const rs_pause_node *
rs_pause_node_of(const rs_findings *all, guint32 pause);

/* Whether it stands for its link, where both ends of that are points. */
gboolean
rs_pause_stands(const rs_findings *all, guint32 pause);

/* Whether it is to be looked at: once for each link, and of one port alone. */
gboolean
rs_pause_is_one_port(const rs_findings *all, guint32 pause);

/* Whether a time is WARNING_PAUSED_PERCENT or more of what its point saw, and
 * HELD_LEAST_US or more. */
gboolean
rs_pause_is_much(const rs_findings *all, guint32 pause, guint64 paused_ns);

/* The pause of which all that this one did is a consequence, see pause_tree.h;
 * ROCE_NO_PAUSE: there is none. */
guint32
rs_pause_all_caused_by(const rs_findings *all, guint32 pause);

/* For how long it paused in all, or at least where the speed of its link is not known. */
guint64
rs_pause_paused_ns(const rs_findings *all, guint32 pause);

/* Whether the watchdog that decides would have fired, and when for the first time. */
gboolean
rs_pause_would_fire(const rs_findings *all, guint32 pause, guint64 *first_ns);

/* Name or MAC address of who pauses, safe for a terminal; g_free(). */
char *
rs_pause_who(const rs_findings *all, guint32 pause);

/* "priority 3", "its whole link"; g_free(). */
char *
rs_pause_what(const rs_findings *all, guint32 pause);

/* The second half of an id: MAC address and priority. */
void
rs_pause_about(const rs_findings *all, rs_finding *finding, guint32 pause);

/* ---- Ports ---- */

/* What is found of one port: its pauses of all priorities are of one sender, often in the
 * same frames.  But of 802.3x, which is found apart. */
typedef struct rs_pause_port {
    guint32 first;     /* the one with most, which names the finding */
    guint8 priorities; /* bit n: of these */
    gboolean much;     /* one of them pauses for much of the time */
} rs_pause_port;

/* What is found of it. */
typedef struct rs_pause_rule {
    gboolean (*is_found)(const rs_findings *all, guint32 pause);
    guint64 (*measure)(const rs_findings *all, guint32 pause);
} rs_pause_rule;

/* Of a source alone; then another one of the same port, which may have more of a measure. */
rs_pause_port
rs_pause_port_begin(const rs_findings *all, guint32 pause);
void
rs_pause_port_add(const rs_findings *all, rs_pause_port *port, guint32 pause,
                  guint64 (*measure)(const rs_findings *all, guint32 pause));

/* What is found together with a source, which is found itself. */
rs_pause_port
rs_pause_port_of(const rs_findings *all, const rs_pause_rule *rule, guint32 pause);

gboolean
rs_pause_port_has_several(const rs_pause_port *port);

/* The first XOFFs of the source with most, so many at most, of all its pause frames. */
void
rs_pause_add_frames(const rs_findings *all, rs_finding *finding,
                    const rs_pause_port *port, guint most);

/* Its source of a priority; ROCE_NO_PAUSE: it is not of the finding. */
guint32
rs_pause_port_source(const rs_findings *all, const rs_pause_port *port, guint priority);

/* "02:00:00:00:00:04 pauses priorities 3 and 4"; of PFC alone; g_free(). */
char *
rs_pause_port_title(const rs_findings *all, const rs_pause_port *port);

/* Adds what it asked for, who it is, and what it held: once, in the first finding of those
 * that have it. */
void
rs_pause_port_tell(rs_findings *all, const rs_pause_port *port, GString *text);

/* Whether a source is to be told of, not by some finding that did already.  Of what only
 * comes of another port's pauses the cascade tells, with that port first. */
gboolean
rs_pause_is_untold(const rs_findings *all, guint32 pause);

#endif
