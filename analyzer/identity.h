/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wire identity: what makes two captured frames copies of one packet.
 *
 * The one rule: addresses, IPv4 identification, lengths, ports, BTH and ICRC count; MAC,
 * VLAN, TTL, TOS, FECN and BECN, and whatever a mirror puts around the packet, play no
 * part, for they change on the way.  Where one of two copies was cut before its ICRC,
 * the rest decides alone.
 */
#ifndef RS_IDENTITY_H
#define RS_IDENTITY_H

#include "roce/packet.h"

#include <glib.h>

typedef struct rs_identity {
    guint64 narrow; /* of what every snap length keeps; never 0 */
    guint32 icrc;   /* as stored, if `has_icrc` */
    gboolean has_icrc;
} rs_identity;

/* FALSE for what is no IP packet, and so has none. */
gboolean
rs_identity_of(const roce_frame *frame, const roce_packet *packet,
               rs_identity *identity);

static inline gboolean
rs_identity_equal(const rs_identity *a, const rs_identity *b)
{
    return a->narrow == b->narrow &&
           (!a->has_icrc || !b->has_icrc || a->icrc == b->icrc);
}

#endif
