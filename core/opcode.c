/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The opcode table: one row per code point, in the order of the five low bits.  RC, UC
 * and XRC share the operations and differ in name and in which of them exist, so a row
 * of operations is expanded once per transport at compile time.
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

/* clang-format off */
#define OP(code, text, hdrs, what, where, service)                                      \
    [code] = {.name = text, .headers = (hdrs), .role = ROCE_ROLE_##what,                \
              .part = ROCE_PART_##where, .transport = ROCE_TRANSPORT_##service}

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

static const roce_opcode_info opcodes[256] = {
    SENDS_AND_WRITES(0x00, "RC", RC, 0),
    READS_AND_ATOMICS(0x00, "RC", RC, 0, 0),
    INVALIDATES(0x00, "RC", RC, 0),
    PLACEMENT(0x00, "RC", RC, 0),

    SENDS_AND_WRITES(0x20, "UC", UC, 0),

    SENDS_AND_WRITES(0x40, "RD", RD, RDETH | DETH),
    READS_AND_ATOMICS(0x40, "RD", RD, RDETH | DETH, RDETH),
    OP(0x55, "RD RESYNC", RDETH | DETH, RESYNC, ONLY, RD),

    OP(0x64, "UD SEND Only", DETH, SEND, ONLY, UD),
    OP(0x65, "UD SEND Only with Immediate", DETH | IMMDT, SEND, ONLY, UD),

    OP(0x81, "CNP", ROCE_HEADER_CNP, CNP, NONE, CNP),

    SENDS_AND_WRITES(0xa0, "XRC", XRC, XRCETH),
    READS_AND_ATOMICS(0xa0, "XRC", XRC, XRCETH, 0),
    INVALIDATES(0xa0, "XRC", XRC, XRCETH),
    PLACEMENT(0xa0, "XRC", XRC, XRCETH),
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
/* clang-format on */
_Static_assert(sizeof opcodes / sizeof opcodes[0] == 256, "one row per code point");

/* Undefined code points, by the service that their top three bits name. */
/* clang-format off */
#define UNDEFINED(text, service)                                                        \
    {.name = text, .role = ROCE_ROLE_UNKNOWN, .part = ROCE_PART_NONE,                   \
     .transport = ROCE_TRANSPORT_##service}
static const roce_opcode_info undefined_rows[8] = {
    UNDEFINED("unknown RC opcode", RC),
    UNDEFINED("unknown UC opcode", UC),
    UNDEFINED("unknown RD or DC opcode", RD),
    UNDEFINED("unknown UD opcode", UD),
    UNDEFINED("unknown opcode", UNKNOWN),
    UNDEFINED("unknown XRC opcode", XRC),
    UNDEFINED("vendor opcode", VENDOR),
    UNDEFINED("vendor opcode", VENDOR),
};

static const uint8_t header_sizes[ROCE_N_HEADERS] = {
    4 /* RDETH */, 8 /* DETH */, 4 /* XRCETH */, 4 /* FETH */, 16 /* RETH */,
    28 /* AtomicETH */, 4 /* AETH */, 8 /* AtomicAckETH */, 4 /* ImmDt */, 4 /* IETH */,
    16 /* CNP */,
};

static const char *const transport_names[ROCE_N_TRANSPORTS] = {
    [ROCE_TRANSPORT_RC] = "RC", [ROCE_TRANSPORT_UC] = "UC", [ROCE_TRANSPORT_RD] = "RD",
    [ROCE_TRANSPORT_UD] = "UD", [ROCE_TRANSPORT_DC] = "DC", [ROCE_TRANSPORT_XRC] = "XRC",
    [ROCE_TRANSPORT_CNP] = "CNP", [ROCE_TRANSPORT_VENDOR] = "vendor",
    [ROCE_TRANSPORT_UNKNOWN] = "unknown",
};
/* clang-format on */

const roce_opcode_info *
roce_opcode_get(uint8_t opcode)
{
    if (opcodes[opcode].name != NULL) {
        return &opcodes[opcode];
    }
    return &undefined_rows[opcode >> 5];
}

const char *
roce_opcode_name(uint8_t opcode, roce_transport transport)
{
    if (transport == ROCE_TRANSPORT_DC) {
        const char *name = dc_names[opcode & 0x1f];
        return name != NULL ? name : undefined_rows[opcode >> 5].name;
    }
    return roce_opcode_get(opcode)->name;
}

unsigned
roce_header_size(roce_header header)
{
    for (unsigned i = 0; i < ROCE_N_HEADERS; i++) {
        if ((unsigned)header == 1u << i) {
            return header_sizes[i];
        }
    }
    return 0;
}

const char *
roce_transport_name(roce_transport transport)
{
    return transport_names[transport];
}

bool
roce_part_starts(roce_part part)
{
    return part == ROCE_PART_FIRST || part == ROCE_PART_ONLY;
}

bool
roce_part_ends(roce_part part)
{
    return part == ROCE_PART_LAST || part == ROCE_PART_ONLY;
}

bool
roce_role_is_request(roce_role role)
{
    return role == ROCE_ROLE_SEND || role == ROCE_ROLE_WRITE ||
           role == ROCE_ROLE_RESYNC || roce_role_wants_response(role);
}

bool
roce_role_wants_response(roce_role role)
{
    return role == ROCE_ROLE_READ_REQUEST || role == ROCE_ROLE_ATOMIC ||
           role == ROCE_ROLE_FLUSH || role == ROCE_ROLE_ATOMIC_WRITE;
}

bool
roce_role_is_response_data(roce_role role)
{
    return role == ROCE_ROLE_READ_RESPONSE || role == ROCE_ROLE_ATOMIC_ACK;
}
