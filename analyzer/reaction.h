/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a sender's rate does after CNPs.
 *
 * A rate is taken inside messages, where a NIC sends as fast as it may: IP payload of
 * RS_RATE_PACKETS packets over the time from each one's predecessor in its message.  What
 * an application leaves idle between messages plays no part, nor does a single stop
 * within one, as a pause makes it.  Before the first CNP about a stream
 * the newest RS_RATE_MEMORY packets from which a rate may be taken are remembered, and they
 * are measured when there is a CNP, which most streams never have: a window's, and enough
 * before them to tell stops by.
 *
 * The one rule: a rate that the stamps cannot tell is not told.  Where half of the packets
 * of a window have the stamp of their predecessor there is no rate.
 */
#ifndef RS_REACTION_H
#define RS_REACTION_H

#include "occurrence.h"
#include "sight.h"

#include <glib.h>

#define RS_RATE_PACKETS 16
#define RS_RATE_MEMORY 64
#define RS_REACTION_STREAMS 4096 /* the first so many that carry long messages */
#define RS_CNP_BURSTS 32         /* kept of each stream */

/* CNPs about one stream that follow each other within 200 us, or four pacing intervals if
 * that is longer.  Rates in bit/s of IP payload, 0 where unknown. */
typedef struct rs_cnp_burst {
    guint64 start_ns, end_ns; /* its first CNP, its last */
    guint64 cnps;
    guint64 first_frame, last_frame; /* likewise */
    /* Those in front of them that came when nobody knew yet whose data they were about, and
     * the first of those; 0 of them, as a rule. */
    guint64 unheard, unheard_start_ns, unheard_frame;
    guint64 before_bps; /* when it began, with what was unheard of it */
    guint64
        heard_bps; /* when its first CNP came that was known to be about the stream */
    guint64 lowest_bps;               /* of windows that lie behind its first CNP */
    guint64 lowest_before_second_bps; /* and end before its second CNP */
    guint64 recovery_ns; /* from its first CNP until 95 % of before, after the last CNP;
                          * 0: not reached, or the rate never fell below */
    guint64 windows;     /* measured behind its first CNP */
    guint64 bits;        /* of data, from its first CNP to its last */
    guint64 shortest_window_ns; /* that a rate of it was taken from */
} rs_cnp_burst;

/* The burst with what was unheard of it, as a report has it; its first cut is not known then,
 * and lowest_before_second_bps 0. */
rs_cnp_burst
rs_cnp_burst_whole(const rs_cnp_burst *burst);

typedef struct rs_reactions rs_reactions;

rs_reactions *
rs_reactions_new(void);

/* NULL is fine. */
void
rs_reactions_free(rs_reactions *reactions);

/* Each packet, in the order of its stream. */
void
rs_reactions_packet(rs_reactions *reactions, const rs_sight *sight);

/* The same for the packets of a train. */
void
rs_reactions_train(rs_reactions *reactions, const rs_train_sight *train);

/* A train of this stream will come soon, see approach.h. */
void
rs_reactions_approach(const rs_reactions *reactions, guint32 stream);

/* The same, once that has come near. */
void
rs_reactions_approach_intervals(const rs_reactions *reactions, guint32 stream);

/* Each packet when it comes, before rs_reactions_packet(): one that begins a message has its
 * stream followed, while there is room. */
void
rs_reactions_meet(rs_reactions *reactions, const rs_sight *sight);

/* A CNP about the data of a stream. */
void
rs_reactions_cnp(rs_reactions *reactions, const rs_occurrence *cnp);

/* A CNP of which nobody knows yet what data it is about: what its carrier answers, as may turn
 * out.  How fast that was is noted when the first of a carrier comes. */
void
rs_reactions_open_cnp(rs_reactions *reactions, const rs_occurrence *cnp);

/* Rates over windows so short that stamps of this resolution do not tell are given up.
 */
void
rs_reactions_finish(rs_reactions *reactions, guint64 resolution_ns);

/* The bursts of a stream, the first RS_CNP_BURSTS; NULL when it was not followed or there are
 * none.  `n_all` counts those that were not kept, too. */
const rs_cnp_burst *
rs_reactions_bursts(const rs_reactions *reactions, guint32 stream, guint *n,
                    guint64 *n_all);

/* Streams that would have been followed, were there not so many. */
guint64
rs_reactions_not_followed(const rs_reactions *reactions);

#endif
