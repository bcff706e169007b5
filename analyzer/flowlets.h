/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Order within a stream: idle gaps that cut it into flowlets, how late late packets are,
 * and whether its packets are sprayed over several paths.
 *
 * A switch that moves a flow to another path after a gap reorders nothing if the gap is
 * longer than paths differ.  By how much they differ shows in the lateness of late
 * originals: the time from the packet that first passed one until it came.
 *
 * The one rule: gaps and lateness are what the point saw.  Behind queues gaps are shorter
 * or longer than where they were sent; in front of the paths nothing is late yet.
 */
#ifndef RS_FLOWLETS_H
#define RS_FLOWLETS_H

#include "sight.h"

#include "roce/event.h"

#include <glib.h>

/* Intervals that gaps are counted for: 1 us times a power of two, up to 32.768 ms. */
#define RS_FLOWLET_RUNGS 16
#define RS_FLOWLET_LEAST_NS 1000

/* Late originals from which on a receiver that never complained is known to take packets
 * out of order: one or two NAKs may have been lost, or not captured. */
#define RS_SPRAY_LATE 3
/* WRITE Only packets that continue each other, from which on, and of all packets with
 * data which share, messages are known to be sent as WRITE Only packets. */
#define RS_SPRAY_WRITES 16
#define RS_SPRAY_WRITE_PERCENT 90

/* Whether and how packets of a stream came out of order. */
typedef enum rs_order {
    RS_ORDER_IN_ORDER,     /* nothing was late */
    RS_ORDER_OUT_OF_ORDER, /* late ones were taken without a NAK: made for several paths */
    RS_ORDER_GO_BACK_N,    /* they cost NAKs, and all from there was sent again */
    RS_ORDER_SELECTIVE,    /* they cost NAKs, and what they asked for was sent again */
    RS_ORDER_UNDECIDABLE, /* too few, or the receiver's answers are not known */
    RS_N_ORDERS,
} rs_order;

typedef struct rs_flowlets rs_flowlets;

typedef struct rs_flowlet_stream {
    guint64 packets; /* all of the stream but CNPs */
    guint64 data_packets;
    guint64 gaps[RS_FLOWLET_RUNGS];       /* at least so long; flowlets are one more */
    guint64 late;                         /* originals that others had passed */
    guint64 late_timed;                   /* of those, how late is known */
    guint64 late_after[RS_FLOWLET_RUNGS]; /* of those, passed by one behind each gap */
    guint64 lateness_ns;                  /* the longest */
    guint64 chained_writes; /* WRITE Only packets that go on at their neighbour's end */
} rs_flowlet_stream;

/* The same of several streams. */
typedef struct rs_flowlet_sum {
    guint64 packets, late, late_timed, lateness_ns;
    guint64 gaps[RS_FLOWLET_RUNGS], late_after[RS_FLOWLET_RUNGS];
} rs_flowlet_sum;

rs_flowlets *
rs_flowlets_new(void);

void
rs_flowlets_free(rs_flowlets *flowlets);

/* The tracker has just taken this packet. */
void
rs_flowlets_packet(rs_flowlets *flowlets, const rs_sight *sight);
/* The same for the packets of a train. */
void
rs_flowlets_train(rs_flowlets *flowlets, const rs_train_sight *train);

/* A train of this stream will come soon, see approach.h. */
void
rs_flowlets_approach(const rs_flowlets *flowlets, guint32 stream);
/* The same, once that has come near. */
void
rs_flowlets_approach_gaps(const rs_flowlets *flowlets, guint32 stream);

/* The tracker says this, while it takes a packet or finishes. */
void
rs_flowlets_event(rs_flowlets *flowlets, const roce_event *event);

/* What is known of a stream; FALSE: nothing, since it is beyond the bound, or without any
 * packet but CNPs. */
gboolean
rs_flowlets_get(const rs_flowlets *flowlets, guint32 stream, rs_flowlet_stream *of);

/* Adds what one stream has to a sum over several: counts, and the longest lateness. */
void
rs_flowlets_add(rs_flowlet_sum *sum, const rs_flowlet_stream *one);

/* Streams beyond the bound. */
guint64
rs_flowlets_omitted(const rs_flowlets *flowlets);

static inline guint64
rs_flowlet_rung_ns(guint rung)
{
    return (guint64)RS_FLOWLET_LEAST_NS << rung;
}

/* The least rung that is longer than a lateness; RS_FLOWLET_RUNGS: none is. */
guint
rs_flowlet_rung_above(guint64 lateness_ns);

rs_order
rs_flowlet_order(const rs_flowlet_stream *flowlets, const roce_stream *stream);

/* Whether messages are sent as chains of WRITE Only packets, each of which says where its
 * data belongs, as NICs send that expect several paths. */
gboolean
rs_flowlet_writes_only(const rs_flowlet_stream *flowlets);

/* "in_order", "out_of_order", "go_back_n", "selective", "undecidable". */
const char *
rs_order_name(rs_order order);

#endif
