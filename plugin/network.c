/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a tvb to core: the BTH and what follows, and the headers before it.
 *
 * The one rule: core decodes; what stands before the tvb is believed only when core,
 * decoding from there, arrives exactly at the tvb.
 *
 * A dissector is not told where the IP header lies that the ICRC covers.  It is looked
 * for backwards in the bytes that the tvb was cut from, as a header with the packet's
 * own addresses.  Behind a reassembly there is none, and the ICRC stays unchecked.
 *
 * Limitations: IPv6 extension headers of more than 216 bytes in all are not looked
 * behind.
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

/* Finds the IP header before a UDP payload and decodes from there; *frame holds the
 * bytes from it on. */
static bool
find_ip(tvbuff_t *tvb, const packet_info *pinfo, roce_frame *frame, roce_packet *packet)
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
    for (uint32_t size = 20; size <= MAX_NETWORK_BYTES && size <= udp; size += 4) {
        uint32_t start = udp - size;
        if (!may_be_ip(bytes + start, size, pinfo)) {
            continue;
        }
        *frame = (roce_frame){
            .bytes = bytes + start,
            .captured_bytes = captured - start,
            .wire_bytes = tvb_reported_length(source) - start,
            .link = ROCE_LINK_RAW,
        };
        roce_decode(frame, &ports, packet);
        if (packet->class == ROCE_CLASS_ROCE &&
            packet->bth_offset == (uint32_t)raw_offset - start) {
            return true;
        }
    }
    return false;
}

static void
check(const uint8_t *bytes, uint32_t captured, const roce_packet *packet,
      plugin_packet *result)
{
    if (packet->outcome != ROCE_DECODED) {
        return;
    }
    result->icrc = roce_icrc_check(bytes, captured, packet, roce_crc32);
    if (result->icrc == ROCE_ICRC_BAD &&
        roce_icrc_compute(bytes, captured, packet, roce_crc32, &result->icrc_want) !=
            0) {
        result->icrc = ROCE_ICRC_UNCHECKED;
    }
}

bool
network_decode_udp(tvbuff_t *tvb, const packet_info *pinfo, bool check_icrc,
                   plugin_packet *packet)
{
    *packet = (plugin_packet){.icrc = ROCE_ICRC_UNCHECKED, .place = HOOK_UDP};
    roce_decode_transport(network_bytes(tvb), tvb_captured_length(tvb),
                          tvb_reported_length(tvb), &packet->roce);
    if (packet->roce.class != ROCE_CLASS_ROCE) {
        return false;
    }
    roce_frame frame;
    roce_packet network;
    if (check_icrc && packet->roce.outcome == ROCE_DECODED &&
        find_ip(tvb, pinfo, &frame, &network)) {
        check(frame.bytes, frame.captured_bytes, &network, packet);
    }
    return true;
}

bool
network_decode_grh(tvbuff_t *tvb, bool check_icrc, plugin_packet *packet)
{
    *packet = (plugin_packet){.icrc = ROCE_ICRC_UNCHECKED, .place = HOOK_GRH};
    roce_packet *p = &packet->roce;
    guint captured = tvb_captured_length(tvb);
    guint reported = tvb_reported_length(tvb);
    if (captured < GRH_BYTES) {
        return false;
    }
    const uint8_t *bytes = network_bytes(tvb);
    guint payload = (guint)bytes[4] << 8 | bytes[5];
    if (bytes[0] >> 4 != 6 || bytes[6] != GRH_NEXT_BTH ||
        payload > reported - GRH_BYTES) {
        return false;
    }
    captured = MIN(captured - GRH_BYTES, payload);
    roce_decode_transport(bytes + GRH_BYTES, captured, payload, p);
    p->is_grh = true;
    p->src.family = p->dst.family = 6;
    memcpy(p->src.bytes, bytes + 8, 16);
    memcpy(p->dst.bytes, bytes + 24, 16);
    p->bth_offset += GRH_BYTES;
    p->payload_offset += GRH_BYTES;
    p->end_offset += GRH_BYTES;
    if (check_icrc) {
        check(bytes, captured + GRH_BYTES, p, packet);
    }
    return p->class == ROCE_CLASS_ROCE;
}
