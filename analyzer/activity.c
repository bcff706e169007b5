/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "activity.h"

#include "approach.h"
#include "blocks.h"

#include <string.h>

#define SET_ASIDE_EVERY 6 /* doublings: 64 times */

/* The cell that an edge adds to, and what it has added there: that stands together for all
 * edges, and goes into the cell, which is anywhere, when the edge has another one, or all
 * cells become wider. */
struct rs_newest_cell {
    rs_cell added; /* with the number of the cell; valid if there is one */
    guint32 cell;  /* of its edge's; NO_CELL: there is none */
    guint32 edge;
};
#define NO_CELL G_MAXUINT32
G_STATIC_ASSERT(sizeof(rs_newest_cell) == RS_CACHE_LINE_BYTES);

struct rs_activity {
    rs_level *now;
    rs_blocks newest; /* rs_newest_cell, by edge */
    guint64 n_cells;
    guint doublings;
    GPtrArray *set_aside; /* rs_level, the finest first */
};

static void
clear_cells(gpointer data)
{
    const rs_cells *cells = data;
    g_free(cells->at);
}

static rs_level *
new_level(guint64 width_ns)
{
    rs_level *level = g_new0(rs_level, 1);
    level->width_ns = width_ns;
    level->edges = g_array_new(FALSE, TRUE, sizeof(rs_cells));
    g_array_set_clear_func(level->edges, clear_cells);
    return level;
}

static void
free_level(gpointer data)
{
    rs_level *level = data;
    g_array_unref(level->edges);
    g_free(level);
}

rs_activity *
rs_activity_new(void)
{
    rs_activity *activity = g_new0(rs_activity, 1);
    activity->now = new_level(RS_ACTIVITY_LEAST_NS);
    activity->now->whole = TRUE;
    activity->newest = rs_blocks_make(sizeof(rs_newest_cell));
    activity->set_aside = g_ptr_array_new_with_free_func(free_level);
    return activity;
}

void
rs_activity_free(rs_activity *activity)
{
    if (activity == NULL) {
        return;
    }
    free_level(activity->now);
    rs_blocks_clear(&activity->newest);
    g_ptr_array_unref(activity->set_aside);
    g_free(activity);
}

static rs_cells *
cells_of(const rs_activity *activity, guint32 edge)
{
    return &g_array_index(activity->now->edges, rs_cells, edge);
}

static void
set_aside(rs_activity *activity)
{
    const rs_level *now = activity->now;
    rs_level *level = new_level(now->width_ns);
    level->first = now->first;
    level->last = now->last;
    for (guint i = 0; i < now->edges->len; i++) {
        const rs_cells *cells = cells_of(activity, i);
        const rs_cells copy = {
            .at = g_memdup2(cells->at, cells->n * sizeof(rs_cell)),
            .n = cells->n,
            .room = cells->n,
        };
        g_array_append_val(level->edges, copy);
    }
    g_ptr_array_add(activity->set_aside, level);
}

/* Adds what is in one cell to another of the same number. */
static inline void
join(rs_cell *to, const rs_cell *from)
{
    to->resent += from->resent;
    if (from->bytes == 0) {
        return;
    }
    if (to->bytes == 0 || from->first_ns < to->first_ns) {
        to->first_ns = from->first_ns;
        to->first_frame = from->first_frame;
    }
    if (to->bytes == 0 || from->last_ns >= to->last_ns) {
        to->last_ns = from->last_ns;
        to->last_frame = from->last_frame;
    }
    to->bytes += from->bytes;
    to->packets += from->packets;
}

/* Every two neighbours become one, in place. */
static void
halve(rs_cells *cells)
{
    guint n = 0;
    for (guint i = 0; i < cells->n; i++) {
        rs_cell cell = cells->at[i];
        cell.number /= 2;
        if (n > 0 && cells->at[n - 1].number == cell.number) {
            join(&cells->at[n - 1], &cell);
        } else {
            cells->at[n++] = cell;
        }
    }
    cells->n = n;
}

static void
settle(const rs_activity *activity, rs_newest_cell *newest)
{
    if (newest->cell != NO_CELL) {
        join(&cells_of(activity, newest->edge)->at[newest->cell], &newest->added);
        newest->cell = NO_CELL;
    }
}

void
rs_activity_settle(rs_activity *activity)
{
    for (guint32 edge = 0; edge < activity->now->edges->len; edge++) {
        rs_newest_cell *newest = rs_blocks_find(&activity->newest, edge);
        if (newest != NULL) {
            settle(activity, newest);
        }
    }
}

static void
double_width(rs_activity *activity)
{
    rs_level *now = activity->now;
    rs_activity_settle(activity);
    if (activity->doublings++ % SET_ASIDE_EVERY == 0) {
        set_aside(activity);
    }
    now->width_ns *= 2;
    now->first /= 2;
    now->last /= 2;
    activity->n_cells = 0;
    for (guint i = 0; i < now->edges->len; i++) {
        rs_cells *cells = cells_of(activity, i);
        halve(cells);
        activity->n_cells += cells->n;
    }
}

/* The number of the cell of a time.  The axis reaches it afterwards, and there is room for
 * one more cell. */
static guint64
reach(rs_activity *activity, guint64 time_ns)
{
    rs_level *now = activity->now;
    /* By what division takes by a constant, since cells are so many times as wide. */
    guint64 number = time_ns / RS_ACTIVITY_LEAST_NS >> activity->doublings;
    gboolean any = activity->n_cells > 0;
    now->first = any ? MIN(now->first, number) : number;
    now->last = any ? MAX(now->last, number) : number;
    while (now->last - now->first >= RS_ACTIVITY_SPAN ||
           activity->n_cells >= RS_ACTIVITY_CELLS) {
        double_width(activity);
        number /= 2;
    }
    return number;
}

/* Where in `cells` the first one stands that is not before `number`. */
static guint
place_of(const rs_cells *cells, guint64 number)
{
    guint from = 0;
    guint until = cells->n;
    while (from < until) {
        guint middle = from + (until - from) / 2;
        if (cells->at[middle].number < number) {
            from = middle + 1;
        } else {
            until = middle;
        }
    }
    return from;
}

/* Makes a cell, before the i-th. */
static void
insert_cell(rs_cells *cells, guint i, guint64 number)
{
    if (cells->n == cells->room) {
        cells->room = MAX(1, 2 * cells->room);
        cells->at = g_renew(rs_cell, cells->at, cells->room);
    }
    if (i < cells->n) {
        memmove(&cells->at[i + 1], &cells->at[i], (cells->n - i) * sizeof(rs_cell));
    }
    cells->at[i] = (rs_cell){.number = number};
    cells->n++;
}

/* The index of a cell, made if need be. */
static guint
find_cell(rs_activity *activity, guint32 edge, guint64 number)
{
    GArray *edges = activity->now->edges;
    if (edge >= edges->len) {
        g_array_set_size(edges, edge + 1);
    }
    rs_cells *cells = cells_of(activity, edge);
    guint n = cells->n;
    if (n > 0 && cells->at[n - 1].number == number) {
        return n - 1;
    }
    guint i = n > 0 && number < cells->at[n - 1].number ? place_of(cells, number) : n;
    if (i == n || cells->at[i].number != number) {
        insert_cell(cells, i, number);
        activity->n_cells++;
    }
    return i;
}

/* The newest cell of an edge is another one. */
G_NO_INLINE static void
move_newest(rs_activity *activity, rs_newest_cell *newest, guint64 time_ns)
{
    settle(activity, newest);
    guint64 number = reach(activity, time_ns);
    newest->cell = find_cell(activity, newest->edge, number);
    newest->added = (rs_cell){.number = number};
}

/* Those of a block are made at once. */
G_NO_INLINE static rs_newest_cell *
make_newest(rs_activity *activity, guint32 edge)
{
    rs_newest_cell *asked_for = rs_blocks_get(&activity->newest, edge);
    guint32 first = edge - edge % RS_BLOCK;
    for (guint32 i = first; i < first + RS_BLOCK; i++) {
        rs_newest_cell *newest = rs_blocks_get(&activity->newest, i);
        newest->edge = i;
        newest->cell = NO_CELL;
    }
    return asked_for;
}

rs_newest_cell *
rs_activity_newest(rs_activity *activity, guint32 edge)
{
    rs_newest_cell *newest = rs_blocks_find(&activity->newest, edge);
    if (newest == NULL) {
        newest = make_newest(activity, edge);
    }
    return newest;
}

void
rs_activity_approach(const rs_newest_cell *newest)
{
    rs_approach(newest, sizeof *newest);
}

/* Whether what comes then is of the newest cell as well. */
static inline gboolean
is_in_newest(const rs_activity *activity, const rs_newest_cell *newest, guint64 time_ns)
{
    guint64 width_ns = activity->now->width_ns;
    return newest->cell != NO_CELL &&
           time_ns - newest->added.number * width_ns < width_ns;
}

void
rs_activity_approach_cell(const rs_activity *activity, const rs_newest_cell *newest,
                          guint64 time_ns)
{
    if (newest->cell != NO_CELL && !is_in_newest(activity, newest, time_ns)) {
        rs_approach(&cells_of(activity, newest->edge)->at[newest->cell],
                    2 * sizeof(rs_cell));
    }
}

void
rs_activity_add(rs_activity *activity, rs_newest_cell *newest, guint64 time_ns,
                guint64 frame, guint64 bytes)
{
    rs_cell *cell = &newest->added;
    if (!is_in_newest(activity, newest, time_ns)) {
        move_newest(activity, newest, time_ns);
    }
    if (bytes == 0) {
        cell->resent++;
        return;
    }
    gboolean is_first = cell->bytes == 0;
    if (is_first || time_ns < cell->first_ns) {
        cell->first_ns = time_ns;
        cell->first_frame = frame;
    }
    if (is_first || time_ns >= cell->last_ns) {
        cell->last_ns = time_ns;
        cell->last_frame = frame;
    }
    cell->bytes += bytes;
    cell->packets++;
}

guint
rs_activity_n_levels(const rs_activity *activity)
{
    return activity->n_cells > 0 ? 1 + activity->set_aside->len : 0;
}

const rs_level *
rs_activity_level(const rs_activity *activity, guint i)
{
    guint n = activity->set_aside->len;
    return i == 0 ? activity->now : g_ptr_array_index(activity->set_aside, n - i);
}
