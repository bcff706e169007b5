/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A packet of a train, when it comes: what those want of it who look at what streams come
 * to together, see window.h.
 *
 * The one rule: it carries data of users' queue pairs in sequence, unmarked, and what is
 * known of its stream from packets that came by themselves holds for it.
 */
#ifndef RS_GLIMPSE_H
#define RS_GLIMPSE_H

#include "roce/stream.h"

#include <glib.h>

/* What those know of a stream who have glimpses of its packets: theirs alone, zeroes before
 * the first. */
typedef struct rs_face rs_face;

typedef struct rs_glimpse {
    const roce_stream *stream;
    rs_face *face; /* of that */
    guint64 time_ns, frame;
    guint32 repeats; /* as in rs_counted */
    guint32 payload_bytes, wire_bytes;
    guint16 behind; /* so many slots of the window */
    guint8 opcode, traffic_class, hop_limit;
    guint8 cut;          /* by the snap length */
    guint8 has_identity; /* it is to be looked for at other points */
} rs_glimpse;

/* The rest of it, for those few who want more. */
typedef struct rs_glance {
    gint64 psn, acked_until; /* unwrapped */
    guint32 acknowledges;    /* the stream whose requests before `acked_until` it is the
                              * first to acknowledge, or ROCE_NO_STREAM */
    guint8 space, priority, direction;
    guint8 vantage; /* of the stream, by then */
    guint8 dst_mac[6], src_mac[6];
} rs_glance;

#endif
