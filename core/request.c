/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a request is: how much it brings or asks for, of what kind it is, where it writes to;
 * what an entry of the history keeps of that, and by which it is told whether another request
 * had its PSN before.  What is sent again is the same request, in all of them, but for READs,
 * which may be asked for from any packet of their answer on.
 */
#include "track.h"

static uint32_t
saturate32(uint64_t n)
{
    return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

uint64_t
roce_request_bytes(const roce_arrival *a)
{
    switch (a->info->role) {
    case ROCE_ROLE_READ_REQUEST:
        return a->packet->reth.length_bytes;
    case ROCE_ROLE_ATOMIC:
    case ROCE_ROLE_ATOMIC_WRITE:
        return 8;
    case ROCE_ROLE_SEND:
    case ROCE_ROLE_WRITE:
        return a->packet->payload_bytes;
    case ROCE_ROLE_UNKNOWN:
    case ROCE_ROLE_READ_RESPONSE:
    case ROCE_ROLE_ACK:
    case ROCE_ROLE_ATOMIC_ACK:
    case ROCE_ROLE_FLUSH:
    case ROCE_ROLE_RESYNC:
    case ROCE_ROLE_CNP:
        break;
    }
    return 0;
}

/* What an entry tells of the kind of its request, whichever copy is seen. */
static unsigned
flags_of_kind(const roce_arrival *a)
{
    return (roce_part_ends(a->info->part) ? ROCE_SLOT_MESSAGE_END : 0u) |
           (roce_part_starts(a->info->part) ? ROCE_SLOT_MESSAGE_START : 0u) |
           (roce_role_wants_response(a->info->role) ? ROCE_SLOT_WANTS_RESPONSE : 0u) |
           (a->info->role == ROCE_ROLE_READ_REQUEST ? ROCE_SLOT_READS : 0u);
}

/* Where a WRITE says that it writes to; 0: it does not say so. */
static uint32_t
place_written(const roce_arrival *a)
{
    bool says = a->info->role == ROCE_ROLE_WRITE &&
                (a->packet->headers & ROCE_HEADER_RETH) != 0;
    return says ? roce_slot_place_of(a->packet->reth.address) : 0;
}

void
roce_request_describe(roce_slot *slot, const roce_arrival *a)
{
    slot->message_bytes = saturate32(roce_request_bytes(a));
    slot->flags = (uint16_t)(slot->flags | flags_of_kind(a));
    slot->skipped = place_written(a) & ROCE_SLOT_MAX_SKIPPED;
}

/* Whether a WRITE writes elsewhere than the one that had its PSN before.  Of one that may be
 * damaged it is not enough that a bit differs. */
static bool
writes_elsewhere(const roce_slot *slot, const roce_arrival *a)
{
    uint32_t place = place_written(a);
    uint32_t differs = place ^ (uint32_t)slot->skipped;
    if (place == 0 || slot->skipped == 0 || a->icrc == ROCE_ICRC_BAD) {
        return false;
    }
    return a->icrc == ROCE_ICRC_GOOD ? differs != 0 : (differs & (differs - 1)) != 0;
}

/* Whether a READ is none that may be asked for again of the one that had its PSN before: that
 * begins with any packet of its answer, and ends where it did or, of some requesters, with
 * another packet. */
static bool
reads_otherwise(const roce_stream_state *s, const roce_slot *slot,
                const roce_arrival *a)
{
    if ((slot->flags & ROCE_SLOT_READS) == 0 ||
        (slot->flags & ROCE_SLOT_FILLED_AGAIN) != 0 ||
        a->info->role != ROCE_ROLE_READ_REQUEST) {
        return false;
    }
    uint64_t pmtu = s->pub.pmtu_bytes != 0 ? s->pub.pmtu_bytes : ROCE_LEAST_PMTU;
    uint64_t before = (uint64_t)(a->psn - slot->psn) * pmtu;
    uint64_t asks = a->packet->reth.length_bytes;
    bool is_known = a->psn == slot->psn || s->pub.pmtu_bytes != 0;
    if (!is_known || before >= slot->message_bytes) {
        return false; /* where its packets begin is not known */
    }
    uint64_t owed = slot->message_bytes - before;
    return asks > owed || (asks < owed && asks % pmtu != 0);
}

/* Whether a request has another kind or length, or asks for something else, than the one with
 * its PSN before. */
static bool
is_another(const roce_stream_state *s, const roce_slot *slot, const roce_arrival *a)
{
    unsigned kind = ROCE_SLOT_MESSAGE_END | ROCE_SLOT_MESSAGE_START |
                    ROCE_SLOT_WANTS_RESPONSE | ROCE_SLOT_READS;
    if ((slot->flags & kind) != flags_of_kind(a)) {
        return true;
    }
    bool same_length = slot->message_bytes == saturate32(roce_request_bytes(a));
    bool reads = (slot->flags & ROCE_SLOT_READS) != 0;
    bool is_whole = reads || a->info->role == ROCE_ROLE_ATOMIC;
    return (!reads && !same_length) ||
           (is_whole && same_length && roce_ident_says_otherwise(s, slot, a));
}

bool
roce_request_is_of_another(const roce_stream_state *s, const roce_arrival *a)
{
    if (a->psn >= s->requests.max_next) {
        return false;
    }
    const roce_slot *slot = roce_history_find(&s->requests.history, a->psn);
    if (slot == NULL) {
        return false;
    }
    bool is_good = a->icrc == ROCE_ICRC_GOOD;
    if (is_good && reads_otherwise(s, slot, a)) {
        return true;
    }
    if (slot->psn != a->psn) {
        return false;
    }
    bool elsewhere =
        (slot->flags & ROCE_SLOT_WANTS_RESPONSE) == 0 && writes_elsewhere(slot, a);
    return elsewhere || (is_good && is_another(s, slot, a));
}
