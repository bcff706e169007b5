/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IPv6 with its extension headers and fragments, up to the BTH. */
#include "packet_maker.h"

/* clang-format off */
#define N_8 "\x00" /* an extension header's length: 8 bytes */
#define N_16 "\x01"
#define N_24 "\x02"
#define HOP_BY_HOP(next) next N_8 "\x05\x02\x00\x00" "\x01\x00" /* router alert, PadN */
#define ROUTING(next) next N_24 "\x00\x01" "\x00\x00\x00\x00" IPV6_ADDRESS
#define IPV6_ADDRESS "\xfd\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03"
#define DESTINATION(next) next N_8 "\x01\x04\x00\x00\x00\x00" /* PadN */
#define DESTINATION_16(next) next N_16 "\x01\x0c\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
/* the length is in words of 4 bytes, less 2: 24 bytes */
#define AUTHENTICATION(next) next "\x04" "\x00\x00" "\x00\x00\x01\x00" "\x00\x00\x00\x01" \
    "\xa1\xa2\xa3\xa4\xa5\xa6\xa7\xa8\xa9\xaa\xab\xac"
/* reserved, offset and more-fragments bit, identification */
#define FRAGMENT(next, offset) next "\x00" offset "\xfa\xce\xb0\x0c"

#define IS_HOP_BY_HOP "\x00"
#define IS_ROUTING "\x2b"
#define IS_FRAGMENT "\x2c"
#define IS_AUTHENTICATION "\x33"
#define IS_DESTINATION "\x3c"
#define IS_NOTHING "\x3b"
#define IS_ICMP "\x3a"
#define FOUR_DESTINATIONS(next) DESTINATION(IS_DESTINATION) DESTINATION(IS_DESTINATION)  \
    DESTINATION(IS_DESTINATION) DESTINATION(next)

#define UDP_RC_ACK UDP("\x00\x1c") RC_ACK /* 28 bytes */

#define ROCE ROCE_DECODED, ROCE_CLASS_ROCE
#define NOT_OURS ROCE_NOT_OURS, ROCE_CLASS_OTHER
#define CUT ROCE_TRUNCATED, ROCE_CLASS_OTHER
#define WRONG ROCE_MALFORMED, ROCE_CLASS_OTHER

static const struct {
    const char *name;
    const char *bytes;
    uint32_t n;
    uint32_t captured; /* of n; 0: all */
    roce_outcome outcome;
    roce_class class;
    uint8_t protocol; /* last one reached */
    uint32_t bth_at;  /* 0 when there is none */
} cases[] = {
    {"plain", BYTES(IPV6("\x00\x1c", IS_UDP) UDP_RC_ACK), 0, ROCE, 17, 48},
    {"payload length one short of UDP's", BYTES(IPV6("\x00\x1b", IS_UDP) UDP_RC_ACK), 0,
     ROCE_MALFORMED, ROCE_CLASS_NOT_IB, 17, 0},
    {"payload length one more than the wire", BYTES(IPV6("\x00\x1d", IS_UDP) UDP_RC_ACK), 0,
     WRONG, 0, 0},
    {"payload length one more than UDP's", BYTES(IPV6("\x00\x1d", IS_UDP) UDP_RC_ACK "\x00"), 0,
     ROCE, 17, 48},
    {"payload length 0", BYTES(IPV6("\x00\x00", IS_UDP) UDP_RC_ACK), 0,
     ROCE_MALFORMED, ROCE_CLASS_NOT_IB, 17, 0},
    {"header cut", BYTES(IPV6("\x00\x1c", IS_UDP) UDP_RC_ACK), 39, CUT, 0, 0},
    {"header alone captured", BYTES(IPV6("\x00\x1c", IS_UDP) UDP_RC_ACK), 40, CUT, 17, 0},
    {"UDP cut", BYTES(IPV6("\x00\x1c", IS_UDP) UDP_RC_ACK), 47, CUT, 17, 0},
    {"TCP", BYTES(IPV6("\x00\x04", IS_TCP) "\x12\xb7\x12\xb7"), 0, NOT_OURS, 6, 0},
    {"ICMPv6", BYTES(IPV6("\x00\x04", IS_ICMP) "\x80\x00\x00\x00"), 0, NOT_OURS, 58, 0},
    {"no next header", BYTES(IPV6("\x00\x00", IS_NOTHING)), 0, NOT_OURS, 59, 0},

    {"hop by hop", BYTES(IPV6("\x00\x24", IS_HOP_BY_HOP) HOP_BY_HOP(IS_UDP) UDP_RC_ACK), 0,
     ROCE, 17, 56},
    {"routing", BYTES(IPV6("\x00\x34", IS_ROUTING) ROUTING(IS_UDP) UDP_RC_ACK), 0, ROCE, 17, 72},
    {"destination, 8 bytes", BYTES(IPV6("\x00\x24", IS_DESTINATION) DESTINATION(IS_UDP) UDP_RC_ACK),
     0, ROCE, 17, 56},
    {"destination, 16 bytes",
     BYTES(IPV6("\x00\x2c", IS_DESTINATION) DESTINATION_16(IS_UDP) UDP_RC_ACK), 0, ROCE, 17, 64},
    {"authentication",
     BYTES(IPV6("\x00\x34", IS_AUTHENTICATION) AUTHENTICATION(IS_UDP) UDP_RC_ACK), 0, ROCE, 17, 72},
    {"one of each, in the order of RFC 8200",
     BYTES(IPV6("\x00\x64", IS_HOP_BY_HOP) HOP_BY_HOP(IS_ROUTING) ROUTING(IS_FRAGMENT)
           FRAGMENT(IS_AUTHENTICATION, "\x00\x00") AUTHENTICATION(IS_DESTINATION)
           DESTINATION(IS_UDP) UDP_RC_ACK), 0, ROCE, 17, 120},
    {"seven", BYTES(IPV6("\x00\x54", IS_DESTINATION) FOUR_DESTINATIONS(IS_DESTINATION)
                    DESTINATION(IS_DESTINATION) DESTINATION(IS_DESTINATION) DESTINATION(IS_UDP)
                    UDP_RC_ACK), 0, ROCE, 17, 104},
    {"eight, the most", BYTES(IPV6("\x00\x5c", IS_DESTINATION) FOUR_DESTINATIONS(IS_DESTINATION)
                              FOUR_DESTINATIONS(IS_UDP) UDP_RC_ACK), 0, ROCE, 17, 112},
    {"nine", BYTES(IPV6("\x00\x64", IS_DESTINATION) FOUR_DESTINATIONS(IS_DESTINATION)
                   FOUR_DESTINATIONS(IS_DESTINATION) DESTINATION(IS_UDP) UDP_RC_ACK), 0,
     NOT_OURS, 60, 0},
    {"TCP behind an extension", BYTES(IPV6("\x00\x0c", IS_DESTINATION) DESTINATION(IS_TCP)
                                      "\x12\xb7\x12\xb7"), 0, NOT_OURS, 6, 0},

    {"extension ends one byte beyond the payload",
     BYTES(IPV6("\x00\x07", IS_DESTINATION) DESTINATION(IS_UDP) UDP_RC_ACK), 0, WRONG, 17, 0},
    {"extension fills the payload",
     BYTES(IPV6("\x00\x08", IS_DESTINATION) DESTINATION(IS_NOTHING)), 0, NOT_OURS, 59, 0},
    {"extension ends beyond the wire",
     BYTES(IPV6("\x00\x08", IS_DESTINATION) "\x11\x01\x01\x0c\x00\x00\x00\x00"), 0, WRONG, 17, 0},
    {"longest extension ends beyond the wire",
     BYTES(IPV6("\x00\x24", IS_DESTINATION) "\x11\xff\x01\x04\x00\x00\x00\x00" UDP_RC_ACK), 0,
     WRONG, 17, 0},
    {"extension cut", BYTES(IPV6("\x00\x24", IS_DESTINATION) DESTINATION(IS_UDP) UDP_RC_ACK), 47,
     CUT, 17, 0},
    {"extension not captured",
     BYTES(IPV6("\x00\x24", IS_DESTINATION) DESTINATION(IS_UDP) UDP_RC_ACK), 40, CUT, 0, 0},

    {"atomic fragment is none (RFC 6946)",
     BYTES(IPV6("\x00\x24", IS_FRAGMENT) FRAGMENT(IS_UDP, "\x00\x00") UDP_RC_ACK), 0, ROCE, 17, 56},
    {"reserved bits make no fragment",
     BYTES(IPV6("\x00\x24", IS_FRAGMENT) FRAGMENT(IS_UDP, "\x00\x06") UDP_RC_ACK), 0, ROCE, 17, 56},
    {"first fragment",
     BYTES(IPV6("\x00\x24", IS_FRAGMENT) FRAGMENT(IS_UDP, "\x00\x01") UDP("\x01\x1c") RC_ACK), 0,
     ROCE_NOT_OURS, ROCE_CLASS_FRAGMENT, 17, 0},
    {"first fragment of another port",
     BYTES(IPV6("\x00\x24", IS_FRAGMENT) FRAGMENT(IS_UDP, "\x00\x01")
           UDP_TO("\x12\xb8", "\x01\x1c") RC_ACK), 0, NOT_OURS, 17, 0},
    {"first fragment, ports cut",
     BYTES(IPV6("\x00\x24", IS_FRAGMENT) FRAGMENT(IS_UDP, "\x00\x01") UDP("\x01\x1c") RC_ACK), 51,
     ROCE_TRUNCATED, ROCE_CLASS_FRAGMENT, 17, 0},
    {"second fragment, offset 1",
     BYTES(IPV6("\x00\x1c", IS_FRAGMENT) FRAGMENT(IS_UDP, "\x00\x09") RC_ACK), 0,
     ROCE_NOT_OURS, ROCE_CLASS_FRAGMENT, 17, 0},
    {"last fragment",
     BYTES(IPV6("\x00\x1c", IS_FRAGMENT) FRAGMENT(IS_UDP, "\x00\x08") RC_ACK), 0,
     ROCE_NOT_OURS, ROCE_CLASS_FRAGMENT, 17, 0},
    {"last fragment of TCP",
     BYTES(IPV6("\x00\x1c", IS_FRAGMENT) FRAGMENT(IS_TCP, "\x00\x08") RC_ACK), 0,
     NOT_OURS, 6, 0},
    {"last fragment of what began with an extension",
     BYTES(IPV6("\x00\x1c", IS_FRAGMENT) FRAGMENT(IS_DESTINATION, "\x00\x08") RC_ACK), 0,
     NOT_OURS, 60, 0},
    {"fragment header cut",
     BYTES(IPV6("\x00\x24", IS_FRAGMENT) FRAGMENT(IS_UDP, "\x00\x01") UDP("\x01\x1c") RC_ACK), 47,
     CUT, 17, 0},
};
/* clang-format on */

static void
test_cases(void)
{
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        roce_packet p;
        decode(ROCE_LINK_RAW, cases[i].bytes,
               cases[i].captured != 0 ? cases[i].captured : cases[i].n, cases[i].n, &p);
        CHECK_INT(p.outcome, cases[i].outcome);
        CHECK_INT(p.kind, cases[i].class);
        CHECK_INT(p.ip_protocol, cases[i].protocol);
        CHECK_INT(p.bth_offset, cases[i].bth_at);
        CHECK_INT(p.has_bth, cases[i].outcome == ROCE_DECODED);
        if (p.has_bth) {
            CHECK_INT(p.bth.psn24, 100);
            CHECK_INT(p.end_offset, cases[i].bth_at + RC_ACK_SIZE);
        }
    }
}

static void
test_fields(void)
{
    check_row("fields");
    static const char bytes[] = MACS IS_IPV6 IPV6_RC_ACK;
    roce_packet p;
    decode(ROCE_LINK_ETHERNET, bytes, sizeof bytes - 1, sizeof bytes - 1, &p);
    static const roce_addr from = {.bytes = {[0] = 0xfd, [15] = 1}, .family = 6};
    static const roce_addr to = {.bytes = {[0] = 0xfd, [15] = 2}, .family = 6};
    CHECK_INT(p.ethertype, 0x86dd);
    CHECK(roce_addr_equal(&p.src, &from));
    CHECK(roce_addr_equal(&p.dst, &to));
    CHECK_INT(p.traffic_class, 0x6a); /* DSCP 26, ECT(0) */
    CHECK_INT(roce_packet_ecn(&p), 2);
    CHECK_INT(p.flow_label, 0x54321);
    CHECK_INT(p.hop_limit, 63);
    CHECK_INT(p.ipv4_ident, 0);
    CHECK(!p.is_grh);
    CHECK_INT(p.ip_offset, 14);
    CHECK_INT(p.src_port, 49153);
    CHECK_INT(p.dst_port, 4791);
    CHECK_INT(p.udp_length, 28);
}

/* The traffic class stands across two bytes. */
static void
test_traffic_class(void)
{
    static const struct {
        const char *name;
        const char *word; /* version, traffic class, flow label */
        uint8_t want;
        unsigned ecn;
        uint32_t flow_label;
    } rows[] = {
        {"none", "\x60\x00\x00\x00", 0x00, 0, 0},
        {"ECT(1)", "\x60\x10\x00\x00", 0x01, 1, 0},
        {"ECT(0)", "\x60\x20\x00\x00", 0x02, 2, 0},
        {"CE", "\x60\x30\x00\x00", 0x03, 3, 0},
        {"lowest bit of the DSCP", "\x60\x40\x00\x00", 0x04, 0, 0},
        {"highest bit of the DSCP", "\x68\x00\x00\x00", 0x80, 0, 0},
        {"all of it", "\x6f\xf0\x00\x00", 0xff, 3, 0},
        {"flow label alone", "\x60\x0f\xff\xff", 0x00, 0, 0xfffff},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        packet_maker m = {0};
        put_bytes(&m, rows[i].word, 4);
        static const char rest[] = "\x00\x1c\x11\x3f" IPV6_ADDRESSES UDP_RC_ACK;
        put_bytes(&m, rest, sizeof rest - 1);
        roce_packet p;
        decode(ROCE_LINK_RAW, m.bytes, m.n, m.n, &p);
        CHECK_INT(p.outcome, ROCE_DECODED);
        CHECK_INT(p.traffic_class, rows[i].want);
        CHECK_INT(roce_packet_ecn(&p), rows[i].ecn);
        CHECK_INT(p.flow_label, rows[i].flow_label);
    }
}

int
main(void)
{
    test_cases();
    test_fields();
    test_traffic_class();
    return check_status();
}
