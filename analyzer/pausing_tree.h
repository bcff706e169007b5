/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which pause is the consequence of which.
 *
 * The one rule: two pauses are linked only by a stream that was seen to be stopped by
 * both, one hop after the other, and by time.
 *
 * A router takes a packet at the port with one MAC address and sends it on from another
 * one, with a hop limit lower by 1.  So where a stream was seen on its way to Y, and with
 * a hop limit lower by 1 on its way to X, there is one router in between; when X pauses
 * that router, what came by Y piles up there, until Y pauses whoever stands before it.  A
 * pause of Y that begins while X pauses is taken for X's consequence.
 *
 * What cannot be known: bridges leave MAC addresses and hop limits alone, so that of them
 * nobody can tell who stands behind whom.  A stream that is sprayed over several ways
 * shows one only where both points see the same packets.  Of points with different clocks
 * the order is what their stamps say.
 */
#ifndef RS_PAUSING_TREE_H
#define RS_PAUSING_TREE_H

#include "roce/tracker.h"

#include <glib.h>

typedef struct rs_pausing rs_pausing;

/* Another source whose pauses caused some. */
typedef struct rs_pause_cause {
    guint32 pause;     /* the tracker's number, as all of them here */
    guint64 intervals; /* of those that the tracker keeps, began in its pauses */
    guint64 paused_ns; /* in these */
} rs_pause_cause;

/* A source of pauses in the tree. */
typedef struct rs_pause_node {
    guint32 same_as;    /* where both ends of a link are points, the source that stands
                          * for both; else its own */
    GArray *causes;     /* rs_pause_cause, most first */
    guint32 *caused_by; /* of each interval that the tracker keeps; ROCE_NO_PAUSE */
    guint64 n_kept, kept_ns, caused_ns;
    gboolean is_open; /* one that may be their cause had paused by then, on a link of
                         * unknown speed: nobody knows whether it still did */
    guint32 root;     /* most of its pauses come down to this one; its own, where they
                          * have no cause; ROCE_NO_PAUSE: they go round in a circle */
    guint hops;       /* from there */
    GPtrArray *bystanders; /* rs_passage that it held, though bound for other hosts than
                            * the one that is the root; longest held first */
} rs_pause_node;

/* Ports that wait for each other, round and round. */
typedef struct rs_pause_cycle {
    GArray *pauses; /* guint32, each the cause of the next, the last of the first */
    guint64 start_ns, end_ns; /* all of them paused */
} rs_pause_cycle;

typedef struct rs_pause_tree rs_pause_tree;

/* `pausing` has finished, but for the tree. */
rs_pause_tree *
rs_pause_tree_new(const rs_pausing *pausing, const roce_tracker *tracker);

void
rs_pause_tree_free(rs_pause_tree *tree);

const rs_pause_node *
rs_pause_tree_node(const rs_pause_tree *tree, guint32 pause);

/* The circle in which all waited for the longest time; NULL: none. */
const rs_pause_cycle *
rs_pause_tree_cycle(const rs_pause_tree *tree);

#endif
