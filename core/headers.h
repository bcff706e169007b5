/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The headers of InfiniBand transport, field by field: the BTH (IBTA Vol. 1, 9.2) and its
 * extension headers (9.3, A14, A19).
 *
 * The one rule: a header is read whole, out of bytes that are there; whoever calls has
 * seen to that.
 */
#ifndef ROCE_CORE_HEADERS_H
#define ROCE_CORE_HEADERS_H

#include "bytes.h"
#include "roce/packet.h"

#define ROCE_BTH_BYTES 12
#define ROCE_ICRC_BYTES 4
#define ROCE_MAX_PAYLOAD_BYTES 4096 /* the largest path MTU, IBTA 9.6.1.3 */

/* Reads ROCE_BTH_BYTES bytes. */
static inline void
roce_bth_read(const uint8_t *at, roce_bth *bth)
{
    uint8_t flags = at[1];
    uint8_t congestion = at[4];
    uint32_t qpn_word = roce_be32(at + 4);
    uint32_t psn_word = roce_be32(at + 8);
    bth->opcode = at[0];
    bth->solicited = (flags & 0x80) != 0;
    bth->migration = (flags & 0x40) != 0;
    bth->pad_bytes = flags >> 4 & 3;
    bth->version = flags & 0x0f;
    bth->p_key = roce_be16(at + 2);
    bth->fecn = (congestion & 0x80) != 0;
    bth->becn = (congestion & 0x40) != 0;
    bth->dest_qpn = qpn_word & 0xffffff;
    bth->ack_request = psn_word >> 31;
    bth->psn24 = psn_word & 0xffffff;
}

/* Reads one extension header, roce_header_size() bytes, and returns how many that is. */
static inline uint32_t
roce_header_read(const uint8_t *at, roce_header header, roce_packet *p)
{
    switch (header) {
    case ROCE_HEADER_RDETH:
        p->rdeth_ee = roce_be24(at + 1);
        return 4;
    case ROCE_HEADER_DETH:
        p->deth_q_key = roce_be32(at);
        p->deth_src_qpn = roce_be24(at + 5);
        return 8;
    case ROCE_HEADER_XRCETH:
        p->xrceth_srq = roce_be24(at + 1);
        return 4;
    case ROCE_HEADER_FETH:
        p->feth = roce_be32(at);
        return 4;
    case ROCE_HEADER_RETH:
        p->reth.address = roce_be64(at);
        p->reth.r_key = roce_be32(at + 8);
        p->reth.length_bytes = roce_be32(at + 12);
        return 16;
    case ROCE_HEADER_ATOMICETH:
        p->atomic_address = roce_be64(at);
        p->atomic_r_key = roce_be32(at + 8);
        p->atomic_swap_add = roce_be64(at + 12);
        p->atomic_compare = roce_be64(at + 20);
        return 28;
    case ROCE_HEADER_AETH:
        p->aeth_syndrome = at[0];
        p->aeth_msn = roce_be24(at + 1);
        return 4;
    case ROCE_HEADER_ATOMICACK:
        p->atomic_original = roce_be64(at);
        return 8;
    case ROCE_HEADER_IMMDT:
        p->immediate = roce_be32(at);
        return 4;
    case ROCE_HEADER_IETH:
        p->ieth_r_key = roce_be32(at);
        return 4;
    case ROCE_HEADER_CNP: /* reserved */
        return 16;
    }
    return 0;
}

#endif
