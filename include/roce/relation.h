/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Relations: which earlier packet a packet belongs to, for those who show packets one by
 * one.
 *
 * The one rule: a relation is between two packets seen at one point; of a packet that
 * came more than once it names the newest copy by then.
 */
#ifndef ROCE_RELATION_H
#define ROCE_RELATION_H

#include "roce/event.h"
#include "roce/linkage.h"
#include "roce/stream.h"

#include <stdbool.h>
#include <stdint.h>

ROCE_BEGIN

typedef enum roce_relation_kind {
    ROCE_RELATION_COVERS,  /* the first to acknowledge the request `to` */
    ROCE_RELATION_NAMES,   /* an ACK or NAK that has the PSN of the request `to` */
    ROCE_RELATION_ANSWERS, /* response data, or an atomic's, to the request `to` */
    ROCE_RELATION_TAKES,   /* the time since `to`, as a sample of `latency` */
    ROCE_RELATION_FOLLOWS, /* it shows that the requester has got the response `to`: it was
                            * told of what comes behind, and went on without asking again */
} roce_relation_kind;

typedef struct roce_relation {
    roce_relation_kind kind;
    roce_latency latency; /* valid for TAKES */
    uint32_t stream;      /* that made the request, or whose latency it is */
    uint64_t frame; /* the packet itself: the one that is being tracked, or one that
                           * was in doubt until now */
    uint64_t to;    /* the earlier one; 0 where it is no single packet */
    uint64_t duration_ns; /* of TAKES */
} roce_relation;

/* Receives each relation in order; must not call back into the tracker. */
typedef void (*roce_relation_fn)(void *ctx, const roce_relation *relation);

/* Where a packet stands in its stream.  PSNs are unwrapped: their low 24 bits are what
 * the wire had. */
typedef struct roce_sighting {
    uint32_t stream; /* ROCE_NO_STREAM: of none, and nothing else holds */
    bool sequenced;  /* `space` and `psn` hold: of a service that has sequences */
    bool expected_known;
    bool corrupt; /* it is damaged, counts for nothing, and nothing below holds */
    roce_space space;
    int64_t psn;
    uint32_t span;                   /* PSNs that it takes */
    int64_t expected;                /* what was due here when it came */
    int64_t acked_from, acked_until; /* requests that it is the first to acknowledge */
} roce_sighting;

ROCE_END

#endif
