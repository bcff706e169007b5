/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wire identity, and what IPv4 identification tells of the order of sending.
 *
 * Kernels and some devices give each packet the next number, so that an older number
 * behind a newer one was overtaken on the way.  Others send a constant, random numbers
 * or, with IPv6, none; then nobody can tell a copy from another by it.
 */
#include "ident.h"

#include "bytes.h"
#include "headers.h"
#include "track.h"

/* Numbers are compared over 2^15 packets at most: later than this, a counter that
 * several queue pairs share may have gone round. */
#define TELLING_WITHIN_NS 16000000u

/* A counter that serves other queue pairs too goes on by so much at most. */
#define RISES_BY 4096u
/* And falls back by so much where packets are overtaken, which spraying over several
 * paths does to every other one; random numbers do it one time in 256. */
#define FALLS_BACK_BY 256u

roce_ident_mode
roce_ident_mode_of(const roce_stream_state *s)
{
    uint32_t n = s->ident_rises + s->ident_same + s->ident_other;
    if (s->ident_same == n || s->ident_same > n - n / 4) {
        return ROCE_IDENT_CONSTANT;
    }
    if (n >= 4 && s->ident_rises >= n - n / 8) {
        return ROCE_IDENT_RISING;
    }
    return ROCE_IDENT_CHANGING;
}

#define LEAST_HEADERS 28u /* of IPv4 and UDP */
#define MOST_COVERED 128u

static uint16_t
half_of(uint32_t check)
{
    return (uint16_t)(check ^ check >> 16);
}

static roce_identity
identity_of(const roce_car *car)
{
    return (roce_identity){.check = car->check, .ident = car->ident};
}

/* A larger step tells nothing, nor does the same packet once more. */
void
roce_ident_follow(roce_stream_state *s, const roce_identity *id)
{
    if (s->pub.src.family != 4) {
        return;
    }
    uint16_t step = (uint16_t)(id->ident - s->ident_last);
    uint16_t check = half_of(id->check);
    if (s->ident_seen && !(step == 0 && check == s->check_last)) {
        if (step == 0) {
            s->ident_same++;
        } else if (step <= RISES_BY || step >= 0x10000u - FALLS_BACK_BY) {
            s->ident_rises++;
        } else {
            s->ident_other++;
        }
        if ((s->ident_rises | s->ident_same | s->ident_other) > UINT32_MAX / 4) {
            s->ident_rises /= 2;
            s->ident_same /= 2;
            s->ident_other /= 2;
        }
    }
    s->ident_seen = true;
    s->ident_last = id->ident;
    s->check_last = check;
}

void
roce_ident_follow_train(roce_stream_state *s, const roce_car *cars, uint32_t n)
{
    const roce_identity first = identity_of(&cars[0]);
    roce_ident_follow(s, &first);
    uint32_t rises = 0;
    uint16_t last = cars[0].ident;
    for (uint32_t i = 1; i < n; i++) {
        uint16_t step = (uint16_t)(cars[i].ident - last);
        rises += (uint16_t)(step - 1) < RISES_BY ? 1 : 0;
        last = cars[i].ident;
    }
    bool all_rise = s->pub.src.family == 4 && rises == n - 1 &&
                    s->ident_rises <= UINT32_MAX / 4 - rises;
    if (all_rise) {
        s->ident_rises += rises;
        s->ident_last = last;
        s->check_last = half_of(cars[n - 1].check);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        const roce_identity id = identity_of(&cars[i]);
        roce_ident_follow(s, &id);
    }
}

static uint64_t
hash_of_captured(const roce_packet *p)
{
    uint64_t h = roce_ident_hash(p->payload_bytes, p->src_port, p->bth.psn24,
                                 p->bth.opcode, p->bth.ack_request);
    if (p->headers == 0) {
        return h;
    }
    const uint64_t words[ROCE_IDENT_WORDS] = {
        p->reth.address, p->reth.length_bytes | (uint64_t)p->aeth_syndrome << 32,
        p->aeth_msn | (uint64_t)p->immediate << 32, p->atomic_swap_add,
        p->atomic_compare};
    return roce_ident_hash_more(h, words);
}

/* Wire identity: the ICRC where it was captured, else a hash of what was. */
roce_identity
roce_ident_of(const roce_frame *frame, const roce_packet *p)
{
    roce_identity id = {.ident = p->ipv4_ident};
    if (roce_packet_has_icrc(p, frame->captured_bytes)) {
        id.check = roce_le32(frame->bytes + p->end_offset - 4);
        return id;
    }
    id.check = (uint32_t)hash_of_captured(p);
    return id;
}

/* What bytes that differ add to a CRC-32: it is linear in them, so that of two packets of one
 * length the CRCs differ by that alone. */
static uint32_t
crc_of_difference(const uint8_t *bytes, size_t size)
{
    return ~roce_crc32(UINT32_MAX, bytes, size);
}

/* Bytes of the packet that its ICRC covers; 0: there are more than any request has that brings
 * no payload, or it is not whole. */
static uint32_t
covered_bytes(const roce_packet *p)
{
    bool is_whole = p->bth_offset >= p->ip_offset + LEAST_HEADERS &&
                    p->end_offset >= p->bth_offset + ROCE_BTH_BYTES + ROCE_ICRC_BYTES;
    uint32_t bytes = is_whole ? p->end_offset - ROCE_ICRC_BYTES - p->ip_offset : 0;
    return bytes <= MOST_COVERED ? bytes : 0;
}

/* The ICRC that a packet would have with another identification, and with the bits turned over
 * that a requester may choose anew when it sends again: AckReq, MigReq. */
static uint32_t
check_with(const roce_arrival *a, uint32_t bytes, uint16_t ident, unsigned turned)
{
    const roce_packet *p = a->packet;
    uint8_t differs[MOST_COVERED] = {0};
    uint8_t *bth = differs + (p->bth_offset - p->ip_offset);
    uint16_t of_ident = (uint16_t)(p->src.family == 4 ? ident ^ a->identity.ident : 0);
    differs[4] = (uint8_t)(of_ident >> 8);
    differs[5] = (uint8_t)(of_ident & 0xff);
    bth[1] = (uint8_t)((turned & 1) != 0 ? 0x40 : 0);
    bth[8] = (uint8_t)((turned & 2) != 0 ? 0x80 : 0);
    return a->identity.check ^ crc_of_difference(differs, bytes);
}

/* Whether one of these may be the check of a packet that says the same as `a`: an ICRC, or
 * what stands for it where it was cut off. */
static bool
may_say_the_same(const roce_arrival *a, uint32_t bytes, uint32_t check, uint16_t ident)
{
    roce_packet p = *a->packet;
    for (unsigned turned = 0; turned < 4; turned++) {
        p.bth.ack_request = ((turned & 2) != 0) != a->packet->bth.ack_request;
        if (check == check_with(a, bytes, ident, turned) ||
            check == (uint32_t)hash_of_captured(&p)) {
            return true;
        }
    }
    return false;
}

bool
roce_ident_says_otherwise(const roce_stream_state *s, const roce_slot *slot,
                          const roce_arrival *a)
{
    uint32_t bytes = covered_bytes(a->packet);
    return bytes > 0 && a->icrc == ROCE_ICRC_GOOD && s->pub.n_udp_src_ports == 1 &&
           slot->psn == a->psn &&
           !may_say_the_same(a, bytes, slot->first_check, slot->first_ident) &&
           !may_say_the_same(a, bytes, slot->newest_check, slot->newest_ident);
}

bool
roce_ident_is_older(const roce_stream_state *s, uint16_t ident, uint16_t than)
{
    return roce_ident_mode_of(s) == ROCE_IDENT_RISING &&
           (uint16_t)(ident - than) >= 0x8000;
}

bool
roce_ident_was_overtaken(const roce_stream_state *s, const roce_lane *lane,
                         const roce_arrival *a)
{
    return lane->ident_known &&
           a->frame->time_ns < lane->newest_ns + TELLING_WITHIN_NS &&
           roce_ident_is_older(s, a->identity.ident, lane->newest_ident);
}

uint32_t
roce_ident_room(const roce_stream_state *s, const roce_lane *lane,
                const roce_arrival *a)
{
    uint16_t step = (uint16_t)(a->identity.ident - lane->newest_ident);
    bool telling = roce_ident_mode_of(s) == ROCE_IDENT_RISING && lane->ident_known &&
                   step > 0 && step <= RISES_BY &&
                   a->frame->time_ns < lane->newest_ns + TELLING_WITHIN_NS;
    return telling ? step - 1u : UINT32_MAX;
}

bool
roce_ident_was_sent_before(const roce_stream_state *s, const roce_arrival *a,
                           const roce_arrival *than)
{
    return a->frame->time_ns < than->frame->time_ns + TELLING_WITHIN_NS &&
           roce_ident_is_older(s, a->identity.ident, than->identity.ident);
}

bool
roce_ident_was_before(const roce_stream_state *s, const roce_slot *slot,
                      const roce_arrival *a)
{
    return a->frame->time_ns < slot->time_ns + TELLING_WITHIN_NS &&
           roce_ident_is_older(s, a->identity.ident, slot->first_ident);
}

void
roce_ident_follow_lane(roce_lane *lane, const roce_arrival *a)
{
    if (!lane->ident_known ||
        (uint16_t)(a->identity.ident - lane->newest_ident) < 0x8000) {
        lane->newest_ident = a->identity.ident;
        lane->ident_known = true;
        lane->newest_ns = a->frame->time_ns;
    }
}

bool
roce_ident_same_copy(const roce_stream_state *s, const roce_slot *slot,
                     const roce_identity *id)
{
    if (roce_ident_mode_of(s) == ROCE_IDENT_CONSTANT) {
        return false;
    }
    return (slot->first_check == id->check && slot->first_ident == id->ident) ||
           (slot->newest_check == id->check && slot->newest_ident == id->ident);
}
