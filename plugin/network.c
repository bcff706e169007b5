/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a dissector's call to core: the frame that a tvb was cut from, decoded from its
 * first byte, so that plugin and analyzer look at the same thing.
 *
 * The one rule: core decodes; what it says of the frame is believed only when it
 * arrives exactly at the tvb.
 *
 *  1. The bytes that the tvb was cut from are the frame, unless it was put together from
 *     fragments, or unpacked.  Core decodes it like the analyzer.
 *  2. Behind a link layer or tunnel that core does not know, the IP header is looked for
 *     backwards, as a header with the packet's own addresses.  The packet is then taken
 *     as one without a link layer.
 *  3. Where neither arrives at the tvb, the BTH is decoded alone: there is no ICRC to
 *     check and no stream to track.
 *
 * Limitations: IPv6 extension headers of more than 216 bytes in all are not looked
 * behind in the second way.
 */
#include "plugin.h"

#include "roce/decode.h"

#include <string.h>

#define UDP_BYTES 8
#define GRH_BYTES 40
#define GRH_NEXT_BTH 0x1b
#define MAX_NETWORK_BYTES 256 /* of IP headers, before UDP */

const uint8_t *
network_bytes(tvbuff_t *tvb)
{
    guint captured = tvb_captured_length(tvb);
    return captured == 0 ? NULL : tvb_get_ptr(tvb, 0, (gint)captured);
}

static roce_link
link_of(const packet_info *pinfo)
{
    switch (pinfo->rec->rec_header.packet_header.pkt_encap) {
    case WTAP_ENCAP_ETHERNET:
        return ROCE_LINK_ETHERNET;
    case WTAP_ENCAP_SLL:
        return ROCE_LINK_SLL;
    case WTAP_ENCAP_SLL2:
        return ROCE_LINK_SLL2;
    case WTAP_ENCAP_RAW_IP:
    case WTAP_ENCAP_RAW_IP4:
    case WTAP_ENCAP_RAW_IP6:
        return ROCE_LINK_RAW;
    case WTAP_ENCAP_NULL:
    case WTAP_ENCAP_LOOP:
        return ROCE_LINK_LOOPBACK;
    case WTAP_ENCAP_PPP:
        return ROCE_LINK_PPP;
    default: /* a number of many hundreds, not an enumeration */
        return ROCE_LINK_UNSUPPORTED;
    }
}

/* Bytes of the frame that are its check sequence, as far as the capture says so. */
static uint32_t
fcs_bytes(const packet_info *pinfo, roce_link link)
{
    bool says = link == ROCE_LINK_ETHERNET && pinfo->pseudo_header != NULL &&
                pinfo->pseudo_header->eth.fcs_len > 0;
    return says ? (uint32_t)pinfo->pseudo_header->eth.fcs_len : 0;
}

static roce_direction
direction_of(const packet_info *pinfo)
{
    if (pinfo->p2p_dir == P2P_DIR_SENT) {
        return ROCE_DIRECTION_OUT;
    }
    return pinfo->p2p_dir == P2P_DIR_RECV ? ROCE_DIRECTION_IN : ROCE_DIRECTION_UNKNOWN;
}

/* Before 1970 there is nothing, as for the analyzer. */
static uint64_t
time_of(const packet_info *pinfo)
{
    const nstime_t *t = &pinfo->abs_ts;
    return t->secs < 0 || t->nsecs < 0
               ? 0
               : (uint64_t)t->secs * 1000000000u + (uint64_t)t->nsecs;
}

void
network_frame(tvbuff_t *tvb, const packet_info *pinfo, roce_frame *frame)
{
    roce_link link = link_of(pinfo);
    uint32_t wire = pinfo->fd->pkt_len;
    uint32_t captured = tvb != NULL ? tvb_captured_length(tvb) : 0;
    uint32_t fcs = MIN(fcs_bytes(pinfo, link), wire);
    *frame = (roce_frame){
        .bytes = tvb != NULL ? network_bytes(tvb) : NULL,
        .captured_bytes = MIN(captured, wire - fcs),
        .wire_bytes = wire - fcs,
        .time_ns = time_of(pinfo),
        .number = pinfo->num,
        .link = link,
        .direction = direction_of(pinfo),
    };
}

/* Whether these are the bytes that were captured, and not made of them. */
static bool
is_frame(tvbuff_t *source, const packet_info *pinfo)
{
    return tvb_captured_length(source) == pinfo->fd->cap_len &&
           tvb_reported_length(source) >= tvb_captured_length(source);
}

/* Where the tvb of a dissector begins: at the BTH, at the GRH, or behind the
 * ethertype. */
static uint32_t
begin_of(const roce_packet *p)
{
    return p->is_grh ? p->ip_offset : p->bth_offset;
}

/* The first way. */
static bool
decode_frame(tvbuff_t *tvb, const packet_info *pinfo, plugin_packet *packet)
{
    tvbuff_t *source = tvb_get_ds_tvb(tvb);
    gint raw_offset = tvb_raw_offset(tvb);
    if (raw_offset < 0 || !is_frame(source, pinfo)) {
        return false;
    }
    network_frame(source, pinfo, &packet->frame);
    if (packet->frame.link == ROCE_LINK_UNSUPPORTED || packet->frame.bytes == NULL) {
        return false;
    }
    const roce_ports ports = {.port = {(uint16_t)pinfo->destport}, .n_ports = 1};
    roce_decode(&packet->frame, &ports, &packet->whole);
    return packet->whole.kind == ROCE_CLASS_ROCE &&
           begin_of(&packet->whole) == (uint32_t)raw_offset;
}

/* Whether an IP header with these addresses may stand at `ip`, `size` bytes before UDP;
 * a fast look before core's thorough one. */
static bool
may_be_ip(const uint8_t *ip, uint32_t size, const packet_info *pinfo)
{
    const address *src = &pinfo->net_src;
    const address *dst = &pinfo->net_dst;
    if (src->type == AT_IPv4 && dst->type == AT_IPv4) {
        return ip[0] >> 4 == 4 && (ip[0] & 0x0fu) * 4 == size &&
               memcmp(ip + 12, src->data, 4) == 0 && memcmp(ip + 16, dst->data, 4) == 0;
    }
    if (src->type == AT_IPv6 && dst->type == AT_IPv6 && size >= 40) {
        return ip[0] >> 4 == 6 && memcmp(ip + 8, src->data, 16) == 0 &&
               memcmp(ip + 24, dst->data, 16) == 0;
    }
    return false;
}

/* How long the packet was of which an ICMP error quotes the beginning. */
static uint32_t
quoted_bytes(const uint8_t *ip)
{
    uint32_t length = (uint32_t)ip[2] << 8 | ip[3];
    return ip[0] >> 4 == 4 ? length : ((uint32_t)ip[4] << 8 | ip[5]) + 40;
}

/* The second way. */
static bool
decode_ip(tvbuff_t *tvb, const packet_info *pinfo, plugin_packet *packet)
{
    tvbuff_t *source = tvb_get_ds_tvb(tvb);
    const uint8_t *bytes = network_bytes(source);
    gint raw_offset = tvb_raw_offset(tvb);
    guint captured = tvb_captured_length(source);
    if (bytes == NULL || raw_offset < UDP_BYTES || (guint)raw_offset > captured) {
        return false;
    }
    uint32_t udp = (uint32_t)raw_offset - UDP_BYTES;
    const roce_ports ports = {.port = {(uint16_t)pinfo->destport}, .n_ports = 1};
    network_frame(NULL, pinfo, &packet->frame);
    packet->frame.link = ROCE_LINK_RAW;
    for (uint32_t size = 20; size <= MAX_NETWORK_BYTES && size <= udp; size += 4) {
        uint32_t start = udp - size;
        if (!may_be_ip(bytes + start, size, pinfo)) {
            continue;
        }
        packet->frame.bytes = bytes + start;
        packet->frame.captured_bytes = captured - start;
        packet->frame.wire_bytes = tvb_reported_length(source) - start;
        if (pinfo->flags.in_error_pkt) {
            packet->frame.wire_bytes =
                MAX(packet->frame.wire_bytes, quoted_bytes(bytes + start));
        }
        roce_decode(&packet->frame, &ports, &packet->whole);
        if (packet->whole.kind == ROCE_CLASS_ROCE &&
            packet->whole.bth_offset == (uint32_t)raw_offset - start) {
            return true;
        }
    }
    return false;
}

roce_icrc_status
network_check_icrc(const roce_frame *frame, const roce_packet *packet)
{
    if (!rocev2_checks_icrc() || packet->kind != ROCE_CLASS_ROCE ||
        packet->outcome != ROCE_DECODED) {
        return ROCE_ICRC_UNCHECKED;
    }
    return roce_icrc_check(frame->bytes, frame->captured_bytes, packet, crc_crc32);
}

static void
check(plugin_packet *packet)
{
    const roce_frame *frame = &packet->frame;
    packet->icrc = network_check_icrc(frame, &packet->whole);
    if (packet->icrc == ROCE_ICRC_BAD &&
        roce_icrc_compute(frame->bytes, frame->captured_bytes, &packet->whole,
                          crc_crc32, &packet->icrc_want) != 0) {
        packet->icrc = ROCE_ICRC_UNCHECKED;
    }
}

/* Core arrived at the tvb: the packet as the tree wants it, by offsets of the tvb. */
static void
take(plugin_packet *packet, const packet_info *pinfo)
{
    uint32_t begin = begin_of(&packet->whole);
    packet->roce = packet->whole;
    packet->roce.bth_offset -= begin;
    packet->roce.payload_offset -= begin;
    packet->roce.end_offset -= begin;
    packet->is_trackable = pinfo->flags.in_error_pkt == 0;
    check(packet);
}

/* Nothing is known of a frame around the packet: it was put together from several, or other
 * headers stand before it. */
static void
forget_frame(plugin_packet *packet)
{
    memset(&packet->frame, 0, sizeof packet->frame);
    memset(&packet->whole, 0, sizeof packet->whole);
}

bool
network_decode_pause(tvbuff_t *tvb, const packet_info *pinfo, plugin_packet *packet)
{
    tvbuff_t *source = tvb_get_ds_tvb(tvb);
    packet->icrc = ROCE_ICRC_UNCHECKED;
    packet->place = HOOK_MAC_CONTROL;
    packet->is_trackable = false;
    memset(&packet->roce, 0, sizeof packet->roce);
    roce_decode_mac_control(network_bytes(tvb), tvb_captured_length(tvb),
                            tvb_reported_length(tvb), &packet->roce);
    if (!roce_packet_is_pause(&packet->roce)) {
        return false;
    }
    if (is_frame(source, pinfo)) {
        network_frame(source, pinfo, &packet->frame);
        const roce_ports ports = {.n_ports = 0};
        roce_decode(&packet->frame, &ports, &packet->whole);
        packet->is_trackable = packet->whole.kind == packet->roce.kind;
    } else {
        forget_frame(packet);
    }
    return true;
}

/* Bytes behind the UDP header, as that says: of a first fragment, and of what was quoted, fewer
 * are there. */
static guint
udp_payload_bytes(tvbuff_t *tvb)
{
    tvbuff_t *source = tvb_get_ds_tvb(tvb);
    const uint8_t *bytes = network_bytes(source);
    gint raw_offset = tvb_raw_offset(tvb);
    guint there = tvb_reported_length(tvb);
    if (bytes == NULL || raw_offset < UDP_BYTES ||
        (guint)raw_offset > tvb_captured_length(source)) {
        return there;
    }
    const uint8_t *length = bytes + raw_offset - UDP_BYTES + 4;
    guint said = (guint)length[0] << 8 | length[1];
    return said >= UDP_BYTES ? MAX(said - UDP_BYTES, there) : there;
}

bool
network_decode_udp(tvbuff_t *tvb, const packet_info *pinfo, plugin_packet *packet)
{
    packet->icrc = ROCE_ICRC_UNCHECKED;
    packet->place = HOOK_UDP;
    packet->is_trackable = false;
    if (decode_frame(tvb, pinfo, packet) || decode_ip(tvb, pinfo, packet)) {
        take(packet, pinfo);
        return true;
    }
    forget_frame(packet);
    memset(&packet->roce, 0, sizeof packet->roce);
    roce_decode_transport(network_bytes(tvb), tvb_captured_length(tvb),
                          udp_payload_bytes(tvb), &packet->roce);
    return packet->roce.kind == ROCE_CLASS_ROCE;
}

/* The third way, for RoCEv1. */
static bool
decode_grh(tvbuff_t *tvb, roce_packet *p)
{
    guint captured = tvb_captured_length(tvb);
    guint reported = tvb_reported_length(tvb);
    memset(p, 0, sizeof *p);
    const uint8_t *bytes = network_bytes(tvb);
    if (bytes == NULL || captured < GRH_BYTES) {
        return false;
    }
    guint payload = (guint)bytes[4] << 8 | bytes[5];
    if (bytes[0] >> 4 != 6 || bytes[6] != GRH_NEXT_BTH ||
        payload > reported - GRH_BYTES) {
        return false;
    }
    captured = MIN(captured - GRH_BYTES, payload);
    roce_decode_transport(bytes + GRH_BYTES, captured, payload, p);
    p->is_grh = true;
    p->bth_offset += GRH_BYTES;
    p->payload_offset += GRH_BYTES;
    p->end_offset += GRH_BYTES;
    return p->kind == ROCE_CLASS_ROCE;
}

bool
network_decode_grh(tvbuff_t *tvb, const packet_info *pinfo, plugin_packet *packet)
{
    packet->icrc = ROCE_ICRC_UNCHECKED;
    packet->place = HOOK_GRH;
    packet->is_trackable = false;
    if (decode_frame(tvb, pinfo, packet)) {
        take(packet, pinfo);
        return true;
    }
    forget_frame(packet);
    return decode_grh(tvb, &packet->roce);
}
