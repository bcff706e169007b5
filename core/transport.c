/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the first byte of a BTH to the ICRC.
 *
 * What is not InfiniBand transport is told here: a header version that is not 0, a
 * length that no packet of that opcode can have.  Ultra Ethernet and whatever else uses
 * the port then opens no stream.
 */
#include "cursor.h"
#include "headers.h"
#include "roce/decode.h"

#define MAX_DC_HEADERS 64 /* ample for what DC has behind its BTH */

/* Bytes between the BTH and the ICRC. */
static uint32_t
body_of(uint32_t wire)
{
    return wire - ROCE_BTH_BYTES - ROCE_ICRC_BYTES;
}

/* RD and DC share code points.  RD carries an RDETH and, on requests, a DETH, each with
 * a reserved first byte of 0 (IBTA 9.3.2, 9.3.3); what does not look so is DC, whose
 * headers beyond the BTH are not public. */
static bool
looks_like_rd(const roce_cursor *c, uint16_t headers)
{
    roce_cursor look = *c;
    if ((headers & ROCE_HEADER_RDETH) == 0 || roce_cursor_u8(&look) != 0) {
        return false;
    }
    roce_cursor_skip(&look, 3);
    if ((headers & ROCE_HEADER_DETH) != 0) {
        roce_cursor_skip(&look, 4);
        if (roce_cursor_u8(&look) != 0) {
            return false;
        }
    }
    return look.outcome != ROCE_MALFORMED;
}

/* Whether there are headers alone behind the BTH, however long: of DC they are not known and
 * count as payload, but for acknowledgements, which carry none. */
static bool
is_bare(const roce_packet *p, const roce_opcode_info *info)
{
    return p->transport == ROCE_TRANSPORT_DC && info->role == ROCE_ROLE_ACK;
}

static void
not_infiniband(roce_packet *p)
{
    p->kind = ROCE_CLASS_NOT_IB;
    p->outcome = ROCE_NOT_OURS;
    p->headers = 0;
}

/* Reads the extension headers of the opcode; stops at the first that was cut. */
static void
read_headers(roce_cursor *c, uint16_t headers, roce_packet *p)
{
    for (unsigned i = 0; i < ROCE_N_HEADERS; i++) {
        roce_header header = (roce_header)(1u << i);
        if ((headers & (unsigned)header) == 0) {
            continue;
        }
        if (!roce_cursor_have(c, roce_header_size(header))) {
            return;
        }
        c->at += roce_header_read(c->bytes + c->at, header, p);
        p->headers = (uint16_t)(p->headers | header);
    }
}

void
roce_decode_transport(const uint8_t *bytes, uint32_t captured, uint32_t wire,
                      roce_packet *p)
{
    roce_cursor c = roce_cursor_make(bytes, captured, wire);
    p->kind = ROCE_CLASS_ROCE;
    p->has_bth = false;
    p->bth_offset = 0;
    p->end_offset = wire;
    p->headers = 0;
    if (wire < ROCE_BTH_BYTES + ROCE_ICRC_BYTES) {
        /* Too short on the wire to be anything of InfiniBand's. */
        p->transport = ROCE_TRANSPORT_UNKNOWN;
        p->outcome = ROCE_MALFORMED;
        p->payload_bytes = 0;
        p->payload_offset = 0;
        p->kind = ROCE_CLASS_NOT_IB;
        return;
    }
    if (!roce_cursor_have(&c, ROCE_BTH_BYTES)) {
        p->transport = ROCE_TRANSPORT_UNKNOWN;
        p->bth = (roce_bth){0};
        p->outcome = c.outcome;
        return;
    }
    roce_bth_read(bytes, &p->bth);
    roce_cursor_skip(&c, ROCE_BTH_BYTES);
    p->has_bth = true;
    const roce_opcode_info *info = roce_opcode_get(p->bth.opcode);
    uint16_t headers = info->headers;
    uint32_t size = info->headers_bytes;
    p->transport = info->transport;
    if (info->transport == ROCE_TRANSPORT_RD &&
        (body_of(wire) < size + p->bth.pad_bytes || !looks_like_rd(&c, headers))) {
        p->transport = ROCE_TRANSPORT_DC;
        headers = 0;
        size = 0;
    }
    if (p->bth.version != 0) {
        not_infiniband(p);
        return;
    }
    uint32_t body = body_of(wire);
    uint32_t most = ROCE_MAX_PAYLOAD_BYTES + size + p->bth.pad_bytes;
    most += p->transport == ROCE_TRANSPORT_DC ? MAX_DC_HEADERS : 0;
    if (body > most) {
        not_infiniband(p);
        return;
    }
    read_headers(&c, headers, p);
    if (is_bare(p, info) && body >= p->bth.pad_bytes) {
        size = body - p->bth.pad_bytes;
        (void)roce_cursor_have(&c, size);
    }
    p->outcome = c.outcome;
    if (body < size + p->bth.pad_bytes) {
        p->outcome = ROCE_MALFORMED; /* the lengths say so, cut or not */
        p->payload_offset = ROCE_BTH_BYTES;
        p->payload_bytes = 0;
        return;
    }
    p->payload_offset = ROCE_BTH_BYTES + size;
    p->payload_bytes = body - size - p->bth.pad_bytes;
}
