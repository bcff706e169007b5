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

rs_cells
rs_beat_row(const rs_level *level, const gboolean *uses)
{
    guint64 first;
    gsize span = span_of(level, uses, &first); /* RS_ACTIVITY_SPAN at most */
    rs_cell *places = g_new(rs_cell, span);
    g_autofree gboolean *taken = g_new0(gboolean, span);
    for (guint i = 0; i < level->edges->len; i++) {
        add_edge(places, taken, first, cells_of(level, uses, i));
    }
    rs_cells row = {.at = places};
    for (gsize place = 0; place < span; place++) {
        if (taken[place]) {
            places[row.n++] = places[place];
        }
    }
    return row;
}

rs_cells
rs_beat_widen(const rs_cells *row, guint64 times)
{
    rs_cells wide = {.at = g_new(rs_cell, row->n)};
    for (guint i = 0; i < row->n; i++) {
        const rs_cell *cell = &row->at[i];
        guint64 number = cell->number / times;
        if (wide.n > 0 && wide.at[wide.n - 1].number == number) {
            add_cell(&wide.at[wide.n - 1], cell);
        } else {
            wide.at[wide.n] = *cell;
            wide.at[wide.n++].number = number;
        }
    }
    return wide;
}

/* Half of all bytes came in cells that have at least so many.  `work` has room for a number
 * of each. */
static guint64
middle_bytes(const rs_cells *row, guint64 *work)
{
    guint64 all = 0;
    for (guint i = 0; i < row->n; i++) {
        work[i] = row->at[i].bytes;
        all += work[i];
    }
    return all > 0 ? rs_select_sum_u64(work, row->n, all - all / 2) : 0;
}

/* Whether nothing was sent in the cell of that number; `i` is where it would stand. */
static gboolean
is_silent(const rs_cells *row, guint i, guint64 number)
{
    return i >= row->n || row->at[i].number != number || row->at[i].bytes == 0;
}

static gboolean
is_loud(const rs_cells *row, guint i, guint64 least)
{
    guint64 bytes = row->at[i].bytes;
    return bytes > 0 && bytes >= least;
}

/* Whether a cell is next to a loud one, and nothing on its other side. */
static gboolean
is_rim(const rs_cells *row, guint64 least, guint i)
{
    guint64 number = row->at[i].number;
    gboolean loud_behind = i + 1 < row->n && is_loud(row, i + 1, least) &&
                           row->at[i + 1].number == number + 1;
    gboolean loud_before =
        i > 0 && is_loud(row, i - 1, least) && row->at[i - 1].number + 1 == number;
    return (loud_behind && (i == 0 || is_silent(row, i - 1, number - 1))) ||
           (loud_before && is_silent(row, i + 1, number + 1));
}

/* The loud cells of a row, and what is between them. */
typedef struct loud_cells {
    guint n;
    guint *places;     /* in the row */
    guint64 *silences; /* before each; before the first 0 */
    guint64 *work;     /* as many numbers as the row has cells */
    guint64 left_out;  /* bytes of those that are not */
} loud_cells;

static void
clear_loud(loud_cells *loud)
{
    g_free(loud->places);
    g_free(loud->silences);
    g_free(loud->work);
}

static loud_cells
find_loud(const rs_cells *row, guint64 share)
{
    loud_cells loud = {
        .places = g_new(guint, row->n),
        .silences = g_new(guint64, row->n),
        .work = g_new(guint64, row->n),
    };
    guint64 least = middle_bytes(row, loud.work) / share;
    guint64 last_ns = 0;
    for (guint i = 0; i < row->n; i++) {
        const rs_cell *cell = &row->at[i];
        if (!is_loud(row, i, least) && (cell->bytes == 0 || !is_rim(row, least, i))) {
            loud.left_out += cell->bytes;
            continue;
        }
        gboolean is_behind = loud.n > 0 && cell->first_ns > last_ns;
        loud.silences[loud.n] = is_behind ? cell->first_ns - last_ns : 0;
        loud.places[loud.n++] = i;
        last_ns = cell->last_ns;
    }
    return loud;
}

rs_cells
rs_beat_loud(const rs_cells *row, guint64 share, guint64 *left_out)
{
    loud_cells loud = find_loud(row, share);
    rs_cells kept = {.at = g_new(rs_cell, loud.n), .n = loud.n};
    for (guint i = 0; i < loud.n; i++) {
        kept.at[i] = row->at[loud.places[i]];
    }
    *left_out = loud.left_out;
    clear_loud(&loud);
    return kept;
}

/* ---- bursts ---- */

static rs_iteration *
burst_at(const GArray *bursts, guint i)
{
    return &g_array_index(bursts, rs_iteration, i);
}

/* Cuts a row into n bursts, where the silence is at least so long. */
static GArray *
cut(const rs_cells *row, const loud_cells *loud, guint64 silence_ns, guint n)
{
    GArray *bursts = g_array_new(FALSE, FALSE, sizeof(rs_iteration));
    g_array_set_size(bursts, n);
    n = 0;
    for (guint i = 0; i < loud->n; i++) {
        const rs_cell *cell = &row->at[loud->places[i]];
        if (i == 0 || loud->silences[i] >= silence_ns) {
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

/* Numbers of the n bursts of one cut, which is tried in several ways: they are looked at many
 * times, and most ways do not repeat. */
typedef struct numbers {
    guint n;
    guint64 *begins;
    guint64 *gaps;         /* the silence before each burst but the first */
    guint64 *bytes_before; /* of all bursts before each one, and at n of all */
    /* of n_folded iterations, which are some bursts each */
    guint n_folded;
    guint64 *starts, *bytes;
    guint64 *work; /* moved about */
    guint64 *memory;
} numbers;

/* Room for as many bursts as there are loud cells. */
static numbers
make_numbers(const loud_cells *loud)
{
    gsize n = loud->n + 1; /* a burst has one at least */
    guint64 *memory = g_new(guint64, 6 * n);
    return (numbers){
        .begins = memory,
        .gaps = memory + n,
        .bytes_before = memory + 2 * n,
        .starts = memory + 3 * n,
        .bytes = memory + 4 * n,
        .work = memory + 5 * n,
        .memory = memory,
    };
}

/* What cut() would make of a row. */
static void
number_bursts(const rs_cells *row, const loud_cells *loud, guint64 silence_ns,
              numbers *of)
{
    guint n = 0;
    guint64 bytes = 0;
    guint64 end_ns = 0;
    for (guint i = 0; i < loud->n; i++) {
        const rs_cell *cell = &row->at[loud->places[i]];
        if (i == 0 || loud->silences[i] >= silence_ns) {
            of->begins[n] = cell->first_ns;
            of->gaps[n] = cell->first_ns - end_ns;
            of->bytes_before[n++] = bytes;
            end_ns = 0;
        }
        end_ns = MAX(end_ns, cell->last_ns);
        bytes += cell->bytes;
    }
    of->bytes_before[n] = bytes;
    of->n = n;
}

/* The first burst of an iteration comes after the longest silences: which of the first
 * `fold` that is, by the sum of silences before it and its like. */
static guint
phase_of(const numbers *of, guint fold)
{
    guint best = 0;
    guint64 longest = 0;
    for (guint phase = 0; fold > 1 && phase < fold; phase++) {
        guint first = phase > 0 ? phase : fold;
        guint64 sum = 0;
        for (guint i = first; i < of->n; i += fold) {
            sum += of->gaps[i];
        }
        guint64 mean = first < of->n ? sum / ((of->n - first - 1) / fold + 1) : 0;
        if (mean > longest) {
            longest = mean;
            best = phase;
        }
    }
    return best;
}

/* What fold_bursts() would make of them: of each its start and its bytes. */
static void
fold_numbers(numbers *of, guint fold, guint phase)
{
    guint n = 0;
    guint end = phase > 0 ? phase : fold;
    for (guint i = 0; i < of->n; end += fold) {
        of->starts[n] = of->begins[i];
        guint until = MIN(end, of->n);
        of->bytes[n++] = of->bytes_before[until] - of->bytes_before[i];
        i = until;
    }
    of->n_folded = n;
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
    g_autofree guint64 *packets = g_new(guint64, bursts->len);
    for (guint i = 0; i < bursts->len; i++) {
        packets[i] = burst_at(bursts, i)->packets;
    }
    return median_of(packets, bursts->len);
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

/* How intervals relate to their median.  Most are those of what is no rhythm, and no more of
 * them are looked at than shows it. */
static gboolean
is_on_time(const guint64 *intervals, guint n_intervals, guint64 period_ns,
           guint64 *missing)
{
    guint off_time = 0;
    guint off_grid = 0;
    *missing = 0;
    for (guint i = 0; i < n_intervals; i++) {
        guint64 n = periods_in(intervals[i], period_ns);
        off_time += n != 1 ? 1 : 0;
        off_grid += n == 0 ? 1 : 0;
        *missing += n > 1 ? n - 1 : 0;
        if (off_time * 100 > n_intervals * (100 - RS_RHYTHM_ON_TIME_PERCENT) ||
            off_grid * 100 > n_intervals * (100 - RS_RHYTHM_ON_GRID_PERCENT)) {
            return FALSE;
        }
    }
    return *missing <= n_intervals;
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
are_regular(const numbers *of, likeness *like)
{
    const guint n = of->n_folded;
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

/* A way to cut a row. */
typedef struct way {
    const rs_cells *row;
    const loud_cells *loud;
    guint64 silence_ns;
} way;

/* Tries bursts, of which every `fold` are one iteration. */
static verdict
try_fold(const way *w, guint fold, numbers *of, rs_beat *beat)
{
    guint phase = phase_of(of, fold);
    likeness like;
    fold_numbers(of, fold, phase);
    if (!are_regular(of, &like)) {
        return IRREGULAR;
    }
    if (like.period_ns < RS_RHYTHM_LEAST_PERIOD_NS) {
        return TOO_FAST;
    }
    g_autoptr(GArray) bursts = cut(w->row, w->loud, w->silence_ns, of->n);
    g_autoptr(GArray) folded = fold_bursts(bursts, fold, phase);
    mark_partial(folded, like.bytes);
    if (median_packets(folded) < RS_RHYTHM_LEAST_PACKETS) {
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
try_cut(const way *w, numbers *of, rs_beat *beat)
{
    number_bursts(w->row, w->loud, w->silence_ns, of);
    verdict found = IRREGULAR;
    for (guint fold = 1; found == IRREGULAR && fold <= RS_BEAT_FOLD &&
                         of->n >= fold * RS_RHYTHM_LEAST_BURSTS;
         fold++) {
        found = try_fold(w, fold, of, beat);
    }
    return found == REPEATS;
}

/* Says of each burst whether something was sent again in the last quarter of the silence
 * before it, or as it began: what was repaired at the end of the burst before is over. */
static void
find_repairs(rs_beat *beat, const rs_cells *row, guint64 width_ns)
{
    guint at = 0;
    for (guint i = 1; i < beat->bursts->len; i++) {
        rs_iteration *burst = burst_at(beat->bursts, i);
        guint64 silence = burst->start_ns - burst_at(beat->bursts, i - 1)->end_ns;
        guint64 from = (burst->start_ns - silence / 4) / width_ns;
        guint64 until = burst->start_ns / width_ns;
        while (at < row->n && row->at[at].number < from) {
            at++;
        }
        for (guint j = at; j < row->n && row->at[j].number <= until; j++) {
            burst->after_repair |= row->at[j].resent > 0;
        }
    }
}

/* Silences that are so much alike that no break is among them: where the next longer ones
 * begin and the next shorter ones end is all that breaks depend on. */
typedef struct alike {
    guint n;
    guint64 shortest, longest;
} alike;

/* Two for each power of two: from it to half as much again, and from there to the next. */
#define N_ALIKE 128
#define ALIKE_PERCENT 150
_Static_assert(BREAK_OF_FEW >= ALIKE_PERCENT && BREAK_OF_MANY >= ALIKE_PERCENT,
               "no break is among silences that are alike");

static guint
alike_of(guint64 silence)
{
    if (silence < 2) {
        return (guint)silence;
    }
    guint power = 63 - (guint)__builtin_clzll(silence);
    return power * 2 + (silence >> (power - 1) & 1);
}

/* All but the first, which is before all loud cells. */
static void
group_silences(const loud_cells *loud, alike *groups)
{
    for (guint i = 0; i < N_ALIKE; i++) {
        groups[i] = (alike){.shortest = G_MAXUINT64};
    }
    for (guint i = 1; i < loud->n; i++) {
        guint64 silence = loud->silences[i];
        alike *group = &groups[alike_of(silence)];
        group->n++;
        group->shortest = MIN(group->shortest, silence);
        group->longest = MAX(group->longest, silence);
    }
}

/* Tries each break in the lengths of silences, from the longest on. */
static gboolean
try_breaks(const rs_cells *row, const loud_cells *loud, guint64 least_ns, rs_beat *beat)
{
    alike groups[N_ALIKE];
    group_silences(loud, groups);
    numbers of = make_numbers(loud);
    gboolean found = FALSE;
    guint n_longer = 0;
    guint64 between = G_MAXUINT64; /* the shortest of those */
    for (guint i = N_ALIKE; i-- > 0 && between >= least_ns && !found;) {
        const alike *group = &groups[i];
        if (group->n == 0 && i > 0) { /* at 0, behind which is nothing, ends the last */
            continue;
        }
        guint64 least = n_longer < FEW_INTERVALS ? BREAK_OF_FEW : BREAK_OF_MANY;
        const way w = {row, loud, between};
        found = n_longer >= RS_RHYTHM_LEAST_BURSTS - 1 &&
                between * 100 >= group->longest * least && try_cut(&w, &of, beat);
        n_longer += group->n;
        between = group->shortest;
    }
    g_free(of.memory);
    return found;
}

gboolean
rs_beat_find(const rs_cells *row, guint64 width_ns, guint64 least_ns, guint64 share,
             guint *n_loud, rs_beat *beat)
{
    loud_cells loud = find_loud(row, share);
    gboolean found = loud.n >= RS_RHYTHM_LEAST_BURSTS && loud.n != *n_loud &&
                     try_breaks(row, &loud, least_ns, beat);
    *n_loud = loud.n;
    if (found) {
        beat->left_out_bytes = loud.left_out;
        find_repairs(beat, row, width_ns);
    }
    clear_loud(&loud);
    return found;
}

void
rs_beat_clear(rs_beat *beat)
{
    g_clear_pointer(&beat->bursts, g_array_unref);
}
