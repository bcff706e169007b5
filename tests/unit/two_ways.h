/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A frame decoded both ways, the short one and from header to header.
 *
 * The one rule: what the short way takes is equal byte for byte, over whatever was there
 * before; and it takes all that has the shape of core/express.c.
 */
#ifndef TWO_WAYS_H
#define TWO_WAYS_H

#include "check.h"
#include "express.h"

#include <string.h>

/* Whether a packet that was decoded has the shape: by what the long way found out, so that
 * nothing of the short way is asked. */
static inline bool
two_ways_is_common(const roce_frame *frame, const roce_packet *p)
{
    if (frame->link != ROCE_LINK_ETHERNET || p->kind != ROCE_CLASS_ROCE ||
        p->outcome != ROCE_DECODED || !p->has_bth || p->is_grh || p->n_tunnels > 0 ||
        p->n_vlans > 1 || p->transport == ROCE_TRANSPORT_RD ||
        p->transport == ROCE_TRANSPORT_DC) {
        return false;
    }
    bool is_ipv4 = p->src.family == 4;
    const uint8_t *ip = frame->bytes + p->ip_offset;
    bool says_length = !is_ipv4 || ip[2] != 0 || ip[3] != 0;
    bool is_long_enough = p->uncut_bytes == 0 || p->end_offset == p->uncut_bytes;
    return says_length && is_long_enough && p->ip_offset == 14u + 4u * p->n_vlans &&
           p->bth_offset == p->ip_offset + (is_ipv4 ? 20 : 40) + 8;
}

/* False, after a failed check, when the ways part. */
static inline bool
two_ways_agree(const roce_frame *frame, const roce_ports *ports, bool *taken)
{
    roce_packet walked, got;
    memset(&walked, 0x5a, sizeof walked);
    memset(&got, 0xa5, sizeof got);
    roce_decode_walk(frame, ports, &walked);
    *taken = roce_decode_express(frame, ports, &got);
    if (!CHECK_INT(*taken, two_ways_is_common(frame, &walked)) ||
        (*taken && !CHECK(memcmp(&got, &walked, sizeof got) == 0))) {
        return false;
    }
    roce_decode(frame, ports, &got);
    return CHECK(memcmp(&got, &walked, sizeof got) == 0);
}

#endif
