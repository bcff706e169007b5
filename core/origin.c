/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "roce/origin.h"

#include "roce/hash.h"

roce_origin
roce_origin_of(const roce_packet *packet)
{
    const roce_mirror *mirror = &packet->mirror;
    if (mirror->kind != ROCE_MIRROR_NONE) {
        return (roce_origin){
            .kind = ROCE_ORIGIN_MIRROR,
            .number = mirror->session,
            .mirror = mirror->kind,
            .direction = mirror->direction,
            .source = mirror->source,
        };
    }
    if (packet->sll2_ifindex != 0) {
        return (roce_origin){.kind = ROCE_ORIGIN_IFINDEX,
                             .number = packet->sll2_ifindex};
    }
    return (roce_origin){.kind = ROCE_ORIGIN_INTERFACE};
}

bool
roce_origin_equal(const roce_origin *a, const roce_origin *b)
{
    return a->kind == b->kind && a->number == b->number && a->mirror == b->mirror &&
           a->direction == b->direction && roce_addr_equal(&a->source, &b->source);
}

uint64_t
roce_origin_hash(uint64_t hash, const roce_origin *origin)
{
    hash = roce_hash_mix(hash, (uint64_t)origin->number << 32 |
                                   (uint64_t)origin->kind << 16 |
                                   (uint64_t)origin->mirror << 8 | origin->direction);
    return roce_hash_addr(hash, &origin->source);
}

bool
roce_origin_has_session(const roce_origin *origin)
{
    return origin->kind == ROCE_ORIGIN_MIRROR &&
           (origin->mirror == ROCE_MIRROR_ERSPAN_II ||
            origin->mirror == ROCE_MIRROR_ERSPAN_III ||
            origin->mirror == ROCE_MIRROR_ARISTA);
}
