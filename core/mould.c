/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "express.h"
#include "headers.h"
#include "icrc_span.h"
#include "ident.h"
#include "walk.h"

#include "roce/hash.h"
#include "roce/train.h"

#include <string.h>

/* Of the BTH's second byte: migration and version.  The solicited event and the pad are
 * the car's. */
#define BTH_SHARED 0x4fu

/* Extension headers that a car may have: 16 bytes of RETH, 4 of immediate data. */
#define CAR_HEADERS (ROCE_HEADER_RETH | ROCE_HEADER_IMMDT)

static bool
is_load(roce_role role)
{
    return role == ROCE_ROLE_SEND || role == ROCE_ROLE_WRITE;
}

static bool
is_like_a_car(const roce_packet *p)
{
    const roce_opcode_info *info = roce_opcode_get(p->bth.opcode);
    return p->outcome == ROCE_DECODED && p->kind == ROCE_CLASS_ROCE && p->has_bth &&
           p->n_tunnels == 0 && p->has_macs && !p->is_grh && p->n_vlans <= 1 &&
           p->transport == ROCE_TRANSPORT_RC && is_load(info->role) &&
           (info->headers & ~CAR_HEADERS) == 0 && p->payload_bytes > 0 &&
           roce_packet_ecn(p) != ROCE_ECN_CE;
}

bool
roce_mould_take(const roce_frame *frame, const roce_packet *packet, roce_mould *mould)
{
    roce_packet express;
    const roce_ports ports = {.port = {packet->dst_port}, .n_ports = 1};
    if (!is_like_a_car(packet) || !roce_decode_express(frame, &ports, &express)) {
        return false;
    }
    memset(mould, 0, sizeof *mould);
    memcpy(mould->bytes, frame->bytes, packet->bth_offset + ROCE_BTH_BYTES);
    mould->traffic_class = packet->traffic_class;
    mould->hop_limit = packet->hop_limit;
    mould->direction = frame->direction;
    mould->role = roce_opcode_get(packet->bth.opcode)->role;
    mould->ip_at = packet->ip_offset;
    mould->udp_at = packet->bth_offset - UDP_BYTES;
    return true;
}

static inline bool
is_ipv4(const roce_mould *mould)
{
    return mould->udp_at - mould->ip_at == IPV4_BYTES;
}

/* Zero if n bytes, at most 8, are the same. */
static inline uint64_t
differ(const uint8_t *a, const uint8_t *b, size_t n)
{
    uint64_t x = 0;
    uint64_t y = 0;
    memcpy(&x, a, n);
    memcpy(&y, b, n);
    return x ^ y;
}

/* Both headers, and the VLAN tag between them if there is one. */
static inline uint64_t
differ_link(const roce_mould *mould, const uint8_t *frame)
{
    uint64_t tag =
        mould->ip_at == ETHERNET_BYTES
            ? 0
            : differ(mould->bytes + ETHERNET_BYTES, frame + ETHERNET_BYTES, 4);
    return differ(mould->bytes, frame, 8) | differ(mould->bytes + 6, frame + 6, 8) |
           tag;
}

/* Everything but length, identification and checksum. */
static inline uint64_t
differ_ipv4(const uint8_t *as, const uint8_t *ip)
{
    return differ(as, ip, 2) | differ(as + 6, ip + 6, 4) | differ(as + 12, ip + 12, 8);
}

/* Everything but the length. */
static inline uint64_t
differ_ipv6(const uint8_t *as, const uint8_t *ip)
{
    return differ(as, ip, 4) | differ(as + 6, ip + 6, 2) | differ(as + 8, ip + 8, 8) |
           differ(as + 16, ip + 16, 8) | differ(as + 24, ip + 24, 8) |
           differ(as + 32, ip + 32, 8);
}

/* Ports, and of the BTH what is neither opcode nor pad nor PSN. */
static inline uint64_t
differ_transport(const uint8_t *as, const uint8_t *udp)
{
    const uint8_t *a = as + UDP_BYTES;
    const uint8_t *b = udp + UDP_BYTES;
    return differ(as, udp, 4) | ((a[1] ^ b[1]) & BTH_SHARED) | differ(a + 2, b + 2, 2) |
           differ(a + 4, b + 4, 4) | ((a[8] ^ b[8]) & 0x7fu);
}

/* The extension headers, which were captured, and what tells copies apart. */
static inline void
take_identity(const roce_frame *frame, const uint8_t *udp, const roce_opcode_info *info,
              uint32_t end, roce_car *car)
{
    const uint8_t *at = udp + UDP_BYTES + ROCE_BTH_BYTES;
    uint32_t length_bytes = 0;
    uint32_t immediate = 0;
    car->address = 0;
    if ((info->headers & ROCE_HEADER_RETH) != 0) {
        car->address = roce_be64(at);
        length_bytes = roce_be32(at + 12);
        at += 16;
    }
    if ((info->headers & ROCE_HEADER_IMMDT) != 0) {
        immediate = roce_be32(at);
    }
    if (end <= frame->captured_bytes) {
        const uint8_t *icrc = frame->bytes + end - ROCE_ICRC_BYTES;
        car->check = roce_le32(icrc);
        return;
    }
    const uint64_t words[ROCE_IDENT_WORDS] = {car->address, length_bytes,
                                              (uint64_t)immediate << 32};
    uint64_t h = roce_ident_hash(car->payload_bytes, roce_be16(udp), car->psn24,
                                 car->opcode, car->ack_request);
    car->check = (uint32_t)(info->headers != 0 ? roce_ident_hash_more(h, words) : h);
}

/* The UDP datagram in an IP packet that ends at `ip_end`; header for header as the short
 * way of decoding has it, see express.c. */
static inline bool
take_car(const roce_mould *mould, const roce_frame *frame, uint32_t ip_end,
         roce_car *car)
{
    const uint8_t *udp = frame->bytes + mould->udp_at;
    const uint8_t *bth = udp + UDP_BYTES;
    const roce_opcode_info *info = roce_opcode_get(bth[0]);
    uint32_t length = roce_be16(udp + 4);
    uint32_t before = UDP_BYTES + ROCE_BTH_BYTES + info->headers_bytes;
    uint32_t around = before + (bth[1] >> 4 & 3u) + ROCE_ICRC_BYTES;
    if (info->role != mould->role || info->transport != ROCE_TRANSPORT_RC ||
        (info->headers & ~CAR_HEADERS) != 0 ||
        mould->udp_at + before > frame->captured_bytes ||
        mould->udp_at + length > ip_end || length <= around ||
        length > around + ROCE_MAX_PAYLOAD_BYTES) {
        return false;
    }
    uint32_t psn_word = roce_be32(bth + 8);
    car->time_ns = frame->time_ns;
    car->frame = frame->number;
    car->psn24 = psn_word & 0xffffff;
    car->ack_request = psn_word >> 31;
    car->opcode = bth[0];
    car->payload_bytes = length - around;
    car->udp_bytes = length;
    car->wire_bytes = frame->wire_bytes;
    car->cut = frame->captured_bytes < frame->wire_bytes;
    take_identity(frame, udp, info, mould->udp_at + length, car);
    return true;
}

bool
roce_mould_fits(const roce_mould *mould, const roce_frame *frame, roce_car *car)
{
    const uint8_t *bytes = frame->bytes;
    const uint8_t *ip = bytes + mould->ip_at;
    const uint8_t *as = mould->bytes + mould->ip_at;
    uint32_t captured = frame->captured_bytes;
    uint32_t wire = frame->wire_bytes < captured ? captured : frame->wire_bytes;
    if (frame->link != ROCE_LINK_ETHERNET || frame->direction != mould->direction ||
        captured < mould->udp_at + UDP_BYTES + ROCE_BTH_BYTES) {
        return false;
    }
    bool is_v4 = is_ipv4(mould);
    uint64_t difference =
        differ_link(mould, bytes) |
        (is_v4 ? differ_ipv4(as, ip) : differ_ipv6(as, ip)) |
        differ_transport(mould->bytes + mould->udp_at, bytes + mould->udp_at);
    if (difference != 0) {
        return false;
    }
    uint32_t length =
        is_v4 ? roce_be16(ip + 2) : IPV6_BYTES + (uint32_t)roce_be16(ip + 4);
    car->ident = is_v4 ? roce_be16(ip + 4) : 0;
    return mould->ip_at + length <= wire &&
           take_car(mould, frame, mould->ip_at + length, car);
}

roce_icrc_status
roce_mould_check_icrc(const roce_mould *mould, const roce_frame *frame,
                      const roce_car *car, roce_crc32_fn crc32)
{
    const roce_icrc_span span = {
        .ip_at = mould->ip_at,
        .bth_at = mould->udp_at + UDP_BYTES,
        .end = mould->udp_at + car->udp_bytes,
        .is_ipv4 = is_ipv4(mould),
    };
    if (span.end > frame->captured_bytes) {
        return ROCE_ICRC_TRUNCATED;
    }
    return roce_icrc_of_span(frame->bytes, &span, crc32) == car->check ? ROCE_ICRC_GOOD
                                                                       : ROCE_ICRC_BAD;
}

uint32_t
roce_mould_hash(const roce_frame *frame)
{
    const uint8_t *b = frame->bytes;
    if (frame->link != ROCE_LINK_ETHERNET ||
        frame->captured_bytes < ETHERNET_BYTES + VLAN_TAG_BYTES) {
        return 0;
    }
    uint32_t ip_at = ETHERNET_BYTES;
    uint16_t type = roce_be16(b + TYPE_AT);
    if (type != ROCE_ETHERTYPE_IPV4 && type != ROCE_ETHERTYPE_IPV6) {
        ip_at += VLAN_TAG_BYTES;
        type = roce_be16(b + TYPE_AT + VLAN_TAG_BYTES);
    }
    bool is_v6 = type == ROCE_ETHERTYPE_IPV6;
    uint32_t udp_at = ip_at + (is_v6 ? IPV6_BYTES : IPV4_BYTES);
    if (frame->captured_bytes < udp_at + UDP_BYTES + ROCE_BTH_BYTES) {
        return 0;
    }
    /* The ends of both addresses, the source port, and the queue pair. */
    uint64_t src = roce_be32(b + ip_at + (is_v6 ? 20 : 12));
    uint64_t dst = roce_be32(b + udp_at - 4);
    uint64_t port = roce_be16(b + udp_at);
    uint64_t qpn = roce_be24(b + udp_at + UDP_BYTES + 5);
    uint64_t h = roce_hash_mix(src << 32 | dst, port << 32 | qpn);
    return (uint32_t)(h >> 32) | 1;
}
