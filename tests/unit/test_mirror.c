/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mirrors: ERSPAN I, II and III and what vendors send in their place; how a header is
 * told; what a mirror's header says; frames that the mirror cut.
 */
#include "tunnel_maker.h"

#include "roce/icrc.h"

#define GRE_PROTOCOL 47

typedef struct mirror_row {
    const char *name;
    const char *bytes; /* from the GRE header on */
    uint32_t n;
    roce_mirror_kind kind;
    uint32_t frame_at; /* within `bytes` */
    uint16_t session;
    uint32_t port;
    roce_mirror_direction direction;
} mirror_row;

/* clang-format off */
#define TYPE_I_II "\x88\xbe"
#define TYPE_III "\x22\xeb"
#define BRIDGING "\x65\x58"
#define KEY "\x00\x00\x00\x2a"

/* ERSPAN II: version and VLAN 100, COS 3 with En and T, session 0x155, index */
#define ERSPAN_II "\x10\x64" "\x79\x55" "\x00\x0a\xbc\xde"
/* ERSPAN III: version and VLAN, COS, BSO, T and session, time, group, flags */
#define III(flags) "\x20\x64" "\x61\x55" "\x12\x34\x56\x78" "\x00\x07" flags
#define ETHERNET_PDU "\x80" /* P; frame type 0 */
#define SUBHEADER(id, port) id port "\x00\x00\x00\x09"
#define DZGRE "\xd2\x8b"
#define TWENTY_TWO "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" \
                   "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
#define UNKNOWN ROCE_MIRROR_DIRECTION_UNKNOWN

static const mirror_row rows[] = {
    {"ERSPAN I", BYTES(GRE(GRE_PLAIN, TYPE_I_II) FRAME), ROCE_MIRROR_ERSPAN_I, 4, 0, 0,
     UNKNOWN},
    {"ERSPAN I with a key (EOS)", BYTES(GRE(GRE_K, TYPE_I_II) KEY FRAME),
     ROCE_MIRROR_ERSPAN_I, 8, 0, 0, UNKNOWN},
    {"ERSPAN I with a sequence number", BYTES(GRE(GRE_S, TYPE_I_II) SEQUENCE FRAME),
     ROCE_MIRROR_ERSPAN_I, 8, 0, 0, UNKNOWN},
    {"ERSPAN I with a sequence number, address like the version of II",
     BYTES(GRE(GRE_S, TYPE_I_II) SEQUENCE "\x12\x00\x00\x00\x00\x22"
           "\x02\x00\x00\x00\x00\x11" IS_IPV4 IPV4_RC_ACK), ROCE_MIRROR_ERSPAN_I, 8, 0, 0,
     UNKNOWN},
    {"ERSPAN II", BYTES(GRE(GRE_S, TYPE_I_II) SEQUENCE ERSPAN_II FRAME),
     ROCE_MIRROR_ERSPAN_II, 16, 0x155, 0xabcde, UNKNOWN},
    {"ERSPAN II without a sequence number", BYTES(GRE(GRE_PLAIN, TYPE_I_II) ERSPAN_II FRAME),
     ROCE_MIRROR_ERSPAN_II, 12, 0x155, 0xabcde, UNKNOWN},
    {"ERSPAN II under the type of III", BYTES(GRE(GRE_S, TYPE_III) SEQUENCE ERSPAN_II FRAME),
     ROCE_MIRROR_ERSPAN_II, 16, 0x155, 0xabcde, UNKNOWN},
    {"ERSPAN III, ingress", BYTES(GRE(GRE_S, TYPE_III) SEQUENCE III(ETHERNET_PDU "\x30") FRAME),
     ROCE_MIRROR_ERSPAN_III, 20, 0x155, 0, ROCE_MIRROR_INGRESS},
    {"ERSPAN III, egress", BYTES(GRE(GRE_S, TYPE_III) SEQUENCE III(ETHERNET_PDU "\x3c") FRAME),
     ROCE_MIRROR_ERSPAN_III, 20, 0x155, 0, ROCE_MIRROR_EGRESS},
    {"ERSPAN III without a sequence number (SONiC on Tofino)",
     BYTES(GRE(GRE_PLAIN, TYPE_III) III(ETHERNET_PDU "\x34") FRAME),
     ROCE_MIRROR_ERSPAN_III, 16, 0x155, 0, ROCE_MIRROR_INGRESS},
    {"ERSPAN III, platform 1: port in the second word",
     BYTES(GRE(GRE_S, TYPE_III) SEQUENCE III(ETHERNET_PDU "\x35")
           SUBHEADER("\x04", "\x00\x01\x02") FRAME),
     ROCE_MIRROR_ERSPAN_III, 28, 0x155, 9, ROCE_MIRROR_INGRESS},
    {"ERSPAN III, platform 3: 14 bits of port",
     BYTES(GRE(GRE_S, TYPE_III) SEQUENCE III(ETHERNET_PDU "\x3d")
           SUBHEADER("\x0f", "\xff\xff\x02") FRAME),
     ROCE_MIRROR_ERSPAN_III, 28, 0x155, 0x3f02, ROCE_MIRROR_EGRESS},
    {"ERSPAN III, platform 5: 16 bits of port",
     BYTES(GRE(GRE_S, TYPE_III) SEQUENCE III(ETHERNET_PDU "\x35")
           SUBHEADER("\x17", "\xff\xff\x02") FRAME),
     ROCE_MIRROR_ERSPAN_III, 28, 0x155, 0xff02, ROCE_MIRROR_INGRESS},
    {"ERSPAN III, platform 7: 20 bits of index",
     BYTES(GRE(GRE_S, TYPE_III) SEQUENCE III(ETHERNET_PDU "\x35")
           SUBHEADER("\x1f", "\xff\xff\x02") FRAME),
     ROCE_MIRROR_ERSPAN_III, 28, 0x155, 0xfff02, ROCE_MIRROR_INGRESS},
    {"ERSPAN III, platform 4: nothing known",
     BYTES(GRE(GRE_S, TYPE_III) SEQUENCE III(ETHERNET_PDU "\x35")
           SUBHEADER("\x13", "\xff\xff\x02") FRAME),
     ROCE_MIRROR_ERSPAN_III, 28, 0x155, 0, ROCE_MIRROR_INGRESS},
    {"ERSPAN III under the type of II", BYTES(GRE(GRE_S, TYPE_I_II) SEQUENCE
                                              III(ETHERNET_PDU "\x34") FRAME),
     ROCE_MIRROR_ERSPAN_III, 20, 0x155, 0, ROCE_MIRROR_INGRESS},
    {"ERSPAN III carries IP without Ethernet",
     BYTES(GRE(GRE_S, TYPE_III) SEQUENCE III("\x08" "\x34") IPV4_RC_ACK),
     ROCE_MIRROR_ERSPAN_III, 20, 0x155, 0, ROCE_MIRROR_INGRESS},
    {"Spectrum", BYTES(GRE(GRE_PLAIN, "\x89\x49") TWENTY_TWO FRAME), ROCE_MIRROR_SPECTRUM, 26,
     0, 0, UNKNOWN},
    {"Spectrum's type without its header", BYTES(GRE(GRE_PLAIN, "\x89\x49") FRAME),
     ROCE_MIRROR_GRE, 4, 0, 0, UNKNOWN},
    {"Ethernet in GRE without a key", BYTES(GRE(GRE_PLAIN, BRIDGING) FRAME), ROCE_MIRROR_GRE,
     4, 0, 0, UNKNOWN},
    {"Ethernet under another type", BYTES(GRE(GRE_PLAIN, "\x12\x34") FRAME), ROCE_MIRROR_GRE,
     4, 0, 0, UNKNOWN},
    {"DzGRE A: switch, port, policy", BYTES(GRE(GRE_PLAIN, DZGRE) "\x00\x07\x00\x01"
                                            "\x00\x03\x00\x04" "\x00\x05\x00\x00" FRAME),
     ROCE_MIRROR_ARISTA, 16, 5, 4, UNKNOWN},
    {"DzGRE B: port, policy", BYTES(GRE(GRE_PLAIN, DZGRE) "\x00\x08\x00\x01"
                                    "\x00\x04\x00\x05" FRAME),
     ROCE_MIRROR_ARISTA, 12, 5, 4, UNKNOWN},
    {"DzGRE with a time", BYTES(GRE(GRE_PLAIN, DZGRE) "\x00\x09\x01\x11"
                                "\x00\x03\x00\x04" "\x00\x05\x00\x00"
                                "\x65\x00\x00\x00" "\x12\x34\x56\x78" FRAME),
     ROCE_MIRROR_ARISTA, 24, 5, 4, UNKNOWN},
    {"a time behind the addresses (EOS)",
     BYTES(GRE(GRE_PLAIN, TYPE_I_II) MACS "\xd2\x8b\x00\x01\x01\x10"
           "\x65\x00\x00\x00" "\x12\x34\x56\x78" IS_IPV4 IPV4_RC_ACK),
     ROCE_MIRROR_ERSPAN_I, 4, 0, 0, UNKNOWN},
    {"a time of 48 bits behind the addresses, and a tag (EOS)",
     BYTES(GRE(GRE_PLAIN, TYPE_I_II) MACS "\xd2\x8b\x00\x01\x00\x21"
           "\x65\x00" "\x12\x34\x56\x78" "\x81\x00\x60\x64" IS_IPV4 IPV4_RC_ACK),
     ROCE_MIRROR_ERSPAN_I, 4, 0, 0, UNKNOWN},
};

/* What passes for no mirror, or for one that carries nothing of ours. */
static const struct {
    const char *name;
    const char *bytes;
    uint32_t n;
    roce_mirror_kind kind;
} strangers[] = {
    {"another type, IP's version wrong", BYTES(GRE(GRE_PLAIN, "\x12\x34") MACS IS_IPV4 "\x65"),
     ROCE_MIRROR_NONE},
    {"another type, not IP inside", BYTES(GRE(GRE_PLAIN, "\x12\x34") MACS "\x08\x06\x00\x01"),
     ROCE_MIRROR_NONE},
    {"another type, nothing inside", BYTES(GRE(GRE_PLAIN, "\x12\x34")), ROCE_MIRROR_NONE},
    {"DzGRE, an unknown subtype", BYTES(GRE(GRE_PLAIN, DZGRE) "\x00\x04\x00\x01" FRAME),
     ROCE_MIRROR_NONE},
    {"ERSPAN I with LLC inside", BYTES(GRE(GRE_PLAIN, TYPE_I_II)
                                       "\x01\x80\xc2\x00\x00\x00" "\x02\x00\x00\x00\x00\x11"
                                       "\x00\x26" "\x42\x42\x03\x00\x00\x00\x00\x00"),
     ROCE_MIRROR_ERSPAN_I},
    {"ERSPAN II with LLC inside", BYTES(GRE(GRE_S, TYPE_I_II) SEQUENCE ERSPAN_II
                                        "\x01\x80\xc2\x00\x00\x00" "\x02\x00\x00\x00\x00\x11"
                                        "\x00\x26" "\x42\x42\x03\x00\x00\x00\x00\x00"),
     ROCE_MIRROR_ERSPAN_II},
    {"ERSPAN I with ARP inside", BYTES(GRE(GRE_PLAIN, TYPE_I_II) MACS "\x08\x06\x00\x01"),
     ROCE_MIRROR_ERSPAN_I},
};
/* clang-format on */

static const outer *const outers[] = {&outer_ipv4, &outer_ipv6};

static void
make(packet_maker *m, const outer *o, const char *bytes, uint32_t n)
{
    *m = (packet_maker){0};
    put_outer(m, o, GRE_PROTOCOL, n);
    put_bytes(m, bytes, n);
}

static void
check_mirror(const mirror_row *row, const outer *o)
{
    check_row(row->name);
    packet_maker m;
    make(&m, o, row->bytes, row->n);
    roce_packet p;
    decode(ROCE_LINK_ETHERNET, m.bytes, m.n, m.n, &p);
    CHECK_INT(p.outcome, ROCE_DECODED);
    CHECK_INT(p.n_tunnels, 1);
    CHECK_INT(p.outer_dscp | p.outer_pcp, 0); /* they never were on its way */
    CHECK_INT(p.tenant.kind, ROCE_TENANT_NONE);
    CHECK_INT(p.mirror.kind, row->kind);
    CHECK_INT(p.mirror.session, row->session);
    CHECK_INT(p.mirror.port, row->port);
    CHECK_INT(p.mirror.direction, row->direction);
    CHECK_INT(p.mirror.frame_offset, o->size + row->frame_at);
    CHECK_INT(p.mirror.wire_bytes, row->n - row->frame_at);
    CHECK_INT(p.mirror.source.family, o->family);
    CHECK_INT(p.mirror.source.bytes[o->family == 4 ? 3 : 15], 1);
    CHECK(!p.mirror.cut);
    CHECK(!p.mirror.says_truncated);
    CHECK_INT(p.bth.psn24, 100);
    CHECK_INT(p.end_offset, m.n);
    /* An FCS that the mirror left on is of no packet's. */
    make(&m, o, row->bytes, row->n);
    packet_maker longer = {0};
    put_outer(&longer, o, GRE_PROTOCOL, row->n + 4);
    put_bytes(&longer, row->bytes, row->n);
    put_filler(&longer, 4);
    roce_packet with_fcs;
    decode(ROCE_LINK_ETHERNET, longer.bytes, longer.n, longer.n, &with_fcs);
    CHECK(memcmp(&p, &with_fcs, sizeof p) == 0);
}

static void
test_strangers(void)
{
    for (size_t i = 0; i < N_ROWS(strangers); i++) {
        check_row(strangers[i].name);
        packet_maker m;
        make(&m, &outer_ipv4, strangers[i].bytes, strangers[i].n);
        roce_packet p;
        decode(ROCE_LINK_ETHERNET, m.bytes, m.n, m.n, &p);
        CHECK_INT(p.outcome, ROCE_NOT_OURS);
        CHECK_INT(p.kind, ROCE_CLASS_OTHER);
        CHECK_INT(p.mirror.kind, strangers[i].kind);
    }
}

static void
test_fields(void)
{
    check_row("fields of ERSPAN II: tag taken off, truncated, key");
    static const char ii[] = GRE("\x30", TYPE_I_II) KEY SEQUENCE
        "\x10\x64"
        "\x75\x55"
        "\x00\x00\x00\x01" FRAME; /* COS 3, En 2, T */
    packet_maker m;
    make(&m, &outer_ipv4, ii, sizeof ii - 1);
    roce_packet p;
    decode(ROCE_LINK_ETHERNET, m.bytes, m.n, m.n, &p);
    CHECK_INT(p.mirror.kind, ROCE_MIRROR_ERSPAN_II);
    CHECK_INT(p.mirror.key, 42);
    CHECK(p.mirror.says_truncated);
    CHECK(!p.mirror.cut);
    CHECK(!p.mirror.has_time);
    CHECK_INT(p.n_vlans, 1);
    CHECK_INT(p.vlan_tci[0], 0x6064);
    CHECK_INT(p.mirror.wire_bytes, FRAME_SIZE + 4);

    check_row("fields of ERSPAN III");
    static const char iii[] = GRE(GRE_S, TYPE_III) SEQUENCE "\x20\x64"
                                                            "\x65\x55"
                                                            "\x12\x34\x56\x78"
                                                            "\x00\x07"
                                                            "\x82\xac" FRAME;
    make(&m, &outer_ipv4, iii, sizeof iii - 1); /* hardware 0x2a, D, granularity 2 */
    decode(ROCE_LINK_ETHERNET, m.bytes, m.n, m.n, &p);
    CHECK_INT(p.mirror.kind, ROCE_MIRROR_ERSPAN_III);
    CHECK(p.mirror.says_truncated);
    CHECK(p.mirror.has_time);
    CHECK_INT(p.mirror.time, 0x12345678);
    CHECK_INT(p.mirror.granularity, 2);
    CHECK_INT(p.mirror.hardware_id, 0x2a);
    CHECK_INT(p.mirror.direction, ROCE_MIRROR_EGRESS);
    CHECK_INT(p.n_vlans, 0);

    check_row("fields of DzGRE with a time");
    static const char dz[] = GRE(GRE_PLAIN, DZGRE) "\x00\x09\x01\x11"
                                                   "\x00\x03\x00\x04"
                                                   "\x00\x05\x00\x00"
                                                   "\x65\x00\x00\x00"
                                                   "\x12\x34\x56\x78" FRAME;
    make(&m, &outer_ipv4, dz, sizeof dz - 1);
    decode(ROCE_LINK_ETHERNET, m.bytes, m.n, m.n, &p);
    CHECK_INT(p.mirror.hardware_id, 3);
    CHECK(p.mirror.has_time);
    CHECK_INT(p.mirror.time, 0x12345678);
    CHECK_INT(p.mirror.granularity, 2);
}

/* The collector's cooked header tells its own direction and interface. */
static void
test_cooked(void)
{
    check_row("a mirror in a cooked capture");
    static const char sll2[] = IS_IPV4 "\x00\x00\x00\x00\x00\x07\x00\x01\x00\x06"
                                       "\x02\x00\x00\x00\x00\xdd\x00\x00";
    static const char gre[] = GRE(GRE_PLAIN, TYPE_I_II) FRAME;
    packet_maker m;
    make(&m, &outer_ipv4, gre, sizeof gre - 1);
    packet_maker cooked = {0};
    put_bytes(&cooked, sll2, sizeof sll2 - 1);
    put_bytes(&cooked, m.bytes + 14, m.n - 14);
    roce_packet p;
    decode(ROCE_LINK_SLL2, cooked.bytes, cooked.n, cooked.n, &p);
    CHECK_INT(p.outcome, ROCE_DECODED);
    CHECK_INT(p.sll2_ifindex, 7);
    CHECK_INT(p.direction, ROCE_DIRECTION_UNKNOWN);
    CHECK_INT(p.src_mac[5], 0x11);
}

/* Marks of the mirror's own way never count; those of an overlay that it shows do. */
static void
test_ecn(void)
{
    check_row("ECN around a mirror");
    outer marked = outer_ipv4;
    marked.traffic_class |= 3;
    static const char plain[] = GRE(GRE_PLAIN, TYPE_I_II) FRAME;
    packet_maker m;
    make(&m, &marked, plain, sizeof plain - 1);
    roce_packet p;
    decode(ROCE_LINK_ETHERNET, m.bytes, m.n, m.n, &p);
    CHECK_INT(roce_packet_ecn(&p), 2);
    CHECK_INT(roce_packet_ecn_source(&p), ROCE_ECN_INNER);

    check_row("ECN of an overlay inside a mirror");
    static const char overlay[] = GRE(GRE_PLAIN, TYPE_I_II) MACS IS_IPV4
        "\x45\x03\x00\x62\x00\x00\x40\x00\xff\x11\xab\xcd" IPV4_ADDRESSES UDP_TO(
            "\x12\xb5", "\x00\x4e") "\x08\x00\x00\x00\x00\x13\x88\x00" FRAME;
    make(&m, &outer_ipv4, overlay, sizeof overlay - 1);
    decode(ROCE_LINK_ETHERNET, m.bytes, m.n, m.n, &p);
    CHECK_INT(p.outcome, ROCE_DECODED);
    CHECK_INT(p.n_tunnels, 2);
    CHECK_INT(p.tenant.id, 5000);
    CHECK_INT(p.mirror.kind, ROCE_MIRROR_ERSPAN_I);
    CHECK_INT(p.mirror.wire_bytes,
              14 + 98); /* the overlay's headers were on that link */
    CHECK_INT(roce_packet_ecn(&p), 3);
    CHECK_INT(roce_packet_ecn_source(&p), ROCE_ECN_OUTER);
}

/* A mirror of a mirror, and one in an overlay: what is around the inner one is gone. */
static void
test_nested(void)
{
    check_row("a mirror of a mirror, sent through an overlay");
    static const char bytes[] =
        "\x08\x00\x00\x00\x00\x13\x88\x00" /* VXLAN */
        MACS IS_IPV4
        "\x45\x03\x00\x88\x00\x00\x40\x00\xff\x2f\xab\xcd" IPV4_ADDRESSES GRE(
            GRE_S, TYPE_I_II) SEQUENCE ERSPAN_II OUTER_MACS IS_IPV4
        "\x45\x03\x00\x56\x00\x00\x40\x00\xff\x2f\xab\xcd"
        "\xc6\x33\x64\x05\xc6\x33\x64\x06" GRE(GRE_PLAIN, TYPE_I_II) FRAME;
    packet_maker m = {0};
    put_outer_udp(&m, &outer_ipv4, 17, 4789, sizeof bytes - 1);
    put_bytes(&m, bytes, sizeof bytes - 1);
    roce_packet p;
    decode(ROCE_LINK_ETHERNET, m.bytes, m.n, m.n, &p);
    CHECK_INT(p.n_tunnels, 3);
    CHECK_INT(p.tenant.kind, ROCE_TENANT_NONE);
    CHECK_INT(p.mirror.kind, ROCE_MIRROR_ERSPAN_I);
    CHECK_INT(p.mirror.session, 0);
    CHECK_INT(p.mirror.source.bytes[3], 5);
    CHECK_INT(p.mirror.wire_bytes, FRAME_SIZE);
    CHECK_INT(roce_packet_ecn(&p), 2);
}

/* What the outer IP header's length is that of. */
typedef enum outer_length {
    OF_WHAT_IS_CARRIED,
    OF_THE_WHOLE,
} outer_length;

/* A mirror that sends the first `carried` bytes of a frame: with a length that says so
 * and something of its own behind it, as an FCS; or with the length of the whole. */
static void
decode_carried(const mirror_row *row, const outer *o, outer_length length,
               uint32_t carried, roce_packet *p, roce_icrc_status *icrc)
{
    packet_maker m = {0};
    put_outer(&m, o, GRE_PROTOCOL,
              length == OF_WHAT_IS_CARRIED ? row->frame_at + carried : row->n);
    put_bytes(&m, row->bytes, row->frame_at + carried);
    put_filler(&m, length == OF_WHAT_IS_CARRIED ? FRAME_SIZE : 0);
    decode(ROCE_LINK_ETHERNET, m.bytes, m.n, m.n, p);
    *icrc = roce_icrc_check(m.bytes, m.n, p, roce_crc32);
}

/* Whatever a mirror cuts off, the packet was fine on its own wire. */
static void
test_cut_by(const mirror_row *row, const outer *o, outer_length length)
{
    check_row(row->name);
    uint32_t whole = row->n - row->frame_at;
    uint32_t headers = whole - 4; /* all but the ICRC, which is all of the payload */
    for (uint32_t carried = 0; carried < whole; carried++) {
        roce_packet p;
        roce_icrc_status icrc;
        decode_carried(row, o, length, carried, &p, &icrc);
        bool holds = CHECK(p.outcome != ROCE_MALFORMED);
        holds &= CHECK(p.outcome != ROCE_DECODED || carried >= headers);
        if (p.kind == ROCE_CLASS_ROCE) {
            holds &= CHECK_INT(p.outcome,
                               carried >= headers ? ROCE_DECODED : ROCE_TRUNCATED);
            holds &= CHECK(p.mirror.cut);
            holds &= CHECK_INT(p.mirror.wire_bytes, whole);
            holds &= CHECK_INT(icrc, ROCE_ICRC_TRUNCATED);
            holds &= CHECK(!p.has_bth || p.bth.psn24 == 100);
        } else {
            holds &= CHECK(!p.has_bth);
        }
        if (!holds) {
            fprintf(stderr, "    with %u of %u bytes carried\n", carried, whole);
            return;
        }
    }
}

static void
test_cut(const mirror_row *row)
{
    for (size_t i = 0; i < N_ROWS(outers); i++) {
        test_cut_by(row, outers[i], OF_WHAT_IS_CARRIED);
        test_cut_by(row, outers[i], OF_THE_WHOLE);
    }
}

/* Where IP does not state its length, UDP does. */
static void
test_cut_without_ip_length(void)
{
    check_row("cut, and the IP header states no length");
    static const char bytes[] = GRE(GRE_PLAIN, TYPE_I_II)
        MACS IS_IPV4 IPV4("\x00\x00", IS_UDP) UDP("\x00\x1c") RC_ACK;
    for (uint32_t missing = 0; missing <= 4; missing++) {
        packet_maker m;
        make(&m, &outer_ipv4, bytes, (uint32_t)sizeof bytes - 1 - missing);
        roce_packet p;
        decode(ROCE_LINK_ETHERNET, m.bytes, m.n, m.n, &p);
        CHECK_INT(p.outcome, ROCE_DECODED);
        CHECK_INT(p.mirror.cut, missing > 0);
        CHECK_INT(p.mirror.wire_bytes, FRAME_SIZE - missing);
    }
}

/* Where no IP header on the way in states its length, the frame's is the limit. */
static void
test_nested_without_ip_length(void)
{
    check_row("a mirror of a mirror, no IP header states a length");
    static const char inner[] =
        GRE(GRE_PLAIN, TYPE_I_II) MACS IS_IPV4 IPV4("\x00\x00", IS_GRE)
            GRE(GRE_PLAIN, TYPE_I_II) MACS IS_IPV4 IPV4("\x00\x00", IS_UDP)
                UDP("\x00\x1d") RC_ACK; /* a byte is missing */
    packet_maker m;
    make(&m, &outer_ipv4, inner, sizeof inner - 1);
    m.bytes[16] = m.bytes[17] = 0; /* total length */
    roce_packet p;
    decode(ROCE_LINK_ETHERNET, m.bytes, m.n, m.n, &p);
    CHECK_INT(p.outcome, ROCE_DECODED);
    CHECK_INT(p.n_tunnels, 2);
    CHECK(p.mirror.cut);
    CHECK_INT(p.mirror.wire_bytes, FRAME_SIZE);
    CHECK_INT(roce_icrc_check(m.bytes, m.n, &p, roce_crc32), ROCE_ICRC_TRUNCATED);
}

/* Cut by an ERSPAN over which IPv6 lies: its payload is longer than what is there. */
static void
test_cut_ipv6(void)
{
    static const char bytes[] = GRE(GRE_PLAIN, TYPE_I_II) MACS IS_IPV6 IPV6_RC_ACK;
    static const char grh[] =
        GRE(GRE_PLAIN, TYPE_I_II) MACS IS_ROCE_V1 IPV6("\x00\x14", "\x1b") RC_ACK;
    const mirror_row ipv6 = {"IPv6, cut", BYTES(bytes), ROCE_MIRROR_ERSPAN_I, 4, 0,
                             0,           UNKNOWN};
    const mirror_row rocev1 = {"RoCEv1, cut", BYTES(grh), ROCE_MIRROR_ERSPAN_I, 4, 0, 0,
                               UNKNOWN};
    test_cut(&ipv6);
    test_cut(&rocev1);
}

int
main(void)
{
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        for (size_t j = 0; j < N_ROWS(outers); j++) {
            check_mirror(&rows[i], outers[j]);
        }
        test_cut(&rows[i]);
    }
    test_strangers();
    test_fields();
    test_cooked();
    test_ecn();
    test_nested();
    test_cut_ipv6();
    test_cut_without_ip_length();
    test_nested_without_ip_length();
    return check_status();
}
