/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stretch of time, as a user writes it: "0.5-1.25", "-3", "2026-11-21T22:00:00Z-".
 *
 * The one rule: times are kept to the nanosecond as they were written; no floating point.
 */
#ifndef RS_TIME_RANGE_H
#define RS_TIME_RANGE_H

#include <glib.h>

/* An end of it. */
typedef struct rs_time_point {
    gboolean given;    /* FALSE: open */
    gboolean relative; /* to the capture's first packet; else since 1970 UTC */
    guint64 ns;
} rs_time_point;

typedef struct rs_time_range {
    rs_time_point from, to; /* both belong to it */
} rs_time_range;

/* "A-B", of which either may be missing: seconds since the capture began, or from
 * RS_TIME_EPOCH_S on since 1970, or a date and time of ISO 8601, in UTC unless it says
 * its zone.  FALSE: it is none. */
gboolean
rs_time_range_parse(const char *text, rs_time_range *range);

#define RS_TIME_EPOCH_S 100000000 /* in 1973; three years, taken as a length of time */

/* The first and last ns that belong to it, in a capture that begins then. */
void
rs_time_range_of(const rs_time_range *range, guint64 first_ns, guint64 *from_ns,
                 guint64 *to_ns);

#endif
