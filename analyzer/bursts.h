/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Micro-bursts: what goes to one destination faster than a chosen rate, at the scale of
 * microseconds, which no counter of a switch shows.
 *
 * Time is cut into windows of RS_BURST_WINDOW_NS, numbered since 1970.  A window is hot
 * when the frames to a destination that stamps put into it took at least the chosen rate on
 * the link, each with its FCS, preamble and gap; a burst is a run of hot windows.
 *
 * The one rule: no window is finer than stamps can tell: where one is not at least
 * RS_BURST_STAMPS times as long as the resolution of the stamps, nothing is said.  A burst
 * shorter than two windows may lie across their border and be missed.
 */
#ifndef RS_BURSTS_H
#define RS_BURSTS_H

#include "destinations.h"
#include "glimpse.h"
#include "sight.h"

#include <glib.h>

/* 125 kB at 100 Gb/s: what the buffer of a port takes without a mark, or just not. */
#define RS_BURST_WINDOW_NS 10000
#define RS_BURST_STAMPS 10
/* Of the link's speed, where the user chose no rate.  Whole frames do not fill a window
 * quite, and pacing at the link's speed stays a little below it. */
#define RS_BURST_PERCENT 80
/* FCS, preamble and least gap of a frame on Ethernet. */
#define RS_FRAME_OVERHEAD_BYTES 24

#define RS_BURSTS_KEPT 16 /* of each destination, the longest */

typedef struct rs_bursts rs_bursts;

typedef struct rs_burst {
    guint64 start_ns, end_ns; /* of its first and behind its last window */
    guint64 bytes;            /* on the link */
    guint64 peak_bytes;       /* in one window */
    guint64 frame;            /* its first */
} rs_burst;

/* A destination at a point.  Without a rate (0) windows and bursts are none. */
typedef struct rs_burst_target {
    rs_destination at;
    guint64 rate_bps;   /* chosen; 0: the link's speed is not known, nor was one told */
    gboolean rate_told; /* by the user */
    guint64 peak_bytes; /* in one window, hot or not */
    guint64 peak_ns;    /* when that window began */
    guint64 n_bursts, burst_bytes, longest_ns;
    guint64 bytes;   /* all, on the link */
    GArray *longest; /* rs_burst: the longest, in order of time */
} rs_burst_target;

/* `told_bps` is the rate that the user chose, or 0. */
rs_bursts *
rs_bursts_new(guint64 told_bps);

void
rs_bursts_free(rs_bursts *bursts);

/* The tracker has just taken this packet. */
void
rs_bursts_packet(rs_bursts *bursts, const rs_sight *sight);

/* A destination as it is watched; as long as the bursts. */
typedef struct rs_burst_aim rs_burst_aim;

/* That of a stream; NULL beyond the bound.  `link_bps` is that of its link, of no meaning
 * where some packet of the stream has come. */
rs_burst_aim *
rs_bursts_aim_of(rs_bursts *bursts, const roce_stream *stream, guint64 link_bps);

void
rs_bursts_glimpse(rs_burst_aim *aim, const rs_glimpse *glimpse);

/* The capture has ended; its stamps are no finer than `resolution_ns`. */
void
rs_bursts_finish(rs_bursts *bursts, guint64 resolution_ns);

/* Whether stamps are fine enough; if not, the targets mean nothing. */
gboolean
rs_bursts_known(const rs_bursts *bursts);

guint
rs_bursts_n_targets(const rs_bursts *bursts);
const rs_burst_target *
rs_bursts_target_at(const rs_bursts *bursts, guint i);

/* The rate, in bit/s, of so many bytes in one window. */
static inline guint64
rs_burst_bps(guint64 window_bytes)
{
    return window_bytes * 8 * (G_GUINT64_CONSTANT(1000000000) / RS_BURST_WINDOW_NS);
}

/* Streams to destinations beyond the bound. */
guint64
rs_bursts_omitted(const rs_bursts *bursts);

#endif
