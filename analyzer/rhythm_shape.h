/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shape in which hosts send: ring, tree, all to all, many to one.
 *
 * Hosts that send one another data are a group; where there is a rhythm, edges that do
 * not share it are left out, and so are those with little data next to others of the
 * same hosts.  What a group is follows from who sends to whom:
 *
 *   ring        everyone sends to as many as it receives from, the same amount, and the
 *               edges fall into rings through all; in one way alone, where there are
 *               several
 *   all_to_all  nearly everyone sends to everyone
 *   tree        one way from each to each, and who is whose parent shows in time: on the
 *               way up, children send first.  Two trees at once: everyone is a parent in
 *               one of them alone
 *   chain       each sends to the next, and no one back: also what is seen of a ring
 *               whose other edges are not
 *   parameter_server, incast, fan_out
 *               one has to do with all others, they with it alone: both ways, towards
 *               it, from it
 *   pair        two hosts
 *   one_host    all that was captured has to do with one host, as everything has that
 *               is captured there: what its neighbours do among themselves is unknown,
 *               and with it the shape
 *   other       none of these
 *
 * The one rule: a shape that could be another as well is not named.
 */
#ifndef RS_RHYTHM_SHAPE_H
#define RS_RHYTHM_SHAPE_H

#include "dist.h"
#include "edges.h"
#include "rhythm.h"

#include "roce/tracker.h"

#include <glib.h>

#define RS_GROUP_HOSTS 512
/* Edges of a ring carry the same: the most no more than this of the least. */
#define RS_RING_EVEN_PERCENT 125
#define RS_SHAPE_LIGHT_SHARE 20 /* an edge with a twentieth of a neighbour's counts */
#define RS_ALL_TO_ALL_PERCENT 90

typedef enum rs_shape_kind {
    RS_SHAPE_RING,
    RS_SHAPE_ALL_TO_ALL,
    RS_SHAPE_TREE,
    RS_SHAPE_CHAIN,
    RS_SHAPE_PARAMETER_SERVER,
    RS_SHAPE_INCAST,
    RS_SHAPE_FAN_OUT,
    RS_SHAPE_PAIR,
    RS_SHAPE_ONE_HOST,
    RS_SHAPE_OTHER,
    RS_N_SHAPES,
} rs_shape_kind;

#define RS_NO_NODE G_MAXUINT32

/* A child and its parent in a tree. */
typedef struct rs_parent {
    guint32 child, parent; /* nodes */
} rs_parent;

typedef struct rs_tree {
    guint32 root;    /* node */
    GArray *parents; /* rs_parent, by child */
} rs_tree;

void
rs_tree_free(rs_tree *tree);

/* What one edge of a ring does in a step. */
typedef struct rs_hop {
    guint32 edge;
    rs_dist transfer;   /* ns, first to last packet of a step */
    rs_dist turnaround; /* ns, from what its sender received to what it sent */
} rs_hop;

/* The steps of a ring. */
typedef struct rs_steps {
    guint n;           /* of one collective; 0: not known, and nothing else holds
                             but `messages` and `step` */
    guint collectives; /* in each iteration */
    guint pieces;      /* messages on an edge in each step */
    guint messages;    /* on an edge in each iteration, median; 0: not seen */
    rs_dist step;      /* ns, from the start of one to the start of the next */
    guint64 checked, dependent; /* sends, and those after the receipt they depend on */
    GArray *hops;               /* rs_hop, in the order of the ring */
} rs_steps;

typedef struct rs_group {
    rs_shape_kind kind;
    GArray *nodes;     /* guint32, ascending */
    GArray *edges;     /* guint32 */
    guint32 center;    /* node that all has to do with; RS_NO_NODE: none */
    guint n_rings;     /* through each host; 0: no ring */
    GPtrArray *rings;  /* GArray of nodes, the least first; none where the order
                             cannot be told */
    GPtrArray *trees;  /* rs_tree */
    gboolean up, down; /* of a tree: towards the root, from it */
    guint queue_pairs; /* streams of data on each edge; 0: they differ */
    rs_steps steps;
} rs_group;

/* "ring", "all_to_all", ... */
const char *
rs_shape_name(rs_shape_kind kind);

/* The groups, the most data first; rs_group.  `rhythm` may be NULL. */
GPtrArray *
rs_groups_new(const rs_edges *edges, const rs_rhythm *rhythm,
              const roce_tracker *tracker);

/* Whether all hosts of a group do the same, so that they can be compared; of those that
 * send to one host, the senders. */
gboolean
rs_group_plays_alike(const rs_group *group, guint32 node);

/* The hop with the longest transfer in the median, the first of several; NULL: steps are
 * not known. */
const rs_hop *
rs_steps_slowest(const rs_steps *steps);

/* Whether no hop is much faster than that one. */
gboolean
rs_steps_are_alike(const rs_steps *steps);

/* ---- For the parts ---- */

/* A group while it is looked at; hosts are numbered from 0 here. */
typedef struct rs_graph {
    const rs_edges *edges;
    const rs_rhythm *rhythm; /* or NULL */
    const rs_group *group;
    guint n;
    guint32 *edge;   /* n * n: the edge from row to column; G_MAXUINT32 none */
    guint *out, *in; /* degrees */
} rs_graph;

/* The edge between two numbers of the graph; NULL: none. */
const rs_edge *
rs_graph_edge(const rs_graph *graph, guint from, guint to);

/* The iteration that a time lies in; 0 where there is no rhythm.  FALSE: in none. */
gboolean
rs_graph_iteration(const rs_graph *graph, guint64 time_ns, guint *iteration);

guint
rs_graph_n_iterations(const rs_graph *graph);

/* Splits the edges into rings through all hosts.  FALSE: they do not fall into any; TRUE
 * without `rings` where they do in several ways. */
gboolean
rs_rings_find(const rs_graph *graph, rs_group *group);

/* Finds one tree, or two. */
gboolean
rs_trees_find(const rs_graph *graph, rs_group *group);

void
rs_steps_find(const rs_graph *graph, rs_group *group);

#endif
