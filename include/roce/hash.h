/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hashing of keys made of addresses and numbers.
 *
 * The one rule: it spreads, it does not protect.  Whoever chooses addresses can make keys
 * collide; tables that use it have caps.
 */
#ifndef ROCE_HASH_H
#define ROCE_HASH_H

#include "roce/linkage.h"
#include "roce/packet.h"

#include <stdint.h>
#include <string.h>

ROCE_BEGIN

/* Takes one more word into a hash. */
static inline uint64_t
roce_hash_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

/* Takes a tenant into a hash; one without a tenant stays as it is. */
static inline uint64_t
roce_hash_tenant(uint64_t hash, const roce_tenant *tenant)
{
    return tenant->kind == ROCE_TENANT_NONE
               ? hash
               : roce_hash_mix(hash, (uint64_t)tenant->kind << 32 | tenant->id);
}

/* Takes one more address into a hash. */
static inline uint64_t
roce_hash_addr(uint64_t hash, const roce_addr *addr)
{
    uint64_t words[2];
    memcpy(words, addr->bytes, sizeof words);
    hash = roce_hash_mix(hash ^ addr->family, words[0]);
    return addr->family == 4 ? hash : roce_hash_mix(hash, words[1]);
}

ROCE_END

#endif
