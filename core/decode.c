/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a frame's first byte to the BTH: link layer, VLAN tags, IP, UDP; or GRH; or MAC
 * control.
 *
 * Lengths are taken from the innermost header that states one, never from the frame:
 * short packets are padded, and a snap length cuts the frame but not the packet.  Where
 * the headers promise more than the frame had on the wire, the packet is malformed.
 */
#include "roce/decode.h"

#include "cursor.h"

#include <string.h>

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd
#define ETHERTYPE_VLAN 0x8100
#define ETHERTYPE_QINQ 0x88a8
#define ETHERTYPE_QINQ_OLD 0x9100

#define PROTOCOL_UDP 17
#define PROTOCOL_TCP 6

#define IPV6_HOP_BY_HOP 0
#define IPV6_ROUTING 43
#define IPV6_FRAGMENT 44
#define IPV6_DESTINATION 60
#define IPV6_AUTHENTICATION 51
#define IPV6_MAX_EXTENSIONS 8

#define GRH_NEXT_BTH 0x1b

#define SLL_MULTICAST 2 /* to us 0, broadcast 1, multicast 2, to others 3 */
#define SLL_OUTGOING 4

void
roce_ports_init(roce_ports *ports)
{
    *ports = (roce_ports){.port = {ROCE_UDP_PORT}, .n_ports = 1};
}

static bool
is_roce_port(const roce_ports *ports, uint16_t port)
{
    for (unsigned i = 0; i < ports->n_ports; i++) {
        if (ports->port[i] == port) {
            return true;
        }
    }
    return false;
}

bool
roce_addr_equal(const roce_addr *a, const roce_addr *b)
{
    return a->family == b->family && memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

int
roce_addr_compare(const roce_addr *a, const roce_addr *b)
{
    if (a->family != b->family) {
        return a->family < b->family ? -1 : 1;
    }
    return memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

/* Ends decoding: not ours, unless the cursor says the frame was cut or wrong. */
static void
stop(const roce_cursor *c, roce_packet *p)
{
    p->outcome = c->outcome == ROCE_DECODED ? ROCE_NOT_OURS : c->outcome;
}

static void
shift_offsets(roce_packet *p, uint32_t by)
{
    p->bth_offset += by;
    p->payload_offset += by;
    p->end_offset += by;
}

/* The bytes that the cursor has still to give, when the packet ends `left` bytes on. */
static uint32_t
captured_of(const roce_cursor *c, uint32_t left)
{
    uint32_t there = c->captured > c->at ? c->captured - c->at : 0;
    return there < left ? there : left;
}

static void
decode_bth(const roce_cursor *c, uint32_t wire, roce_packet *p)
{
    uint32_t at = c->at;
    roce_decode_transport(c->bytes + at, captured_of(c, wire), wire, p);
    shift_offsets(p, at);
}

static void
decode_udp(roce_cursor *c, const roce_ports *ports, uint32_t ip_left, roce_packet *p)
{
    p->src_port = roce_cursor_u16(c);
    p->dst_port = roce_cursor_u16(c);
    p->udp_length = roce_cursor_u16(c);
    roce_cursor_skip(c, 2);
    if (c->outcome != ROCE_DECODED || !is_roce_port(ports, p->dst_port)) {
        stop(c, p);
        return;
    }
    if (p->udp_length < 8 || p->udp_length > ip_left) {
        p->class = ROCE_CLASS_NOT_IB;
        p->outcome = ROCE_MALFORMED;
        return;
    }
    decode_bth(c, p->udp_length - 8, p);
}

static void
decode_l4(roce_cursor *c, const roce_ports *ports, uint32_t ip_left, roce_packet *p)
{
    if (p->ip_protocol == PROTOCOL_UDP) {
        decode_udp(c, ports, ip_left, p);
        return;
    }
    if (p->ip_protocol == PROTOCOL_TCP) {
        p->src_port = roce_cursor_u16(c);
        p->dst_port = roce_cursor_u16(c);
    }
    stop(c, p);
}

/* A fragment of UDP is RoCE's if its first fragment says so; of later ones nobody can
 * tell.  RoCE forbids fragments (A17.3.1), so they are counted, never reassembled. */
static void
decode_fragment(roce_cursor *c, const roce_ports *ports, uint32_t offset,
                roce_packet *p)
{
    if (p->ip_protocol != PROTOCOL_UDP) {
        stop(c, p);
        return;
    }
    if (offset == 0) {
        p->src_port = roce_cursor_u16(c);
        p->dst_port = roce_cursor_u16(c);
        if (c->outcome == ROCE_DECODED && !is_roce_port(ports, p->dst_port)) {
            stop(c, p);
            return;
        }
    }
    p->class = ROCE_CLASS_FRAGMENT;
    stop(c, p);
}

static void
decode_ipv4(roce_cursor *c, const roce_ports *ports, roce_packet *p)
{
    uint32_t start = c->at;
    p->ip_offset = start;
    uint8_t version = roce_cursor_u8(c);
    p->traffic_class = roce_cursor_u8(c);
    uint32_t total = roce_cursor_u16(c);
    p->ipv4_ident = roce_cursor_u16(c);
    uint16_t fragment = roce_cursor_u16(c);
    p->hop_limit = roce_cursor_u8(c);
    p->ip_protocol = roce_cursor_u8(c);
    roce_cursor_skip(c, 2);
    roce_cursor_copy(c, p->src.bytes, 4);
    roce_cursor_copy(c, p->dst.bytes, 4);
    if (c->outcome != ROCE_DECODED) {
        stop(c, p);
        return;
    }
    p->src.family = p->dst.family = 4;
    uint32_t header = (version & 0x0fu) * 4;
    if (total == 0) {
        total = c->wire - start; /* a segment for the NIC to cut up: too long to say */
    }
    if (version >> 4 != 4 || header < 20 || total < header || total > c->wire - start) {
        p->outcome = ROCE_MALFORMED;
        return;
    }
    roce_cursor_skip(c, header - 20);
    if ((fragment & 0x3fff) != 0) {
        decode_fragment(c, ports, fragment & 0x1fff, p);
        return;
    }
    decode_l4(c, ports, total - header, p);
}

/* Walks IPv6 extension headers; returns the bytes they took, with the fragment offset
 * in *fragment, or -1 when this is no fragment. */
static uint32_t
walk_ipv6_extensions(roce_cursor *c, uint8_t *next, int32_t *fragment)
{
    uint32_t start = c->at;
    for (unsigned i = 0; i < IPV6_MAX_EXTENSIONS; i++) {
        if (*next == IPV6_FRAGMENT) {
            *next = roce_cursor_u8(c);
            roce_cursor_skip(c, 1);
            uint16_t word = roce_cursor_u16(c);
            roce_cursor_skip(c, 4);
            if ((word & 0xfff9) != 0) { /* an atomic fragment is none (RFC 6946) */
                *fragment = word >> 3;
                break;
            }
        } else if (*next == IPV6_HOP_BY_HOP || *next == IPV6_ROUTING ||
                   *next == IPV6_DESTINATION) {
            *next = roce_cursor_u8(c);
            uint32_t length = roce_cursor_u8(c);
            roce_cursor_skip(c, length * 8 + 6);
        } else if (*next == IPV6_AUTHENTICATION) {
            *next = roce_cursor_u8(c);
            uint32_t length = roce_cursor_u8(c);
            roce_cursor_skip(c, length * 4 + 6);
        } else {
            break;
        }
    }
    return c->at - start;
}

static void
decode_ipv6(roce_cursor *c, const roce_ports *ports, roce_packet *p)
{
    uint32_t start = c->at;
    p->ip_offset = start;
    uint32_t word = roce_cursor_u32(c);
    uint32_t payload = roce_cursor_u16(c);
    uint8_t next = roce_cursor_u8(c);
    p->hop_limit = roce_cursor_u8(c);
    roce_cursor_copy(c, p->src.bytes, 16);
    roce_cursor_copy(c, p->dst.bytes, 16);
    if (c->outcome != ROCE_DECODED) {
        stop(c, p);
        return;
    }
    p->src.family = p->dst.family = 6;
    p->traffic_class = (uint8_t)(word >> 20);
    p->flow_label = word & 0xfffff;
    if (word >> 28 != 6 || payload > c->wire - c->at) {
        p->outcome = ROCE_MALFORMED;
        return;
    }
    int32_t fragment = -1;
    uint32_t extensions = walk_ipv6_extensions(c, &next, &fragment);
    p->ip_protocol = next;
    if (c->outcome != ROCE_DECODED || extensions > payload) {
        p->outcome = c->outcome == ROCE_DECODED ? ROCE_MALFORMED : c->outcome;
        return;
    }
    if (fragment >= 0) {
        decode_fragment(c, ports, (uint32_t)fragment, p);
        return;
    }
    decode_l4(c, ports, payload - extensions, p);
}

/* RoCEv1: a GRH in place of IP and UDP (IBTA A16.4). */
static void
decode_grh(roce_cursor *c, roce_packet *p)
{
    p->ip_offset = c->at;
    uint32_t word = roce_cursor_u32(c);
    uint32_t payload = roce_cursor_u16(c);
    p->ip_protocol = roce_cursor_u8(c);
    p->hop_limit = roce_cursor_u8(c);
    roce_cursor_copy(c, p->src.bytes, 16);
    roce_cursor_copy(c, p->dst.bytes, 16);
    if (c->outcome != ROCE_DECODED) {
        stop(c, p);
        return;
    }
    p->is_grh = true;
    p->src.family = p->dst.family = 6;
    p->traffic_class = (uint8_t)(word >> 20);
    p->flow_label = word & 0xfffff;
    p->udp_length = payload + 8;
    if (word >> 28 != 6 || p->ip_protocol != GRH_NEXT_BTH) {
        p->class = ROCE_CLASS_NOT_IB;
        p->outcome = ROCE_NOT_OURS;
        return;
    }
    if (payload > c->wire - c->at) {
        p->class = ROCE_CLASS_NOT_IB;
        p->outcome = ROCE_MALFORMED;
        return;
    }
    decode_bth(c, payload, p);
}

static void
decode_ethertype(roce_cursor *c, const roce_ports *ports, uint16_t type, roce_packet *p)
{
    while (type == ETHERTYPE_VLAN || type == ETHERTYPE_QINQ ||
           type == ETHERTYPE_QINQ_OLD) {
        uint16_t tci = roce_cursor_u16(c);
        type = roce_cursor_u16(c);
        if (c->outcome != ROCE_DECODED || p->n_vlans == ROCE_MAX_VLANS) {
            stop(c, p);
            return;
        }
        p->vlan_tci[p->n_vlans++] = tci;
    }
    p->ethertype = type;
    if (type == ETHERTYPE_IPV4) {
        decode_ipv4(c, ports, p);
    } else if (type == ETHERTYPE_IPV6) {
        decode_ipv6(c, ports, p);
    } else if (type == ROCE_ETHERTYPE_V1) {
        decode_grh(c, p);
    } else if (type == ROCE_ETHERTYPE_MAC_CONTROL) {
        uint32_t wire = c->wire - c->at;
        roce_decode_mac_control(c->bytes + c->at, captured_of(c, wire), wire, p);
    } else {
        stop(c, p);
    }
}

static void
decode_ethernet(roce_cursor *c, const roce_ports *ports, roce_packet *p)
{
    roce_cursor_copy(c, p->dst_mac, 6);
    roce_cursor_copy(c, p->src_mac, 6);
    uint16_t type = roce_cursor_u16(c);
    if (c->outcome != ROCE_DECODED) {
        stop(c, p);
        return;
    }
    p->has_macs = true;
    decode_ethertype(c, ports, type, p);
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

static void
decode_cooked(roce_cursor *c, const roce_ports *ports, unsigned kind, uint16_t type,
              roce_packet *p)
{
    if (c->outcome != ROCE_DECODED) {
        stop(c, p);
        return;
    }
    p->direction = cooked_direction(kind);
    decode_ethertype(c, ports, type, p);
}

/* Linux cooked capture: only the sender's address is there, and which way it went. */
static void
decode_sll(roce_cursor *c, const roce_ports *ports, roce_packet *p)
{
    uint16_t kind = roce_cursor_u16(c);
    roce_cursor_skip(c, 2); /* ARPHRD type */
    read_cooked_address(c, roce_cursor_u16(c), p);
    uint16_t type = roce_cursor_u16(c);
    decode_cooked(c, ports, kind, type, p);
}

static void
decode_sll2(roce_cursor *c, const roce_ports *ports, roce_packet *p)
{
    uint16_t type = roce_cursor_u16(c);
    roce_cursor_skip(c, 8); /* reserved, interface index, ARPHRD type */
    uint8_t kind = roce_cursor_u8(c);
    read_cooked_address(c, roce_cursor_u8(c), p);
    decode_cooked(c, ports, kind, type, p);
}

static void
decode_raw(roce_cursor *c, const roce_ports *ports, roce_packet *p)
{
    roce_cursor look = *c;
    uint8_t version = roce_cursor_u8(&look) >> 4;
    if (version == 4) {
        decode_ipv4(c, ports, p);
    } else if (version == 6) {
        decode_ipv6(c, ports, p);
    } else {
        stop(&look, p);
    }
}

void
roce_decode(const roce_frame *frame, const roce_ports *ports, roce_packet *p)
{
    memset(p, 0, sizeof *p);
    p->transport = ROCE_TRANSPORT_UNKNOWN;
    p->direction = frame->direction;
    roce_cursor c =
        roce_cursor_make(frame->bytes, frame->captured_bytes, frame->wire_bytes);
    switch (frame->link) {
    case ROCE_LINK_ETHERNET:
        decode_ethernet(&c, ports, p);
        break;
    case ROCE_LINK_SLL:
        decode_sll(&c, ports, p);
        break;
    case ROCE_LINK_SLL2:
        decode_sll2(&c, ports, p);
        break;
    case ROCE_LINK_RAW:
        decode_raw(&c, ports, p);
        break;
    case ROCE_LINK_UNSUPPORTED:
        p->outcome = ROCE_NOT_OURS;
        break;
    }
}
