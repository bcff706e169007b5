/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rates before and after CNPs.  A row is a list of phases: so many packets of a message
 * that never ends, each so far behind the one before, and what comes after them.
 */
#include "check.h"
#include "reaction.h"

#define WRITE_FIRST 0x06
#define WRITE_MIDDLE 0x07
#define WRITE_ONLY 0x0a
#define UDP_BYTES 1000 /* of IP payload: 8,000 bits */
#define START_NS 1000000000u
#define PHASES 4
#define LEAST_FOR_STOP 4 /* intervals, before one may be a stop */
#define ENOUGH (RS_RATE_PACKETS - LEAST_FOR_STOP) /* with these, for a window */

typedef enum behind {
    NOTHING,
    A_CNP,       /* comes with the next packet */
    AN_OPEN_CNP, /* whose data it is about is not known */
    A_MESSAGE,   /* begins: what lies between is no rate */
} behind;

typedef struct phase {
    unsigned packets;
    uint64_t every_ns;
    behind behind;
} phase;

#define GBPS(n) ((guint64)(n)*1000000000)

/* clang-format off */
static const struct {
    const char *name;
    phase phases[PHASES];
    uint8_t opcode;
    guint64 resolution_ns;
    /* wanted, of the first burst */
    guint64 cnps, before_bps, lowest_bps, first_bps;
    guint64 recovery_packets; /* of 1 us, until it is seen; 0: none */
} rows[] = {
    {"halved",
     {{40, 1000, A_CNP}, {40, 2000, NOTHING}},
     WRITE_MIDDLE, 1, 1, GBPS(8), GBPS(4), GBPS(4), 0},
    {"and back",
     {{40, 1000, A_CNP}, {40, 2000, NOTHING}, {40, 1000, NOTHING}},
     WRITE_MIDDLE, 1, 1, GBPS(8), GBPS(4), GBPS(4), 80 + 16},
    {"the first CNP came when nobody knew whose data it was about",
     {{40, 1000, AN_OPEN_CNP}, {20, 2000, A_CNP}, {40, 4000, NOTHING}},
     WRITE_MIDDLE, 1, 2, GBPS(8), GBPS(2), 0, 0},
    {"and longer ago than packets are remembered",
     {{40, 1000, AN_OPEN_CNP}, {98, 2000, A_CNP}, {40, 4000, NOTHING}},
     WRITE_MIDDLE, 1, 2, GBPS(8), GBPS(2), 0, 0},
    {"and the one behind it as well",
     {{40, 1000, AN_OPEN_CNP}, {20, 2000, AN_OPEN_CNP}, {20, 2000, A_CNP},
      {40, 4000, NOTHING}},
     WRITE_MIDDLE, 1, 3, GBPS(8), GBPS(2), 0, 0},
    {"of two such bursts the rate before the second is not known",
     {{40, 1000, AN_OPEN_CNP}, {101, 2000, AN_OPEN_CNP}, {20, 2000, A_CNP},
      {40, 4000, NOTHING}},
     WRITE_MIDDLE, 1, 2, 0, GBPS(2), 0, 0},
    {"or that it is another burst",
     {{40, 1000, AN_OPEN_CNP}, {101, 2000, A_CNP}, {40, 4000, NOTHING}},
     WRITE_MIDDLE, 1, 1, GBPS(4), GBPS(2), GBPS(2), 0},
    {"the second CNP finds it halved",
     {{40, 1000, A_CNP}, {40, 2000, A_CNP}, {40, 4000, NOTHING}},
     WRITE_MIDDLE, 1, 2, GBPS(8), GBPS(2), GBPS(4), 0},
    {"a second CNP before a window",
     {{40, 1000, A_CNP}, {15, 2000, A_CNP}, {40, 4000, NOTHING}},
     WRITE_MIDDLE, 1, 2, GBPS(8), GBPS(2), 0, 0},
    {"and behind just one",
     {{40, 1000, A_CNP}, {16, 2000, A_CNP}, {40, 4000, NOTHING}},
     WRITE_MIDDLE, 1, 2, GBPS(8), GBPS(2), GBPS(4), 0},
    {"a CNP before there is a window",
     {{15, 1000, A_CNP}, {40, 2000, NOTHING}},
     WRITE_MIDDLE, 1, 1, 0, GBPS(4), GBPS(4), 0},
    {"and behind just one, from the first packet on",
     {{16, 1000, A_CNP}, {40, 2000, NOTHING}},
     WRITE_MIDDLE, 1, 1, GBPS(8), GBPS(4), GBPS(4), 0},
    {"one stop is no rate",
     {{40, 1000, A_CNP}, {1, 100000, NOTHING}, {39, 1000, NOTHING}},
     WRITE_MIDDLE, 1, 1, GBPS(8), GBPS(8), GBPS(8), 0},
    {"two long intervals are one",
     {{40, 1000, A_CNP}, {40, 20000, NOTHING}},
     WRITE_MIDDLE, 1, 1, GBPS(8), GBPS(8) / 20, GBPS(8) / 20, 0},
    {"idle between messages",
     {{40, 1000, A_CNP}, {20, 1000, A_MESSAGE}, {1, 500000, NOTHING},
      {39, 1000, NOTHING}},
     WRITE_MIDDLE, 1, 1, GBPS(8), GBPS(8), GBPS(8), 0},
    {"messages of one packet",
     {{40, 1000, A_CNP}, {40, 2000, NOTHING}},
     WRITE_ONLY, 1, 0, 0, 0, 0, 0},
    {"equal stamps",
     {{40, 0, A_CNP}, {40, 0, NOTHING}},
     WRITE_MIDDLE, 1, 1, 0, 0, 0, 0},
    {"just fine enough stamps",
     {{40, 1000, A_CNP}, {40, 2000, NOTHING}},
     WRITE_MIDDLE, 800, 1, GBPS(8), GBPS(4), GBPS(4), 0},
    {"stamps too coarse",
     {{40, 1000, A_CNP}, {40, 2000, NOTHING}},
     WRITE_MIDDLE, 801, 1, 0, 0, 0, 0},
    {"a rate of long ago",
     {{40, 1000, A_MESSAGE}, {1, 11000000, A_CNP}, {40, 2000, NOTHING}},
     WRITE_MIDDLE, 1, 1, 0, GBPS(4), GBPS(4), 0},
};
/* clang-format on */

static void
see(rs_reactions *reactions, const roce_stream *stream, gint64 psn, guint64 now,
    uint8_t opcode)
{
    const roce_frame frame = {.number = 1, .time_ns = now};
    const roce_packet packet = {
        .has_bth = true,
        .payload_bytes = UDP_BYTES - 24,
        .udp_length = UDP_BYTES,
        .bth = {.opcode = opcode},
    };
    const roce_sighting sighting = {.sequenced = true, .psn = psn};
    rs_sight sight = {
        .frame = &frame, .packet = &packet, .stream = stream, .sighting = &sighting};
    rs_sight_complete(&sight);
    rs_reactions_meet(reactions, &sight);
    rs_reactions_packet(reactions, &sight);
}

static void
play(rs_reactions *reactions, gsize row)
{
    const roce_stream stream = {.id = 0};
    const uint8_t opcode = rows[row].opcode;
    guint64 now = START_NS;
    gint64 psn = 0;
    see(reactions, &stream, psn++, now, opcode == WRITE_ONLY ? opcode : WRITE_FIRST);
    for (guint i = 0; i < PHASES; i++) {
        const phase *p = &rows[row].phases[i];
        for (guint k = 0; k < p->packets; k++) {
            now += p->every_ns;
            see(reactions, &stream, psn++, now, opcode);
        }
        if (p->behind == A_CNP) {
            const rs_occurrence cnp = {
                .event = {.kind = ROCE_EVENT_CNP, .time_ns = now},
                .carrier = 1,
            };
            rs_reactions_cnp(reactions, &cnp);
        } else if (p->behind == AN_OPEN_CNP) {
            const roce_stream carrier = {.id = 1};
            const rs_occurrence cnp = {
                .event = {.kind = ROCE_EVENT_CNP, .time_ns = now, .stream = 1},
                .stream = &carrier,
                .carrier = 1,
            };
            rs_reactions_open_cnp(reactions, &cnp);
        } else if (p->behind == A_MESSAGE) {
            psn += 100; /* what lies between was not seen */
        }
    }
    rs_reactions_finish(reactions, rows[row].resolution_ns);
}

static void
check(const rs_reactions *reactions, gsize row)
{
    guint n;
    guint64 n_all;
    const rs_cnp_burst *burst = rs_reactions_bursts(reactions, 0, &n, &n_all);
    check_row(rows[row].name);
    CHECK_INT(n, n_all);
    if (burst == NULL) {
        CHECK_INT(rows[row].cnps, 0);
        return;
    }
    const rs_cnp_burst whole = rs_cnp_burst_whole(burst);
    CHECK_INT(whole.cnps, rows[row].cnps);
    CHECK_INT(whole.before_bps, rows[row].before_bps);
    CHECK_INT(whole.lowest_bps, rows[row].lowest_bps);
    CHECK_INT(whole.lowest_before_second_bps, rows[row].first_bps);
    CHECK_INT(whole.recovery_ns, rows[row].recovery_packets * 1000);
}

/* CNPs 200 us apart, or four times as far as they are paced, are one burst, and a
 * nanosecond more makes two; of many bursts the first are kept. */
static void
check_bursts(void)
{
    static const struct {
        guint64 gap_ns, paced_ns;
        guint cnps, kept, all;
    } gaps[] = {{200000, 0, 3, 1, 1},      {200001, 0, 3, 3, 3},
                {200000, 1000, 3, 1, 1},   {400000, 100000, 3, 1, 1},
                {400001, 100000, 3, 3, 3}, {200001, 0, 40, RS_CNP_BURSTS, 40}};
    const roce_stream stream = {.id = 0};
    for (gsize i = 0; i < G_N_ELEMENTS(gaps); i++) {
        rs_reactions *reactions = rs_reactions_new();
        see(reactions, &stream, 0, START_NS, WRITE_FIRST);
        for (guint k = 0; k < gaps[i].cnps; k++) {
            const rs_occurrence cnp = {
                .event = {.kind = ROCE_EVENT_CNP,
                          .time_ns = START_NS + k * gaps[i].gap_ns},
                .cnp_interval_ns = gaps[i].paced_ns,
            };
            rs_reactions_cnp(reactions, &cnp);
        }
        rs_reactions_finish(reactions, 1);
        guint n;
        guint64 n_all;
        (void)rs_reactions_bursts(reactions, 0, &n, &n_all);
        CHECK_INT(n, gaps[i].kept);
        CHECK_INT(n_all, gaps[i].all);
        rs_reactions_free(reactions);
    }
}

/* Among the intervals before a CNP are stops, and behind them come packets from which no rate
 * is taken, however many. */
static void
test_memory(void)
{
    static const struct {
        const char *name;
        guint n_stops, apart, n_lone; /* so many other intervals behind each stop */
        gboolean had_cnp;             /* so that rates are measured as packets come */
        guint64 before_bps;
    } cases[] = {
        {"one too few", ENOUGH - 1, 1, 0, FALSE, 0},
        {"just enough", ENOUGH, 1, 0, FALSE, GBPS(8)},
        {"and others behind", ENOUGH, 1, 1000, FALSE, GBPS(8)},
        {"more than are remembered", 40, 20, 1000, FALSE, GBPS(8)},
        {"measured", ENOUGH, 1, 1000, TRUE, GBPS(8)},
        {"measured, more", 40, 20, 1000, TRUE, GBPS(8)},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        check_row(cases[i].name);
        rs_reactions *reactions = rs_reactions_new();
        const roce_stream stream = {.id = 0};
        guint64 now = START_NS;
        gint64 psn = 0;
        rs_occurrence cnp = {.event = {.kind = ROCE_EVENT_CNP, .time_ns = now}};
        see(reactions, &stream, psn, now, WRITE_FIRST);
        if (cases[i].had_cnp) {
            rs_reactions_cnp(reactions, &cnp);
            now += 1000000; /* the next is another burst */
            see(reactions, &stream, ++psn, now, WRITE_FIRST);
        }
        for (guint k = 0; k < LEAST_FOR_STOP; k++) {
            see(reactions, &stream, ++psn, now += 1000, WRITE_MIDDLE);
        }
        for (guint k = 0; k < cases[i].n_stops; k++) {
            see(reactions, &stream, ++psn, now += 100000, WRITE_MIDDLE);
            for (guint j = 0; j < cases[i].apart; j++) {
                see(reactions, &stream, ++psn, now += 1000, WRITE_MIDDLE);
            }
        }
        for (guint k = 0; k < cases[i].n_lone; k++) {
            see(reactions, &stream, ++psn, ++now, WRITE_ONLY);
        }
        cnp.event.time_ns = now;
        rs_reactions_cnp(reactions, &cnp);
        rs_reactions_finish(reactions, 1);
        guint n;
        guint64 n_all;
        const rs_cnp_burst *bursts = rs_reactions_bursts(reactions, 0, &n, &n_all);
        if (CHECK_INT(n, cases[i].had_cnp ? 2 : 1)) {
            CHECK_INT(bursts[n - 1].before_bps, cases[i].before_bps);
        }
        rs_reactions_free(reactions);
    }
    check_row(NULL);
}

int
main(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        rs_reactions *reactions = rs_reactions_new();
        play(reactions, i);
        check(reactions, i);
        rs_reactions_free(reactions);
    }
    test_memory();
    check_row("bursts");
    check_bursts();
    return check_status();
}
