/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In which priorities RoCE data rides, and whether tag and DSCP agree on it, stay what
 * they were, and are the same for all of a stream.
 *
 * The one rule: data are packets with payload of connected services.  CNPs and
 * acknowledgements may ride in another class on purpose; UD may send each message in its
 * own, and connection management does.
 */
#ifndef RS_PRIORITIES_H
#define RS_PRIORITIES_H

#include "frames.h"
#include "sight.h"

#include <glib.h>

/* Streams that are watched; data of others count for points alone. */
#define RS_PRIORITIES_STREAMS 262144
#define RS_PRIORITIES_POINTS 256
#define RS_PRIORITIES_DSCPS 4 /* told apart of one stream */

typedef struct rs_priorities rs_priorities;

/* RoCE data in one priority at one point. */
typedef struct rs_priority_data {
    guint64 packets, bytes; /* bytes on the wire */
    rs_frames frames;
} rs_priority_data;

typedef struct rs_point_priorities {
    rs_priority_data data[8];
    guint64 tagged;                     /* data packets with a VLAN tag */
    guint64 untagged_dscps[RS_N_DSCPS]; /* the others */
    guint64 pcps[8][RS_N_DSCPS];        /* of them, by PCP and DSCP */
    rs_frames disagreeing; /* whose PCP is not what the map makes of the DSCP */
} rs_point_priorities;

/* What changed about the data of a stream. */
typedef struct rs_priority_changes {
    guint64 changes; /* how often a packet had another DSCP than the one before */
    guint64 before_change, at_change; /* frames around the first change; 0: none */
    guint64 before_second, at_second; /* likewise of priorities */
} rs_priority_changes;

/* The data of one stream. */
typedef struct rs_stream_priorities {
    guint8 priorities; /* bit n: priority n was seen */
    guint8 named;      /* likewise: the DSCP that it is queued by names it */
    guint8 n_dscps;
    guint8 newest_dscp;
    gboolean more_dscps;               /* than are told apart: those count for none */
    guint8 dscps[RS_PRIORITIES_DSCPS]; /* in the order in which they came */
    guint64 dscp_packets[RS_PRIORITIES_DSCPS];
    guint64 newest_frame;
    rs_priority_changes *changed; /* NULL: nothing did */
} rs_stream_priorities;

/* `options` outlive it. */
rs_priorities *
rs_priorities_new(const rs_options *options);

void
rs_priorities_free(rs_priorities *priorities);

/* Whether packets like this one are only counted: no more frames of theirs are named. */
gboolean
rs_priorities_only_count(const rs_priorities *priorities, const rs_sight *sight);

void
rs_priorities_packet(rs_priorities *priorities, const rs_sight *sight);

/* NULL: no RoCE data at this point, or a point beyond RS_PRIORITIES_POINTS. */
const rs_point_priorities *
rs_priorities_point(const rs_priorities *priorities, guint32 point);

/* NULL: no data, no connected service, or a stream beyond RS_PRIORITIES_STREAMS. */
const rs_stream_priorities *
rs_priorities_stream(const rs_priorities *priorities, guint32 stream);

/* What changed about it; all zero where nothing did. */
const rs_priority_changes *
rs_priority_changes_of(const rs_stream_priorities *stream);

/* Whether a packet is data in the sense of the rule above. */
gboolean
rs_is_connected_data(const roce_packet *packet);

#endif
