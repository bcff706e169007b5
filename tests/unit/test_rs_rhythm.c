/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which host sent in which iteration: what is kept of it, and no more. */
#include "alloc.h"
#include "collective.h"

#include "sight_maker.h"

#define ITERATIONS 32
#define PERIOD_NS 1000000
#define PACKETS 8 /* of each host in an iteration */

/* Host 0 sends in each iteration, host 1 in every other one. */
static gboolean
sends(unsigned host, unsigned iteration)
{
    return host == 0 || iteration % 2 == 0;
}

static void
send_all(rs_collective *collective)
{
    sight_maker m;
    sight_maker_init(&m);
    for (unsigned i = 0; i < ITERATIONS; i++) {
        for (unsigned k = 0; k < PACKETS; k++) {
            for (unsigned host = 0; host < 2; host++) {
                /* Each iteration has as many bytes. */
                unsigned stream = sends(host, i) ? host : 0;
                rs_collective_packet(
                    collective,
                    make_sight(&m, stream, i * PERIOD_NS + k * 1000 + host * 100));
            }
        }
    }
}

static void
check_turns(const rs_rhythm *rhythm)
{
    CHECK_INT(rhythm->iterations->len, ITERATIONS);
    for (unsigned host = 0; host < 2; host++) {
        /* Host 0 is node 0, the receiver 1, host 1 node 2. */
        guint32 node = host * 2;
        guint kept = 0;
        for (unsigned i = 0; i < ITERATIONS; i++) {
            const rs_turn *turn = rs_rhythm_turn(rhythm, node, i);
            CHECK_INT(turn != NULL, sends(host, i));
            if (turn != NULL) {
                kept++;
                CHECK_INT(turn->first_ns, START_NS + i * PERIOD_NS + host * 100);
            }
        }
        const GArray *turns = g_ptr_array_index(rhythm->turns, node);
        CHECK_INT(turns->len, kept);
    }
    CHECK(rs_rhythm_turn(rhythm, 1, 0) == NULL);
}

int
main(void)
{
    const roce_alloc alloc = rs_alloc_make();
    roce_tracker_config config;
    roce_tracker *tracker;
    roce_tracker_config_init(&config);
    (void)roce_tracker_new(&tracker, &alloc, &config);
    rs_collective *collective = rs_collective_new();
    send_all(collective);
    rs_collective_finish(collective, tracker);
    const rs_rhythm *rhythm = rs_collective_rhythm(collective);
    CHECK(rhythm != NULL);
    if (rhythm != NULL) {
        check_turns(rhythm);
    }
    rs_collective_free(collective);
    roce_tracker_free(tracker);
    return check_status();
}
