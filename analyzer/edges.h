/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who sends data to whom, message by message.
 *
 * An edge is all that one host sends another, as one point sees it, over all of its
 * queue pairs; its ends are nodes, one for each host (tenant_addr.h).  Data flows along
 * it: what WRITEs and SENDs carry goes with the requests, what READs fetch comes with the
 * responses.
 *
 * The one rule: what was sent again is no new data.  Of each edge the first
 * RS_EDGE_MESSAGES messages are kept, RS_EDGES_MESSAGES of all; how many are not, is
 * counted.
 */
#ifndef RS_EDGES_H
#define RS_EDGES_H

#include "glimpse.h"
#include "sight.h"
#include "tenant_addr.h"

#include <glib.h>

#define RS_EDGES 16384         /* everyone of 128 hosts to everyone else */
#define RS_EDGES_STREAMS 65536 /* followed; packets of further ones are counted */
#define RS_EDGE_MESSAGES 16384
#define RS_EDGES_MESSAGES 524288

/* A WRITE in one packet without immediate data, no longer than this, is a signal: it
 * says something (a flag, a counter, a clear-to-send), and is not the data itself.
 * NCCL's clear-to-send is 32 or 64 bytes for each of up to 8 receives. */
#define RS_SIGNAL_BYTES 512

typedef enum rs_message_flag {
    RS_MESSAGE_IMMEDIATE = 1 << 0, /* its last packet has immediate data */
    RS_MESSAGE_SIGNAL = 1 << 1,    /* see RS_SIGNAL_BYTES */
    RS_MESSAGE_CUT = 1 << 2,       /* its first packet was not seen */
} rs_message_flag;

/* A message as its point saw it, from its first packet to its last. */
typedef struct rs_message {
    guint64 start_ns, end_ns;
    guint64 first_frame, last_frame;
    guint64 bytes; /* payload seen */
    guint32 packets;
    guint32 stream;
    guint32 flags; /* of rs_message_flag */
} rs_message;

typedef struct rs_edge {
    guint32 id; /* its number */
    guint32 point;
    guint32 src, dst;     /* nodes */
    guint64 bytes;        /* of data; signals and what was sent again apart */
    GArray *messages;     /* rs_message, in the order of their ends */
    guint64 not_kept;     /* messages beyond those */
    guint64 signals_kept; /* of the messages */
} rs_edge;

typedef enum rs_load_kind {
    RS_LOAD_NONE,   /* nothing new: no data, or a signal */
    RS_LOAD_DATA,   /* `bytes` of new data */
    RS_LOAD_RESENT, /* sent again, or delivered twice */
} rs_load_kind;

/* What a packet carried along which edge. */
typedef struct rs_load {
    rs_load_kind kind;
    guint32 edge;  /* valid unless NONE */
    guint32 bytes; /* of DATA; else 0 */
} rs_load;

typedef struct rs_edges rs_edges;

rs_edges *
rs_edges_new(void);

void
rs_edges_free(rs_edges *edges);

/* What is known of a stream; as long as the edges. */
typedef struct rs_edge_follower rs_edge_follower;

/* Who follows a stream; NULL: there is no room for it, nor will there be. */
rs_edge_follower *
rs_edges_follower(rs_edges *edges, const roce_stream *stream);

/* The edge that he follows it along. */
guint32
rs_edges_edge_of(const rs_edge_follower *follower);

/* A packet of that stream will come soon, see approach.h. */
void
rs_edges_approach(const rs_edge_follower *follower);

/* Takes the next packet in and says what it was. */
rs_load
rs_edges_packet(rs_edges *edges, const rs_sight *sight);
rs_load
rs_edges_glimpse(rs_edges *edges, rs_edge_follower *follower,
                 const rs_glimpse *glimpse);

/* One of a stream that nobody follows. */
void
rs_edges_omit(rs_edges *edges, const roce_stream *stream);

/* The capture has ended: from here on edges know all of their bytes. */
void
rs_edges_finish(rs_edges *edges);

guint
rs_edges_n(const rs_edges *edges);
const rs_edge *
rs_edges_at(const rs_edges *edges, guint i);

/* The hosts that edges begin or end at, numbered as they appeared. */
guint
rs_edges_n_nodes(const rs_edges *edges);
const rs_tenant_addr *
rs_edges_node(const rs_edges *edges, guint i);

/* The edge from one node to another at a point; NULL: there is none. */
const rs_edge *
rs_edges_find(const rs_edges *edges, guint32 point, guint32 src, guint32 dst);

/* One beyond the greatest point of an edge. */
guint32
rs_edges_n_points(const rs_edges *edges);

/* What there was no room for. */
typedef struct rs_edges_omitted {
    guint64 packets;  /* of streams beyond RS_EDGES_STREAMS */
    guint64 streams;  /* of edges beyond RS_EDGES */
    guint64 messages; /* beyond those that are kept */
} rs_edges_omitted;

const rs_edges_omitted *
rs_edges_get_omitted(const rs_edges *edges);

#endif
