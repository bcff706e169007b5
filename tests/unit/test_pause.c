/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PFC and PAUSE: intervals per point, source and priority. */
#include "scenario.h"

#define GBPS ((uint64_t)1000000000)

/* What one source and priority did; the first ones of the capture, in order. */
typedef struct wanted_pause {
    uint8_t mac, priority;
    uint64_t xoff, refresh, xon, expired, n_intervals;
    uint64_t total_ns, longest_ns;
    int last_end; /* roce_pause_end, or -1 when there is no interval */
} wanted_pause;

/* A quantum at 100G is 5.12 ns: 65535 of them 335,539 ns, 1000 of them 5,120 ns. */
/* clang-format off */
static const struct {
    const char *name, *script;
    uint64_t speed_bps;
    uint32_t n;
    wanted_pause want[3];
    const char *events;
} cases[] = {
    {"XOFF and XON", "s pfc 3 q=65535; +99; s pfc 3 q=0", 100 * GBPS, 1,
     {{0, 3, 1, 0, 1, 0, 1, 100000, 100000, ROCE_PAUSE_XON}},
     "pause_xoff detail=3 n=65535; pause_xon detail=3 us=100"},
    {"XOFF just before it expires is ended by XON", "s pfc 3 q=65535; +334; "
               "s pfc 3 q=0", 100 * GBPS, 1,
     {{0, 3, 1, 0, 1, 0, 1, 335000, 335000, ROCE_PAUSE_XON}}, "no pause_expired"},
    {"XOFF expires, and the XON behind it is none", "s pfc 3 q=65535; +335; "
               "s pfc 3 q=0", 100 * GBPS, 1,
     {{0, 3, 1, 0, 1, 1, 1, 335539, 335539, ROCE_PAUSE_EXPIRED}},
     "pause_xoff; pause_expired us=335; pause_xon us=0"},
    {"XOFF expires by itself", "s pfc 3 q=1000; +1000; a write 0", 100 * GBPS, 1,
     {{0, 3, 1, 0, 0, 1, 1, 5120, 5120, ROCE_PAUSE_EXPIRED}}, "pause_expired us=5"},
    {"XOFF lasts to the end of the capture", "s pfc 3 q=65535; +99; "
               "a write 0", 100 * GBPS, 1,
     {{0, 3, 1, 0, 0, 0, 1, 100000, 100000, ROCE_PAUSE_CAPTURE_END}}, "no "
               "pause_expired"},
    {"XON alone", "s pfc 3 "
               "q=0", 100 * GBPS, 1, {{0, 3, 0, 0, 1, 0, 0, 0, 0, -1}}, NULL},
    {"a refresh replaces the timer", "s pfc 3 q=65535; +299; s pfc 3 q=65535; +299; "
               "s pfc 3 q=0", 100 * GBPS, 1,
     {{0, 3, 1, 1, 1, 0, 1, 600000, 600000, ROCE_PAUSE_XON}}, "pause_xoff; "
               "pause_refresh; pause_xon us=600"},
    {"a shorter refresh shortens it", "s pfc 3 q=65535; +9; s pfc 3 q=1000; +1000; "
               "a write 0", 100 * GBPS, 1,
     {{0, 3, 1, 1, 0, 1, 1, 15120, 15120, ROCE_PAUSE_EXPIRED}}, NULL},
    {"after expiry it is no refresh", "s pfc 3 q=1000; +99; s pfc 3 q=1000; +99; "
               "a write 0", 100 * GBPS, 1,
     {{0, 3, 2, 0, 0, 2, 2, 10240, 5120, ROCE_PAUSE_EXPIRED}}, "pause_xoff; "
               "pause_expired; pause_xoff; no pause_refresh"},
    {"10G: a quantum is 51.2 ns", "s pfc 3 q=65535; +9000; a write 0", 10 * GBPS, 1,
     {{0, 3, 1, 0, 0, 1, 1, 3355392, 3355392, ROCE_PAUSE_EXPIRED}}, NULL},
    {"25G: a quantum is 20.48 ns", "s pfc 3 q=65535; +9000; a write 0", 25 * GBPS, 1,
     {{0, 3, 1, 0, 0, 1, 1, 1342156, 1342156, ROCE_PAUSE_EXPIRED}}, NULL},
    {"200G: a quantum is 2.56 ns", "s pfc 3 q=65535; +1000; a write 0", 200 * GBPS, 1,
     {{0, 3, 1, 0, 0, 1, 1, 167769, 167769, ROCE_PAUSE_EXPIRED}}, NULL},
    {"each end is rounded down by itself: 3 times 2.56 ns", "s pfc 3 q=1; +1; "
               "s pfc 3 q=1; +1; s pfc 3 q=1; +1; a write 0", 200 * GBPS, 1,
     {{0, 3, 3, 0, 0, 3, 3, 6, 2, ROCE_PAUSE_EXPIRED}}, NULL},
    {"what comes as the time is up is no refresh", "t=0; s pfc 3 q=3125; t=16; "
               "s pfc 3 q=3125; t=32; s pfc 3 q=3125; +99; a write 0", 100 * GBPS, 1,
     {{0, 3, 3, 0, 0, 3, 3, 48000, 16000, ROCE_PAUSE_EXPIRED}}, "no pause_refresh"},
    {"400G: a quantum is 1.28 ns", "s pfc 3 q=65535; +1000; a write 0", 400 * GBPS, 1,
     {{0, 3, 1, 0, 0, 1, 1, 83884, 83884, ROCE_PAUSE_EXPIRED}}, NULL},
    {"800G", "s pfc 3 q=65535; +1000; a write 0", 800 * GBPS, 1,
     {{0, 3, 1, 0, 0, 1, 1, 41942, 41942, ROCE_PAUSE_EXPIRED}}, NULL},
    {"the longest of several", "s pfc 3 q=60000; +9; s pfc 3 q=0; +49; "
               "s pfc 3 q=60000; +29; s pfc 3 q=0",
     100 * GBPS, 1, {{0, 3, 2, 0, 2, 0, 2, 40000, 30000, ROCE_PAUSE_XON}}, NULL},
    {"unknown speed: ended by XON", "s pfc 3 q=65535; +999; s pfc 3 q=0", 0, 1,
     {{0, 3, 1, 0, 1, 0, 1, 1000000, 1000000, ROCE_PAUSE_XON}}, "no pause_expired"},
    {"two priorities in one frame", "s pfc 3,4 q=60000; +9; s pfc 3 q=0; +9; "
               "s pfc 4 q=0", 100 * GBPS, 2,
     {{0, 3, 1, 0, 1, 0, 1, 10000, 10000, ROCE_PAUSE_XON},
      {0, 4, 1, 0, 1, 0, 1, 20000, 20000, ROCE_PAUSE_XON}}, NULL},
    {"a clear bit leaves a priority alone", "s pfc 3 q=60000; +9; s pfc 4 q=0; +9; "
               "s pfc 3 q=0", 100 * GBPS, 2,
     {{0, 3, 1, 0, 1, 0, 1, 20000, 20000, ROCE_PAUSE_XON},
      {0, 4, 0, 0, 1, 0, 0, 0, 0, -1}}, NULL},
    {"two sources", "s1 pfc 3 q=60000; +8; s2 pfc 3 q=60000; +9; s1 pfc 3 q=0; +9; "
               "s2 pfc 3 q=0",
     100 * GBPS, 2,
     {{1, 3, 1, 0, 1, 0, 1, 19000, 19000, ROCE_PAUSE_XON},
      {2, 3, 1, 0, 1, 0, 1, 20000, 20000, ROCE_PAUSE_XON}}, NULL},
    {"two points", "s pfc 3 q=60000; s pfc 3 q=60000 point=1; +9; "
               "s pfc 3 q=0", 100 * GBPS, 2,
     {{0, 3, 1, 0, 1, 0, 1, 11000, 11000, ROCE_PAUSE_XON},
      {0, 3, 1, 0, 0, 0, 1, 10000, 10000, ROCE_PAUSE_CAPTURE_END}}, NULL},
    {"802.3x is no priority", "s pause q=65535; +99; s pause q=0", 100 * GBPS, 1,
     {{0, ROCE_PRIORITY_GLOBAL, 1, 0, 1, 0, 1, 100000, 100000, ROCE_PAUSE_XON}},
     "pause_xoff detail=8; pause_xon detail=8"},
    {"802.3x and PFC apart", "s pause q=65535; s pfc 0 q=65535; +9; s pfc 0 q=0; +9; "
               "s pause q=0",
     100 * GBPS, 2,
     {{0, ROCE_PRIORITY_GLOBAL, 1, 0, 1, 0, 1, 21000, 21000, ROCE_PAUSE_XON},
      {0, 0, 1, 0, 1, 0, 1, 10000, 10000, ROCE_PAUSE_XON}}, NULL},
    {"a PFC frame that enables nothing", "s pfc 3 q=60000; +9; a write 0; "
               "s pfc 4 q=0; +9; s pfc 3 q=0",
     100 * GBPS, 2, {{0, 3, 1, 0, 1, 0, 1, 21000, 21000, ROCE_PAUSE_XON}, {0, 4, 0, 0, 1, 0, 0, 0, 0, -1}}, NULL},
    {"the clock steps back: no negative duration", "t=5000; s pfc 3 q=60000; t=1000; "
               "s pfc 3 q=0", 100 * GBPS, 1,
     {{0, 3, 1, 0, 1, 0, 1, 0, 0, ROCE_PAUSE_CAPTURE_END}}, NULL},
    {"by as little as stamps are out of order", "t=5000; s pfc 3 q=60000; t=4000; "
               "s pfc 3 q=0", 100 * GBPS, 1,
     {{0, 3, 1, 0, 1, 0, 1, 0, 0, ROCE_PAUSE_XON}}, NULL},
    {"the clock steps back to what would be a refresh", "t=5000; s pfc 3 q=1000; t=1000; "
               "s pfc 3 q=1000; t=9000; s pfc 3 q=0",
     100 * GBPS, 1, {{0, 3, 2, 0, 1, 1, 2, 5120, 5120, ROCE_PAUSE_EXPIRED}}, NULL},
    {"the clock steps back during a pause, and pauses are as long as before",
     "t=9000; s pfc 3 q=60000; t=9100; s pfc 3 q=60000; t=2000; s pfc 3 q=60000; t=2050; "
     "s pfc 3 q=0; t=3000; s pfc 3 q=60000; t=3020; s pfc 3 q=0",
     100 * GBPS, 1, {{0, 3, 3, 1, 2, 0, 3, 170000, 100000, ROCE_PAUSE_XON}}, NULL},
    {"the clock steps back into an interval: what is counted once is not counted again",
     "t=5000; s pfc 3 q=65535; t=5100; s pfc 3 q=0; t=5050; s pfc 3 q=65535; t=5150; "
     "s pfc 3 q=0",
     100 * GBPS, 1, {{0, 3, 2, 0, 2, 0, 2, 150000, 100000, ROCE_PAUSE_XON}}, NULL},
    {"priority 7 and 0", "s pfc 0,7 q=100; +99; a write 0", 100 * GBPS, 2,
     {{0, 0, 1, 0, 0, 1, 1, 512, 512, ROCE_PAUSE_EXPIRED}, {0, 7, 1, 0, 0, 1, 1, 512, 512, ROCE_PAUSE_EXPIRED}}, NULL},
};
/* clang-format on */

static void
check_source(const roce_pause_source *p, const wanted_pause *w, uint64_t speed)
{
    CHECK_INT(p->priority, w->priority);
    CHECK_INT(p->src_mac[5], w->mac);
    CHECK_INT(p->xoff, w->xoff);
    CHECK_INT(p->refresh, w->refresh);
    CHECK_INT(p->xon, w->xon);
    CHECK_INT(p->expired, w->expired);
    CHECK_INT(p->total_ns, w->total_ns);
    CHECK_INT(p->longest_ns, w->longest_ns);
    CHECK_INT(p->speed_known, speed != 0);
    CHECK_INT(p->link_speed_bps, speed);
    if (CHECK_INT(p->n_intervals, w->n_intervals) && p->n_intervals > 0) {
        CHECK_INT(p->newest.end, w->last_end);
        CHECK(p->n_listed > 0 && p->n_listed <= p->n_intervals);
    }
    for (uint64_t i = 1; i < p->n_listed; i++) {
        CHECK(p->intervals[i - 1].end_ns <= p->intervals[i].start_ns);
    }
}

static void
check_cases(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        scenario row = {.name = cases[i].name,
                        .script = cases[i].script,
                        .events = cases[i].events,
                        .link_speed_bps = cases[i].speed_bps};
        scenario_outcome out;
        scenario_check(&row, __FILE__, __LINE__);
        check_row(row.name);
        scenario_play(&row, &out);
        if (CHECK_INT(roce_tracker_n_pauses(out.tracker), cases[i].n)) {
            for (uint32_t k = 0; k < cases[i].n && k < 3; k++) {
                check_source(roce_tracker_pause(out.tracker, k), &cases[i].want[k],
                             cases[i].speed_bps);
            }
        }
        scenario_outcome_clear(&out);
    }
    check_row(NULL);
}

/* Without a speed nobody can tell when a pause expired, so no time may be claimed that
 * is longer than what is sure: an interval that no XON ended has no length. */
static void
check_unknown_speed(void)
{
    scenario row = {.name = "unknown speed, no XON: no length is claimed",
                    .script = "s pfc 3 q=1; +1000000; a write 0"};
    scenario_outcome out;
    check_row(row.name);
    scenario_play(&row, &out);
    if (CHECK_INT(roce_tracker_n_pauses(out.tracker), 1)) {
        const roce_pause_source *p = roce_tracker_pause(out.tracker, 0);
        CHECK(!p->speed_known);
        CHECK_INT(p->total_quanta, 1);
        CHECK_INT(p->expired, 0);
        CHECK_INT(p->total_ns, 0);
    }
    scenario_outcome_clear(&out);
    check_row(NULL);
}

/* The first intervals are kept, all are counted. */
static void
check_many_intervals(void)
{
    static char script[ROCE_PAUSE_INTERVALS * 64];
    size_t at = 0;
    for (unsigned i = 0; i < ROCE_PAUSE_INTERVALS + 1; i++) {
        at += (size_t)snprintf(script + at, sizeof script - at,
                               "s pfc 3 q=60000; +9; s pfc 3 q=0; ");
    }
    scenario row = {.name = "more intervals than are kept",
                    .script = script,
                    .link_speed_bps = 100 * GBPS};
    scenario_outcome out;
    check_row(row.name);
    scenario_play(&row, &out);
    if (CHECK_INT(roce_tracker_n_pauses(out.tracker), 1)) {
        const roce_pause_source *p = roce_tracker_pause(out.tracker, 0);
        CHECK_INT(p->n_intervals, ROCE_PAUSE_INTERVALS + 1);
        CHECK_INT(p->total_ns, (ROCE_PAUSE_INTERVALS + 1) * 10000);
        CHECK_INT(p->intervals[ROCE_PAUSE_INTERVALS - 1].end, ROCE_PAUSE_XON);
    }
    scenario_outcome_clear(&out);
    check_row(NULL);
}

int
main(void)
{
    check_cases();
    check_unknown_speed();
    check_many_intervals();
    return check_status();
}
