/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a frame's first byte to its network header: link layers, VLAN tags, MAC control;
 * and the loop that walks from header to header, through tunnels as well, for what
 * express.c does not take.  IP, UDP and GRH are in network.c, tunnels in tunnel.c, mirrors
 * in mirror.c.
 *
 * Lengths are taken from the innermost header that states one, never from the frame:
 * short packets are padded, a snap length cuts the frame but not the packet, and some
 * mirrors leave the FCS behind it.  Where the headers promise more than the frame had on
 * the wire, the packet is malformed; but a mirror may have cut it, see walk.h.
 */
#include "roce/decode.h"

#include "express.h"
#include "roce/lldp.h"
#include "walk.h"

#include <string.h>

/* Protocols of PPP (IANA). */
#define PPP_IPV4 0x0021
#define PPP_IPV6 0x0057
#define PPP_MPLS 0x0281
#define PPP_MPLS_MULTICAST 0x0283

#define SLL_MULTICAST 2 /* to us 0, broadcast 1, multicast 2, to others 3 */
#define SLL_OUTGOING 4

#define ARISTA_TIMESTAMP 1 /* subtype */

void
roce_ports_init(roce_ports *ports)
{
    *ports = (roce_ports){.port = {ROCE_UDP_PORT}, .n_ports = 1};
}

int
roce_addr_compare(const roce_addr *a, const roce_addr *b)
{
    if (a->family != b->family) {
        return a->family < b->family ? -1 : 1;
    }
    return memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

roce_queued_by
roce_packet_queued_by(const roce_packet *packet)
{
    const uint8_t value = ROCE_OUTER - 1;
    bool has_outer = packet->outer_dscp != 0;
    roce_queued_by by = {
        .has_dscp = has_outer || packet->src.family != 0,
        .is_tagged = packet->outer_pcp != 0,
        .dscp = has_outer ? packet->outer_dscp & value : packet->traffic_class >> 2,
        .pcp = packet->outer_pcp & value,
    };
    if (!has_outer && !by.is_tagged && packet->n_vlans > 0) {
        by.is_tagged = true;
        by.pcp = (uint8_t)(packet->vlan_tci[0] >> 13);
    }
    return by;
}

roce_layer
roce_layer_of_ethertype(uint16_t type)
{
    static const struct {
        uint16_t type;
        roce_layer layer;
    } rows[] = {
        {ROCE_ETHERTYPE_IPV4, ROCE_LAYER_IPV4},
        {ROCE_ETHERTYPE_IPV6, ROCE_LAYER_IPV6},
        {ROCE_ETHERTYPE_V1, ROCE_LAYER_GRH},
        {ROCE_ETHERTYPE_MAC_CONTROL, ROCE_LAYER_MAC_CONTROL},
        {ROCE_ETHERTYPE_MPLS, ROCE_LAYER_MPLS},
        {ROCE_ETHERTYPE_MPLS_MULTICAST, ROCE_LAYER_MPLS},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].type == type) {
            return rows[i].layer;
        }
    }
    return ROCE_LAYER_END;
}

/* Arista switches put the time behind the source address, of what they mirror or tap, in
 * the manner of a tag ("Overview of Arista Timestamps"; tcpdump's print-arista.c): a
 * subtype, a version whose bits 7:4 tell the size of the time, and the time.  Returns
 * whether it was one. */
static bool
skip_arista_time(roce_cursor *c)
{
    uint16_t subtype = roce_cursor_u16(c);
    unsigned format = roce_cursor_u16(c) >> 4 & 0xf;
    if (subtype != ARISTA_TIMESTAMP || format < 1 || format > 2) {
        return false;
    }
    roce_cursor_skip(c, format == 1 ? 8 : 6);
    return true;
}

static roce_layer
walk_ethertype(roce_walk *w, uint16_t type)
{
    roce_packet *p = w->p;
    bool timed = false;
    while (roce_is_vlan_type(type) || (type == ROCE_ETHERTYPE_ARISTA && !timed)) {
        if (type == ROCE_ETHERTYPE_ARISTA) {
            timed = true;
            if (!skip_arista_time(&w->c)) {
                return roce_walk_stop(w);
            }
            type = roce_cursor_u16(&w->c);
            continue;
        }
        uint16_t tci = roce_cursor_u16(&w->c);
        type = roce_cursor_u16(&w->c);
        if (w->c.outcome != ROCE_DECODED || p->n_vlans == ROCE_MAX_VLANS) {
            return roce_walk_stop(w);
        }
        p->vlan_tci[p->n_vlans++] = tci;
    }
    if (w->c.outcome != ROCE_DECODED) {
        return roce_walk_stop(w);
    }
    p->ethertype = type;
    if (type == ROCE_ETHERTYPE_LLDP) {
        p->lldp_offset = w->c.at;
    }
    roce_layer next = roce_layer_of_ethertype(type);
    return next == ROCE_LAYER_END ? roce_walk_stop(w) : next;
}

static roce_layer
walk_ethernet(roce_walk *w)
{
    roce_packet *p = w->p;
    roce_cursor_copy(&w->c, p->dst_mac, 6);
    roce_cursor_copy(&w->c, p->src_mac, 6);
    uint16_t type = roce_cursor_u16(&w->c);
    if (w->c.outcome != ROCE_DECODED) {
        return roce_walk_stop(w);
    }
    p->has_macs = true;
    return walk_ethertype(w, type);
}

/* What a promiscuous interface overhears (type 3) has no direction for its host. */
static roce_direction
cooked_direction(unsigned kind)
{
    if (kind == SLL_OUTGOING) {
        return ROCE_DIRECTION_OUT;
    }
    return kind <= SLL_MULTICAST ? ROCE_DIRECTION_IN : ROCE_DIRECTION_UNKNOWN;
}

/* The eight bytes of address in a cooked header; a MAC address fills six of them. */
static void
read_cooked_address(roce_cursor *c, unsigned length, roce_packet *p)
{
    uint8_t address[8] = {0};
    roce_cursor_copy(c, address, sizeof address);
    if (length == sizeof p->src_mac && c->outcome == ROCE_DECODED) {
        memcpy(p->src_mac, address, sizeof p->src_mac);
    }
}

static roce_layer
walk_cooked(roce_walk *w, unsigned kind, uint16_t type)
{
    if (w->c.outcome != ROCE_DECODED) {
        return roce_walk_stop(w);
    }
    w->p->direction = cooked_direction(kind);
    return walk_ethertype(w, type);
}

/* Linux cooked capture: only the sender's address is there, and which way it went. */
static roce_layer
walk_sll(roce_walk *w)
{
    uint16_t kind = roce_cursor_u16(&w->c);
    roce_cursor_skip(&w->c, 2); /* ARPHRD type */
    read_cooked_address(&w->c, roce_cursor_u16(&w->c), w->p);
    return walk_cooked(w, kind, roce_cursor_u16(&w->c));
}

static roce_layer
walk_sll2(roce_walk *w)
{
    uint16_t type = roce_cursor_u16(&w->c);
    roce_cursor_skip(&w->c, 2); /* reserved */
    w->p->sll2_ifindex = roce_cursor_u32(&w->c);
    roce_cursor_skip(&w->c, 2); /* ARPHRD type */
    uint8_t kind = roce_cursor_u8(&w->c);
    read_cooked_address(&w->c, roce_cursor_u8(&w->c), w->p);
    return walk_cooked(w, kind, type);
}

static roce_layer
walk_ip(roce_walk *w)
{
    roce_cursor look = w->c;
    uint8_t version = roce_cursor_u8(&look) >> 4;
    if (version == 4) {
        return ROCE_LAYER_IPV4;
    }
    if (version == 6) {
        return ROCE_LAYER_IPV6;
    }
    w->c.outcome = look.outcome;
    return roce_walk_stop(w);
}

/* What BSD systems, macOS and Npcap put in front of what goes over a loopback: an address
 * family, by LINKTYPE_NULL in the byte order of the machine that captured, by LINKTYPE_LOOP
 * in that of the network.  IPv4 is 2 everywhere.  IPv6 is 24, 28 or 30 on BSD systems, 23 on
 * Windows and 10 on Linux; 23 is IPX elsewhere, which begins with no version of IP. */
static roce_layer
walk_loopback(roce_walk *w)
{
    static const uint8_t families[] = {2, 10, 23, 24, 28, 30};
    uint32_t family = roce_cursor_u32(&w->c);
    if (w->c.outcome != ROCE_DECODED) {
        return roce_walk_stop(w);
    }
    if (family > 0xffffff) {
        family = (family & 0xffffff) == 0 ? family >> 24 : 0;
    }
    for (size_t i = 0; i < sizeof families; i++) {
        if (families[i] == family) {
            return walk_ip(w);
        }
    }
    return roce_walk_stop(w);
}

/* A protocol of PPP, whose first octet is left out where that is 0: the last one is odd
 * (RFC 1661, section 2). */
static uint16_t
ppp_protocol(roce_walk *w)
{
    uint16_t first = roce_cursor_u8(&w->c);
    if ((first & 1) != 0) {
        return first;
    }
    return (uint16_t)(first << 8 | roce_cursor_u8(&w->c));
}

/* What LINKTYPE_PPP and LINKTYPE_PPP_HDLC have: the address 0xff and the control octet 3 of
 * HDLC-like framing (RFC 1662), or not; or, in Cisco's framing (RFC 1547, section 4.3.1), the
 * address 0x0f or 0x8f, the control octet 0, and a type of Ethernet's.  All of these addresses
 * are odd, and no protocols. */
static roce_layer
walk_ppp(roce_walk *w)
{
    roce_cursor look = w->c;
    uint16_t framing = roce_cursor_u16(&look);
    if (look.outcome == ROCE_DECODED && (framing == 0x0f00 || framing == 0x8f00)) {
        w->c = look;
        return walk_ethertype(w, roce_cursor_u16(&w->c));
    }
    w->c = look.outcome == ROCE_DECODED && framing == 0xff03 ? look : w->c;
    uint16_t protocol = ppp_protocol(w);
    if (w->c.outcome != ROCE_DECODED) {
        return roce_walk_stop(w);
    }
    return protocol == PPP_IPV4                                     ? ROCE_LAYER_IPV4
           : protocol == PPP_IPV6                                   ? ROCE_LAYER_IPV6
           : protocol == PPP_MPLS || protocol == PPP_MPLS_MULTICAST ? ROCE_LAYER_MPLS
                                                                    : roce_walk_stop(w);
}

static roce_layer
walk_mac_control(roce_walk *w)
{
    uint32_t wire = w->c.wire - w->c.at;
    roce_decode_mac_control(w->c.bytes + w->c.at, roce_walk_captured(w, wire), wire,
                            w->p);
    return ROCE_LAYER_END;
}

static roce_layer
walk_link(roce_walk *w, roce_link link)
{
    switch (link) {
    case ROCE_LINK_ETHERNET:
        return walk_ethernet(w);
    case ROCE_LINK_SLL:
        return walk_sll(w);
    case ROCE_LINK_SLL2:
        return walk_sll2(w);
    case ROCE_LINK_RAW:
        return walk_ip(w);
    case ROCE_LINK_LOOPBACK:
        return walk_loopback(w);
    case ROCE_LINK_PPP:
        return walk_ppp(w);
    case ROCE_LINK_UNSUPPORTED:
        break;
    }
    return roce_walk_stop(w);
}

static roce_layer
walk_layer(roce_walk *w, roce_layer layer)
{
    switch (layer) {
    case ROCE_LAYER_ETHERNET:
        return walk_ethernet(w);
    case ROCE_LAYER_IP:
        return walk_ip(w);
    case ROCE_LAYER_IPV4:
        return roce_walk_ipv4(w);
    case ROCE_LAYER_IPV6:
        return roce_walk_ipv6(w);
    case ROCE_LAYER_GRH:
        return roce_walk_grh(w);
    case ROCE_LAYER_MAC_CONTROL:
        return walk_mac_control(w);
    case ROCE_LAYER_MPLS:
        return roce_tunnel_mpls(w);
    case ROCE_LAYER_END:
        break;
    }
    return ROCE_LAYER_END;
}

void
roce_decode_walk(const roce_frame *frame, const roce_ports *ports, roce_packet *p)
{
    roce_packet_clear(p);
    p->transport = ROCE_TRANSPORT_UNKNOWN;
    p->direction = frame->direction;
    roce_walk w = {
        .c = roce_cursor_make(frame->bytes, frame->captured_bytes, frame->wire_bytes),
        .ports = ports,
        .p = p,
    };
    w.end = w.carried_end = w.c.wire;
    roce_layer layer = walk_link(&w, frame->link);
    while (layer != ROCE_LAYER_END) {
        layer = walk_layer(&w, layer);
    }
}

void
roce_decode(const roce_frame *frame, const roce_ports *ports, roce_packet *p)
{
    if (!roce_decode_express(frame, ports, p)) {
        roce_decode_walk(frame, ports, p);
    }
}
