/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CM MADs.  A MAD is 256 bytes: a common header of 24 (IBTA 13.4.3) and the message
 * (12.6.5 to 12.6.14, 12.11).  Offsets below count from the message's first byte.
 */
#include "roce/cm.h"

#include "cursor.h"

#include <stddef.h>

#define MAD_BASE_VERSION 1
#define MAD_CLASS_CM 0x07
#define MAD_CM_VERSION 2

static const uint16_t path_mtu[16] = {0, 256, 512, 1024, 2048, 4096};

/* REQ: QPN at 32, PSN at 44, MTU and RNR retries at 50, ACK timeout at 95. */
static void
read_req(roce_cursor *c, roce_cm_message *m)
{
    m->local_comm_id = roce_cursor_u32(c);
    roce_cursor_skip(c, 4);
    m->service_id = roce_cursor_u64(c);
    roce_cursor_skip(c, 16); /* CA GUID, reserved, Q_Key */
    m->qpn = roce_cursor_u24(c);
    m->responder_resources = roce_cursor_u8(c);
    roce_cursor_skip(c, 3);
    m->initiator_depth = roce_cursor_u8(c);
    roce_cursor_skip(c, 3);
    m->transport_type = roce_cursor_u8(c) >> 1 & 3;
    m->starting_psn = roce_cursor_u24(c);
    m->retry_count = roce_cursor_u8(c) & 7;
    roce_cursor_skip(c, 2);
    uint8_t mtu = roce_cursor_u8(c);
    m->path_mtu_bytes = path_mtu[mtu >> 4];
    m->rnr_retry_count = mtu & 7;
    roce_cursor_skip(c, 44); /* CM retries, LIDs, GIDs, flow label, traffic class, SL */
    m->ack_timeout = roce_cursor_u8(c) >> 3;
}

static void
read_rep(roce_cursor *c, roce_cm_message *m)
{
    m->local_comm_id = roce_cursor_u32(c);
    m->remote_comm_id = roce_cursor_u32(c);
    roce_cursor_skip(c, 4);
    m->qpn = roce_cursor_u24(c);
    roce_cursor_skip(c, 5);
    m->starting_psn = roce_cursor_u24(c);
    roce_cursor_skip(c, 1);
    m->responder_resources = roce_cursor_u8(c);
    m->initiator_depth = roce_cursor_u8(c);
    roce_cursor_skip(c, 1);
    m->rnr_retry_count = roce_cursor_u8(c) >> 5;
}

static void
read_comm_ids(roce_cursor *c, roce_cm_message *m)
{
    m->local_comm_id = roce_cursor_u32(c);
    m->remote_comm_id = roce_cursor_u32(c);
}

static void
read_sidr_req(roce_cursor *c, roce_cm_message *m)
{
    m->local_comm_id = roce_cursor_u32(c);
    roce_cursor_skip(c, 4);
    m->service_id = roce_cursor_u64(c);
}

static void
read_sidr_rep(roce_cursor *c, roce_cm_message *m)
{
    m->local_comm_id = roce_cursor_u32(c);
    m->sidr_status = roce_cursor_u8(c);
    roce_cursor_skip(c, 3); /* length of additional information, reserved */
    m->qpn = roce_cursor_u24(c);
    roce_cursor_skip(c, 1);
    m->service_id = roce_cursor_u64(c);
}

/* Returns 0 for an attribute that is no message of ours. */
static int
read_message(roce_cursor *c, roce_cm_message *m)
{
    switch (m->kind) {
    case ROCE_CM_REQ:
        read_req(c, m);
        return 1;
    case ROCE_CM_REP:
        read_rep(c, m);
        return 1;
    case ROCE_CM_RTU:
    case ROCE_CM_MRA:
    case ROCE_CM_DREP:
        read_comm_ids(c, m);
        return 1;
    case ROCE_CM_REJ:
        read_comm_ids(c, m);
        roce_cursor_skip(c, 2);
        m->reject_reason = roce_cursor_u16(c);
        return 1;
    case ROCE_CM_DREQ:
        read_comm_ids(c, m);
        m->qpn = roce_cursor_u24(c);
        return 1;
    case ROCE_CM_SIDR_REQ:
        read_sidr_req(c, m);
        return 1;
    case ROCE_CM_SIDR_REP:
        read_sidr_rep(c, m);
        return 1;
    case ROCE_CM_NONE:
        break;
    }
    return 0;
}

roce_outcome
roce_cm_decode(const uint8_t *frame, uint32_t captured_bytes, const roce_packet *packet,
               roce_cm_message *message)
{
    if (packet->kind != ROCE_CLASS_ROCE || packet->transport != ROCE_TRANSPORT_UD ||
        !packet->has_bth || packet->bth.dest_qpn != ROCE_GSI_QPN) {
        return ROCE_NOT_OURS;
    }
    uint32_t at = packet->payload_offset;
    uint32_t end = captured_bytes < at + packet->payload_bytes
                       ? captured_bytes
                       : at + packet->payload_bytes;
    uint32_t captured = end > at ? end - at : 0;
    roce_cursor c = roce_cursor_make(frame + (captured > 0 ? at : 0), captured,
                                     packet->payload_bytes);
    uint8_t base = roce_cursor_u8(&c);
    uint8_t class = roce_cursor_u8(&c);
    uint8_t version = roce_cursor_u8(&c);
    roce_cursor_skip(&c, 5); /* method, status, class-specific */
    roce_cm_message m = {.transaction_id = roce_cursor_u64(&c)};
    m.kind = (roce_cm_kind)roce_cursor_u16(&c);
    roce_cursor_skip(&c, 6);
    if (c.outcome != ROCE_DECODED) {
        return c.outcome == ROCE_TRUNCATED ? ROCE_TRUNCATED : ROCE_NOT_OURS;
    }
    if (base != MAD_BASE_VERSION || class != MAD_CLASS_CM ||
        version != MAD_CM_VERSION || read_message(&c, &m) == 0) {
        return ROCE_NOT_OURS;
    }
    if (c.outcome != ROCE_DECODED) {
        return c.outcome == ROCE_TRUNCATED ? ROCE_TRUNCATED : ROCE_NOT_OURS;
    }
    *message = m;
    return ROCE_DECODED;
}

const char *
roce_cm_kind_name(roce_cm_kind kind)
{
    switch (kind) {
    case ROCE_CM_REQ:
        return "REQ";
    case ROCE_CM_MRA:
        return "MRA";
    case ROCE_CM_REJ:
        return "REJ";
    case ROCE_CM_REP:
        return "REP";
    case ROCE_CM_RTU:
        return "RTU";
    case ROCE_CM_DREQ:
        return "DREQ";
    case ROCE_CM_DREP:
        return "DREP";
    case ROCE_CM_SIDR_REQ:
        return "SIDR_REQ";
    case ROCE_CM_SIDR_REP:
        return "SIDR_REP";
    case ROCE_CM_NONE:
        break;
    }
    return "?";
}

/* IBTA Vol. 1, 12.6.7.2, table 108. */
/* clang-format off */
static const char *const reject_names[] = {
    [1] = "no QP available", [2] = "no EEC available", [3] = "no resources available",
    [4] = "timeout", [5] = "unsupported request", [6] = "invalid communication ID",
    [7] = "invalid communication instance", [8] = "invalid service ID",
    [9] = "invalid transport service type", [10] = "stale connection",
    [11] = "RDC does not exist", [12] = "primary remote port GID rejected",
    [13] = "primary remote port LID rejected", [14] = "invalid primary SL",
    [15] = "invalid primary traffic class", [16] = "invalid primary hop limit",
    [17] = "invalid primary packet rate", [18] = "alternate remote port GID rejected",
    [19] = "alternate remote port LID rejected", [20] = "invalid alternate SL",
    [21] = "invalid alternate traffic class", [22] = "invalid alternate hop limit",
    [23] = "invalid alternate packet rate", [24] = "port and CM redirection",
    [25] = "port redirection", [26] = "invalid path MTU",
    [27] = "insufficient responder resources", [28] = "consumer reject",
    [29] = "RNR retry count reject", [30] = "duplicate local communication ID",
    [31] = "invalid class version", [32] = "invalid flow label",
    [33] = "invalid alternate flow label",
};
/* clang-format on */

const char *
roce_cm_reject_name(uint16_t reason)
{
    if (reason >= sizeof reject_names / sizeof reject_names[0] ||
        reject_names[reason] == NULL) {
        return "reserved";
    }
    return reject_names[reason];
}

/* IBTA Vol. 1, 12.11.2: the status of a SIDR REP. */
static const char *const sidr_status_names[] = {
    [0] = "QPN valid",
    [1] = "service ID not supported",
    [2] = "rejected by the service",
    [3] = "no QP available",
    [4] = "request to be redirected",
    [5] = "class version not supported",
};

const char *
roce_cm_sidr_status_name(uint8_t status)
{
    return status < sizeof sidr_status_names / sizeof sidr_status_names[0]
               ? sidr_status_names[status]
               : "reserved";
}
