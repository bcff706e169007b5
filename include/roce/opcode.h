/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BTH opcodes (IBTA Vol. 1, 9.2.1, Annexes A14 XRC, A17 RoCEv2, A19 memory placement).
 *
 * The one rule: everything that anybody wants to know of an opcode stands in one table
 * row; nobody else switches on opcode numbers.
 */
#ifndef ROCE_OPCODE_H
#define ROCE_OPCODE_H

#include "roce/linkage.h"

#include <stdbool.h>
#include <stdint.h>

ROCE_BEGIN

/* The service an opcode belongs to.  RD and DC share the code points 0x40-0x5f; which
 * of them a packet is, is decided by plausibility in roce_decode(). */
typedef enum roce_transport {
    ROCE_TRANSPORT_RC,
    ROCE_TRANSPORT_UC,
    ROCE_TRANSPORT_RD,
    ROCE_TRANSPORT_UD,
    ROCE_TRANSPORT_DC,
    ROCE_TRANSPORT_XRC,
    ROCE_TRANSPORT_CNP,
    ROCE_TRANSPORT_VENDOR,
    ROCE_TRANSPORT_UNKNOWN,
    ROCE_N_TRANSPORTS,
} roce_transport;

/* Extension headers, one bit each; ascending bits are the order on the wire. */
typedef enum roce_header {
    ROCE_HEADER_RDETH = 1 << 0,     /*  4 bytes, IBTA 9.3.2 */
    ROCE_HEADER_DETH = 1 << 1,      /*  8 bytes, 9.3.3 */
    ROCE_HEADER_XRCETH = 1 << 2,    /*  4 bytes, A14 */
    ROCE_HEADER_FETH = 1 << 3,      /*  4 bytes, A19 */
    ROCE_HEADER_RETH = 1 << 4,      /* 16 bytes, 9.3.4 */
    ROCE_HEADER_ATOMICETH = 1 << 5, /* 28 bytes, 9.3.5 */
    ROCE_HEADER_AETH = 1 << 6,      /*  4 bytes, 9.3.6 */
    ROCE_HEADER_ATOMICACK = 1 << 7, /*  8 bytes, 9.3.7 */
    ROCE_HEADER_IMMDT = 1 << 8,     /*  4 bytes, 9.3.8 */
    ROCE_HEADER_IETH = 1 << 9,      /*  4 bytes, 9.3.9 */
    ROCE_HEADER_CNP = 1 << 10,      /* 16 reserved bytes, A17.9.3 */
} roce_header;
#define ROCE_N_HEADERS 11

/* What a packet does in the protocol. */
typedef enum roce_role {
    ROCE_ROLE_UNKNOWN, /* a code point nobody has defined */
    ROCE_ROLE_SEND,
    ROCE_ROLE_WRITE,
    ROCE_ROLE_READ_REQUEST,
    ROCE_ROLE_READ_RESPONSE,
    ROCE_ROLE_ACK,    /* acknowledge, NAK and RNR NAK: the AETH tells */
    ROCE_ROLE_ATOMIC, /* CmpSwap and FetchAdd */
    ROCE_ROLE_ATOMIC_ACK,
    ROCE_ROLE_FLUSH,        /* answered by a READ Response Only of length 0 */
    ROCE_ROLE_ATOMIC_WRITE, /* likewise */
    ROCE_ROLE_RESYNC,       /* RD only */
    ROCE_ROLE_CNP,
} roce_role;

/* Where in its message a packet stands. */
typedef enum roce_part {
    ROCE_PART_NONE, /* acknowledgements, CNP, unknown */
    ROCE_PART_FIRST,
    ROCE_PART_MIDDLE,
    ROCE_PART_LAST,
    ROCE_PART_ONLY,
} roce_part;

typedef struct roce_opcode_info {
    const char *name;      /* "RC RDMA WRITE Middle"; of static storage; never NULL */
    uint16_t headers;      /* bits of roce_header */
    uint8_t headers_bytes; /* that they take on the wire */
    roce_role role;
    roce_part part;
    roce_transport transport; /* RD for 0x40-0x5f */
} roce_opcode_info;

#define ROCE_N_OPCODES 256
#define ROCE_OPCODE_CNP 0x81 /* A17.9.3 */
/* For roce_opcode_get() alone. */
extern const roce_opcode_info roce_opcode_rows[ROCE_N_OPCODES];

/* The row of a code point.  Never fails: what is undefined has role
 * ROCE_ROLE_UNKNOWN and a name that says so. */
static inline const roce_opcode_info *
roce_opcode_get(uint8_t opcode)
{
    return &roce_opcode_rows[opcode];
}

/* The name of an opcode when the transport is known better than the code point tells:
 * DC packets are named "DC ..." where the row says "RD ...". */
const char *
roce_opcode_name(uint8_t opcode, roce_transport transport);

/* Bytes that the header with this one bit takes on the wire. */
unsigned
roce_header_size(roce_header header);

/* "RC", "UC", ..., "vendor", "unknown". */
const char *
roce_transport_name(roce_transport transport);

/* Whether a packet is the first, or the last, of its message; "only" is both. */
static inline bool
roce_part_starts(roce_part part)
{
    return part == ROCE_PART_FIRST || part == ROCE_PART_ONLY;
}

static inline bool
roce_part_ends(roce_part part)
{
    return part == ROCE_PART_LAST || part == ROCE_PART_ONLY;
}

/* Sets of roles, bit n for role n. */
#define ROCE_ROLES_ANSWERED                                                            \
    (1u << ROCE_ROLE_READ_REQUEST | 1u << ROCE_ROLE_ATOMIC | 1u << ROCE_ROLE_FLUSH |   \
     1u << ROCE_ROLE_ATOMIC_WRITE)
#define ROCE_ROLES_REQUESTS                                                            \
    (ROCE_ROLES_ANSWERED | 1u << ROCE_ROLE_SEND | 1u << ROCE_ROLE_WRITE |              \
     1u << ROCE_ROLE_RESYNC)
#define ROCE_ROLES_RESPONSE_DATA                                                       \
    (1u << ROCE_ROLE_READ_RESPONSE | 1u << ROCE_ROLE_ATOMIC_ACK)

/* Requests are what a requester sends; everything else echoes the peer's PSNs. */
static inline bool
roce_role_is_request(roce_role role)
{
    return (ROCE_ROLES_REQUESTS >> role & 1u) != 0;
}

/* Requests that are answered by data of their own, not by a bare acknowledgement:
 * an ACK beyond them does not complete them (IBTA 9.7.5.1.2). */
static inline bool
roce_role_wants_response(roce_role role)
{
    return (ROCE_ROLES_ANSWERED >> role & 1u) != 0;
}

/* Response data: READ responses and atomic acknowledgements. */
static inline bool
roce_role_is_response_data(roce_role role)
{
    return (ROCE_ROLES_RESPONSE_DATA >> role & 1u) != 0;
}

ROCE_END

#endif
