/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which ICRCs are checked; test_icrc.c has the rest. */
#include "packet_maker.h"

#include "icrc_check.h"

/* An RC Acknowledge whose ICRC is right (zlib's crc32 made it), and one where it is not. */
#define GOOD_ACK IPV4_RC_ACK_WITH("\x68\x11\x96\x20")
#define BAD_ACK IPV4_RC_ACK_WITH("\x68\x11\x96\x21")
#define IPV4_RC_ACK_WITH(icrc)                                                         \
    MACS IS_IPV4 IPV4("\x00\x30", IS_UDP)                                              \
        UDP("\x00\x1c") "\x11\x40\xff\xff\x00\x00\x00\x11\x00\x00\x00\x64"             \
                        "\x1f\x00\x00\x07" icrc

static void
test_modes(void)
{
    static const struct {
        const char *name;
        const char *bytes;
        uint32_t captured;
        rs_icrc_mode mode;
        uint32_t psn24;
        guint64 number;
        roce_icrc_status want;
        guint64 passed_over;
    } cases[] = {
        {"all, good", BYTES(GOOD_ACK), RS_ICRC_ALL, 100, 5000, ROCE_ICRC_GOOD, 0},
        {"all, bad", BYTES(BAD_ACK), RS_ICRC_ALL, 100, 5000, ROCE_ICRC_BAD, 0},
        {"all, cut", GOOD_ACK, 61, RS_ICRC_ALL, 100, 5000, ROCE_ICRC_TRUNCATED, 0},
        {"off", BYTES(GOOD_ACK), RS_ICRC_OFF, 128, 1, ROCE_ICRC_UNCHECKED, 1},
        {"sample, at first", BYTES(GOOD_ACK), RS_ICRC_SAMPLE, 100, 1000, ROCE_ICRC_GOOD,
         0},
        {"sample, then", BYTES(GOOD_ACK), RS_ICRC_SAMPLE, 100, 1001,
         ROCE_ICRC_UNCHECKED, 1},
        {"sample, of it", BYTES(GOOD_ACK), RS_ICRC_SAMPLE, 128, 1001, ROCE_ICRC_GOOD,
         0},
        {"sample, one before", BYTES(GOOD_ACK), RS_ICRC_SAMPLE, 127, 1001,
         ROCE_ICRC_UNCHECKED, 1},
        {"sample, one behind", BYTES(GOOD_ACK), RS_ICRC_SAMPLE, 129, 1001,
         ROCE_ICRC_UNCHECKED, 1},
        {"sample, cut", GOOD_ACK, 61, RS_ICRC_SAMPLE, 128, 1001, ROCE_ICRC_TRUNCATED,
         0},
        {"no BTH captured", GOOD_ACK, 50, RS_ICRC_SAMPLE, 127, 1001,
         ROCE_ICRC_UNCHECKED, 0},
        {"not RoCE", MACS IS_IPV4 IPV4("\x00\x30", IS_TCP) UDP("\x00\x1c") RC_ACK, 62,
         RS_ICRC_ALL, 0, 1, ROCE_ICRC_UNCHECKED, 0},
    };
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        const roce_frame frame = {
            .bytes = (const uint8_t *)cases[i].bytes,
            .captured_bytes = cases[i].captured,
            .wire_bytes = 62,
            .number = cases[i].number,
            .link = ROCE_LINK_ETHERNET,
        };
        roce_packet p;
        decode(frame.link, frame.bytes, frame.captured_bytes, 62, &p);
        p.bth.psn24 = cases[i].psn24; /* by which it is chosen; the bytes stay */
        rs_icrc_check check = {.mode = cases[i].mode,
                               .sample_first = RS_ICRC_SAMPLE_FIRST};
        CHECK_INT(rs_icrc_check_packet(&check, &frame, &p), cases[i].want);
        CHECK_INT(check.passed_over, cases[i].passed_over);
    }
}

int
main(void)
{
    test_modes();
    return check_status();
}
