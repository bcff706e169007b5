/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bins.h"

#include "approach.h"

#include <string.h>

#define LEAST_CAPACITY 8
#define USUAL_COLUMNS 2

struct rs_series {
    guint columns;
    guint64 first; /* number of its first bin */
    guint n, capacity;
    guint64 *cells; /* columns of one bin side by side */
};

struct rs_bins {
    guint64 width_ns;
    guint64 first, last; /* numbers; valid if any */
    gboolean any;
    guint64 newest, newest_ns; /* the bin used last, and where it starts */
    GPtrArray *series;
};

static void
free_series(gpointer data)
{
    rs_series *series = data;
    g_free(series->cells);
    g_free(series);
}

rs_bins *
rs_bins_new(guint64 bin_ns)
{
    rs_bins *bins = g_new0(rs_bins, 1);
    bins->width_ns = bin_ns;
    bins->series = g_ptr_array_new_with_free_func(free_series);
    return bins;
}

void
rs_bins_free(rs_bins *bins)
{
    if (bins != NULL) {
        g_ptr_array_unref(bins->series);
        g_free(bins);
    }
}

rs_series *
rs_bins_add_series(rs_bins *bins, guint columns)
{
    rs_series *series = g_new0(rs_series, 1);
    series->columns = columns;
    g_ptr_array_add(bins->series, series);
    return series;
}

/* Every two bins of so many columns become one, in place: no bin moves to a higher index. */
static inline void
halve_rows(rs_series *series, gsize row)
{
    guint64 *to = series->cells;
    const guint64 *from = series->cells;
    const guint64 *end = from + series->n * row;
    if (series->first % 2 != 0) {
        to += row; /* its first bin stays alone */
        from += row;
    }
    for (; from + row < end; from += 2 * row) {
        for (gsize column = 0; column < row; column++) {
            to[column] = from[column] + from[row + column];
        }
        to += row;
    }
    if (from < end) {
        memmove(to, from, row * sizeof *to); /* so does its last one */
        to += row;
    }
    series->first /= 2;
    series->n = (guint)((gsize)(to - series->cells) / row);
}

/* By a number of columns that the compiler knows, where that is the number of most. */
static void
halve(rs_series *series)
{
    if (series->n == 0) {
        return;
    }
    if (series->columns == USUAL_COLUMNS) {
        halve_rows(series, USUAL_COLUMNS);
    } else {
        halve_rows(series, series->columns);
    }
}

static void
double_width(rs_bins *bins)
{
    for (guint i = 0; i < bins->series->len; i++) {
        halve(g_ptr_array_index(bins->series, i));
    }
    bins->width_ns *= 2;
    bins->first /= 2;
    bins->last /= 2;
}

/* The number of the bin of a time, which is one of the axis afterwards. */
static guint64
reach(rs_bins *bins, guint64 time_ns)
{
    if (bins->any && time_ns - bins->newest_ns < bins->width_ns) {
        return bins->newest;
    }
    guint64 number = time_ns / bins->width_ns;
    bins->first = bins->any ? MIN(bins->first, number) : number;
    bins->last = bins->any ? MAX(bins->last, number) : number;
    bins->any = TRUE;
    while (bins->last - bins->first >= RS_BINS) {
        double_width(bins);
    }
    bins->newest = time_ns / bins->width_ns;
    bins->newest_ns = bins->newest * bins->width_ns;
    return bins->newest;
}

/* Makes room for `n` bins, all that a series can need at most. */
static void
reserve(rs_series *series, guint n)
{
    if (n <= series->capacity) {
        return;
    }
    guint capacity = MAX(series->capacity, LEAST_CAPACITY);
    while (capacity < n) {
        capacity *= 2;
    }
    gsize cells = (gsize)capacity * series->columns;
    series->cells = g_renew(guint64, series->cells, cells);
    series->capacity = capacity;
}

/* Makes the series reach a bin, and returns its cells. */
static guint64 *
extend(rs_series *series, guint64 number)
{
    const gsize row = series->columns;
    guint before = 0;
    guint n = series->n;
    if (n == 0) {
        series->first = number;
        n = 1;
    } else if (number < series->first) {
        before = (guint)(series->first - number);
        n += before;
        series->first = number;
    } else {
        n = MAX(n, (guint)(number - series->first) + 1);
    }
    if (n > series->n) {
        reserve(series, n);
        guint64 *cells = series->cells;
        if (before > 0) {
            memmove(&cells[before * row], cells, series->n * row * sizeof *cells);
            memset(cells, 0, before * row * sizeof *cells);
        }
        guint used = before + series->n;
        memset(&cells[used * row], 0, (n - used) * row * sizeof *cells);
        series->n = n;
    }
    return &series->cells[(number - series->first) * row];
}

/* The cells of a bin. */
static guint64 *
cells_of(rs_series *series, guint64 number)
{
    if (number - series->first < series->n) {
        return &series->cells[(number - series->first) * series->columns];
    }
    return extend(series, number);
}

void
rs_series_approach(const rs_series *series)
{
    rs_approach(series, sizeof *series);
}

void
rs_series_approach_newest(const rs_series *series)
{
    if (series != NULL && series->n > 0) {
        rs_approach(&series->cells[(gsize)(series->n - 1) * series->columns],
                    2 * series->columns * sizeof *series->cells);
    }
}

void
rs_bins_around(const rs_bins *bins, guint64 time_ns, guint64 *start_ns, guint64 *end_ns)
{
    *start_ns = time_ns - time_ns % bins->width_ns;
    *end_ns = *start_ns <= G_MAXUINT64 - bins->width_ns ? *start_ns + bins->width_ns
                                                        : G_MAXUINT64;
}

void
rs_bins_count(rs_bins *bins, rs_series *series, guint column, guint64 time_ns,
              guint64 amount)
{
    guint64 number = reach(bins, time_ns);
    cells_of(series, number)[column] += amount;
}

void
rs_bins_add(rs_bins *bins, rs_series *series, guint64 time_ns, const guint64 *amounts,
            guint n)
{
    g_assert(n <= series->columns);
    guint64 *cells = cells_of(series, reach(bins, time_ns));
    for (guint i = 0; i < n; i++) {
        cells[i] += amounts[i];
    }
}

void
rs_bins_cover(rs_bins *bins, rs_series *series, guint column, guint64 start_ns,
              guint64 end_ns)
{
    if (end_ns <= start_ns) {
        return;
    }
    (void)reach(bins, start_ns);
    guint64 last = reach(bins, end_ns - 1);
    for (guint64 number = start_ns / bins->width_ns; number <= last; number++) {
        guint64 from = MAX(start_ns, number * bins->width_ns);
        guint64 rest = end_ns - from;
        guint64 room = bins->width_ns - from % bins->width_ns;
        cells_of(series, number)[column] += MIN(rest, room);
    }
}

void
rs_bins_widen(rs_bins *bins, guint64 least_ns)
{
    while (bins->width_ns < least_ns) {
        double_width(bins);
    }
}

guint
rs_bins_n(const rs_bins *bins)
{
    return bins->any ? (guint)(bins->last - bins->first) + 1 : 0;
}

guint64
rs_bins_width_ns(const rs_bins *bins)
{
    return bins->width_ns;
}

guint64
rs_bins_start_ns(const rs_bins *bins)
{
    return bins->first * bins->width_ns;
}

guint64
rs_bins_get(const rs_bins *bins, const rs_series *series, guint column, guint i)
{
    guint64 number = bins->first + i;
    if (series->n == 0 || number < series->first ||
        number - series->first >= series->n) {
        return 0;
    }
    return series->cells[(number - series->first) * series->columns + column];
}
