/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the first byte of a BTH to the ICRC.
 *
 * What is not InfiniBand transport is told here: a header version that is not 0, a
 * length that no packet of that opcode can have.  Ultra Ethernet and whatever else uses
 * the port then opens no stream.
 */
#include "cursor.h"
#include "roce/decode.h"

#define ICRC_BYTES 4
#define BTH_BYTES 12
#define MAX_DC_HEADERS 64      /* ample for what DC has behind its BTH */
#define MAX_PAYLOAD_BYTES 4096 /* the largest path MTU, IBTA 9.6.1.3 */

static void
read_bth(roce_cursor *c, roce_bth *bth)
{
    bth->opcode = roce_cursor_u8(c);
    uint8_t flags = roce_cursor_u8(c);
    bth->solicited = (flags & 0x80) != 0;
    bth->migration = (flags & 0x40) != 0;
    bth->pad_bytes = flags >> 4 & 3;
    bth->version = flags & 0x0f;
    bth->p_key = roce_cursor_u16(c);
    uint8_t congestion = roce_cursor_u8(c);
    bth->fecn = (congestion & 0x80) != 0;
    bth->becn = (congestion & 0x40) != 0;
    bth->dest_qpn = roce_cursor_u24(c);
    bth->ack_request = (roce_cursor_u8(c) & 0x80) != 0;
    bth->psn24 = roce_cursor_u24(c);
}

static void
read_header(roce_cursor *c, roce_header header, roce_packet *p)
{
    switch (header) {
    case ROCE_HEADER_RDETH:
        p->rdeth_ee = roce_cursor_u32(c) & 0xffffff;
        break;
    case ROCE_HEADER_DETH:
        p->deth_q_key = roce_cursor_u32(c);
        p->deth_src_qpn = roce_cursor_u32(c) & 0xffffff;
        break;
    case ROCE_HEADER_XRCETH:
        p->xrceth_srq = roce_cursor_u32(c) & 0xffffff;
        break;
    case ROCE_HEADER_FETH:
        p->feth = roce_cursor_u32(c);
        break;
    case ROCE_HEADER_RETH:
        p->reth.address = roce_cursor_u64(c);
        p->reth.r_key = roce_cursor_u32(c);
        p->reth.length_bytes = roce_cursor_u32(c);
        break;
    case ROCE_HEADER_ATOMICETH:
        p->atomic_address = roce_cursor_u64(c);
        p->atomic_r_key = roce_cursor_u32(c);
        p->atomic_swap_add = roce_cursor_u64(c);
        p->atomic_compare = roce_cursor_u64(c);
        break;
    case ROCE_HEADER_AETH:
        p->aeth_syndrome = roce_cursor_u8(c);
        p->aeth_msn = roce_cursor_u24(c);
        break;
    case ROCE_HEADER_ATOMICACK:
        p->atomic_original = roce_cursor_u64(c);
        break;
    case ROCE_HEADER_IMMDT:
        p->immediate = roce_cursor_u32(c);
        break;
    case ROCE_HEADER_IETH:
        p->ieth_r_key = roce_cursor_u32(c);
        break;
    case ROCE_HEADER_CNP:
        roce_cursor_skip(c, roce_header_size(ROCE_HEADER_CNP));
        break;
    }
}

static uint32_t
headers_size(uint16_t headers)
{
    uint32_t size = 0;
    for (unsigned i = 0; i < ROCE_N_HEADERS; i++) {
        if ((headers & 1u << i) != 0) {
            size += roce_header_size((roce_header)(1u << i));
        }
    }
    return size;
}

/* Bytes between the BTH and the ICRC. */
static uint32_t
body_of(uint32_t wire)
{
    return wire - BTH_BYTES - ICRC_BYTES;
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

static void
not_infiniband(roce_packet *p)
{
    p->class = ROCE_CLASS_NOT_IB;
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
        read_header(c, header, p);
        if (c->outcome != ROCE_DECODED) {
            return;
        }
        p->headers = (uint16_t)(p->headers | header);
    }
}

void
roce_decode_transport(const uint8_t *bytes, uint32_t captured, uint32_t wire,
                      roce_packet *p)
{
    roce_cursor c = roce_cursor_make(bytes, captured, wire);
    p->class = ROCE_CLASS_ROCE;
    p->has_bth = false;
    p->bth_offset = 0;
    p->end_offset = wire;
    p->headers = 0;
    if (wire < BTH_BYTES + ICRC_BYTES) {
        /* Too short on the wire to be anything of InfiniBand's. */
        p->transport = ROCE_TRANSPORT_UNKNOWN;
        p->outcome = ROCE_MALFORMED;
        p->payload_bytes = 0;
        p->payload_offset = 0;
        p->class = ROCE_CLASS_NOT_IB;
        return;
    }
    read_bth(&c, &p->bth);
    if (c.outcome != ROCE_DECODED) {
        p->transport = ROCE_TRANSPORT_UNKNOWN;
        p->bth = (roce_bth){0};
        p->outcome = c.outcome;
        return;
    }
    p->has_bth = true;
    const roce_opcode_info *info = roce_opcode_get(p->bth.opcode);
    uint16_t headers = info->headers;
    p->transport = info->transport;
    if (info->transport == ROCE_TRANSPORT_RD &&
        (body_of(wire) < headers_size(headers) + p->bth.pad_bytes ||
         !looks_like_rd(&c, headers))) {
        p->transport = ROCE_TRANSPORT_DC;
        headers = 0;
    }
    if (p->bth.version != 0) {
        not_infiniband(p);
        return;
    }
    uint32_t body = body_of(wire);
    uint32_t size = headers_size(headers);
    uint32_t most = MAX_PAYLOAD_BYTES + size + p->bth.pad_bytes;
    most += p->transport == ROCE_TRANSPORT_DC ? MAX_DC_HEADERS : 0;
    if (body > most) {
        not_infiniband(p);
        return;
    }
    read_headers(&c, headers, p);
    p->outcome = c.outcome;
    if (body < size + p->bth.pad_bytes) {
        p->outcome = ROCE_MALFORMED; /* the lengths say so, cut or not */
        p->payload_offset = BTH_BYTES;
        p->payload_bytes = 0;
        return;
    }
    p->payload_offset = BTH_BYTES + size;
    p->payload_bytes = body - size - p->bth.pad_bytes;
}
