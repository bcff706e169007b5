/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "traffic.h"

#include "roce/decode.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define IPV4_BYTES 20
#define IPV6_BYTES 40
#define UDP_BYTES 8
#define VXLAN_PORT 4789
#define OUTER_BYTES (14 + IPV4_BYTES + UDP_BYTES + 8) /* of a tunnel */
#define MAD_BYTES 256
#define CM_KINDS 9 /* from REQ on */
#define CM_REQ 0x0010u

/* Around a packet. */
typedef enum surroundings {
    IN_NOTHING,
    IN_VLAN,
    IN_VXLAN,
    IN_IPV6,
} surroundings;

void
traffic_init(traffic *t)
{
    memset(t, 0, sizeof *t);
    t->now_ns = TRAFFIC_START_NS;
}

traffic_step
traffic_read(const uint8_t bytes[TRAFFIC_STEP_BYTES])
{
    return (traffic_step){bytes[0], bytes[1], bytes[2], bytes[3],
                          bytes[4], bytes[5], bytes[6]};
}

uint8_t *
traffic_copy(const uint8_t *bytes, size_t n_bytes)
{
    uint8_t *copy = malloc(n_bytes > 0 ? n_bytes : 1);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, bytes, n_bytes);
    return copy;
}

/* ---- bytes ---- */

static void
put(traffic *t, unsigned n_bytes, uint64_t value)
{
    for (unsigned i = n_bytes; i > 0; i--) {
        assert(t->wire_bytes < TRAFFIC_MAX_FRAME);
        t->bytes[t->wire_bytes++] = (uint8_t)(value >> (8 * (i - 1)));
    }
}

static void
put_filler(traffic *t, uint32_t n, uint8_t value)
{
    assert(n <= TRAFFIC_MAX_FRAME - t->wire_bytes);
    memset(t->bytes + t->wire_bytes, value, n);
    t->wire_bytes += n;
}

static void
put_macs(traffic *t, unsigned from, unsigned to)
{
    put(t, 6, UINT64_C(0x020000000000) + to);
    put(t, 6, UINT64_C(0x020000000000) + from);
}

static void
put_ipv4(traffic *t, uint64_t from, uint64_t to, uint8_t traffic_class, uint16_t ident,
         uint32_t n)
{
    put(t, 1, 0x45);
    put(t, 1, traffic_class);
    put(t, 2, IPV4_BYTES + n);
    put(t, 2, ident);
    put(t, 4, 0x40004011);
    put(t, 2, 0);
    put(t, 4, from);
    put(t, 4, to);
}

static void
put_ipv6(traffic *t, unsigned from, unsigned to, uint8_t traffic_class, uint32_t n)
{
    put(t, 4, UINT64_C(0x60000000) | (uint64_t)traffic_class << 20);
    put(t, 2, n);
    put(t, 2, 0x1140);
    put(t, 8, UINT64_C(0xfd00000000000000));
    put(t, 8, from);
    put(t, 8, UINT64_C(0xfd00000000000000));
    put(t, 8, to);
}

static void
put_udp(traffic *t, uint16_t src_port, uint16_t dst_port, uint32_t n)
{
    put(t, 2, src_port);
    put(t, 2, dst_port);
    put(t, 2, UDP_BYTES + n);
    put(t, 2, 0);
}

/* A tunnel between two switches, around `n` bytes of a frame. */
static void
put_tunnel(traffic *t, const traffic_step *s, uint32_t n)
{
    uint8_t outer_class = (s->net & 0x0c) == 0x0c ? 3 : 0; /* marked on the way */
    put_macs(t, 8, 9);
    put(t, 2, 0x0800);
    put_ipv4(t, 0xac100001, 0xac100002, outer_class, 0, UDP_BYTES + 8 + n);
    put_udp(t, 0xc123, VXLAN_PORT, 8 + n);
    put(t, 4, 0x08000000);
    put(t, 3, 0x1000u + (s->net >> 2 & 3));
    put(t, 1, 0);
}

/* Everything in front of the `n` bytes of a UDP payload. */
static void
begin_frame(traffic *t, const traffic_step *s, uint8_t traffic_class, uint16_t ident,
            uint32_t n)
{
    unsigned from = s->who & 3;
    unsigned to = s->who >> 2 & 3;
    surroundings around = (surroundings)(s->net & 3);
    t->wire_bytes = 0;
    if (around == IN_VXLAN) {
        put_tunnel(t, s, 14 + IPV4_BYTES + UDP_BYTES + n);
    }
    put_macs(t, from, to);
    if (around == IN_VLAN) {
        put(t, 4, UINT64_C(0x81006000) | (s->net >> 2 & 3));
    }
    if (around == IN_IPV6) {
        put(t, 2, 0x86dd);
        put_ipv6(t, from, to, traffic_class, UDP_BYTES + n);
    } else {
        put(t, 2, 0x0800);
        put_ipv4(t, UINT64_C(0x0a000000) + from, UINT64_C(0x0a000000) + to,
                 traffic_class, ident, UDP_BYTES + n);
    }
    put_udp(t, (uint16_t)(0xc000 + (s->net >> 4 & 3)), ROCE_UDP_PORT, n);
}

/* ---- what a packet says ---- */

/* READs of 0 bytes up to 2 GiB. */
static uint32_t
read_length(uint8_t value)
{
    return value < 0xe0 ? (uint32_t)value * 256 : (uint32_t)1 << (value & 0x1f);
}

static void
put_header(traffic *t, roce_header header, const traffic_step *s)
{
    switch (header) {
    case ROCE_HEADER_RETH:
        put(t, 8, UINT64_C(0x7f0000001000) + s->value);
        put(t, 4, 0x100);
        put(t, 4, read_length(s->value));
        break;
    case ROCE_HEADER_AETH:
        put(t, 1, s->value);
        put(t, 3, s->psn);
        break;
    case ROCE_HEADER_DETH:
        put(t, 4, 0x80010000);
        put(t, 4, s->who & 3);
        break;
    case ROCE_HEADER_RDETH:
    case ROCE_HEADER_XRCETH:
    case ROCE_HEADER_FETH:
    case ROCE_HEADER_ATOMICETH:
    case ROCE_HEADER_ATOMICACK:
    case ROCE_HEADER_IMMDT:
    case ROCE_HEADER_IETH:
    case ROCE_HEADER_CNP:
        put_filler(t, roce_header_size(header), 0);
        break;
    }
}

static uint32_t
headers_size(uint16_t headers)
{
    uint32_t size = 0;
    for (unsigned i = 0; i < ROCE_N_HEADERS; i++) {
        size += (headers & 1u << i) != 0 ? roce_header_size((roce_header)(1u << i)) : 0;
    }
    return size;
}

static uint32_t
payload_size(const roce_opcode_info *info, uint8_t value)
{
    static const uint16_t sizes[] = {0, 4, 256, 512, 1024, 1024, 1024, 4096};
    bool has_payload = info->role == ROCE_ROLE_SEND || info->role == ROCE_ROLE_WRITE ||
                       info->role == ROCE_ROLE_READ_RESPONSE ||
                       info->role == ROCE_ROLE_UNKNOWN;
    return has_payload ? sizes[value & 7] : 0;
}

/* One in four goes on, one in four repeats, the others lie around what is next. */
static uint32_t
choose_psn(uint32_t *next, uint8_t psn)
{
    uint32_t chosen = *next;
    if (psn >= 0xf8) {
        chosen += UINT32_C(0x200000) << (psn & 3); /* far away, up to half the space */
    } else if (psn >= 0x40) {
        chosen += (uint32_t)(psn & 0x3f) - 0x20;
    }
    if (psn < 0x80) {
        *next = chosen + 1;
    }
    return chosen & 0xffffff;
}

static uint16_t
choose_ident(traffic *t, unsigned from, uint8_t flags)
{
    unsigned how = flags >> 2 & 3;
    if (from == TRAFFIC_HOSTS - 1) {
        return 0; /* as hosts that never fragment may */
    }
    if (how == 3) {
        return (uint16_t)(t->ident[from] - 3); /* an earlier one */
    }
    return how == 2 ? 0 : ++t->ident[from];
}

/* How much of it was captured, and what its ICRC is. */
static void
end_frame(traffic *t, const traffic_step *s)
{
    static const roce_icrc_status statuses[] = {ROCE_ICRC_GOOD, ROCE_ICRC_GOOD,
                                                ROCE_ICRC_UNCHECKED, ROCE_ICRC_BAD};
    t->icrc = statuses[s->flags >> 4 & 3];
    t->captured_bytes = t->wire_bytes;
    if ((s->flags & 0x40) != 0) {
        uint32_t kept = 42 + (uint32_t)(s->value & 0x3f);
        t->captured_bytes = kept < t->wire_bytes ? kept : t->wire_bytes;
    }
}

/* ---- frames ---- */

static void
make_roce(traffic *t, const traffic_step *s, uint8_t opcode)
{
    const roce_opcode_info *info = roce_opcode_get(opcode);
    unsigned from = s->who & 3;
    unsigned to = s->who >> 2 & 3;
    unsigned qp = s->who >> 4 & 3;
    bool is_request = roce_role_is_request(info->role);
    uint32_t *next = is_request ? &t->psn[from][to][qp] : &t->psn[to][from][qp];
    uint32_t psn = choose_psn(next, s->psn);
    uint32_t payload = payload_size(info, s->value);
    uint16_t ident = choose_ident(t, from, s->flags);
    begin_frame(t, s, (uint8_t)(0x68 | (s->flags & 3)), ident,
                12 + headers_size(info->headers) + payload + 4);
    put(t, 1, opcode);
    put(t, 1, (s->net & 0x40) != 0 ? 0xc0 : 0x40);
    put(t, 2, 0xffff);
    put(t, 1, (s->net & 0x80) != 0 ? 0xc0 : 0);
    put(t, 3, TRAFFIC_FIRST_QPN + qp);
    put(t, 1, (s->flags & 0x80) != 0 ? 0x80 : 0);
    put(t, 3, psn);
    for (unsigned i = 0; i < ROCE_N_HEADERS; i++) {
        if ((info->headers & 1u << i) != 0) {
            put_header(t, (roce_header)(1u << i), s);
        }
    }
    put_filler(t, payload, s->value);
    put(t, 4, ident * UINT64_C(2654435761) ^ psn ^ (uint64_t)opcode << 24);
    end_frame(t, s);
}

/* A CM message: `psn` says which, the identifiers come from `value`. */
static void
make_cm(traffic *t, const traffic_step *s)
{
    static const uint8_t qpn_at[CM_KINDS] = {32, 0, 0, 12, 0, 8, 0, 0, 8};
    unsigned kind = s->psn % CM_KINDS;
    begin_frame(t, s, 0, choose_ident(t, s->who & 3, s->flags), 12 + 8 + MAD_BYTES + 4);
    put(t, 5, UINT64_C(0x6440ffff00));
    put(t, 3, ROCE_GSI_QPN);
    put(t, 4, s->psn);
    put(t, 8, UINT64_C(0x8001000000000001));
    put(t, 8, UINT64_C(0x0107020300000000));
    put(t, 8, s->value & 3); /* transaction */
    put(t, 2, CM_REQ + kind);
    put(t, 6, 0);
    uint32_t at = t->wire_bytes;
    put(t, 4, s->value & 3);      /* local id */
    put(t, 4, s->value >> 2 & 3); /* remote id */
    put_filler(t, MAD_BYTES - 24 - 8, s->flags);
    uint8_t *qpn = t->bytes + at + qpn_at[kind];
    qpn[0] = qpn[1] = 0;
    qpn[2] = (uint8_t)(TRAFFIC_FIRST_QPN + (s->who >> 4 & 3));
    put(t, 4, 0);
    t->captured_bytes = t->wire_bytes;
    t->icrc = ROCE_ICRC_UNCHECKED;
}

static void
make_pause(traffic *t, const traffic_step *s)
{
    t->wire_bytes = 0;
    put(t, 6, UINT64_C(0x0180c2000001));
    put(t, 6, UINT64_C(0x020000000000) + (s->who & 3));
    put(t, 2, ROCE_ETHERTYPE_MAC_CONTROL);
    put(t, 2, (s->flags & 1) != 0 ? 0x0101 : 0x0001);
    put(t, 2, s->psn);
    for (unsigned i = 0; i < 8; i++) {
        put(t, 2, (s->flags >> 1 & i) == 0 ? (uint64_t)s->value << (i & 7) : 0);
    }
    put_filler(t, 26, 0);
    t->captured_bytes = t->wire_bytes;
    t->icrc = ROCE_ICRC_UNCHECKED;
}

/* An LLDPDU that says which port it is and which priorities are lossless there. */
static void
put_lldp(traffic *t, const traffic_step *s)
{
    put(t, 6, UINT64_C(0x0180c200000e));
    put(t, 6, UINT64_C(0x020000000000) + (s->who & 3));
    put(t, 2, 0x88cc);
    put(t, 3, 0x020704);
    put(t, 6, UINT64_C(0x02000000ff00) + (s->who >> 2 & 3));
    put(t, 5, UINT64_C(0x0404053133));
    put(t, 1, '0' + (s->value & 7));
    put(t, 4, 0x06020078);
    put(t, 6, UINT64_C(0xfe060080c20b)); /* PFC, IEEE 802.1Q D.2.10 */
    put(t, 2, s->psn);
    put(t, 2, 0);
}

/* What is no RoCE: LLDP, DNS, or a packet of another port. */
static void
make_stranger(traffic *t, const traffic_step *s)
{
    t->wire_bytes = 0;
    if ((s->flags & 1) != 0) {
        put_lldp(t, s);
        put_filler(t, 20, 0);
    } else {
        uint32_t n = 16u + (s->value & 0x7f);
        put_macs(t, s->who & 3, s->who >> 2 & 3);
        put(t, 2, 0x0800);
        put_ipv4(t, UINT64_C(0x0a000000) + (s->who & 3),
                 UINT64_C(0x0a000000) + (s->who >> 2 & 3), s->psn, s->value,
                 UDP_BYTES + n);
        put_udp(t, 0xd000, (s->flags & 2) != 0 ? 53 : s->net, n);
        put_filler(t, n, s->value);
    }
    t->captured_bytes = t->wire_bytes;
    t->icrc = ROCE_ICRC_UNCHECKED;
}

/* Time goes on by 2^n ns, up to half a second, steps back as far, or leaps: to the ends of
 * what can be written, and by years. */
static void
wait_for(traffic *t, uint8_t wait)
{
    static const uint64_t leaps[] = {
        0,
        1,
        TRAFFIC_START_NS,
        TRAFFIC_START_NS - UINT64_C(315360000000000000), /* ten years before */
        TRAFFIC_START_NS + UINT64_C(315360000000000000),
        INT64_MAX,
        UINT64_MAX - 1,
        UINT64_MAX,
    };
    uint64_t step_ns = UINT64_C(1) << (wait & 0x1f) % 30;
    if ((wait & 0xe0) == 0xc0) {
        t->now_ns = leaps[wait & 7];
    } else if ((wait & 0xe0) == 0xe0) {
        t->now_ns = t->now_ns > step_ns ? t->now_ns - step_ns : 0;
    } else {
        t->now_ns = t->now_ns < UINT64_MAX - step_ns ? t->now_ns + step_ns : UINT64_MAX;
    }
}

traffic_kind
traffic_take(traffic *t, const traffic_step *s)
{
    static const uint8_t common[] = {
        0x00, 0x01, 0x02, 0x04, 0x06, 0x07, 0x08, 0x0a, 0x0c, 0x0d, 0x0e,
        0x0f, 0x10, 0x11, 0x11, 0x11, 0x12, 0x13, 0x1c, 0x1d, 0x81, 0x64,
    };
    wait_for(t, s->wait);
    unsigned point = s->who >> 6;
    t->point = point < TRAFFIC_POINTS ? point : 0; /* which comes more often */
    if (s->what >= 0xf8) {
        return t->wire_bytes > 0 ? TRAFFIC_FRAME : TRAFFIC_NOTHING;
    }
    if (s->what == 0xdf) {
        return TRAFFIC_PAIRING;
    }
    if (s->what >= 0xf0) {
        make_pause(t, s);
    } else if (s->what >= 0xe0) {
        make_cm(t, s);
    } else if (s->what == 0xde) {
        make_stranger(t, s);
    } else {
        make_roce(t, s, s->what >= 0xc0 ? s->psn : common[s->what % sizeof common]);
    }
    return TRAFFIC_FRAME;
}

traffic_pairing
traffic_pairing_of(const traffic_step *s)
{
    return (traffic_pairing){
        .host = {{.bytes = {10, 0, 0, s->who & 3}, .family = 4},
                 {.bytes = {10, 0, 0, s->who >> 2 & 3}, .family = 4}},
        .lqpn = TRAFFIC_FIRST_QPN + (s->value & 3u),
        .rqpn = TRAFFIC_FIRST_QPN + (s->value >> 2 & 3u),
        .n_addrs = (uint8_t)(1 + (s->value >> 6 & 1)),
        .is_by_table = s->value >> 7,
    };
}

roce_frame
traffic_frame(const traffic *t, uint64_t number)
{
    return (roce_frame){
        .bytes = t->bytes,
        .captured_bytes = t->captured_bytes,
        .wire_bytes = t->wire_bytes,
        .time_ns = t->now_ns,
        .number = number,
        .point = t->point,
        .link = ROCE_LINK_ETHERNET,
        .direction = (roce_direction)(t->now_ns >> 8 & 1),
    };
}

void
traffic_seal(traffic *t)
{
    roce_ports ports;
    roce_ports_init(&ports);
    roce_frame whole = traffic_frame(t, 1);
    whole.captured_bytes = t->wire_bytes;
    roce_packet packet;
    roce_decode(&whole, &ports, &packet);
    uint32_t icrc;
    if (roce_icrc_compute(t->bytes, t->wire_bytes, &packet, roce_crc32, &icrc) != 0) {
        return;
    }
    icrc ^= t->icrc == ROCE_ICRC_BAD ? 1 : 0;
    for (unsigned i = 0; i < 4; i++) {
        t->bytes[packet.end_offset - 4 + i] = (uint8_t)(icrc >> 8 * i);
    }
}
