/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Communication management messages (IBTA Vol. 1, chapter 12): the MADs on QP 1 that
 * tell which queue pairs belong together.
 *
 * The one rule: only what pairing and a connection's parameters need is read; private
 * data stays unread.
 */
#ifndef ROCE_CM_H
#define ROCE_CM_H

#include "roce/linkage.h"
#include "roce/packet.h"

#include <stdint.h>

ROCE_BEGIN

/* Attribute ids of the CM class (IBTA 16.7.1). */
typedef enum roce_cm_kind {
    ROCE_CM_NONE = 0,
    ROCE_CM_REQ = 0x0010,
    ROCE_CM_MRA = 0x0011,
    ROCE_CM_REJ = 0x0012,
    ROCE_CM_REP = 0x0013,
    ROCE_CM_RTU = 0x0014,
    ROCE_CM_DREQ = 0x0015,
    ROCE_CM_DREP = 0x0016,
    ROCE_CM_SIDR_REQ = 0x0017,
    ROCE_CM_SIDR_REP = 0x0018,
} roce_cm_kind;

/* One message.  Fields that a kind does not carry are 0. */
typedef struct roce_cm_message {
    roce_cm_kind kind;
    uint64_t transaction_id;
    uint32_t local_comm_id; /* of the sender of this message; SIDR: request id */
    uint32_t remote_comm_id;
    uint32_t qpn;          /* REQ, REP: the sender's; DREQ: the receiver's; SIDR REP */
    uint32_t starting_psn; /* REQ, REP: of the sender's requests */
    uint64_t service_id;   /* REQ, SIDR */
    uint16_t path_mtu_bytes; /* REQ; 0 for a reserved code */
    uint8_t retry_count;     /* REQ: 0..7 */
    uint8_t rnr_retry_count; /* REQ, REP: 0..7, 7 for ever */
    uint8_t ack_timeout; /* REQ: local ACK timeout code: 4.096 us * 2^n, 0 infinite */
    uint8_t transport_type; /* REQ: 0 RC, 1 UC, 2 RD, 3 XRC by its extension */
    uint8_t responder_resources, initiator_depth; /* REQ, REP */
    uint16_t reject_reason;                       /* REJ (IBTA 12.6.7.2) */
    uint8_t sidr_status; /* SIDR REP (IBTA 12.11.2): 0 the QPN is valid, else refused */
} roce_cm_message;

/* Reads the MAD in the payload of a UD packet to QP 1.  Returns ROCE_DECODED;
 * ROCE_NOT_OURS when it is no CM MAD; ROCE_TRUNCATED when what is needed was cut; and
 * leaves *message untouched but on ROCE_DECODED. */
roce_outcome
roce_cm_decode(const uint8_t *frame, uint32_t captured_bytes, const roce_packet *packet,
               roce_cm_message *message);

/* "REQ", "REP", ...; "?" for none of them. */
const char *
roce_cm_kind_name(roce_cm_kind kind);

/* "consumer reject", ...; "reserved" for unknown codes. */
const char *
roce_cm_reject_name(uint16_t reason);

/* "service ID not supported", ...; likewise. */
const char *
roce_cm_sidr_status_name(uint8_t status);

ROCE_END

#endif
