/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pause intervals per capture point, source MAC and priority (IEEE 802.1Q clause 36,
 * IEEE 802.3 annex 31B).
 *
 * The one rule: an enabled priority with a time replaces the timer, with time 0 it ends
 * the pause, a clear bit leaves it alone; otherwise the timer runs out.  Paused time is
 * the union of these intervals.
 */
#ifndef ROCE_PAUSE_H
#define ROCE_PAUSE_H

#include "roce/packet.h"

#include <stdbool.h>
#include <stdint.h>

#define ROCE_PRIORITY_GLOBAL 8 /* the "priority" of an 802.3x pause */
#define ROCE_QUANTUM_BITS 512

typedef enum roce_pause_end {
    ROCE_PAUSE_XON,
    ROCE_PAUSE_EXPIRED,
    ROCE_PAUSE_CAPTURE_END,
} roce_pause_end;

typedef struct roce_pause_interval {
    uint64_t start_ns, end_ns;
    roce_pause_end end;
} roce_pause_interval;

#define ROCE_PAUSE_INTERVALS 256 /* kept per source and priority; totals go on */

/* One source and priority.  Valid until the tracker is freed. */
typedef struct roce_pause_source {
    uint32_t point;
    uint8_t src_mac[6];
    uint8_t priority; /* 0..7, or ROCE_PRIORITY_GLOBAL */
    bool speed_known; /* times below are in ns; else expiry cannot be told and they end
                       * at the next frame or at the end of the capture */
    uint64_t link_speed_bps;
    uint64_t xoff, refresh, xon, expired;
    uint64_t total_ns, longest_ns;
    uint64_t
        total_quanta; /* asked for, refreshes replacing what was left not deducted */
    uint64_t n_intervals;
    roce_pause_interval *intervals; /* the first ROCE_PAUSE_INTERVALS of them */
    roce_pause_interval newest;     /* kept or not; valid if n_intervals > 0 */
    uint64_t first_frame;
    uint64_t xoff_frame; /* that began the newest pause */
} roce_pause_source;

/* Duration of a number of quanta in ns; `link_speed_bps` is not 0. */
static inline uint64_t
roce_quanta_to_ns(uint32_t quanta, uint64_t link_speed_bps)
{
    return (uint64_t)quanta * ROCE_QUANTUM_BITS * 1000000000u / link_speed_bps;
}

#endif
