/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs of packets that are alike to whoever only counts them.
 *
 * Most packets of a stream differ from the one before in their PSN, their length and their
 * time alone.  Watchers that count packets by what does not change are told of many such at
 * once: of the newest, with how many it stands for and what they come to.
 *
 * The one rule: nothing is told differently, only later: a run ends with the first packet
 * of its stream that is not like it, and with the capture.
 */
#ifndef RS_RUNS_H
#define RS_RUNS_H

#include "sight.h"

#include <glib.h>

#define RS_RUNS_STREAMS                                                                \
    131072 /* streams that have runs: others' packets go one by one */

typedef struct rs_runs rs_runs;

/* Is told of packets: `sight->n` of them. */
typedef void (*rs_runs_tell)(gpointer ctx, const rs_sight *sight);

rs_runs *
rs_runs_new(rs_runs_tell tell, gpointer ctx);

void
rs_runs_free(rs_runs *runs);

/* Whether the packet joins the run of its stream, and needs to be told no more.  If not,
 * the run before it has been told. */
gboolean
rs_runs_join(rs_runs *runs, const rs_sight *sight);

/* A packet of this stream will come soon, see approach.h. */
void
rs_runs_approach(const rs_runs *runs, guint32 stream);

/* The packet, which has just been told, begins a run, if such packets come in runs. */
void
rs_runs_begin(rs_runs *runs, const rs_sight *sight);

/* Tells all runs, and ends them. */
void
rs_runs_end(rs_runs *runs);

#endif
