/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "frame.h"

#include "roce/decode.h"
#include "roce/icrc.h"
#include "roce/opcode.h"

#include "seeded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ETHERNET_BYTES 14
#define IPV4_BYTES 20
#define UDP_BYTES 8
#define TCP_BYTES 20
#define TCP_PORT 2049 /* NFS */
#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17
#define BTH_BYTES 12
#define ICRC_BYTES 4
#define MAX_PAYLOAD_BYTES 4096
#define REMOTE_KEY 0x00012345u

static const char *const opcode_names[] = {
    [WRITE_FIRST] = "RC RDMA WRITE First",
    [WRITE_MIDDLE] = "RC RDMA WRITE Middle",
    [WRITE_LAST] = "RC RDMA WRITE Last",
    [WRITE_ONLY] = "RC RDMA WRITE Only",
    [READ_REQUEST] = "RC RDMA READ Request",
    [RESPONSE_FIRST] = "RC RDMA READ Response First",
    [RESPONSE_MIDDLE] = "RC RDMA READ Response Middle",
    [RESPONSE_LAST] = "RC RDMA READ Response Last",
    [RESPONSE_ONLY] = "RC RDMA READ Response Only",
    [ACKNOWLEDGE] = "RC Acknowledge",
    [CNP] = "CNP",
};
_Static_assert(sizeof opcode_names / sizeof opcode_names[0] == N_OPCODE_KINDS,
               "one name for each kind");

static uint8_t opcodes[N_OPCODE_KINDS];

/* Payloads are taken out of this, each from another place. */
static uint8_t noise[2 * MAX_PAYLOAD_BYTES];

/* Writes big-endian fields behind each other. */
typedef struct pen {
    uint8_t *at;
} pen;

static void
put(pen *p, unsigned n_bytes, uint64_t value)
{
    for (unsigned i = n_bytes; i > 0; i--) {
        *p->at++ = (uint8_t)(value >> 8 * (i - 1));
    }
}

static uint8_t
find_opcode(const char *name)
{
    for (unsigned code = 0; code <= UINT8_MAX; code++) {
        if (strcmp(roce_opcode_get((uint8_t)code)->name, name) == 0) {
            return (uint8_t)code;
        }
    }
    fprintf(stderr, "no opcode is called \"%s\"\n", name);
    abort();
}

void
frame_init(void)
{
    for (unsigned i = 0; i < N_OPCODE_KINDS; i++) {
        opcodes[i] = find_opcode(opcode_names[i]);
    }
    seeded random = {1};
    for (size_t i = 0; i < sizeof noise; i++) {
        noise[i] = (uint8_t)seeded_next(&random);
    }
}

static uint32_t
extension_bytes(uint16_t headers)
{
    uint32_t n_bytes = 0;
    for (unsigned bit = 0; bit < ROCE_N_HEADERS; bit++) {
        if ((headers & 1u << bit) != 0) {
            n_bytes += roce_header_size((roce_header)(1u << bit));
        }
    }
    return n_bytes;
}

/* Locally administered MAC addresses, 10.0.0.0/8, both from the host's number. */
static void
put_mac(pen *p, uint32_t host)
{
    put(p, 6, UINT64_C(0x020000000001) + host);
}

static void
put_address(pen *p, uint32_t host)
{
    put(p, 4, 0x0a000001u + host);
}

/* RFC 1071, over the header with a checksum of 0. */
static uint16_t
ipv4_checksum(const uint8_t *header)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < IPV4_BYTES; i += 2) {
        sum += (uint32_t)header[i] << 8 | header[i + 1];
    }
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

static void
put_network(pen *p, const frame_values *v, uint8_t protocol, uint32_t ip_bytes)
{
    put_mac(p, v->dst_host);
    put_mac(p, v->src_host);
    put(p, 2, 0x0800);
    uint8_t *ip = p->at;
    put(p, 1, 0x45);
    put(p, 1, v->tos);
    put(p, 2, ip_bytes);
    put(p, 2, v->identification);
    put(p, 2, 0x4000); /* do not fragment */
    put(p, 1, 63);     /* time to live */
    put(p, 1, protocol);
    put(p, 2, 0);
    put_address(p, v->src_host);
    put_address(p, v->dst_host);
    put(&(pen){ip + 10}, 2, ipv4_checksum(ip));
}

static void
put_udp(pen *p, const frame_values *v, uint32_t udp_bytes)
{
    put(p, 2, v->src_port);
    put(p, 2, ROCE_UDP_PORT);
    put(p, 2, udp_bytes);
    put(p, 2, 0); /* RoCEv2 does without the UDP checksum (IBTA A17.3.2) */
}

/* An acknowledgement with data, without a checksum, as hosts see what they send. */
static void
put_tcp(pen *p, const frame_values *v)
{
    put(p, 2, v->src_port);
    put(p, 2, TCP_PORT);
    put(p, 4, v->psn24);
    put(p, 4, 1);
    put(p, 2, 0x5010);
    put(p, 2, 0xffff);
    put(p, 4, 0);
}

static void
put_transport(pen *p, const frame_values *v, uint16_t headers)
{
    put(p, 1, opcodes[v->kind]);
    put(p, 1, 0x40); /* MigReq; payloads need no padding */
    put(p, 2, 0xffff);
    put(p, 1, (v->flags & BTH_BECN) != 0 ? 0x40 : 0);
    put(p, 3, v->dst_qpn);
    put(p, 1, (v->flags & BTH_ACK_REQUEST) != 0 ? 0x80 : 0);
    put(p, 3, v->psn24);
    if ((headers & ROCE_HEADER_RETH) != 0) {
        put(p, 8, v->remote_address);
        put(p, 4, REMOTE_KEY);
        put(p, 4, v->dma_bytes);
    }
    if ((headers & ROCE_HEADER_AETH) != 0) {
        put(p, 1, v->syndrome);
        put(p, 3, v->msn);
    }
    if ((headers & ROCE_HEADER_CNP) != 0) {
        put(p, 8, 0);
        put(p, 8, 0);
    }
}

/* All but the last four bytes are there; those become the ICRC. */
static void
put_icrc(frame_bytes *to)
{
    roce_ports ports;
    roce_ports_init(&ports);
    const roce_frame seen = {
        .bytes = to->bytes,
        .captured_bytes = to->wire_bytes,
        .wire_bytes = to->wire_bytes,
        .link = ROCE_LINK_ETHERNET,
    };
    roce_packet packet;
    roce_decode(&seen, &ports, &packet);
    uint32_t icrc;
    if (roce_icrc_compute(to->bytes, to->wire_bytes, &packet, roce_crc32, &icrc) != 0) {
        fprintf(stderr, "a frame that was made is not decoded\n");
        abort();
    }
    uint8_t *at = to->bytes + to->wire_bytes - ICRC_BYTES;
    for (unsigned i = 0; i < ICRC_BYTES; i++) {
        at[i] = (uint8_t)(icrc >> 8 * i);
    }
}

/* What the headers, which stand before the pen, are for. */
static void
put_payload(const pen *p, const frame_values *v, frame_bytes *to)
{
    const uint32_t put_bytes = (uint32_t)(p->at - to->bytes);
    if (to->captured_bytes > put_bytes) {
        uint32_t room = to->captured_bytes - put_bytes;
        memcpy(p->at, noise + (v->psn24 * 61u + v->dst_qpn) % MAX_PAYLOAD_BYTES,
               room < v->payload_bytes ? room : v->payload_bytes);
    }
}

static void
set_lengths(frame_bytes *to, uint32_t ip_bytes, uint32_t snap_bytes)
{
    to->wire_bytes = ETHERNET_BYTES + ip_bytes;
    to->captured_bytes = to->wire_bytes < snap_bytes ? to->wire_bytes : snap_bytes;
}

static void
make_tcp(const frame_values *v, uint32_t snap_bytes, frame_bytes *to)
{
    const uint32_t ip_bytes = IPV4_BYTES + TCP_BYTES + v->payload_bytes;
    set_lengths(to, ip_bytes, snap_bytes);
    pen p = {to->bytes};
    put_network(&p, v, PROTOCOL_TCP, ip_bytes);
    put_tcp(&p, v);
    put_payload(&p, v, to);
}

void
frame_make(const frame_values *v, uint32_t snap_bytes, frame_bytes *to)
{
    if (v->is_tcp) {
        make_tcp(v, snap_bytes, to);
        return;
    }
    const uint16_t headers = roce_opcode_get(opcodes[v->kind])->headers;
    const uint32_t udp_bytes = UDP_BYTES + BTH_BYTES + extension_bytes(headers) +
                               v->payload_bytes + ICRC_BYTES;
    set_lengths(to, IPV4_BYTES + udp_bytes, snap_bytes);
    pen p = {to->bytes};
    put_network(&p, v, PROTOCOL_UDP, IPV4_BYTES + udp_bytes);
    put_udp(&p, v, udp_bytes);
    put_transport(&p, v, headers);
    put_payload(&p, v, to);
    if (to->captured_bytes > to->wire_bytes - ICRC_BYTES) {
        put_icrc(to);
    }
}
