/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long packets take that are all equal, as CNPs of a queue pair may be.
 *
 * No single one of them tells, for any could be the other's counterpart; but the times
 * between them do: seen at the next point, a row of them looks the same again.
 *
 * The one rule: nothing is said unless one delay fits far better than all others, so that
 * packets at even distances tell nothing.
 */
#ifndef RS_PATH_STORM_H
#define RS_PATH_STORM_H

#include <glib.h>

/* Times of equal packets at one point, rising. */
typedef struct rs_storm {
    const gint64 *at_ns;
    guint n;
} rs_storm;

/* Finds the delay from `from` to `to`; it is sought around `about_ns`, among `reach`
 * packets both before and behind.  FALSE: it cannot be told, and nothing is written. */
gboolean
rs_storm_delay(const rs_storm *from, const rs_storm *to, gint64 about_ns, guint reach,
               gint64 *delay_ns);

#endif
