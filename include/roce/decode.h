/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decoding: from a frame's bytes to a roce_packet.
 *
 * The one rule: decoding is pure.  The same bytes give the same answer, whatever came
 * before; everything that needs memory lives in the tracker.
 */
#ifndef ROCE_DECODE_H
#define ROCE_DECODE_H

#include "roce/linkage.h"
#include "roce/packet.h"

#include <stddef.h>
#include <stdint.h>

ROCE_BEGIN

#define ROCE_UDP_PORT 4791 /* IANA; IBTA A17.3.2 */
#define ROCE_ETHERTYPE_V1 0x8915
#define ROCE_ETHERTYPE_MAC_CONTROL 0x8808
#define ROCE_MAX_PORTS 16

/* UDP destination ports that carry RoCEv2. */
typedef struct roce_ports {
    uint16_t port[ROCE_MAX_PORTS];
    unsigned n_ports;
} roce_ports;

/* 4791 alone. */
void
roce_ports_init(roce_ports *ports);

/* Decodes one frame.  Every field of *packet is set: to what was read, or to zero.
 * `packet->outcome` tells how far it went; never fails. */
void
roce_decode(const roce_frame *frame, const roce_ports *ports, roce_packet *packet);

/* Decodes a BTH and what follows, for a caller who has the UDP payload (or the bytes
 * behind a GRH) alone.  `captured` bytes at `bytes` are there of `wire`; offsets in
 * *packet count from `bytes`.  Network and link fields are left as they are. */
void
roce_decode_transport(const uint8_t *bytes, uint32_t captured, uint32_t wire,
                      roce_packet *packet);

/* Decodes a MAC control frame's bytes behind the ethertype (IEEE 802.3 clause 31). */
void
roce_decode_mac_control(const uint8_t *bytes, uint32_t captured, uint32_t wire,
                        roce_packet *packet);

ROCE_END

#endif
