/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slow receiver or slow network: what held a stream's sender up, piece by piece.
 *
 * Of the receiver: RNR NAKs; credits that ran out while the sender waited for them; pauses
 * that its own NIC asked for; and, at its NIC, where no network is behind, ACKs that take
 * ever longer.  Of the network: CE marks, CNPs, losses.
 *
 * The one rule: a piece counts for the side that alone can have caused it.  ACKs that grow
 * slow elsewhere may be a queue that nobody marked: they are told and decide nothing.
 */
#ifndef RS_RECEIVER_H
#define RS_RECEIVER_H

#include "host_pauses.h"
#include "sight.h"

#include "roce/tracker.h"

#include <glib.h>

/* A sender that goes on so soon after credits came had been waiting for them: the round
 * trip of a large fabric, twice. */
#define RS_CREDIT_RESUME_NS 100000
/* An ACK is slow when it takes so many times, and so much, longer than the fastest did:
 * more than delayed or coalesced ACKs explain. */
#define RS_SLOW_ACK_RATIO 4
#define RS_SLOW_ACK_NS 50000

typedef enum rs_culprit {
    RS_CULPRIT_NONE, /* nothing held it up, as far as is seen here */
    RS_CULPRIT_RECEIVER,
    RS_CULPRIT_NETWORK,
    RS_CULPRIT_BOTH,
    RS_CULPRIT_UNDECIDABLE, /* something did, and it may have been either */
    RS_N_CULPRITS,
} rs_culprit;

/* About a stream's requests; of one that answers READs, about its data. */
typedef struct rs_receiver_evidence {
    rs_culprit culprit;
    guint64 rnr_naks, rnr_wait_ns; /* waits taken after them */
    guint64 acks_with_credits;     /* that set a limit */
    guint64 credits_out;           /* times that they fell to 0 */
    guint64 credit_waits, credit_wait_ns;
    guint64 credit_frame; /* the ACK that began the first wait; 0: none */
    guint64 host_pauses, host_pause_ns, host_held_ns; /* see rs_host_pause */
    gboolean host_pause_known;
    guint64 pause_frame;                /* the first; 0: none */
    guint32 paused_by[RS_HOST_SOURCES]; /* n_paused_by of the tracker's numbers */
    guint n_paused_by;
    guint64 ack_samples, fastest_ack_ns;
    guint64 slow_acks;        /* in groups of which even the fastest was slow */
    guint64 slow_acks_marked; /* of those, while CE marks came */
    gboolean at_receiver;     /* no network is behind this point */
    guint64 ce, cnps, lost;   /* lost: on the way, not inside the receiver */
    guint64 duration_ns;      /* of the stream; see rs_host_pause */
} rs_receiver_evidence;

typedef struct rs_receivers rs_receivers;

/* `tracker` outlives it. */
rs_receivers *
rs_receivers_new(const roce_tracker *tracker);

void
rs_receivers_free(rs_receivers *receivers);

/* A packet will come soon, see approach.h; and once what that asked for has come near. */
void
rs_receivers_approach(const rs_receivers *receivers, const rs_sight *sight);
void
rs_receivers_approach_times(const rs_receivers *receivers, const rs_sight *sight);

/* What each of these is told is said in watchers.h. */
void
rs_receivers_meet(rs_receivers *receivers, const rs_sight *sight);
void
rs_receivers_train(rs_receivers *receivers, const rs_train_sight *train);
void
rs_receivers_packet(rs_receivers *receivers, const rs_sight *sight);

/* The tracker says this, while it takes a packet or finishes. */
void
rs_receivers_event(rs_receivers *receivers, const roce_event *event);

/* The tracker has finished, and so have pauses; the NICs are known.  All outlive it. */
void
rs_receivers_finish(rs_receivers *receivers, const rs_nics *nics,
                    const rs_pausing *pausing);

/* After that, what there is about a stream; FALSE: it has no requests with an answer, or is
 * beyond the bound. */
gboolean
rs_receivers_get(const rs_receivers *receivers, guint32 stream,
                 rs_receiver_evidence *evidence);

/* For how long the receiver held the sender up, as far as it is known: no longer than the
 * stream lasts. */
guint64
rs_receiver_held_ns(const rs_receiver_evidence *evidence);

/* Streams beyond the bound. */
guint64
rs_receivers_omitted(const rs_receivers *receivers);

/* "none", "receiver", "network", "both", "undecidable". */
const char *
rs_culprit_name(rs_culprit culprit);

#endif
