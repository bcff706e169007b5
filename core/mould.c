/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "checksum.h"
#include "express.h"
#include "headers.h"
#include "icrc_span.h"
#include "ident.h"
#include "walk.h"
#include "wire_identity.h"

#include "roce/aeth.h"
#include "roce/hash.h"
#include "roce/train.h"

#include <string.h>

/* Of the BTH's second byte: migration and version.  The solicited event and the pad are
 * the car's. */
#define BTH_SHARED 0x4fu

/* What trains are made of: SENDs and WRITEs of RC, each First, Middle, Last and Only, the
 * latter two with immediate data and without; and READ responses First, Middle and Last
 * (IBTA 9.2.1).  The extension headers: 16 bytes of RETH, 4 of immediate data, 4 of AETH,
 * which Middle alone has not. */
#define SEND_FIRST 0x00
#define WRITE_FIRST 0x06
#define N_OF_OPERATION 6
#define READ_RESPONSE_FIRST 0x0d
#define N_OF_READ_RESPONSES 3

static inline bool
is_a_cars(uint8_t opcode)
{
    const uint32_t requests = (1u << (WRITE_FIRST + N_OF_OPERATION)) - 1;
    const uint32_t responses = ((1u << N_OF_READ_RESPONSES) - 1) << READ_RESPONSE_FIRST;
    return opcode < 32 && ((requests | responses) >> opcode & 1u) != 0;
}

/* The first opcode of a car's operation, and how many it has. */
static void
take_operation(roce_mould *mould, uint8_t opcode)
{
    bool reads = opcode >= READ_RESPONSE_FIRST;
    uint8_t first = opcode < WRITE_FIRST ? SEND_FIRST : WRITE_FIRST;
    mould->operation = reads ? READ_RESPONSE_FIRST : first;
    mould->n_opcodes = reads ? N_OF_READ_RESPONSES : N_OF_OPERATION;
}

static inline bool
is_of_operation(const roce_mould *mould, uint8_t opcode)
{
    return (uint8_t)(opcode - mould->operation) < mould->n_opcodes;
}

/* Shapes of headers, added up; with neither, IPv4 without a tag. */
#define SHAPE_TAGGED 1
#define SHAPE_IPV6 2

static inline bool
is_ipv4(const roce_mould *mould)
{
    return mould->shape < SHAPE_IPV6;
}

static bool
is_like_a_car(const roce_packet *p)
{
    return p->outcome == ROCE_DECODED && p->kind == ROCE_CLASS_ROCE && p->has_bth &&
           p->n_tunnels == (p->mirror.kind != ROCE_MIRROR_NONE ? 1 : 0) &&
           p->has_macs && !p->is_grh && p->n_vlans <= 1 && is_a_cars(p->bth.opcode) &&
           (p->headers & ROCE_HEADER_AETH) == 0 && p->payload_bytes > 0 &&
           roce_packet_ecn(p) != ROCE_ECN_CE;
}

bool
roce_mould_take(const roce_frame *frame, const roce_packet *packet, roce_mould *mould)
{
    roce_packet express;
    const roce_ports ports = {.port = {packet->dst_port}, .n_ports = 1};
    if (!is_like_a_car(packet) || !roce_decode_express(frame, &ports, &express)) {
        return false;
    }
    memset(mould, 0, sizeof *mould);
    memcpy(mould->bytes, frame->bytes, express.bth_offset + ROCE_BTH_BYTES);
    mould->traffic_class = packet->traffic_class;
    mould->hop_limit = packet->hop_limit;
    mould->direction = frame->direction;
    take_operation(mould, packet->bth.opcode);
    mould->ip_at = (uint16_t)express.ip_offset;
    mould->udp_at = (uint16_t)(express.bth_offset - UDP_BYTES);
    bool is_tagged = mould->ip_at != ETHERNET_BYTES;
    bool is_v6 = mould->udp_at - mould->ip_at == IPV6_BYTES;
    mould->shape = (uint8_t)((is_v6 ? SHAPE_IPV6 : 0) + (is_tagged ? SHAPE_TAGGED : 0));
    mould->newest_captured_bytes = UINT32_MAX; /* of no frame */
    return true;
}

/* ---- what packets of a train share ---- */

/* Sixteen bytes of headers are compared at once, and of them the bits that a mask has.  Of
 * each shape: without and with a VLAN tag, IPv4 and IPv6. */
#define BLOCK_BYTES 16
#define SHORTEST_BYTES (ETHERNET_BYTES + IPV4_BYTES + UDP_BYTES + ROCE_BTH_BYTES)
#define LONGEST_BYTES                                                                  \
    (ETHERNET_BYTES + VLAN_TAG_BYTES + IPV6_BYTES + UDP_BYTES + ROCE_BTH_BYTES)
_Static_assert(LONGEST_BYTES <= ROCE_MOULD_BYTES, "they fit");

typedef uint64_t block __attribute__((vector_size(BLOCK_BYTES)));

/* clang-format off */
#define BITS_ETHERNET /* both addresses, and the type */ \
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
#define BITS_TAG 0xff, 0xff, 0xff, 0xff
#define BITS_IPV4(length) /* all but identification and checksum */ \
    0xff, 0xff, length, length, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, \
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
#define BITS_IPV6(length) \
    0xff, 0xff, 0xff, 0xff, length, length, 0xff, 0xff, \
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, \
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, \
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, \
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
#define BITS_UDP(length) /* all but the checksum */ \
    0xff, 0xff, 0xff, 0xff, length, length, 0, 0
#define BITS_BTH(opcode, flags) /* neither acknowledge request nor PSN */ \
    opcode, flags, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0
#define BITS_OF_SHAPES(length, opcode, flags) \
    {BITS_ETHERNET, BITS_IPV4(length), BITS_UDP(length), BITS_BTH(opcode, flags)}, \
    {BITS_ETHERNET, BITS_TAG, BITS_IPV4(length), BITS_UDP(length), BITS_BTH(opcode, flags)}, \
    {BITS_ETHERNET, BITS_IPV6(length), BITS_UDP(length), BITS_BTH(opcode, flags)}, \
    {BITS_ETHERNET, BITS_TAG, BITS_IPV6(length), BITS_UDP(length), BITS_BTH(opcode, flags)}

typedef uint8_t bits_of_shape[4][ROCE_MOULD_BYTES];

static const _Alignas(BLOCK_BYTES) bits_of_shape shared_bits = {
    BITS_OF_SHAPES(0, 0, BTH_SHARED),
};
/* The same, and what most cars have as the one before them. */
static const _Alignas(BLOCK_BYTES) bits_of_shape newest_bits = {
    BITS_OF_SHAPES(0xff, 0xff, 0xff),
};
/* clang-format on */

static inline block
load(const uint8_t *at)
{
    block b;
    memcpy(&b, at, sizeof b);
    return b;
}

/* Of the blocks that stand there, those bits that differ. */
static inline block
differ(const roce_mould *mould, const roce_frame *frame, const uint8_t *bits,
       uint32_t at)
{
    return (load(mould->bytes + at) ^ load(frame->bytes + at)) & load(bits + at);
}

static inline uint32_t
headers_bytes(const roce_mould *mould)
{
    return mould->udp_at + UDP_BYTES + ROCE_BTH_BYTES;
}

/* Whether a frame that has all headers has those bits of them as the mould.  The last block
 * ends with the last header. */
static inline bool
has_bits(const roce_mould *mould, const roce_frame *frame, const uint8_t *bits)
{
    _Static_assert(SHORTEST_BYTES >= 3 * BLOCK_BYTES, "three in each");
    block all = differ(mould, frame, bits, 0) |
                differ(mould, frame, bits, BLOCK_BYTES) |
                differ(mould, frame, bits, 2 * BLOCK_BYTES) |
                differ(mould, frame, bits, headers_bytes(mould) - BLOCK_BYTES);
    if (!is_ipv4(mould)) {
        all |= differ(mould, frame, bits, 3 * BLOCK_BYTES);
    }
    return (all[0] | all[1]) == 0;
}

static inline bool
shares(const roce_mould *mould, const roce_frame *frame)
{
    return frame->link == ROCE_LINK_ETHERNET && frame->direction == mould->direction &&
           frame->captured_bytes >= headers_bytes(mould) &&
           has_bits(mould, frame, shared_bits[mould->shape]);
}

/* ---- what they do not ---- */

/* Whether an AETH says nothing but that what is before it has come. */
static inline bool
is_plain_aeth(uint8_t syndrome)
{
    return roce_aeth_get_kind(syndrome) == ROCE_AETH_ACK &&
           roce_aeth_credits(roce_aeth_get_value(syndrome)) ==
               ROCE_AETH_CREDITS_UNLIMITED;
}

/* The extension headers, which were captured, and what tells copies apart. */
static inline void
take_identity(const roce_frame *frame, const uint8_t *udp, const roce_opcode_info *info,
              uint32_t end, roce_car *car)
{
    const uint8_t *at = udp + UDP_BYTES + ROCE_BTH_BYTES;
    uint32_t length_bytes = 0;
    uint32_t immediate = 0;
    uint32_t aeth = 0;
    car->address = 0;
    if ((info->headers & ROCE_HEADER_RETH) != 0) {
        car->address = roce_be64(at);
        length_bytes = roce_be32(at + 12);
        at += 16;
    }
    if ((info->headers & ROCE_HEADER_IMMDT) != 0) {
        immediate = roce_be32(at);
    }
    if ((info->headers & ROCE_HEADER_AETH) != 0) {
        aeth = roce_be32(at);
    }
    if (end <= frame->captured_bytes) {
        const uint8_t *icrc = frame->bytes + end - ROCE_ICRC_BYTES;
        car->check = roce_le32(icrc);
        return;
    }
    uint64_t h = roce_ident_hash(car->payload_bytes, roce_be16(udp), car->psn24,
                                 car->opcode, car->ack_request);
    if (info->headers == 0) {
        car->check = (uint32_t)h;
        return;
    }
    const uint64_t words[ROCE_IDENT_WORDS] = {
        car->address, length_bytes | (uint64_t)(aeth >> 24) << 32,
        (aeth & 0xffffff) | (uint64_t)immediate << 32};
    car->check = (uint32_t)roce_ident_hash_more(h, words);
}

/* The UDP datagram in an IP packet that ends at `ip_end`, in a frame of `wire_bytes`; header
 * for header as the short way of decoding has it, see express.c. */
static inline bool
take_car(const roce_mould *mould, const roce_frame *frame, uint32_t ip_end,
         uint32_t wire_bytes, uint16_t ident, roce_car *car)
{
    const uint8_t *udp = frame->bytes + mould->udp_at;
    const uint8_t *bth = udp + UDP_BYTES;
    const roce_opcode_info *info = roce_opcode_get(bth[0]);
    uint32_t length = roce_be16(udp + UDP_LENGTH_AT);
    uint32_t before = UDP_BYTES + ROCE_BTH_BYTES + info->headers_bytes;
    uint32_t around = before + (bth[1] >> 4 & 3u) + ROCE_ICRC_BYTES;
    if (!is_of_operation(mould, bth[0]) ||
        mould->udp_at + before > frame->captured_bytes ||
        mould->udp_at + length > ip_end || length <= around ||
        length > around + ROCE_MAX_PAYLOAD_BYTES ||
        ((info->headers & ROCE_HEADER_AETH) != 0 &&
         !is_plain_aeth(bth[ROCE_BTH_BYTES]))) {
        return false;
    }
    uint32_t psn_word = roce_be32(bth + 8);
    roce_car taken = {
        .time_ns = frame->time_ns,
        .frame = frame->number,
        .psn24 = psn_word & 0xffffff,
        .payload_bytes = length - around,
        .udp_bytes = length,
        .wire_bytes = wire_bytes,
        .ident = ident,
        .opcode = bth[0],
        .ack_request = psn_word >> 31 != 0,
        .cut = frame->captured_bytes < wire_bytes,
    };
    take_identity(frame, udp, info, mould->udp_at + length, &taken);
    *car = taken;
    return true;
}

/* Whether the header checksum of a frame that shares the mould's bits is right or wrong as the
 * mould's own is: it goes the long way otherwise. */
static inline bool
has_like_checksum(const roce_mould *mould, const roce_frame *frame)
{
    const uint8_t *own = mould->bytes + mould->ip_at;
    const uint8_t *ip = frame->bytes + mould->ip_at;
    return roce_checksum_is_left_out(own)
               ? roce_checksum_is_left_out(ip)
               : roce_checksum_of_changing(ip) == roce_checksum_of_changing(own);
}

/* Whether a frame differs from the newest car's in no length and in no header but by its
 * PSN, its identification and what follows from them; and has no extension header.  Then
 * all that was found of that one's lengths holds of its own. */
static inline bool
is_as_newest(const roce_mould *mould, const roce_frame *frame)
{
    return frame->captured_bytes == mould->newest_captured_bytes &&
           frame->wire_bytes == mould->newest_wire_bytes &&
           frame->link == ROCE_LINK_ETHERNET && frame->direction == mould->direction &&
           has_bits(mould, frame, newest_bits[mould->shape]) &&
           (!is_ipv4(mould) || roce_checksum_of_middle(frame->bytes + mould->ip_at) ==
                                   mould->newest_middle);
}

/* In one go: what is written and then changed would be waited for. */
static inline void
take_as_newest(const roce_mould *mould, const roce_frame *frame, roce_car *car)
{
    const roce_car *newest = &mould->newest;
    const uint8_t *udp = frame->bytes + mould->udp_at;
    uint32_t psn_word = roce_be32(udp + UDP_BYTES + 8);
    uint32_t psn24 = psn_word & 0xffffff;
    bool ack_request = psn_word >> 31;
    uint32_t end = mould->udp_at + newest->udp_bytes;
    *car = (roce_car){
        .time_ns = frame->time_ns,
        .frame = frame->number,
        .address = newest->address,
        .psn24 = psn24,
        .payload_bytes = newest->payload_bytes,
        .udp_bytes = newest->udp_bytes,
        .wire_bytes = newest->wire_bytes,
        .check = end <= frame->captured_bytes
                     ? roce_le32(frame->bytes + end - ROCE_ICRC_BYTES)
                     : (uint32_t)roce_ident_hash(newest->payload_bytes, roce_be16(udp),
                                                 psn24, newest->opcode, ack_request),
        .ident = is_ipv4(mould) ? roce_be16(frame->bytes + mould->ip_at + 4) : 0,
        .opcode = newest->opcode,
        .ack_request = ack_request,
        .cut = newest->cut,
    };
}

/* The next may be like it, or like the one that is remembered: those with extension headers
 * begin or end a message, and stand between others; and what ends one of three or more
 * stands between those in the middle. */
static void
remember(roce_mould *mould, const roce_frame *frame, const roce_car *car)
{
    const roce_opcode_info *info = roce_opcode_get(car->opcode);
    bool is_known = mould->newest_captured_bytes != UINT32_MAX;
    if (info->headers != 0 ||
        (is_known && info->part == ROCE_PART_LAST &&
         roce_opcode_get(mould->newest.opcode)->part == ROCE_PART_MIDDLE)) {
        return;
    }
    memcpy(mould->bytes, frame->bytes, headers_bytes(mould));
    mould->newest_captured_bytes = frame->captured_bytes;
    mould->newest_wire_bytes = frame->wire_bytes;
    const uint8_t *ip = mould->bytes + mould->ip_at;
    mould->newest_middle = roce_checksum_is_left_out(ip) ? UINT16_MAX /* of none */
                                                         : roce_checksum_of_middle(ip);
    mould->newest = *car;
}

/* Of a frame that is not as the newest one.  Apart, so that the others need save nothing for
 * it. */
__attribute__((noinline)) static bool
fits_otherwise(roce_mould *mould, const roce_frame *frame, roce_car *car)
{
    if (!shares(mould, frame)) {
        return false;
    }
    const uint8_t *ip = frame->bytes + mould->ip_at;
    bool is_v4 = is_ipv4(mould);
    uint32_t captured = frame->captured_bytes;
    uint32_t wire = frame->wire_bytes < captured ? captured : frame->wire_bytes;
    uint32_t length =
        is_v4 ? roce_be16(ip + 2) : IPV6_BYTES + (uint32_t)roce_be16(ip + 4);
    uint16_t ident = is_v4 ? roce_be16(ip + 4) : 0;
    uint32_t end = mould->ip_at + length;
    bool was_longer = end > wire && roce_be16(frame->bytes + mould->udp_at +
                                              UDP_LENGTH_AT) == end - mould->udp_at;
    if ((end > wire && !was_longer) || (is_v4 && !has_like_checksum(mould, frame)) ||
        !take_car(mould, frame, end, was_longer ? end : frame->wire_bytes, ident,
                  car)) {
        return false;
    }
    remember(mould, frame, car);
    return true;
}

bool
roce_mould_fits(roce_mould *mould, const roce_frame *frame, roce_car *car)
{
    if (is_as_newest(mould, frame)) {
        take_as_newest(mould, frame, car);
        return true;
    }
    return fits_otherwise(mould, frame, car);
}

bool
roce_mould_admits(const roce_mould *mould, const roce_frame *frame,
                  const roce_packet *packet)
{
    return mould->operation == READ_RESPONSE_FIRST && shares(mould, frame) &&
           packet->outcome == ROCE_DECODED && packet->payload_bytes > 0 &&
           roce_opcode_get(packet->bth.opcode)->role == ROCE_ROLE_READ_RESPONSE &&
           (packet->headers & ROCE_HEADER_AETH) != 0 &&
           roce_aeth_get_kind(packet->aeth_syndrome) == ROCE_AETH_ACK;
}

roce_space
roce_mould_space(const roce_mould *mould)
{
    return mould->operation == READ_RESPONSE_FIRST ? ROCE_SPACE_RESPONSES
                                                   : ROCE_SPACE_REQUESTS;
}

void
roce_mould_wire_identity(const roce_mould *mould, const roce_frame *frame,
                         const roce_car *car, const roce_addr *src,
                         const roce_addr *dst, roce_wire_identity *identity)
{
    const uint8_t *udp = mould->bytes + mould->udp_at;
    const roce_wire_numbers numbers = {
        .udp_length = car->udp_bytes,
        .psn24 = car->psn24,
        .dest_qpn = roce_be24(udp + UDP_BYTES + 5),
        .src_port = roce_be16(udp),
        .opcode = car->opcode,
        .ack_request = car->ack_request,
    };
    uint64_t h = roce_wire_hash_ends(car->ident, src, dst);
    uint32_t end = mould->udp_at + car->udp_bytes;
    *identity = (roce_wire_identity){
        .narrow = roce_wire_narrow(roce_wire_hash_numbers(h, &numbers)),
        .has_icrc = end <= frame->captured_bytes,
    };
    if (identity->has_icrc) {
        memcpy(&identity->icrc, frame->bytes + end - ROCE_ICRC_BYTES,
               sizeof identity->icrc);
    }
}

roce_icrc_status
roce_mould_check_icrc(const roce_mould *mould, const roce_frame *frame,
                      const roce_car *car, roce_crc32_fn crc32)
{
    uint32_t end = mould->udp_at + car->udp_bytes;
    if (end > frame->captured_bytes) {
        return ROCE_ICRC_TRUNCATED;
    }
    const roce_icrc_span span = {
        .ip_at = mould->ip_at,
        .bth_at = mould->udp_at + UDP_BYTES,
        .end = end,
        .is_ipv4 = is_ipv4(mould),
    };
    return roce_icrc_of_span(frame->bytes, &span, crc32) == car->check ? ROCE_ICRC_GOOD
                                                                       : ROCE_ICRC_BAD;
}

static inline uint64_t
raw_64(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static inline uint32_t
raw_32(const uint8_t *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Of the ends of both addresses, the source port, and the queue pair. */
static inline uint32_t
hash_behind(const roce_frame *frame, uint32_t ip_at, bool is_v6)
{
    uint32_t udp_at = ip_at + (is_v6 ? IPV6_BYTES : IPV4_BYTES);
    const uint8_t *udp = frame->bytes + udp_at;
    const uint8_t *bth = udp + UDP_BYTES;
    if (frame->captured_bytes < udp_at + UDP_BYTES + ROCE_BTH_BYTES ||
        !is_a_cars(bth[0])) {
        return 0;
    }
    uint64_t ends =
        is_v6 ? (uint64_t)raw_32(udp - 20) << 32 | raw_32(udp - 4) : raw_64(udp - 8);
    uint64_t h = roce_hash_mix(ends, (uint64_t)raw_32(udp) << 32 | raw_32(bth + 4));
    return (uint32_t)(h >> 32) | 1;
}

uint32_t
roce_mould_hash(const roce_frame *frame)
{
    const uint8_t *b = frame->bytes;
    if (frame->link != ROCE_LINK_ETHERNET ||
        frame->captured_bytes < ETHERNET_BYTES + VLAN_TAG_BYTES) {
        return 0;
    }
    uint16_t type = roce_be16(b + TYPE_AT);
    if (type == ROCE_ETHERTYPE_IPV4) {
        return hash_behind(frame, ETHERNET_BYTES, false);
    }
    if (type == ROCE_ETHERTYPE_IPV6) {
        return hash_behind(frame, ETHERNET_BYTES, true);
    }
    bool is_v6 = roce_be16(b + TYPE_AT + VLAN_TAG_BYTES) == ROCE_ETHERTYPE_IPV6;
    return hash_behind(frame, ETHERNET_BYTES + VLAN_TAG_BYTES, is_v6);
}
