/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "held.h"

#include "sort.h"

#include "roce/aeth.h"
#include "roce/hash.h"
#include "roce/opcode.h"

/* A NAK names what did not come, and that comes behind it. */
static bool
is_nak(const roce_packet *p)
{
    return roce_opcode_get(p->bth.opcode)->role == ROCE_ROLE_ACK &&
           roce_aeth_get_kind(p->aeth_syndrome) != ROCE_AETH_ACK;
}

static roce_held_kind
kind_of(const roce_packet *p)
{
    roce_role role = roce_opcode_get(p->bth.opcode)->role;
    if (roce_role_is_request(role)) {
        return ROCE_HELD_REQUEST;
    }
    if (role == ROCE_ROLE_ACK) {
        return is_nak(p) ? ROCE_HELD_OTHER : ROCE_HELD_ACK;
    }
    return roce_role_is_response_data(role) || role == ROCE_ROLE_ATOMIC_ACK
               ? ROCE_HELD_RESPONSE
               : ROCE_HELD_OTHER;
}

static roce_held_class
class_of(const roce_packet *p)
{
    switch (p->transport) {
    case ROCE_TRANSPORT_UC:
    case ROCE_TRANSPORT_UD:
        return ROCE_HELD_UNRELIABLE;
    case ROCE_TRANSPORT_CNP:
        return ROCE_HELD_CNP;
    case ROCE_TRANSPORT_RC:
    case ROCE_TRANSPORT_RD:
    case ROCE_TRANSPORT_XRC:
    case ROCE_TRANSPORT_DC:
    case ROCE_TRANSPORT_VENDOR:
    case ROCE_TRANSPORT_UNKNOWN:
    case ROCE_N_TRANSPORTS:
        break;
    }
    return ROCE_HELD_RELIABLE;
}

roce_held
roce_held_make(const roce_frame *frame, const roce_packet *p)
{
    roce_held h = {
        .frame = *frame, .ipv4_ident = p->ipv4_ident, .tunnel = p->tenant.kind};
    h.has_identity = roce_wire_identity_of(frame, p, &h.identity);
    h.sender = roce_held_host_key(&p->src);
    h.recipient = roce_held_host_key(&p->dst);
    h.way = roce_hash_addr(h.sender, &p->dst);
    h.back = roce_hash_addr(h.recipient, &p->src);
    if (p->kind == ROCE_CLASS_ROCE && p->has_bth) {
        h.stream = roce_hash_mix(h.way, p->bth.dest_qpn) | 1;
        h.psn24 = p->bth.psn24;
        h.kind = kind_of(p);
        h.class = class_of(p);
        h.is_nak = is_nak(p);
    }
    return h;
}

/* ---- orders ---- */

static int
by_point(const roce_held *a, const roce_held *b)
{
    return roce_compare_u64(a->frame.point, b->frame.point);
}

int
roce_held_by_identity(const roce_held *a, const roce_held *b)
{
    int order = by_point(a, b);
    order =
        order != 0 ? order : roce_compare_u64(a->identity.narrow, b->identity.narrow);
    return order != 0 ? order : roce_compare_u64(a->identity.icrc, b->identity.icrc);
}

int
roce_held_by_time(const roce_held *a, const roce_held *b)
{
    int order = by_point(a, b);
    return order != 0 ? order : roce_compare_u64(a->frame.time_ns, b->frame.time_ns);
}

int
roce_held_by_arrival(const roce_held *a, const roce_held *b)
{
    int order = by_point(a, b);
    return order != 0 ? order : roce_compare_u64(a->frame.number, b->frame.number);
}

typedef struct sorting {
    const roce_held *frames;
    roce_held_compare compare;
} sorting;

static int
compare_nth(const void *array, uint32_t a, uint32_t b)
{
    const sorting *how = array;
    return how->compare(&how->frames[a], &how->frames[b]);
}

void
roce_held_sort(uint32_t *order, uint32_t *scratch, const roce_held *frames, uint32_t n,
               roce_held_compare compare)
{
    const sorting how = {.frames = frames, .compare = compare};
    roce_sort(order, scratch, n, compare_nth, &how);
}

/* ---- what several decisions ask ---- */

uint64_t
roce_held_largest_step_ns(const roce_held_slice *by_arrival)
{
    uint64_t newest_ns = 0;
    uint64_t largest_ns = 0;
    for (uint32_t i = by_arrival->begin; i < by_arrival->end; i++) {
        uint64_t time_ns = roce_held_nth(by_arrival, i)->frame.time_ns;
        newest_ns = time_ns > newest_ns ? time_ns : newest_ns;
        uint64_t step_ns = newest_ns - time_ns;
        largest_ns = step_ns > largest_ns ? step_ns : largest_ns;
    }
    return largest_ns;
}

uint64_t
roce_held_host_key(const roce_addr *addr)
{
    return roce_hash_addr(0, addr);
}

uint64_t
roce_held_psn_key(uint64_t way, uint32_t psn24)
{
    return roce_hash_mix(way, psn24) | 1;
}
