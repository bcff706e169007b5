/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wire identity: what makes two captured frames copies of one packet.
 *
 * The one rule: addresses, IPv4 identification, lengths, ports, BTH and ICRC count; MAC,
 * VLAN, TTL, TOS, FECN and BECN, and whatever a mirror puts around the packet, play no
 * part, for they change on the way.  Where one of two copies was cut before its ICRC,
 * the rest decides alone.
 */
#ifndef ROCE_WIRE_IDENTITY_H
#define ROCE_WIRE_IDENTITY_H

#include "roce/linkage.h"
#include "roce/packet.h"

#include <stdbool.h>
#include <stdint.h>

ROCE_BEGIN

typedef struct roce_wire_identity {
    uint64_t narrow; /* of what every snap length keeps; never 0 */
    uint32_t icrc;   /* as stored, if `has_icrc` */
    bool has_icrc;
} roce_wire_identity;

/* `packet` is what roce_decode() says of the frame.  False, and *identity untouched, for
 * what is no IP packet and so has none. */
bool
roce_wire_identity_of(const roce_frame *frame, const roce_packet *packet,
                      roce_wire_identity *identity);

static inline bool
roce_wire_identity_equal(const roce_wire_identity *a, const roce_wire_identity *b)
{
    return a->narrow == b->narrow &&
           (!a->has_icrc || !b->has_icrc || a->icrc == b->icrc);
}

ROCE_END

#endif
