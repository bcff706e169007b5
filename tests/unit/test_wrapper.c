/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wrappers of mirrors: what is taken out of one is decoded to the same as what came in it,
 * whatever bit is turned over and wherever it is cut.
 */
#include "packet_maker.h"

#include "roce/train.h"

#include <stddef.h>

#define OUTER_HEADERS 34 /* Ethernet, IPv4 */

/* What stands between the mirror's IP header and the frame that it copied; with zeros where
 * its packets differ. */
static const struct {
    const char *name;
    const char *bytes;
    uint32_t n;
    uint32_t sequence_at, time_at; /* 0: none */
    bool taken;                    /* a wrapper is made of it */
} rows[] = {
    {"ERSPAN I", BYTES("\x00\x00\x88\xbe"), 0, 0, true},
    {"ERSPAN I with a key", BYTES("\x20\x00\x88\xbe\x00\x00\x00\x4d"), 0, 0, true},
    {"ERSPAN II",
     BYTES("\x10\x00\x88\xbe\x00\x00\x00\x00\x10\x00\x00\x05\x00\x00\x00\x03"), 4, 0,
     true},
    {"ERSPAN II with a key",
     BYTES("\x30\x00\x88\xbe\x00\x00\x00\x4d\x00\x00\x00\x00"
           "\x10\x00\x00\x05\x00\x00\x00\x03"),
     8, 0, true},
    {"ERSPAN III",
     BYTES("\x10\x00\x22\xeb\x00\x00\x00\x00\x20\x00\x00\x05\x00\x00\x00\x00"
           "\x00\x00\x00\x00"),
     4, 12, true},
    {"ERSPAN III without a sequence",
     BYTES("\x00\x00\x22\xeb\x20\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x08"), 0, 8,
     true},
    {"Arista's shortest", BYTES("\x00\x00\xd2\x8b\x00\x08\x00\x01\x00\x09\x00\x02"), 0,
     0, true},
    {"Arista's with time",
     BYTES("\x00\x00\xd2\x8b\x00\x09\x00\x01\x00\x07\x00\x09\x00\x02\x00\x00"
           "\x00\x00\x00\x00\x00\x00\x00\x00"),
     0, 20, true},
    {"GRE", BYTES("\x00\x00\x65\x58"), 0, 0, true},
    {"GRE with a sequence", BYTES("\x10\x00\x65\x58\x00\x00\x00\x00"), 4, 0, true},
    {"frames under a type of their own", BYTES("\x00\x00\x12\x34"), 0, 0, true},
    {"ERSPAN I under the type of III", BYTES("\x00\x00\x22\xeb"), 0, 0, false},
    {"ERSPAN I with a sequence", BYTES("\x10\x00\x88\xbe\x00\x00\x00\x00"), 4, 0,
     false},
    {"frames under Spectrum's type", BYTES("\x00\x00\x89\x49"), 0, 0, false},
    {"ERSPAN II that says it was cut",
     BYTES("\x10\x00\x88\xbe\x00\x00\x00\x00\x10\x00\x04\x05\x00\x00\x00\x03"), 4, 0,
     false},
    {"ERSPAN III with a subheader",
     BYTES("\x00\x00\x22\xeb\x20\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x01"
           "\x00\x00\x00\x00\x00\x00\x00\x00"),
     0, 8, false},
    {"a checksum", BYTES("\x80\x00\x65\x58\x00\x00\x00\x00"), 0, 0, false},
};

typedef enum inside {
    PLAIN,
    TAGGED,
    OF_IPV6,
    N_INSIDES,
} inside;

/* A WRITE Middle, or what its IP header says else. */
static void
put_inside(packet_maker *m, inside what, uint32_t psn24, uint32_t payload_bytes)
{
    uint32_t udp_bytes = 8 + 12 + payload_bytes + 4;
    put_bytes(m, MACS, 12);
    if (what == TAGGED) {
        put_bytes(m, "\x81\x00\x60\x05", 4);
    }
    if (what == OF_IPV6) {
        put_bytes(m, IS_IPV6 "\x66\xa5\x43\x21", 6);
        put_number(m, 2, udp_bytes);
        put_bytes(m, IS_UDP "\x3f" IPV6_ADDRESSES, 34);
    } else {
        put_bytes(m, IS_IPV4 "\x45\x6a", 4);
        put_number(m, 2, 20 + udp_bytes);
        put_bytes(m, "\x12\x34\x40\x00\x3f\x11\xab\xcd" IPV4_ADDRESSES, 16);
    }
    put_bytes(m, "\xc0\x01\x12\xb7", 4);
    put_number(m, 2, udp_bytes);
    put_bytes(m, "\x00\x00\x07\x40\xff\xff\x00\x00\x00\x22", 10);
    put_number(m, 4, psn24);
    put_filler(m, payload_bytes);
    put_bytes(m, ICRC, 4);
}

/* In the mirror of a row, as its n-th packet, with `fcs` bytes behind. */
static packet_maker
mirrored(size_t row, inside what, uint32_t n, uint32_t fcs)
{
    packet_maker in = {0};
    packet_maker m = {0};
    put_inside(&in, what, 100 + n, 64 + 4 * n);
    put_bytes(&m, MACS IS_IPV4 "\x45\x00", 16);
    put_number(&m, 2, 20 + rows[row].n + in.n + fcs);
    put_number(&m, 2, n);
    put_bytes(&m, "\x40\x00\x3d\x2f\xab\xcd" IPV4_ADDRESSES, 14);
    put_bytes(&m, rows[row].bytes, rows[row].n);
    if (rows[row].sequence_at > 0) {
        m.bytes[OUTER_HEADERS + rows[row].sequence_at + 3] = (uint8_t)n;
    }
    if (rows[row].time_at > 0) {
        m.bytes[OUTER_HEADERS + rows[row].time_at + 3] = (uint8_t)n;
    }
    put_bytes(&m, in.bytes, in.n);
    put_filler(&m, fcs);
    return m;
}

static roce_frame
frame_of(const uint8_t *bytes, uint32_t captured, uint32_t wire)
{
    return (roce_frame){
        .bytes = bytes,
        .captured_bytes = captured,
        .wire_bytes = wire,
        .number = 1,
        .link = ROCE_LINK_ETHERNET,
        .direction = ROCE_DIRECTION_IN,
    };
}

static void
decode_frame(const roce_frame *frame, roce_packet *packet)
{
    roce_ports ports;
    roce_ports_init(&ports);
    roce_decode(frame, &ports, packet);
}

/* Of the packet that came in the mirror, what it would be without. */
static void
without_mirror(roce_packet *p)
{
    uint32_t n = p->mirror.frame_offset;
    p->n_tunnels = 0;
    memset(&p->mirror, 0, sizeof p->mirror);
    p->ip_offset -= n;
    p->bth_offset -= n;
    p->payload_offset -= n;
    p->end_offset -= n;
}

/* Whether the wrapper lets the frame be opened; then the two have to agree. */
static bool
agrees(const roce_wrapper *wrapper, const roce_frame *frame)
{
    roce_frame inner;
    roce_packet carried, bare;
    if (!roce_wrapper_open(wrapper, frame, &inner)) {
        return false;
    }
    decode_frame(&inner, &bare);
    if (bare.outcome != ROCE_DECODED || bare.kind != ROCE_CLASS_ROCE) {
        return true;
    }
    decode_frame(frame, &carried);
    CHECK(carried.mirror.kind != ROCE_MIRROR_NONE && !carried.mirror.cut);
    CHECK_INT(carried.n_tunnels, 1);
    CHECK_INT(carried.mirror.wire_bytes, inner.wire_bytes);
    CHECK_INT(carried.mirror.frame_offset, wrapper->n);
    CHECK_INT(inner.captured_bytes < inner.wire_bytes,
              frame->captured_bytes < frame->wire_bytes);
    CHECK_INT(roce_packet_has_icrc(&carried, frame->captured_bytes),
              roce_packet_has_icrc(&bare, inner.captured_bytes));
    without_mirror(&carried);
    CHECK(memcmp(&carried, &bare, sizeof bare) == 0);
    return true;
}

/* A copy that ends where it was cut, so that reading on is an error that ASan reports. */
static bool
agrees_when_cut(const roce_wrapper *wrapper, const packet_maker *m, uint32_t captured)
{
    uint8_t *copy = malloc(captured > 0 ? captured : 1);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, m->bytes, captured);
    const roce_frame frame = frame_of(copy, captured, m->n);
    bool opened = agrees(wrapper, &frame);
    free(copy);
    return opened;
}

static void
check_others(const roce_wrapper *wrapper, size_t row, inside what, uint32_t fcs)
{
    packet_maker other = mirrored(row, what, 9, fcs);
    const roce_frame frame = frame_of(other.bytes, other.n, other.n);
    CHECK(agrees(wrapper, &frame));
    unsigned n_open = 0;
    for (uint32_t captured = 0; captured < other.n; captured++) {
        n_open += agrees_when_cut(wrapper, &other, captured) ? 1 : 0;
    }
    CHECK(n_open > 64);
    for (uint32_t bit = 0; bit < 8 * other.n; bit++) {
        other.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        bool opened = agrees(wrapper, &frame);
        bool is_shared = bit / 8 < wrapper->n && wrapper->shared[bit / 8] != 0;
        CHECK(!(opened && is_shared));
        other.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void
test_rows(void)
{
    for (size_t row = 0; row < N_ROWS(rows); row++) {
        check_row(rows[row].name);
        for (inside what = 0; what < N_INSIDES; what++) {
            for (uint32_t fcs = 0; fcs <= 4; fcs += 4) {
                packet_maker m = mirrored(row, what, 3, fcs);
                const roce_frame frame = frame_of(m.bytes, m.n, m.n);
                roce_packet packet;
                roce_wrapper wrapper;
                decode_frame(&frame, &packet);
                CHECK_INT(roce_wrapper_take(&frame, &packet, &wrapper),
                          rows[row].taken);
                if (rows[row].taken) {
                    check_others(&wrapper, row, what, fcs);
                }
            }
        }
    }
    check_row(NULL);
}

/* A tag that the mirror took off, and keeps in its own header, is not inside. */
static void
test_tag_taken_off(void)
{
    static const char gre[] = "\x10\x00\x88\xbe\x00\x00\x00\x00"
                              "\x10\x05\x70\x05\x00\x00\x00\x03";
    packet_maker m = mirrored(2, PLAIN, 3, 0);
    memcpy(m.bytes + OUTER_HEADERS, gre, sizeof gre - 1);
    const roce_frame frame = frame_of(m.bytes, m.n, m.n);
    roce_packet packet;
    roce_wrapper wrapper;
    decode_frame(&frame, &packet);
    CHECK_INT(packet.n_vlans, 1);
    CHECK(!roce_wrapper_take(&frame, &packet, &wrapper));
}

/* Moulds are made of what was taken out. */
static void
test_mould(void)
{
    packet_maker m = mirrored(2, TAGGED, 3, 0);
    const roce_frame frame = frame_of(m.bytes, m.n, m.n);
    roce_packet packet;
    roce_wrapper wrapper;
    roce_frame inner;
    roce_mould mould;
    roce_car car;
    decode_frame(&frame, &packet);
    CHECK(roce_wrapper_take(&frame, &packet, &wrapper));
    CHECK(roce_wrapper_open(&wrapper, &frame, &inner));
    CHECK(!roce_mould_take(&frame, &packet, &mould));
    CHECK(roce_mould_take(&inner, &packet, &mould));
    CHECK(roce_mould_fits(&mould, &inner, &car));
    CHECK_INT(car.psn24, packet.bth.psn24);
    CHECK_INT(car.wire_bytes, packet.mirror.wire_bytes);
    CHECK_INT(car.payload_bytes, packet.payload_bytes);
}

int
main(void)
{
    test_rows();
    test_tag_taken_off();
    test_mould();
    return check_status();
}
