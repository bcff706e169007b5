/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When data flowed along each edge, at every scale from microseconds to the whole
 * capture, in bounded memory.
 *
 * Time is cut into cells of equal width, numbered from 1970 in units of it, as in
 * bins.h; a cell that saw data keeps when the first and the last of it came, to the
 * nanosecond, so that what begins after a silence is known exactly however wide cells
 * are.  When the cells no longer fit, their width doubles and every two become one.
 *
 * Wide cells hide a fast rhythm.  So what there is is set aside each time the width
 * has grown 64 times: a level.  The widest has the whole capture, finer ones have its
 * beginning.
 *
 * The one rule: a level is a function of the packets in it.
 */
#ifndef RS_ACTIVITY_H
#define RS_ACTIVITY_H

#include <glib.h>

#define RS_ACTIVITY_LEAST_NS 1000 /* width of the finest cells */
#define RS_ACTIVITY_SPAN 8192     /* cells from the first to the last of a level */
#define RS_ACTIVITY_CELLS 131072  /* that saw something, of all edges of a level */

typedef struct rs_cell {
    guint64 number;                  /* starts at number * width since 1970 */
    guint64 first_ns, last_ns;       /* of the data in it; valid if bytes > 0 */
    guint64 first_frame, last_frame; /* likewise */
    guint64 bytes;
    guint32 packets; /* that carried them */
    guint32 resent;  /* packets that were sent again */
} rs_cell;

/* Of one edge: not a GArray, since there are many and each packet may add one. */
typedef struct rs_cells {
    rs_cell *at; /* n of them, ascending; room for `room` */
    guint n, room;
} rs_cells;

typedef struct rs_level {
    guint64 width_ns;
    gboolean whole;      /* all of the capture is in it */
    guint64 first, last; /* numbers of cells */
    GArray *edges;       /* rs_cells, by edge */
} rs_level;

/* The cells of an edge; none for one that the level does not have. */
static inline rs_cells
rs_level_cells(const rs_level *level, guint32 edge)
{
    return edge < level->edges->len ? g_array_index(level->edges, rs_cells, edge)
                                    : (rs_cells){0};
}

typedef struct rs_activity rs_activity;

rs_activity *
rs_activity_new(void);

void
rs_activity_free(rs_activity *activity);

/* Where an edge adds to; as long as the activity. */
typedef struct rs_newest_cell rs_newest_cell;

rs_newest_cell *
rs_activity_newest(rs_activity *activity, guint32 edge);

/* Something will be added there soon; see approach.h. */
void
rs_activity_approach(const rs_newest_cell *newest);

/* The same, once that has come near: something of that time. */
void
rs_activity_approach_cell(const rs_activity *activity, const rs_newest_cell *newest,
                          guint64 time_ns);

/* A packet of an edge came; `bytes` of new data, 0 if it was sent again. */
void
rs_activity_add(rs_activity *activity, rs_newest_cell *newest, guint64 time_ns,
                guint64 frame, guint64 bytes);

/* What was added is in the cells: to be called before any is asked for. */
void
rs_activity_settle(rs_activity *activity);

/* The levels, the widest cells first; none where nothing was seen. */
guint
rs_activity_n_levels(const rs_activity *activity);
const rs_level *
rs_activity_level(const rs_activity *activity, guint i);

#endif
