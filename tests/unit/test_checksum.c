/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The IPv4 header checksum: when a wrong one proves that a packet was damaged. */
#include "checksum.h"
#include "packet_maker.h"

#define TOS_AT (14 + 1) /* ECT(0) */
#define TTL_AT (14 + 8)
#define CHECKSUM_AT (14 + 10)

/* What becomes of one sender's packets, one after the other: `r` is right, `w` has a bit of its
 * time to live turned over, `m` was marked and `0` has no checksum; `!` behind one that is
 * proven damaged. */
static void
put_packet(packet_maker *m, char how)
{
    static const uint8_t ack[] = RC_ACK;
    m->n = 0;
    put_ethernet_ipv4_udp(m, RC_ACK_SIZE);
    put_bytes(m, ack, RC_ACK_SIZE);
    put_right_checksum(m->bytes + 14);
    if (how == 'w') {
        m->bytes[TTL_AT] ^= 0x10;
    }
    if (how == 'm') {
        m->bytes[TOS_AT] |= ROCE_ECN_CE;
    }
    if (how == '0') {
        memset(m->bytes + CHECKSUM_AT, 0, 2);
    }
}

static void
test_proof(void)
{
    static const struct {
        const char *name, *packets;
    } rows[] = {
        {"nothing vouches for the first", "w"},
        {"a right one does", "rw!"},
        {"and for three", "rw!w!w!ww"},
        {"one that is wrong once is not wrong for ever", "rw!rw!rw!rw!rw!r"},
        {"never right", "wwwwwwwwwwww"},
        {"left to the hardware", "000000"},
        {"some are", "r0r0w!0"},
        {"marked in a mirror", "rmmmmmw!"},
        {"nobody vouches for one that is marked", "mw"},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        uint8_t credits = 0;
        for (const char *at = rows[i].packets; *at != '\0'; at++) {
            packet_maker m;
            put_packet(&m, *at);
            const roce_frame frame = {
                .bytes = m.bytes, .captured_bytes = m.n, .wire_bytes = m.n};
            roce_packet packet;
            decode(ROCE_LINK_ETHERNET, m.bytes, m.n, m.n, &packet);
            CHECK_INT(roce_checksum_proves_damage(&credits, &frame, &packet),
                      at[1] == '!');
            at += at[1] == '!' ? 1 : 0;
        }
        check_row(NULL);
    }
}

/* Each bit of the header behind version and length, but that which makes CE of ECT(0).  Cut
 * behind the BTH or not is all one. */
static void
test_bits(void)
{
    packet_maker m;
    put_packet(&m, 'r');
    roce_packet packet;
    decode(ROCE_LINK_ETHERNET, m.bytes, m.n, m.n, &packet);
    for (uint32_t bit = 9; bit < 8 * 20; bit++) {
        uint8_t *at = &m.bytes[14 + bit / 8];
        *at ^= (uint8_t)(1u << bit % 8);
        for (uint32_t captured = m.n; captured >= packet.bth_offset; captured--) {
            const roce_frame frame = {
                .bytes = m.bytes, .captured_bytes = captured, .wire_bytes = m.n};
            uint8_t credits = 1;
            CHECK(roce_checksum_proves_damage(&credits, &frame, &packet));
            CHECK_INT(credits, 0);
        }
        *at ^= (uint8_t)(1u << bit % 8);
    }
}

/* Words of the header, some bits of which are turned over: what its checksum says of it. */
static void
test_denial(void)
{
    static const struct {
        const char *name;
        uint32_t at; /* in the header */
        uint16_t flip, flip_ttl;
        bool no_fragment, other_length;
    } rows[] = {
        {"right", 6, 0, 0, false, false},
        {"more fragments", 6, 0x2000, 0, true, false},
        {"first bit of the offset", 6, 0x1000, 0, true, false},
        {"last bit of the offset", 6, 0x0001, 0, true, false},
        {"more of them", 6, 0x2110, 0, true, false},
        {"not the only word", 6, 0x2000, 0x10, false, false},
        {"another word", 4, 0x2000, 0, false, false},
        {"longer", 2, 0x4000, 0, false, true},
        {"shorter", 2, 0x0008, 0, false, true},
        {"not the only word", 2, 0x4000, 0x10, false, false},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        packet_maker m;
        put_packet(&m, 'r');
        m.bytes[14 + rows[i].at] ^= (uint8_t)(rows[i].flip >> 8);
        m.bytes[14 + rows[i].at + 1] ^= (uint8_t)rows[i].flip;
        m.bytes[TTL_AT] ^= (uint8_t)rows[i].flip_ttl;
        roce_packet packet;
        decode(ROCE_LINK_ETHERNET, m.bytes, m.n, m.n, &packet);
        for (uint32_t captured = 0; captured <= m.n; captured++) {
            const roce_frame frame = {
                .bytes = m.bytes, .captured_bytes = captured, .wire_bytes = m.n};
            CHECK_INT(roce_checksum_denies_fragment(&frame, &packet),
                      captured >= 14 + 20 && rows[i].no_fragment);
            CHECK_INT(roce_checksum_denies_length(&frame, &packet),
                      captured >= 14 + 28 && rows[i].other_length);
        }
        memset(m.bytes + CHECKSUM_AT, 0, 2);
        const roce_frame without = {
            .bytes = m.bytes, .captured_bytes = m.n, .wire_bytes = m.n};
        CHECK(!roce_checksum_denies_fragment(&without, &packet));
        CHECK(!roce_checksum_denies_length(&without, &packet));
        check_row(NULL);
    }
}

/* What has none: IPv6, a GRH, and what was cut. */
static void
test_without(void)
{
    static const struct {
        const char *name, *bytes;
        uint32_t n, captured;
    } rows[] = {
        {"IPv6", BYTES(MACS IS_IPV6 IPV6_RC_ACK), 200},
        {"RoCEv1", BYTES(MACS IS_ROCE_V1 IPV6("\x00\x14", "\x1b") RC_ACK), 200},
        {"cut in the BTH", BYTES(MACS IS_IPV4 IPV4_RC_ACK), 14 + 28 - 1},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        roce_packet packet;
        decode(ROCE_LINK_ETHERNET, rows[i].bytes, rows[i].n, rows[i].n, &packet);
        const roce_frame frame = {.bytes = (const uint8_t *)rows[i].bytes,
                                  .captured_bytes = rows[i].captured < rows[i].n
                                                        ? rows[i].captured
                                                        : rows[i].n,
                                  .wire_bytes = rows[i].n};
        uint8_t credits = ROCE_CHECKSUM_CREDITS;
        CHECK_INT(packet.kind, ROCE_CLASS_ROCE);
        CHECK(!roce_checksum_proves_damage(&credits, &frame, &packet));
        CHECK_INT(credits, ROCE_CHECKSUM_CREDITS);
        check_row(NULL);
    }
}

int
main(void)
{
    test_proof();
    test_bits();
    test_denial();
    test_without();
    return check_status();
}
