/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The opcode table: one row per code point, in the order of the five low bits.  RC, UC
 * and XRC share the operations and differ in name and in which of them exist, so a row
 * of operations is expanded once per transport at compile time.  Code points that nobody
 * has defined have rows as well: a look-up is one access, whatever came off the wire.
 */
#include "roce/opcode.h"

#include <stddef.h>

#define RETH ROCE_HEADER_RETH
#define AETH ROCE_HEADER_AETH
#define ATOMICETH ROCE_HEADER_ATOMICETH
#define ATOMICACK ROCE_HEADER_ATOMICACK
#define IMMDT ROCE_HEADER_IMMDT
#define IETH ROCE_HEADER_IETH
#define DETH ROCE_HEADER_DETH
#define RDETH ROCE_HEADER_RDETH
#define XRCETH ROCE_HEADER_XRCETH
#define FETH ROCE_HEADER_FETH
#define CNP ROCE_HEADER_CNP

/* clang-format off */
/* Bytes that headers take on the wire. */
#define BYTES_OF(headers)                                                               \
    ((((headers) & RDETH) != 0 ? 4u : 0u) + (((headers) & DETH) != 0 ? 8u : 0u) +       \
     (((headers) & XRCETH) != 0 ? 4u : 0u) + (((headers) & FETH) != 0 ? 4u : 0u) +      \
     (((headers) & RETH) != 0 ? 16u : 0u) + (((headers) & ATOMICETH) != 0 ? 28u : 0u) + \
     (((headers) & AETH) != 0 ? 4u : 0u) + (((headers) & ATOMICACK) != 0 ? 8u : 0u) +   \
     (((headers) & IMMDT) != 0 ? 4u : 0u) + (((headers) & IETH) != 0 ? 4u : 0u) +       \
     (((headers) & CNP) != 0 ? 16u : 0u))

#define OP(code, text, hdrs, what, where, service)                                      \
    [code] = {.name = text, .headers = (hdrs), .headers_bytes = BYTES_OF(hdrs),         \
              .role = ROCE_ROLE_##what, .part = ROCE_PART_##where,                      \
              .transport = ROCE_TRANSPORT_##service}

/* SEND and WRITE, which every connected service and RD have; `x` goes before each. */
#define SENDS_AND_WRITES(base, t, service, x)                                           \
    OP(base + 0x00, t " SEND First", x, SEND, FIRST, service),                          \
    OP(base + 0x01, t " SEND Middle", x, SEND, MIDDLE, service),                        \
    OP(base + 0x02, t " SEND Last", x, SEND, LAST, service),                            \
    OP(base + 0x03, t " SEND Last with Immediate", (x) | IMMDT, SEND, LAST, service),   \
    OP(base + 0x04, t " SEND Only", x, SEND, ONLY, service),                            \
    OP(base + 0x05, t " SEND Only with Immediate", (x) | IMMDT, SEND, ONLY, service),   \
    OP(base + 0x06, t " RDMA WRITE First", (x) | RETH, WRITE, FIRST, service),          \
    OP(base + 0x07, t " RDMA WRITE Middle", x, WRITE, MIDDLE, service),                 \
    OP(base + 0x08, t " RDMA WRITE Last", x, WRITE, LAST, service),                     \
    OP(base + 0x09, t " RDMA WRITE Last with Immediate", (x) | IMMDT, WRITE, LAST, service), \
    OP(base + 0x0a, t " RDMA WRITE Only", (x) | RETH, WRITE, ONLY, service),            \
    OP(base + 0x0b, t " RDMA WRITE Only with Immediate", (x) | RETH | IMMDT, WRITE, ONLY, service)

/* READ, atomics and acknowledgements; `x` goes before requests, `y` before responses. */
#define READS_AND_ATOMICS(base, t, service, x, y)                                       \
    OP(base + 0x0c, t " RDMA READ Request", (x) | RETH, READ_REQUEST, ONLY, service),   \
    OP(base + 0x0d, t " RDMA READ Response First", (y) | AETH, READ_RESPONSE, FIRST, service), \
    OP(base + 0x0e, t " RDMA READ Response Middle", y, READ_RESPONSE, MIDDLE, service), \
    OP(base + 0x0f, t " RDMA READ Response Last", (y) | AETH, READ_RESPONSE, LAST, service), \
    OP(base + 0x10, t " RDMA READ Response Only", (y) | AETH, READ_RESPONSE, ONLY, service), \
    OP(base + 0x11, t " Acknowledge", (y) | AETH, ACK, NONE, service),                  \
    OP(base + 0x12, t " ATOMIC Acknowledge", (y) | AETH | ATOMICACK, ATOMIC_ACK, ONLY, service), \
    OP(base + 0x13, t " Compare and Swap", (x) | ATOMICETH, ATOMIC, ONLY, service),     \
    OP(base + 0x14, t " Fetch and Add", (x) | ATOMICETH, ATOMIC, ONLY, service)

#define INVALIDATES(base, t, service, x)                                                \
    OP(base + 0x16, t " SEND Last with Invalidate", (x) | IETH, SEND, LAST, service),   \
    OP(base + 0x17, t " SEND Only with Invalidate", (x) | IETH, SEND, ONLY, service)

/* A19, memory placement extensions. */
#define PLACEMENT(base, t, service, x)                                                  \
    OP(base + 0x1c, t " FLUSH", (x) | FETH | RETH, FLUSH, ONLY, service),               \
    OP(base + 0x1d, t " ATOMIC WRITE", (x) | RETH, ATOMIC_WRITE, ONLY, service)

/* One, four and sixteen code points in a row that nobody has defined. */
#define NONE(code, text, service) OP(code, text, 0, UNKNOWN, NONE, service)
#define NONE_4(code, text, service)                                                     \
    NONE(code, text, service), NONE((code) + 1, text, service),                         \
    NONE((code) + 2, text, service), NONE((code) + 3, text, service)
#define NONE_16(code, text, service)                                                    \
    NONE_4(code, text, service), NONE_4((code) + 4, text, service),                     \
    NONE_4((code) + 8, text, service), NONE_4((code) + 12, text, service)

#define NO_RC "unknown RC opcode"
#define NO_UC "unknown UC opcode"
#define NO_RD_OR_DC "unknown RD or DC opcode"
#define NO_UD "unknown UD opcode"
#define NO_SERVICE "unknown opcode"
#define NO_XRC "unknown XRC opcode"
#define OF_VENDOR "vendor opcode"

const roce_opcode_info roce_opcode_rows[ROCE_N_OPCODES] = {
    SENDS_AND_WRITES(0x00, "RC", RC, 0),
    READS_AND_ATOMICS(0x00, "RC", RC, 0, 0),
    INVALIDATES(0x00, "RC", RC, 0),
    PLACEMENT(0x00, "RC", RC, 0),
    NONE(0x15, NO_RC, RC), NONE_4(0x18, NO_RC, RC),
    NONE(0x1e, NO_RC, RC), NONE(0x1f, NO_RC, RC),

    SENDS_AND_WRITES(0x20, "UC", UC, 0),
    NONE_4(0x2c, NO_UC, UC), NONE_16(0x30, NO_UC, UC),

    SENDS_AND_WRITES(0x40, "RD", RD, RDETH | DETH),
    READS_AND_ATOMICS(0x40, "RD", RD, RDETH | DETH, RDETH),
    OP(0x55, "RD RESYNC", RDETH | DETH, RESYNC, ONLY, RD),
    NONE(0x56, NO_RD_OR_DC, RD), NONE(0x57, NO_RD_OR_DC, RD),
    NONE_4(0x58, NO_RD_OR_DC, RD), NONE_4(0x5c, NO_RD_OR_DC, RD),

    NONE_4(0x60, NO_UD, UD),
    OP(0x64, "UD SEND Only", DETH, SEND, ONLY, UD),
    OP(0x65, "UD SEND Only with Immediate", DETH | IMMDT, SEND, ONLY, UD),
    NONE(0x66, NO_UD, UD), NONE(0x67, NO_UD, UD), NONE_4(0x68, NO_UD, UD),
    NONE_4(0x6c, NO_UD, UD), NONE_16(0x70, NO_UD, UD),

    NONE(0x80, NO_SERVICE, UNKNOWN),
    OP(ROCE_OPCODE_CNP, "CNP", CNP, CNP, NONE, CNP),
    NONE(0x82, NO_SERVICE, UNKNOWN), NONE(0x83, NO_SERVICE, UNKNOWN),
    NONE_4(0x84, NO_SERVICE, UNKNOWN), NONE_4(0x88, NO_SERVICE, UNKNOWN),
    NONE_4(0x8c, NO_SERVICE, UNKNOWN), NONE_16(0x90, NO_SERVICE, UNKNOWN),

    SENDS_AND_WRITES(0xa0, "XRC", XRC, XRCETH),
    READS_AND_ATOMICS(0xa0, "XRC", XRC, XRCETH, 0),
    INVALIDATES(0xa0, "XRC", XRC, XRCETH),
    PLACEMENT(0xa0, "XRC", XRC, XRCETH),
    NONE(0xb5, NO_XRC, XRC), NONE_4(0xb8, NO_XRC, XRC),
    NONE(0xbe, NO_XRC, XRC), NONE(0xbf, NO_XRC, XRC),

    NONE_16(0xc0, OF_VENDOR, VENDOR), NONE_16(0xd0, OF_VENDOR, VENDOR),
    NONE_16(0xe0, OF_VENDOR, VENDOR), NONE_16(0xf0, OF_VENDOR, VENDOR),
};

static const char *const dc_names[32] = {
    "DC SEND First", "DC SEND Middle", "DC SEND Last", "DC SEND Last with Immediate",
    "DC SEND Only", "DC SEND Only with Immediate", "DC RDMA WRITE First",
    "DC RDMA WRITE Middle", "DC RDMA WRITE Last", "DC RDMA WRITE Last with Immediate",
    "DC RDMA WRITE Only", "DC RDMA WRITE Only with Immediate", "DC RDMA READ Request",
    "DC RDMA READ Response First", "DC RDMA READ Response Middle",
    "DC RDMA READ Response Last", "DC RDMA READ Response Only", "DC Acknowledge",
    "DC ATOMIC Acknowledge", "DC Compare and Swap", "DC Fetch and Add",
};

static const char *const transport_names[ROCE_N_TRANSPORTS] = {
    [ROCE_TRANSPORT_RC] = "RC", [ROCE_TRANSPORT_UC] = "UC", [ROCE_TRANSPORT_RD] = "RD",
    [ROCE_TRANSPORT_UD] = "UD", [ROCE_TRANSPORT_DC] = "DC", [ROCE_TRANSPORT_XRC] = "XRC",
    [ROCE_TRANSPORT_CNP] = "CNP", [ROCE_TRANSPORT_VENDOR] = "vendor",
    [ROCE_TRANSPORT_UNKNOWN] = "unknown",
};
/* clang-format on */

const char *
roce_opcode_name(uint8_t opcode, roce_transport transport)
{
    if (transport == ROCE_TRANSPORT_DC) {
        const char *name = dc_names[opcode & 0x1f];
        return name != NULL ? name : NO_RD_OR_DC;
    }
    return roce_opcode_get(opcode)->name;
}

unsigned
roce_header_size(roce_header header)
{
    unsigned bits = (unsigned)header;
    return (bits & (bits - 1)) == 0 ? BYTES_OF(bits) : 0;
}

const char *
roce_transport_name(roce_transport transport)
{
    return transport_names[transport];
}
