/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What holds for frames of any length, checked for every length: cutting a frame never
 * makes it malformed, a frame that is short on the wire is never truncated, unless it was
 * longer before, and then it is as if its capture had cut it; what was read does not change
 * when more is captured, and the same bytes give the same answer.
 */
#include "opcode_rows.h"
#include "packet_maker.h"

/* clang-format off */
static const struct {
    const char *name;
    roce_link link;
    const char *bytes;
    uint32_t n;
} frames[] = {
    {"Ethernet, IPv4, Acknowledge", ROCE_LINK_ETHERNET, BYTES(MACS IS_IPV4 IPV4_RC_ACK)},
    {"Ethernet, IPv6, Acknowledge", ROCE_LINK_ETHERNET, BYTES(MACS IS_IPV6 IPV6_RC_ACK)},
    {"padded", ROCE_LINK_ETHERNET, BYTES(MACS IS_IPV4 IPV4_RC_ACK "\0\0\0\0\0\0")},
    {"QinQ, IPv4, UC WRITE Only with Immediate", ROCE_LINK_ETHERNET,
     BYTES(MACS "\x88\xa8\x00\x0a" "\x81\x00\x60\x64" IS_IPV4
           IPV4("\x00\x48", IS_UDP) UDP("\x00\x34")
           "\x2b\x40\xff\xff" "\x00\x00\x00\x11" "\x00\x00\x00\x64" /* BTH */
           "\x00\x00\x7f\x00\x00\x00\x10\x00" "\x00\x00\x01\x02" "\x00\x00\x00\x08" /* RETH */
           "\x00\x00\x00\x2a" /* ImmDt */ "payload." ICRC)},
    {"SLL, IPv4 with options, Fetch and Add", ROCE_LINK_SLL,
     BYTES("\x00\x04\x00\x01\x00\x06\x02\x00\x00\x00\x00\x11\x00\x00" IS_IPV4
           IPV4_WITH("\x46", "\x00\x4c", "\x40\x00", IS_UDP) "\x01\x01\x01\x00"
           UDP("\x00\x34")
           "\x14\x40\xff\xff" "\x00\x00\x00\x11" "\x80\x00\x00\x64" /* BTH */
           "\x00\x00\x7f\x00\x00\x00\x10\x00" "\x00\x00\x01\x02"    /* AtomicETH */
           "\x00\x00\x00\x00\x00\x00\x00\x01" "\x00\x00\x00\x00\x00\x00\x00\x00" ICRC)},
    {"SLL2, IPv6 with extensions, ATOMIC Acknowledge", ROCE_LINK_SLL2,
     BYTES(IS_IPV6 "\x00\x00" "\x00\x00\x00\x03" "\x00\x01" "\x00\x06"
           "\x02\x00\x00\x00\x00\x11\x00\x00"
           IPV6("\x00\x3c", "\x00")
           "\x2c\x00\x05\x02\x00\x00\x01\x00" /* hop by hop */
           "\x3c\x00\x00\x00\xfa\xce\xb0\x0c" /* atomic fragment */
           "\x11\x00\x01\x04\x00\x00\x00\x00" /* destination options */
           UDP("\x00\x24")
           "\x12\x40\xff\xff" "\x00\x00\x00\x11" "\x00\x00\x00\x64" /* BTH */
           "\x1f\x00\x00\x07" "\x00\x00\x00\x00\x00\x00\x00\x2a"    /* AETH, AtomicAckETH */
           ICRC)},
    {"RoCEv1, UD SEND Only with Immediate", ROCE_LINK_ETHERNET,
     BYTES(MACS IS_ROCE_V1 IPV6("\x00\x20", "\x1b")
           "\x65\x70\xff\xff" "\x00\x00\x00\x11" "\x00\x00\x00\x64" /* BTH, pad 3 */
           "\x80\x01\x00\x00" "\x00\x00\x00\x21" /* DETH */ "\x00\x00\x00\x2a" /* ImmDt */
           "p\0\0\0" ICRC)},
    {"CNP", ROCE_LINK_ETHERNET,
     BYTES(MACS IS_IPV4 IPV4("\x00\x3c", IS_UDP) UDP("\x00\x28")
           "\x81\x00\xff\xff" "\x40\x00\x00\x11" "\x00\x00\x00\x00"
           "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" ICRC)},
    {"DC, the code of a READ request", ROCE_LINK_RAW,
     BYTES(IPV4("\x00\x40", IS_UDP) UDP("\x00\x2c")
           "\x4c\x40\xff\xff" "\x00\x00\x00\x11" "\x00\x00\x00\x64"
           "\xde\xad\x00\x01" "\x00\x00\x00\x02" "\x00\x00\x00\x03" "\x00\x00\x00\x04"
           "\x00\x00\x00\x05" ICRC)},
    {"DC, the code of an Acknowledge", ROCE_LINK_RAW,
     BYTES(IPV4("\x00\x30", IS_UDP) UDP("\x00\x1c")
           "\x51\x40\xff\xff" "\x00\x00\x00\x11" "\x00\x00\x00\x64" "\x1f\x00\x00\x07" ICRC)},
    {"DC, the code of an Acknowledge, room for an RD's headers but not for its pad",
     ROCE_LINK_RAW,
     BYTES(IPV4("\x00\x34", IS_UDP) UDP("\x00\x20")
           "\x51\x70\xff\xff" "\x00\x00\x00\x11" "\x00\x00\x00\x64"
           "\x1f\x00\x00\x07" "\x01\x00\x00\x00" ICRC)},
    {"undefined opcode", ROCE_LINK_RAW,
     BYTES(IPV4("\x00\x30", IS_UDP) UDP("\x00\x1c")
           "\x1f\x40\xff\xff" "\x00\x00\x00\x11" "\x00\x00\x00\x64" "\x1f\x00\x00\x07" ICRC)},
    {"another header version", ROCE_LINK_RAW,
     BYTES(IPV4("\x00\x30", IS_UDP) UDP("\x00\x1c")
           "\x11\x41\xff\xff" "\x00\x00\x00\x11" "\x00\x00\x00\x64" "\x1f\x00\x00\x07" ICRC)},
    {"first fragment", ROCE_LINK_RAW,
     BYTES(IPV4_WITH("\x45", "\x00\x30", "\x20\x00", IS_UDP) UDP("\x01\x1c") RC_ACK)},
    {"later fragment", ROCE_LINK_RAW,
     BYTES(IPV6("\x00\x1c", "\x2c") "\x11\x00\x00\x08\xfa\xce\xb0\x0c" RC_ACK)},
    {"PFC", ROCE_LINK_ETHERNET,
     BYTES("\x01\x80\xc2\x00\x00\x01" "\x02\x00\x00\x00\x00\x11" IS_MAC_CONTROL
           "\x01\x01" "\x00\x08" "\x00\x00\x00\x00\x00\x00\xff\xff"
           "\x00\x00\x00\x00\x00\x00\x00\x00"
           "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")},
    {"pause", ROCE_LINK_ETHERNET,
     BYTES("\x01\x80\xc2\x00\x00\x01" "\x02\x00\x00\x00\x00\x11" IS_MAC_CONTROL
           "\x00\x01" "\xff\xff" "\0\0\0\0\0\0\0\0")},
    {"SLL2, pause", ROCE_LINK_SLL2,
     BYTES(IS_MAC_CONTROL "\x00\x00" "\x00\x00\x00\x03" "\x00\x01" "\x00\x06"
           "\x02\x00\x00\x00\x00\x11\x00\x00" "\x00\x01" "\xff\xff")},
    {"ARP", ROCE_LINK_ETHERNET, BYTES(MACS "\x08\x06" "\x00\x01\x08\x00\x06\x04")},
    {"TCP", ROCE_LINK_RAW,
     BYTES(IPV4("\x00\x28", IS_TCP) "\x12\xb7\x12\xb7"
           "\x00\x00\x00\x01\x00\x00\x00\x00\x50\x10\x00\x01\x00\x00\x00\x00")},
    {"UDP to another port", ROCE_LINK_RAW,
     BYTES(IPV4("\x00\x30", IS_UDP) UDP_TO("\x00\x35", "\x00\x1c") RC_ACK)},
    {"VXLAN", ROCE_LINK_RAW,
     BYTES(IPV4("\x00\x62", IS_UDP) UDP_TO("\x12\xb5", "\x00\x4e")
           "\x08\x00\x00\x00\x00\x13\x88\x00" MACS IS_IPV4 IPV4_RC_ACK)},
    {"GPE, IPv6", ROCE_LINK_RAW,
     BYTES(IPV4("\x00\x68", IS_UDP) UDP_TO("\x12\xb6", "\x00\x54")
           "\x0c\x00\x00\x02\x00\x13\x88\x00" IPV6_RC_ACK)},
    {"Geneve with an option", ROCE_LINK_RAW,
     BYTES(IPV6("\x00\x56", IS_UDP) UDP_TO("\x17\xc1", "\x00\x56")
           "\x02\x00\x65\x58\x00\x13\x88\x00" "\x01\x02\x80\x01" "opt."
           MACS IS_IPV4 IPV4_RC_ACK)},
    {"NVGRE", ROCE_LINK_RAW,
     BYTES(IPV4("\x00\x5a", "\x2f") "\x20\x00\x65\x58" "\x00\x13\x88\x55"
           MACS IS_IPV4 IPV4_RC_ACK)},
    {"MPLS, IPv6", ROCE_LINK_ETHERNET,
     BYTES(MACS "\x88\x47" "\x00\x01\x00\x40" "\x00\x02\x01\x40" IPV6_RC_ACK)},
    {"IP in IP", ROCE_LINK_RAW, BYTES(IPV4("\x00\x44", "\x04") IPV4_RC_ACK)},
    {"a time behind the addresses", ROCE_LINK_ETHERNET,
     BYTES(MACS "\xd2\x8b\x00\x01\x01\x10\x65\x00\x00\x00\x12\x34\x56\x78"
           IS_IPV4 IPV4_RC_ACK)},
    {"malformed: no room for the AETH", ROCE_LINK_RAW,
     BYTES(IPV4("\x00\x2f", IS_UDP) UDP("\x00\x1b")
           "\x11\x40\xff\xff" "\x00\x00\x00\x11" "\x00\x00\x00\x64" "\x1f\x00\x00" ICRC)},
    {"malformed: UDP longer than IP", ROCE_LINK_RAW,
     BYTES(IPV4("\x00\x30", IS_UDP) UDP("\x00\x1d") RC_ACK)},
};

/* What may be cut on its way without a sign of it: never wrong for being short. */
static const struct {
    const char *name;
    roce_link link;
    const char *bytes;
    uint32_t n;
} mirrors[] = {
    {"MPLS, pseudowire with a control word", ROCE_LINK_ETHERNET,
     BYTES(MACS "\x88\x47" "\x00\x01\x01\x40" "\x00\x00\x00\x00"
           MACS IS_IPV4 IPV4_RC_ACK)},
    {"ERSPAN I", ROCE_LINK_RAW,
     BYTES(IPV4("\x00\x56", "\x2f") "\x00\x00\x88\xbe" MACS IS_IPV4 IPV4_RC_ACK)},
    {"ERSPAN II", ROCE_LINK_RAW,
     BYTES(IPV4("\x00\x62", "\x2f") "\x10\x00\x88\xbe" "\x00\x00\x00\x07"
           "\x10\x64\x75\x55\x00\x00\x00\x01" MACS IS_IPV4 IPV4_RC_ACK)},
    {"ERSPAN III with a subheader", ROCE_LINK_RAW,
     BYTES(IPV6("\x00\x5a", "\x2f") "\x10\x00\x22\xeb" "\x00\x00\x00\x07"
           "\x20\x64\x61\x55\x12\x34\x56\x78\x00\x07\x80\x35"
           "\x0c\x00\x00\x02\x00\x00\x00\x09" MACS IS_IPV4 IPV4_RC_ACK)},
    {"Spectrum's mirror", ROCE_LINK_RAW,
     BYTES(IPV4("\x00\x6c", "\x2f") "\x00\x00\x89\x49"
           "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" MACS IS_IPV4 IPV4_RC_ACK)},
    {"a mirror of another GRE type", ROCE_LINK_RAW,
     BYTES(IPV4("\x00\x56", "\x2f") "\x00\x00\x12\x34" MACS IS_IPV4 IPV4_RC_ACK)},
    {"GRE that is no mirror", ROCE_LINK_RAW,
     BYTES(IPV4("\x00\x1e", "\x2f") "\x00\x00\x88\x3e" "\x00\x01\x02\x03\x04\x05")},
};
/* clang-format on */

/* Decodes over two kinds of rubbish: the answer depends on neither. */
static void
decode_twice(roce_link link, const void *bytes, uint32_t captured, uint32_t wire,
             roce_packet *p)
{
    roce_packet other;
    memset(p, 0xa5, sizeof *p);
    memset(&other, 0x5a, sizeof other);
    decode(link, bytes, captured, wire, p);
    decode(link, bytes, captured, wire, &other);
    if (!CHECK(memcmp(p, &other, sizeof other) == 0)) {
        fprintf(stderr, "    with %u bytes of %u captured\n", captured, wire);
    }
}

static bool
same_bth(const roce_bth *a, const roce_bth *b)
{
    return a->opcode == b->opcode && a->solicited == b->solicited &&
           a->migration == b->migration && a->pad_bytes == b->pad_bytes &&
           a->version == b->version && a->p_key == b->p_key && a->fecn == b->fecn &&
           a->becn == b->becn && a->dest_qpn == b->dest_qpn &&
           a->ack_request == b->ack_request && a->psn24 == b->psn24;
}

/* A frame that had `wire` bytes, with every number of them captured. */
static void
check_every_cut(roce_link link, const void *bytes, uint32_t wire)
{
    roce_packet whole;
    decode_twice(link, bytes, wire, wire, &whole);
    bool holds = CHECK(whole.outcome != ROCE_TRUNCATED ||
                       whole.mirror.kind != ROCE_MIRROR_NONE || whole.uncut_bytes != 0);
    bool complete = false;
    for (uint32_t captured = 0; captured < wire; captured++) {
        roce_packet p;
        decode_twice(link, bytes, captured, wire, &p);
        if (whole.outcome != ROCE_MALFORMED) {
            holds &= CHECK(p.outcome != ROCE_MALFORMED);
        } else {
            holds &= CHECK(p.outcome == ROCE_MALFORMED || p.outcome == ROCE_TRUNCATED);
        }
        if (whole.outcome == ROCE_DECODED && whole.kind == ROCE_CLASS_ROCE) {
            holds &= CHECK((p.outcome == ROCE_DECODED) ==
                           (captured >= whole.payload_offset));
        }
        holds &= CHECK((p.headers & ~(unsigned)whole.headers) == 0);
        holds &= CHECK(!p.has_bth || same_bth(&p.bth, &whole.bth));
        bool same = memcmp(&p, &whole, sizeof p) == 0;
        holds &= CHECK(same || !complete); /* once all is known, it stays so */
        complete = complete || same;
        if (!holds) {
            fprintf(stderr, "    with %u bytes of %u captured\n", captured, wire);
            return;
        }
    }
}

/* A frame of which that much came to the capture, and `n` bytes were there before. */
static bool
is_as_with_a_snap_length(roce_link link, const void *bytes, uint32_t came, uint32_t n)
{
    roce_packet cut, p;
    decode_twice(link, bytes, came, came, &p);
    decode_twice(link, bytes, came, n, &cut);
    p.uncut_bytes = 0;
    return memcmp(&p, &cut, sizeof p) == 0;
}

/* The frame as if it had ended early on the wire: wrong if it is ours and nothing says that it
 * was longer, never cut; and then cut in every way. */
static void
check_every_length(roce_link link, const void *bytes, uint32_t n)
{
    roce_packet whole;
    decode(link, bytes, n, n, &whole);
    for (uint32_t wire = 0; wire < n; wire++) {
        roce_packet p;
        decode(link, bytes, wire, wire, &p);
        bool holds = true;
        if (p.uncut_bytes != 0) {
            holds &= CHECK(wire < p.uncut_bytes && p.uncut_bytes <= n);
            holds &= CHECK(is_as_with_a_snap_length(link, bytes, wire, n));
        } else {
            holds &= CHECK(p.outcome != ROCE_TRUNCATED);
            if (whole.has_bth && whole.kind == ROCE_CLASS_ROCE &&
                wire < whole.end_offset) {
                holds &= CHECK_INT(p.outcome, ROCE_MALFORMED);
            }
        }
        if (!holds) {
            fprintf(stderr, "    with %u bytes on the wire\n", wire);
            return;
        }
        check_every_cut(link, bytes, wire);
    }
    check_every_cut(link, bytes, n);
}

/* A RoCE packet in a frame with `n_padding` bytes behind it. */
static void
make_frame(packet_maker *m, const opcode_row *row, uint32_t n_padding)
{
    packet_maker body = {0};
    put_number(&body, 1, row->opcode);
    put_bytes(&body, "\x60\xff\xff\x00\x00\x00\x11\x00\x00\x00\x64", 11); /* pad 2 */
    for (const char *letter = row->headers; *letter != '\0'; letter++) {
        static const uint8_t zeros[28];
        put_bytes(&body, zeros, header_row_of(*letter)->size);
    }
    put_bytes(&body, "payl\0\0" ICRC, 10);
    put_ethernet_ipv4_udp(m, body.n);
    put_bytes(m, body.bytes, body.n);
    put_filler(m, n_padding);
}

int
main(void)
{
    for (size_t i = 0; i < N_ROWS(frames); i++) {
        check_row(frames[i].name);
        check_every_length(frames[i].link, frames[i].bytes, frames[i].n);
    }
    for (size_t i = 0; i < N_ROWS(mirrors); i++) {
        check_row(mirrors[i].name);
        for (uint32_t wire = 0; wire <= mirrors[i].n; wire++) {
            check_every_cut(mirrors[i].link, mirrors[i].bytes, wire);
        }
    }
    for (size_t i = 0; i < N_ROWS(opcode_rows); i++) {
        check_row(opcode_rows[i].name);
        packet_maker m = {0};
        make_frame(&m, &opcode_rows[i], (uint32_t)(i % 3));
        check_every_length(ROCE_LINK_ETHERNET, m.bytes, m.n);
    }
    return check_status();
}
