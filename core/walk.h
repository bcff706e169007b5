/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walk from a frame's first byte inwards, header by header.
 *
 * The one rule: a layer reads its own header, moves the cursor behind it and says what
 * follows; only the loop in decode.c goes on.  So nesting needs no recursion, and tunnels
 * are counted in one place.
 *
 * Bounds: the cursor ends where the tunnel around it ends, however long the frame is.  A
 * mirror may have cut what it carries, so inside one the wire's length is not known, and
 * what is missing counts as cut and never as malformed.
 */
#ifndef ROCE_CORE_WALK_H
#define ROCE_CORE_WALK_H

#include "cursor.h"
#include "roce/decode.h"

#define ROCE_ETHERTYPE_IPV4 0x0800
#define ROCE_ETHERTYPE_IPV6 0x86dd
#define ROCE_ETHERTYPE_VLAN 0x8100
#define ROCE_ETHERTYPE_QINQ 0x88a8
#define ROCE_ETHERTYPE_QINQ_OLD 0x9100
#define ROCE_ETHERTYPE_MPLS 0x8847
#define ROCE_ETHERTYPE_MPLS_MULTICAST 0x8848
#define ROCE_ETHERTYPE_BRIDGING 0x6558 /* an Ethernet frame, in GRE and Geneve */
#define ROCE_ETHERTYPE_ARISTA 0xd28b

static inline bool
roce_is_vlan_type(uint16_t type)
{
    return type == ROCE_ETHERTYPE_VLAN || type == ROCE_ETHERTYPE_QINQ ||
           type == ROCE_ETHERTYPE_QINQ_OLD;
}

#define ROCE_PROTOCOL_UDP 17
#define ROCE_PROTOCOL_GRE 47

#define UDP_LENGTH_AT 4 /* bytes into its header */

/* Bits of GRE that say which fields follow (RFC 2890). */
#define ROCE_GRE_KEY 0x2000
#define ROCE_GRE_SEQUENCE 0x1000

static inline bool
roce_is_port_of(const roce_ports *ports, uint16_t port)
{
    for (unsigned i = 0; i < ports->n_ports; i++) {
        if (ports->port[i] == port) {
            return true;
        }
    }
    return false;
}

#define ROCE_CLEAR_PIECE 64

/* Sets all of a packet to zero, padding too.  In pieces that become a few stores each: for
 * more at once GCC uses `rep stos`, whose start takes longer than all of a packet's
 * headers. */
static inline void
roce_packet_clear(roce_packet *p)
{
    uint8_t *at = (uint8_t *)p;
    memset(at, 0, ROCE_CLEAR_PIECE);
    memset(at + 1 * ROCE_CLEAR_PIECE, 0, ROCE_CLEAR_PIECE);
    memset(at + 2 * ROCE_CLEAR_PIECE, 0, ROCE_CLEAR_PIECE);
    memset(at + 3 * ROCE_CLEAR_PIECE, 0, ROCE_CLEAR_PIECE);
    memset(at + 4 * ROCE_CLEAR_PIECE, 0, ROCE_CLEAR_PIECE);
    memset(at + 5 * ROCE_CLEAR_PIECE, 0, sizeof *p - 5 * ROCE_CLEAR_PIECE);
    _Static_assert(sizeof *p > 5 * ROCE_CLEAR_PIECE &&
                       sizeof *p <= 6 * ROCE_CLEAR_PIECE,
                   "the last piece is what is left");
}

/* What comes next. */
typedef enum roce_layer {
    ROCE_LAYER_END, /* nothing: outcome and class are set */
    ROCE_LAYER_ETHERNET,
    ROCE_LAYER_IP, /* its version tells which */
    ROCE_LAYER_IPV4,
    ROCE_LAYER_IPV6,
    ROCE_LAYER_GRH,
    ROCE_LAYER_MAC_CONTROL,
    ROCE_LAYER_MPLS,
} roce_layer;

typedef struct roce_walk {
    roce_cursor c;
    const roce_ports *ports;
    roce_packet *p;
    uint32_t end;         /* of the innermost packet that states its length */
    uint32_t carried_end; /* of what the innermost mirror carries, or of the frame */
    uint8_t mirror_depth; /* p->n_tunnels right inside that mirror */
    bool is_bounded;      /* by the length of an IP packet */
    uint8_t taken_off; /* bytes of the mirrored frame that its header tells instead */
} roce_walk;

/* Ends the walk: not ours, unless the cursor says the frame was cut or wrong. */
static inline roce_layer
roce_walk_stop(const roce_walk *w)
{
    w->p->outcome = w->c.outcome == ROCE_DECODED ? ROCE_NOT_OURS : w->c.outcome;
    return ROCE_LAYER_END;
}

/* Ends the walk at what its headers contradict. */
static inline roce_layer
roce_walk_malformed(const roce_walk *w)
{
    w->p->outcome = ROCE_MALFORMED;
    return ROCE_LAYER_END;
}

/* decode.c */
/* What an ethertype announces, or END for nothing that is looked into. */
roce_layer
roce_layer_of_ethertype(uint16_t type);

/* network.c */
roce_layer
roce_walk_ipv4(roce_walk *w);
roce_layer
roce_walk_ipv6(roce_walk *w);
roce_layer
roce_walk_grh(roce_walk *w);
/* The bytes that the cursor has still to give, when the packet ends `left` bytes on. */
uint32_t
roce_walk_captured(const roce_walk *w, uint32_t left);

/* Keeps the cursor from reading beyond the packet that ends at w->end. */
static inline void
roce_walk_bound(roce_walk *w)
{
    if (w->end < w->c.wire) {
        w->c.wire = w->end;
    }
    if (w->c.captured > w->c.wire) {
        w->c.captured = w->c.wire;
    }
}

/* tunnel.c */
/* Steps into a tunnel, at the cursor: forgets what stood around it but for its ECN, and
 * goes on with `inside`.  Ends the walk where tunnels are nested too deeply. */
roce_layer
roce_tunnel_enter(roce_walk *w, roce_layer inside);
roce_layer
roce_tunnel_gre(roce_walk *w);
roce_layer
roce_tunnel_mpls(roce_walk *w);
/* Behind a UDP header to a port that is not RoCE's; `length` as that header says. */
roce_layer
roce_tunnel_udp(roce_walk *w, uint32_t length);

/* mirror.c */
typedef struct roce_gre {
    uint16_t protocol;
    bool has_sequence;
    uint32_t key; /* 0: none */
} roce_gre;

typedef enum roce_sight {
    ROCE_SIGHT_NO,
    ROCE_SIGHT_YES,
    ROCE_SIGHT_CUT, /* what would tell was not captured */
} roce_sight;

/* Whether an Ethernet frame of a sane type begins `ahead` bytes behind the cursor. */
roce_sight
roce_mirror_sees_ethernet(const roce_walk *w, uint32_t ahead);
/* Behind the GRE header of what may be a mirror. */
roce_layer
roce_mirror_gre(roce_walk *w, const roce_gre *gre);
/* Whether a mirror with this GRE header that was found to be of a kind is of that kind
 * whatever it carries, as long as that is IP in an Ethernet frame with the same MACs and
 * types. */
bool
roce_mirror_is_sure(roce_mirror_kind kind, uint16_t protocol, bool has_sequence);
/* A packet ends at `end` by its own header: did a mirror cut it? */
static inline void
roce_mirror_check(const roce_walk *w, uint32_t end)
{
    if (w->p->mirror.kind != ROCE_MIRROR_NONE && end > w->carried_end) {
        w->p->mirror.cut = true;
    }
}

/* An IP packet ends at w->end by its own header: if it is what the innermost mirror
 * carries, that tells how long the frame was. */
static inline void
roce_mirror_measure(const roce_walk *w)
{
    roce_packet *p = w->p;
    if (p->mirror.kind != ROCE_MIRROR_NONE && p->n_tunnels == w->mirror_depth) {
        p->mirror.wire_bytes = w->end - p->mirror.frame_offset + w->taken_off;
        roce_mirror_check(w, w->end);
    }
}

#endif
