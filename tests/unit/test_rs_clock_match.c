/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two clocks compared by packets: offset, drift, steps, variation. */
#include "clock_match.h"

#include "check.h"

#define US ((gint64)1000)
#define MS ((gint64)1000000)
#define S ((gint64)1000000000)
#define H (3600 * S)

/* A stream of packets both ways, and what is wrong with the second clock. */
typedef struct traffic {
    const char *name;
    guint n;                    /* packets */
    gint64 apart_ns;            /* from one to the next */
    guint back_every;           /* one in so many goes backward; 0: none, 1: all */
    gint64 delay_ns;            /* least, of each way */
    guint64 jitter_ns;          /* on top, at random; */
    guint queue_from, queue_to; /* packets forward that wait for queue_ns more */
    gint64 queue_ns;
    gint64 offset_ns, drift_ppb;
    guint step_at; /* packet; 0: none */
    gint64 step_ns;
    gint64 unit_ns[2]; /* of stamps; 0: a nanosecond */
    /* what has to come out */
    gint64 want_offset_ns, off_by_ns;
    gint64 want_drift_ppb; /* to 1 ppm, and more where it is said to be less sure */
    gboolean want_drift;
    guint want_steps;
} traffic;

static guint64
next_random(guint64 *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void
run(const traffic *t, rs_clock *clock)
{
    guint64 state = 7;
    for (guint i = 0; i < t->n; i++) {
        gboolean back = t->back_every > 0 && i % t->back_every == 0;
        gint64 at = (gint64)i * t->apart_ns;
        gint64 delay = t->delay_ns;
        delay += t->jitter_ns > 0 ? (gint64)(next_random(&state) % t->jitter_ns) : 0;
        delay += !back && i >= t->queue_from && i < t->queue_to ? t->queue_ns : 0;
        gint64 wrong =
            t->offset_ns + (gint64)((double)at * 1e-9 * (double)t->drift_ppb);
        wrong += t->step_at > 0 && i >= t->step_at ? t->step_ns : 0;
        gint64 there = at + (back ? wrong - delay : wrong + delay);
        gint64 stamp = at - at % MAX(t->unit_ns[0], 1);
        there -= there % MAX(t->unit_ns[1], 1);
        const rs_clock_pair pair = {
            .at_ns = stamp,
            .difference_ns = there - stamp,
            .frame = {i + 1, i + 1},
        };
        rs_clock_add(clock, back ? RS_CLOCK_BACKWARD : RS_CLOCK_FORWARD, &pair);
    }
}

static gint64
distance(gint64 a, gint64 b)
{
    return a > b ? a - b : b - a;
}

/* clang-format off */
static const traffic cases[] = {
    {.name = "one clock, nothing else", .n = 1000, .apart_ns = US, .back_every = 2, .delay_ns = 5 * US,
     .want_drift = TRUE},
    {.name = "an hour ahead", .n = 1000, .apart_ns = 10 * US, .back_every = 3, .delay_ns = 5 * US, .jitter_ns = 3000,
     .offset_ns = H, .want_offset_ns = H, .off_by_ns = US},
    {.name = "a day behind, and slow", .n = 20000, .apart_ns = 100 * US, .back_every = 4, .delay_ns = 5 * US, .jitter_ns = 3000,
     .offset_ns = -24 * H, .drift_ppb = -100000, .want_offset_ns = -24 * H, .off_by_ns = US,
     .want_drift = TRUE, .want_drift_ppb = -100000},
    {.name = "more packets than are kept", .n = 300000, .apart_ns = 10 * US, .back_every = 5, .delay_ns = 5 * US, .jitter_ns = 3000,
     .offset_ns = -S, .drift_ppb = 35000, .want_offset_ns = -S, .off_by_ns = US,
     .want_drift = TRUE, .want_drift_ppb = 35000},
    {.name = "one packet", .n = 1, .delay_ns = 5 * US, .offset_ns = S, .want_offset_ns = S, .off_by_ns = 5 * US},
    {.name = "one way: the delay is in it", .n = 1000, .apart_ns = US, .delay_ns = 5 * US,
     .offset_ns = S, .want_offset_ns = S + 5 * US, .want_drift = TRUE},
    {.name = "the other way alone", .n = 1000, .apart_ns = US, .back_every = 1, .delay_ns = 5 * US,
     .offset_ns = S, .want_offset_ns = S - 5 * US, .want_drift = TRUE},
    {.name = "set back by 5 ms", .n = 4000, .apart_ns = 10 * US, .back_every = 3, .delay_ns = 5 * US, .jitter_ns = 3000,
     .step_at = 2000, .step_ns = -5 * MS, .off_by_ns = US, .want_steps = 1},
    {.name = "set ahead by an hour, drifting", .n = 20000, .apart_ns = 100 * US, .back_every = 3, .delay_ns = 5 * US, .jitter_ns = 3000,
     .drift_ppb = 50000, .step_at = 7000, .step_ns = H, .off_by_ns = US, .want_steps = 1,
     .want_drift = TRUE, .want_drift_ppb = 50000},
    {.name = "set back by a minute, few packets, drifting", .n = 1500, .apart_ns = 10 * MS, .back_every = 3, .delay_ns = 5 * US,
     .jitter_ns = 20000, .offset_ns = 5 * S, .drift_ppb = -20000, .step_at = 800, .step_ns = -60 * S,
     .want_offset_ns = 5 * S, .off_by_ns = 2 * US, .want_steps = 1, .want_drift = TRUE, .want_drift_ppb = -20000},
    {.name = "just too small to be a step", .n = 4000, .apart_ns = 10 * US, .back_every = 3, .delay_ns = 5 * US,
     .step_at = 2000, .step_ns = 90 * US, .off_by_ns = 100 * US},
    {.name = "a queue is no step", .n = 4000, .apart_ns = 10 * US, .back_every = 3, .delay_ns = 5 * US, .jitter_ns = 3000,
     .queue_from = 1000, .queue_to = 2000, .queue_ns = 5 * MS, .off_by_ns = US},
    {.name = "one way, a queue", .n = 4000, .apart_ns = 10 * US, .delay_ns = 5 * US, .jitter_ns = 3000,
     .queue_from = 1000, .queue_to = 2000, .queue_ns = 5 * MS, .want_offset_ns = 5 * US, .off_by_ns = US},
    {.name = "one way, set by a second", .n = 4000, .apart_ns = 10 * US, .delay_ns = 5 * US, .jitter_ns = 3000,
     .step_at = 1000, .step_ns = S, .want_offset_ns = 5 * US, .off_by_ns = US, .want_steps = 1},
    {.name = "stamps of microseconds at one point", .n = 1000, .apart_ns = 7777, .back_every = 4, .delay_ns = 300, .jitter_ns = 50,
     .offset_ns = S, .unit_ns = {1, US}, .want_offset_ns = S, .off_by_ns = US},
    {.name = "of microseconds at both, drifting by less", .n = 1000, .apart_ns = 7777, .back_every = 4, .delay_ns = 5 * US, .jitter_ns = 300,
     .offset_ns = S, .drift_ppb = 40000, .unit_ns = {US, US}, .want_offset_ns = S, .off_by_ns = 2 * US},
    {.name = "likewise, for longer", .n = 100000, .apart_ns = 7777, .back_every = 4, .delay_ns = 5 * US, .jitter_ns = 300,
     .offset_ns = S, .drift_ppb = 40000, .unit_ns = {US, US}, .want_offset_ns = S, .off_by_ns = 2 * US,
     .want_drift = TRUE, .want_drift_ppb = 40000},
    {.name = "delays hide the drift", .n = 1000, .apart_ns = 7777, .back_every = 4, .delay_ns = 300, .jitter_ns = 2000,
     .offset_ns = S, .drift_ppb = 90000, .want_offset_ns = S, .off_by_ns = US},
    {.name = "the last packets cannot tell", .n = 1000, .apart_ns = 10 * US, .back_every = 2, .delay_ns = 5 * US,
     .step_at = 994, .step_ns = MS, .off_by_ns = MS},
};
/* clang-format on */

static void
check_cases(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const traffic *t = &cases[i];
        g_autoptr(rs_clock) clock = rs_clock_new();
        rs_clock_fit fit;
        check_row(t->name);
        run(t, clock);
        gint64 coarse_ns = MAX(t->unit_ns[0], 1) + MAX(t->unit_ns[1], 1) - 2;
        rs_clock_solve(clock, (guint64)coarse_ns, &fit);
        CHECK(fit.known);
        CHECK_INT(fit.packets[0] + fit.packets[1], t->n);
        CHECK_INT(fit.n_steps, t->want_steps);
        if (!CHECK(distance(fit.offset_ns, t->want_offset_ns) <= t->off_by_ns + 2)) {
            fprintf(stderr, "offset %" G_GINT64_FORMAT "\n", fit.offset_ns);
        }
        if (t->want_drift && CHECK(fit.drift_known)) {
            gint64 sure = MAX((gint64)fit.drift_uncertainty_ppb, 1000);
            CHECK(distance(fit.drift_ppb, t->want_drift_ppb) <= sure);
        }
        if (fit.both_ways && t->want_steps == 0 && t->step_at == 0) {
            CHECK(distance(fit.offset_ns, t->offset_ns) <= (gint64)fit.uncertainty_ns);
        }
        if (fit.drift_known && t->unit_ns[1] > 0) {
            CHECK(distance(fit.drift_ppb, t->drift_ppb) <=
                  (gint64)fit.drift_uncertainty_ppb);
        }
        if (fit.n_steps == 1) {
            CHECK(distance(fit.steps[0].by_ns, t->step_ns) <= 3 * US);
            CHECK_INT(fit.steps[0].set, 1);
        }
    }
    check_row(NULL);
}

static void
check_variation(void)
{
    const traffic t = {.n = 4000,
                       .apart_ns = 10 * US,
                       .back_every = 3,
                       .delay_ns = 5 * US,
                       .queue_from = 100,
                       .queue_to = 102,
                       .queue_ns = 777 * US,
                       .offset_ns = -H};
    g_autoptr(rs_clock) clock = rs_clock_new();
    rs_clock_fit fit;
    rs_dist dist;
    run(&t, clock);
    rs_clock_solve(clock, 0, &fit);
    rs_clock_variation(clock, &fit, RS_CLOCK_FORWARD, &dist);
    CHECK_INT(dist.count, fit.packets[RS_CLOCK_FORWARD]);
    CHECK_INT(dist.p50, 0);
    CHECK(distance((gint64)dist.max, 777 * US) < US);
    rs_clock_variation(clock, &fit, RS_CLOCK_BACKWARD, &dist);
    CHECK_INT(dist.max, 0);
    rs_clock_solve_same(clock, &fit);
    CHECK_INT(fit.offset_ns, 0);
    CHECK_INT(fit.drift_ppb, 0);
}

/* A queue of one way has gone when one of the other way comes up: no clock was set, as the
 * least that packets take around it shows. */
static void
check_queues_that_change(void)
{
    g_autoptr(rs_clock) clock = rs_clock_new();
    rs_clock_fit fit;
    for (guint i = 0; i < 2000; i++) {
        gboolean back = i % 2 == 1;
        gboolean waits = back ? i >= 1000 && i < 1040 : i >= 960 && i < 1000;
        gint64 took = 5 * US + (waits ? 300 * US : 0);
        const rs_clock_pair pair = {
            .at_ns = i * 10 * US,
            .difference_ns = back ? -took : took,
            .frame = {i + 1, i + 1},
        };
        rs_clock_add(clock, back ? RS_CLOCK_BACKWARD : RS_CLOCK_FORWARD, &pair);
    }
    rs_clock_solve(clock, 0, &fit);
    CHECK_INT(fit.n_steps, 0);
    CHECK_INT(fit.offset_ns, 0);
}

static void
check_nothing(void)
{
    g_autoptr(rs_clock) clock = rs_clock_new();
    rs_clock_fit fit;
    rs_dist dist;
    rs_clock_solve(clock, 0, &fit);
    CHECK(!fit.known);
    rs_clock_variation(clock, &fit, RS_CLOCK_FORWARD, &dist);
    CHECK_INT(dist.count, 0);
}

static void
check_densest(void)
{
    /* clang-format off */
    static const struct {
        const char *name;
        gint64 differences[8];
        guint n;
        guint64 width_ns;
        guint want_n;
        gint64 want_ns;
    } rows[] = {
        {"none", {0}, 0, 10, 0, 0},
        {"one", {-5}, 1, 10, 1, -5},
        {"coincidences around", {900, 100, 104, -70000, 108, 5000}, 6, 10, 3, 104},
        {"just within", {0, 10}, 2, 10, 2, 10},
        {"just not within", {0, 11}, 2, 10, 1, 0},
        {"the ends of time", {G_MININT64, G_MAXINT64, 3, 4}, 4, 10, 2, 4},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(gint64));
        gint64 median_ns = 0;
        check_row(rows[i].name);
        g_array_append_vals(list, rows[i].differences, rows[i].n);
        CHECK_INT(rs_clock_densest(list, rows[i].width_ns, &median_ns), rows[i].want_n);
        CHECK_INT(median_ns, rows[i].want_ns);
    }
    check_row(NULL);
}

int
main(void)
{
    check_cases();
    check_variation();
    check_queues_that_change();
    check_nothing();
    check_densest();
    return check_status();
}
