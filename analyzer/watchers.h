/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who looks at packets and events beside the tracker: one watcher for each topic of the
 * report.
 *
 * Most packets are like the one before of their stream, and not every watcher has to be told
 * of each of these by itself.  So a watcher has, of the following functions, those that it
 * needs; watchers.c says when they are called:
 *
 *   _meet      each packet that is not of a train (trains.h), in the order of all packets
 *   _step      likewise, in the order of its stream alone: it may have waited (runs.h)
 *   _train     the packets of a train
 *   _packet    packets as the watcher wants them: each; or, for one who only counts, one
 *              that stands for several (`n` of rs_sight)
 *   _glimpse   each packet of a train, when it comes; of any other, _packet tells
 *   _event     what the tracker says, when it says so
 *   _approach  nothing yet: what the watcher keeps is brought near (approach.h)
 *   _finish    the capture has ended
 *
 * The one rule: a watcher sees what the tracker has taken, in the tracker's order, and
 * changes nothing of it; watchers do not know one another before the capture has ended.
 */
#ifndef RS_WATCHERS_H
#define RS_WATCHERS_H

#include "background.h"
#include "bursts.h"
#include "collective.h"
#include "congestion.h"
#include "dcb.h"
#include "flowlets.h"
#include "incast.h"
#include "lengths.h"
#include "nics.h"
#include "occurrence.h"
#include "odd_frames.h"
#include "paths.h"
#include "pausing.h"
#include "ports.h"
#include "priorities.h"
#include "psn_plot.h"
#include "receiver.h"
#include "runs.h"
#include "sight.h"
#include "stalls.h"
#include "stretches.h"
#include "timeline.h"
#include "window.h"

#include "roce/tracker.h"

#include <glib.h>

typedef struct rs_analysis rs_analysis;

/* Two parts that know nothing of one another, so that they can be told apart, and each
 * from a thread of its own. */
typedef enum rs_watch_parts {
    RS_WATCH_NETWORK = 1, /* what streams come to together */
    RS_WATCH_STREAMS = 2, /* what becomes of each, and of what is of none */
    RS_WATCH_EVERYTHING = RS_WATCH_NETWORK | RS_WATCH_STREAMS,
} rs_watch_parts;

/* One of each, from the first packet on. */
typedef struct rs_watchers {
    rs_runs *runs;         /* of packets that are alike */
    gboolean pauses_known; /* there was one: from then on the order of packets counts */
    rs_timeline *timeline;
    rs_odd_frames odd_frames;
    rs_congestion *congestion;
    rs_background *background; /* NULL without nDPI */
    rs_nics *nics;
    rs_incast *incast;
    rs_receivers *receivers;
    rs_stalls *stalls;
    rs_stretches *stretches;
    rs_lengths *lengths;
    rs_ports *ports;
    rs_flowlets *flowlets;
    rs_bursts *bursts;
    rs_dcb *dcb;
    rs_priorities *priorities;
    rs_paths *paths;
    rs_pausing *pausing;
    rs_collective *collective;
    rs_psn_plot *psn_plot; /* NULL unless the options want it */
} rs_watchers;

/* NULL beyond the bounds, and before it was looked for. */
struct rs_face {
    rs_incast_sender *sender;
    rs_burst_aim *aim;
    rs_collective_stream collective;
};

/* `analysis` has its tracker, and outlives the watchers. */
void
rs_watchers_init(rs_watchers *watchers, const rs_analysis *analysis);

void
rs_watchers_clear(rs_watchers *watchers);

/* This packet will come soon, see approach.h; and once what that asked for has come near. */
void
rs_watchers_approach(const rs_watchers *watchers, rs_watch_parts parts,
                     const rs_sight *sight);
void
rs_watchers_approach_more(const rs_watchers *watchers, rs_watch_parts parts,
                          const rs_sight *sight);

/* A train of this stream will come soon: in steps, each of which takes what the one before
 * has brought near. */
#define RS_APPROACH_STEPS 3

void
rs_watchers_approach_train(const rs_watchers *watchers, rs_watch_parts parts,
                           guint32 stream, guint64 time_ns, guint step);

/* The tracker has taken this packet. */
void
rs_watchers_packet(rs_watchers *watchers, rs_watch_parts parts, const rs_sight *sight);

/* Packets of trains have come, n of them one after the other; behind those it is known who
 * comes later, `n_known` in all. */
void
rs_watchers_glimpses(rs_watchers *watchers, rs_watch_parts parts,
                     const rs_glimpse *glimpses, const rs_glance *glances, guint n,
                     guint n_known);

/* The tracker has taken this train, whose first car is at `cars`. */
void
rs_watchers_train(rs_watchers *watchers, rs_watch_parts parts, const rs_train *train,
                  const roce_car *cars);

/* The tracker has said this, while it took a packet or finished. */
void
rs_watchers_event(rs_watchers *watchers, rs_watch_parts parts,
                  const rs_occurrence *occurrence);

/* The tracker has finished; the analysis knows all but its findings. */
void
rs_watchers_finish(rs_watchers *watchers, const rs_analysis *analysis);

#endif
