/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every defined opcode with its extension headers in wire order, for the tests of the
 * opcode table and of decoding (IBTA Vol. 1, 9.2.1, A14, A17, A19).
 *
 * The one rule: written down from the standard, one row at a time; not made with the
 * macros of core/opcode.c.
 */
#ifndef OPCODE_ROWS_H
#define OPCODE_ROWS_H

#include "roce/opcode.h"

#include <stddef.h>

typedef struct opcode_row {
    uint8_t opcode;
    const char *name;
    const char *headers; /* wire order, one letter each: see header_rows */
    roce_transport transport;
    roce_role role;
    roce_part part;
} opcode_row;

static const struct header_row {
    char letter;
    const char *name;
    roce_header bit;
    unsigned size;
} header_rows[] = {
    {'r', "RDETH", ROCE_HEADER_RDETH, 4},
    {'d', "DETH", ROCE_HEADER_DETH, 8},
    {'x', "XRCETH", ROCE_HEADER_XRCETH, 4},
    {'F', "FETH", ROCE_HEADER_FETH, 4},
    {'R', "RETH", ROCE_HEADER_RETH, 16},
    {'T', "AtomicETH", ROCE_HEADER_ATOMICETH, 28},
    {'A', "AETH", ROCE_HEADER_AETH, 4},
    {'K', "AtomicAckETH", ROCE_HEADER_ATOMICACK, 8},
    {'M', "ImmDt", ROCE_HEADER_IMMDT, 4},
    {'V', "IETH", ROCE_HEADER_IETH, 4},
    {'C', "CNP", ROCE_HEADER_CNP, 16},
};

/* clang-format off */
#define OPCODE_ROW(code, name, headers, transport, role, part)                          \
    {code, name, headers, ROCE_TRANSPORT_##transport, ROCE_ROLE_##role, ROCE_PART_##part}
static const opcode_row opcode_rows[] = {
    OPCODE_ROW(0x00, "RC SEND First", "", RC, SEND, FIRST),
    OPCODE_ROW(0x01, "RC SEND Middle", "", RC, SEND, MIDDLE),
    OPCODE_ROW(0x02, "RC SEND Last", "", RC, SEND, LAST),
    OPCODE_ROW(0x03, "RC SEND Last with Immediate", "M", RC, SEND, LAST),
    OPCODE_ROW(0x04, "RC SEND Only", "", RC, SEND, ONLY),
    OPCODE_ROW(0x05, "RC SEND Only with Immediate", "M", RC, SEND, ONLY),
    OPCODE_ROW(0x06, "RC RDMA WRITE First", "R", RC, WRITE, FIRST),
    OPCODE_ROW(0x07, "RC RDMA WRITE Middle", "", RC, WRITE, MIDDLE),
    OPCODE_ROW(0x08, "RC RDMA WRITE Last", "", RC, WRITE, LAST),
    OPCODE_ROW(0x09, "RC RDMA WRITE Last with Immediate", "M", RC, WRITE, LAST),
    OPCODE_ROW(0x0a, "RC RDMA WRITE Only", "R", RC, WRITE, ONLY),
    OPCODE_ROW(0x0b, "RC RDMA WRITE Only with Immediate", "RM", RC, WRITE, ONLY),
    OPCODE_ROW(0x0c, "RC RDMA READ Request", "R", RC, READ_REQUEST, ONLY),
    OPCODE_ROW(0x0d, "RC RDMA READ Response First", "A", RC, READ_RESPONSE, FIRST),
    OPCODE_ROW(0x0e, "RC RDMA READ Response Middle", "", RC, READ_RESPONSE, MIDDLE),
    OPCODE_ROW(0x0f, "RC RDMA READ Response Last", "A", RC, READ_RESPONSE, LAST),
    OPCODE_ROW(0x10, "RC RDMA READ Response Only", "A", RC, READ_RESPONSE, ONLY),
    OPCODE_ROW(0x11, "RC Acknowledge", "A", RC, ACK, NONE),
    OPCODE_ROW(0x12, "RC ATOMIC Acknowledge", "AK", RC, ATOMIC_ACK, ONLY),
    OPCODE_ROW(0x13, "RC Compare and Swap", "T", RC, ATOMIC, ONLY),
    OPCODE_ROW(0x14, "RC Fetch and Add", "T", RC, ATOMIC, ONLY),
    OPCODE_ROW(0x16, "RC SEND Last with Invalidate", "V", RC, SEND, LAST),
    OPCODE_ROW(0x17, "RC SEND Only with Invalidate", "V", RC, SEND, ONLY),
    OPCODE_ROW(0x1c, "RC FLUSH", "FR", RC, FLUSH, ONLY),
    OPCODE_ROW(0x1d, "RC ATOMIC WRITE", "R", RC, ATOMIC_WRITE, ONLY),

    OPCODE_ROW(0x20, "UC SEND First", "", UC, SEND, FIRST),
    OPCODE_ROW(0x21, "UC SEND Middle", "", UC, SEND, MIDDLE),
    OPCODE_ROW(0x22, "UC SEND Last", "", UC, SEND, LAST),
    OPCODE_ROW(0x23, "UC SEND Last with Immediate", "M", UC, SEND, LAST),
    OPCODE_ROW(0x24, "UC SEND Only", "", UC, SEND, ONLY),
    OPCODE_ROW(0x25, "UC SEND Only with Immediate", "M", UC, SEND, ONLY),
    OPCODE_ROW(0x26, "UC RDMA WRITE First", "R", UC, WRITE, FIRST),
    OPCODE_ROW(0x27, "UC RDMA WRITE Middle", "", UC, WRITE, MIDDLE),
    OPCODE_ROW(0x28, "UC RDMA WRITE Last", "", UC, WRITE, LAST),
    OPCODE_ROW(0x29, "UC RDMA WRITE Last with Immediate", "M", UC, WRITE, LAST),
    OPCODE_ROW(0x2a, "UC RDMA WRITE Only", "R", UC, WRITE, ONLY),
    OPCODE_ROW(0x2b, "UC RDMA WRITE Only with Immediate", "RM", UC, WRITE, ONLY),

    OPCODE_ROW(0x40, "RD SEND First", "rd", RD, SEND, FIRST),
    OPCODE_ROW(0x41, "RD SEND Middle", "rd", RD, SEND, MIDDLE),
    OPCODE_ROW(0x42, "RD SEND Last", "rd", RD, SEND, LAST),
    OPCODE_ROW(0x43, "RD SEND Last with Immediate", "rdM", RD, SEND, LAST),
    OPCODE_ROW(0x44, "RD SEND Only", "rd", RD, SEND, ONLY),
    OPCODE_ROW(0x45, "RD SEND Only with Immediate", "rdM", RD, SEND, ONLY),
    OPCODE_ROW(0x46, "RD RDMA WRITE First", "rdR", RD, WRITE, FIRST),
    OPCODE_ROW(0x47, "RD RDMA WRITE Middle", "rd", RD, WRITE, MIDDLE),
    OPCODE_ROW(0x48, "RD RDMA WRITE Last", "rd", RD, WRITE, LAST),
    OPCODE_ROW(0x49, "RD RDMA WRITE Last with Immediate", "rdM", RD, WRITE, LAST),
    OPCODE_ROW(0x4a, "RD RDMA WRITE Only", "rdR", RD, WRITE, ONLY),
    OPCODE_ROW(0x4b, "RD RDMA WRITE Only with Immediate", "rdRM", RD, WRITE, ONLY),
    OPCODE_ROW(0x4c, "RD RDMA READ Request", "rdR", RD, READ_REQUEST, ONLY),
    OPCODE_ROW(0x4d, "RD RDMA READ Response First", "rA", RD, READ_RESPONSE, FIRST),
    OPCODE_ROW(0x4e, "RD RDMA READ Response Middle", "r", RD, READ_RESPONSE, MIDDLE),
    OPCODE_ROW(0x4f, "RD RDMA READ Response Last", "rA", RD, READ_RESPONSE, LAST),
    OPCODE_ROW(0x50, "RD RDMA READ Response Only", "rA", RD, READ_RESPONSE, ONLY),
    OPCODE_ROW(0x51, "RD Acknowledge", "rA", RD, ACK, NONE),
    OPCODE_ROW(0x52, "RD ATOMIC Acknowledge", "rAK", RD, ATOMIC_ACK, ONLY),
    OPCODE_ROW(0x53, "RD Compare and Swap", "rdT", RD, ATOMIC, ONLY),
    OPCODE_ROW(0x54, "RD Fetch and Add", "rdT", RD, ATOMIC, ONLY),
    OPCODE_ROW(0x55, "RD RESYNC", "rd", RD, RESYNC, ONLY),

    OPCODE_ROW(0x64, "UD SEND Only", "d", UD, SEND, ONLY),
    OPCODE_ROW(0x65, "UD SEND Only with Immediate", "dM", UD, SEND, ONLY),

    OPCODE_ROW(0x81, "CNP", "C", CNP, CNP, NONE),

    OPCODE_ROW(0xa0, "XRC SEND First", "x", XRC, SEND, FIRST),
    OPCODE_ROW(0xa1, "XRC SEND Middle", "x", XRC, SEND, MIDDLE),
    OPCODE_ROW(0xa2, "XRC SEND Last", "x", XRC, SEND, LAST),
    OPCODE_ROW(0xa3, "XRC SEND Last with Immediate", "xM", XRC, SEND, LAST),
    OPCODE_ROW(0xa4, "XRC SEND Only", "x", XRC, SEND, ONLY),
    OPCODE_ROW(0xa5, "XRC SEND Only with Immediate", "xM", XRC, SEND, ONLY),
    OPCODE_ROW(0xa6, "XRC RDMA WRITE First", "xR", XRC, WRITE, FIRST),
    OPCODE_ROW(0xa7, "XRC RDMA WRITE Middle", "x", XRC, WRITE, MIDDLE),
    OPCODE_ROW(0xa8, "XRC RDMA WRITE Last", "x", XRC, WRITE, LAST),
    OPCODE_ROW(0xa9, "XRC RDMA WRITE Last with Immediate", "xM", XRC, WRITE, LAST),
    OPCODE_ROW(0xaa, "XRC RDMA WRITE Only", "xR", XRC, WRITE, ONLY),
    OPCODE_ROW(0xab, "XRC RDMA WRITE Only with Immediate", "xRM", XRC, WRITE, ONLY),
    OPCODE_ROW(0xac, "XRC RDMA READ Request", "xR", XRC, READ_REQUEST, ONLY),
    OPCODE_ROW(0xad, "XRC RDMA READ Response First", "A", XRC, READ_RESPONSE, FIRST),
    OPCODE_ROW(0xae, "XRC RDMA READ Response Middle", "", XRC, READ_RESPONSE, MIDDLE),
    OPCODE_ROW(0xaf, "XRC RDMA READ Response Last", "A", XRC, READ_RESPONSE, LAST),
    OPCODE_ROW(0xb0, "XRC RDMA READ Response Only", "A", XRC, READ_RESPONSE, ONLY),
    OPCODE_ROW(0xb1, "XRC Acknowledge", "A", XRC, ACK, NONE),
    OPCODE_ROW(0xb2, "XRC ATOMIC Acknowledge", "AK", XRC, ATOMIC_ACK, ONLY),
    OPCODE_ROW(0xb3, "XRC Compare and Swap", "xT", XRC, ATOMIC, ONLY),
    OPCODE_ROW(0xb4, "XRC Fetch and Add", "xT", XRC, ATOMIC, ONLY),
    OPCODE_ROW(0xb6, "XRC SEND Last with Invalidate", "xV", XRC, SEND, LAST),
    OPCODE_ROW(0xb7, "XRC SEND Only with Invalidate", "xV", XRC, SEND, ONLY),
    OPCODE_ROW(0xbc, "XRC FLUSH", "xFR", XRC, FLUSH, ONLY),
    OPCODE_ROW(0xbd, "XRC ATOMIC WRITE", "xR", XRC, ATOMIC_WRITE, ONLY),
};
/* clang-format on */

/* The row of a header's letter, or NULL. */
static inline const struct header_row *
header_row_of(char letter)
{
    for (unsigned i = 0; i < sizeof header_rows / sizeof header_rows[0]; i++) {
        if (header_rows[i].letter == letter) {
            return &header_rows[i];
        }
    }
    return NULL;
}

/* The row of an opcode, or NULL for what is not defined. */
static inline const opcode_row *
opcode_row_of(uint8_t opcode)
{
    for (unsigned i = 0; i < sizeof opcode_rows / sizeof opcode_rows[0]; i++) {
        if (opcode_rows[i].opcode == opcode) {
            return &opcode_rows[i];
        }
    }
    return NULL;
}

#endif
