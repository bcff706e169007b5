/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which lengths of a stream's packets came to its receiver, and whether the first longer one
 * never does: what a port on the way drops whose MTU is too small.
 *
 * The one rule: what was acknowledged has come.  A packet is stuck that rounds of
 * retransmission begin with, one after the other, to the last, and that nothing has acknowledged
 * since, while all before it was acknowledged, or NAKs ask for that very packet; it is longer
 * than what stands in front of it, or than what was sent behind it.  Only SENDs and WRITEs are
 * looked at.
 */
#ifndef RS_LENGTHS_H
#define RS_LENGTHS_H

#include "sight.h"

#include <glib.h>

#define RS_LENGTHS_STREAMS 262144 /* watched; nothing is known of those behind them */
#define RS_LENGTHS_STEPS 3        /* of each stream: the newest ones */

typedef struct rs_length_step {
    gint64 psn;    /* the first packet that was as long */
    guint32 bytes; /* of IP */
} rs_length_step;

/* Of one stream at its point. */
typedef struct rs_lengths_stream {
    rs_length_step steps[RS_LENGTHS_STEPS]; /* each longer than the one before */
    guint8 n_steps;
    gboolean restarted; /* its PSNs began anew: nothing is said */
    guint32 rounds;    /* in a row that begin with one packet, not acknowledged since */
    guint32 asked_for; /* of these by a NAK: something behind it came */
    gint64 stuck_psn;  /* that packet; valid if rounds > 0 */
    gint64 first_psn;  /* of the first packet */
    guint32 least_bytes; /* the shortest of all; valid if n_steps > 0 */
    gint64 acked_until;  /* the newest acknowledgement came so far; ROCE_NO_PSN: none */
    gint64 nak_psn;      /* the newest sequence NAK asked for it; likewise */
    guint64 newest_ns;   /* the newest of them began, */
    guint64 waited_ns;   /* at most so long after the one before */
} rs_lengths_stream;

typedef struct rs_lengths rs_lengths;

rs_lengths *
rs_lengths_new(void);

/* NULL is fine. */
void
rs_lengths_free(rs_lengths *lengths);

/* An acknowledgement, in the order of all packets. */
void
rs_lengths_meet(rs_lengths *lengths, const rs_sight *sight);

void
rs_lengths_step(rs_lengths *lengths, const rs_sight *sight);

void
rs_lengths_train(rs_lengths *lengths, const rs_train_sight *train);

void
rs_lengths_event(rs_lengths *lengths, const roce_event *event);

/* NULL: nothing is known of it. */
const rs_lengths_stream *
rs_lengths_of(const rs_lengths *lengths, guint32 stream);

/* A packet that never comes. */
typedef struct rs_stuck {
    guint32 bytes;      /* its length, of IP */
    guint32 came_bytes; /* the longest that came before; 0: there was none */
    guint64 came;       /* packets before */
} rs_stuck;

/* Whether a stream stopped with the first packet of its length, by chance hardly. */
gboolean
rs_lengths_are_stuck(const rs_lengths *lengths, const roce_stream *stream,
                     rs_stuck *stuck);

/* The longest that is known to have come; 0: none. */
guint32
rs_lengths_came(const rs_lengths_stream *of);

#endif
