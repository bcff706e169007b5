/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two ways from a frame's bytes to a roce_packet; roce_decode() chooses.
 *
 * The one rule: what the short way takes comes out byte for byte as the long way would
 * have it.  The short way decides what is worth its while, never what a packet is.
 */
#ifndef ROCE_CORE_EXPRESS_H
#define ROCE_CORE_EXPRESS_H

#include "roce/decode.h"

/* Of the headers that a packet of the common shape has; the type, with one VLAN tag, stands
 * as much later as the tag is long. */
#define ETHERNET_BYTES 14
#define TYPE_AT 12
#define VLAN_TAG_BYTES 4
#define IPV4_BYTES 20
#define IPV6_BYTES 40
#define UDP_BYTES 8

#define IPV4_NO_OPTIONS 0x45 /* version and length of the header */
#define IPV4_FRAGMENT 0x3fff /* more to come, or not the first */

/* express.c.  Decodes a packet of the common shape and returns true.  Any other it leaves
 * to roce_decode_walk(): it returns false, and what *packet holds then means nothing. */
bool
roce_decode_express(const roce_frame *frame, const roce_ports *ports,
                    roce_packet *packet);

/* decode.c.  Decodes any frame, header by header. */
void
roce_decode_walk(const roce_frame *frame, const roce_ports *ports, roce_packet *packet);

#endif
