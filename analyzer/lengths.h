/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which lengths of a stream's packets came to its receiver, and whether the first longer one
 * never does: what a port on the way drops whose MTU is too small.
 *
 * The one rule: what was acknowledged has come.  A packet is stuck that rounds of
 * retransmission begin with, one after the other, to the last, and that nothing has acknowledged
 * since, while all before it was acknowledged, or NAKs ask for that very packet; it is longer
 * than what stands in front of it, or than what was sent behind it.  Of READs so is the response
 * that each round asks for first, while no READ asks for more.  SENDs, WRITEs and responses to
 * READs are looked at.
 */
#ifndef RS_LENGTHS_H
#define RS_LENGTHS_H

#include "sight.h"

#include <glib.h>

#define RS_LENGTHS_STREAMS 32768 /* watched; nothing is known of those behind them */

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

/* A packet that never comes. */
typedef struct rs_stuck {
    roce_space space;
    guint bytes;      /* its length, of IP */
    guint came_bytes; /* the longest that came before; 0: there was none */
    guint64 came;     /* packets before */
    guint rounds;     /* of retransmission that began with it, */
    guint asked_for;  /* by a NAK, or by a READ at once: something behind it came */
} rs_stuck;

/* Whether a stream stopped with the first packet of its length, by chance hardly. */
gboolean
rs_lengths_are_stuck(const rs_lengths *lengths, const roce_stream *stream,
                     rs_stuck *stuck);

/* The longest packet of a stream that is known to have come, in bytes of IP; 0: none. */
guint
rs_lengths_came(const rs_lengths *lengths, guint32 stream);

/* The longest packet of a stream that was seen, in bytes of IP; 0: none is known. */
guint
rs_lengths_longest(const rs_lengths *lengths, guint32 stream);

#endif
