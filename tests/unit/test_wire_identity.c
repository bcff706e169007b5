/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wire identity: what makes two frames copies of one packet, and what plays no part.
 *
 * The one rule: a row changes one thing in a frame and says whether it is still the same
 * packet.
 */
#include "packet_maker.h"

#include "roce/wire_identity.h"

#define MAX_FRAME 256

typedef struct frame_bytes {
    uint8_t bytes[MAX_FRAME];
    uint32_t captured, wire;
    roce_link link;
} frame_bytes;

/* A WRITE Only of 16 bytes in Ethernet and IPv4. */
#define WRITE_ONLY                                                                     \
    "\x0a\x40\xff\xff\x00\x00\x00\x11\x80\x00\x00\x64"                                 \
    "\x00\x00\x00\x00\x00\x00\x10\x00\x00\x00\x00\x55\x00\x00\x00\x10"                 \
    "0123456789abcdef" ICRC
#define MACS_AND_TYPE 14
#define BTH_AT (MACS_AND_TYPE + 20 + 8)
#define TYPE_AT 12

static frame_bytes
whole(void)
{
    static const char bytes[] =
        MACS IS_IPV4 IPV4("\x00\x4c", IS_UDP) UDP("\x00\x38") WRITE_ONLY;
    frame_bytes frame = {.captured = sizeof bytes - 1, .wire = sizeof bytes - 1};
    memcpy(frame.bytes, bytes, sizeof bytes - 1);
    return frame;
}

/* No RoCE: TCP with a few bytes, padded as Ethernet wants it. */
static frame_bytes
stranger(void)
{
    static const char bytes[] =
        MACS IS_IPV4 IPV4("\x00\x28", IS_TCP) "\x00\x50\xc0\x01\x00\x00\x00\x07\x00\x00"
                                              "\x00\x09\x50\x10\x01\x00\xab\xcd"
                                              "\x00\x00"
                                              "\x00\x00\x00\x00\x00\x00";
    frame_bytes frame = {.captured = sizeof bytes - 1, .wire = sizeof bytes - 1};
    memcpy(frame.bytes, bytes, sizeof bytes - 1);
    return frame;
}

static bool
identify(const frame_bytes *f, roce_wire_identity *identity)
{
    const roce_frame frame = {.bytes = f->bytes,
                              .captured_bytes = f->captured,
                              .wire_bytes = f->wire,
                              .link = f->link};
    roce_ports ports;
    roce_ports_init(&ports);
    roce_packet packet;
    roce_decode(&frame, &ports, &packet);
    return roce_wire_identity_of(&frame, &packet, identity);
}

static void
check_same(const frame_bytes *a, const frame_bytes *b, bool want)
{
    roce_wire_identity x;
    roce_wire_identity y;
    if (CHECK(identify(a, &x)) && CHECK(identify(b, &y))) {
        CHECK_INT(roce_wire_identity_equal(&x, &y), want);
        CHECK_INT(roce_wire_identity_equal(&y, &x), want);
        CHECK(x.narrow != 0 && y.narrow != 0);
    }
}

static void
test_one_byte(void)
{
    static const struct {
        const char *name;
        uint32_t at;
        uint8_t change;
        bool same;
    } rows[] = {
        {"destination MAC", 0, 0x01, true},
        {"source MAC", 6, 0x01, true},
        {"ECN", MACS_AND_TYPE + 1, 0x01, true},
        {"DSCP", MACS_AND_TYPE + 1, 0x80, true},
        {"identification", MACS_AND_TYPE + 5, 0x01, false},
        {"time to live", MACS_AND_TYPE + 8, 0x01, true},
        {"header checksum", MACS_AND_TYPE + 10, 0x01, true},
        {"source address", MACS_AND_TYPE + 15, 0x01, false},
        {"destination address", MACS_AND_TYPE + 19, 0x01, false},
        {"source port", MACS_AND_TYPE + 21, 0x01, false},
        {"UDP checksum", MACS_AND_TYPE + 27, 0x01, true},
        {"opcode", BTH_AT, 0x01, false},
        {"FECN", BTH_AT + 4, 0x80, true},
        {"BECN", BTH_AT + 4, 0x40, true},
        {"destination QPN", BTH_AT + 7, 0x01, false},
        {"acknowledgement asked for", BTH_AT + 8, 0x80, false},
        {"PSN", BTH_AT + 11, 0x01, false},
        {"ICRC, first byte", BTH_AT + 44, 0x01, false},
        {"ICRC, last byte", BTH_AT + 47, 0x01, false},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        frame_bytes a = whole();
        frame_bytes b = whole();
        b.bytes[rows[i].at] ^= rows[i].change;
        check_same(&a, &b, rows[i].same);
    }
}

/* Puts `n` bytes in at `at`. */
static void
insert(frame_bytes *f, uint32_t at, const char *bytes, uint32_t n)
{
    memmove(f->bytes + at + n, f->bytes + at, f->captured - at);
    memcpy(f->bytes + at, bytes, n);
    f->captured += n;
    f->wire += n;
}

static void
test_link(void)
{
    check_row("VLAN");
    frame_bytes a = whole();
    frame_bytes tagged = whole();
    insert(&tagged, TYPE_AT, "\x81\x00\x60\x64", 4);
    check_same(&a, &tagged, true);

    check_row("no Ethernet");
    frame_bytes raw = whole();
    memmove(raw.bytes, raw.bytes + MACS_AND_TYPE, raw.captured - MACS_AND_TYPE);
    raw.captured -= MACS_AND_TYPE;
    raw.wire -= MACS_AND_TYPE;
    raw.link = ROCE_LINK_RAW;
    check_same(&a, &raw, true);

    check_row("trailer");
    frame_bytes longer = whole();
    longer.captured += 4;
    longer.wire += 4;
    memset(longer.bytes + longer.captured - 4, 0xee, 4);
    check_same(&a, &longer, true);
}

/* Where the ICRC was cut off, the rest decides alone. */
static void
test_cut(void)
{
    static const struct {
        const char *name;
        uint32_t cut;
        bool has_icrc;
    } rows[] = {
        {"whole", 0, true},
        {"one byte", 1, false},
        {"the ICRC", 4, false},
        {"the payload", 20, false},
        {"all behind the BTH", 36, false},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        frame_bytes a = whole();
        frame_bytes b = whole();
        b.captured -= rows[i].cut;
        roce_wire_identity identity;
        CHECK(identify(&b, &identity));
        CHECK_INT(identity.has_icrc, rows[i].has_icrc);
        check_same(&a, &b, true);
        a.bytes[a.captured - 1] ^= 1;
        check_same(&a, &b, !rows[i].has_icrc);
        a.bytes[BTH_AT + 11] ^= 1;
        check_same(&a, &b, false);
    }
}

static void
test_stranger(void)
{
    static const struct {
        const char *name;
        uint32_t at;
        uint8_t change;
        bool same;
    } rows[] = {
        {"source MAC", 6, 0x01, true},
        {"time to live", MACS_AND_TYPE + 8, 0x01, true},
        {"TOS", MACS_AND_TYPE + 1, 0x02, true},
        {"identification", MACS_AND_TYPE + 5, 0x01, false},
        {"port", MACS_AND_TYPE + 21, 0x01, false},
        {"sequence number", MACS_AND_TYPE + 27, 0x01, false},
        {"what pads the frame", MACS_AND_TYPE + 42, 0x01, true},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        frame_bytes a = stranger();
        frame_bytes b = stranger();
        b.bytes[rows[i].at] ^= rows[i].change;
        check_same(&a, &b, rows[i].same);
    }
    check_row("VLAN, and less padding");
    frame_bytes a = stranger();
    frame_bytes b = stranger();
    insert(&b, TYPE_AT, "\x81\x00\x60\x64", 4);
    b.captured -= 6;
    b.wire -= 6;
    check_same(&a, &b, true);
    check_row("length not said");
    for (uint32_t n = 0; n < 2; n++) {
        a = stranger();
        b = stranger();
        a.bytes[MACS_AND_TYPE + 3] = b.bytes[MACS_AND_TYPE + 3] = 0;
        b.bytes[MACS_AND_TYPE + 27] ^= (uint8_t)n;
        check_same(&a, &b, n == 0);
    }
    a = stranger();
    check_row("stranger and RoCE");
    frame_bytes roce = whole();
    check_same(&a, &roce, false);
}

static void
test_none(void)
{
    static const struct {
        const char *name;
        const char *bytes;
        uint32_t n;
    } rows[] = {
        {"nothing", NO_BYTES},
        {"PFC", BYTES("\x01\x80\xc2\x00\x00\x01\x02\x00\x00\x00\x00\x11" IS_MAC_CONTROL
                      "\x01\x01\x00\x08\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00\x00\x00"
                      "\x00\x00\x00\x00")},
        {"ARP", BYTES(MACS "\x08\x06\x00\x01\x08\x00\x06\x04\x00\x01")},
        {"cut in the IP header", BYTES(MACS IS_IPV4 "\x45\x00\x00\x30")},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        frame_bytes f = {.captured = rows[i].n, .wire = rows[i].n};
        memcpy(f.bytes, rows[i].bytes, rows[i].n);
        roce_wire_identity identity = {.narrow = 1};
        CHECK(!identify(&f, &identity));
        CHECK_INT(identity.narrow, 1);
    }
}

int
main(void)
{
    test_one_byte();
    test_link();
    test_cut();
    test_stranger();
    test_none();
    return check_status();
}
