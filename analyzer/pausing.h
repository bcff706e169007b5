/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What pauses are like, and what they did: how long they lasted, who sent them, when a
 * watchdog would have fired, what they held back, what was sent although paused.
 *
 * The one rule: a packet is one that a pause stops if it is bound for the MAC address
 * that pauses; or, where that never is an end of any packet (a bridge's port), if it
 * leaves the other end of the link, as far as the capture tells which that is.  Of what
 * else is paused nothing is said.
 */
#ifndef RS_PAUSING_H
#define RS_PAUSING_H

#include "frames.h"
#include "passages.h"
#include "pausing_tree.h"
#include "spills.h"
#include "watchdog.h"

#include "roce/histogram.h"

#include <glib.h>

/* How soon a priority has to have stopped: IEEE 802.1Q 36.1.3.3 allows 614.4 ns from the
 * frame's arrival on.  A capture stands somewhere on the link, so there is the way there
 * and back in addition: a cable of up to 100 m, and what PHYs and error correction take
 * at both ends (annex O); and the frame that is being sent. */
#define RS_PAUSE_REACTION_NS 615
#define RS_PAUSE_CABLE_NS 1000
#define RS_PAUSE_PHY_NS 2000
#define RS_PAUSE_FRAME_BYTES 9238 /* 9,216 and what a frame takes on the wire besides */

/* What is known of one source of pauses beside the tracker's word. */
typedef struct rs_pause_watch {
    const rs_mac *mac;      /* NULL: no room for it */
    roce_histogram lengths; /* of its intervals; empty without the link's speed */
    rs_holds holds;         /* likewise */
    rs_frames xoff, late;   /* frames; of late ones the packets */
    guint64 frames_in, frames_out; /* as the capture file says it */
    guint64 first_start_ns;        /* of its first pause; 0: none */
    guint64 span_ns; /* how long the file of its point was captured, which may have few
                      * packets itself; once finished */

    /* What it stops; all 0 without the link's speed. */
    guint64 packets;
    rs_held held;
    GPtrArray *passages; /* rs_passage that it stops, longest held first; at the end */
    gboolean in_message; /* one of them was in the midst of a message at the end */
    guint64 latest_ns;   /* after the start of the pause came the last late packet */
    guint64 most_ns;     /* that a packet may come after it and be none */

    guint64 n_taken;    /* intervals taken over from the tracker */
    guint64 xoff_frame; /* of the pause that goes on */
    gboolean is_fine;   /* some stamp was no whole number of microseconds */
} rs_pause_watch;

/* When a stream first heard of congestion; frames are 0 for never. */
typedef struct rs_pause_marks {
    guint64 ce_frame, ce_ns;   /* the first data packet with CE */
    rs_data_psns ce;           /* the first of each space */
    guint64 cnp_frame, cnp_ns; /* the first CNP about its data */
} rs_pause_marks;

typedef struct rs_analysis rs_analysis;
typedef struct rs_pause_order rs_pause_order;

/* `analysis` has its tracker. */
rs_pausing *
rs_pausing_new(const rs_analysis *analysis);

void
rs_pausing_free(rs_pausing *pausing);

/* The tracker has just taken this packet. */
void
rs_pausing_packet(rs_pausing *pausing, const rs_sight *sight);

/* The tracker says this. */
void
rs_pausing_event(rs_pausing *pausing, const roce_event *event);

/* The tracker has finished. */
void
rs_pausing_finish(rs_pausing *pausing);

/* Of the tracker's pause source of that number. */
const rs_pause_watch *
rs_pausing_watch(const rs_pausing *pausing, guint32 pause);

/* Who sent the frames, and how that is known. */
rs_sender
rs_pausing_sender(const rs_pausing *pausing, guint32 pause,
                  rs_sender_evidence *evidence);

/* FALSE for a stream of which this point may see other packets than the next one does: it
 * goes several ways, and other points saw little of what was seen here. */
gboolean
rs_pausing_shows_way(const rs_pausing *pausing, const roce_stream *stream);

/* FALSE where several ports pause by one MAC address: what one of them stops and for how
 * long is not known then. */
gboolean
rs_pausing_is_one_port(const rs_pausing *pausing, guint32 pause);

/* In which priorities pauses held a stream up, a bit for each; once all has finished. */
guint8
rs_pausing_held(const rs_pausing *pausing, guint32 stream);

/* Whether something of what it stops was seen, and it is known what that is. */
gboolean
rs_pausing_knows_victims(const rs_pausing *pausing, guint32 pause);

/* The MAC address at the other end of the link, where that is known: the only one whose
 * packets go to or come from it, if one of both is a router's; or, of one that no packet
 * has, what rs_macs_stopped_end() says, and the other way round.  NULL: unknown. */
const rs_mac *
rs_pausing_partner(const rs_pausing *pausing, guint32 pause);

/* What came while it was paused. */
const rs_spills *
rs_pausing_spills(const rs_pausing *pausing);

/* What a stream was told of congestion. */
const rs_pause_marks *
rs_pausing_marks(const rs_pausing *pausing, guint32 stream);

const rs_macs *
rs_pausing_macs(const rs_pausing *pausing);
const rs_passages *
rs_pausing_passages(const rs_pausing *pausing);

/* Whether CE or the first pause came first; see pausing_order.h. */
const rs_pause_order *
rs_pausing_order(const rs_pausing *pausing, guint32 pause);

const rs_pause_tree *
rs_pausing_tree(const rs_pausing *pausing);

/* Packets that it had no room for. */
guint64
rs_pausing_overflow(const rs_pausing *pausing);

const rs_watchdog_preset *
rs_pausing_presets(const rs_pausing *pausing, guint *n);

#endif
