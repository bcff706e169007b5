/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "path_storm.h"

#include "path_time.h"
#include "sorting.h"

#include <math.h>
#include <stdlib.h>

#define ROW 128         /* packets that are sought again at once */
#define LEAST_ROW 16    /* fewer look like others by chance */
#define ROWS 8          /* that are tried: of one with a loss in it half fits */
#define LEAST_OTHERS 16 /* places that do not fit, to know how these look */
#define DEVIATIONS 7    /* by which a place fits better than others */
#define MOST_APART_NS ((gint64)1000 * 1000 * 1000)

/* How well a row fits, over all places where it was tried. */
typedef struct fit {
    double best, sum, squares;
    guint n, place;
} fit;

/* By how much the times between packets differ, here and there. */
static double
misfit(const gint64 *from, const gint64 *to, guint n)
{
    double sum = 0;
    for (guint k = 1; k < n; k++) {
        gint64 before = rs_time_apart(from[k], from[k - 1]);
        gint64 behind = rs_time_apart(to[k], to[k - 1]);
        sum += (double)rs_time_size(rs_time_apart(before, behind), MOST_APART_NS);
    }
    return sum;
}

/* The first that is not before a time. */
static guint
first_from(const rs_storm *storm, gint64 at_ns)
{
    guint low = 0;
    for (guint high = storm->n; low < high;) {
        guint i = low + (high - low) / 2;
        if (storm->at_ns[i] < at_ns) {
            low = i + 1;
        } else {
            high = i;
        }
    }
    return low;
}

static fit
try_places(const gint64 *row, guint n_row, const rs_storm *to, guint first, guint end)
{
    fit f = {0};
    for (guint place = first; place < end; place++) {
        double off = misfit(row, &to->at_ns[place], n_row);
        if (f.n == 0 || off < f.best) {
            f.best = off;
            f.place = place;
        }
        f.sum += off;
        f.squares += off * off;
        f.n++;
    }
    return f;
}

/* How many standard deviations of the others the best place lies below their mean. */
static double
distinction(const fit *f)
{
    if (f->n <= LEAST_OTHERS) {
        return 0;
    }
    double n = f->n - 1;
    double mean = (f->sum - f->best) / n;
    double variance = (f->squares - f->best * f->best) / n - mean * mean;
    return variance > 0 ? (mean - f->best) / sqrt(variance) : 0;
}

static gint64
median_delay(const gint64 *from, const gint64 *to, guint n)
{
    gint64 delays[ROW];
    for (guint k = 0; k < n; k++) {
        delays[k] = rs_time_apart(to[k], from[k]);
    }
    qsort(delays, n, sizeof delays[0], rs_by_i64);
    return delays[n / 2];
}

gboolean
rs_storm_delay(const rs_storm *from, const rs_storm *to, gint64 about_ns, guint reach,
               gint64 *delay_ns)
{
    guint n_row = MIN(MIN(from->n, to->n) / 2, ROW);
    double most = DEVIATIONS;
    gboolean found = FALSE;
    for (guint i = 0; i < ROWS && n_row >= LEAST_ROW; i++) {
        const gint64 *row = &from->at_ns[(from->n - n_row) / (ROWS - 1) * i];
        guint near = first_from(to, rs_time_add(row[0], about_ns));
        guint end = MIN(near + reach, to->n - n_row + 1);
        fit f = try_places(row, n_row, to, near > reach ? near - reach : 0, end);
        if (distinction(&f) > most) {
            most = distinction(&f);
            *delay_ns = median_delay(row, &to->at_ns[f.place], n_row);
            found = TRUE;
        }
    }
    return found;
}
