/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the journeys of one packet's copies tell: the part of path_match.h that decides.
 *
 * The one rule: it looks at one entry of the table, and at nothing that comes later.
 */
#ifndef RS_PATH_FATES_H
#define RS_PATH_FATES_H

#include "match_table.h"
#include "path_match.h"

#define RS_PATH_LISTED 20000 /* losses kept to be shown */
#define RS_PATH_SUSPECTS 8192
#define RS_PATH_TRACES 4096 /* kept of each kind, most of which may not count */

/* A loss that may turn out to be none: by frame of the last point that saw it. */
typedef struct rs_path_suspect {
    guint64 frame;
    guint32 flow;
    guint32 behind, idle; /* as rs_path_loss has them */
    guint32 loss;         /* its place in the list; G_MAXUINT32: not listed */
    guint8 known;
    gboolean ambiguous;
} rs_path_suspect;

/* Where among the suspects of a point, which rise by frame, the one of this frame stands, or
 * would. */
guint
rs_path_suspect_place(const rs_path *path, guint point, guint64 frame);

/* A copy that a point saw last, and that was decided on, turns out to be something else. */
void
rs_path_move_state(const rs_path *path, guint point, const rs_path_suspect *s,
                   rs_loss_state before, rs_loss_state now);

/* Keeps a loss to be shown; flows that may be none of this path's cannot crowd out the
 * others.  Returns its place in the list, or G_MAXUINT32. */
guint32
rs_path_list_loss(rs_path *path, const rs_path_loss *loss);

/* Decides on all copies of an entry, which then takes no more. */
void
rs_path_resolve(rs_path *path, guint32 entry);

/* Decides on those copies of an entry of which nothing more can come.  The others stay,
 * in an entry of their own.  FALSE: more of each can come, and nothing was done. */
gboolean
rs_path_settle(rs_path *path, guint32 entry);

/* Both points of a leg were on when they saw these, which are surely the same copy. */
void
rs_path_share(rs_flow *flow, const rs_sighting *a, const rs_sighting *b);

/* Whether packets of the flow with this opcode are told apart by their identifications. */
gboolean
rs_path_is_numbered(const rs_flow *flow, guint8 opcode);

static inline rs_flow *
rs_path_flow(const rs_path *path, guint32 id)
{
    return g_ptr_array_index(path->flows, id);
}

/* The i-th point in the direction of travel. */
static inline guint
rs_path_travel(const rs_path *path, rs_way way, guint i)
{
    return way == RS_WAY_FORWARD ? i : path->config.n_points - 1 - i;
}

#endif
