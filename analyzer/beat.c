/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "beat.h"

#include "sorting.h"

#include <string.h>

#define FEW_INTERVALS 8
/* Few intervals have to show a clear break between silences; many speak for themselves.
 * In hundredths. */
#define BREAK_OF_FEW 200
#define BREAK_OF_MANY 150
#define PARTIAL_PERCENT 75 /* of the median bytes */

/* ---- a row of cells ---- */

static void
add_cell(rs_cell *to, const rs_cell *from)
{
    if (from->bytes > 0 && (to->bytes == 0 || from->first_ns < to->first_ns)) {
        to->first_ns = from->first_ns;
        to->first_frame = from->first_frame;
    }
    if (from->bytes > 0 && (to->bytes == 0 || from->last_ns >= to->last_ns)) {
        to->last_ns = from->last_ns;
        to->last_frame = from->last_frame;
    }
    to->bytes += from->bytes;
    to->packets += from->packets;
    to->resent += from->resent;
}

/* Neighbours of the same number become one. */
static void
merge_same(GArray *cells)
{
    guint n = 0;
    for (guint i = 0; i < cells->len; i++) {
        const rs_cell cell = g_array_index(cells, rs_cell, i);
        if (n > 0 && g_array_index(cells, rs_cell, n - 1).number == cell.number) {
            add_cell(&g_array_index(cells, rs_cell, n - 1), &cell);
        } else {
            g_array_index(cells, rs_cell, n++) = cell;
        }
    }
    g_array_set_size(cells, n);
}

/* The cells in use of an edge, in their order. */
static rs_cells
cells_of(const rs_level *level, const gboolean *uses, guint edge)
{
    return uses[edge] ? rs_level_cells(level, edge) : (rs_cells){0};
}

/* How many cells lie from the first in use, whose number is *first, to the last. */
static gsize
span_of(const rs_level *level, const gboolean *uses, guint64 *first)
{
    guint64 last = 0;
    *first = G_MAXUINT64;
    for (guint i = 0; i < level->edges->len; i++) {
        const rs_cells cells = cells_of(level, uses, i);
        if (cells.n > 0) {
            *first = MIN(*first, cells.at[0].number);
            last = MAX(last, cells.at[cells.n - 1].number);
        }
    }
    return *first <= last ? last - *first + 1 : 0;
}

/* Adds the cells of an edge to others, by their places. */
static void
add_edge(rs_cell *places, gboolean *taken, guint64 first, rs_cells cells)
{
    for (guint i = 0; i < cells.n; i++) {
        const rs_cell *cell = &cells.at[i];
        guint64 place = cell->number - first;
        if (taken[place]) {
            add_cell(&places[place], cell);
        } else {
            places[place] = *cell;
            taken[place] = TRUE;
        }
    }
}

GArray *
rs_beat_row(const rs_level *level, const gboolean *uses)
{
    guint64 first;
    gsize span = span_of(level, uses, &first); /* RS_ACTIVITY_SPAN at most */
    g_autofree rs_cell *places = g_new(rs_cell, span);
    g_autofree gboolean *taken = g_new0(gboolean, span);
    for (guint i = 0; i < level->edges->len; i++) {
        add_edge(places, taken, first, cells_of(level, uses, i));
    }
    GArray *all = g_array_new(FALSE, FALSE, sizeof(rs_cell));
    for (gsize place = 0; place < span; place++) {
        if (taken[place]) {
            g_array_append_val(all, places[place]);
        }
    }
    return all;
}

GArray *
rs_beat_row_of(const rs_level *level, guint32 edge)
{
    GArray *row = g_array_new(FALSE, FALSE, sizeof(rs_cell));
    const rs_cells cells = rs_level_cells(level, edge);
    g_array_append_vals(row, cells.at, cells.n);
    return row;
}

void
rs_beat_widen(GArray *row, guint64 times)
{
    for (guint i = 0; i < row->len; i++) {
        g_array_index(row, rs_cell, i).number /= times;
    }
    merge_same(row);
}

/* Room for a number of each element of a row or of a list. */
static GArray *
numbers_of(const GArray *row)
{
    GArray *numbers =
        g_array_sized_new(FALSE, FALSE, sizeof(guint64), MAX(row->len, 1));
    g_array_set_size(numbers, row->len);
    return numbers;
}

/* Half of all bytes came in cells that have at least so many. */
static guint64
middle_bytes(const GArray *row)
{
    g_autoptr(GArray) bytes = numbers_of(row);
    guint64 all = 0;
    for (guint i = 0; i < row->len; i++) {
        guint64 n = g_array_index(row, rs_cell, i).bytes;
        g_array_index(bytes, guint64, i) = n;
        all += n;
    }
    rs_sort_array_u64(bytes);
    guint64 sum = 0;
    guint64 middle = 0;
    for (guint i = bytes->len; i > 0 && sum * 2 < all; i--) {
        middle = g_array_index(bytes, guint64, i - 1);
        sum += middle;
    }
    return middle;
}

static const rs_cell *
cell_at(const GArray *row, guint i)
{
    return &g_array_index(row, rs_cell, i);
}

/* Whether nothing was sent in the cell of that number; `i` is where it would stand. */
static gboolean
is_silent(const GArray *row, guint i, guint64 number)
{
    return i >= row->len || cell_at(row, i)->number != number ||
           cell_at(row, i)->bytes == 0;
}

/* Whether a cell is next to a loud one, and nothing on its other side. */
static gboolean
is_rim(const GArray *row, const gboolean *loud, guint i)
{
    guint64 number = cell_at(row, i)->number;
    gboolean loud_behind =
        i + 1 < row->len && loud[i + 1] && cell_at(row, i + 1)->number == number + 1;
    gboolean loud_before =
        i > 0 && loud[i - 1] && cell_at(row, i - 1)->number + 1 == number;
    return (loud_behind && (i == 0 || is_silent(row, i - 1, number - 1))) ||
           (loud_before && is_silent(row, i + 1, number + 1));
}

guint64
rs_beat_keep_loud(GArray *row, guint64 share)
{
    guint64 least = middle_bytes(row) / share;
    guint64 left_out = 0;
    g_autofree gboolean *loud = g_new0(gboolean, row->len + 1);
    g_autofree gboolean *rim = g_new0(gboolean, row->len + 1);
    for (guint i = 0; i < row->len; i++) {
        loud[i] = cell_at(row, i)->bytes > 0 && cell_at(row, i)->bytes >= least;
    }
    for (guint i = 0; i < row->len; i++) {
        rim[i] = !loud[i] && cell_at(row, i)->bytes > 0 && is_rim(row, loud, i);
    }
    guint n = 0;
    for (guint i = 0; i < row->len; i++) {
        if (loud[i] || rim[i]) {
            g_array_index(row, rs_cell, n++) = *cell_at(row, i);
        } else {
            left_out += cell_at(row, i)->bytes;
        }
    }
    g_array_set_size(row, n);
    return left_out;
}

/* ---- bursts ---- */

/* The silence before cell i, which is not the first. */
static guint64
silence_before(const GArray *loud, guint i)
{
    guint64 last = cell_at(loud, i - 1)->last_ns;
    guint64 first = cell_at(loud, i)->first_ns;
    return first > last ? first - last : 0;
}

/* All silences, the longest last. */
static GArray *
silences_of(const GArray *loud)
{
    GArray *silences = numbers_of(loud);
    for (guint i = 1; i < loud->len; i++) {
        g_array_index(silences, guint64, i - 1) = silence_before(loud, i);
    }
    g_array_set_size(silences, MAX(loud->len, 1) - 1);
    rs_sort_array_u64(silences);
    return silences;
}

static rs_iteration *
burst_at(const GArray *bursts, guint i)
{
    return &g_array_index(bursts, rs_iteration, i);
}

/* Cuts a row where the silence is at least so long. */
static GArray *
cut(const GArray *loud, guint64 silence_ns)
{
    guint n = 1; /* a row has one at least */
    for (guint i = 1; i < loud->len; i++) {
        n += silence_before(loud, i) >= silence_ns ? 1 : 0;
    }
    GArray *bursts = g_array_new(FALSE, FALSE, sizeof(rs_iteration));
    g_array_set_size(bursts, n);
    n = 0;
    for (guint i = 0; i < loud->len; i++) {
        const rs_cell *cell = cell_at(loud, i);
        if (i == 0 || silence_before(loud, i) >= silence_ns) {
            *burst_at(bursts, n++) = (rs_iteration){
                .start_ns = cell->first_ns,
                .first_frame = cell->first_frame,
            };
        }
        rs_iteration *burst = burst_at(bursts, n - 1);
        burst->end_ns = MAX(burst->end_ns, cell->last_ns);
        burst->bytes += cell->bytes;
        burst->packets += cell->packets;
    }
    return bursts;
}

/* Every `fold` bursts become one; those before `phase` are a part of one. */
static GArray *
fold_bursts(const GArray *bursts, guint fold, guint phase)
{
    GArray *folded = g_array_new(FALSE, FALSE, sizeof(rs_iteration));
    g_array_set_size(folded, bursts->len / fold + 2);
    guint n = 0;
    guint next = phase; /* to begin another one */
    for (guint i = 0; i < bursts->len; i++) {
        const rs_iteration *burst = burst_at(bursts, i);
        if (i == 0 || i == next) {
            *burst_at(folded, n++) = *burst;
            next += i == next ? fold : 0;
            continue;
        }
        rs_iteration *last = burst_at(folded, n - 1);
        last->end_ns = MAX(last->end_ns, burst->end_ns);
        last->bytes += burst->bytes;
        last->packets += burst->packets;
    }
    g_array_set_size(folded, n);
    return folded;
}

/* ---- do they repeat? ---- */

/* Numbers of the bursts of one cut, which is tried in several ways: they are looked at many
 * times, and most ways do not repeat. */
typedef struct numbers {
    guint64 *gaps;           /* the silence before each burst but the first */
    guint64 *starts, *bytes; /* of iterations */
    guint64 *work;           /* moved about */
} numbers;

/* The first burst of an iteration comes after the longest silences: which of the first
 * `fold` that is, by the sum of silences before it and its like. */
static guint
phase_of(const guint64 *gaps, guint n_bursts, guint fold)
{
    guint best = 0;
    guint64 longest = 0;
    for (guint phase = 0; phase < fold; phase++) {
        guint64 sum = 0;
        guint n = 0;
        for (guint i = phase > 0 ? phase : fold; i < n_bursts; i += fold) {
            sum += gaps[i];
            n++;
        }
        if (n > 0 && sum / n > longest) {
            longest = sum / n;
            best = phase;
        }
    }
    return best;
}

/* What fold_bursts() would make of them: of each its start and its bytes.  How many. */
static guint
fold_numbers(const GArray *bursts, guint fold, guint phase, const numbers *of)
{
    guint n = 0;
    guint end = phase > 0 ? phase : fold;
    for (guint i = 0; i < bursts->len; end += fold) {
        of->starts[n] = burst_at(bursts, i)->start_ns;
        guint64 bytes = 0;
        for (; i < MIN(end, bursts->len); i++) {
            bytes += burst_at(bursts, i)->bytes;
        }
        of->bytes[n++] = bytes;
    }
    return n;
}

/* The values, n > 0 of them, are moved about. */
static guint64
median_of(guint64 *values, guint n)
{
    return rs_select_u64(values, n, (n - 1) / 2);
}

static guint64
median_packets(const GArray *bursts)
{
    g_autoptr(GArray) packets = numbers_of(bursts);
    for (guint i = 0; i < bursts->len; i++) {
        g_array_index(packets, guint64, i) = burst_at(bursts, i)->packets;
    }
    return median_of((guint64 *)(gpointer)packets->data, packets->len);
}

/* How many periods an interval is; 0 where it is no multiple of the period. */
static guint64
periods_in(guint64 interval_ns, guint64 period_ns)
{
    guint64 n = (interval_ns + period_ns / 2) / period_ns;
    guint64 whole = n * period_ns;
    guint64 off = interval_ns > whole ? interval_ns - whole : whole - interval_ns;
    return off * 100 <= period_ns * RS_RHYTHM_SPREAD_PERCENT ? n : 0;
}

guint64
rs_beat_interval(const GArray *bursts, guint i)
{
    return burst_at(bursts, i)->start_ns - burst_at(bursts, i - 1)->start_ns;
}

/* The capture may begin and end in a burst: such a one has no start, or fewer bytes. */
static gboolean
is_partial(guint64 bytes, guint64 median)
{
    return bytes * 100 < median * PARTIAL_PERCENT;
}

static void
mark_partial(GArray *bursts, guint64 median)
{
    rs_iteration *first = burst_at(bursts, 0);
    rs_iteration *last = burst_at(bursts, bursts->len - 1);
    first->partial = is_partial(first->bytes, median);
    last->partial = is_partial(last->bytes, median);
}

typedef enum verdict {
    IRREGULAR,
    TOO_FAST, /* regular, but no work: packets that are paced, heartbeats */
    REPEATS,
} verdict;

/* How intervals relate to their median. */
static gboolean
is_on_time(const guint64 *intervals, guint n_intervals, guint64 period_ns,
           guint64 *missing)
{
    guint on_time = 0;
    guint on_grid = 0;
    *missing = 0;
    for (guint i = 0; i < n_intervals; i++) {
        guint64 n = periods_in(intervals[i], period_ns);
        on_time += n == 1 ? 1 : 0;
        on_grid += n > 0 ? 1 : 0;
        *missing += n > 1 ? n - 1 : 0;
    }
    return on_time * 100 >= n_intervals * RS_RHYTHM_ON_TIME_PERCENT &&
           on_grid * 100 >= n_intervals * RS_RHYTHM_ON_GRID_PERCENT &&
           *missing <= n_intervals;
}

static gboolean
has_same_bytes(const guint64 *bytes, guint n, guint64 median)
{
    guint same = 0;
    guint whole = 0;
    for (guint i = 0; i < n; i++) {
        guint64 off = bytes[i] > median ? bytes[i] - median : median - bytes[i];
        gboolean may_be_partial = i == 0 || i + 1 == n;
        if (!may_be_partial || !is_partial(bytes[i], median)) {
            whole++;
            same += off * 100 <= median * RS_RHYTHM_SPREAD_PERCENT;
        }
    }
    return same * 100 >= whole * RS_RHYTHM_ON_TIME_PERCENT;
}

/* What n iterations are like, but for being too fast. */
typedef struct likeness {
    guint64 bytes, period_ns; /* medians */
    guint64 missing;
} likeness;

static gboolean
are_regular(const numbers *of, guint n, likeness *like)
{
    memcpy(of->work, of->bytes, n * sizeof *of->work);
    like->bytes = median_of(of->work, n);
    guint from = is_partial(of->bytes[0], like->bytes) ? 2 : 1;
    if (n < from + RS_RHYTHM_LEAST_BURSTS - 1) {
        return FALSE;
    }
    for (guint i = from; i < n; i++) {
        of->work[i - from] = of->starts[i] - of->starts[i - 1];
    }
    like->period_ns = median_of(of->work, n - from);
    return is_on_time(of->work, n - from, MAX(like->period_ns, 1), &like->missing) &&
           has_same_bytes(of->bytes, n, like->bytes);
}

/* Tries bursts, of which every `fold` are one iteration. */
static verdict
try_fold(const GArray *bursts, guint fold, const numbers *of, rs_beat *beat)
{
    guint phase = phase_of(of->gaps, bursts->len, fold);
    likeness like;
    if (!are_regular(of, fold_numbers(bursts, fold, phase, of), &like)) {
        return IRREGULAR;
    }
    g_autoptr(GArray) folded = fold_bursts(bursts, fold, phase);
    mark_partial(folded, like.bytes);
    if (like.period_ns < RS_RHYTHM_LEAST_PERIOD_NS ||
        median_packets(folded) < RS_RHYTHM_LEAST_PACKETS) {
        return TOO_FAST;
    }
    *beat = (rs_beat){
        .bursts = g_steal_pointer(&folded),
        .period_ns = like.period_ns,
        .missing = like.missing,
    };
    return REPEATS;
}

/* Tries one way to cut the row.  What is too fast alone is so in groups: any number of
 * beats is as regular as one. */
static gboolean
try_cut(const GArray *loud, guint64 silence_ns, rs_beat *beat)
{
    g_autoptr(GArray) bursts = cut(loud, silence_ns);
    guint n = bursts->len;
    g_autofree guint64 *memory = g_new(guint64, 4 * (gsize)n);
    const numbers of = {memory, memory + n, memory + 2 * (gsize)n,
                        memory + 3 * (gsize)n};
    for (guint i = 1; i < n; i++) {
        of.gaps[i] = burst_at(bursts, i)->start_ns - burst_at(bursts, i - 1)->end_ns;
    }
    verdict found = IRREGULAR;
    for (guint fold = 1; found == IRREGULAR && fold <= RS_BEAT_FOLD &&
                         n >= fold * RS_RHYTHM_LEAST_BURSTS;
         fold++) {
        found = try_fold(bursts, fold, &of, beat);
    }
    return found == REPEATS;
}

/* Says of each burst whether something was sent again in the last quarter of the silence
 * before it, or as it began: what was repaired at the end of the burst before is over. */
static void
find_repairs(rs_beat *beat, const GArray *row, guint64 width_ns)
{
    guint at = 0;
    for (guint i = 1; i < beat->bursts->len; i++) {
        rs_iteration *burst = burst_at(beat->bursts, i);
        guint64 silence = burst->start_ns - burst_at(beat->bursts, i - 1)->end_ns;
        guint64 from = (burst->start_ns - silence / 4) / width_ns;
        guint64 until = burst->start_ns / width_ns;
        while (at < row->len && cell_at(row, at)->number < from) {
            at++;
        }
        for (guint j = at; j < row->len && cell_at(row, j)->number <= until; j++) {
            burst->after_repair |= cell_at(row, j)->resent > 0;
        }
    }
}

/* Tries each break in the lengths of silences, from the longest on. */
static gboolean
try_breaks(const GArray *loud, guint64 least_ns, rs_beat *beat)
{
    g_autoptr(GArray) silences = silences_of(loud);
    guint n = silences->len;
    for (guint k = RS_RHYTHM_LEAST_BURSTS - 1; k <= n; k++) {
        guint64 between = g_array_index(silences, guint64, n - k);
        guint64 within = k < n ? g_array_index(silences, guint64, n - k - 1) : 0;
        guint64 least = k < FEW_INTERVALS ? BREAK_OF_FEW : BREAK_OF_MANY;
        if (between == 0 || between < least_ns) {
            break;
        }
        if (between * 100 >= within * least && try_cut(loud, between, beat)) {
            return TRUE;
        }
    }
    return FALSE;
}

gboolean
rs_beat_find(const GArray *row, guint64 width_ns, guint64 least_ns, guint64 share,
             rs_beat *beat)
{
    g_autoptr(GArray) loud = g_array_sized_new(FALSE, FALSE, sizeof(rs_cell), row->len);
    g_array_append_vals(loud, row->data, row->len);
    guint64 left_out = rs_beat_keep_loud(loud, share);
    if (loud->len < RS_RHYTHM_LEAST_BURSTS || !try_breaks(loud, least_ns, beat)) {
        return FALSE;
    }
    beat->left_out_bytes = left_out;
    find_repairs(beat, row, width_ns);
    return TRUE;
}

void
rs_beat_clear(rs_beat *beat)
{
    g_clear_pointer(&beat->bursts, g_array_unref);
}
