/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far apart who sends CNPs keeps them, as far as the capture shows it (IBTA A17.9.3
 * leaves interval and scope to the device).
 *
 * The one rule: an interval is inferred, never read.  It is known only where gaps of
 * nearly one length came often, and where marked packets went without a CNP for its sake
 * if marks can be seen at all.  A scope stays possible until gaps contradict it.
 */
#ifndef ROCE_PACING_H
#define ROCE_PACING_H

#include "roce/histogram.h"
#include "roce/linkage.h"
#include "roce/packet.h"

#include <stdbool.h>
#include <stdint.h>

ROCE_BEGIN

/* What CNPs keep their distance by. */
typedef enum roce_pacing_scope {
    ROCE_PACING_QP,
    ROCE_PACING_PAIR,        /* source and destination address */
    ROCE_PACING_DESTINATION, /* destination address, whatever the source's is: seen from
                              * one source address it is the same as the pair */
    ROCE_PACING_PORT,
    ROCE_N_PACING_SCOPES,
} roce_pacing_scope;

/* From one CNP to the next one of the same queue pair; of the same pair of addresses,
 * where that was another queue pair's; of the same source, where that went to another
 * address. */
typedef enum roce_pacing_gap {
    ROCE_GAP_SAME_QP,
    ROCE_GAP_OTHER_QP,
    ROCE_GAP_OTHER_PAIR,
    ROCE_N_PACING_GAPS,
} roce_pacing_gap;

typedef struct roce_pacing {
    bool known;
    uint64_t interval_ns; /* the true one is this or a little less; while it is not
                           * known, the least gap so far, 0 without any */
    unsigned scopes;      /* bit n: scope n is possible; valid if known */
} roce_pacing;

/* One source of CNPs: an address at a capture point.  Valid until the tracker is freed.
 */
typedef struct roce_notifier {
    uint32_t point;
    roce_tenant tenant;
    roce_addr addr;
    uint64_t cnps;
    uint64_t first_frame;                    /* of its CNPs */
    roce_histogram gaps[ROCE_N_PACING_GAPS]; /* owned by the tracker */
    /* CE marks of data that it had sent a CNP about before: those that came so soon
     * behind it, within half of the least gap, that no answer to them was due, and the
     * later ones. */
    uint64_t marks_held_back, marks_later;
    roce_pacing pacing;
} roce_notifier;

/* The narrowest possible scope if that is the only one, or if it cannot be told from the
 * next one for want of a second source address; else ROCE_N_PACING_SCOPES. */
roce_pacing_scope
roce_pacing_scope_of(const roce_pacing *pacing);

/* "qp", "pair", "destination", "port"; "unknown" for ROCE_N_PACING_SCOPES. */
const char *
roce_pacing_scope_name(roce_pacing_scope scope);

ROCE_END

#endif
