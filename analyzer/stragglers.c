/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stragglers.h"

#include "sorting.h"

/* A server is not compared with those that send to it, or that it sends to. */
static gboolean
is_compared(const rs_group *group, guint32 node)
{
    gboolean serves = group->kind == RS_SHAPE_PARAMETER_SERVER ||
                      group->kind == RS_SHAPE_INCAST || group->kind == RS_SHAPE_FAN_OUT;
    return !serves || node != group->center;
}

rs_last_one
rs_last_of(const rs_rhythm *rhythm, const rs_group *group, guint iteration,
           rs_last_kind kind)
{
    gboolean begin = kind == RS_LAST_TO_BEGIN;
    rs_last_one last = {.node = RS_NO_NODE};
    guint64 latest = 0;
    guint64 second = 0;
    guint n = 0; /* hosts that are compared */
    for (guint i = 0; i < group->nodes->len; i++) {
        guint32 node = g_array_index(group->nodes, guint32, i);
        const rs_turn *turn = rs_rhythm_turn(rhythm, node, iteration);
        if (turn == NULL || !is_compared(group, node)) {
            continue;
        }
        guint64 time = begin ? turn->first_ns : turn->last_ns;
        if (n++ == 0 || time > latest) {
            second = latest;
            latest = time;
            last.node = node;
            last.edge = begin ? turn->first_edge : turn->last_edge;
            last.frame = begin ? turn->first_frame : turn->last_frame;
        } else {
            second = MAX(second, time);
        }
    }
    last.by_ns = latest - second;
    if (n < 2 || last.by_ns == 0) {
        last.node = RS_NO_NODE;
    }
    return last;
}

/* ---- over all iterations ---- */

typedef struct tally {
    GArray *by[RS_N_LAST_KINDS]; /* guint64 */
} tally;

static guint
group_of(const GPtrArray *groups, guint32 node)
{
    for (guint i = 0; i < groups->len; i++) {
        const rs_group *group = g_ptr_array_index(groups, i);
        for (guint j = 0; j < group->nodes->len; j++) {
            if (g_array_index(group->nodes, guint32, j) == node) {
                return i;
            }
        }
    }
    return G_MAXUINT;
}

static gint
by_node(gconstpointer a, gconstpointer b)
{
    const rs_performer *x = a;
    const rs_performer *y = b;
    return rs_by_number(x->node, y->node);
}

static GArray *
find_performers(const rs_edges *edges, const rs_rhythm *rhythm, const GPtrArray *groups)
{
    GArray *performers = g_array_new(FALSE, TRUE, sizeof(rs_performer));
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < rhythm->edges->len; i++) {
        guint32 id = g_array_index(rhythm->edges, guint32, i);
        const rs_performer one = {
            .node = rs_edges_at(edges, id)->src,
            .group = group_of(groups, rs_edges_at(edges, id)->src),
        };
        if (one.group != G_MAXUINT &&
            g_hash_table_add(seen, GUINT_TO_POINTER(one.node + 1))) {
            g_array_append_val(performers, one);
        }
    }
    g_array_sort(performers, by_node);
    return performers;
}

static guint
place_of(const GArray *performers, guint32 node)
{
    guint i = 0;
    while (i < performers->len &&
           g_array_index(performers, rs_performer, i).node != node) {
        i++;
    }
    return i;
}

static void
note_last(GArray *performers, tally *tallies, rs_last_kind kind, const rs_last_one *one)
{
    guint at = place_of(performers, one->node);
    if (at == performers->len) {
        return;
    }
    rs_lastness *last = &g_array_index(performers, rs_performer, at).last[kind];
    last->times++;
    g_array_append_val(tallies[at].by[kind], one->by_ns);
    rs_frames_keep(&last->frames, one->frame);
}

static void
look_at_group(const rs_rhythm *rhythm, const rs_group *group, GArray *performers,
              tally *tallies)
{
    for (guint i = 0; i < rhythm->iterations->len; i++) {
        for (guint kind = 0;
             kind < RS_N_LAST_KINDS && !rs_rhythm_iteration(rhythm, i)->partial;
             kind++) {
            const rs_last_one one = rs_last_of(rhythm, group, i, (rs_last_kind)kind);
            if (one.node != RS_NO_NODE) {
                note_last(performers, tallies, (rs_last_kind)kind, &one);
            }
        }
    }
}

/* What a host does by itself. */
static void
measure(const rs_rhythm *rhythm, rs_performer *one)
{
    g_autoptr(GArray) periods = g_array_new(FALSE, FALSE, sizeof(guint64));
    g_autoptr(GArray) lengths = g_array_new(FALSE, FALSE, sizeof(guint64));
    const rs_turn *before = NULL;
    for (guint i = 0; i < rhythm->iterations->len; i++) {
        const rs_turn *turn = rs_rhythm_turn(rhythm, one->node, i);
        if (rs_rhythm_iteration(rhythm, i)->partial) {
            turn = NULL;
        }
        if (turn != NULL) {
            guint64 length = turn->last_ns - turn->first_ns;
            g_array_append_val(lengths, length);
            one->iterations++;
        }
        if (turn != NULL && before != NULL) {
            guint64 period = turn->first_ns - before->first_ns;
            if (rs_rhythm_is_one_period(period, rhythm->period.p50)) {
                g_array_append_val(periods, period);
            }
        }
        before = turn;
    }
    rs_dist_of(periods, &one->period);
    rs_dist_of(lengths, &one->length);
}

GArray *
rs_performers_new(const rs_edges *edges, const rs_rhythm *rhythm,
                  const GPtrArray *groups)
{
    if (rhythm == NULL) {
        return g_array_new(FALSE, TRUE, sizeof(rs_performer));
    }
    GArray *performers = find_performers(edges, rhythm, groups);
    g_autofree tally *tallies = g_new0(tally, performers->len);
    for (guint i = 0; i < performers->len; i++) {
        for (guint kind = 0; kind < RS_N_LAST_KINDS; kind++) {
            tallies[i].by[kind] = g_array_new(FALSE, FALSE, sizeof(guint64));
        }
    }
    for (guint i = 0; i < groups->len; i++) {
        look_at_group(rhythm, g_ptr_array_index(groups, i), performers, tallies);
    }
    for (guint i = 0; i < performers->len; i++) {
        rs_performer *one = &g_array_index(performers, rs_performer, i);
        measure(rhythm, one);
        for (guint kind = 0; kind < RS_N_LAST_KINDS; kind++) {
            rs_dist_of(tallies[i].by[kind], &one->last[kind].by);
            g_array_unref(tallies[i].by[kind]);
        }
    }
    return performers;
}
