/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What came first at a congested switch, CE marks or the pause.
 *
 * The one rule: a switch marks a packet as it takes it in.  So the packets that had
 * passed before the first pause tell it: if none of them has CE behind the switch, it
 * paused before it marked anything.
 *
 * A switch is set well where xON < WRED minimum < WRED maximum < xOFF: it marks while
 * there is room, senders slow down, and pauses are left to what is too fast for that.
 */
#ifndef RS_PAUSING_ORDER_H
#define RS_PAUSING_ORDER_H

#include "pausing.h"

/* Within this time of the first CE a receiver has sent a CNP and it has come here: the
 * time that answers are looked for in core/congest.c. */
#define RS_ORDER_CNP_NS 200000

typedef enum rs_first {
    RS_FIRST_UNKNOWN, /* see rs_order_unknown */
    RS_FIRST_CE,
    RS_FIRST_PAUSE,
} rs_first;

typedef enum rs_order_unknown {
    RS_ORDER_KNOWN,
    RS_ORDER_NO_PAUSE,     /* nothing was paused */
    RS_ORDER_HOST,         /* a host pauses, and hosts do not mark */
    RS_ORDER_SENDER,       /* nobody knows whether it is a host, or which port */
    RS_ORDER_NO_DATA,      /* no data that it stops was seen before: the capture may
                              * begin in the pause */
    RS_ORDER_NOT_CAPABLE,  /* the data is not ECN-capable */
    RS_ORDER_OUT_OF_SIGHT, /* behind the switch nothing of it was captured, and no CNP
                              * came back */
    RS_N_ORDER_UNKNOWNS,
} rs_order_unknown;

struct rs_pause_order {
    rs_first first;
    rs_order_unknown unknown;
    guint64 pause_ns, pause_frame; /* the first pause */
    guint64 mark_ns, mark_frame; /* the first CE or CNP of what it stops, at any point;
                                    * frame 0: there is none */
};

/* For each source of pauses, the tracker's number as index; g_array_unref(). */
GArray *
rs_pause_orders_new(const rs_pausing *pausing, const roce_tracker *tracker);

/* "ce", "pause"; NULL for unknown. */
const char *
rs_first_name(rs_first first);
/* "no_pause", "host", "sender", "no_data", "not_ecn_capable", "out_of_sight"; NULL. */
const char *
rs_order_unknown_name(rs_order_unknown unknown);

#endif
