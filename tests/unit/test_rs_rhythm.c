/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which host sent in which iteration: what is kept of it, and no more. */
#include "alloc.h"
#include "collective.h"
#include "stragglers.h"

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
send_all_from(rs_collective *collective, guint64 start_ns)
{
    sight_maker m;
    sight_maker_init(&m);
    for (unsigned i = 0; i < ITERATIONS; i++) {
        for (unsigned k = 0; k < PACKETS; k++) {
            for (unsigned host = 0; host < 2; host++) {
                /* Each iteration has as many bytes. */
                unsigned stream = sends(host, i) ? host : 0;
                rs_sight *sight = make_sight(&m, stream, 0);
                m.frame.time_ns = start_ns + i * PERIOD_NS + k * 1000 + host * 100;
                rs_collective_packet(collective, sight);
            }
        }
    }
}

static void
check_turns_from(const rs_rhythm *rhythm, guint64 start_ns)
{
    CHECK_INT(rhythm->from_ns, start_ns);
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
                CHECK_INT(turn->first_ns, start_ns + i * PERIOD_NS + host * 100);
            }
        }
        const GArray *turns = g_ptr_array_index(rhythm->turns, node);
        CHECK_INT(turns->len, kept);
    }
    CHECK(rs_rhythm_turn(rhythm, 1, 0) == NULL);

    /* Both hosts begin the first iteration, host 1 as the last. */
    rs_group group = {.nodes = g_array_new(FALSE, FALSE, sizeof(guint32))};
    const guint32 nodes[] = {0, 2};
    g_array_append_vals(group.nodes, nodes, N_ROWS(nodes));
    rs_last_one last = rs_last_of(rhythm, &group, 0, RS_LAST_TO_BEGIN);
    CHECK_INT(last.node, 2);
    CHECK_INT(last.by_ns, 100);
    g_array_unref(group.nodes);
}

static void
send_all(rs_collective *collective)
{
    send_all_from(collective, START_NS);
}

static void
check_turns(const rs_rhythm *rhythm)
{
    check_turns_from(rhythm, START_NS);
}

/* As a simulator's clock has it. */
static void
send_all_from_0(rs_collective *collective)
{
    send_all_from(collective, 0);
}

static void
check_turns_from_0(const rs_rhythm *rhythm)
{
    check_turns_from(rhythm, 0);
}

/* ---- one that others are louder than ---- */

typedef struct sent {
    guint64 at_ns;
    guint host, bytes;
} sent;

static gint
by_time(gconstpointer a, gconstpointer b)
{
    const sent *x = a;
    const sent *y = b;
    return x->at_ns < y->at_ns ? -1 : x->at_ns > y->at_ns;
}

static void
add_burst(GArray *all, guint64 at_ns, guint host, guint bytes, guint64 spread_ns)
{
    for (guint k = 0; k < 16; k++) {
        const sent one = {at_ns + k * k % 17 * spread_ns, host, bytes};
        g_array_append_val(all, one);
    }
}

/* Host 0 sends in each millisecond, and three others in nearly each, so that together they
 * have no rhythm unless those, which are less loud, are background; host 4, the loudest,
 * sends at random.  Each of the former keeps time by itself, whatever is background. */
static void
send_with_background(rs_collective *collective)
{
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(sent));
    g_autoptr(GRand) random = g_rand_new_with_seed(1);
    for (guint i = 0; i < 40; i++) {
        add_burst(all, i * (guint64)PERIOD_NS, 0, 1000, 10000);
        for (guint host = 1; host <= 3; host++) {
            guint64 period_ns = PERIOD_NS / 100 * (109 - 4 * host);
            add_burst(all, i * period_ns, host, 200, 20000);
        }
    }
    for (guint i = 0; i < 3000; i++) {
        const sent one = {(guint64)g_rand_int_range(random, 0, 40 * PERIOD_NS), 2,
                          1000};
        g_array_append_val(all, one);
    }
    g_array_sort(all, by_time);
    sight_maker m;
    sight_maker_init(&m);
    for (guint i = 0; i < all->len; i++) {
        const sent *one = &g_array_index(all, sent, i);
        rs_sight *sight = make_sight(&m, one->host, one->at_ns);
        m.packet.payload_bytes = one->bytes;
        rs_sight_complete(sight);
        rs_collective_packet(collective, sight);
    }
}

static void
check_background(const rs_rhythm *rhythm)
{
    CHECK_INT(rhythm->period.p50, PERIOD_NS);
    CHECK_INT(rhythm->share, 2);
    CHECK(!rhythm->all_edges);
    CHECK_INT(rhythm->edges->len, 3);
}

static void
check_rhythm(void (*send)(rs_collective *collective),
             void (*check)(const rs_rhythm *rhythm), const roce_tracker *tracker)
{
    rs_collective *collective = rs_collective_new();
    send(collective);
    g_autoptr(GArray) files = g_array_new(FALSE, TRUE, sizeof(guint32));
    g_array_set_size(files, 1);
    rs_collective_finish(collective, tracker, files);
    const rs_rhythm *rhythm = rs_collective_rhythm(collective);
    if (CHECK(rhythm != NULL)) {
        check(rhythm);
    }
    rs_collective_free(collective);
}

int
main(void)
{
    const roce_alloc alloc = rs_alloc_make();
    roce_tracker_config config;
    roce_tracker *tracker;
    roce_tracker_config_init(&config);
    (void)roce_tracker_new(&tracker, &alloc, &config);
    check_rhythm(send_all, check_turns, tracker);
    check_rhythm(send_all_from_0, check_turns_from_0, tracker);
    check_rhythm(send_with_background, check_background, tracker);
    roce_tracker_free(tracker);
    return check_status();
}
