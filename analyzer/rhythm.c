/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rhythm.h"

#include "alloc.h"
#include "arrays.h"
#include "heard.h"
#include "sorting.h"

#include <string.h>

#define ALONE_AT_MOST 256 /* edges that are looked at one by one: the heaviest */
#define SAME_PERIOD_PERCENT 10
#define LIGHT_SHARE                                                                    \
    100 /* an edge with a hundredth of the heaviest's bytes takes part */
/* Cells are tried as they are and wider: in wide ones a lone packet is background.  So is,
 * at last, what has up to half of what the bursts have. */
#define N_WIDTHS 3
static const guint64 widths[N_WIDTHS] = {1, 8, 64};
static const guint64 shares[] = {RS_BEAT_LOUD_SHARE, 2}; /* descending */

/* How a rhythm was found. */
typedef struct finding_of_beat {
    rs_beat beat;
    guint64 width_ns; /* of the cells */
    guint64 share;
} finding_of_beat;

/* Of a row, by width: loud cells by which no rhythm was found, see rs_beat_find(). */
typedef struct no_rhythm {
    guint n_loud[N_WIDTHS];
} no_rhythm;

/* What the search for a rhythm goes by. */
typedef struct search {
    const rs_edges *edges;
    const rs_level *level;
    const gboolean *heard; /* by edge */
    const rs_cells *row;   /* of all edges that are heard in the level */
    /* Of that, and behind it of each of the heaviest edges alone. */
    no_rhythm *known;
    guint32 point;
    guint64 round_trip_ns;
} search;

/* Edges in which a beat is looked for. */
typedef struct voices {
    const rs_cells *row; /* of all of them */
    gboolean several;    /* among_several() */
} voices;

/* ---- the point ---- */

static guint32
heaviest_point(const rs_edges *edges)
{
    g_autoptr(GHashTable) bytes = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    guint32 best = 0;
    guint64 most = 0;
    for (guint i = 0; i < rs_edges_n(edges); i++) {
        const rs_edge *edge = rs_edges_at(edges, i);
        gpointer key = GUINT_TO_POINTER(edge->point);
        guint64 *sum = g_hash_table_lookup(bytes, key);
        if (sum == NULL) {
            sum = g_new0(guint64, 1);
            g_hash_table_insert(bytes, key, sum);
        }
        *sum += edge->bytes;
        if (*sum > most || (*sum == most && edge->point < best)) {
            most = *sum;
            best = edge->point;
        }
    }
    return best;
}

/* The median time to an acknowledgement at the point, at least what is assumed of one
 * that sees but a part of the way. */
static guint64
round_trip_at(const roce_tracker *tracker, guint32 point)
{
    const roce_alloc alloc = rs_alloc_make();
    roce_histogram all = {0};
    for (guint32 i = 0; i < roce_tracker_n_streams(tracker); i++) {
        const roce_stream *s = roce_tracker_stream(tracker, i);
        const roce_histogram *acks = roce_stream_latency(s, ROCE_LATENCY_ACK);
        const roce_histogram *reads = roce_stream_latency(s, ROCE_LATENCY_READ_FIRST);
        if (s->point == point && acks != NULL) {
            roce_histogram_merge(&all, &alloc, acks);
        }
        if (s->point == point && reads != NULL) {
            roce_histogram_merge(&all, &alloc, reads);
        }
    }
    guint64 median = all.count > 0 ? roce_histogram_quantile(&all, 500) : 0;
    roce_histogram_clear(&all, &alloc);
    return MAX(median, RS_RHYTHM_ROUND_TRIP_NS);
}

/* ---- is it one? ---- */

static gboolean
keeps_time_by_repair(const rs_beat *beat)
{
    guint repaired = 0;
    for (guint i = 0; i < beat->bursts->len; i++) {
        repaired += g_array_index(beat->bursts, rs_iteration, i).after_repair ? 1 : 0;
    }
    return repaired * 100 > beat->bursts->len * RS_RHYTHM_REPAIRED_PERCENT;
}

static guint64
median_silence(const rs_beat *beat)
{
    g_autoptr(GArray) silences = g_array_new(FALSE, FALSE, sizeof(guint64));
    for (guint i = 1; i < beat->bursts->len; i++) {
        guint64 silence = g_array_index(beat->bursts, rs_iteration, i).start_ns -
                          g_array_index(beat->bursts, rs_iteration, i - 1).end_ns;
        g_array_append_val(silences, silence);
    }
    rs_dist spread;
    rs_dist_of(silences, &spread);
    return spread.p50;
}

/* Whether two edges are between the same hosts, whichever of them sends. */
static gboolean
are_of_one_pair(const rs_edge *a, const rs_edge *b)
{
    return (a->src == b->src && a->dst == b->dst) ||
           (a->src == b->dst && a->dst == b->src);
}

/* Whether more than two hosts send or receive with the heavy edges in use. */
static gboolean
among_several(const search *s, const gboolean *uses)
{
    guint64 heaviest = 0;
    for (guint i = 0; i < rs_edges_n(s->edges); i++) {
        heaviest = MAX(heaviest, uses[i] ? rs_edges_at(s->edges, i)->bytes : 0);
    }
    const rs_edge *first = NULL;
    for (guint i = 0; i < rs_edges_n(s->edges); i++) {
        const rs_edge *edge = rs_edges_at(s->edges, i);
        if (!uses[i] || edge->bytes * LIGHT_SHARE < heaviest) {
            continue;
        }
        if (first == NULL) {
            first = edge;
        } else if (!are_of_one_pair(first, edge)) {
            return TRUE;
        }
    }
    return FALSE;
}

static gboolean
is_rhythm(const search *s, const voices *of, const rs_beat *beat)
{
    return !keeps_time_by_repair(beat) &&
           (of->several ||
            (beat->bursts->len >= RS_RHYTHM_LEAST_OF_TWO &&
             median_silence(beat) >= s->round_trip_ns * RS_RHYTHM_ROUND_TRIPS));
}

/* A beat of some edges, of which the row is, in cells of one width. */
static gboolean
find_beat_of_width(const search *s, const voices *of, const rs_cells *row,
                   guint64 width, guint64 share, guint *n_loud, finding_of_beat *found)
{
    found->width_ns = s->level->width_ns * width;
    found->share = share;
    /* Where cells were made wider, what is left out of them sounds like silence. */
    guint64 least_ns = width > 1 ? 2 * found->width_ns : 0;
    if (!rs_beat_find(row, found->width_ns, least_ns, share, n_loud, &found->beat)) {
        return FALSE;
    }
    if (is_rhythm(s, of, &found->beat)) {
        *n_loud = 0; /* of these one was found */
        return TRUE;
    }
    rs_beat_clear(&found->beat);
    return FALSE;
}

/* The same in cells of any width. */
static gboolean
find_beat_in(const search *s, const voices *of, guint64 share, no_rhythm *known,
             finding_of_beat *found)
{
    gboolean is_found =
        find_beat_of_width(s, of, of->row, widths[0], share, &known->n_loud[0], found);
    rs_cells wider = {0};
    for (guint i = 1; i < N_WIDTHS && !is_found; i++) {
        rs_cells wide =
            rs_beat_widen(i > 1 ? &wider : of->row, widths[i] / widths[i - 1]);
        g_free(wider.at);
        wider = wide;
        is_found = find_beat_of_width(s, of, &wider, widths[i], share,
                                      &known->n_loud[i], found);
    }
    g_free(wider.at);
    return is_found;
}

static gboolean
find_beat(const search *s, const gboolean *uses, guint64 share, finding_of_beat *found)
{
    rs_cells row = rs_beat_row(s->level, uses);
    const voices of = {.row = &row, .several = among_several(s, uses)};
    no_rhythm none = {0};
    gboolean is_found = find_beat_in(s, &of, share, &none, found);
    g_free(row.at);
    return is_found;
}

/* ---- the edges that share a rhythm ---- */

static gint
heavier(gconstpointer a, gconstpointer b, gpointer data)
{
    const search *s = data;
    guint32 x = *(const guint32 *)a;
    guint32 y = *(const guint32 *)b;
    guint64 of_x = rs_edges_at(s->edges, x)->bytes;
    guint64 of_y = rs_edges_at(s->edges, y)->bytes;
    return of_x != of_y ? (of_x > of_y ? -1 : 1) : rs_by_number(x, y);
}

/* The edges that are heard with data in the level, heaviest first; guint32. */
static GArray *
heaviest_edges(const search *s)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 i = 0; i < s->level->edges->len; i++) {
        if (rs_level_cells(s->level, i).n > 0 && s->heard[i]) {
            g_array_append_val(list, i);
        }
    }
    search by = *s;
    g_array_sort_with_data(list, heavier, &by);
    return list;
}

/* Uses the edges that have, each alone, the period of the heaviest that has one. */
static gboolean
find_like_minded(const search *s, gboolean *uses, guint64 share)
{
    g_autoptr(GArray) list = heaviest_edges(s);
    guint64 period = 0;
    memset(uses, 0, rs_edges_n(s->edges) * sizeof *uses);
    for (guint i = 0; i < MIN(list->len, ALONE_AT_MOST); i++) {
        guint32 edge = g_array_index(list, guint32, i);
        finding_of_beat own = {0};
        const rs_cells row = rs_level_cells(s->level, edge);
        const voices alone = {.row = &row};
        if (!find_beat_in(s, &alone, share, &s->known[1 + i], &own)) {
            continue;
        }
        guint64 its = own.beat.period_ns;
        period = period == 0 ? its : period;
        guint64 off = its > period ? its - period : period - its;
        uses[edge] = off * 100 <= period * SAME_PERIOD_PERCENT;
        rs_beat_clear(&own.beat);
    }
    return period > 0;
}

/* ---- what it is like ---- */

const rs_iteration *
rs_rhythm_iteration(const rs_rhythm *rhythm, guint i)
{
    return &g_array_index(rhythm->iterations, rs_iteration, i);
}

static void
measure(rs_rhythm *rhythm, guint64 period_ns)
{
    g_autoptr(GArray) periods = g_array_new(FALSE, FALSE, sizeof(guint64));
    g_autoptr(GArray) lengths = g_array_new(FALSE, FALSE, sizeof(guint64));
    g_autoptr(GArray) bytes = g_array_new(FALSE, FALSE, sizeof(guint64));
    for (guint i = 0; i < rhythm->iterations->len; i++) {
        const rs_iteration *burst = rs_rhythm_iteration(rhythm, i);
        if (i > 0) {
            const rs_iteration *before = rs_rhythm_iteration(rhythm, i - 1);
            guint64 interval = burst->start_ns - before->start_ns;
            if (rs_rhythm_is_one_period(interval, period_ns) && !before->partial) {
                g_array_append_val(periods, interval);
            }
            rhythm->span_ns += interval;
            rhythm->idle_ns += burst->start_ns - MIN(before->end_ns, burst->start_ns);
        }
        if (!burst->partial) {
            guint64 length = burst->end_ns - burst->start_ns;
            g_array_append_val(lengths, length);
            g_array_append_val(bytes, burst->bytes);
        }
        rhythm->bytes_in += burst->bytes;
    }
    rs_dist_of(periods, &rhythm->period);
    rs_dist_of(lengths, &rhythm->length);
    rs_dist_of(bytes, &rhythm->bytes);
}

/* ---- who takes part ---- */

/* The turns of a host, none at first: hosts times iterations may be far more than there
 * are packets. */
static GArray *
turns_of(rs_rhythm *rhythm, guint32 node)
{
    if (node >= rhythm->turns->len) {
        g_ptr_array_set_size(rhythm->turns, (gint)node + 1);
    }
    if (rhythm->turns->pdata[node] == NULL) {
        rhythm->turns->pdata[node] = g_array_new(FALSE, TRUE, sizeof(rs_turn));
    }
    return rhythm->turns->pdata[node];
}

/* The turn in an iteration, or where it would stand. */
static guint
place_of(const GArray *turns, guint iteration)
{
    guint from = 0;
    guint until = turns->len;
    while (from < until) {
        guint middle = from + (until - from) / 2;
        if (g_array_index(turns, rs_turn, middle).iteration < iteration) {
            from = middle + 1;
        } else {
            until = middle;
        }
    }
    return from;
}

static gboolean
has_turn(const GArray *turns, guint place, guint iteration)
{
    return place < turns->len &&
           g_array_index(turns, rs_turn, place).iteration == iteration;
}

/* The turn in an iteration, empty if it is new. */
static rs_turn *
turn_in(GArray *turns, guint iteration)
{
    guint place = place_of(turns, iteration);
    if (!has_turn(turns, place, iteration)) {
        const rs_turn turn = {.iteration = iteration};
        g_array_insert_val(turns, place, turn);
    }
    return &g_array_index(turns, rs_turn, place);
}

/* The iteration that a time belongs to: from its start to that of the next.  FALSE:
 * before the first. */
static gboolean
iteration_at(const rs_rhythm *rhythm, guint64 time_ns, guint *at)
{
    while (*at + 1 < rhythm->iterations->len &&
           rs_rhythm_iteration(rhythm, *at + 1)->start_ns <= time_ns) {
        (*at)++;
    }
    return rs_rhythm_iteration(rhythm, *at)->start_ns <= time_ns;
}

static void
add_turns(rs_rhythm *rhythm, guint32 node, guint32 edge, const rs_cells *loud)
{
    GArray *turns = turns_of(rhythm, node);
    guint at = 0;
    for (guint i = 0; i < loud->n; i++) {
        const rs_cell *cell = &loud->at[i];
        if (!iteration_at(rhythm, cell->first_ns, &at)) {
            continue;
        }
        rs_turn *turn = turn_in(turns, at);
        if (turn->first_frame == 0 || cell->first_ns < turn->first_ns) {
            turn->first_ns = cell->first_ns;
            turn->first_frame = cell->first_frame;
            turn->first_edge = edge;
        }
        if (turn->last_frame == 0 || cell->last_ns > turn->last_ns) {
            turn->last_ns = cell->last_ns;
            turn->last_frame = cell->last_frame;
            turn->last_edge = edge;
        }
    }
}

/* The edges that take part, heaviest first, and when their hosts sent. */
static void
find_turns(rs_rhythm *rhythm, const search *s, const gboolean *uses)
{
    g_autoptr(GArray) list = heaviest_edges(s);
    guint64 heaviest = 0;
    for (guint i = 0; i < list->len; i++) {
        guint32 id = g_array_index(list, guint32, i);
        const rs_edge *edge = rs_edges_at(s->edges, id);
        heaviest = MAX(heaviest, edge->bytes);
        if (!uses[id] || edge->bytes * LIGHT_SHARE < heaviest) {
            continue;
        }
        const rs_cells row = rs_level_cells(s->level, id);
        guint64 left_out;
        rs_cells loud = rs_beat_loud(&row, rhythm->share, &left_out);
        add_turns(rhythm, edge->src, id, &loud);
        g_free(loud.at);
        g_array_append_val(rhythm->edges, id);
    }
}

const rs_turn *
rs_rhythm_turn(const rs_rhythm *rhythm, guint32 node, guint iteration)
{
    if (node >= rhythm->turns->len || rhythm->turns->pdata[node] == NULL) {
        return NULL;
    }
    const GArray *turns = rhythm->turns->pdata[node];
    guint place = place_of(turns, iteration);
    return has_turn(turns, place, iteration) ? &g_array_index(turns, rs_turn, place)
                                             : NULL;
}

/* ---- the whole ---- */

static guint64
bytes_of_level(const search *s)
{
    guint64 sum = 0;
    for (guint i = 0; i < s->level->edges->len; i++) {
        const rs_cells cells = rs_level_cells(s->level, i);
        if (cells.n == 0 || !s->heard[i]) {
            continue;
        }
        for (guint j = 0; j < cells.n; j++) {
            sum += cells.at[j].bytes;
        }
    }
    return sum;
}

/* The first and the last packet of data that is heard. */
static void
find_span(const search *s, rs_rhythm *rhythm)
{
    rhythm->from_ns = G_MAXUINT64; /* there is some */
    for (guint i = 0; i < s->level->edges->len; i++) {
        const rs_cells cells = rs_level_cells(s->level, i);
        if (cells.n == 0 || !s->heard[i]) {
            continue;
        }
        for (guint j = 0; j < cells.n; j++) {
            const rs_cell *cell = &cells.at[j];
            if (cell->bytes > 0) {
                rhythm->from_ns = MIN(rhythm->from_ns, cell->first_ns);
                rhythm->until_ns = MAX(rhythm->until_ns, cell->last_ns);
            }
        }
    }
}

static GArray *
heard_list(const search *s)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 i = 0; i < rs_edges_n(s->edges); i++) {
        if (s->heard[i]) {
            g_array_append_val(list, i);
        }
    }
    return list;
}

/* Takes the bursts over. */
static rs_rhythm *
make_rhythm(const search *s, const gboolean *uses, finding_of_beat *found)
{
    rs_rhythm *rhythm = g_new0(rs_rhythm, 1);
    rhythm->point = s->point;
    rhythm->whole = s->level->whole;
    rhythm->resolution_ns = found->width_ns;
    rhythm->share = found->share;
    rhythm->iterations = g_steal_pointer(&found->beat.bursts);
    rhythm->missing = found->beat.missing;
    rhythm->edges = g_array_new(FALSE, FALSE, sizeof(guint32));
    rhythm->heard = heard_list(s);
    rhythm->turns = g_ptr_array_new_with_free_func(rs_unref_array);
    measure(rhythm, found->beat.period_ns);
    guint64 bytes = bytes_of_level(s);
    rhythm->bytes_out = bytes > rhythm->bytes_in ? bytes - rhythm->bytes_in : 0;
    find_span(s, rhythm);
    find_turns(rhythm, s, uses);
    return rhythm;
}

static rs_rhythm *
search_level(const search *s, guint64 share)
{
    g_autofree gboolean *uses =
        g_memdup2(s->heard, rs_edges_n(s->edges) * sizeof *s->heard);
    finding_of_beat found = {0};
    const voices everybody = {.row = s->row, .several = among_several(s, uses)};
    gboolean all = find_beat_in(s, &everybody, share, &s->known[0], &found);
    if (!all &&
        !(find_like_minded(s, uses, share) && find_beat(s, uses, share, &found))) {
        return NULL;
    }
    rs_rhythm *rhythm = make_rhythm(s, uses, &found);
    rhythm->all_edges = all;
    rhythm->several = among_several(s, uses);
    return rhythm;
}

/* The slowest rhythm of what is heard. */
static rs_rhythm *
search_all(search *s, const rs_activity *activity)
{
    guint n = rs_activity_n_levels(activity);
    g_autofree rs_cells *rows =
        g_new0(rs_cells, n); /* by level, as far as they were asked for */
    g_autofree no_rhythm *known = g_new0(no_rhythm, n * (gsize)(1 + ALONE_AT_MOST));
    rs_rhythm *rhythm = NULL;
    for (guint k = 0; k < G_N_ELEMENTS(shares); k++) {
        for (guint i = 0; i < n && rhythm == NULL; i++) {
            s->level = rs_activity_level(activity, i);
            rows[i] = k == 0 ? rs_beat_row(s->level, s->heard) : rows[i];
            s->row = &rows[i];
            s->known = &known[i * (gsize)(1 + ALONE_AT_MOST)];
            rhythm = search_level(s, shares[k]);
        }
    }
    for (guint i = 0; i < n; i++) {
        g_free(rows[i].at);
    }
    return rhythm;
}

rs_rhythm *
rs_rhythm_new(const rs_edges *edges, const rs_activity *activity,
              const roce_tracker *tracker, const GArray *files)
{
    if (rs_edges_n(edges) == 0) {
        return NULL;
    }
    search s = {.edges = edges, .point = heaviest_point(edges)};
    s.round_trip_ns = round_trip_at(tracker, s.point);
    g_autofree gboolean *alone = rs_heard_at(edges, s.point);
    g_autofree gboolean *heard = rs_heard_at(edges, s.point);
    rs_rhythm *rhythm = NULL;
    if (rs_heard_beside(edges, s.point, files, heard)) {
        s.heard = heard;
        rhythm = search_all(&s, activity);
    }
    if (rhythm == NULL) {
        s.heard = alone;
        rhythm = search_all(&s, activity);
    }
    return rhythm;
}

void
rs_rhythm_free(rs_rhythm *rhythm)
{
    if (rhythm == NULL) {
        return;
    }
    g_array_unref(rhythm->iterations);
    g_array_unref(rhythm->edges);
    g_array_unref(rhythm->heard);
    g_ptr_array_unref(rhythm->turns);
    g_free(rhythm);
}
