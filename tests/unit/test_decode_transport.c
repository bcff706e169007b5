/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the BTH to the ICRC: every opcode with every extension header, padding, lengths,
 * RD or DC, and what is not InfiniBand transport at all.
 */
#include "opcode_rows.h"
#include "packet_maker.h"

#define BTH_SIZE 12
#define ICRC_SIZE 4
#define MTU 4096 /* the largest path MTU */

/* Decodes `captured` bytes of a packet of `wire`, in memory of exactly that size. */
static void
decode_transport(const void *bytes, uint32_t captured, uint32_t wire, roce_packet *p)
{
    uint8_t *copy = malloc(captured > 0 ? captured : 1);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, bytes, captured);
    roce_decode_transport(captured > 0 ? copy : copy + 1, captured, wire, p);
    free(copy);
}

/* P_Key 0xffff, QP 0x11, PSN 100. */
static void
put_bth(packet_maker *m, uint8_t opcode, unsigned pad_bytes)
{
    put_number(m, 1, opcode);
    put_number(m, 1, 0x40u | pad_bytes << 4);
    put_bytes(m, "\xff\xff\x00\x00\x00\x11\x00\x00\x00\x64", 10);
}

/* An extension header with the values that check_fields() wants. */
static void
put_header(packet_maker *m, char letter)
{
    static const struct {
        char letter;
        const char *bytes;
        uint32_t n;
    } headers[] = {
        {'r', BYTES("\x00\x0a\x0b\x0c")}, /* EE context */
        {'d', BYTES("\x80\x01\x02\x03"
                    "\x00\x12\x34\x56")}, /* Q_Key, source QP */
        {'x', BYTES("\xee\x34\x56\x78")}, /* reserved, SRQ */
        {'F', BYTES("\xf0\x00\x00\x12")},
        {'R', BYTES("\x01\x02\x03\x04\x05\x06\x07\x08" /* address */
                    "\x11\x12\x13\x14"
                    "\x21\x22\x23\x24")},                 /* R_Key, length */
        {'T', BYTES("\x31\x32\x33\x34\x35\x36\x37\x38"    /* address */
                    "\x41\x42\x43\x44"                    /* R_Key */
                    "\x51\x52\x53\x54\x55\x56\x57\x58"    /* swap or add */
                    "\x61\x62\x63\x64\x65\x66\x67\x68")}, /* compare */
        {'A', BYTES("\x65"
                    "\x0d\x0e\x0f")},                     /* syndrome, MSN */
        {'K', BYTES("\x71\x72\x73\x74\x75\x76\x77\x78")}, /* original value */
        {'M', BYTES("\x91\x92\x93\x94")},
        {'V', BYTES("\xa1\xa2\xa3\xa4")},
        {'C', BYTES("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")},
    };
    for (size_t i = 0; i < N_ROWS(headers); i++) {
        if (headers[i].letter == letter) {
            put_bytes(m, headers[i].bytes, headers[i].n);
        }
    }
}

/* Everything that extension headers set: as put_header() wrote it, or zero. */
static void
check_fields(const roce_packet *p, const char *headers)
{
#define WANT(letter, value) (strchr(headers, letter) != NULL ? (value) : 0)
    CHECK_INT(p->rdeth_ee, WANT('r', 0x0a0b0c));
    CHECK_INT(p->deth_q_key, WANT('d', 0x80010203));
    CHECK_INT(p->deth_src_qpn, WANT('d', 0x123456));
    CHECK_INT(p->xrceth_srq, WANT('x', 0x345678));
    CHECK_INT(p->feth, WANT('F', 0xf0000012));
    CHECK_INT(p->reth.address, WANT('R', 0x0102030405060708));
    CHECK_INT(p->reth.r_key, WANT('R', 0x11121314));
    CHECK_INT(p->reth.length_bytes, WANT('R', 0x21222324));
    CHECK_INT(p->atomic_address, WANT('T', 0x3132333435363738));
    CHECK_INT(p->atomic_r_key, WANT('T', 0x41424344));
    CHECK_INT(p->atomic_swap_add, WANT('T', 0x5152535455565758));
    CHECK_INT(p->atomic_compare, WANT('T', 0x6162636465666768));
    CHECK_INT(p->aeth_syndrome, WANT('A', 0x65));
    CHECK_INT(p->aeth_msn, WANT('A', 0x0d0e0f));
    CHECK_INT(p->atomic_original, WANT('K', 0x7172737475767778));
    CHECK_INT(p->immediate, WANT('M', 0x91929394));
    CHECK_INT(p->ieth_r_key, WANT('V', 0xa1a2a3a4));
#undef WANT
}

static void
put_headers(packet_maker *m, const char *headers)
{
    for (const char *letter = headers; *letter != '\0'; letter++) {
        put_header(m, *letter);
    }
}

static uint32_t
size_of(const char *headers)
{
    uint32_t size = 0;
    for (const char *letter = headers; *letter != '\0'; letter++) {
        size += header_row_of(*letter)->size;
    }
    return size;
}

static unsigned
bits_of(const char *headers)
{
    unsigned bits = 0;
    for (const char *letter = headers; *letter != '\0'; letter++) {
        bits |= (unsigned)header_row_of(*letter)->bit;
    }
    return bits;
}

/* Every opcode: headers in wire order, 10 bytes of payload, 2 of pad. */
static void
test_opcodes(void)
{
    for (size_t i = 0; i < N_ROWS(opcode_rows); i++) {
        const opcode_row *row = &opcode_rows[i];
        check_row(row->name);
        packet_maker m = {0};
        put_bth(&m, row->opcode, 2);
        put_headers(&m, row->headers);
        put_filler(&m, 10);
        put_bytes(&m, "\0\0" ICRC, 2 + ICRC_SIZE);
        roce_packet p = {0};
        decode_transport(m.bytes, m.n, m.n, &p);
        CHECK_INT(p.outcome, ROCE_DECODED);
        CHECK_INT(p.kind, ROCE_CLASS_ROCE);
        CHECK(p.has_bth);
        CHECK_INT(p.transport, row->transport);
        CHECK_INT(p.bth.opcode, row->opcode);
        CHECK_INT(p.bth_offset, 0);
        CHECK_INT(p.payload_offset, BTH_SIZE + size_of(row->headers));
        CHECK_INT(p.payload_bytes, 10);
        CHECK_INT(p.end_offset, m.n);
        CHECK_INT(p.headers, bits_of(row->headers));
        check_fields(&p, row->headers);
    }
}

/* Every opcode, cut inside and behind each of its headers: truncated, with the headers
 * before the cut, and the payload's length known all the same. */
static void
test_cut_headers(void)
{
    for (size_t i = 0; i < N_ROWS(opcode_rows); i++) {
        const opcode_row *row = &opcode_rows[i];
        check_row(row->name);
        packet_maker m = {0};
        put_bth(&m, row->opcode, 0);
        put_headers(&m, row->headers);
        put_filler(&m, 8);
        put_bytes(&m, ICRC, ICRC_SIZE);
        uint32_t at = BTH_SIZE;
        for (size_t n = 0; row->headers[n] != '\0'; n++) {
            char before[8] = "";
            memcpy(before, row->headers, n);
            uint32_t end = at + header_row_of(row->headers[n])->size;
            for (uint32_t captured = at; captured < end; captured++) {
                roce_packet p = {0};
                decode_transport(m.bytes, captured, m.n, &p);
                CHECK_INT(p.outcome, ROCE_TRUNCATED);
                CHECK_INT(p.headers, bits_of(before));
                CHECK_INT(p.payload_bytes, 8);
                CHECK_INT(p.payload_offset, m.n - 8 - ICRC_SIZE);
            }
            at = end;
        }
        roce_packet p = {0};
        decode_transport(m.bytes, at, m.n, &p);
        CHECK_INT(p.outcome, ROCE_DECODED);
        check_fields(&p, row->headers);
    }
}

/* Every opcode but RD's, which may be DC's, with just too little, just enough and one
 * byte more than headers and pad want. */
static void
test_least_lengths(void)
{
    for (size_t i = 0; i < N_ROWS(opcode_rows); i++) {
        const opcode_row *row = &opcode_rows[i];
        check_row(row->name);
        if (row->transport == ROCE_TRANSPORT_RD) {
            continue;
        }
        for (unsigned pad = 0; pad <= 3; pad++) {
            packet_maker m = {0};
            put_bth(&m, row->opcode, pad);
            put_headers(&m, row->headers);
            put_filler(&m, 16);
            uint32_t least = BTH_SIZE + size_of(row->headers) + pad + ICRC_SIZE;
            roce_packet p = {0};
            decode_transport(m.bytes, least - 1, least - 1, &p);
            CHECK_INT(p.outcome, ROCE_MALFORMED);
            CHECK_INT(p.payload_bytes, 0);
            p = (roce_packet){0};
            decode_transport(m.bytes, least, least, &p);
            CHECK_INT(p.outcome, ROCE_DECODED);
            CHECK_INT(p.payload_bytes, 0);
            p = (roce_packet){0};
            decode_transport(m.bytes, least + 1, least + 1, &p);
            CHECK_INT(p.outcome, ROCE_DECODED);
            CHECK_INT(p.payload_bytes, 1);
        }
    }
}

static void
test_bth(void)
{
    static const struct {
        const char *name;
        const char *bytes;
        uint32_t n;
        roce_bth want;
    } cases[] = {
        {"nothing set",
         BYTES("\x04\x00\x00\x00"
               "\x00\x00\x00\x00"
               "\x00\x00\x00\x00" ICRC),
         {.opcode = 4}},
        {"solicited event",
         BYTES("\x04\x80\x00\x00"
               "\x00\x00\x00\x00"
               "\x00\x00\x00\x00" ICRC),
         {.opcode = 4, .solicited = true}},
        {"migration request",
         BYTES("\x04\x40\x00\x00"
               "\x00\x00\x00\x00"
               "\x00\x00\x00\x00" ICRC),
         {.opcode = 4, .migration = true}},
        {"pad 1",
         BYTES("\x04\x10\x00\x00"
               "\x00\x00\x00\x00"
               "\x00\x00\x00\x00"
               "\x00" ICRC),
         {.opcode = 4, .pad_bytes = 1}},
        {"pad 2",
         BYTES("\x04\x20\x00\x00"
               "\x00\x00\x00\x00"
               "\x00\x00\x00\x00"
               "\x00\x00" ICRC),
         {.opcode = 4, .pad_bytes = 2}},
        {"pad 3",
         BYTES("\x04\x30\x00\x00"
               "\x00\x00\x00\x00"
               "\x00\x00\x00\x00"
               "\x00\x00\x00" ICRC),
         {.opcode = 4, .pad_bytes = 3}},
        {"P_Key",
         BYTES("\x04\x00\x80\x01"
               "\x00\x00\x00\x00"
               "\x00\x00\x00\x00" ICRC),
         {.opcode = 4, .p_key = 0x8001}},
        {"FECN",
         BYTES("\x04\x00\x00\x00"
               "\x80\x00\x00\x00"
               "\x00\x00\x00\x00" ICRC),
         {.opcode = 4, .fecn = true}},
        {"BECN",
         BYTES("\x04\x00\x00\x00"
               "\x40\x00\x00\x00"
               "\x00\x00\x00\x00" ICRC),
         {.opcode = 4, .becn = true}},
        {"the six bits beside them",
         BYTES("\x04\x00\x00\x00"
               "\x3f\x00\x00\x00"
               "\x00\x00\x00\x00" ICRC),
         {.opcode = 4}},
        {"greatest QP",
         BYTES("\x04\x00\x00\x00"
               "\x00\xff\xff\xff"
               "\x00\x00\x00\x00" ICRC),
         {.opcode = 4, .dest_qpn = 0xffffff}},
        {"acknowledge request",
         BYTES("\x04\x00\x00\x00"
               "\x00\x00\x00\x00"
               "\x80\x00\x00\x00" ICRC),
         {.opcode = 4, .ack_request = true}},
        {"the seven bits beside it",
         BYTES("\x04\x00\x00\x00"
               "\x00\x00\x00\x00"
               "\x7f\x00\x00\x00" ICRC),
         {.opcode = 4}},
        {"greatest PSN",
         BYTES("\x04\x00\x00\x00"
               "\x00\x00\x00\x00"
               "\x00\xff\xff\xff" ICRC),
         {.opcode = 4, .psn24 = 0xffffff}},
        {"byte order",
         BYTES("\x04\x00\x12\x34"
               "\x00\x56\x78\x9a"
               "\x00\xbc\xde\xf0" ICRC),
         {.opcode = 4, .p_key = 0x1234, .dest_qpn = 0x56789a, .psn24 = 0xbcdef0}},
    };
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        roce_packet p = {0};
        decode_transport(cases[i].bytes, cases[i].n, cases[i].n, &p);
        const roce_bth *want = &cases[i].want;
        CHECK_INT(p.outcome, ROCE_DECODED);
        CHECK_INT(p.payload_bytes, 0);
        CHECK_INT(p.bth.opcode, want->opcode);
        CHECK_INT(p.bth.solicited, want->solicited);
        CHECK_INT(p.bth.migration, want->migration);
        CHECK_INT(p.bth.pad_bytes, want->pad_bytes);
        CHECK_INT(p.bth.version, want->version);
        CHECK_INT(p.bth.p_key, want->p_key);
        CHECK_INT(p.bth.fecn, want->fecn);
        CHECK_INT(p.bth.becn, want->becn);
        CHECK_INT(p.bth.dest_qpn, want->dest_qpn);
        CHECK_INT(p.bth.ack_request, want->ack_request);
        CHECK_INT(p.bth.psn24, want->psn24);
    }
}

/* What the first bytes and the lengths say: InfiniBand, cut, wrong, or none of it. */
static void
test_plausible(void)
{
    static const struct {
        const char *name;
        uint8_t opcode, flags; /* of the BTH: pad 0x30, version 0x0f */
        uint32_t captured, wire;
        roce_outcome outcome;
        roce_class class;
        roce_transport transport;
        uint32_t payload;
    } cases[] = {
#define RC ROCE_TRANSPORT_RC
#define NONE ROCE_TRANSPORT_UNKNOWN
        {"BTH not captured", 4, 0, 0, 64, ROCE_TRUNCATED, ROCE_CLASS_ROCE, NONE, 0},
        {"BTH cut by one", 4, 0, 11, 64, ROCE_TRUNCATED, ROCE_CLASS_ROCE, NONE, 0},
        {"BTH alone captured", 4, 0, 12, 64, ROCE_DECODED, ROCE_CLASS_ROCE, RC, 48},
        {"payload cut", 4, 0, 13, 64, ROCE_DECODED, ROCE_CLASS_ROCE, RC, 48},
        {"nothing on the wire", 4, 0, 0, 0, ROCE_MALFORMED, ROCE_CLASS_NOT_IB, NONE, 0},
        {"short on the wire by one", 4, 0, 15, 15, ROCE_MALFORMED, ROCE_CLASS_NOT_IB,
         NONE, 0},
        {"short on the wire and cut", 4, 0, 4, 15, ROCE_MALFORMED, ROCE_CLASS_NOT_IB,
         NONE, 0},
        {"just a BTH and an ICRC", 4, 0, 16, 16, ROCE_DECODED, ROCE_CLASS_ROCE, RC, 0},
        {"one byte of payload", 4, 0, 17, 17, ROCE_DECODED, ROCE_CLASS_ROCE, RC, 1},

        {"no room for the RETH, all captured", 6, 0, 31, 31, ROCE_MALFORMED,
         ROCE_CLASS_ROCE, RC, 0},
        {"no room for the RETH, cut: known by the length", 6, 0, 12, 31, ROCE_MALFORMED,
         ROCE_CLASS_ROCE, RC, 0},
        {"room for the RETH, cut", 6, 0, 12, 32, ROCE_TRUNCATED, ROCE_CLASS_ROCE, RC,
         0},
        {"no room for the pad, cut: known by the length", 4, 0x30, 12, 18,
         ROCE_MALFORMED, ROCE_CLASS_ROCE, RC, 0},

        {"version 0", 4, 0x00, 64, 64, ROCE_DECODED, ROCE_CLASS_ROCE, RC, 48},
        {"version 1", 4, 0x01, 64, 64, ROCE_NOT_OURS, ROCE_CLASS_NOT_IB, RC, 0},
        {"version 8", 4, 0x08, 64, 64, ROCE_NOT_OURS, ROCE_CLASS_NOT_IB, RC, 0},
        {"version 15", 4, 0x0f, 64, 64, ROCE_NOT_OURS, ROCE_CLASS_NOT_IB, RC, 0},
        {"version 1, payload cut", 4, 0x01, 12, 64, ROCE_NOT_OURS, ROCE_CLASS_NOT_IB,
         RC, 0},
        {"version 1, CNP", 0x81, 0x01, 32, 32, ROCE_NOT_OURS, ROCE_CLASS_NOT_IB,
         ROCE_TRANSPORT_CNP, 0},

        {"payload one less than the largest MTU", 4, 0, 64, 16 + MTU - 1, ROCE_DECODED,
         ROCE_CLASS_ROCE, RC, MTU - 1},
        {"payload of the largest MTU", 4, 0, 64, 16 + MTU, ROCE_DECODED,
         ROCE_CLASS_ROCE, RC, MTU},
        {"payload one more than the largest MTU", 4, 0, 64, 16 + MTU + 1, ROCE_NOT_OURS,
         ROCE_CLASS_NOT_IB, RC, 0},
        {"largest MTU and pad 3", 4, 0x30, 64, 16 + MTU + 3, ROCE_DECODED,
         ROCE_CLASS_ROCE, RC, MTU},
        {"largest MTU and one, pad 3", 4, 0x30, 64, 16 + MTU + 4, ROCE_NOT_OURS,
         ROCE_CLASS_NOT_IB, RC, 0},
        {"largest MTU behind a RETH", 6, 0, 64, 16 + 16 + MTU, ROCE_DECODED,
         ROCE_CLASS_ROCE, RC, MTU},
        {"largest MTU and one behind a RETH", 6, 0, 64, 16 + 16 + MTU + 1,
         ROCE_NOT_OURS, ROCE_CLASS_NOT_IB, RC, 0},
        {"longest UDP", 4, 0, 64, 65527, ROCE_NOT_OURS, ROCE_CLASS_NOT_IB, RC, 0},

        {"undefined RC opcode", 0x15, 0, 64, 64, ROCE_DECODED, ROCE_CLASS_ROCE, RC, 48},
        {"undefined UC opcode", 0x2c, 0, 64, 64, ROCE_DECODED, ROCE_CLASS_ROCE,
         ROCE_TRANSPORT_UC, 48},
        {"undefined UD opcode", 0x63, 0, 64, 64, ROCE_DECODED, ROCE_CLASS_ROCE,
         ROCE_TRANSPORT_UD, 48},
        {"undefined XRC opcode", 0xb5, 0, 64, 64, ROCE_DECODED, ROCE_CLASS_ROCE,
         ROCE_TRANSPORT_XRC, 48},
        {"vendor's opcode", 0xc0, 0, 64, 64, ROCE_DECODED, ROCE_CLASS_ROCE,
         ROCE_TRANSPORT_VENDOR, 48},
        {"vendor's last opcode", 0xff, 0, 64, 64, ROCE_DECODED, ROCE_CLASS_ROCE,
         ROCE_TRANSPORT_VENDOR, 48},
#undef RC
#undef NONE
    };
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        packet_maker m = {0};
        put_number(&m, 1, cases[i].opcode);
        put_number(&m, 1, cases[i].flags);
        put_bytes(&m, "\xff\xff\x00\x00\x00\x11\x00\x00\x00\x64", 10);
        put_filler(&m, 100);
        roce_packet p = {.transport = ROCE_TRANSPORT_UNKNOWN};
        decode_transport(m.bytes, cases[i].captured, cases[i].wire, &p);
        CHECK_INT(p.outcome, cases[i].outcome);
        CHECK_INT(p.kind, cases[i].class);
        CHECK_INT(p.transport, cases[i].transport);
        CHECK_INT(p.payload_bytes, cases[i].payload);
        CHECK_INT(p.end_offset, cases[i].wire);
        CHECK_INT(p.has_bth, cases[i].captured >= 12 && cases[i].wire >= 16);
        if (p.kind == ROCE_CLASS_NOT_IB) {
            CHECK_INT(p.headers, 0);
        }
    }
}

/* RD or DC: by the reserved first bytes of RDETH and DETH, and by what fits. */
static void
test_rd_or_dc(void)
{
    static const struct {
        const char *name;
        const char *bytes; /* behind the BTH */
        uint32_t n;
        uint8_t opcode;
        roce_transport transport;
        uint32_t payload;
    } cases[] = {
        {"SEND, both reserved bytes 0",
         BYTES("\x00\x00\x00\x05"
               "\x80\x01\x02\x03"
               "\x00\x00\x00\x07"
               "payl" ICRC),
         0x44, ROCE_TRANSPORT_RD, 4},
        {"SEND, RDETH's is 1",
         BYTES("\x01\x00\x00\x05"
               "\x80\x01\x02\x03"
               "\x00\x00\x00\x07"
               "payl" ICRC),
         0x44, ROCE_TRANSPORT_DC, 16},
        {"SEND, DETH's is 1",
         BYTES("\x00\x00\x00\x05"
               "\x80\x01\x02\x03"
               "\x01\x00\x00\x07"
               "payl" ICRC),
         0x44, ROCE_TRANSPORT_DC, 16},
        {"SEND, DETH's is 0x80",
         BYTES("\x00\x00\x00\x05"
               "\x80\x01\x02\x03"
               "\x80\x00\x00\x07"
               "payl" ICRC),
         0x44, ROCE_TRANSPORT_DC, 16},
        {"Acknowledge, RDETH's is 0",
         BYTES("\x00\x00\x00\x05"
               "\x1f\x00\x00\x01" ICRC),
         0x51, ROCE_TRANSPORT_RD, 0},
        {"Acknowledge, RDETH's is 0x1f",
         BYTES("\x1f\x00\x00\x05"
               "\x1f\x00\x00\x01" ICRC),
         0x51, ROCE_TRANSPORT_DC, 0},
        {"Acknowledge has no DETH to look at",
         BYTES("\x00\x00\x00\x05"
               "\x1f\x00\x00\x01"
               "\xff\xff\xff\xff" ICRC),
         0x51, ROCE_TRANSPORT_RD, 4},
        {"Acknowledge, an AETH alone", BYTES("\x1f\x00\x00\x01" ICRC), 0x51,
         ROCE_TRANSPORT_DC, 0},
        {"SEND, too short for a DETH", BYTES("\x00\x00\x00\x05" ICRC), 0x44,
         ROCE_TRANSPORT_DC, 4},
        {"SEND, too short for an RDETH", BYTES(ICRC), 0x44, ROCE_TRANSPORT_DC, 0},
        {"undefined for RD",
         BYTES("\x00\x00\x00\x05"
               "\x80\x01\x02\x03"
               "\x00\x00\x00\x07" ICRC),
         0x5f, ROCE_TRANSPORT_DC, 12},
    };
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        packet_maker m = {0};
        put_bth(&m, cases[i].opcode, 0);
        put_bytes(&m, cases[i].bytes, cases[i].n);
        roce_packet p = {0};
        decode_transport(m.bytes, m.n, m.n, &p);
        CHECK_INT(p.outcome, ROCE_DECODED);
        CHECK_INT(p.kind, ROCE_CLASS_ROCE);
        CHECK_INT(p.transport, cases[i].transport);
        CHECK_INT(p.payload_bytes, cases[i].payload);
        CHECK_INT(p.headers != 0, cases[i].transport == ROCE_TRANSPORT_RD);
        /* However little was captured, it is not wrong. */
        for (uint32_t captured = 0; captured < m.n; captured++) {
            p = (roce_packet){0};
            decode_transport(m.bytes, captured, m.n, &p);
            if (!CHECK(p.outcome != ROCE_MALFORMED)) {
                fprintf(stderr, "    with %u bytes captured\n", captured);
            }
        }
    }
}

/* DC's own headers are not public: 64 bytes are allowed for. */
static void
test_longest_dc(void)
{
    static const struct {
        const char *name;
        uint32_t payload;
        roce_class class;
    } cases[] = {
        {"one less", MTU + 64 - 1, ROCE_CLASS_ROCE},
        {"longest", MTU + 64, ROCE_CLASS_ROCE},
        {"one more", MTU + 64 + 1, ROCE_CLASS_NOT_IB},
    };
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        packet_maker m = {0};
        put_bth(&m, 0x44, 0);
        put_filler(&m, 64); /* begins with 0x80 */
        roce_packet p = {0};
        decode_transport(m.bytes, m.n, BTH_SIZE + cases[i].payload + ICRC_SIZE, &p);
        CHECK_INT(p.kind, cases[i].class);
        CHECK_INT(p.transport, ROCE_TRANSPORT_DC);
    }
}

/* Reserved bytes before 24-bit fields are not part of them. */
static void
test_reserved(void)
{
    check_row("UD, reserved byte of the DETH set");
    packet_maker m = {0};
    put_bth(&m, 0x64, 0);
    put_bytes(&m, "\x80\x01\x02\x03\xff\x12\x34\x56" ICRC, 12);
    roce_packet p = {0};
    decode_transport(m.bytes, m.n, m.n, &p);
    CHECK_INT(p.transport, ROCE_TRANSPORT_UD);
    CHECK_INT(p.deth_src_qpn, 0x123456);

    check_row("CNP, reserved bytes set");
    m = (packet_maker){0};
    put_bth(&m, 0x81, 0);
    put_bytes(&m, "0123456789abcdef" ICRC, 20);
    p = (roce_packet){0};
    decode_transport(m.bytes, m.n, m.n, &p);
    CHECK_INT(p.outcome, ROCE_DECODED);
    CHECK_INT(p.transport, ROCE_TRANSPORT_CNP);
    CHECK_INT(p.headers, ROCE_HEADER_CNP);
    CHECK_INT(p.payload_bytes, 0);
}

/* A packet that was used before keeps nothing of its transport. */
static void
test_used_before(void)
{
    static const char whole[] = RC_ACK;
    roce_packet p = {.src_port = 1234};
    check_row("used before, now whole");
    decode_transport(whole, RC_ACK_SIZE, RC_ACK_SIZE, &p);
    CHECK(p.has_bth);
    CHECK_INT(p.src_port, 1234);
    check_row("used before, now cut");
    decode_transport(whole, 11, RC_ACK_SIZE, &p);
    CHECK(!p.has_bth);
    CHECK_INT(p.headers, 0);
    CHECK_INT(p.src_port, 1234);
    check_row("used before, now too short");
    decode_transport(whole, RC_ACK_SIZE, RC_ACK_SIZE, &p);
    decode_transport(whole, 11, 11, &p);
    CHECK(!p.has_bth);
    CHECK_INT(p.payload_bytes, 0);
}

int
main(void)
{
    test_opcodes();
    test_cut_headers();
    test_least_lengths();
    test_bth();
    test_plausible();
    test_rd_or_dc();
    test_longest_dc();
    test_reserved();
    test_used_before();
    return check_status();
}
