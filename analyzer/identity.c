/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "identity.h"

#include "roce/hash.h"

#include <string.h>

#define IPV4_HEADER 20u
#define IPV6_HEADER 40u
#define ICRC_BYTES 4u
#define STRANGER_BYTES                                                                 \
    64u /* of a packet that is not RoCE: its ports, numbers, checksum */

static guint64
hash_roce(guint64 h, const roce_packet *p)
{
    h = roce_hash_mix(h, (guint64)p->udp_length << 32 | p->bth.psn24);
    h = roce_hash_mix(h, (guint64)p->bth.dest_qpn << 8 | p->bth.opcode);
    return roce_hash_mix(h, (guint64)p->src_port << 1 | (p->bth.ack_request ? 1 : 0));
}

/* One beyond the packet in the frame: links pad short frames, each to its own length.
 * A packet that offloading has built may be too long to say how long it is. */
static guint32
packet_end(const roce_frame *frame, const roce_packet *p)
{
    gboolean is_ipv4 = p->src.family == 4;
    const guint8 *length = frame->bytes + p->ip_offset + (is_ipv4 ? 2 : 4);
    guint32 bytes = (guint32)(length[0] << 8 | length[1]);
    return bytes == 0 ? frame->captured_bytes
                      : p->ip_offset + bytes + (is_ipv4 ? 0 : IPV6_HEADER);
}

static guint64
hash_stranger(guint64 h, const roce_frame *frame, const roce_packet *p)
{
    guint32 at = p->ip_offset + (p->src.family == 4 ? IPV4_HEADER : IPV6_HEADER);
    guint32 end =
        MIN(MIN(frame->captured_bytes, at + STRANGER_BYTES), packet_end(frame, p));
    h = roce_hash_mix(h, p->ip_protocol);
    for (; at + sizeof(guint64) <= end; at += sizeof(guint64)) {
        guint64 word;
        memcpy(&word, frame->bytes + at, sizeof word);
        h = roce_hash_mix(h, word);
    }
    return h;
}

gboolean
rs_identity_of(const roce_frame *frame, const roce_packet *p, rs_identity *identity)
{
    if (p->src.family == 0) {
        return FALSE;
    }
    *identity = (rs_identity){0};
    guint64 h = roce_hash_addr(roce_hash_addr(p->ipv4_ident, &p->src), &p->dst);
    if (p->has_bth) {
        h = hash_roce(h, p);
        if (roce_packet_has_icrc(p, frame->captured_bytes)) {
            identity->has_icrc = TRUE;
            memcpy(&identity->icrc, frame->bytes + p->end_offset - ICRC_BYTES,
                   sizeof identity->icrc);
        }
    } else {
        h = hash_stranger(h, frame, p);
    }
    identity->narrow = h == 0 ? 1 : h;
    return TRUE;
}
