/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The short way of decoding against the long one: every opcode in every shape that the
 * short way takes or nearly takes, cut at every length and with every byte of the headers
 * changed.  What the long way makes of them is the matter of test_decode*.c.
 */
#include "opcode_rows.h"
#include "packet_maker.h"
#include "seeded.h"
#include "two_ways.h"

#define MAX_WIRE 4400
#define LONGEST_HEADERS (4 + 8 + 28) /* of any opcode: RDETH, DETH, AtomicETH */

typedef struct headers_row {
    const char *name;
    const char *bytes;
    uint32_t n;
} headers_row;

/* What stands before the ethertype, and before UDP; lengths are filled in. */
static const headers_row links[] = {
    {"untagged", BYTES(MACS)},
    {"VLAN", BYTES(MACS "\x81\x00\x60\x64")},
    {"service tag", BYTES(MACS "\x88\xa8\x60\x64")},
    {"two tags", BYTES(MACS "\x88\xa8\x60\x64\x81\x00\x60\x65")},
};

static const headers_row networks[] = {
    {"IPv4", BYTES(IS_IPV4 IPV4("\x00\x00", IS_UDP))},
    {"IPv6", BYTES(IS_IPV6 IPV6("\x00\x00", IS_UDP))},
    {"IPv4 with options", BYTES(IS_IPV4 IPV4_WITH("\x46", "\x00\x00", "\x40\x00",
                                                  IS_UDP) "\x01\x01\x01\x00")},
    {"IPv6 with an extension",
     BYTES(IS_IPV6 IPV6("\x00\x00", "\x3c") "\x11\x00\x01\x04\x00\x00\x00\x00")},
};
#define N_PLAIN_NETWORKS 2 /* the first rows: those that the short way takes */

/* A frame as it was on the wire, and where its headers begin. */
typedef struct whole_frame {
    uint8_t bytes[MAX_WIRE];
    uint32_t wire;
    uint32_t ip_at, udp_at, bth_at;
} whole_frame;

static void
put_16(whole_frame *f, uint32_t at, uint32_t value)
{
    f->bytes[at] = (uint8_t)(value >> 8);
    f->bytes[at + 1] = (uint8_t)value;
}

/* All headers but the lengths. */
static void
begin(whole_frame *f, const headers_row *link, const headers_row *network)
{
    static const uint8_t udp_and_bth[] = UDP("\x00\x00") "\x00\x80\xff\xff"
                                                         "\x40\x00\x00\x11"
                                                         "\x80\x12\x34\x56";
    memcpy(f->bytes, link->bytes, link->n);
    memcpy(f->bytes + link->n, network->bytes, network->n);
    f->ip_at = link->n + 2;
    f->udp_at = link->n + network->n;
    f->bth_at = f->udp_at + 8;
    memcpy(f->bytes + f->udp_at, udp_and_bth, 20);
    for (uint32_t i = f->bth_at + 12; i < MAX_WIRE; i++) {
        f->bytes[i] = (uint8_t)(i * 37 + 1);
    }
}

/* Sets the opcode, the pad and the lengths for `body` bytes between BTH and ICRC. */
static void
end(whole_frame *f, uint8_t opcode, uint8_t pad, uint32_t body)
{
    bool is_ipv4 = f->bytes[f->ip_at] >> 4 == 4;
    f->bytes[f->bth_at] = opcode;
    f->bytes[f->bth_at + 1] = (uint8_t)(0x80 | pad << 4);
    f->wire = f->bth_at + 12 + body + 4;
    put_16(f, f->udp_at + 4, f->wire - f->udp_at);
    put_16(f, f->ip_at + (is_ipv4 ? 2 : 4), f->wire - f->ip_at - (is_ipv4 ? 0 : 40));
}

typedef struct tally {
    uint64_t n, n_taken;
} tally;

/* The first `captured` of the bytes, out of memory that ends right behind them. */
static bool
agrees(const uint8_t *bytes, uint32_t captured, uint32_t wire, tally *t)
{
    uint8_t *copy = malloc(captured > 0 ? captured : 1);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, bytes, captured);
    roce_ports ports;
    roce_ports_init(&ports);
    const roce_frame frame = {
        .bytes = copy,
        .captured_bytes = captured,
        .wire_bytes = wire,
        .number = 1,
        .link = ROCE_LINK_ETHERNET,
        .direction = (roce_direction)(wire % 3),
    };
    bool taken;
    bool good = two_ways_agree(&frame, &ports, &taken);
    t->n++;
    t->n_taken += taken ? 1 : 0;
    free(copy);
    return good;
}

static void
name_row(const headers_row *link, const headers_row *network, unsigned opcode)
{
    static char name[80];
    snprintf(name, sizeof name, "%s, %s, opcode 0x%02x", link->name, network->name,
             opcode);
    check_row(name);
}

/* Every opcode with every pad and with bodies around all limits, captured whole and up to
 * a usual snap length, and with padding behind it. */
static void
test_shapes(tally *t)
{
    static const uint32_t bodies[] = {0,  1,  3,  4,  7,    8,    9,    15,   16,  17,
                                      20, 28, 29, 31, 1024, 4095, 4096, 4099, 4200};
    static whole_frame f;
    for (size_t i = 0; i < N_ROWS(links) * N_ROWS(networks); i++) {
        const headers_row *link = &links[i / N_ROWS(networks)];
        const headers_row *network = &networks[i % N_ROWS(networks)];
        begin(&f, link, network);
        for (unsigned opcode = 0; opcode < 256; opcode++) {
            name_row(link, network, opcode);
            for (uint8_t pad = 0; pad < 4; pad++) {
                for (size_t b = 0; b < N_ROWS(bodies); b++) {
                    end(&f, (uint8_t)opcode, pad, bodies[b]);
                    uint32_t cut = f.wire < 96 ? f.wire + 6 : 96; /* or padded */
                    if (!agrees(f.bytes, cut, cut > f.wire ? cut : f.wire, t)) {
                        return;
                    }
                }
            }
        }
    }
}

/* Each payload length up to one above what a packet may carry, whole. */
static void
test_payloads(tally *t)
{
    static whole_frame f;
    for (size_t i = 0; i < N_ROWS(opcode_rows); i++) {
        const headers_row *network = &networks[i % N_PLAIN_NETWORKS];
        unsigned size = roce_opcode_get(opcode_rows[i].opcode)->headers_bytes;
        name_row(&links[0], network, opcode_rows[i].opcode);
        begin(&f, &links[0], network);
        for (uint32_t most = 4096 + size, b = most - 2; b <= most + 4; b++) {
            for (uint8_t pad = 0; pad < 4; pad++) {
                end(&f, opcode_rows[i].opcode, pad, b);
                if (!agrees(f.bytes, f.wire, f.wire, t)) {
                    return;
                }
            }
        }
    }
}

/* Cut at every length, and as if the wire had ended there. */
static void
test_cuts(tally *t)
{
    static whole_frame f;
    for (size_t i = 0; i < N_ROWS(links) * N_ROWS(networks); i++) {
        const headers_row *link = &links[i / N_ROWS(networks)];
        const headers_row *network = &networks[i % N_ROWS(networks)];
        begin(&f, link, network);
        for (unsigned opcode = 0; opcode < 256; opcode++) {
            name_row(link, network, opcode);
            unsigned size = roce_opcode_get((uint8_t)opcode)->headers_bytes;
            end(&f, (uint8_t)opcode, 1, size + 6);
            for (uint32_t captured = 0; captured <= f.wire; captured++) {
                if (!agrees(f.bytes, captured, f.wire, t) ||
                    (opcode % 8 == 1 && !agrees(f.bytes, captured, captured, t))) {
                    return;
                }
            }
        }
    }
}

/* Every bit of every header turned over, and other values in its place. */
static void
test_changed_bytes(tally *t)
{
    static const uint8_t opcodes[] = {0x07, 0x0a, 0x11, 0x12, 0x13, 0x1c,
                                      0x44, 0x64, 0x81, 0xa6, 0xff};
    static whole_frame f;
    seeded random = {.state = 5};
    for (size_t i = 0; i < N_ROWS(links) * N_ROWS(networks); i++) {
        const headers_row *link = &links[i / N_ROWS(networks)];
        const headers_row *network = &networks[i % N_ROWS(networks)];
        begin(&f, link, network);
        for (size_t o = 0; o < N_ROWS(opcodes); o++) {
            name_row(link, network, opcodes[o]);
            end(&f, opcodes[o], 0, 64);
            for (uint32_t at = 0; at < f.bth_at + 12 + LONGEST_HEADERS; at++) {
                uint8_t kept = f.bytes[at];
                for (unsigned value = 0; value < 16; value++) {
                    uint64_t byte =
                        value < 8 ? kept ^ 1u << value : seeded_next(&random);
                    f.bytes[at] = (uint8_t)byte;
                    if (!agrees(f.bytes, f.wire, f.wire, t)) {
                        return;
                    }
                }
                f.bytes[at] = kept;
            }
        }
    }
}

/* Several bytes changed at once, and lengths of all kinds. */
static void
test_changed_frames(tally *t)
{
    static whole_frame f;
    seeded random = {.state = 7};
    for (unsigned round = 0; round < 100000; round++) {
        const headers_row *link = &links[seeded_below(&random, 2)];
        const headers_row *network = &networks[seeded_below(&random, N_PLAIN_NETWORKS)];
        uint8_t opcode = (uint8_t)seeded_next(&random);
        name_row(link, network, opcode);
        begin(&f, link, network);
        uint8_t pad = (uint8_t)seeded_below(&random, 4);
        end(&f, opcode, pad, seeded_below(&random, 100));
        for (uint32_t n = seeded_below(&random, 3); n > 0; n--) {
            uint32_t at = seeded_below(&random, f.bth_at + 12);
            f.bytes[at] ^= (uint8_t)(1u << seeded_below(&random, 8));
        }
        uint32_t captured = f.wire - seeded_below(&random, f.wire / 2);
        uint32_t wire = f.wire + seeded_below(&random, 8) - 4;
        if (!agrees(f.bytes, captured, wire, t)) {
            return;
        }
    }
}

/* Ports other than 4791, several and none; other links. */
static void
test_settings(void)
{
    static const struct {
        const char *name;
        roce_ports ports;
        roce_link link;
        bool want;
    } cases[] = {
        {"the port", {{4791}, 1}, ROCE_LINK_ETHERNET, true},
        {"the last of several", {{53, 0, 4791}, 3}, ROCE_LINK_ETHERNET, true},
        {"behind the last", {{53, 0, 4791}, 2}, ROCE_LINK_ETHERNET, false},
        {"no port", {{4791}, 0}, ROCE_LINK_ETHERNET, false},
        {"cooked", {{4791}, 1}, ROCE_LINK_SLL, false},
        {"raw", {{4791}, 1}, ROCE_LINK_RAW, false},
        {"unsupported", {{4791}, 1}, ROCE_LINK_UNSUPPORTED, false},
    };
    static whole_frame f;
    begin(&f, &links[0], &networks[0]);
    end(&f, 0x04, 0, 100);
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        const roce_frame frame = {
            .bytes = f.bytes,
            .captured_bytes = f.wire,
            .wire_bytes = f.wire,
            .number = 1,
            .link = cases[i].link,
        };
        bool taken;
        two_ways_agree(&frame, &cases[i].ports, &taken);
        CHECK_INT(taken, cases[i].want);
    }
}

int
main(void)
{
    static void (*const tests[])(tally *) = {
        test_shapes, test_payloads, test_cuts, test_changed_bytes, test_changed_frames,
    };
    for (size_t i = 0; i < N_ROWS(tests); i++) {
        tally t = {0};
        tests[i](&t);
        check_row("both ways were gone");
        CHECK(t.n_taken > 0);
        CHECK(t.n_taken < t.n);
    }
    test_settings();
    return check_status();
}
