/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ICRC.  Each row has a frame and, byte by byte, what the CRC is taken over: eight
 * bytes of ones for the LRH, then the packet from IP header or GRH to the end of the
 * pad, with the fields that a network may change set to ones (IBTA 7.8.1, A16.4.2,
 * A17.3.3).  The ICRCs were worked out with zlib.
 */
#include "packet_maker.h"
#include "seeded.h"

#include "roce/error.h"
#include "roce/icrc.h"

/* CRC-32 by its definition, one bit at a time. */
static uint32_t
crc_by_bits(uint32_t crc, const uint8_t *bytes, size_t size)
{
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (unsigned bit = 0; bit < 8; bit++) {
            crc = (crc & 1) != 0 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
        }
    }
    return ~crc;
}

static void
test_crc(void)
{
    static const struct {
        const char *name;
        const char *bytes;
        uint32_t n;
        uint32_t want;
    } cases[] = {
        {"nothing", NO_BYTES, 0x00000000},
        {"one byte", BYTES("a"), 0xe8b7be43},
        {"the check value", BYTES("123456789"), 0xcbf43926},
        {"four bytes of 0", BYTES("\0\0\0\0"), 0x2144df1c},
        {"four bytes of 1", BYTES("\xff\xff\xff\xff"), 0xffffffff},
    };
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        const uint8_t *bytes = (const uint8_t *)cases[i].bytes;
        CHECK_INT(roce_crc32(0, bytes, cases[i].n), cases[i].want);
        CHECK_INT(crc_by_bits(0, bytes, cases[i].n), cases[i].want);
    }
}

/* The table against the definition: every byte value, every length, every split. */
static void
test_crc_table(void)
{
    check_row("every byte");
    for (unsigned value = 0; value < 256; value++) {
        uint8_t byte = (uint8_t)value;
        CHECK_INT(roce_crc32(0, &byte, 1), crc_by_bits(0, &byte, 1));
        CHECK_INT(roce_crc32(0x12345678, &byte, 1), crc_by_bits(0x12345678, &byte, 1));
    }
    check_row("every length and split");
    uint8_t bytes[300];
    seeded random = {.state = 3};
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)seeded_next(&random);
    }
    for (size_t n = 0; n <= sizeof bytes; n++) {
        uint32_t want = crc_by_bits(0, bytes, n);
        uint32_t half = roce_crc32(0, bytes, n / 3);
        if (!CHECK_INT(roce_crc32(0, bytes, n), want) ||
            !CHECK_INT(roce_crc32(half, bytes + n / 3, n - n / 3), want)) {
            return;
        }
    }
}

/* clang-format off */
#define LRH "\xff\xff\xff\xff\xff\xff\xff\xff"
/* TOS, TTL and checksum are ones; length, identification, flags and addresses stay. */
#define COVERED_IPV4(version_ihl, total) version_ihl "\xff" total "\x12\x34" "\x40\x00"   \
    "\xff" IS_UDP "\xff\xff" IPV4_ADDRESSES
/* Traffic class, flow label and hop limit are ones. */
#define COVERED_IPV6(payload, next) "\x6f\xff\xff\xff" payload next "\xff" IPV6_ADDRESSES
/* The checksum is ones. */
#define COVERED_UDP(length) "\xc0\x01\x12\xb7" length "\xff\xff"

#define ACK_WITH(congestion)                                                            \
    "\x11\x40\xff\xff" congestion "\x00\x00\x11" "\x00\x00\x00\x64" "\x1f\x00\x00\x07"
#define CNP_WITH(congestion)                                                            \
    "\x81\x00\xff\xff" congestion "\x00\x00\x11" "\x00\x00\x00\x00"                     \
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define SEND_WITH(congestion) /* 5 bytes and a pad of 3 */                              \
    "\x04\x70\xff\xff" congestion "\x00\x00\x11" "\x80\x00\x00\x65" "hello\0\0\0"
#define UD_WITH(congestion)                                                             \
    "\x64\x40\xff\xff" congestion "\x00\x00\x01" "\x00\x00\x00\x07"                     \
    "\x80\x01\x00\x00" "\x00\x00\x00\x01" "payload."

static const struct {
    const char *name;
    const char *frame;
    uint32_t n;
    const char *covered;
    uint32_t n_covered;
    uint32_t want;
} vectors[] = {
    {"IPv4",
     BYTES(MACS IS_IPV4 IPV4("\x00\x30", IS_UDP) UDP("\x00\x1c") ACK_WITH("\x00")
           "\x68\x11\x96\x20"),
     BYTES(LRH COVERED_IPV4("\x45", "\x00\x30") COVERED_UDP("\x00\x1c") ACK_WITH("\xff")),
     0x20961168},
    {"IPv4, padded",
     BYTES(MACS IS_IPV4 IPV4("\x00\x30", IS_UDP) UDP("\x00\x1c") ACK_WITH("\x00")
           "\x68\x11\x96\x20" "\x55\x55"),
     BYTES(LRH COVERED_IPV4("\x45", "\x00\x30") COVERED_UDP("\x00\x1c") ACK_WITH("\xff")),
     0x20961168},
    {"VLAN, UDP checksum, FECN",
     BYTES(MACS "\x81\x00\x60\x64" IS_IPV4 IPV4("\x00\x30", IS_UDP)
           "\xc0\x01\x12\xb7\x00\x1c\xbe\xef" ACK_WITH("\x80") "\x68\x11\x96\x20"),
     BYTES(LRH COVERED_IPV4("\x45", "\x00\x30") COVERED_UDP("\x00\x1c") ACK_WITH("\xff")),
     0x20961168},
    {"CNP",
     BYTES(MACS IS_IPV4 IPV4("\x00\x3c", IS_UDP) UDP("\x00\x28") CNP_WITH("\x40")
           "\x1d\x1d\xbf\xb0"),
     BYTES(LRH COVERED_IPV4("\x45", "\x00\x3c") COVERED_UDP("\x00\x28") CNP_WITH("\xff")),
     0xb0bf1d1d},
    {"IPv4 options are covered",
     BYTES(MACS IS_IPV4 IPV4_WITH("\x46", "\x00\x34", "\x40\x00", IS_UDP) "\x01\x01\x01\x00"
           UDP("\x00\x1c") ACK_WITH("\x00") "\x5a\x32\x62\x7f"),
     BYTES(LRH COVERED_IPV4("\x46", "\x00\x34") "\x01\x01\x01\x00" COVERED_UDP("\x00\x1c")
           ACK_WITH("\xff")),
     0x7f62325a},
    {"IPv6, payload and pad",
     BYTES(MACS IS_IPV6 IPV6("\x00\x20", IS_UDP) UDP("\x00\x20") SEND_WITH("\x00")
           "\xf8\xfe\x98\xf8"),
     BYTES(LRH COVERED_IPV6("\x00\x20", IS_UDP) COVERED_UDP("\x00\x20") SEND_WITH("\xff")),
     0xf898fef8},
    {"IPv6 extension is covered",
     BYTES(MACS IS_IPV6 IPV6("\x00\x24", "\x3c") "\x11\x00\x01\x04\x00\x00\x00\x00"
           UDP("\x00\x1c") ACK_WITH("\x00") "\xda\xf9\xdd\x10"),
     BYTES(LRH COVERED_IPV6("\x00\x24", "\x3c") "\x11\x00\x01\x04\x00\x00\x00\x00"
           COVERED_UDP("\x00\x1c") ACK_WITH("\xff")),
     0x10ddf9da},
    {"RoCEv1",
     BYTES(MACS IS_ROCE_V1 IPV6("\x00\x20", "\x1b") UD_WITH("\x00") "\x2c\x0d\xea\x96"),
     BYTES(LRH COVERED_IPV6("\x00\x20", "\x1b") UD_WITH("\xff")),
     0x96ea0d2c},
};
/* clang-format on */

static void
test_vectors(void)
{
    for (size_t i = 0; i < N_ROWS(vectors); i++) {
        check_row(vectors[i].name);
        const uint8_t *frame = (const uint8_t *)vectors[i].frame;
        uint32_t n = vectors[i].n;
        CHECK_INT(
            crc_by_bits(0, (const uint8_t *)vectors[i].covered, vectors[i].n_covered),
            vectors[i].want);
        roce_packet p;
        decode(ROCE_LINK_ETHERNET, frame, n, n, &p);
        uint32_t icrc = 0;
        CHECK_INT(roce_icrc_compute(frame, n, &p, roce_crc32, &icrc), ROCE_OK);
        CHECK_INT(icrc, vectors[i].want);
        CHECK_INT(roce_icrc_check(frame, n, &p, roce_crc32), ROCE_ICRC_GOOD);
        CHECK_INT(roce_icrc_check(frame, n, &p, crc_by_bits), ROCE_ICRC_GOOD);
    }
}

/* Whether the ICRC is to notice a change of the byte at `at`: what is between the IP
 * header and the ICRC's end, but for the variable fields. */
static bool
is_covered(const roce_packet *p, uint32_t at, uint8_t bit)
{
    if (at < p->ip_offset || at >= p->end_offset) {
        return false;
    }
    uint32_t ip = at - p->ip_offset;
    if (p->src.family == 4 && (ip == 1 || ip == 8 || ip == 10 || ip == 11)) {
        return false; /* TOS, TTL, checksum */
    }
    if (p->src.family == 6 && (ip == 1 || ip == 2 || ip == 3 || ip == 7)) {
        return false; /* traffic class, flow label, hop limit */
    }
    if (p->src.family == 6 && ip == 0) {
        return bit >= 0x10; /* version, and the other half of the traffic class */
    }
    if (!p->is_grh && (at == p->bth_offset - 2 || at == p->bth_offset - 1)) {
        return false; /* UDP checksum */
    }
    return at != p->bth_offset + 4; /* FECN, BECN, reserved */
}

/* Every bit of every frame, turned over, is noticed or not as it ought to be. */
static void
test_every_bit(void)
{
    for (size_t i = 0; i < N_ROWS(vectors); i++) {
        check_row(vectors[i].name);
        packet_maker m = {0};
        put_bytes(&m, vectors[i].frame, vectors[i].n);
        roce_packet p;
        decode(ROCE_LINK_ETHERNET, m.bytes, m.n, m.n, &p);
        for (uint32_t at = 0; at < m.n; at++) {
            for (unsigned bit = 1; bit <= 0x80; bit <<= 1) {
                m.bytes[at] ^= (uint8_t)bit;
                roce_icrc_status want =
                    is_covered(&p, at, (uint8_t)bit) ? ROCE_ICRC_BAD : ROCE_ICRC_GOOD;
                if (!CHECK_INT(roce_icrc_check(m.bytes, m.n, &p, roce_crc32), want)) {
                    fprintf(stderr, "    byte %u, bit 0x%02x\n", at, bit);
                }
                m.bytes[at] ^= (uint8_t)bit;
            }
        }
    }
}

/* What was cut cannot be told, by however little it was cut. */
static void
test_cut(void)
{
    for (size_t i = 0; i < N_ROWS(vectors); i++) {
        check_row(vectors[i].name);
        for (uint32_t captured = 0; captured <= vectors[i].n; captured++) {
            uint8_t *copy = malloc(captured + 1);
            if (copy == NULL) {
                abort();
            }
            memcpy(copy + 1, vectors[i].frame, captured); /* ends with the memory */
            roce_packet p;
            decode(ROCE_LINK_ETHERNET, copy + 1, captured, vectors[i].n, &p);
            bool whole = p.has_bth && captured >= p.end_offset;
            uint32_t icrc = 0x5eed;
            int result = roce_icrc_compute(copy + 1, captured, &p, roce_crc32, &icrc);
            CHECK_INT(result, whole ? ROCE_OK : ROCE_ERROR_INVALID);
            CHECK_INT(icrc, whole ? vectors[i].want : 0x5eed);
            CHECK_INT(roce_icrc_check(copy + 1, captured, &p, roce_crc32),
                      whole ? ROCE_ICRC_GOOD : ROCE_ICRC_TRUNCATED);
            free(copy);
        }
    }
}

/* What carries no ICRC has none to compute. */
static void
test_others(void)
{
    static const struct {
        const char *name;
        const char *bytes;
        uint32_t n;
    } cases[] = {
        {"another port",
         BYTES(IPV4("\x00\x30", IS_UDP) UDP_TO("\x00\x35", "\x00\x1c") RC_ACK)},
        {"too short for a BTH",
         BYTES(IPV4("\x00\x2b", IS_UDP)
                   UDP("\x00\x17") "\x11\x40\xff\xff\x00\x00\x00\x11\x00\x00\x00\x64"
                                   "\x1f\x00\x00")},
        {"another header version",
         BYTES(IPV4("\x00\x30", IS_UDP)
                   UDP("\x00\x1c") "\x11\x41\xff\xff\x00\x00\x00\x11\x00\x00\x00\x64"
                                   "\x1f\x00\x00\x07" ICRC)},
    };
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        const uint8_t *bytes = (const uint8_t *)cases[i].bytes;
        roce_packet p;
        decode(ROCE_LINK_RAW, bytes, cases[i].n, cases[i].n, &p);
        uint32_t icrc = 0x5eed;
        CHECK_INT(roce_icrc_compute(bytes, cases[i].n, &p, roce_crc32, &icrc),
                  ROCE_ERROR_INVALID);
        CHECK_INT(icrc, 0x5eed);
    }
}

int
main(void)
{
    test_crc();
    test_crc_table();
    test_vectors();
    test_every_bit();
    test_cut();
    test_others();
    return check_status();
}
