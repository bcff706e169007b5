/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A frame held against the mould of another, and both decoded.
 *
 * The one rule: what fits is decoded to the same, but for what its car has, and its car has
 * what was decoded.
 */
#ifndef MOULD_AGREES_H
#define MOULD_AGREES_H

#include "check.h"
#include "checksum.h"
#include "ident.h"
#include "track.h"

#include "roce/train.h"

#include <string.h>

/* The packet of a mould with what only a car has. */
static inline roce_packet
mould_filled(const roce_packet *lead, const roce_packet *with)
{
    roce_packet p = *lead;
    p.uncut_bytes = with->uncut_bytes;
    p.ipv4_ident = with->ipv4_ident;
    p.udp_length = with->udp_length;
    p.headers = with->headers;
    p.payload_offset = with->payload_offset;
    p.payload_bytes = with->payload_bytes;
    p.end_offset = with->end_offset;
    p.bth.opcode = with->bth.opcode;
    p.bth.solicited = with->bth.solicited;
    p.bth.pad_bytes = with->bth.pad_bytes;
    p.bth.ack_request = with->bth.ack_request;
    p.bth.psn24 = with->bth.psn24;
    p.reth = with->reth;
    p.immediate = with->immediate;
    p.aeth_syndrome = with->aeth_syndrome;
    p.aeth_msn = with->aeth_msn;
    return p;
}

static inline bool
mould_car_agrees(const roce_car *car, const roce_frame *frame, const roce_packet *p)
{
    const roce_identity identity = roce_ident_of(frame, p);
    return CHECK_INT(car->time_ns, frame->time_ns) &&
           CHECK_INT(car->frame, frame->number) &&
           CHECK_INT(car->address, p->reth.address) &&
           CHECK_INT(car->psn24, p->bth.psn24) &&
           CHECK_INT(car->payload_bytes, p->payload_bytes) &&
           CHECK_INT(car->udp_bytes, p->udp_length) &&
           CHECK_INT(car->wire_bytes, roce_packet_wire_bytes(p, frame)) &&
           CHECK_INT(car->check, identity.check) &&
           CHECK_INT(car->ident, identity.ident) &&
           CHECK_INT(car->opcode, p->bth.opcode) &&
           CHECK_INT(car->ack_request, p->bth.ack_request) &&
           CHECK_INT(car->cut, roce_packet_is_cut(p, frame));
}

static inline bool
mould_identity_agrees(const roce_mould *mould, const roce_frame *frame,
                      const roce_car *car, const roce_packet *p)
{
    roce_wire_identity a, b;
    roce_mould_wire_identity(mould, frame, car, &p->src, &p->dst, &a);
    return CHECK(roce_wire_identity_of(frame, p, &b)) &&
           CHECK_INT(a.narrow, b.narrow) && CHECK_INT(a.has_icrc, b.has_icrc) &&
           CHECK_INT(a.icrc, b.icrc);
}

/* Behind a packet whose checksum was right, that of one proves what that of the other does. */
static inline bool
mould_checksum_agrees(const roce_frame *lead, const roce_packet *led,
                      const roce_frame *frame, const roce_packet *p)
{
    uint8_t a = 1;
    uint8_t b = 1;
    return CHECK_INT(roce_checksum_proves_damage(&a, lead, led),
                     roce_checksum_proves_damage(&b, frame, p)) &&
           CHECK_INT(a, b);
}

/* False, after a failed check, if they part.  Of a lead that gives no mould nothing is
 * asked. */
static inline bool
mould_agrees(const roce_frame *lead, const roce_frame *frame, bool *fits)
{
    roce_ports ports;
    roce_ports_init(&ports);
    roce_packet led, packet;
    roce_decode(lead, &ports, &led);
    roce_decode(frame, &ports, &packet);
    roce_mould mould;
    roce_car car;
    if (!roce_mould_take(lead, &led, &mould)) {
        *fits = false;
        return true;
    }
    *fits = roce_mould_fits(&mould, frame, &car);
    /* The same, once the mould has just met its lead, and once it knows such a frame. */
    roce_car behind_lead, again;
    roce_mould other;
    (void)roce_mould_take(lead, &led, &other);
    if ((roce_mould_fits(&other, lead, &behind_lead) &&
         !mould_car_agrees(&behind_lead, lead, &led)) ||
        !CHECK_INT(roce_mould_fits(&other, frame, &behind_lead), *fits)) {
        return false;
    }
    if (!*fits) {
        return true;
    }
    const roce_packet filled = mould_filled(&led, &packet);
    return CHECK(roce_mould_fits(&mould, frame, &again)) &&
           mould_car_agrees(&again, frame, &packet) &&
           mould_car_agrees(&behind_lead, frame, &packet) &&
           CHECK(memcmp(&filled, &packet, sizeof packet) == 0) &&
           CHECK_INT(roce_opcode_get(packet.bth.opcode)->role,
                     roce_opcode_get(led.bth.opcode)->role) &&
           CHECK(packet.payload_bytes > 0) &&
           CHECK(roce_packet_ecn(&packet) != ROCE_ECN_CE) &&
           CHECK_INT(roce_mould_hash(frame), roce_mould_hash(lead)) &&
           CHECK_INT(roce_mould_check_icrc(&mould, frame, &car, roce_crc32),
                     roce_icrc_check(frame->bytes, frame->captured_bytes, &packet,
                                     roce_crc32)) &&
           mould_car_agrees(&car, frame, &packet) &&
           mould_checksum_agrees(lead, &led, frame, &packet) &&
           mould_identity_agrees(&mould, frame, &car, &packet);
}

#endif
