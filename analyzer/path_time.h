/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arithmetic on times that files make up.
 *
 * The one rule: nothing overflows.  Stamps may be anything, and so may what is computed
 * from them; what is too much becomes as much as there can be, which is 146 years.
 */
#ifndef RS_PATH_TIME_H
#define RS_PATH_TIME_H

#include <glib.h>

#define RS_TIME_LIMIT_NS (((gint64)1 << 62) - 1)

/* a + b, kept within the limit. */
static inline gint64
rs_time_add(gint64 a, gint64 b)
{
    gint64 sum;
    if (__builtin_add_overflow(a, b, &sum)) {
        sum = b > 0 ? RS_TIME_LIMIT_NS : -RS_TIME_LIMIT_NS;
    }
    return CLAMP(sum, -RS_TIME_LIMIT_NS, RS_TIME_LIMIT_NS);
}

/* a - b, kept within the limit; `b` is within it. */
static inline gint64
rs_time_apart(gint64 a, gint64 b)
{
    return rs_time_add(a, -b);
}

/* A stamp of a file, kept within the limit: to the year 2116. */
static inline gint64
rs_time_of_stamp(guint64 stamp_ns)
{
    return (gint64)MIN(stamp_ns, (guint64)RS_TIME_LIMIT_NS);
}

/* |n|, at most `most`. */
static inline gint64
rs_time_size(gint64 n, gint64 most)
{
    return n < 0 ? MIN(-MAX(n, -most), most) : MIN(n, most);
}

#endif
