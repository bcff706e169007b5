/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a mirror puts around its copies, so that what lies inside can be looked at as if it
 * had been captured where it was copied.
 *
 *   Ethernet, IPv4 without options and no fragment, GRE with or without a key and a
 *   sequence number, and behind it nothing (ERSPAN I, GRE) or the header of ERSPAN II
 *
 * All of it is shared by the packets of one mirror but lengths, IPv4's identification and
 * checksum, and the sequence number.
 */
#include "bytes.h"
#include "express.h"
#include "walk.h"

#include "roce/train.h"

#include <string.h>

#define GRE_AT (ETHERNET_BYTES + IPV4_BYTES)
#define GRE_BYTES 4
#define GRE_KEY 0x2000
#define GRE_SEQUENCE 0x1000
#define ERSPAN_II_BYTES 8
#define PROTOCOL_GRE 47
#define IPV4_NO_OPTIONS 0x45
#define IPV4_FRAGMENT 0x3fff
#define WORD_BYTES 8u

/* Bytes up to the mirrored frame; 0 for what is none of these. */
static uint32_t
bytes_around(const roce_frame *frame, const roce_packet *packet)
{
    const uint8_t *b = frame->bytes;
    const roce_mirror *mirror = &packet->mirror;
    bool has_header = mirror->kind == ROCE_MIRROR_ERSPAN_II;
    if ((!has_header && mirror->kind != ROCE_MIRROR_ERSPAN_I &&
         mirror->kind != ROCE_MIRROR_GRE) ||
        packet->n_tunnels != 1 || mirror->says_truncated || mirror->cut ||
        frame->link != ROCE_LINK_ETHERNET ||
        frame->captured_bytes < GRE_AT + GRE_BYTES ||
        roce_be16(b + TYPE_AT) != ROCE_ETHERTYPE_IPV4 ||
        b[ETHERNET_BYTES] != IPV4_NO_OPTIONS ||
        (roce_be16(b + ETHERNET_BYTES + 6) & IPV4_FRAGMENT) != 0 ||
        b[ETHERNET_BYTES + 9] != PROTOCOL_GRE) {
        return 0;
    }
    uint16_t flags = roce_be16(b + GRE_AT);
    uint32_t n = GRE_AT + GRE_BYTES + ((flags & GRE_KEY) != 0 ? 4u : 0u) +
                 ((flags & GRE_SEQUENCE) != 0 ? 4u : 0u) +
                 (has_header ? ERSPAN_II_BYTES : 0u);
    bool is_known = (flags & ~(GRE_KEY | GRE_SEQUENCE)) == 0;
    return is_known && n == mirror->frame_offset && n <= ROCE_WRAPPER_BYTES ? n : 0;
}

bool
roce_wrapper_take(const roce_frame *frame, const roce_packet *packet,
                  roce_wrapper *wrapper)
{
    uint32_t n = bytes_around(frame, packet);
    if (n == 0) {
        return false;
    }
    memset(wrapper, 0, sizeof *wrapper);
    wrapper->n = n;
    memset(wrapper->shared, 0xff, n);
    memset(wrapper->shared + ETHERNET_BYTES + 2, 0, 4);  /* length, identification */
    memset(wrapper->shared + ETHERNET_BYTES + 10, 0, 2); /* checksum */
    uint16_t flags = roce_be16(frame->bytes + GRE_AT);
    if ((flags & GRE_SEQUENCE) != 0) {
        uint32_t key = (flags & GRE_KEY) != 0 ? 4 : 0;
        memset(wrapper->shared + GRE_AT + GRE_BYTES + key, 0, 4);
    }
    for (uint32_t i = 0; i < n; i++) {
        wrapper->bytes[i] = frame->bytes[i] & wrapper->shared[i];
    }
    roce_frame inner;
    return roce_wrapper_open(wrapper, frame, &inner) &&
           inner.wire_bytes == packet->mirror.wire_bytes;
}

static bool
is_in(const roce_wrapper *wrapper, const uint8_t *bytes)
{
    uint64_t difference = 0;
    for (uint32_t i = 0; i < ROCE_WRAPPER_BYTES; i += WORD_BYTES) {
        uint64_t word, ours, shared;
        memcpy(&word, bytes + i, sizeof word);
        memcpy(&ours, wrapper->bytes + i, sizeof ours);
        memcpy(&shared, wrapper->shared + i, sizeof shared);
        difference |= (word & shared) ^ ours;
    }
    return difference == 0;
}

/* Where a mirrored frame ends by its own IP header, which alone says so; 0 for what has
 * none behind one tag at most, or not among `n` bytes. */
static uint32_t
end_of(const uint8_t *frame, uint32_t n)
{
    uint32_t ip_at = ETHERNET_BYTES;
    if (n < ETHERNET_BYTES + VLAN_TAG_BYTES + IPV6_BYTES) {
        return 0;
    }
    uint16_t type = roce_be16(frame + TYPE_AT);
    if (roce_is_vlan_type(type)) {
        type = roce_be16(frame + TYPE_AT + VLAN_TAG_BYTES);
        ip_at += VLAN_TAG_BYTES;
    }
    if (type == ROCE_ETHERTYPE_IPV4) {
        return ip_at + roce_be16(frame + ip_at + 2);
    }
    return type == ROCE_ETHERTYPE_IPV6
               ? ip_at + IPV6_BYTES + roce_be16(frame + ip_at + 4)
               : 0;
}

bool
roce_wrapper_open(const roce_wrapper *wrapper, const roce_frame *frame,
                  roce_frame *inner)
{
    const uint32_t n = wrapper->n;
    if (frame->link != ROCE_LINK_ETHERNET ||
        frame->captured_bytes < ROCE_WRAPPER_BYTES || !is_in(wrapper, frame->bytes)) {
        return false;
    }
    uint32_t carried_end =
        ETHERNET_BYTES + roce_be16(frame->bytes + ETHERNET_BYTES + 2);
    uint32_t wire = end_of(frame->bytes + n, frame->captured_bytes - n);
    if (wire == 0 || n + wire > carried_end || carried_end > frame->wire_bytes) {
        return false;
    }
    uint32_t captured = frame->captured_bytes - n;
    *inner = *frame;
    inner->bytes += n;
    inner->captured_bytes = captured < wire ? captured : wire;
    inner->wire_bytes = wire;
    inner->direction = ROCE_DIRECTION_UNKNOWN;
    return (captured < wire) == (frame->captured_bytes < frame->wire_bytes);
}
