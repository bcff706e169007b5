/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A packet that the tracker has just taken, and what is known of it by then.
 *
 * The one rule: it borrows.  What it points to is valid until the next packet, but for
 * the stream, which stays; and of that watchers read what never changes.  The tracker may
 * have gone on: what it knew by then stands in the sight itself.
 */
#ifndef RS_SIGHT_H
#define RS_SIGHT_H

#include "options.h"

#include "roce/icrc.h"
#include "roce/opcode.h"
#include "roce/packet.h"
#include "roce/relation.h"
#include "roce/stream.h"
#include "roce/train.h"

#include <glib.h>

/* What a stream had counted when a packet had come; of what only grows, the low half. */
typedef struct rs_counted {
    guint32 packets;
    guint32 data, ce; /* packets with data, and marked ones of them */
    guint32 cnps;     /* carried */
    guint32 resent;   /* by the requester */
    guint32 repeats;  /* packets that came more than once, for whatever reason */
} rs_counted;

/* Acknowledgements that the tracker has timed, of the requests of a stream. */
typedef struct rs_ack_times {
    guint64 n, sum_ns;
    guint64 ce; /* marked packets of the stream by then */
} rs_ack_times;

typedef struct rs_sight {
    const roce_frame *frame;
    const roce_packet *packet;
    const roce_stream *stream; /* NULL: it has none */
    const roce_sighting *sighting;
    const roce_opcode_info *info; /* of its opcode, if it has a BTH */
    rs_counted counted;           /* with this packet; valid if it has a stream */
    guint32 peer;                 /* of the stream, by then; or ROCE_NO_STREAM */
    roce_vantage vantage;         /* likewise */
    guint32 group;    /* the point, or the first of those that it shares streams with */
    guint64 link_bps; /* of its link; 0 unknown */
    rs_ack_times ack_times; /* the peer's, if this is an acknowledgement; else 0 */
    roce_icrc_status icrc;
    guint8 priority;     /* see rs_priority_of() */
    gboolean is_counted; /* in its stream */
    gboolean is_data;    /* and carries data of users' queue pairs */
    gboolean is_beside;  /* the train of its stream, which goes on, see trains.h */
    /* Watchers that count may be told of several like packets at once, the newest of which
     * is this one, see runs.h: how many, and what they come to.  Others are told of 1. */
    guint64 n, payload_bytes, wire_bytes;
    /* A frame of the stream that stood beside them (trains.h), was counted before and came
     * behind all of them; 0: none. */
    guint64 beside;
} rs_sight;

/* Packets of one stream that the tracker has taken together, one after the other: requests
 * or responses in sequence with data, alike but for what their cars have. */
typedef struct rs_train_sight {
    const roce_stream *stream;
    const roce_car *cars;
    guint n;
    gint64 psn; /* unwrapped, of the first */
    roce_space space;
    rs_counted before; /* of the stream; each packet adds to packets and data alone */
} rs_train_sight;

rs_counted
rs_counted_of(const roce_stream *stream);

static inline gboolean
rs_counted_equal(const rs_counted *a, const rs_counted *b)
{
    return a->packets == b->packets && a->data == b->data && a->ce == b->ce &&
           a->cnps == b->cnps && a->resent == b->resent && a->repeats == b->repeats;
}

/* Sets what follows from frame, packet and stream. */
void
rs_sight_complete(rs_sight *sight);

/* Of a packet that has an AETH and whose stream has a peer, which is this. */
void
rs_sight_take_peer(rs_sight *sight, const roce_stream *peer);

/* The priority, 0 to 7, by which switches queue a packet and PFC stops it (IEEE 802.1Q
 * 6.9.3): the PCP of its outermost VLAN tag; without one, or where the user told of a
 * DSCP map, what that map makes of the DSCP.  0 for what has neither. */
guint8
rs_priority_of(const roce_packet *packet, const rs_options *options);

#endif
