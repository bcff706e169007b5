/* SPDX-License-Identifier: GPL-2.0-or-later */
/* MAC control: PFC (IEEE 802.1Q clause 36) and PAUSE (IEEE 802.3 annex 31B). */
#include "packet_maker.h"

/* clang-format off */
#define PFC "\x01\x01"
#define PAUSE "\x00\x01"
#define PAD_4 "\0\0\0\0"
#define PAD_26 PAD_4 PAD_4 PAD_4 PAD_4 PAD_4 PAD_4 "\0\0"
#define PAD_42 PAD_26 PAD_4 PAD_4 PAD_4 PAD_4
#define NO_TIMES "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"

static const struct {
    const char *name;
    const char *bytes; /* behind the ethertype */
    uint32_t n;
    uint32_t captured; /* of n; 0: all */
    roce_outcome outcome;
    roce_class class;
    roce_pause want;
} cases[] = {
    {"PFC, priority 3 alone is 0x0008", BYTES(PFC "\x00\x08" "\0\0" "\0\0" "\0\0" "\xff\xff"
                                              "\0\0" "\0\0" "\0\0" "\0\0" PAD_26),
     0, ROCE_DECODED, ROCE_CLASS_PFC, {0x0101, 0x0008, {0, 0, 0, 0xffff}}},
    {"PFC, priority 0", BYTES(PFC "\x00\x01" "\x12\x34" "\0\0" "\0\0" "\0\0"
                              "\0\0" "\0\0" "\0\0" "\0\0" PAD_26),
     0, ROCE_DECODED, ROCE_CLASS_PFC, {0x0101, 0x0001, {0x1234}}},
    {"PFC, priority 7", BYTES(PFC "\x00\x80" "\0\0" "\0\0" "\0\0" "\0\0"
                              "\0\0" "\0\0" "\0\0" "\x00\x01" PAD_26),
     0, ROCE_DECODED, ROCE_CLASS_PFC, {0x0101, 0x0080, {0, 0, 0, 0, 0, 0, 0, 1}}},
    {"PFC, all priorities, times in order",
     BYTES(PFC "\x00\xff" "\x00\x01" "\x00\x02" "\x00\x03" "\x00\x04" "\x00\x05" "\x00\x06"
           "\x00\x07" "\x00\x08" PAD_26),
     0, ROCE_DECODED, ROCE_CLASS_PFC, {0x0101, 0x00ff, {1, 2, 3, 4, 5, 6, 7, 8}}},
    {"PFC, XON of priority 3", BYTES(PFC "\x00\x08" NO_TIMES PAD_26),
     0, ROCE_DECODED, ROCE_CLASS_PFC, {0x0101, 0x0008, {0}}},
    {"PFC, a time whose bit is clear is read all the same",
     BYTES(PFC "\x00\x00" "\0\0" "\0\0" "\0\0" "\x00\x64" "\0\0" "\0\0" "\0\0" "\0\0" PAD_26),
     0, ROCE_DECODED, ROCE_CLASS_PFC, {0x0101, 0x0000, {0, 0, 0, 100}}},
    {"PFC, not padded", BYTES(PFC "\x00\x08" NO_TIMES),
     0, ROCE_DECODED, ROCE_CLASS_PFC, {0x0101, 0x0008, {0}}},
    {"PFC, padding cut", BYTES(PFC "\x00\x08" NO_TIMES PAD_26),
     20, ROCE_DECODED, ROCE_CLASS_PFC, {0x0101, 0x0008, {0}}},
    {"PFC, last time cut", BYTES(PFC "\x00\x81" "\x00\x07" "\0\0" "\0\0" "\0\0" "\0\0" "\0\0"
                                 "\0\0" "\x00\x09" PAD_26),
     19, ROCE_TRUNCATED, ROCE_CLASS_PFC, {0x0101, 0x0081, {7}}},
    {"PFC, last time too short on the wire",
     BYTES(PFC "\x00\x81" "\x00\x07" "\0\0" "\0\0" "\0\0" "\0\0" "\0\0" "\0\0" "\x00"),
     0, ROCE_MALFORMED, ROCE_CLASS_PFC, {0x0101, 0x0081, {7}}},
    {"PFC, vector cut", BYTES(PFC "\x00\x08" NO_TIMES PAD_26),
     3, ROCE_TRUNCATED, ROCE_CLASS_PFC, {0x0101, 0, {0}}},

    {"PAUSE", BYTES(PAUSE "\xff\xff" PAD_42),
     0, ROCE_DECODED, ROCE_CLASS_PAUSE, {0x0001, 0, {0xffff}}},
    {"PAUSE, XON", BYTES(PAUSE "\x00\x00" PAD_42),
     0, ROCE_DECODED, ROCE_CLASS_PAUSE, {0x0001, 0, {0}}},
    {"PAUSE has one time, whatever follows", BYTES(PAUSE "\x00\x08" "\x55\x55" PAD_42),
     0, ROCE_DECODED, ROCE_CLASS_PAUSE, {0x0001, 0, {8}}},
    {"PAUSE, padding cut", BYTES(PAUSE "\x00\x08" PAD_42),
     4, ROCE_DECODED, ROCE_CLASS_PAUSE, {0x0001, 0, {8}}},
    {"PAUSE, time cut", BYTES(PAUSE "\x00\x08" PAD_42),
     3, ROCE_TRUNCATED, ROCE_CLASS_PAUSE, {0x0001, 0, {0}}},
    {"PAUSE, too short on the wire", BYTES(PAUSE "\x00"),
     0, ROCE_MALFORMED, ROCE_CLASS_PAUSE, {0x0001, 0, {0}}},

    {"opcode 0x0000", BYTES("\x00\x00" PAD_42 PAD_4),
     0, ROCE_NOT_OURS, ROCE_CLASS_MAC_CONTROL, {0x0000, 0, {0}}},
    {"opcode 0x0002: EPON's GATE", BYTES("\x00\x02" "\x00\x08" PAD_42),
     0, ROCE_NOT_OURS, ROCE_CLASS_MAC_CONTROL, {0x0002, 0, {0}}},
    {"opcode 0x0100", BYTES("\x01\x00" "\x00\x08" PAD_42),
     0, ROCE_NOT_OURS, ROCE_CLASS_MAC_CONTROL, {0x0100, 0, {0}}},
    {"opcode 0x0102", BYTES("\x01\x02" "\x00\x08" PAD_42),
     0, ROCE_NOT_OURS, ROCE_CLASS_MAC_CONTROL, {0x0102, 0, {0}}},
    {"opcode cut", BYTES(PFC "\x00\x08" NO_TIMES PAD_26),
     1, ROCE_TRUNCATED, ROCE_CLASS_MAC_CONTROL, {0, 0, {0}}},
    {"opcode too short on the wire", BYTES("\x01"),
     0, ROCE_MALFORMED, ROCE_CLASS_MAC_CONTROL, {0, 0, {0}}},
};
/* clang-format on */

static void
check_pause(const roce_packet *p, size_t row)
{
    CHECK_INT(p->outcome, cases[row].outcome);
    CHECK_INT(p->kind, cases[row].class);
    CHECK_INT(p->pause.opcode, cases[row].want.opcode);
    CHECK_INT(p->pause.enabled, cases[row].want.enabled);
    for (unsigned i = 0; i < 8; i++) {
        CHECK_INT(p->pause.quanta[i], cases[row].want.quanta[i]);
    }
}

/* Alone, behind an Ethernet header, and behind a VLAN tag, where no bridge sends it. */
static void
test_cases(void)
{
    static const struct {
        const char *bytes;
        uint32_t n;
    } links[] = {
        {BYTES("\x01\x80\xc2\x00\x00\x01"
               "\x02\x00\x00\x00\x00\x11" IS_MAC_CONTROL)},
        {BYTES("\x01\x80\xc2\x00\x00\x01"
               "\x02\x00\x00\x00\x00\x11"
               "\x81\x00\x60\x00" IS_MAC_CONTROL)},
    };
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        uint32_t captured = cases[i].captured != 0 ? cases[i].captured : cases[i].n;
        uint8_t *copy = malloc(captured);
        if (copy == NULL) {
            abort();
        }
        memcpy(copy, cases[i].bytes, captured);
        roce_packet p = {0};
        roce_decode_mac_control(copy, captured, cases[i].n, &p);
        free(copy);
        check_pause(&p, i);
        for (size_t link = 0; link < N_ROWS(links); link++) {
            packet_maker m = {0};
            put_bytes(&m, links[link].bytes, links[link].n);
            put_bytes(&m, cases[i].bytes, cases[i].n);
            decode(ROCE_LINK_ETHERNET, m.bytes, links[link].n + captured, m.n, &p);
            check_pause(&p, i);
            static const uint8_t from[6] = {2, 0, 0, 0, 0, 0x11};
            CHECK(memcmp(p.src_mac, from, 6) == 0);
            CHECK_INT(p.ethertype, 0x8808);
            CHECK_INT(p.n_vlans, link);
        }
    }
}

/* Nothing behind the ethertype: wrong on the wire, or not captured. */
static void
test_nothing(void)
{
    static const struct {
        const char *name;
        uint32_t wire;
        roce_outcome outcome;
    } rows[] = {
        {"nothing on the wire", 0, ROCE_MALFORMED},
        {"one byte on the wire", 1, ROCE_MALFORMED},
        {"nothing captured", 46, ROCE_TRUNCATED},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        static const uint8_t nothing[1];
        roce_packet p = {0};
        roce_decode_mac_control(nothing + 1, 0, rows[i].wire, &p);
        CHECK_INT(p.outcome, rows[i].outcome);
        CHECK_INT(p.kind, ROCE_CLASS_MAC_CONTROL);
    }
}

int
main(void)
{
    test_cases();
    test_nothing();
    return check_status();
}
