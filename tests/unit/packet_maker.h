/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames for tests of the core library: headers as literals to be put together, a
 * buffer to build others in, and decoding from memory of exactly the captured size.
 *
 * The one rule: nothing here asks the core library how a header looks; bytes stand as
 * they are on the wire.
 */
#ifndef PACKET_MAKER_H
#define PACKET_MAKER_H

#include "check.h"

#include "roce/decode.h"

#define N_ROWS(rows) (sizeof(rows) / sizeof(rows)[0])

/* The two columns of a row that hold bytes: where, and how many. */
#define BYTES(literal) (literal), sizeof(literal) - 1
#define NO_BYTES "", 0

/* ---- Headers as literals ---- */

#define MACS "\x02\x00\x00\x00\x00\x22" /* to */ "\x02\x00\x00\x00\x00\x11" /* from */
#define IS_IPV4 "\x08\x00"
#define IS_IPV6 "\x86\xdd"
#define IS_ROCE_V1 "\x89\x15"
#define IS_MAC_CONTROL "\x88\x08"

#define IPV4_ADDRESSES "\x0a\x00\x00\x01" /* from */ "\x0a\x00\x00\x02" /* to */
#define IPV6_ADDRESSES                                                                 \
    "\xfd\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01" /* from */      \
    "\xfd\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02" /* to */

/* DSCP 26, ECT(0), identification 0x1234, time to live 63, checksum not right. */
#define IPV4_WITH(version_ihl, total, fragment, protocol)                              \
    version_ihl "\x6a" total "\x12\x34" fragment "\x3f" protocol                       \
                "\xab\xcd" IPV4_ADDRESSES
#define IPV4(total, protocol) IPV4_WITH("\x45", total, "\x40\x00", protocol)

/* DSCP 26, ECT(0), flow label 0x54321, hop limit 63. */
#define IPV6(payload, next) "\x66\xa5\x43\x21" payload next "\x3f" IPV6_ADDRESSES

#define IS_UDP "\x11"
#define IS_TCP "\x06"

/* From port 49153. */
#define UDP_TO(port, length) "\xc0\x01" port length "\x00\x00"
#define UDP(length) UDP_TO("\x12\xb7", length) /* to 4791 */

#define ICRC "\xe1\xe2\xe3\xe4" /* not right */

/* A whole RC Acknowledge of PSN 100 to QP 0x11: 20 bytes, 28 with UDP, 48 with IPv4. */
#define RC_ACK                                                                         \
    "\x11\x40\xff\xff" /* BTH: opcode, MigReq, P_Key */                                \
    "\x00\x00\x00\x11" /* reserved, QP */                                              \
    "\x00\x00\x00\x64" /* no AckReq, PSN */                                            \
    "\x1f\x00\x00\x07" /* AETH: ACK, credits unlimited, MSN 7 */                       \
        ICRC

#define RC_ACK_SIZE 20
#define IPV4_RC_ACK IPV4("\x00\x30", IS_UDP) UDP("\x00\x1c") RC_ACK
#define IPV6_RC_ACK IPV6("\x00\x1c", IS_UDP) UDP("\x00\x1c") RC_ACK

/* ---- A buffer to build in ---- */

typedef struct packet_maker {
    uint32_t n;
    uint8_t bytes[8192];
} packet_maker;

static inline void
put_bytes(packet_maker *m, const void *bytes, uint32_t n)
{
    if (m->n > sizeof m->bytes - n) {
        abort();
    }
    memcpy(m->bytes + m->n, bytes, n);
    m->n += n;
}

/* `n` bytes, each other than its neighbours. */
static inline void
put_filler(packet_maker *m, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint8_t byte = (uint8_t)(0x80 | (i * 7));
        put_bytes(m, &byte, 1);
    }
}

/* The low `n_bytes` bytes of a value, highest first. */
static inline void
put_number(packet_maker *m, unsigned n_bytes, uint64_t value)
{
    for (unsigned i = n_bytes; i > 0; i--) {
        uint8_t byte = (uint8_t)(value >> (8 * (i - 1)));
        put_bytes(m, &byte, 1);
    }
}

/* Makes the checksum of an IPv4 header without options right (RFC 1071). */
static inline void
put_right_checksum(uint8_t *ipv4)
{
    uint32_t sum = 0;
    ipv4[10] = ipv4[11] = 0;
    for (unsigned i = 0; i < 20; i += 2) {
        sum += (uint32_t)(ipv4[i] << 8 | ipv4[i + 1]);
    }
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    ipv4[10] = (uint8_t)(~sum >> 8);
    ipv4[11] = (uint8_t)~sum;
}

/* MACs, IPv4 and UDP to 4791 before `n` bytes. */
static inline void
put_ethernet_ipv4_udp(packet_maker *m, uint32_t n)
{
    put_bytes(m, MACS IS_IPV4 "\x45\x6a", 16);
    put_number(m, 2, 20 + 8 + n);
    put_bytes(m, "\x12\x34\x40\x00\x3f\x11\xab\xcd" IPV4_ADDRESSES, 16);
    put_bytes(m, "\xc0\x01\x12\xb7", 4);
    put_number(m, 2, 8 + n);
    put_bytes(m, "\x00\x00", 2);
}

/* ---- Decoding ---- */

/* Decodes the first `captured` bytes of a frame that had `wire` bytes, out of memory
 * that ends right behind them, so that reading on is an error that ASan reports. */
static inline void
decode_with(const roce_ports *ports, roce_link link, const void *bytes,
            uint32_t captured, uint32_t wire, roce_packet *packet)
{
    uint8_t *copy = malloc(captured > 0 ? captured : 1);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, bytes, captured);
    const roce_frame frame = {
        .bytes = captured > 0 ? copy : copy + 1,
        .captured_bytes = captured,
        .wire_bytes = wire,
        .number = 1,
        .link = link,
    };
    roce_decode(&frame, ports, packet);
    free(copy);
}

static inline void
decode(roce_link link, const void *bytes, uint32_t captured, uint32_t wire,
       roce_packet *packet)
{
    roce_ports ports;
    roce_ports_init(&ports);
    decode_with(&ports, link, bytes, captured, wire, packet);
}

#endif
