/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pause watchdogs: what devices do about a priority that is held for too long, and when
 * they would have done it.
 *
 * The one rule: a pause that is held by refreshes, or asked for again before a frame can
 * have got through, is one pause; only its length counts.
 *
 * A watchdog fires when a pause has lasted for its detection time.  From then on it drops
 * or lets go what was held, until no pause has been seen for its restoration time; a
 * pause that begins before that does not make it fire again.  Real ones poll, and may
 * fire later, by as much as their interval of polling.
 */
#ifndef RS_WATCHDOG_H
#define RS_WATCHDOG_H

#include "options.h"

#include <glib.h>

typedef struct rs_watchdog_preset {
    const char *name;   /* as --watchdog has it */
    const char *source; /* whose figures they are */
    guint64 detect_ns, restore_ns;
} rs_watchdog_preset;

/* The user's own stands last. */
#define RS_WATCHDOG_PRESETS 4

/* All that pauses are rated against: `presets` gets up to RS_WATCHDOG_PRESETS, and how
 * many is returned. */
guint
rs_watchdog_presets(const rs_options *options, rs_watchdog_preset *presets);

/* Which of them --watchdog names; -1: none was named. */
gint
rs_watchdog_chosen(const rs_options *options);

/* What one of them would have done. */
typedef struct rs_watchdog_rating {
    guint64 fired;          /* times */
    guint64 first_fired_ns; /* valid if fired > 0 */
    guint64 restored_ns;    /* before then it does not fire again */
} rs_watchdog_rating;

/* The pauses of one source, joined as the rule above says. */
typedef struct rs_holds {
    gboolean any;
    guint64 start_ns, end_ns, frame; /* of the newest; frame of its first XOFF */
    guint64 longest_ns, longest_start_ns, longest_frame;
    guint64 n; /* all that have ended, once rs_holds_end() was called */
    rs_watchdog_rating ratings[RS_WATCHDOG_PRESETS];
} rs_holds;

/* Takes a pause that has ended; `join_ns`: what begins so soon after the one before goes
 * on with it. */
void
rs_holds_add(rs_holds *holds, const rs_watchdog_preset *presets, guint n_presets,
             guint64 start_ns, guint64 end_ns, guint64 frame, guint64 join_ns);

/* There are no more. */
void
rs_holds_end(rs_holds *holds, const rs_watchdog_preset *presets, guint n_presets);

#endif
