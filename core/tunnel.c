/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tunnels: GRE (RFC 2784, 2890), VXLAN (RFC 7348) with its Generic Protocol Extension
 * (draft-ietf-nvo3-vxlan-gpe), Geneve (RFC 8926), NVGRE (RFC 7637), MPLS (RFC 3032), and
 * IP in IP (RFC 2003, 2473, 4213).
 *
 * What is no such tunnel for sure is left alone: then it is one more packet of other
 * traffic, described by the headers around it.
 *
 * Ethernet in GRE (type 0x6558) is an overlay or a mirror, and its header does not say
 * which.  With a key it is taken for NVGRE, which must have one; without a key for a
 * mirror, as Spectrum switches and some hypervisors send it.  A gretap overlay without a
 * key is so taken for a mirror.  The other way round, marks on the way of a mirror would
 * pass for congestion of what it shows, and the copies of two switches for duplicates.
 *
 * Limitations: fragments of outer packets are not put together.  A mirror sent in VXLAN
 * cannot be told from an overlay and is taken for one.  MPLS does not say what it
 * carries, see follow_labels().
 */
#include "walk.h"

#define PORT_VXLAN 4789
#define PORT_VXLAN_GPE 4790
#define PORT_GENEVE 6081

#define GRE_CHECKSUM 0x8000
#define GRE_ROUTING 0x4000 /* RFC 1701 alone */
#define GRE_VERSION 0x0007 /* 1: PPTP's */

#define VXLAN_VERSION 0x30
#define VXLAN_HAS_VNI 0x08
#define VXLAN_HAS_PROTOCOL 0x04
#define VXLAN_OAM 0x01

#define GENEVE_CONTROL 0x80

#define MPLS_MAX_LABELS 16
#define MPLS_BOTTOM 0x100
#define CONTROL_WORD_BYTES 4 /* RFC 4385 */

/* What switches on the way queue a packet by stands in its outermost headers. */
static void
keep_outer_priority(const roce_walk *w, const roce_packet *around)
{
    roce_packet *p = w->p;
    p->outer_dscp = around->outer_dscp;
    p->outer_pcp = around->outer_pcp;
    if (p->outer_dscp == 0 && around->src.family != 0) {
        p->outer_dscp = (uint8_t)(ROCE_OUTER | around->traffic_class >> 2);
    }
    if (around->n_tunnels == w->mirror_depth && around->n_vlans > 0) {
        p->outer_pcp = (uint8_t)(ROCE_OUTER | around->vlan_tci[0] >> 13);
    }
}

roce_layer
roce_tunnel_enter(roce_walk *w, roce_layer inside)
{
    roce_packet *p = w->p;
    if (w->c.outcome != ROCE_DECODED || p->n_tunnels == ROCE_MAX_TUNNELS) {
        return roce_walk_stop(w);
    }
    roce_walk_bound(w);
    w->end = w->c.wire;
    const roce_packet around = *p;
    roce_packet_clear(p);
    p->transport = ROCE_TRANSPORT_UNKNOWN;
    p->direction = around.direction;
    p->sll2_ifindex = around.sll2_ifindex;
    p->uncut_bytes = around.uncut_bytes;
    p->mirror = around.mirror;
    p->tenant = around.tenant;
    p->n_tunnels = (uint8_t)(around.n_tunnels + 1);
    p->outer_ecn =
        around.src.family == 0 ? around.outer_ecn : (uint8_t)roce_packet_ecn(&around);
    keep_outer_priority(w, &around);
    return inside;
}

/* Steps into an overlay network. */
static roce_layer
enter_tenant(roce_walk *w, roce_tenant_kind kind, uint32_t id, roce_layer inside)
{
    roce_layer next = roce_tunnel_enter(w, inside);
    if (next != ROCE_LAYER_END) {
        w->p->tenant = (roce_tenant){.kind = kind, .id = id};
    }
    return next;
}

/* What a type of GRE or Geneve announces, other than mirrors. */
static roce_layer
layer_of_type(uint16_t type)
{
    if (type == ROCE_ETHERTYPE_BRIDGING) {
        return ROCE_LAYER_ETHERNET;
    }
    roce_layer layer = roce_layer_of_ethertype(type);
    bool is_carried = layer == ROCE_LAYER_IPV4 || layer == ROCE_LAYER_IPV6 ||
                      layer == ROCE_LAYER_MPLS;
    return is_carried ? layer : ROCE_LAYER_END;
}

roce_layer
roce_tunnel_gre(roce_walk *w)
{
    roce_walk_bound(w);
    uint16_t flags = roce_cursor_u16(&w->c);
    roce_gre gre = {.protocol = roce_cursor_u16(&w->c)};
    if (w->c.outcome != ROCE_DECODED || (flags & (GRE_ROUTING | GRE_VERSION)) != 0) {
        return roce_walk_stop(w);
    }
    roce_cursor_skip(&w->c, (flags & GRE_CHECKSUM) != 0 ? 4 : 0);
    if ((flags & ROCE_GRE_KEY) != 0) {
        gre.key = roce_cursor_u32(&w->c);
    }
    gre.has_sequence = (flags & ROCE_GRE_SEQUENCE) != 0;
    roce_cursor_skip(&w->c, gre.has_sequence ? 4 : 0);
    roce_layer inside = layer_of_type(gre.protocol);
    if (inside == ROCE_LAYER_ETHERNET && (flags & ROCE_GRE_KEY) != 0) {
        return enter_tenant(w, ROCE_TENANT_NVGRE, gre.key >> 8, inside);
    }
    if (inside == ROCE_LAYER_END || inside == ROCE_LAYER_ETHERNET) {
        return roce_mirror_gre(w, &gre);
    }
    return roce_tunnel_enter(w, inside);
}

static roce_layer
walk_vxlan(roce_walk *w)
{
    static const roce_layer carried[] = {
        [1] = ROCE_LAYER_IPV4,
        [2] = ROCE_LAYER_IPV6,
        [3] = ROCE_LAYER_ETHERNET,
        [5] = ROCE_LAYER_MPLS,
    };
    uint8_t flags = roce_cursor_u8(&w->c);
    roce_cursor_skip(&w->c, 2);
    uint8_t protocol = roce_cursor_u8(&w->c);
    uint32_t vni = roce_cursor_u24(&w->c);
    roce_cursor_skip(&w->c, 1);
    roce_layer inside = ROCE_LAYER_ETHERNET;
    if ((flags & VXLAN_HAS_PROTOCOL) != 0) {
        inside = protocol < sizeof carried / sizeof carried[0] ? carried[protocol]
                                                               : ROCE_LAYER_END;
    }
    bool has_vni = (flags & VXLAN_HAS_VNI) != 0;
    if ((flags & (VXLAN_VERSION | VXLAN_OAM)) != 0 || inside == ROCE_LAYER_END ||
        (!has_vni && (flags & VXLAN_HAS_PROTOCOL) == 0)) {
        return roce_walk_stop(w);
    }
    return has_vni ? enter_tenant(w, ROCE_TENANT_VXLAN, vni, inside)
                   : roce_tunnel_enter(w, inside);
}

static roce_layer
walk_geneve(roce_walk *w)
{
    uint8_t first = roce_cursor_u8(&w->c); /* version, length of the options */
    uint8_t flags = roce_cursor_u8(&w->c);
    roce_layer inside = layer_of_type(roce_cursor_u16(&w->c));
    uint32_t vni = roce_cursor_u24(&w->c);
    roce_cursor_skip(&w->c, 1);
    if (w->c.outcome != ROCE_DECODED || first >> 6 != 0 ||
        (flags & GENEVE_CONTROL) != 0 || inside == ROCE_LAYER_END) {
        return roce_walk_stop(w);
    }
    roce_cursor_skip(&w->c, (first & 0x3fu) * 4);
    return enter_tenant(w, ROCE_TENANT_GENEVE, vni, inside);
}

roce_layer
roce_tunnel_udp(roce_walk *w, uint32_t length)
{
    uint32_t end = w->c.at + length - 8;
    w->end = end < w->end ? end : w->end;
    roce_walk_bound(w);
    switch (w->p->dst_port) {
    case PORT_VXLAN:
    case PORT_VXLAN_GPE:
        return walk_vxlan(w);
    case PORT_GENEVE:
        return walk_geneve(w);
    default: /* a number off the wire, not an enumeration */
        break;
    }
    return roce_walk_stop(w);
}

/* Whether the length that would be an IP header's fits what is there. */
static roce_sight
sees_ip(const roce_walk *w)
{
    roce_cursor look = w->c;
    uint32_t left = look.wire - look.at;
    uint8_t first = roce_cursor_u8(&look);
    bool fits = false;
    if (first >> 4 == 4) {
        roce_cursor_skip(&look, 1);
        uint32_t total = roce_cursor_u16(&look);
        fits = (first & 0xf) >= 5 && total <= left && (total == 0 || total >= 20);
    } else if (first >> 4 == 6) {
        roce_cursor_skip(&look, 3);
        fits = roce_cursor_u16(&look) + 40u <= left;
    }
    if (look.outcome != ROCE_DECODED) {
        return look.outcome == ROCE_TRUNCATED ? ROCE_SIGHT_CUT : ROCE_SIGHT_NO;
    }
    return fits ? ROCE_SIGHT_YES : ROCE_SIGHT_NO;
}

/* What follows a stack of labels: only the routers at its ends know.  As routers that
 * balance by flow do, and as RFC 4928 warns of, it is told by the first nibble: 4 and 6
 * are IP if the length agrees; 0 is a pseudowire's control word, behind which Ethernet
 * follows (RFC 4448).  Anything else, and each of these where it does not hold, is
 * Ethernet without a control word if a sane type says so.  A destination address that
 * begins with 4 or 6 can look like IP: then the packet is lost on us. */
static roce_layer
follow_labels(roce_walk *w)
{
    roce_cursor look = w->c;
    uint8_t nibble = roce_cursor_u8(&look) >> 4;
    roce_layer ip = nibble == 4   ? ROCE_LAYER_IPV4
                    : nibble == 6 ? ROCE_LAYER_IPV6
                                  : ROCE_LAYER_END;
    if (look.outcome != ROCE_DECODED) {
        w->c.outcome = look.outcome;
        return roce_walk_stop(w);
    }
    roce_sight sight = sees_ip(w);
    if (sight == ROCE_SIGHT_YES) {
        return roce_tunnel_enter(w, ip);
    }
    if (sight == ROCE_SIGHT_NO && nibble == 0) {
        sight = roce_mirror_sees_ethernet(w, CONTROL_WORD_BYTES);
        if (sight == ROCE_SIGHT_YES) {
            roce_cursor_skip(&w->c, CONTROL_WORD_BYTES);
            return roce_tunnel_enter(w, ROCE_LAYER_ETHERNET);
        }
    }
    if (sight == ROCE_SIGHT_NO) {
        sight = roce_mirror_sees_ethernet(w, 0);
    }
    if (sight == ROCE_SIGHT_YES) {
        return roce_tunnel_enter(w, ROCE_LAYER_ETHERNET);
    }
    if (sight == ROCE_SIGHT_CUT) {
        w->c.outcome = ROCE_TRUNCATED;
        return roce_walk_stop(w);
    }
    /* An IP packet that is longer than what carries it is malformed, and IP says so. */
    return ip != ROCE_LAYER_END ? roce_tunnel_enter(w, ip) : roce_walk_stop(w);
}

roce_layer
roce_tunnel_mpls(roce_walk *w)
{
    for (unsigned i = 0; i < MPLS_MAX_LABELS; i++) {
        uint32_t label = roce_cursor_u32(&w->c);
        if (w->c.outcome != ROCE_DECODED) {
            break;
        }
        if ((label & MPLS_BOTTOM) != 0) {
            return follow_labels(w);
        }
    }
    return roce_walk_stop(w);
}
