/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a point learns of a copy that it saw, later on, and what that says of it if no point
 * behind saw it.
 *
 * The one rule: what comes first holds.  Of a copy that is sent again it is not known if it
 * or the other one was acknowledged; but that a requester went on without a response is
 * taken back when that is sent again.
 */
#ifndef RS_PATH_KNOWN_H
#define RS_PATH_KNOWN_H

#include <glib.h>

#define RS_KNOWN_FIRST (1u << 0)   /* its sender had not sent these PSNs before */
#define RS_KNOWN_ACKED (1u << 1)   /* acknowledged before it was sent again */
#define RS_KNOWN_GOT (1u << 2)     /* a response, and the requester went on */
#define RS_KNOWN_ASKED (1u << 3)   /* its receiver had waited for it, and asked again */
#define RS_KNOWN_RESENT (1u << 4)  /* sent again */
#define RS_KNOWN_REFUSED (1u << 5) /* beside that: its receiver was not ready */
/* Acknowledged, and sent again after that, as far as the point has seen all copies. */
#define RS_KNOWN_AFTER (1u << 6)

/* What became of a copy that did not come to a point. */
typedef enum rs_loss_state {
    RS_LOSS_OPEN,    /* nobody knows more */
    RS_LOSS_RESENT,  /* it was sent again later, for that or for what was before it */
    RS_LOSS_REFUSED, /* likewise, as the receiver was not ready, if it came or not */
    RS_LOSS_ASKED,   /* its receiver has not got it */
    RS_LOSS_MENDED,  /* likewise, and it was sent again */
    RS_LOSS_CAME,    /* it was acknowledged, or got: no loss at all */
    RS_N_LOSS_STATES,
} rs_loss_state;

/* Nothing that is learned later changes it. */
static inline gboolean
rs_known_is_final(guint8 known)
{
    return (known & (RS_KNOWN_ACKED | RS_KNOWN_RESENT)) != 0;
}

/* With what is learned: bits. */
static inline guint8
rs_known_with(guint8 known, guint8 bits)
{
    if ((known & RS_KNOWN_ACKED) != 0 && (bits & RS_KNOWN_RESENT) != 0) {
        return known | RS_KNOWN_AFTER;
    }
    gboolean holds = !rs_known_is_final(known) &&
                     (bits != RS_KNOWN_ACKED || (known & RS_KNOWN_FIRST) != 0);
    return holds ? (guint8)(known | bits) : known;
}

/* Of equal copies another one may have come, and is what was acknowledged. */
static inline rs_loss_state
rs_known_state(guint8 known, gboolean ambiguous)
{
    gboolean again = (known & RS_KNOWN_RESENT) != 0;
    if ((known & RS_KNOWN_ACKED) != 0) {
        return ambiguous ? RS_LOSS_OPEN : RS_LOSS_CAME;
    }
    if ((known & RS_KNOWN_ASKED) != 0) {
        return again ? RS_LOSS_MENDED : RS_LOSS_ASKED;
    }
    if (again) {
        return (known & RS_KNOWN_REFUSED) != 0 ? RS_LOSS_REFUSED : RS_LOSS_RESENT;
    }
    return (known & RS_KNOWN_GOT) != 0 && !ambiguous ? RS_LOSS_CAME : RS_LOSS_OPEN;
}

static inline gboolean
rs_loss_was_resent(rs_loss_state state)
{
    return state == RS_LOSS_RESENT || state == RS_LOSS_REFUSED ||
           state == RS_LOSS_MENDED;
}

/* Whether its receiver has not got it for certain, whatever the captures behind missed. */
static inline gboolean
rs_loss_is_certain(rs_loss_state state)
{
    return state == RS_LOSS_ASKED || state == RS_LOSS_MENDED;
}

#endif
