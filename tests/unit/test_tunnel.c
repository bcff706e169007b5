/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tunnels and overlays: GRE, NVGRE, VXLAN, Geneve, MPLS, IP in IP; nesting and its limit;
 * what of the headers around a packet counts, and what does not.  Mirrors are in
 * test_mirror.c.
 */
#include "tunnel_maker.h"

#define GRE_PROTOCOL 47
#define MPLS_ETHERTYPE "\x88\x47"

typedef struct tunnel_row {
    const char *name;
    uint8_t protocol; /* of the outer IP; with a port it is UDP */
    uint16_t port;
    const char *bytes; /* behind the outer IP or UDP header */
    uint32_t n;
    roce_outcome outcome;
    uint8_t n_tunnels;
    roce_tenant tenant;
    int32_t ip_at; /* of the innermost IP header, within `bytes` */
} tunnel_row;

#define OUTER_IP -1 /* not in `bytes` */
#define NO_IP -2

static void
check_inside(const roce_packet *p, const tunnel_row *row, uint32_t ip_at)
{
    CHECK_INT(p->outcome, row->outcome);
    CHECK_INT(p->n_tunnels, row->n_tunnels);
    CHECK_INT(p->tenant.kind, row->tenant.kind);
    CHECK_INT(p->tenant.id, row->tenant.id);
    CHECK_INT(p->mirror.kind, ROCE_MIRROR_NONE);
    CHECK_INT(p->outer_dscp, row->n_tunnels > 0 ? ROCE_OUTER | 10 : 0);
    CHECK_INT(p->outer_pcp, 0);
    CHECK_INT(p->ip_offset, ip_at);
    CHECK_INT(p->has_bth, row->outcome == ROCE_DECODED);
    if (p->has_bth) {
        CHECK_INT(p->kind, ROCE_CLASS_ROCE);
        CHECK_INT(p->bth.psn24, 100);
        CHECK_INT(p->aeth_msn, 7);
        CHECK_INT(p->traffic_class, 0x6a); /* the inner one's */
        CHECK_INT(p->dst_port, p->is_grh ? 0 : 4791);
        CHECK_INT(p->end_offset, p->bth_offset + RC_ACK_SIZE);
    }
}

static void
check_rows(const tunnel_row *rows, size_t n_rows, const outer *o)
{
    for (size_t i = 0; i < n_rows; i++) {
        const tunnel_row *row = &rows[i];
        check_row(row->name);
        packet_maker m = {0};
        put_outer_udp(&m, o, row->protocol, row->port, row->n);
        uint32_t before = m.n;
        put_bytes(&m, row->bytes, row->n);
        roce_packet p;
        decode(ROCE_LINK_ETHERNET, m.bytes, m.n, m.n, &p);
        uint32_t ip_at = row->ip_at >= 0       ? before + (uint32_t)row->ip_at
                         : row->ip_at == NO_IP ? 0
                                               : 14;
        check_inside(&p, row, ip_at);
        /* Padding of the outer frame is of no packet's. */
        put_filler(&m, 7);
        roce_packet padded;
        decode(ROCE_LINK_ETHERNET, m.bytes, m.n, m.n, &padded);
        CHECK(memcmp(&p, &padded, sizeof p) == 0);
    }
}

/* clang-format off */
#define NO_TENANT {ROCE_TENANT_NONE, 0}
#define UDP_4789 17, 4789
#define UDP_4790 17, 4790
#define UDP_6081 17, 6081
#define IN_GRE GRE_PROTOCOL, 0
#define IN ROCE_DECODED, 1
#define LEFT_ALONE ROCE_NOT_OURS, 0, NO_TENANT, OUTER_IP

#define VXLAN(flags, vni) flags "\x00\x00\x00" vni "\x00"
#define GPE(flags, protocol, vni) flags "\x00\x00" protocol vni "\x00"
#define VNI "\x00\x13\x88" /* 5000 */
/* version and length of the options in words of 4, flags, type, VNI */
#define GENEVE(first, flags, type) first flags type VNI "\x00"
#define LABEL(bottom) "\x00\x01" bottom "\x40" /* label 16, TTL 64 */
#define NEXT_LABEL LABEL("\x00")
#define LAST_LABEL LABEL("\x01")
#define FIVE_LABELS NEXT_LABEL NEXT_LABEL NEXT_LABEL NEXT_LABEL NEXT_LABEL
#define CONTROL_WORD "\x00\x00\x00\x09"
#define TAG "\x81\x00\x60\x64"
#define BRIDGING "\x65\x58"
/* Addresses that begin with the nibble of an IP version. */
#define FRAME_TO_4 "\x48\x00\xff\x00\x00\x22" "\x02\x00\x00\x00\x00\x11" IS_IPV4 IPV4_RC_ACK
#define FRAME_TO_6 "\x64\x00\x00\x00\xff\x22" "\x02\x00\x00\x00\x00\x11" IS_IPV4 IPV4_RC_ACK

static const tunnel_row rows[] = {
    {"GRE, IPv4", IN_GRE, BYTES(GRE(GRE_PLAIN, IS_IPV4) IPV4_RC_ACK), IN, NO_TENANT, 4},
    {"GRE, IPv6", IN_GRE, BYTES(GRE(GRE_PLAIN, IS_IPV6) IPV6_RC_ACK), IN, NO_TENANT, 4},
    {"GRE with checksum", IN_GRE,
     BYTES(GRE("\x80", IS_IPV4) "\xbe\xef\x00\x00" IPV4_RC_ACK), IN, NO_TENANT, 8},
    {"GRE with key", IN_GRE,
     BYTES(GRE(GRE_K, IS_IPV4) "\x00\x00\x00\x2a" IPV4_RC_ACK), IN, NO_TENANT, 8},
    {"GRE with sequence", IN_GRE, BYTES(GRE(GRE_S, IS_IPV4) SEQUENCE IPV4_RC_ACK), IN,
     NO_TENANT, 8},
    {"GRE with all three", IN_GRE,
     BYTES(GRE("\xb0", IS_IPV4) "\xbe\xef\x00\x00" "\x00\x00\x00\x2a" SEQUENCE IPV4_RC_ACK),
     IN, NO_TENANT, 16},
    {"GRE with routing (RFC 1701)", IN_GRE,
     BYTES(GRE("\x40", IS_IPV4) "\xbe\xef\x00\x00" IPV4_RC_ACK), LEFT_ALONE},
    {"GRE version 1 (PPTP)", IN_GRE, BYTES("\x30\x01\x88\x0b" "\x00\x30\x00\x01" SEQUENCE
                                           IPV4_RC_ACK), LEFT_ALONE},
    {"GRE keepalive: type 0", IN_GRE, BYTES("\x00\x00\x00\x00"), LEFT_ALONE},
    {"GRE with reserved bits is read", IN_GRE,
     BYTES("\x00\x08" IS_IPV4 IPV4_RC_ACK), IN, NO_TENANT, 4},
    {"GRE, MPLS, IPv4: two tunnels", IN_GRE,
     BYTES(GRE(GRE_PLAIN, MPLS_ETHERTYPE) LAST_LABEL IPV4_RC_ACK), ROCE_DECODED, 2,
     NO_TENANT, 8},
    {"NVGRE: Ethernet in GRE with a key", IN_GRE,
     BYTES(GRE(GRE_K, BRIDGING) "\x00\x13\x88\x55" FRAME), IN,
     {ROCE_TENANT_NVGRE, 5000}, 22},

    {"VXLAN", UDP_4789, BYTES(VXLAN("\x08", VNI) FRAME), IN, {ROCE_TENANT_VXLAN, 5000}, 22},
    {"VXLAN, the largest VNI", UDP_4789, BYTES(VXLAN("\x08", "\xff\xff\xff") FRAME), IN,
     {ROCE_TENANT_VXLAN, 0xffffff}, 22},
    {"VXLAN, VNI 0", UDP_4789, BYTES(VXLAN("\x08", "\x00\x00\x00") FRAME), IN,
     {ROCE_TENANT_VXLAN, 0}, 22},
    {"VXLAN with a group policy", UDP_4789,
     BYTES("\x88\x00\x12\x34" VNI "\x00" FRAME), IN, {ROCE_TENANT_VXLAN, 5000}, 22},
    {"VXLAN without a VNI is none", UDP_4789, BYTES(VXLAN("\x00", VNI) FRAME), LEFT_ALONE},
    {"VXLAN, VLAN inside", UDP_4789,
     BYTES(VXLAN("\x08", VNI) MACS TAG IS_IPV4 IPV4_RC_ACK), IN,
     {ROCE_TENANT_VXLAN, 5000}, 26},
    {"VXLAN, RoCEv1 inside", UDP_4789,
     BYTES(VXLAN("\x08", VNI) MACS IS_ROCE_V1 IPV6("\x00\x14", "\x1b") RC_ACK), IN,
     {ROCE_TENANT_VXLAN, 5000}, 22},
    {"VXLAN to another port is none", 17, 4788, BYTES(VXLAN("\x08", VNI) FRAME), LEFT_ALONE},
    {"GPE, Ethernet", UDP_4790, BYTES(GPE("\x0c", "\x03", VNI) FRAME), IN,
     {ROCE_TENANT_VXLAN, 5000}, 22},
    {"GPE, IPv4", UDP_4790, BYTES(GPE("\x0c", "\x01", VNI) IPV4_RC_ACK), IN,
     {ROCE_TENANT_VXLAN, 5000}, 8},
    {"GPE, IPv6", UDP_4790, BYTES(GPE("\x0c", "\x02", VNI) IPV6_RC_ACK), IN,
     {ROCE_TENANT_VXLAN, 5000}, 8},
    {"GPE, MPLS", UDP_4790, BYTES(GPE("\x0c", "\x05", VNI) LAST_LABEL IPV4_RC_ACK),
     ROCE_DECODED, 2, {ROCE_TENANT_VXLAN, 5000}, 12},
    {"GPE without a VNI is no tenant's", UDP_4790,
     BYTES(GPE("\x04", "\x01", VNI) IPV4_RC_ACK), IN, NO_TENANT, 8},
    {"GPE without a next protocol: Ethernet", UDP_4790, BYTES(VXLAN("\x08", VNI) FRAME), IN,
     {ROCE_TENANT_VXLAN, 5000}, 22},
    {"GPE, NSH", UDP_4790, BYTES(GPE("\x0c", "\x04", VNI) FRAME), LEFT_ALONE},
    {"GPE, next protocol 0", UDP_4790, BYTES(GPE("\x0c", "\x00", VNI) FRAME), LEFT_ALONE},
    {"GPE, next protocol 6", UDP_4790, BYTES(GPE("\x0c", "\x06", VNI) FRAME), LEFT_ALONE},
    {"GPE, OAM", UDP_4790, BYTES(GPE("\x0d", "\x03", VNI) FRAME), LEFT_ALONE},
    {"GPE, version 1", UDP_4790, BYTES(GPE("\x1c", "\x03", VNI) FRAME), LEFT_ALONE},

    {"Geneve, Ethernet", UDP_6081, BYTES(GENEVE("\x00", "\x00", BRIDGING) FRAME), IN,
     {ROCE_TENANT_GENEVE, 5000}, 22},
    {"Geneve, IPv4", UDP_6081, BYTES(GENEVE("\x00", "\x00", IS_IPV4) IPV4_RC_ACK), IN,
     {ROCE_TENANT_GENEVE, 5000}, 8},
    {"Geneve, IPv6", UDP_6081, BYTES(GENEVE("\x00", "\x00", IS_IPV6) IPV6_RC_ACK), IN,
     {ROCE_TENANT_GENEVE, 5000}, 8},
    {"Geneve with options", UDP_6081,
     BYTES(GENEVE("\x02", "\x40", BRIDGING) "\x01\x02\x80\x01" "opt." FRAME), IN,
     {ROCE_TENANT_GENEVE, 5000}, 30},
    {"Geneve, options longer than the packet", UDP_6081,
     BYTES(GENEVE("\x3f", "\x00", BRIDGING) FRAME), ROCE_MALFORMED, 0, NO_TENANT, OUTER_IP},
    {"Geneve, control", UDP_6081, BYTES(GENEVE("\x00", "\x80", BRIDGING) FRAME), LEFT_ALONE},
    {"Geneve, version 1", UDP_6081, BYTES(GENEVE("\x40", "\x00", BRIDGING) FRAME), LEFT_ALONE},
    {"Geneve, another type", UDP_6081, BYTES(GENEVE("\x00", "\x00", "\x88\xcc") FRAME),
     LEFT_ALONE},

    {"IPv4 in IP", 4, 0, BYTES(IPV4_RC_ACK), IN, NO_TENANT, 0},
    {"IPv6 in IP", 41, 0, BYTES(IPV6_RC_ACK), IN, NO_TENANT, 0},
    {"IP in IP in IP", 4, 0, BYTES(IPV4("\x00\x44", IS_IPIP) IPV4_RC_ACK), ROCE_DECODED, 2,
     NO_TENANT, 20},
    {"IP in IP, the other version", 4, 0, BYTES(IPV6_RC_ACK), ROCE_MALFORMED, 1, NO_TENANT, 0},
    {"IP in IP, longer than what carries it", 4, 0,
     BYTES(IPV4("\x00\x31", IS_UDP) UDP("\x00\x1c") RC_ACK), ROCE_MALFORMED, 1, NO_TENANT, 0},
    {"IP in IP, a fragment inside", 4, 0,
     BYTES(IPV4_WITH("\x45", "\x00\x28", "\x00\x01", IS_TCP) RC_ACK), ROCE_NOT_OURS, 1,
     NO_TENANT, 0},

    {"an overlay in an overlay: the inner one counts", UDP_4789,
     BYTES(VXLAN("\x08", "\x00\x00\x01") MACS IS_IPV4 IPV4("\x00\x62", IS_UDP)
           UDP_TO("\x17\xc1", "\x00\x4e") GENEVE("\x00", "\x00", BRIDGING) FRAME),
     ROCE_DECODED, 2, {ROCE_TENANT_GENEVE, 5000}, 72},
    {"IP in IP in an overlay is in it", UDP_4789,
     BYTES(VXLAN("\x08", VNI) MACS IS_IPV4 IPV4("\x00\x44", IS_IPIP) IPV4_RC_ACK),
     ROCE_DECODED, 2, {ROCE_TENANT_VXLAN, 5000}, 42},
    {"an overlay that carries ARP", UDP_4789, BYTES(VXLAN("\x08", VNI) MACS "\x08\x06"
                                                  "\x00\x01\x08\x00"),
     ROCE_NOT_OURS, 1, {ROCE_TENANT_VXLAN, 5000}, NO_IP},
};
/* clang-format on */

/* Labels right behind the outer Ethernet header, where no IP says how long they are. */
/* clang-format off */
static const struct {
    const char *name;
    const char *bytes; /* behind the ethertype */
    uint32_t n;
    roce_outcome outcome;
    uint8_t n_tunnels;
    uint32_t ip_at; /* of the innermost IP header, within `bytes` */
} label_rows[] = {
    {"one label, IPv4", BYTES(LAST_LABEL IPV4_RC_ACK), IN, 4},
    {"one label, IPv6", BYTES(LAST_LABEL IPV6_RC_ACK), IN, 4},
    {"two labels", BYTES(NEXT_LABEL LAST_LABEL IPV4_RC_ACK), IN, 8},
    {"16 labels, the most", BYTES(FIVE_LABELS FIVE_LABELS FIVE_LABELS LAST_LABEL IPV4_RC_ACK),
     IN, 64},
    {"17 labels", BYTES(FIVE_LABELS FIVE_LABELS FIVE_LABELS NEXT_LABEL LAST_LABEL IPV4_RC_ACK),
     ROCE_NOT_OURS, 0, 0},
    {"pseudowire with a control word", BYTES(LAST_LABEL CONTROL_WORD FRAME), IN, 22},
    {"pseudowire without one, address beginning with 0", BYTES(LAST_LABEL FRAME), IN, 18},
    {"pseudowire with a control word, VLAN", BYTES(LAST_LABEL CONTROL_WORD MACS TAG IS_IPV4
                                                   IPV4_RC_ACK), IN, 26},
    {"pseudowire without one, address beginning with 4", BYTES(LAST_LABEL FRAME_TO_4), IN, 18},
    {"pseudowire without one, address beginning with 6", BYTES(LAST_LABEL FRAME_TO_6), IN, 18},
    {"pseudowire, address like an IPv4 header with a length that fits: taken for IP",
     BYTES(LAST_LABEL "\x45\x00\x00\x20\x00\x22" "\x02\x00\x00\x00\x00\x11" IS_IPV4
           IPV4_RC_ACK), ROCE_NOT_OURS, 1, 4},
    {"associated channel", BYTES(LAST_LABEL "\x10\x00\x00\x21" IPV4_RC_ACK),
     ROCE_NOT_OURS, 0, 0},
    {"IPv4 longer than the frame", BYTES(LAST_LABEL IPV4("\x00\x31", IS_UDP)
                                         UDP("\x00\x1c") RC_ACK), ROCE_MALFORMED, 1, 4},
    {"nothing behind the labels", BYTES(LAST_LABEL), ROCE_MALFORMED, 0, 0},
};
/* clang-format on */

static void
test_labels(void)
{
    for (size_t i = 0; i < N_ROWS(label_rows); i++) {
        check_row(label_rows[i].name);
        packet_maker m = {0};
        put_bytes(&m, OUTER_MACS "\x81\x00\xe0\x05" MPLS_ETHERTYPE, 18);
        put_bytes(&m, label_rows[i].bytes, label_rows[i].n);
        roce_packet p;
        decode(ROCE_LINK_ETHERNET, m.bytes, m.n, m.n, &p);
        CHECK_INT(p.outcome, label_rows[i].outcome);
        CHECK_INT(p.n_tunnels, label_rows[i].n_tunnels);
        CHECK_INT(p.ip_offset, label_rows[i].ip_at == 0 ? 0 : 18 + label_rows[i].ip_at);
        CHECK_INT(p.has_bth, label_rows[i].outcome == ROCE_DECODED);
        CHECK(p.n_tunnels == 0 || p.n_vlans == 0 || p.vlan_tci[0] == 0x6064);
    }
}

/* Nested as deeply as is looked into, and once more. */
static void
test_nesting(void)
{
    for (uint32_t depth = ROCE_MAX_TUNNELS - 1; depth <= ROCE_MAX_TUNNELS + 1;
         depth++) {
        check_row(depth > ROCE_MAX_TUNNELS ? "too deep" : "deep");
        packet_maker m = {0};
        for (uint32_t i = 0; i < depth; i++) {
            put_bytes(&m, "\x45\x28", 2);
            put_number(&m, 2, 20 * (depth - i) + 48);
            put_bytes(&m, "\x00\x00\x40\x00\xff\x04\xab\xcd" IPV4_ADDRESSES, 16);
        }
        put_bytes(&m, IPV4_RC_ACK, 48);
        roce_packet p;
        decode(ROCE_LINK_RAW, m.bytes, m.n, m.n, &p);
        bool fits = depth <= ROCE_MAX_TUNNELS;
        CHECK_INT(p.outcome, fits ? ROCE_DECODED : ROCE_NOT_OURS);
        CHECK_INT(p.kind, fits ? ROCE_CLASS_ROCE : ROCE_CLASS_OTHER);
        CHECK_INT(p.n_tunnels, fits ? depth : ROCE_MAX_TUNNELS);
        CHECK_INT(p.ip_offset, 20 * p.n_tunnels);
    }
}

/* Nothing of the outer link and network headers shows. */
static void
test_fields(void)
{
    check_row("fields inside a tunnel");
    packet_maker m = {0};
    put_bytes(&m, OUTER_MACS "\x81\x00\xe0\x05" IS_IPV6, 18);
    put_bytes(&m,
              "\x60\x0a\xbc\xde"
              "\x00\x62"
              "\x2f\xff",
              8);
    static const uint8_t addresses[32] = {0xfc, [15] = 1, 0xfc, [31] = 2};
    put_bytes(&m, addresses, sizeof addresses);
    put_bytes(&m, GRE(GRE_K, BRIDGING) "\x00\x13\x88\x55" FRAME, 70);
    put_filler(&m, 28);
    roce_packet p;
    decode(ROCE_LINK_ETHERNET, m.bytes, m.n, m.n, &p);
    CHECK_INT(p.outcome, ROCE_DECODED);
    CHECK(p.has_macs);
    CHECK(memcmp(p.dst_mac, MACS, 6) == 0);
    CHECK_INT(p.n_vlans, 0);
    CHECK_INT(p.vlan_tci[0], 0);
    CHECK_INT(p.ethertype, 0x0800);
    CHECK_INT(p.src.family, 4);
    CHECK_INT(p.src.bytes[15], 0);
    CHECK_INT(p.flow_label, 0);
    CHECK_INT(p.hop_limit, 63);

    check_row("IP in IP has no link header of its own");
    m = (packet_maker){0};
    put_outer(&m, &outer_ipv4, 4, 48);
    put_bytes(&m, IPV4_RC_ACK, 48);
    decode(ROCE_LINK_ETHERNET, m.bytes, m.n, m.n, &p);
    CHECK_INT(p.outcome, ROCE_DECODED);
    CHECK(!p.has_macs);
    CHECK_INT(p.ethertype, 0);
}

static void
test_pause_inside(void)
{
    check_row("an overlay carries PFC");
    static const char pfc[] =
        VXLAN("\x08", VNI) "\x01\x80\xc2\x00\x00\x01"
                           "\x02\x00\x00\x00\x00\x11" IS_MAC_CONTROL "\x01\x01"
                           "\x00\x08"
                           "\x00\x00\x00\x00\x00\x00\xff\xff"
                           "\x00\x00\x00\x00\x00\x00\x00\x00";
    packet_maker m = {0};
    put_outer_udp(&m, &outer_ipv4, 17, 4789, sizeof pfc - 1);
    put_bytes(&m, pfc, sizeof pfc - 1);
    roce_packet p;
    decode(ROCE_LINK_ETHERNET, m.bytes, m.n, m.n, &p);
    CHECK_INT(p.outcome, ROCE_DECODED);
    CHECK_INT(p.kind, ROCE_CLASS_PFC);
    CHECK_INT(p.src_mac[5], 0x11);
    CHECK_INT(p.pause.quanta[3], 0xffff);
    CHECK_INT(p.src.family, 0);
}

/* RFC 6040, figure 4, through a tunnel and alone; rows are the inner codepoint, columns
 * the outer one, both in the order of their values: Not-ECT, ECT(1), ECT(0), CE. */
static const unsigned rfc_6040[4][4] = {
    {0, 0, 0, 0}, /* Not-ECT: ECT(1) and CE are not to happen; CE is dropped */
    {1, 1, 1, 3}, /* ECT(1) */
    {2, 1, 2, 3}, /* ECT(0) */
    {3, 3, 3, 3}, /* CE */
};

static void
decode_marked(const outer *o, uint8_t inner_ecn, roce_packet *p)
{
    packet_maker m = {0};
    put_outer(&m, o, 4, 48);
    uint32_t inner = m.n;
    put_bytes(&m, IPV4_RC_ACK, 48);
    m.bytes[inner + 1] = (uint8_t)(0x68 | inner_ecn);
    decode(ROCE_LINK_ETHERNET, m.bytes, m.n, m.n, p);
    CHECK_INT(p->outcome, ROCE_DECODED);
}

static void
test_ecn(void)
{
    for (unsigned inner = 0; inner < 4; inner++) {
        for (unsigned around = 0; around < 4; around++) {
            check_row("ECN of a tunnel (RFC 6040)");
            unsigned want = rfc_6040[inner][around];
            CHECK_INT(roce_ecn_combine(inner, around), want);
            outer v4 = outer_ipv4;
            outer v6 = outer_ipv6;
            v4.traffic_class = v6.traffic_class = (uint8_t)(0x28 | around);
            const outer *both[] = {&v4, &v6};
            for (size_t i = 0; i < 2; i++) {
                roce_packet p;
                decode_marked(both[i], (uint8_t)inner, &p);
                CHECK_INT(roce_packet_ecn(&p), want);
                CHECK_INT(roce_packet_ecn_source(&p),
                          want == inner ? ROCE_ECN_INNER : ROCE_ECN_OUTER);
                CHECK_INT(p.traffic_class, 0x68 | inner); /* DSCP is the inner one's */
            }
        }
    }
    check_row("ECN of a packet in no tunnel");
    roce_packet p;
    decode(ROCE_LINK_RAW, IPV4_RC_ACK, 48, 48, &p);
    CHECK_INT(roce_packet_ecn(&p), 2);
    CHECK_INT(roce_packet_ecn_source(&p), ROCE_ECN_IP);
}

/* Tunnels end one by one, from the outermost: what one leaves meets the next. */
static void
test_ecn_nested(void)
{
    static const struct {
        const char *name;
        uint8_t ecn[3]; /* outermost first */
        unsigned want;
    } cases[] = {
        {"CE outermost reaches ECT inside ECT", {3, 2, 2}, 3},
        {"CE outermost is lost on Not-ECT between", {3, 0, 2}, 2},
        {"CE in the middle reaches ECT", {0, 3, 2}, 3},
        {"CE innermost stays", {0, 0, 3}, 3},
        {"CE around Not-ECT marks nothing", {3, 3, 0}, 0},
        {"ECT(1) outermost reaches ECT(0) twice", {1, 2, 2}, 1},
        {"ECT(1) innermost stays in ECT(0)", {2, 2, 1}, 1},
    };
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        packet_maker m = {0};
        put_bytes(&m, IPV4("\x00\x58", IS_IPIP) IPV4("\x00\x44", IS_IPIP) IPV4_RC_ACK,
                  88);
        for (unsigned j = 0; j < 3; j++) {
            m.bytes[20 * j + 1] = cases[i].ecn[j];
        }
        roce_packet p;
        decode(ROCE_LINK_RAW, m.bytes, m.n, m.n, &p);
        CHECK_INT(p.outcome, ROCE_DECODED);
        CHECK_INT(roce_packet_ecn(&p), cases[i].want);
    }
}

/* A tag around it all counts, and one inside does not; of nested headers the outermost. */
static void
test_outer_priority(void)
{
    static const struct {
        const char *name;
        const char *link, *carried;
        uint32_t n_link, n_carried;
        uint8_t dscp, pcp;
    } cases[] = {
        {"no tunnel", OUTER_MACS IS_IPV4, IPV4_RC_ACK, 14, 48, 0, 0},
        {"two tunnels", OUTER_MACS IS_IPV4,
         IPV4("\x00\x58", IS_IPIP) IPV4("\x00\x44", IS_IPIP) IPV4_RC_ACK, 14, 88,
         ROCE_OUTER | 5, 0},
        {"a tag around one", OUTER_MACS "\x81\x00\x60\x07" IS_IPV4,
         IPV4("\x00\x44", IS_IPIP) IPV4_RC_ACK, 18, 68, ROCE_OUTER | 5, ROCE_OUTER | 3},
        {"two tags around one", OUTER_MACS "\x88\xa8\xe0\x07\x81\x00\x60\x07" IS_IPV4,
         IPV4("\x00\x44", IS_IPIP) IPV4_RC_ACK, 22, 68, ROCE_OUTER | 5, ROCE_OUTER | 7},
        {"a tag around labels", OUTER_MACS "\x81\x00\x00\x07" MPLS_ETHERTYPE,
         "\x00\x01\x01\x40" IPV4_RC_ACK, 18, 52, 0, ROCE_OUTER},
    };
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        packet_maker m = {0};
        put_bytes(&m, cases[i].link, cases[i].n_link);
        put_bytes(&m, cases[i].carried, cases[i].n_carried);
        if (cases[i].n_carried > 52) {
            m.bytes[cases[i].n_link + 1] = 5 << 2;
        }
        roce_packet p;
        decode(ROCE_LINK_ETHERNET, m.bytes, m.n, m.n, &p);
        CHECK_INT(p.outcome, ROCE_DECODED);
        CHECK_INT(p.outer_dscp, cases[i].dscp);
        CHECK_INT(p.outer_pcp, cases[i].pcp);
        const roce_queued_by by = roce_packet_queued_by(&p);
        CHECK(by.has_dscp);
        CHECK_INT(by.dscp, cases[i].dscp != 0 ? cases[i].dscp & 0x3f : 26);
        CHECK_INT(by.is_tagged, cases[i].pcp != 0);
        CHECK_INT(by.pcp, cases[i].pcp & 7);
    }
}

/* The user's ports come first, also where a tunnel would. */
static void
test_ports(void)
{
    check_row("RoCE on the port of VXLAN");
    packet_maker m = {0};
    put_outer_udp(&m, &outer_ipv4, 17, 4789, RC_ACK_SIZE);
    put_bytes(&m, RC_ACK, RC_ACK_SIZE);
    const roce_ports ports = {.port = {4789}, .n_ports = 1};
    roce_packet p;
    decode_with(&ports, ROCE_LINK_ETHERNET, m.bytes, m.n, m.n, &p);
    CHECK_INT(p.outcome, ROCE_DECODED);
    CHECK_INT(p.kind, ROCE_CLASS_ROCE);
    CHECK_INT(p.n_tunnels, 0);
}

int
main(void)
{
    check_rows(rows, N_ROWS(rows), &outer_ipv4);
    check_rows(rows, N_ROWS(rows), &outer_ipv6);
    test_labels();
    test_nesting();
    test_fields();
    test_pause_inside();
    test_ecn();
    test_ecn_nested();
    test_outer_priority();
    test_ports();
    return check_status();
}
