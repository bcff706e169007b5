/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a frame's first byte to the BTH: link layers, VLAN tags, IPv4, UDP, GRH.  IPv6
 * is in test_decode_ipv6.c, what begins with the BTH in test_decode_transport.c, and
 * every length that a snap length can leave in test_decode_cut.c.
 */
#include "packet_maker.h"

typedef struct layer_row {
    const char *name;
    roce_link link;
    const char *bytes;
    uint32_t n;
    uint32_t captured; /* of n; 0: all */
    roce_outcome outcome;
    roce_class class;
    uint8_t n_vlans;
    uint32_t ip_at, bth_at; /* 0 when there is none */
} layer_row;

static void
check_layers(const layer_row *rows, size_t n_rows)
{
    for (size_t i = 0; i < n_rows; i++) {
        const layer_row *row = &rows[i];
        check_row(row->name);
        roce_packet p;
        decode(row->link, row->bytes, row->captured != 0 ? row->captured : row->n,
               row->n, &p);
        CHECK_INT(p.outcome, row->outcome);
        CHECK_INT(p.kind, row->class);
        CHECK_INT(p.n_vlans, row->n_vlans);
        CHECK_INT(p.ip_offset, row->ip_at);
        CHECK_INT(p.bth_offset, row->bth_at);
        if (row->outcome == ROCE_DECODED && row->class == ROCE_CLASS_ROCE) {
            CHECK(p.has_bth);
            CHECK_INT(p.bth.psn24, 100);
            CHECK_INT(p.bth.dest_qpn, 0x11);
            CHECK_INT(p.aeth_msn, 7);
            CHECK_INT(p.end_offset, row->bth_at + RC_ACK_SIZE);
        } else {
            CHECK(!p.has_bth);
            CHECK_INT(p.headers, 0);
        }
    }
}

/* clang-format off */
#define ETHERNET ROCE_LINK_ETHERNET
#define SLL ROCE_LINK_SLL
#define SLL2 ROCE_LINK_SLL2
#define RAW ROCE_LINK_RAW
#define LOOPBACK ROCE_LINK_LOOPBACK
#define PPP ROCE_LINK_PPP
#define ROCE ROCE_DECODED, ROCE_CLASS_ROCE
#define NOT_OURS ROCE_NOT_OURS, ROCE_CLASS_OTHER
#define CUT ROCE_TRUNCATED, ROCE_CLASS_OTHER
#define WRONG ROCE_MALFORMED, ROCE_CLASS_OTHER

#define TAG(tci) "\x81\x00" tci
#define S_TAG(tci) "\x88\xa8" tci
#define OLD_TAG(tci) "\x91\x00" tci

/* packet type, ARPHRD Ethernet, six bytes of address */
#define SLL_HEADER(kind, protocol)                                                      \
    "\x00" kind "\x00\x01" "\x00\x06" "\x02\x00\x00\x00\x00\x11\x00\x00" protocol
/* protocol, reserved, interface 3, ARPHRD Ethernet, packet type, address */
#define SLL2_HEADER(kind, protocol)                                                     \
    protocol "\x00\x00" "\x00\x00\x00\x03" "\x00\x01" kind "\x06"                       \
    "\x02\x00\x00\x00\x00\x11\x00\x00"

#define GRH(payload, next) IPV6(payload, next) /* the same header, IBTA 8.3 */
#define NEXT_IBA "\x1b"

static const layer_row link_rows[] = {
    {"Ethernet, IPv4", ETHERNET, BYTES(MACS IS_IPV4 IPV4_RC_ACK), 0, ROCE, 0, 14, 42},
    {"Ethernet, IPv6", ETHERNET, BYTES(MACS IS_IPV6 IPV6_RC_ACK), 0, ROCE, 0, 14, 62},
    {"Ethernet, padded", ETHERNET, BYTES(MACS IS_IPV4 IPV4_RC_ACK "\x00\x00\x00"),
     0, ROCE, 0, 14, 42},
    {"Ethernet, padding alone cut", ETHERNET,
     BYTES(MACS IS_IPV4 IPV4_RC_ACK "\x00\x00\x00"), 62, ROCE, 0, 14, 42},
    {"Ethernet, ARP", ETHERNET, BYTES(MACS "\x08\x06" "\x00\x01\x08\x00"), 0,
     NOT_OURS, 0, 0, 0},
    {"Ethernet, a length in place of the type", ETHERNET,
     BYTES(MACS "\x00\x26" "\x42\x42\x03"), 0, NOT_OURS, 0, 0, 0},
    {"Ethernet, cut in the type", ETHERNET, BYTES(MACS IS_IPV4 IPV4_RC_ACK), 13,
     CUT, 0, 0, 0},
    {"Ethernet, cut in the first byte behind the type", ETHERNET,
     BYTES(MACS IS_IPV4 IPV4_RC_ACK), 14, CUT, 0, 14, 0},
    {"Ethernet, too short on the wire", ETHERNET, BYTES(MACS "\x08"), 0, WRONG, 0, 0, 0},
    {"Ethernet, nothing behind the type", ETHERNET, BYTES(MACS IS_IPV4), 0, WRONG, 0, 14, 0},
    {"empty frame", ETHERNET, NO_BYTES, 0, WRONG, 0, 0, 0},

    {"one VLAN tag", ETHERNET, BYTES(MACS TAG("\x60\x64") IS_IPV4 IPV4_RC_ACK), 0,
     ROCE, 1, 18, 46},
    {"QinQ", ETHERNET,
     BYTES(MACS S_TAG("\x00\x0a") TAG("\x60\x64") IS_IPV4 IPV4_RC_ACK), 0, ROCE, 2, 22, 50},
    {"QinQ with the old type", ETHERNET,
     BYTES(MACS OLD_TAG("\x00\x0a") TAG("\x60\x64") IS_IPV4 IPV4_RC_ACK), 0, ROCE, 2, 22, 50},
    {"three tags", ETHERNET,
     BYTES(MACS TAG("\x00\x01") TAG("\x00\x02") TAG("\x00\x03") IS_IPV4 IPV4_RC_ACK),
     0, ROCE, 3, 26, 54},
    {"four tags, the most", ETHERNET,
     BYTES(MACS TAG("\x00\x01") TAG("\x00\x02") TAG("\x00\x03") TAG("\x00\x04")
           IS_IPV6 IPV6_RC_ACK), 0, ROCE, 4, 30, 78},
    {"five tags", ETHERNET,
     BYTES(MACS TAG("\x00\x01") TAG("\x00\x02") TAG("\x00\x03") TAG("\x00\x04")
           TAG("\x00\x05") IS_IPV4 IPV4_RC_ACK), 0, NOT_OURS, 4, 0, 0},
    {"cut in a tag", ETHERNET, BYTES(MACS TAG("\x60\x64") IS_IPV4 IPV4_RC_ACK), 15,
     CUT, 0, 0, 0},
    {"cut in the type behind a tag", ETHERNET,
     BYTES(MACS TAG("\x60\x64") IS_IPV4 IPV4_RC_ACK), 17, CUT, 0, 0, 0},
    {"a tag too short on the wire", ETHERNET, BYTES(MACS TAG("\x60\x64") "\x08"), 0,
     WRONG, 0, 0, 0},
    {"VLAN tag, RoCEv1", ETHERNET,
     BYTES(MACS TAG("\x60\x64") IS_ROCE_V1 GRH("\x00\x14", NEXT_IBA) RC_ACK), 0,
     ROCE, 1, 18, 58},

    {"SLL, IPv4", SLL, BYTES(SLL_HEADER("\x00", IS_IPV4) IPV4_RC_ACK), 0, ROCE, 0, 16, 44},
    {"SLL, IPv6", SLL, BYTES(SLL_HEADER("\x04", IS_IPV6) IPV6_RC_ACK), 0, ROCE, 0, 16, 64},
    {"SLL, VLAN tag", SLL,
     BYTES(SLL_HEADER("\x00", "\x81\x00") "\x60\x64" IS_IPV4 IPV4_RC_ACK), 0,
     ROCE, 1, 20, 48},
    {"SLL, ARP", SLL, BYTES(SLL_HEADER("\x00", "\x08\x06") "\x00\x01"), 0,
     NOT_OURS, 0, 0, 0},
    {"SLL, cut in the protocol", SLL, BYTES(SLL_HEADER("\x00", IS_IPV4) IPV4_RC_ACK), 15,
     CUT, 0, 0, 0},
    {"SLL, too short on the wire", SLL, BYTES("\x00\x00\x00\x01\x00\x06\x02\x00"), 0,
     WRONG, 0, 0, 0},

    {"SLL2, IPv4", SLL2, BYTES(SLL2_HEADER("\x00", IS_IPV4) IPV4_RC_ACK), 0,
     ROCE, 0, 20, 48},
    {"SLL2, IPv6", SLL2, BYTES(SLL2_HEADER("\x04", IS_IPV6) IPV6_RC_ACK), 0,
     ROCE, 0, 20, 68},
    {"SLL2, VLAN tag", SLL2,
     BYTES(SLL2_HEADER("\x00", "\x81\x00") "\x60\x64" IS_IPV4 IPV4_RC_ACK), 0,
     ROCE, 1, 24, 52},
    {"SLL2, cut in the address", SLL2, BYTES(SLL2_HEADER("\x00", IS_IPV4) IPV4_RC_ACK), 19,
     CUT, 0, 0, 0},
    {"SLL2, MAC control, cut in the address", SLL2,
     BYTES("\x88\x08\x00\x00\x00\x00\x00\x03\x00\x01\x00\x06"
           "\x01\x01\x00\x08\x00\x00\x00\x00" "\x01\x01\x00\x08\x00\x00"), 19,
     CUT, 0, 0, 0},
    {"SLL2, too short on the wire", SLL2, BYTES("\x08\x00\x00\x00\x00\x00\x00\x03"), 0,
     WRONG, 0, 0, 0},

    {"raw IPv4", RAW, BYTES(IPV4_RC_ACK), 0, ROCE, 0, 0, 28},
    {"raw IPv6", RAW, BYTES(IPV6_RC_ACK), 0, ROCE, 0, 0, 48},
    {"raw, neither IPv4 nor IPv6", RAW, BYTES("\x55\x00\x00\x14"), 0, NOT_OURS, 0, 0, 0},
    {"raw, empty", RAW, NO_BYTES, 0, WRONG, 0, 0, 0},

    {"loopback, IPv4, big end first", LOOPBACK, BYTES("\x00\x00\x00\x02" IPV4_RC_ACK), 0,
     ROCE, 0, 4, 32},
    {"loopback, IPv4, little end first", LOOPBACK, BYTES("\x02\x00\x00\x00" IPV4_RC_ACK),
     0, ROCE, 0, 4, 32},
    {"loopback, IPv6 of NetBSD", LOOPBACK, BYTES("\x18\x00\x00\x00" IPV6_RC_ACK), 0,
     ROCE, 0, 4, 52},
    {"loopback, IPv6 of FreeBSD", LOOPBACK, BYTES("\x00\x00\x00\x1c" IPV6_RC_ACK), 0,
     ROCE, 0, 4, 52},
    {"loopback, IPv6 of macOS", LOOPBACK, BYTES("\x1e\x00\x00\x00" IPV6_RC_ACK), 0,
     ROCE, 0, 4, 52},
    {"loopback, IPv6 of Linux", LOOPBACK, BYTES("\x00\x00\x00\x0a" IPV6_RC_ACK), 0,
     ROCE, 0, 4, 52},
    {"loopback, IPX", LOOPBACK, BYTES("\x17\x00\x00\x00\xff\xff\x00\x14"), 0,
     NOT_OURS, 0, 0, 0},
    {"loopback, OSI", LOOPBACK, BYTES("\x07\x00\x00\x00" IPV4_RC_ACK), 0,
     NOT_OURS, 0, 0, 0},
    {"loopback, a family in neither order", LOOPBACK,
     BYTES("\x02\x00\x00\x02" IPV4_RC_ACK), 0, NOT_OURS, 0, 0, 0},
    {"loopback, a family in the middle", LOOPBACK,
     BYTES("\x00\x02\x00\x00" IPV4_RC_ACK), 0, NOT_OURS, 0, 0, 0},
    {"loopback, cut in the family", LOOPBACK, BYTES("\x02\x00\x00\x00" IPV4_RC_ACK), 3,
     CUT, 0, 0, 0},
    {"loopback, cut behind the family", LOOPBACK,
     BYTES("\x02\x00\x00\x00" IPV4_RC_ACK), 4, CUT, 0, 0, 0},
    {"loopback, too short on the wire", LOOPBACK, BYTES("\x02\x00\x00"), 0,
     WRONG, 0, 0, 0},
    {"PPP alone", PPP, BYTES("\x00\x21" IPV4_RC_ACK), 0, ROCE, 0, 2, 30},
    {"PPP, its protocol in one octet", PPP, BYTES("\x57" IPV6_RC_ACK), 0, ROCE, 0, 1, 49},
    {"PPP, HDLC-like", PPP, BYTES("\xff\x03\x00\x57" IPV6_RC_ACK), 0, ROCE, 0, 4, 52},
    {"PPP, HDLC-like, in one octet", PPP, BYTES("\xff\x03\x21" IPV4_RC_ACK), 0, ROCE, 0,
     3, 31},
    {"PPP, Cisco's", PPP, BYTES("\x0f\x00\x08\x00" IPV4_RC_ACK), 0, ROCE, 0, 4, 32},
    {"PPP, Cisco's, to all", PPP, BYTES("\x8f\x00\x86\xdd" IPV6_RC_ACK), 0, ROCE, 0, 4, 52},
    {"PPP, another control octet", PPP, BYTES("\xff\x04\x00\x21" IPV4_RC_ACK), 0,
     NOT_OURS, 0, 0, 0},
    {"PPP, LCP", PPP, BYTES("\xff\x03\xc0\x21\x09\x00\x00\x04"), 0, NOT_OURS, 0, 0, 0},
    {"PPP, cut in the protocol", PPP, BYTES("\xff\x03\x00\x21" IPV4_RC_ACK), 3, CUT, 0, 0, 0},
    {"PPP, too short on the wire", PPP, BYTES("\x00"), 0, WRONG, 0, 0, 0},
    {"an unsupported link layer", ROCE_LINK_UNSUPPORTED,
     BYTES(MACS IS_IPV4 IPV4_RC_ACK), 0, NOT_OURS, 0, 0, 0},
};

static const layer_row ipv4_rows[] = {
    {"options of 4 bytes", RAW,
     BYTES(IPV4_WITH("\x46", "\x00\x34", "\x40\x00", IS_UDP) "\x01\x01\x01\x00"
           UDP("\x00\x1c") RC_ACK), 0, ROCE, 0, 0, 32},
    {"options of 40 bytes, the most", RAW,
     BYTES(IPV4_WITH("\x4f", "\x00\x58", "\x40\x00", IS_UDP)
           "\x07\x27\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
           "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
           UDP("\x00\x1c") RC_ACK), 0, ROCE, 0, 0, 68},
    {"options cut", RAW,
     BYTES(IPV4_WITH("\x46", "\x00\x34", "\x40\x00", IS_UDP) "\x01\x01\x01\x00"
           UDP("\x00\x1c") RC_ACK), 22, CUT, 0, 0, 0},
    {"header of 16 bytes", RAW,
     BYTES(IPV4_WITH("\x44", "\x00\x30", "\x40\x00", IS_UDP) UDP("\x00\x1c") RC_ACK), 0,
     WRONG, 0, 0, 0},
    {"another version", ETHERNET,
     BYTES(MACS IS_IPV4 IPV4_WITH("\x65", "\x00\x30", "\x40\x00", IS_UDP)
           UDP("\x00\x1c") RC_ACK), 0, WRONG, 0, 14, 0},
    {"where the type says IPv6", ETHERNET, BYTES(MACS IS_IPV6 IPV4_RC_ACK), 0,
     WRONG, 0, 14, 0},
    {"total length less than the header", RAW,
     BYTES(IPV4_WITH("\x46", "\x00\x17", "\x40\x00", IS_UDP) "\x01\x01\x01\x00"), 0,
     WRONG, 0, 0, 0},
    {"total length one more than the wire", RAW,
     BYTES(IPV4("\x00\x31", IS_UDP) UDP("\x00\x1c") RC_ACK), 0, WRONG, 0, 0, 0},
    {"total length one less than UDP's", RAW,
     BYTES(IPV4("\x00\x2f", IS_UDP) UDP("\x00\x1c") RC_ACK), 0,
     ROCE_MALFORMED, ROCE_CLASS_NOT_IB, 0, 0, 0},
    {"UDP ends before IP does", RAW,
     BYTES(IPV4("\x00\x34", IS_UDP) UDP("\x00\x1c") RC_ACK "\x00\x00\x00\x00"), 0,
     ROCE, 0, 0, 28},
    {"header cut", RAW, BYTES(IPV4_RC_ACK), 19, CUT, 0, 0, 0},
    {"header alone captured", RAW, BYTES(IPV4_RC_ACK), 20, CUT, 0, 0, 0},
    {"TCP", RAW, BYTES(IPV4("\x00\x28", IS_TCP) "\x12\xb7\x12\xb7"
                       "\x00\x00\x00\x01\x00\x00\x00\x00\x50\x10\x00\x01\x00\x00\x00\x00"),
     0, NOT_OURS, 0, 0, 0},
    {"TCP, ports cut", RAW, BYTES(IPV4("\x00\x28", IS_TCP) "\x12\xb7\x12\xb7"
                       "\x00\x00\x00\x01\x00\x00\x00\x00\x50\x10\x00\x01\x00\x00\x00\x00"),
     23, CUT, 0, 0, 0},
    {"ICMP", RAW, BYTES(IPV4("\x00\x1c", "\x01") "\x08\x00\x00\x00\x00\x01\x00\x01"), 0,
     NOT_OURS, 0, 0, 0},

    {"don't fragment is no fragment", RAW,
     BYTES(IPV4_WITH("\x45", "\x00\x30", "\x40\x00", IS_UDP) UDP("\x00\x1c") RC_ACK), 0,
     ROCE, 0, 0, 28},
    {"first fragment", RAW,
     BYTES(IPV4_WITH("\x45", "\x00\x30", "\x20\x00", IS_UDP) UDP("\x01\x1c") RC_ACK), 0,
     ROCE_NOT_OURS, ROCE_CLASS_FRAGMENT, 0, 0, 0},
    {"first fragment of another port", RAW,
     BYTES(IPV4_WITH("\x45", "\x00\x30", "\x20\x00", IS_UDP)
           UDP_TO("\x12\xb8", "\x01\x1c") RC_ACK), 0, NOT_OURS, 0, 0, 0},
    {"first fragment, ports cut", RAW,
     BYTES(IPV4_WITH("\x45", "\x00\x30", "\x20\x00", IS_UDP) UDP("\x01\x1c") RC_ACK), 23,
     ROCE_TRUNCATED, ROCE_CLASS_FRAGMENT, 0, 0, 0},
    {"second fragment of UDP", RAW,
     BYTES(IPV4_WITH("\x45", "\x00\x28", "\x20\x01", IS_UDP) RC_ACK), 0,
     ROCE_NOT_OURS, ROCE_CLASS_FRAGMENT, 0, 0, 0},
    {"last fragment of UDP", RAW,
     BYTES(IPV4_WITH("\x45", "\x00\x28", "\x00\x01", IS_UDP) RC_ACK), 0,
     ROCE_NOT_OURS, ROCE_CLASS_FRAGMENT, 0, 0, 0},
    {"last fragment of TCP", RAW,
     BYTES(IPV4_WITH("\x45", "\x00\x28", "\x00\x01", IS_TCP) RC_ACK), 0,
     NOT_OURS, 0, 0, 0},
};

static const layer_row udp_rows[] = {
    {"to 4790", RAW, BYTES(IPV4("\x00\x30", IS_UDP) UDP_TO("\x12\xb6", "\x00\x1c") RC_ACK),
     0, NOT_OURS, 0, 0, 0},
    {"to 4791", RAW, BYTES(IPV4("\x00\x30", IS_UDP) UDP_TO("\x12\xb7", "\x00\x1c") RC_ACK),
     0, ROCE, 0, 0, 28},
    {"to 4792", RAW, BYTES(IPV4("\x00\x30", IS_UDP) UDP_TO("\x12\xb8", "\x00\x1c") RC_ACK),
     0, NOT_OURS, 0, 0, 0},
    {"from 4791 alone", RAW,
     BYTES(IPV4("\x00\x30", IS_UDP) "\x12\xb7\xc0\x01\x00\x1c\x00\x00" RC_ACK), 0,
     NOT_OURS, 0, 0, 0},
    {"with a checksum", RAW,
     BYTES(IPV4("\x00\x30", IS_UDP) "\xc0\x01\x12\xb7\x00\x1c\xbe\xef" RC_ACK), 0,
     ROCE, 0, 0, 28},
    {"header cut", RAW, BYTES(IPV4_RC_ACK), 27, CUT, 0, 0, 0},
    {"header alone captured", RAW, BYTES(IPV4_RC_ACK), 28,
     ROCE_TRUNCATED, ROCE_CLASS_ROCE, 0, 0, 28},
    {"header too short on the wire", RAW,
     BYTES(IPV4("\x00\x1b", IS_UDP) "\xc0\x01\x12\xb7\x00\x1c\x00"), 0, WRONG, 0, 0, 0},
    {"length 7", RAW, BYTES(IPV4("\x00\x30", IS_UDP) UDP("\x00\x07") RC_ACK), 0,
     ROCE_MALFORMED, ROCE_CLASS_NOT_IB, 0, 0, 0},
    {"length 8: nothing inside", RAW,
     BYTES(IPV4("\x00\x30", IS_UDP) UDP("\x00\x08") RC_ACK), 0,
     ROCE_MALFORMED, ROCE_CLASS_NOT_IB, 0, 0, 28},
    {"length 23: a byte short of BTH and ICRC", RAW,
     BYTES(IPV4("\x00\x30", IS_UDP) UDP("\x00\x17") RC_ACK), 0,
     ROCE_MALFORMED, ROCE_CLASS_NOT_IB, 0, 0, 28},
    {"length one more than IP has", RAW,
     BYTES(IPV4("\x00\x30", IS_UDP) UDP("\x00\x1d") RC_ACK), 0,
     ROCE_MALFORMED, ROCE_CLASS_NOT_IB, 0, 0, 0},
    {"length one more than IP has, in a padded frame", RAW,
     BYTES(IPV4("\x00\x30", IS_UDP) UDP("\x00\x1d") RC_ACK "\x00\x00"), 0,
     ROCE_MALFORMED, ROCE_CLASS_NOT_IB, 0, 0, 0},
};

static const layer_row grh_rows[] = {
    {"RoCEv1", ETHERNET, BYTES(MACS IS_ROCE_V1 GRH("\x00\x14", NEXT_IBA) RC_ACK), 0,
     ROCE, 0, 14, 54},
    {"padded", ETHERNET,
     BYTES(MACS IS_ROCE_V1 GRH("\x00\x14", NEXT_IBA) RC_ACK "\x00\x00"), 0, ROCE, 0, 14, 54},
    {"SLL", SLL,
     BYTES(SLL_HEADER("\x00", IS_ROCE_V1) GRH("\x00\x14", NEXT_IBA) RC_ACK), 0,
     ROCE, 0, 16, 56},
    {"another version", ETHERNET,
     BYTES(MACS IS_ROCE_V1 "\x46\xa5\x43\x21\x00\x14\x1b\x3f" IPV6_ADDRESSES RC_ACK), 0,
     ROCE_NOT_OURS, ROCE_CLASS_NOT_IB, 0, 14, 0},
    {"next header 0x1a", ETHERNET, BYTES(MACS IS_ROCE_V1 GRH("\x00\x14", "\x1a") RC_ACK), 0,
     ROCE_NOT_OURS, ROCE_CLASS_NOT_IB, 0, 14, 0},
    {"next header 0x1c", ETHERNET, BYTES(MACS IS_ROCE_V1 GRH("\x00\x14", "\x1c") RC_ACK), 0,
     ROCE_NOT_OURS, ROCE_CLASS_NOT_IB, 0, 14, 0},
    {"one byte more than the wire", ETHERNET,
     BYTES(MACS IS_ROCE_V1 GRH("\x00\x15", NEXT_IBA) RC_ACK), 0,
     ROCE_MALFORMED, ROCE_CLASS_NOT_IB, 0, 14, 0},
    {"a byte short of BTH and ICRC", ETHERNET,
     BYTES(MACS IS_ROCE_V1 GRH("\x00\x0f", NEXT_IBA) RC_ACK), 0,
     ROCE_MALFORMED, ROCE_CLASS_NOT_IB, 0, 14, 54},
    {"cut in the GRH", ETHERNET,
     BYTES(MACS IS_ROCE_V1 GRH("\x00\x14", NEXT_IBA) RC_ACK), 53, CUT, 0, 14, 0},
    {"GRH alone captured", ETHERNET,
     BYTES(MACS IS_ROCE_V1 GRH("\x00\x14", NEXT_IBA) RC_ACK), 54,
     ROCE_TRUNCATED, ROCE_CLASS_ROCE, 0, 14, 54},
};
/* clang-format on */

static const uint8_t from_mac[6] = {2, 0, 0, 0, 0, 0x11};
static const uint8_t to_mac[6] = {2, 0, 0, 0, 0, 0x22};

static void
test_ipv4_fields(void)
{
    check_row("fields of Ethernet, VLAN and IPv4");
    static const char bytes[] =
        MACS S_TAG("\x00\x0a") TAG("\x70\x64") IS_IPV4 IPV4_RC_ACK;
    roce_packet p;
    decode(ROCE_LINK_ETHERNET, bytes, sizeof bytes - 1, sizeof bytes - 1, &p);
    CHECK(p.has_macs);
    CHECK(memcmp(p.src_mac, from_mac, 6) == 0);
    CHECK(memcmp(p.dst_mac, to_mac, 6) == 0);
    CHECK_INT(p.vlan_tci[0], 0x000a);
    CHECK_INT(p.vlan_tci[1], 0x7064); /* PCP 3, DEI 1, VID 100 */
    CHECK_INT(p.vlan_tci[2], 0);
    CHECK_INT(p.ethertype, 0x0800);
    static const roce_addr from = {.bytes = {10, 0, 0, 1}, .family = 4};
    static const roce_addr to = {.bytes = {10, 0, 0, 2}, .family = 4};
    CHECK(roce_addr_equal(&p.src, &from));
    CHECK(roce_addr_equal(&p.dst, &to));
    CHECK_INT(p.traffic_class, 0x6a);
    CHECK_INT(roce_packet_ecn(&p), 2);
    CHECK_INT(p.hop_limit, 63);
    CHECK_INT(p.ipv4_ident, 0x1234);
    CHECK_INT(p.flow_label, 0);
    CHECK_INT(p.ip_protocol, 17);
    CHECK(!p.is_grh);
    CHECK_INT(p.src_port, 49153);
    CHECK_INT(p.dst_port, 4791);
    CHECK_INT(p.udp_length, 28);
    CHECK_INT(p.transport, ROCE_TRANSPORT_RC);
}

static void
test_grh_fields(void)
{
    check_row("fields of a GRH");
    static const char bytes[] = MACS IS_ROCE_V1 GRH("\x00\x14", NEXT_IBA) RC_ACK;
    roce_packet p;
    decode(ROCE_LINK_ETHERNET, bytes, sizeof bytes - 1, sizeof bytes - 1, &p);
    CHECK_INT(p.ethertype, 0x8915);
    CHECK(p.is_grh);
    static const roce_addr from = {.bytes = {[0] = 0xfd, [15] = 1}, .family = 6};
    static const roce_addr to = {.bytes = {[0] = 0xfd, [15] = 2}, .family = 6};
    CHECK(roce_addr_equal(&p.src, &from));
    CHECK(roce_addr_equal(&p.dst, &to));
    CHECK_INT(p.traffic_class, 0x6a);
    CHECK_INT(p.hop_limit, 63);
    CHECK_INT(p.ipv4_ident, 0);
    CHECK_INT(p.flow_label, 0x54321);
    CHECK_INT(p.ip_protocol, 0x1b);
    CHECK_INT(p.src_port, 0);
    CHECK_INT(p.dst_port, 0);
    CHECK_INT(p.udp_length, 28);
}

#define WRITE_MIDDLE_BTH "\x07\x40\xff\xff\x00\x00\x00\x11\x00\x00\x00\x64"

/* Of a WRITE with 64 bytes of payload, what came to the capture after something had cut it. */
static void
test_sliced(void)
{
    static const struct {
        const char *name, *bytes;
        uint32_t n, captured;
        roce_outcome outcome;
        uint32_t uncut;
    } rows[] = {
        {"whole headers, IPv4",
         BYTES(MACS IS_IPV4 IPV4("\x00\x6c", IS_UDP) UDP("\x00\x58") WRITE_MIDDLE_BTH
               "\x01\x02"), 0, ROCE_DECODED, 122},
        {"whole headers, IPv6",
         BYTES(MACS IS_IPV6 IPV6("\x00\x58", IS_UDP) UDP("\x00\x58") WRITE_MIDDLE_BTH
               "\x01\x02"), 0, ROCE_DECODED, 142},
        {"and the snap length took some of what was left",
         BYTES(MACS IS_IPV4 IPV4("\x00\x6c", IS_UDP) UDP("\x00\x58") WRITE_MIDDLE_BTH
               "\x01\x02"), 55, ROCE_DECODED, 122},
        {"cut in the BTH",
         BYTES(MACS IS_IPV4 IPV4("\x00\x6c", IS_UDP) UDP("\x00\x58") "\x07\x40\xff"), 0,
         ROCE_TRUNCATED, 122},
        {"cut behind UDP's length",
         BYTES(MACS IS_IPV4 IPV4("\x00\x6c", IS_UDP) "\xc0\x01\x12\xb7\x00\x58"), 0,
         ROCE_TRUNCATED, 122},
        {"cut in UDP's length",
         BYTES(MACS IS_IPV4 IPV4("\x00\x6c", IS_UDP) "\xc0\x01\x12\xb7\x00"), 0,
         ROCE_MALFORMED, 0},
        {"IP says otherwise",
         BYTES(MACS IS_IPV4 IPV4("\x00\xec", IS_UDP) UDP("\x00\x58") WRITE_MIDDLE_BTH
               "\x01\x02"), 0, ROCE_MALFORMED, 0},
        {"UDP says otherwise",
         BYTES(MACS IS_IPV4 IPV4("\x00\x6c", IS_UDP) UDP("\x00\x48") WRITE_MIDDLE_BTH
               "\x01\x02"), 0, ROCE_MALFORMED, 0},
        {"IPv6 says otherwise",
         BYTES(MACS IS_IPV6 IPV6("\x00\xd8", IS_UDP) UDP("\x00\x58") WRITE_MIDDLE_BTH
               "\x01\x02"), 0, ROCE_MALFORMED, 0},
        {"TCP, whose checksum of IPv4 is right",
         BYTES(MACS IS_IPV4 "\x45\x6a\x05\xdc\x12\x34\x40\x00\x3f\x06\x0f\x7c"
               IPV4_ADDRESSES "\x12\xb7\x12\xb7\x00\x00"), 0, ROCE_NOT_OURS, 1514},
        {"TCP, whose is not",
         BYTES(MACS IS_IPV4 IPV4("\x05\xdc", IS_TCP) "\x12\xb7\x12\xb7\x00\x00"), 0,
         ROCE_MALFORMED, 0},
        {"the snap length took some of the header that would tell",
         BYTES(MACS IS_IPV4 IPV4_WITH("\x46", "\x05\xdc", "\x40\x00", IS_TCP)
               "\x01\x01\x01\x00" "\x12\xb7\x12\xb7\x00\x00"), 36, ROCE_TRUNCATED, 0},
        {"in VXLAN",
         BYTES(MACS IS_IPV4 IPV4("\x00\x9e", IS_UDP) UDP_TO("\x12\xb5", "\x00\x8a")
               "\x08\x00\x00\x00\x00\x13\x88\x00" MACS IS_IPV4
               IPV4("\x00\x6c", IS_UDP) UDP("\x00\x58") WRITE_MIDDLE_BTH "\x01\x02"), 0,
         ROCE_DECODED, 172},
        {"in NVGRE",
         BYTES(MACS IS_IPV4 IPV4("\x00\x96", "\x2f") "\x20\x00\x65\x58" "\x00\x13\x88\x55"
               MACS IS_IPV4 IPV4("\x00\x6c", IS_UDP) UDP("\x00\x58") WRITE_MIDDLE_BTH
               "\x01\x02"), 0, ROCE_DECODED, 164},
        {"longer than the tunnel that it is in",
         BYTES(MACS IS_IPV4 IPV4("\x00\x5c", IS_UDP) UDP_TO("\x12\xb5", "\x00\x48")
               "\x08\x00\x00\x00\x00\x13\x88\x00" MACS IS_IPV4
               IPV4("\x00\x6c", IS_UDP) UDP("\x00\x58") WRITE_MIDDLE_BTH "\x01\x02"), 0,
         ROCE_MALFORMED, 0},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        uint32_t captured = rows[i].captured != 0 ? rows[i].captured : rows[i].n;
        roce_packet p;
        decode(ROCE_LINK_ETHERNET, rows[i].bytes, captured, rows[i].n, &p);
        const roce_frame frame = {.captured_bytes = captured, .wire_bytes = rows[i].n};
        CHECK_INT(p.outcome, rows[i].outcome);
        CHECK_INT(p.uncut_bytes, rows[i].uncut);
        CHECK_INT(roce_packet_is_cut(&p, &frame), captured < rows[i].n || rows[i].uncut > 0);
        CHECK_INT(roce_packet_wire_bytes(&p, &frame),
                  rows[i].uncut > 0 ? rows[i].uncut : rows[i].n);
        if (rows[i].outcome == ROCE_DECODED) {
            CHECK_INT(p.payload_bytes, 64);
            CHECK_INT(p.end_offset, rows[i].uncut);
            CHECK(!roce_packet_has_icrc(&p, captured));
        }
    }
}

/* Which way a frame went: said by the file, or by a cooked header. */
static void
test_direction(void)
{
    static const struct {
        const char *name;
        roce_link link;
        const char *bytes;
        uint32_t n;
        roce_direction file, want;
        bool has_src_mac;
    } cases[] = {
        {"Ethernet, unknown", ETHERNET, BYTES(MACS IS_IPV4 IPV4_RC_ACK),
         ROCE_DIRECTION_UNKNOWN, ROCE_DIRECTION_UNKNOWN, true},
        {"Ethernet, the file says in", ETHERNET, BYTES(MACS IS_IPV4 IPV4_RC_ACK),
         ROCE_DIRECTION_IN, ROCE_DIRECTION_IN, true},
        {"Ethernet, the file says out", ETHERNET, BYTES(MACS IS_IPV4 IPV4_RC_ACK),
         ROCE_DIRECTION_OUT, ROCE_DIRECTION_OUT, true},
        {"SLL to us", SLL, BYTES(SLL_HEADER("\x00", IS_IPV4) IPV4_RC_ACK),
         ROCE_DIRECTION_UNKNOWN, ROCE_DIRECTION_IN, true},
        {"SLL to another, 3", SLL, BYTES(SLL_HEADER("\x03", IS_IPV4) IPV4_RC_ACK),
         ROCE_DIRECTION_UNKNOWN, ROCE_DIRECTION_UNKNOWN, true},
        {"SLL from us, 4", SLL, BYTES(SLL_HEADER("\x04", IS_IPV4) IPV4_RC_ACK),
         ROCE_DIRECTION_UNKNOWN, ROCE_DIRECTION_OUT, true},
        {"SLL without an address", SLL,
         BYTES("\x00\x00\x00\x01\x00\x00\x02\x00\x00\x00\x00\x11\x00\x00" IS_IPV4
                   IPV4_RC_ACK),
         ROCE_DIRECTION_UNKNOWN, ROCE_DIRECTION_IN, false},
        {"SLL2 to us", SLL2, BYTES(SLL2_HEADER("\x00", IS_IPV4) IPV4_RC_ACK),
         ROCE_DIRECTION_UNKNOWN, ROCE_DIRECTION_IN, true},
        {"SLL2 to another, 3", SLL2, BYTES(SLL2_HEADER("\x03", IS_IPV4) IPV4_RC_ACK),
         ROCE_DIRECTION_UNKNOWN, ROCE_DIRECTION_UNKNOWN, true},
        {"SLL2 from us, 4", SLL2, BYTES(SLL2_HEADER("\x04", IS_IPV4) IPV4_RC_ACK),
         ROCE_DIRECTION_UNKNOWN, ROCE_DIRECTION_OUT, true},
        {"SLL, nothing captured: the file knows", SLL, NO_BYTES, ROCE_DIRECTION_OUT,
         ROCE_DIRECTION_OUT, false},
        {"SLL2, nothing captured: the file knows", SLL2, NO_BYTES, ROCE_DIRECTION_OUT,
         ROCE_DIRECTION_OUT, false},
    };
    roce_ports ports;
    roce_ports_init(&ports);
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        const roce_frame frame = {
            .bytes = (const uint8_t *)cases[i].bytes,
            .captured_bytes = cases[i].n,
            .wire_bytes = 100,
            .link = cases[i].link,
            .direction = cases[i].file,
        };
        roce_packet p;
        roce_decode(&frame, &ports, &p);
        CHECK_INT(p.direction, cases[i].want);
        CHECK_INT(p.has_macs, cases[i].link == ROCE_LINK_ETHERNET);
        CHECK_INT(memcmp(p.src_mac, from_mac, 6) == 0, cases[i].has_src_mac);
    }
}

static void
test_ports(void)
{
    static const struct {
        const char *name;
        roce_ports ports;
        roce_class class;
    } cases[] = {
        {"none", {.n_ports = 0}, ROCE_CLASS_OTHER},
        {"others", {.port = {4790, 4792}, .n_ports = 2}, ROCE_CLASS_OTHER},
        {"second", {.port = {7, 4791}, .n_ports = 2}, ROCE_CLASS_ROCE},
        {"beyond the last", {.port = {7, 4791}, .n_ports = 1}, ROCE_CLASS_OTHER},
        {"last of all",
         {.port = {[ROCE_MAX_PORTS - 1] = 4791}, .n_ports = ROCE_MAX_PORTS},
         ROCE_CLASS_ROCE},
    };
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        static const char bytes[] = IPV4_RC_ACK;
        roce_packet p;
        decode_with(&cases[i].ports, ROCE_LINK_RAW, bytes, sizeof bytes - 1,
                    sizeof bytes - 1, &p);
        CHECK_INT(p.kind, cases[i].class);
    }
    check_row("default");
    roce_ports ports;
    roce_ports_init(&ports);
    CHECK_INT(ports.n_ports, 1);
    CHECK_INT(ports.port[0], 4791);
}

static void
test_addresses(void)
{
    static const struct {
        const char *name;
        roce_addr a, b;
        int want;
    } cases[] = {
        {"equal", {{10, 0, 0, 1}, 4}, {{10, 0, 0, 1}, 4}, 0},
        {"last byte less", {{10, 0, 0, 1}, 4}, {{10, 0, 0, 2}, 4}, -1},
        {"first byte more", {{200, 0, 0, 1}, 4}, {{10, 0, 0, 2}, 4}, 1},
        {"IPv4 before IPv6", {{200, 0, 0, 1}, 4}, {{10, 0, 0, 1}, 6}, -1},
        {"IPv6 behind IPv4", {{10, 0, 0, 1}, 6}, {{10, 0, 0, 1}, 4}, 1},
        {"last byte of IPv6", {{[15] = 2}, 6}, {{[15] = 1}, 6}, 1},
    };
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        int got = roce_addr_compare(&cases[i].a, &cases[i].b);
        CHECK_INT((got > 0) - (got < 0), cases[i].want);
        CHECK_INT(roce_addr_equal(&cases[i].a, &cases[i].b), cases[i].want == 0);
    }
}

int
main(void)
{
    check_layers(link_rows, N_ROWS(link_rows));
    check_layers(ipv4_rows, N_ROWS(ipv4_rows));
    check_layers(udp_rows, N_ROWS(udp_rows));
    check_layers(grh_rows, N_ROWS(grh_rows));
    test_ipv4_fields();
    test_grh_fields();
    test_sliced();
    test_direction();
    test_ports();
    test_addresses();
    return check_status();
}
