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

#include "roce/linkage.h"
#include "roce/packet.h"

#include <stdbool.h>
#include <stdint.h>

ROCE_BEGIN

#define ROCE_PRIORITY_GLOBAL 8 /* the "priority" of an 802.3x pause */
#define ROCE_QUANTUM_BITS 512
#define ROCE_NO_PAUSE UINT32_MAX                     /* the number of no source */
#define ROCE_FASTEST_LINK_BPS UINT64_C(800000000000) /* IEEE 802.3df-2024 */

typedef enum roce_pause_end {
    ROCE_PAUSE_XON,
    ROCE_PAUSE_EXPIRED,
    ROCE_PAUSE_CAPTURE_END,
} roce_pause_end;

typedef struct roce_pause_interval {
    uint64_t start_ns, end_ns;
    roce_pause_end end;
} roce_pause_interval;

/* Stamps that step back by more are those of a clock that was set. */
#define ROCE_SET_BACK_NS 1000000

/* Whether a clock was set back that has shown `newest_ns` before it shows `now_ns`. */
static inline bool
roce_is_set_back(uint64_t now_ns, uint64_t newest_ns)
{
    return newest_ns > now_ns && newest_ns - now_ns > ROCE_SET_BACK_NS;
}

#define ROCE_PAUSE_INTERVALS 256 /* kept per source and priority; totals go on */

/* One source and priority.  Valid until the next one is new. */
typedef struct roce_pause_source {
    uint32_t point;
    uint8_t src_mac[6];
    uint8_t priority; /* 0..7, or ROCE_PRIORITY_GLOBAL */
    bool
        speed_known; /* times below are in ns; else nobody knows when a pause ran out, and
                       * one that no XON ends is no interval */
    uint64_t link_speed_bps;
    uint64_t xoff, refresh, xon, expired;
    uint64_t total_ns, longest_ns;
    uint64_t least_ns; /* for so long at least, whatever the speed: up to
                        * ROCE_FASTEST_LINK_BPS */
    uint64_t
        total_quanta; /* asked for, refreshes replacing what was left not deducted */
    uint64_t n_intervals;
    uint64_t n_listed;
    /* The first ROCE_PAUSE_INTERVALS of them, each behind the one before: what a clock that
     * was set back has stamped is not among them as long as it is behind. */
    roce_pause_interval *intervals;
    roce_pause_interval newest; /* kept or not; valid if n_intervals > 0 */
    bool lasts; /* to the end of the capture, which has been reached; not where a clock
                 * was set back in it */
    uint64_t first_frame;
    uint64_t xoff_frame; /* that began the newest pause */
    bool paused; /* by the newest frame; that the time has run out since shows with the
                  * next one: see roce_pause_is_on() */
    uint64_t start_ns, until_ns; /* of the newest pause; the end only if speed_known */
} roce_pause_source;

/* Duration of a number of quanta in ns, rounded down; `link_speed_bps` is not 0. */
static inline uint64_t
roce_quanta_to_ns(uint32_t quanta, uint64_t link_speed_bps)
{
    return (uint64_t)quanta * ROCE_QUANTUM_BITS * 1000000000u / link_speed_bps;
}

/* Whether the source holds its priority at a time that is no earlier than its newest
 * frame. */
static inline bool
roce_pause_is_on(const roce_pause_source *p, uint64_t time_ns)
{
    return p->paused && (!p->speed_known || time_ns < p->until_ns);
}

/* For how long it has held it until then, in all; `speed_known` holds. */
static inline uint64_t
roce_pause_total_at(const roce_pause_source *p, uint64_t time_ns)
{
    uint64_t until_ns = time_ns < p->until_ns ? time_ns : p->until_ns;
    return p->total_ns +
           (p->paused && until_ns > p->start_ns ? until_ns - p->start_ns : 0);
}

ROCE_END

#endif
