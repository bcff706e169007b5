/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gaps, lateness and chains of WRITE Only packets. */
#include "flowlets.h"

#include "sight_maker.h"

static void
check_gaps(void)
{
    static const struct {
        const char *name;
        uint64_t idle_ns;
        uint64_t of_1_us, of_2_us, of_32_ms;
    } cases[] = {
        {"just below", 999, 0, 0, 0},
        {"a microsecond", 1000, 1, 0, 0},
        {"just below two", 1999, 1, 0, 0},
        {"two", 2000, 1, 1, 0},
        {"the longest but 1 ns", 32767999, 1, 1, 0},
        {"the longest", 32768000, 1, 1, 1},
    };
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        sight_maker m;
        sight_maker_init(&m);
        rs_flowlets *flowlets = rs_flowlets_new();
        rs_flowlets_packet(flowlets, make_sight(&m, 0, 0));
        rs_flowlets_packet(flowlets, make_sight(&m, 0, cases[i].idle_ns));
        rs_flowlet_stream f;
        CHECK(rs_flowlets_get(flowlets, 0, &f));
        CHECK_INT(f.packets, 2);
        CHECK_INT(f.gaps[0], cases[i].of_1_us);
        CHECK_INT(f.gaps[1], cases[i].of_2_us);
        CHECK_INT(f.gaps[RS_FLOWLET_RUNGS - 1], cases[i].of_32_ms);
        rs_flowlets_free(flowlets);
    }
}

/* From where a clock was set back to, gaps are counted as before. */
static void
check_set_back(void)
{
    static const struct {
        const char *name;
        uint64_t second_ns;
        uint64_t gaps;
    } cases[] = {
        {"it steps back", ROCE_SET_BACK_NS, 0},
        {"it is set back", ROCE_SET_BACK_NS - 1, 1},
    };
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        sight_maker m;
        sight_maker_init(&m);
        rs_flowlets *flowlets = rs_flowlets_new();
        rs_flowlets_packet(flowlets, make_sight(&m, 0, 2 * ROCE_SET_BACK_NS));
        rs_flowlets_packet(flowlets, make_sight(&m, 0, cases[i].second_ns));
        rs_flowlets_packet(flowlets, make_sight(&m, 0, cases[i].second_ns + 2000));
        rs_flowlet_stream f;
        CHECK(rs_flowlets_get(flowlets, 0, &f));
        CHECK_INT(f.gaps[0], cases[i].gaps);
        rs_flowlets_free(flowlets);
    }
}

/* However many gaps there are, and whatever their mix, each is counted. */
static void
check_many_gaps(void)
{
    for (guint n = 0; n <= 40; n++) {
        sight_maker m;
        sight_maker_init(&m);
        rs_flowlets *flowlets = rs_flowlets_new();
        guint64 at_ns = 0;
        guint long_ones = 0;
        rs_flowlets_packet(flowlets, make_sight(&m, 0, 0));
        for (guint i = 0; i < n; i++) {
            at_ns += i % 3 == 0 ? 8000 : 1000;
            long_ones += i % 3 == 0 ? 1 : 0;
            rs_flowlets_packet(flowlets, make_sight(&m, 0, at_ns));
        }
        rs_flowlet_stream f;
        CHECK(rs_flowlets_get(flowlets, 0, &f));
        CHECK_INT(f.gaps[0], n);
        CHECK_INT(f.gaps[1], long_ones);
        CHECK_INT(f.gaps[3], long_ones);
        CHECK_INT(f.gaps[4], 0);
        rs_flowlets_free(flowlets);
    }
}

static void
check_rungs(void)
{
    static const struct {
        const char *name;
        uint64_t lateness_ns;
        unsigned rung;
    } cases[] = {
        {"none", 0, 0},
        {"just below the first", 999, 0},
        {"as long as the first", 1000, 1},
        {"just above", 1001, 1},
        {"as long as the longest", 32768000, RS_FLOWLET_RUNGS},
    };
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        CHECK_INT(rs_flowlet_rung_above(cases[i].lateness_ns), cases[i].rung);
    }
}

/* PSN 0, an idle time, then 2, 3, and 1 late. */
static void
check_lateness(void)
{
    sight_maker m;
    sight_maker_init(&m);
    rs_flowlets *flowlets = rs_flowlets_new();
    static const struct {
        int64_t psn;
        uint64_t at_ns;
    } packets[] = {{0, 0}, {2, 4000}, {3, 4100}};
    for (size_t i = 0; i < N_ROWS(packets); i++) {
        rs_sight *sight = make_sight(&m, 0, packets[i].at_ns);
        m.sighting.psn = packets[i].psn;
        rs_flowlets_packet(flowlets, sight);
    }
    roce_event late = {.kind = ROCE_EVENT_LATE, .time_ns = START_NS + 4700, .psn = 1};
    rs_flowlets_event(flowlets, &late);
    check_row("700 ns behind what passed it, which came after 4 us");
    rs_flowlet_stream f;
    CHECK(rs_flowlets_get(flowlets, 0, &f));
    CHECK_INT(f.late_timed, 1);
    CHECK_INT(f.lateness_ns, 700);
    CHECK_INT(f.late_after[2], 1);
    CHECK_INT(f.late_after[3], 0);
    check_row("of a PSN that nothing passed");
    late.psn = 7;
    rs_flowlets_event(flowlets, &late);
    CHECK(rs_flowlets_get(flowlets, 0, &f));
    CHECK_INT(f.late, 2);
    CHECK_INT(f.late_timed, 1);
    rs_flowlets_free(flowlets);
}

static void
check_order(void)
{
    /* clang-format off */
    static const struct {
        const char *name;
        uint64_t late, naks, nak_rounds, timeouts;
        roce_pairing paired_by;
        roce_recovery recovery;
        rs_order want;
    } cases[] = {
        {"nothing late", 0, 0, 0, 0, ROCE_PAIRING_PSN, ROCE_RECOVERY_UNKNOWN, RS_ORDER_IN_ORDER},
        {"two, and no NAK", 2, 0, 0, 0, ROCE_PAIRING_PSN, ROCE_RECOVERY_UNKNOWN, RS_ORDER_UNDECIDABLE},
        {"three, and no NAK", 3, 0, 0, 0, ROCE_PAIRING_PSN, ROCE_RECOVERY_UNKNOWN, RS_ORDER_OUT_OF_ORDER},
        {"NAKs are not heard", 3, 0, 0, 0, ROCE_PAIRING_NONE, ROCE_RECOVERY_UNKNOWN, RS_ORDER_UNDECIDABLE},
        {"a NAK, and a round of all", 3, 1, 1, 0, ROCE_PAIRING_PSN, ROCE_RECOVERY_GO_BACK_N, RS_ORDER_GO_BACK_N},
        {"a NAK, and a round of nobody knows what", 3, 1, 1, 0, ROCE_PAIRING_PSN, ROCE_RECOVERY_UNKNOWN, RS_ORDER_UNDECIDABLE},
        {"a NAK, and a round of what it asked for", 3, 1, 1, 0, ROCE_PAIRING_PSN, ROCE_RECOVERY_SELECTIVE, RS_ORDER_SELECTIVE},
        {"a NAK that nothing followed", 3, 1, 0, 0, ROCE_PAIRING_PSN, ROCE_RECOVERY_UNKNOWN, RS_ORDER_UNDECIDABLE},
        {"a timeout", 3, 0, 0, 1, ROCE_PAIRING_PSN, ROCE_RECOVERY_UNKNOWN, RS_ORDER_UNDECIDABLE},
    };
    /* clang-format on */
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        const rs_flowlet_stream f = {.late = cases[i].late};
        roce_stream_trouble trouble = {0};
        const roce_stream s = {.paired_by = cases[i].paired_by,
                               .recovery = cases[i].recovery,
                               .trouble = &trouble};
        trouble.naks_received[ROCE_NAKS_PSN_SEQUENCE] = cases[i].naks;
        trouble.retransmissions.by_cause[ROCE_CAUSE_NAK_SEQUENCE] = cases[i].nak_rounds;
        trouble.retransmissions.by_cause[ROCE_CAUSE_TIMEOUT] = cases[i].timeouts;
        CHECK_STR(rs_order_name(rs_flowlet_order(&f, &s)),
                  rs_order_name(cases[i].want));
    }
}

/* WRITE Only packets, each of them so many bytes behind the one before. */
static void
check_chains(void)
{
    static const struct {
        const char *name;
        unsigned n;
        uint64_t step_bytes;
        bool chained;
    } cases[] = {
        {"they continue each other", 20, 100, true},
        {"as many as it takes: 16 of 17", 17, 100, true},
        {"one fewer", 16, 100, false},
        {"each to the same place", 20, 0, false},
        {"with holes between", 20, 128, false},
    };
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        sight_maker m;
        sight_maker_init(&m);
        rs_flowlets *flowlets = rs_flowlets_new();
        for (unsigned p = 0; p < cases[i].n; p++) {
            rs_sight *sight = make_sight(&m, 0, p * 100);
            m.packet.bth.opcode = RC_WRITE_ONLY;
            m.packet.headers = ROCE_HEADER_RETH;
            m.packet.reth.address = 0xFFFFFFFFFFFFFF00u + p * cases[i].step_bytes;
            rs_sight_complete(&m.sight);
            rs_flowlets_packet(flowlets, sight);
        }
        rs_flowlet_stream f;
        CHECK(rs_flowlets_get(flowlets, 0, &f));
        CHECK_INT(rs_flowlet_writes_only(&f), cases[i].chained);
        rs_flowlets_free(flowlets);
    }
}

int
main(void)
{
    check_gaps();
    check_set_back();
    check_many_gaps();
    check_rungs();
    check_lateness();
    check_order();
    check_chains();
    return check_status();
}
