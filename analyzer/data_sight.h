/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which packets are load: the data of messages, as senders put it on the wire.
 *
 * The one rule: what moves no state counts for nothing: packets whose ICRC is bad, and
 * those of streams that are not tracked, are nobody's load.
 */
#ifndef RS_DATA_SIGHT_H
#define RS_DATA_SIGHT_H

#include "sight.h"

#include "roce/opcode.h"

/* Whether a packet carries data: a request or a response with payload.  Copies sent again
 * count, for they load the network like any other. */
static inline gboolean
rs_packet_has_data(const roce_packet *packet)
{
    roce_role role = roce_opcode_get(packet->bth.opcode)->role;
    return packet->payload_bytes > 0 &&
           (roce_role_is_request(role) || roce_role_is_response_data(role));
}

#endif
