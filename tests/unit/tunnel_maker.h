/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames with something around them: headers as literals, the lengths of the outermost
 * IP and UDP header filled in.
 *
 * The one rule: as in packet_maker.h, bytes stand as they are on the wire.
 */
#ifndef TUNNEL_MAKER_H
#define TUNNEL_MAKER_H

#include "packet_maker.h"

#define IS_IPIP "\x04"
#define IS_IP6IN "\x29"
#define IS_GRE "\x2f"

/* The mirrored or tunnelled frame: 14 Ethernet, 48 IPv4; its BTH at 42. */
#define FRAME MACS IS_IPV4 IPV4_RC_ACK
#define FRAME_SIZE 62
#define FRAME_IP_AT 14

#define GRE(flags, type) flags "\x00" type
#define GRE_PLAIN "\x00"
#define GRE_S "\x10"
#define GRE_K "\x20"
#define SEQUENCE "\x00\x00\x00\x07"

/* What stands before the row's own bytes. */
typedef struct outer {
    const char *name;
    uint8_t family;        /* of IP */
    uint8_t traffic_class; /* DSCP 10 and whatever ECN */
    uint32_t size;         /* with Ethernet, without UDP */
} outer;

static const outer outer_ipv4 = {"over IPv4", 4, 0x28, 34};
static const outer outer_ipv6 = {"over IPv6", 6, 0x28, 54};

/* MACs of its own and a VLAN's tag would leak; here are MACs. */
#define OUTER_MACS                                                                     \
    "\x02\x00\x00\x00\x00\xee"                                                         \
    "\x02\x00\x00\x00\x00\xdd"

/* Ethernet and IP before `n` bytes of a protocol.  The source is 192.0.2.1 or fc00::1. */
static inline void
put_outer(packet_maker *m, const outer *o, uint8_t protocol, uint32_t n)
{
    put_bytes(m, OUTER_MACS, 12);
    if (o->family == 4) {
        put_bytes(m, IS_IPV4 "\x45", 3);
        put_number(m, 1, o->traffic_class);
        put_number(m, 2, 20 + n);
        put_bytes(m, "\x00\x00\x40\x00\xff", 5);
        put_number(m, 1, protocol);
        put_bytes(m, "\xab\xcd\xc0\x00\x02\x01\xc0\x00\x02\x02", 10);
        return;
    }
    put_bytes(m, IS_IPV6, 2);
    put_number(m, 4, 0x60000000u | (uint32_t)o->traffic_class << 20);
    put_number(m, 2, n);
    put_number(m, 1, protocol);
    static const uint8_t addresses[33] = {0xff, 0xfc, [16] = 1, 0xfc, [32] = 2};
    put_bytes(m, addresses, sizeof addresses); /* hop limit, from, to */
}

/* The same with UDP to a port, or without where it is 0. */
static inline void
put_outer_udp(packet_maker *m, const outer *o, uint8_t protocol, uint16_t port,
              uint32_t n)
{
    if (port == 0) {
        put_outer(m, o, protocol, n);
        return;
    }
    put_outer(m, o, 17, n + 8);
    put_number(m, 2, 50000);
    put_number(m, 2, port);
    put_number(m, 2, n + 8);
    put_number(m, 2, 0);
}

#endif
