/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IPv4, IPv6 with its extension headers, UDP, and the GRH of RoCEv1: up to the BTH, or
 * to a tunnel. */
#include "checksum.h"
#include "walk.h"

#include <string.h>

#define PROTOCOL_IPV4 4
#define PROTOCOL_TCP 6
#define PROTOCOL_IPV6 41

#define IPV6_HOP_BY_HOP 0
#define IPV6_ROUTING 43
#define IPV6_FRAGMENT 44
#define IPV6_DESTINATION 60
#define IPV6_AUTHENTICATION 51
#define IPV6_MAX_EXTENSIONS 8

#define GRH_NEXT_BTH 0x1b

static void
shift_offsets(roce_packet *p, uint32_t by)
{
    p->bth_offset += by;
    p->payload_offset += by;
    p->end_offset += by;
}

uint32_t
roce_walk_captured(const roce_walk *w, uint32_t left)
{
    uint32_t there = w->c.captured > w->c.at ? w->c.captured - w->c.at : 0;
    return there < left ? there : left;
}

static roce_layer
walk_bth(roce_walk *w, uint32_t wire)
{
    uint32_t at = w->c.at;
    roce_decode_transport(w->c.bytes + at, roce_walk_captured(w, wire), wire, w->p);
    shift_offsets(w->p, at);
    roce_mirror_check(w, w->p->end_offset);
    return ROCE_LAYER_END;
}

/* On a RoCE port, or behind the type of RoCEv1, but with lengths that cannot be. */
static roce_layer
not_infiniband(const roce_walk *w, roce_outcome outcome)
{
    w->p->kind = ROCE_CLASS_NOT_IB;
    w->p->outcome = outcome;
    return ROCE_LAYER_END;
}

static roce_layer
walk_udp(roce_walk *w)
{
    roce_packet *p = w->p;
    uint32_t ip_left = w->end - w->c.at;
    p->src_port = roce_cursor_u16(&w->c);
    p->dst_port = roce_cursor_u16(&w->c);
    p->udp_length = roce_cursor_u16(&w->c);
    roce_cursor_skip(&w->c, 2);
    if (w->c.outcome != ROCE_DECODED) {
        return roce_walk_stop(w);
    }
    bool fits = p->udp_length >= 8 && p->udp_length <= ip_left;
    if (!roce_is_port_of(w->ports, p->dst_port)) {
        return fits ? roce_tunnel_udp(w, p->udp_length) : roce_walk_stop(w);
    }
    return fits ? walk_bth(w, p->udp_length - 8) : not_infiniband(w, ROCE_MALFORMED);
}

static roce_layer
walk_l4(roce_walk *w)
{
    switch (w->p->ip_protocol) {
    case ROCE_PROTOCOL_UDP:
        return walk_udp(w);
    case PROTOCOL_TCP:
        w->p->src_port = roce_cursor_u16(&w->c);
        w->p->dst_port = roce_cursor_u16(&w->c);
        break;
    case PROTOCOL_IPV4:
        return roce_tunnel_enter(w, ROCE_LAYER_IPV4);
    case PROTOCOL_IPV6:
        return roce_tunnel_enter(w, ROCE_LAYER_IPV6);
    case ROCE_PROTOCOL_GRE:
        return roce_tunnel_gre(w);
    default: /* a number off the wire, not an enumeration */
        break;
    }
    return roce_walk_stop(w);
}

/* Of a packet that says it goes from `start` to `end`, beyond its frame, whether it was as
 * long: YES if the frame was cut on its way to the capture, as tap aggregators and packet
 * brokers cut frames.  An IPv4 header whose checksum is right has a right length; UDP, of which
 * the header stands at `at`, has a length of its own, and of lengths that are damaged one alone
 * is.  What a tunnel carries that is longer than the tunnel is wrong, however long it was. */
static roce_sight
was_longer(const roce_walk *w, uint32_t start, uint32_t at, uint32_t end,
           uint8_t protocol)
{
    const uint8_t *bytes = w->c.bytes;
    bool is_v4 = at > start;
    uint32_t behind_length = at + UDP_LENGTH_AT + 2;
    if (w->is_bounded) {
        return ROCE_SIGHT_NO;
    }
    if (is_v4 && at > w->c.captured) {
        return at <= w->c.wire ? ROCE_SIGHT_CUT : ROCE_SIGHT_NO;
    }
    if (is_v4 && !roce_checksum_is_left_out(bytes + start) &&
        roce_checksum_is_right(bytes + start)) {
        return ROCE_SIGHT_YES;
    }
    if (protocol != ROCE_PROTOCOL_UDP || behind_length > w->c.wire) {
        return ROCE_SIGHT_NO;
    }
    if (behind_length > w->c.captured) {
        return ROCE_SIGHT_CUT;
    }
    return roce_be16(bytes + at + UDP_LENGTH_AT) == end - at ? ROCE_SIGHT_YES
                                                             : ROCE_SIGHT_NO;
}

/* An IP packet that says it has `length` bytes from `start` on, with what it carries at `at`.
 * If there were fewer it is malformed; but where something proves the length, and for GRE,
 * where a switch may have cut the packet of a mirror, or a tool behind it, and left the length
 * in front as it was.  What GRE carries has a length of its own to be judged by. */
static roce_outcome
take_length(roce_walk *w, uint32_t start, uint32_t length, uint32_t at,
            uint8_t protocol)
{
    uint32_t end = start + length;
    roce_sight longer = ROCE_SIGHT_NO;
    if (end > w->c.wire && protocol != ROCE_PROTOCOL_GRE) {
        longer = was_longer(w, start, at, end, protocol);
    }
    if (longer == ROCE_SIGHT_YES) {
        w->p->uncut_bytes = w->c.wire = end;
    }
    bool fits = end <= w->c.wire;
    w->end = fits ? end : w->c.wire;
    w->is_bounded = fits;
    if (fits || protocol == ROCE_PROTOCOL_GRE) {
        return ROCE_DECODED;
    }
    return longer == ROCE_SIGHT_CUT ? ROCE_TRUNCATED : ROCE_MALFORMED;
}

/* A fragment of UDP is RoCE's if its first fragment says so; of later ones nobody can
 * tell.  RoCE forbids fragments (A17.3.1), so they are counted, never reassembled; nor
 * are those of a tunnel. */
static roce_layer
walk_fragment(roce_walk *w, uint32_t offset)
{
    roce_packet *p = w->p;
    if (p->ip_protocol != ROCE_PROTOCOL_UDP) {
        return roce_walk_stop(w);
    }
    if (offset == 0) {
        p->src_port = roce_cursor_u16(&w->c);
        p->dst_port = roce_cursor_u16(&w->c);
        if (w->c.outcome == ROCE_DECODED && !roce_is_port_of(w->ports, p->dst_port)) {
            return roce_walk_stop(w);
        }
    }
    p->kind = ROCE_CLASS_FRAGMENT;
    return roce_walk_stop(w);
}

roce_layer
roce_walk_ipv4(roce_walk *w)
{
    roce_packet *p = w->p;
    uint32_t start = w->c.at;
    p->ip_offset = start;
    uint8_t version = roce_cursor_u8(&w->c);
    p->traffic_class = roce_cursor_u8(&w->c);
    uint32_t total = roce_cursor_u16(&w->c);
    p->ipv4_ident = roce_cursor_u16(&w->c);
    uint16_t fragment = roce_cursor_u16(&w->c);
    p->hop_limit = roce_cursor_u8(&w->c);
    p->ip_protocol = roce_cursor_u8(&w->c);
    roce_cursor_skip(&w->c, 2);
    roce_cursor_copy(&w->c, p->src.bytes, 4);
    roce_cursor_copy(&w->c, p->dst.bytes, 4);
    if (w->c.outcome != ROCE_DECODED) {
        return roce_walk_stop(w);
    }
    p->src.family = p->dst.family = 4;
    uint32_t header = (version & 0x0fu) * 4;
    bool stated = total != 0;
    if (!stated) {
        total =
            w->c.wire - start; /* a segment for the NIC to cut up: too long to say */
    }
    if (version >> 4 != 4 || header < 20 || total < header) {
        return roce_walk_malformed(w);
    }
    p->outcome = take_length(w, start, total, start + header, p->ip_protocol);
    if (p->outcome != ROCE_DECODED) {
        return ROCE_LAYER_END;
    }
    if (stated) {
        roce_mirror_measure(w);
    }
    roce_cursor_skip(&w->c, header - 20);
    if ((fragment & 0x3fff) != 0) {
        return walk_fragment(w, fragment & 0x1fff);
    }
    return w->c.outcome == ROCE_DECODED ? walk_l4(w) : roce_walk_stop(w);
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

roce_layer
roce_walk_ipv6(roce_walk *w)
{
    roce_packet *p = w->p;
    p->ip_offset = w->c.at;
    uint32_t word = roce_cursor_u32(&w->c);
    uint32_t payload = roce_cursor_u16(&w->c);
    uint8_t next = roce_cursor_u8(&w->c);
    p->hop_limit = roce_cursor_u8(&w->c);
    roce_cursor_copy(&w->c, p->src.bytes, 16);
    roce_cursor_copy(&w->c, p->dst.bytes, 16);
    if (w->c.outcome != ROCE_DECODED) {
        return roce_walk_stop(w);
    }
    p->src.family = p->dst.family = 6;
    p->traffic_class = (uint8_t)(word >> 20);
    p->flow_label = word & 0xfffff;
    if (word >> 28 != 6) {
        return roce_walk_malformed(w);
    }
    p->outcome = take_length(w, w->c.at, payload, w->c.at, next);
    if (p->outcome != ROCE_DECODED) {
        return ROCE_LAYER_END;
    }
    roce_mirror_measure(w);
    int32_t fragment = -1;
    uint32_t extensions = walk_ipv6_extensions(&w->c, &next, &fragment);
    p->ip_protocol = next;
    if (w->c.outcome != ROCE_DECODED) {
        return roce_walk_stop(w);
    }
    if (extensions > payload) {
        return roce_walk_malformed(w);
    }
    return fragment >= 0 ? walk_fragment(w, (uint32_t)fragment) : walk_l4(w);
}

/* RoCEv1: a GRH in place of IP and UDP (IBTA A16.4). */
roce_layer
roce_walk_grh(roce_walk *w)
{
    roce_packet *p = w->p;
    p->ip_offset = w->c.at;
    uint32_t word = roce_cursor_u32(&w->c);
    uint32_t payload = roce_cursor_u16(&w->c);
    p->ip_protocol = roce_cursor_u8(&w->c);
    p->hop_limit = roce_cursor_u8(&w->c);
    roce_cursor_copy(&w->c, p->src.bytes, 16);
    roce_cursor_copy(&w->c, p->dst.bytes, 16);
    if (w->c.outcome != ROCE_DECODED) {
        return roce_walk_stop(w);
    }
    p->is_grh = true;
    p->src.family = p->dst.family = 6;
    p->traffic_class = (uint8_t)(word >> 20);
    p->flow_label = word & 0xfffff;
    p->udp_length = payload + 8;
    if (word >> 28 != 6 || p->ip_protocol != GRH_NEXT_BTH) {
        return not_infiniband(w, ROCE_NOT_OURS);
    }
    if (payload > w->c.wire - w->c.at) {
        return not_infiniband(w, ROCE_MALFORMED);
    }
    w->end = w->c.at + payload;
    roce_mirror_measure(w);
    return walk_bth(w, payload);
}
