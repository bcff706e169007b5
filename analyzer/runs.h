/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs of packets that are alike.
 *
 * Most packets of a stream differ from the one before in their PSN, their length and their
 * time alone.  Where there are many streams, what watchers keep of one is far away in
 * memory whenever a packet of it comes; so packets that are alike wait beside each other,
 * and watchers are told of some at a time:
 *
 *   steps   of each packet, in the order of its stream; where packets come one by one
 *           between trains and events, which end their wait, without any
 *   counts  of the newest, with how many it stands for and what they come to
 *
 * The one rule: nothing is told differently, only later.  A run ends with the first packet
 * of its stream that is not like it, and with the capture; but what stands beside a train
 * (trains.h) leaves it open: it is told when what waits has been.
 */
#ifndef RS_RUNS_H
#define RS_RUNS_H

#include "sight.h"
#include "window.h"

#include <glib.h>

#define RS_RUNS_STREAMS 65536 /* streams that have runs: others' packets do not wait */
/* Streams that end before had not been worth it. */
#define RS_RUNS_LEAST_PACKETS 5

typedef struct rs_runs rs_runs;

/* Who is told. */
typedef struct rs_runs_listener {
    void (*step)(gpointer ctx, const rs_sight *sight);
    void (*count)(gpointer ctx, const rs_sight *sight);
    void (*train)(gpointer ctx,
                  const rs_train_sight *train); /* steps, some at a time */
    gpointer ctx;
} rs_runs_listener;

rs_runs *
rs_runs_new(const rs_runs_listener *listener);

void
rs_runs_free(rs_runs *runs);

/* A packet of this stream will come soon, see approach.h. */
void
rs_runs_approach(const rs_runs *runs, guint32 stream);

/* Whether the packet joins the run of its stream, and will be told with it.  If not, that
 * run has been told. */
gboolean
rs_runs_join(rs_runs *runs, const rs_sight *sight);

/* The packet, which has just been told, begins a run, if such packets come in runs. */
void
rs_runs_begin(rs_runs *runs, const rs_sight *sight);

/* Tells a train, which goes on with a run: its stream has one that is open, its packets are
 * like it, and it has counted nothing since but them, and what stands beside. */
void
rs_runs_train(rs_runs *runs, const rs_train *train, const roce_car *cars);

/* Tells the steps that wait of a stream; there may be none. */
void
rs_runs_tell_steps(rs_runs *runs, guint32 stream);

/* Tells all runs, and ends them. */
void
rs_runs_end(rs_runs *runs);

#endif
