/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Amounts over time in a bounded number of bins of equal width.
 *
 * The one rule: bins are numbered from 1970 on in units of their width, so that a bin's
 * number at twice the width is half its number.  When what was seen no longer fits into
 * RS_BINS, the width doubles and every two bins become one.  The outcome does not
 * depend on the order of times, nor on where they began; clocks may step as they like.
 */
#ifndef RS_BINS_H
#define RS_BINS_H

#include <glib.h>

#define RS_BINS 512

/* One time axis with the series on it. */
typedef struct rs_bins rs_bins;

/* Columns of amounts by bin; it belongs to its rs_bins. */
typedef struct rs_series rs_series;

/* `bin_ns`, not 0, is the least width. */
rs_bins *
rs_bins_new(guint64 bin_ns);

void
rs_bins_free(rs_bins *bins);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_bins, rs_bins_free)

/* A further series, all 0.  Its memory grows with the time that it covers. */
rs_series *
rs_bins_add_series(rs_bins *bins, guint columns);

/* Something will be added to it soon, near the newest bin that it has; see approach.h.  In
 * two steps, of which the second takes what the first has brought near; NULL is fine. */
void
rs_series_approach(const rs_series *series);
void
rs_series_approach_newest(const rs_series *series);

/* A span around a time, from *start_ns on and before *end_ns, whose amounts come into one
 * bin, now and later. */
void
rs_bins_around(const rs_bins *bins, guint64 time_ns, guint64 *start_ns,
               guint64 *end_ns);

/* Adds an amount at a time. */
void
rs_bins_count(rs_bins *bins, rs_series *series, guint column, guint64 time_ns,
              guint64 amount);

/* Adds `n` amounts, some of which may be 0, to the first columns. */
void
rs_bins_add(rs_bins *bins, rs_series *series, guint64 time_ns, const guint64 *amounts,
            guint n);

/* Adds to each bin the ns of it that lie in [start_ns, end_ns). */
void
rs_bins_cover(rs_bins *bins, rs_series *series, guint column, guint64 start_ns,
              guint64 end_ns);

/* Makes bins no narrower than that. */
void
rs_bins_widen(rs_bins *bins, guint64 least_ns);

/* The bins that anything was added to, and those between: how many, how wide, and where
 * the first begins, a multiple of the width since 1970. */
guint
rs_bins_n(const rs_bins *bins);
guint64
rs_bins_width_ns(const rs_bins *bins);
guint64
rs_bins_start_ns(const rs_bins *bins);

/* What was added in bin i < rs_bins_n(). */
guint64
rs_bins_get(const rs_bins *bins, const rs_series *series, guint column, guint i);

#endif
