/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which points of a stream are kept to be drawn. */
#include "psn_plot.h"

#include "sight_maker.h"

#define GAP_NS 1000

static rs_occurrence
make_event(roce_event_kind kind, const rs_sight *sight)
{
    const roce_event event = {
        .kind = kind,
        .space = ROCE_SPACE_REQUESTS,
        .stream = sight->stream->id,
        .frame = sight->frame->number,
        .time_ns = sight->frame->time_ns,
        .psn = sight->sighting->psn,
        .count = 1,
    };
    return (rs_occurrence){.event = event, .stream = sight->stream};
}

static unsigned
count_kind(const GArray *points, rs_psn_kind kind)
{
    unsigned n = 0;
    for (unsigned i = 0; i < points->len; i++) {
        n += g_array_index(points, rs_psn_point, i).kind == kind ? 1 : 0;
    }
    return n;
}

static void
check_thinning(void)
{
    static const struct {
        const char *name;
        unsigned n_packets, kept, step;
    } cases[] = {
        {"one", 1, 1, 1},
        {"as many as there is room for", RS_PSN_PLOT_POINTS, RS_PSN_PLOT_POINTS, 1},
        {"one more", RS_PSN_PLOT_POINTS + 1, RS_PSN_PLOT_POINTS / 2 + 1, 2},
        {"twice as many", 2 * RS_PSN_PLOT_POINTS, RS_PSN_PLOT_POINTS, 2},
        {"and one", 2 * RS_PSN_PLOT_POINTS + 1, RS_PSN_PLOT_POINTS / 2 + 1, 4},
        {"very many", 100 * RS_PSN_PLOT_POINTS, 400, 128},
    };
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        sight_maker m;
        sight_maker_init(&m);
        rs_psn_plot *plot = rs_psn_plot_new();
        for (unsigned k = 0; k < cases[i].n_packets; k++) {
            rs_psn_plot_packet(plot, make_sight(&m, 0, k * GAP_NS));
        }
        g_autoptr(GArray) points = rs_psn_plot_points(plot, 0);
        CHECK_INT(points->len, cases[i].kept);
        CHECK_INT(rs_psn_plot_total(plot, 0, RS_PSN_REQUEST), cases[i].n_packets);
        for (unsigned k = 0; k < points->len; k++) {
            CHECK_INT(g_array_index(points, rs_psn_point, k).psn, k * cases[i].step);
        }
        rs_psn_plot_free(plot);
    }
    check_row(NULL);
}

/* Thousands of packets and a gap at one of them: what is around it is there, every
 * packet once. */
static void
check_details(void)
{
    static const unsigned at = 20000;
    sight_maker m;
    sight_maker_init(&m);
    rs_psn_plot *plot = rs_psn_plot_new();
    for (unsigned k = 0; k < 2 * at; k++) {
        const rs_sight *sight = make_sight(&m, 0, k * GAP_NS);
        if (k == at) {
            const rs_occurrence event = make_event(ROCE_EVENT_GAP, sight);
            rs_psn_plot_event(plot, &event);
        }
        rs_psn_plot_packet(plot, sight);
    }
    g_autoptr(GArray) points = rs_psn_plot_points(plot, 0);
    CHECK_INT(count_kind(points, RS_PSN_GAP), 1);
    unsigned around = 0;
    for (unsigned i = 0; i < points->len; i++) {
        const rs_psn_point *point = &g_array_index(points, rs_psn_point, i);
        around += point->kind == RS_PSN_REQUEST &&
                          point->psn >= at - RS_PSN_PLOT_AROUND &&
                          point->psn < at + RS_PSN_PLOT_AROUND
                      ? 1
                      : 0;
    }
    CHECK_INT(around, 2 * RS_PSN_PLOT_AROUND);
    rs_psn_plot_free(plot);
}

/* Faults without end: details stop, and what is rare is thinned like all. */
static void
check_bounds(void)
{
    sight_maker m;
    sight_maker_init(&m);
    rs_psn_plot *plot = rs_psn_plot_new();
    for (unsigned k = 0; k < 50000; k++) {
        const rs_sight *sight = make_sight(&m, 0, k * GAP_NS);
        const rs_occurrence event = make_event(ROCE_EVENT_GAP, sight);
        rs_psn_plot_event(plot, &event);
        rs_psn_plot_packet(plot, sight);
    }
    g_autoptr(GArray) points = rs_psn_plot_points(plot, 0);
    CHECK(points->len <= RS_PSN_PLOT_DETAILS + 2 * RS_PSN_PLOT_POINTS);
    CHECK(count_kind(points, RS_PSN_GAP) <= RS_PSN_PLOT_POINTS);
    CHECK_INT(rs_psn_plot_total(plot, 0, RS_PSN_GAP), 50000);
    rs_psn_plot_free(plot);
}

static void
check_streams(void)
{
    sight_maker m;
    sight_maker_init(&m);
    rs_psn_plot *plot = rs_psn_plot_new();
    m.streams[1].id = RS_PSN_PLOT_STREAMS - 1;
    m.streams[2].id = RS_PSN_PLOT_STREAMS;
    for (unsigned i = 1; i <= 2; i++) {
        rs_psn_plot_packet(plot, make_sight(&m, i, i * GAP_NS));
    }
    g_autoptr(GArray) last = rs_psn_plot_points(plot, RS_PSN_PLOT_STREAMS - 1);
    CHECK(last != NULL && last->len == 1);
    CHECK(rs_psn_plot_points(plot, RS_PSN_PLOT_STREAMS) == NULL);
    CHECK(rs_psn_plot_points(plot, 0) == NULL);
    rs_psn_plot_free(plot);
}

/* An ACK is drawn where what it acknowledges is; a mark only on data. */
static void
check_kinds(void)
{
    sight_maker m;
    sight_maker_init(&m);
    rs_psn_plot *plot = rs_psn_plot_new();
    m.streams[0].peer = 1;
    m.streams[1].peer = 0;
    rs_sight *sight = make_sight(&m, 0, 0);
    m.packet.traffic_class = ROCE_ECN_CE;
    rs_sight_complete(&m.sight);
    rs_psn_plot_packet(plot, sight);
    sight = make_sight(&m, 1, GAP_NS);
    m.packet.payload_bytes = 0;
    m.packet.traffic_class = ROCE_ECN_CE;
    rs_sight_complete(&m.sight);
    m.sighting.sequenced = false;
    m.sighting.acked_until = 1;
    rs_psn_plot_packet(plot, sight);
    g_autoptr(GArray) points = rs_psn_plot_points(plot, 0);
    CHECK_INT(count_kind(points, RS_PSN_REQUEST), 1);
    CHECK_INT(count_kind(points, RS_PSN_CE), 1);
    CHECK_INT(count_kind(points, RS_PSN_ACK), 1);
    CHECK_INT(g_array_index(points, rs_psn_point, points->len - 1).psn, 1);
    g_autoptr(GArray) others = rs_psn_plot_points(plot, 1);
    CHECK(others == NULL || others->len == 0);
    rs_psn_plot_free(plot);
}

int
main(void)
{
    check_thinning();
    check_details();
    check_bounds();
    check_streams();
    check_kinds();
    return check_status();
}
