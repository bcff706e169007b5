/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moulds: what they take and what fits them, for every opcode in the shapes that trains are
 * made of, cut at every length and with every bit of the headers turned over.
 */
#include "mould_agrees.h"
#include "packet_maker.h"
#include "seeded.h"

#define WRITE_MIDDLE 0x07
#define SEND_MIDDLE 0x01
#define READ_RESPONSE_FIRST 0x0d
#define READ_RESPONSE_MIDDLE 0x0e
#define READ_RESPONSE_ONLY 0x10
#define WRITE_ONLY_WITH_IMMEDIATE 0x0b
#define MAX_WIRE 200

typedef struct shape_row {
    const char *name;
    const char *bytes; /* up to the payload length of IP, and behind that */
    uint32_t n;
    uint32_t ip_at;
} shape_row;

static const shape_row shapes[] = {
    {"IPv4", BYTES(MACS IS_IPV4 IPV4("\x00\x00", IS_UDP)), 14},
    {"IPv4, VLAN", BYTES(MACS "\x81\x00\x60\x64" IS_IPV4 IPV4("\x00\x00", IS_UDP)), 18},
    {"IPv6", BYTES(MACS IS_IPV6 IPV6("\x00\x00", IS_UDP)), 14},
    {"IPv6, VLAN", BYTES(MACS "\x81\x00\x60\x64" IS_IPV6 IPV6("\x00\x00", IS_UDP)), 18},
};

/* What a packet differs in. */
typedef struct trait {
    uint8_t opcode, pad, solicited;
    uint16_t ident;
    uint32_t psn24, body; /* extension headers and payload */
} trait;

typedef struct made_frame {
    uint8_t bytes[MAX_WIRE];
    uint32_t wire, udp_at;
} made_frame;

static void
put_16(made_frame *f, uint32_t at, uint32_t value)
{
    f->bytes[at] = (uint8_t)(value >> 8);
    f->bytes[at + 1] = (uint8_t)value;
}

static void
make(made_frame *f, const shape_row *shape, const trait *of)
{
    static const uint8_t udp_and_bth[] = UDP("\x00\x00") "\x00\x40\xff\xff"
                                                         "\x00\x00\x00\x11";
    bool is_v4 = shape->n - shape->ip_at == 20;
    memset(f, 0, sizeof *f);
    memcpy(f->bytes, shape->bytes, shape->n);
    f->udp_at = shape->n;
    memcpy(f->bytes + f->udp_at, udp_and_bth, 16);
    uint8_t *bth = f->bytes + f->udp_at + 8;
    bth[0] = of->opcode;
    bth[1] = (uint8_t)(0x40 | of->pad << 4 | of->solicited << 7);
    bth[8] = of->psn24 % 3 == 0 ? 0x80 : 0;
    bth[9] = (uint8_t)(of->psn24 >> 16);
    put_16(f, f->udp_at + 18, of->psn24 & 0xffff);
    f->wire = f->udp_at + 20 + of->body + 4;
    for (uint32_t i = f->udp_at + 20; i < f->wire; i++) {
        f->bytes[i] = (uint8_t)(i * 37 + of->psn24);
    }
    put_16(f, f->udp_at + 4, f->wire - f->udp_at);
    put_16(f, shape->ip_at + (is_v4 ? 2 : 4),
           f->wire - shape->ip_at - (is_v4 ? 0 : 40));
    if (is_v4) {
        put_16(f, shape->ip_at + 4, of->ident);
        put_right_checksum(f->bytes + shape->ip_at);
    }
}

/* The first `captured` bytes, out of memory that ends right behind them. */
static roce_frame
captured_of(const made_frame *f, uint32_t captured)
{
    uint8_t *copy = malloc(captured > 0 ? captured : 1);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, f->bytes, captured);
    return (roce_frame){
        .bytes = copy,
        .captured_bytes = captured,
        .wire_bytes = f->wire,
        .number = 7,
        .time_ns = 1000,
        .link = ROCE_LINK_ETHERNET,
        .direction = ROCE_DIRECTION_IN,
    };
}

/* To the end of the BTH. */
static uint32_t
least_captured(const made_frame *f)
{
    return f->udp_at + 20;
}

static bool
fits(const roce_frame *lead, const made_frame *f, uint32_t captured)
{
    bool does = false;
    roce_frame frame = captured_of(f, captured);
    (void)mould_agrees(lead, &frame, &does);
    free((void *)(uintptr_t)frame.bytes);
    return does;
}

static const trait lead_traits[] = {
    {WRITE_MIDDLE, 0, 0, 0x1234, 100, 64},
    {SEND_MIDDLE, 2, 1, 0xfffe, 0xffffff, 33},
    {READ_RESPONSE_MIDDLE, 1, 0, 0xfffe, 5, 64},
};

/* Every opcode, pad and length; what fits is of the lead's role. */
static void
test_opcodes(const shape_row *shape, const trait *led)
{
    made_frame f;
    make(&f, shape, led);
    roce_frame lead = captured_of(&f, f.wire);
    roce_role role = roce_opcode_get(led->opcode)->role;
    /* An ACK that limits no credits, and others: with some, none, an RNR NAK, a NAK. */
    static const uint8_t syndromes[] = {0x1f, 0x1e, 0x1f, 0x00, 0x3f, 0x60, 0x5f};
    unsigned n_fit = 0;
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        const roce_opcode_info *info = roce_opcode_get((uint8_t)opcode);
        for (uint32_t body = 0; body < 40; body++) {
            const trait of = {
                (uint8_t)opcode,          body % 4, body & 1, (uint16_t)(body * 999),
                body * 77777u & 0xffffff, body};
            make(&f, shape, &of);
            bool acknowledges = (info->headers & ROCE_HEADER_AETH) != 0;
            if (acknowledges) {
                f.bytes[f.udp_at + 20] = syndromes[body % N_ROWS(syndromes)];
            }
            const unsigned known =
                ROCE_HEADER_RETH | ROCE_HEADER_IMMDT | ROCE_HEADER_AETH;
            bool is_car = info->role == role && info->transport == ROCE_TRANSPORT_RC &&
                          (info->headers & ~known) == 0 &&
                          opcode != READ_RESPONSE_ONLY &&
                          body > info->headers_bytes + of.pad &&
                          (!acknowledges || (f.bytes[f.udp_at + 20] & 0x7f) == 0x1f);
            n_fit += is_car ? 1 : 0;
            if (!CHECK_INT(fits(&lead, &f, f.wire), is_car)) {
                break;
            }
        }
    }
    CHECK(n_fit > 24);
    free((void *)(uintptr_t)lead.bytes);
}

/* A packet that is cut behind its extension headers fits, one that is cut before does not;
 * nor does one whose lengths do not hold each other. */
static void
test_cuts(const shape_row *shape, const trait *led)
{
    made_frame f;
    make(&f, shape, led);
    roce_frame lead = captured_of(&f, f.wire);
    trait first = *led;
    first.opcode = (uint8_t)(led->opcode - 1);
    first.body = 60;
    make(&f, shape, &first);
    if (first.opcode == READ_RESPONSE_FIRST) {
        f.bytes[f.udp_at + 20] = 0x1f;
    }
    uint32_t headers = f.udp_at + 20 + roce_opcode_get(first.opcode)->headers_bytes;
    uint32_t least = least_captured(&f);
    for (uint32_t captured = 0; captured <= f.wire; captured++) {
        CHECK_INT(fits(&lead, &f, captured), captured >= headers && captured >= least);
    }
    put_16(&f, f.udp_at + 4, f.wire - f.udp_at + 1);
    CHECK(!fits(&lead, &f, f.wire));
    free((void *)(uintptr_t)lead.bytes);
}

/* Of a frame that is like its lead byte for byte it still matters how long it was: at least as
 * long as its IP packet, or cut on its way, which UDP shows that goes as far as IP. */
static void
test_lengths(const shape_row *shape, const trait *led, bool udp_is_shorter)
{
    made_frame f;
    make(&f, shape, led);
    uint32_t least = least_captured(&f);
    uint32_t wire = f.wire;
    if (udp_is_shorter) {
        put_16(&f, f.udp_at + 4, wire - f.udp_at - 1);
    }
    roce_frame lead = captured_of(&f, least);
    for (f.wire = least; f.wire < wire + 10; f.wire++) {
        CHECK_INT(fits(&lead, &f, least), f.wire >= wire || !udp_is_shorter);
    }
    free((void *)(uintptr_t)lead.bytes);
}

/* Every bit of every header turned over. */
static void
test_changed_bits(const shape_row *shape, const trait *led)
{
    made_frame f;
    make(&f, shape, led);
    roce_frame lead = captured_of(&f, f.wire);
    unsigned n_fit = 0;
    for (uint32_t bit = 0; bit < 8 * (f.udp_at + 20); bit++) {
        f.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        n_fit += fits(&lead, &f, f.wire) ? 1 : 0;
        f.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    /* PSN, request for an ACK, pad, solicited event, the checksum of UDP, ... */
    CHECK(n_fit >= 24 + 1 + 1 + 16);
    CHECK(n_fit <= 24 + 1 + 2 + 1 + 16 + 16 + 3);
    CHECK(fits(&lead, &f, f.wire));
    free((void *)(uintptr_t)lead.bytes);
}

/* What leaves its checksum out is like what does, whatever its identification. */
static void
test_left_out_checksum(void)
{
    static const struct {
        const char *name;
        uint16_t ident, checksum;
        bool fits;
    } rows[] = {
        {"another identification", 0x1235, 0, true},
        {"the other form of 0", 0x1234, 0xffff, true},
        {"a checksum", 0x1234, 0x0001, false},
        {"one that makes the sum the same", 0x1233, 0x0001, false},
    };
    const shape_row *shape = &shapes[0];
    const uint32_t checksum_at = shape->ip_at + 10;
    made_frame f;
    make(&f, shape, &lead_traits[0]);
    put_16(&f, checksum_at, 0);
    roce_frame lead = captured_of(&f, f.wire);
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        put_16(&f, shape->ip_at + 4, rows[i].ident);
        put_16(&f, checksum_at, rows[i].checksum);
        CHECK_INT(fits(&lead, &f, f.wire), rows[i].fits);
        check_row(NULL);
    }
    free((void *)(uintptr_t)lead.bytes);
}

/* What no mould is taken of. */
static void
test_leads(void)
{
    static const struct {
        const char *name;
        uint8_t opcode;
        uint32_t body;
        uint8_t traffic_class;
    } rows[] = {
        {"no payload", WRITE_MIDDLE, 0, 0x6a},
        {"marked", WRITE_MIDDLE, 64, 0x6b},
        {"a READ request", 0x0c, 16, 0x6a},
        {"a READ response with an AETH", READ_RESPONSE_FIRST, 64, 0x6a},
        {"an ACK", 0x11, 4, 0x6a},
        {"unreliable", 0x27, 64, 0x6a},
        {"SEND with invalidate", 0x17, 64, 0x6a},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        const trait of = {.opcode = rows[i].opcode, .body = rows[i].body};
        made_frame f;
        make(&f, &shapes[0], &of);
        f.bytes[shapes[0].ip_at + 1] = rows[i].traffic_class;
        roce_frame frame = captured_of(&f, f.wire);
        roce_packet packet;
        roce_mould mould;
        decode(ROCE_LINK_ETHERNET, f.bytes, f.wire, f.wire, &packet);
        CHECK_INT(packet.outcome, ROCE_DECODED);
        CHECK(!roce_mould_take(&frame, &packet, &mould));
        bool may_be_a_car = rows[i].opcode <= WRITE_ONLY_WITH_IMMEDIATE ||
                            rows[i].opcode == READ_RESPONSE_FIRST;
        CHECK_INT(roce_mould_hash(&frame) != 0, may_be_a_car);
        free((void *)(uintptr_t)frame.bytes);
    }
}

/* What is no car, and stands among cars. */
static void
test_admits(void)
{
    static const struct {
        const char *name;
        uint8_t lead, opcode;
        uint32_t body;
        uint8_t syndrome, traffic_class;
        bool wanted;
    } rows[] = {
        {"First", READ_RESPONSE_MIDDLE, 0x0d, 64, 0x1f, 0x6a, true},
        {"Last, with credits", READ_RESPONSE_MIDDLE, 0x0f, 10, 0x03, 0x6a, true},
        {"Only", READ_RESPONSE_MIDDLE, 0x10, 64, 0x1f, 0x6a, true},
        {"a car", READ_RESPONSE_MIDDLE, READ_RESPONSE_MIDDLE, 64, 0x1f, 0x6a, false},
        {"with a NAK", READ_RESPONSE_MIDDLE, 0x0d, 64, 0x60, 0x6a, false},
        {"marked", READ_RESPONSE_MIDDLE, 0x0d, 64, 0x1f, 0x6b, false},
        {"without payload", READ_RESPONSE_MIDDLE, 0x10, 4, 0x1f, 0x6a, false},
        {"an ACK", READ_RESPONSE_MIDDLE, 0x11, 4, 0x1f, 0x6a, false},
        {"an atomic's", READ_RESPONSE_MIDDLE, 0x12, 12, 0x1f, 0x6a, false},
        {"a SEND", READ_RESPONSE_MIDDLE, SEND_MIDDLE, 64, 0x1f, 0x6a, false},
        {"among WRITEs", WRITE_MIDDLE, 0x0d, 64, 0x1f, 0x6a, false},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        const trait leads = {.opcode = rows[i].lead, .body = 64};
        const trait of = {.opcode = rows[i].opcode, .body = rows[i].body};
        made_frame f;
        roce_packet packet;
        roce_mould mould;
        make(&f, &shapes[0], &leads);
        f.bytes[shapes[0].ip_at + 1] = 0x6a;
        roce_frame frame = captured_of(&f, f.wire);
        decode(ROCE_LINK_ETHERNET, f.bytes, f.wire, f.wire, &packet);
        CHECK(roce_mould_take(&frame, &packet, &mould));
        free((void *)(uintptr_t)frame.bytes);
        make(&f, &shapes[0], &of);
        f.bytes[shapes[0].ip_at + 1] = rows[i].traffic_class;
        f.bytes[f.udp_at + 20] = rows[i].syndrome;
        frame = captured_of(&f, f.wire);
        decode(ROCE_LINK_ETHERNET, f.bytes, f.wire, f.wire, &packet);
        CHECK_INT(roce_mould_admits(&mould, &frame, &packet), rows[i].wanted);
        free((void *)(uintptr_t)frame.bytes);
    }
    check_row(NULL);
}

int
main(void)
{
    for (size_t i = 0; i < N_ROWS(shapes); i++) {
        for (size_t l = 0; l < N_ROWS(lead_traits); l++) {
            check_row(shapes[i].name);
            test_opcodes(&shapes[i], &lead_traits[l]);
            test_cuts(&shapes[i], &lead_traits[l]);
            test_lengths(&shapes[i], &lead_traits[l], false);
            test_lengths(&shapes[i], &lead_traits[l], true);
            test_changed_bits(&shapes[i], &lead_traits[l]);
        }
    }
    test_left_out_checksum();
    test_leads();
    test_admits();
    return check_status();
}
