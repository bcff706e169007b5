/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The picture that an engineer draws of a queue pair: PSNs over time, with what was sent
 * again, what was asked for, and what was marked.
 *
 * The one rule: memory is bounded, and what is rare survives.  Of each kind of point every
 * n-th is kept, where n doubles when there is no more room; but around a fault (a gap, a
 * NAK, a round, a response sent again) every packet is kept, as long as there is room for
 * that.  Only the first RS_PSN_PLOT_STREAMS streams are drawn, since which of them are
 * worth a look is known only at the end.
 */
#ifndef RS_PSN_PLOT_H
#define RS_PSN_PLOT_H

#include "occurrence.h"
#include "sight.h"

#include <glib.h>

#define RS_PSN_PLOT_STREAMS 1024

/* Of one kind and stream; and of packets around faults. */
#define RS_PSN_PLOT_POINTS 512
#define RS_PSN_PLOT_DETAILS 1024
/* Packets before a fault and after it. */
#define RS_PSN_PLOT_AROUND 16

typedef enum rs_psn_kind {
    RS_PSN_REQUEST,         /* a packet of the stream's requests, first copy or not */
    RS_PSN_RESPONSE,        /* of its responses to the peer's requests */
    RS_PSN_ACK,             /* came for it: everything below `psn` has arrived */
    RS_PSN_RETRANSMISSION,  /* a request sent again */
    RS_PSN_RESPONSE_RESENT, /* response data sent again */
    RS_PSN_NAK,             /* came for it, and asks for `psn` or refuses it */
    RS_PSN_RNR_NAK,         /* came for it */
    RS_PSN_CNP,             /* came for it; has no PSN */
    RS_PSN_CE,              /* a data packet of it that is marked */
    RS_PSN_GAP,             /* `span` PSNs from `psn` on are found missing */
    RS_PSN_LATE,            /* a late original */
    RS_PSN_DUPLICATE,       /* the same packet again */
    RS_PSN_LOSS, /* a verdict that `span` packets from `psn` on did not arrive */
    RS_PSN_KINDS,
} rs_psn_kind;

typedef struct rs_psn_point {
    guint64 time_ns;
    guint64 frame;
    gint64 psn; /* unwrapped, or ROCE_NO_PSN */
    guint32 span;
    guint8 kind;   /* rs_psn_kind */
    guint8 space;  /* roce_space that the PSN is of */
    guint8 detail; /* as the event has it: cause, code, verdict */
} rs_psn_point;

typedef struct rs_psn_plot rs_psn_plot;

rs_psn_plot *
rs_psn_plot_new(void);

/* NULL is fine. */
void
rs_psn_plot_free(rs_psn_plot *plot);

/* The tracker has just taken this packet; its events were told before. */
void
rs_psn_plot_packet(rs_psn_plot *plot, const rs_sight *sight);

void
rs_psn_plot_event(rs_psn_plot *plot, const rs_occurrence *occurrence);

/* The points of a stream by time, each once; of one time, by frame and kind.  NULL where
 * nothing was kept of it.  g_array_unref() by the caller. */
GArray *
rs_psn_plot_points(const rs_psn_plot *plot, guint32 stream);

/* How many points of a kind there were, kept or not. */
guint64
rs_psn_plot_total(const rs_psn_plot *plot, guint32 stream, rs_psn_kind kind);

/* "request", "retransmission", "nak", ...; static. */
const char *
rs_psn_kind_name(rs_psn_kind kind);

#endif
