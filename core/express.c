/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The short way of decoding, for the shape that nearly every packet of a RoCEv2 capture
 * has:
 *
 *   1. Ethernet, with one VLAN tag or none;
 *   2. IPv4 without options and no fragment, or IPv6 without extension headers;
 *   3. UDP to a RoCE port;
 *   4. a BTH of version 0, of an opcode that is not among those that RD and DC share;
 *   5. lengths that hold each other: UDP in IP, IP in the frame, or as long as UDP says in a
 *      frame that was cut on its way to the capture; BTH, extension headers, pad, ICRC and at
 *      most the largest path MTU of payload in UDP;
 *   6. captured up to the last extension header, or farther.
 *
 * What is of another shape, or wrong, is none of its business: it gives up, whatever it has
 * written by then, and the walk from header to header starts anew and has the word on it.
 */
#include "express.h"

#include "headers.h"
#include "walk.h"

#include <string.h>

#define LEAST_BYTES (ETHERNET_BYTES + IPV4_BYTES + UDP_BYTES + ROCE_BTH_BYTES)

/* Returns where the network header begins. */
static inline uint32_t
take_link(const uint8_t *frame, roce_packet *p)
{
    uint16_t type = roce_be16(frame + TYPE_AT);
    uint32_t at = ETHERNET_BYTES;
    p->has_macs = true;
    memcpy(p->dst_mac, frame, sizeof p->dst_mac);
    memcpy(p->src_mac, frame + sizeof p->dst_mac, sizeof p->src_mac);
    if (type != ROCE_ETHERTYPE_IPV4 && roce_is_vlan_type(type)) {
        p->n_vlans = 1;
        p->vlan_tci[0] = roce_be16(frame + ETHERNET_BYTES);
        type = roce_be16(frame + TYPE_AT + VLAN_TAG_BYTES);
        at += VLAN_TAG_BYTES;
    }
    p->ethertype = type;
    return at;
}

/* Returns the length of the packet, or 0 for one of another shape, which holds nothing. */
static inline uint32_t
take_ipv4(const uint8_t *ip, roce_packet *p)
{
    if (ip[0] != IPV4_NO_OPTIONS || (roce_be16(ip + 6) & IPV4_FRAGMENT) != 0 ||
        ip[9] != ROCE_PROTOCOL_UDP) {
        return 0;
    }
    p->traffic_class = ip[1];
    p->ipv4_ident = roce_be16(ip + 4);
    p->hop_limit = ip[8];
    memcpy(p->src.bytes, ip + 12, 4);
    memcpy(p->dst.bytes, ip + 16, 4);
    p->src.family = p->dst.family = 4;
    return roce_be16(ip + 2);
}

static inline uint32_t
take_ipv6(const uint8_t *ip, roce_packet *p)
{
    uint32_t word = roce_be32(ip);
    if (word >> 28 != 6 || ip[6] != ROCE_PROTOCOL_UDP) {
        return 0;
    }
    p->traffic_class = (uint8_t)(word >> 20);
    p->flow_label = word & 0xfffff;
    p->hop_limit = ip[7];
    memcpy(p->src.bytes, ip + 8, 16);
    memcpy(p->dst.bytes, ip + 24, 16);
    p->src.family = p->dst.family = 6;
    return IPV6_BYTES + (uint32_t)roce_be16(ip + 4);
}

static void
take_extensions(const uint8_t *at, unsigned headers, roce_packet *p)
{
    for (; headers != 0; headers &= headers - 1) {
        at += roce_header_read(at, (roce_header)(headers & (0u - headers)), p);
    }
}

/* UDP at `at`, and what it carries, in an IP packet that ends at `end`.  It and the BTH were
 * captured. */
static inline bool
take_udp(const roce_frame *frame, uint32_t at, uint32_t end, const roce_ports *ports,
         roce_packet *p)
{
    const uint8_t *udp = frame->bytes + at;
    const uint8_t *bth = udp + UDP_BYTES;
    const roce_opcode_info *opcode = roce_opcode_get(bth[0]);
    uint32_t length = roce_be16(udp + UDP_LENGTH_AT);
    uint32_t before = UDP_BYTES + ROCE_BTH_BYTES + opcode->headers_bytes;
    uint32_t around = before + (bth[1] >> 4 & 3u) + ROCE_ICRC_BYTES;
    if ((bth[1] & 0x0f) != 0 || opcode->transport == ROCE_TRANSPORT_RD ||
        at + before > frame->captured_bytes || at + length > end || length < around ||
        length > around + ROCE_MAX_PAYLOAD_BYTES ||
        !roce_is_port_of(ports, roce_be16(udp + 2))) {
        return false;
    }
    p->outcome = ROCE_DECODED;
    p->kind = ROCE_CLASS_ROCE;
    p->src_port = roce_be16(udp);
    p->dst_port = roce_be16(udp + 2);
    p->udp_length = length;
    p->has_bth = true;
    p->transport = opcode->transport;
    p->headers = opcode->headers;
    p->bth_offset = at + UDP_BYTES;
    p->payload_offset = at + before;
    p->payload_bytes = length - around;
    p->end_offset = at + length;
    roce_bth_read(bth, &p->bth);
    if (opcode->headers != 0) {
        take_extensions(bth + ROCE_BTH_BYTES, opcode->headers, p);
    }
    return true;
}

bool
roce_decode_express(const roce_frame *frame, const roce_ports *ports, roce_packet *p)
{
    uint32_t captured = frame->captured_bytes;
    uint32_t wire = frame->wire_bytes < captured ? captured : frame->wire_bytes;
    if (frame->link != ROCE_LINK_ETHERNET || captured < LEAST_BYTES) {
        return false;
    }
    roce_packet_clear(p);
    p->direction = frame->direction;
    uint32_t ip_at = take_link(frame->bytes, p);
    uint32_t udp_at = ip_at + IPV4_BYTES;
    uint32_t end = ip_at;
    if (p->ethertype == ROCE_ETHERTYPE_IPV4) {
        end += take_ipv4(frame->bytes + ip_at, p);
    } else if (p->ethertype == ROCE_ETHERTYPE_IPV6 && captured >= ip_at + IPV6_BYTES) {
        udp_at = ip_at + IPV6_BYTES;
        end += take_ipv6(frame->bytes + ip_at, p);
    }
    p->ip_protocol = ROCE_PROTOCOL_UDP;
    p->ip_offset = ip_at;
    if (captured < udp_at + UDP_BYTES + ROCE_BTH_BYTES) {
        return false;
    }
    if (end > wire) {
        if (roce_be16(frame->bytes + udp_at + UDP_LENGTH_AT) != end - udp_at) {
            return false;
        }
        p->uncut_bytes = end;
    }
    return take_udp(frame, udp_at, end, ports, p);
}
