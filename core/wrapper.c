/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a mirror puts around its copies, so that what lies inside can be looked at as if it
 * had been captured where it was copied.
 *
 *   Ethernet, IPv4 without options and no fragment, GRE with or without a key and a
 *   sequence number, and behind it nothing (ERSPAN I, GRE) or the header of ERSPAN II, of
 *   ERSPAN III without a platform's subheader, or of Arista
 *
 * All of it is shared by the packets of one mirror but lengths, IPv4's identification and
 * checksum, the sequence number, and the time of the copy.
 */
#include "bytes.h"
#include "express.h"
#include "walk.h"

#include "roce/train.h"

#include <string.h>

#define GRE_AT (ETHERNET_BYTES + IPV4_BYTES)
#define GRE_BYTES 4
#define WORD_BYTES 8u
#define N_HEADERS (sizeof headers / sizeof *headers)

/* Ethernet, IPv4, GRE and nothing that has to be read to know where GRE ends. */
static bool
is_gre(const roce_frame *frame)
{
    const uint8_t *b = frame->bytes;
    return frame->link == ROCE_LINK_ETHERNET &&
           frame->captured_bytes >= ROCE_WRAPPER_BYTES &&
           roce_be16(b + TYPE_AT) == ROCE_ETHERTYPE_IPV4 &&
           b[ETHERNET_BYTES] == IPV4_NO_OPTIONS &&
           (roce_be16(b + ETHERNET_BYTES + 6) & IPV4_FRAGMENT) == 0 &&
           b[ETHERNET_BYTES + 9] == ROCE_PROTOCOL_GRE &&
           (roce_be16(b + GRE_AT) & ~(ROCE_GRE_KEY | ROCE_GRE_SEQUENCE)) == 0;
}

/* Where a mirror's own header begins, if it has one. */
static uint32_t
header_at(const uint8_t *frame)
{
    uint16_t flags = roce_be16(frame + GRE_AT);
    return GRE_AT + GRE_BYTES + ((flags & ROCE_GRE_KEY) != 0 ? 4u : 0u) +
           ((flags & ROCE_GRE_SEQUENCE) != 0 ? 4u : 0u);
}

/* Headers of mirrors, and what of them differs from copy to copy: when it was made. */
static const struct {
    roce_mirror_kind kind;
    uint32_t bytes;
    uint32_t time_at, time_bytes;
} headers[] = {
    {ROCE_MIRROR_ERSPAN_I, 0, 0, 0},  {ROCE_MIRROR_GRE, 0, 0, 0},
    {ROCE_MIRROR_ERSPAN_II, 8, 0, 0}, {ROCE_MIRROR_ERSPAN_III, 12, 4, 4},
    {ROCE_MIRROR_ARISTA, 8, 0, 0},    {ROCE_MIRROR_ARISTA, 12, 0, 0},
    {ROCE_MIRROR_ARISTA, 20, 12, 8},
};

bool
roce_wrapper_take(const roce_frame *frame, const roce_packet *packet,
                  roce_wrapper *wrapper)
{
    const roce_mirror *mirror = &packet->mirror;
    const uint32_t n = mirror->frame_offset;
    if (mirror->kind == ROCE_MIRROR_NONE || packet->n_tunnels != 1 ||
        mirror->says_truncated || mirror->cut || !packet->has_macs || !is_gre(frame) ||
        n > ROCE_WRAPPER_BYTES) {
        return false;
    }
    const uint32_t at = header_at(frame->bytes);
    const uint16_t type = roce_be16(frame->bytes + GRE_AT + 2);
    const bool numbered = (roce_be16(frame->bytes + GRE_AT) & ROCE_GRE_SEQUENCE) != 0;
    uint32_t i = 0;
    while (i < N_HEADERS &&
           (headers[i].kind != mirror->kind || at + headers[i].bytes != n)) {
        i++;
    }
    if (i == N_HEADERS || !roce_mirror_is_sure(mirror->kind, type, numbered)) {
        return false;
    }
    memset(wrapper, 0, sizeof *wrapper);
    wrapper->n = n;
    memset(wrapper->shared, 0xff, n);
    memset(wrapper->shared + ETHERNET_BYTES + 2, 0, 4);  /* length, identification */
    memset(wrapper->shared + ETHERNET_BYTES + 10, 0, 2); /* checksum */
    if (numbered) {
        memset(wrapper->shared + at - 4, 0, 4);
    }
    memset(wrapper->shared + at + headers[i].time_at, 0, headers[i].time_bytes);
    for (uint32_t k = 0; k < n; k++) {
        wrapper->bytes[k] = frame->bytes[k] & wrapper->shared[k];
    }
    roce_frame inner;
    return roce_wrapper_open(wrapper, frame, &inner) &&
           inner.wire_bytes == mirror->wire_bytes;
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
