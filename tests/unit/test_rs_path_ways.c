/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which way traffic goes: the strongest ground decides, and is named. */
#include "path_ways.h"

#include "check.h"

#define US ((gint64)1000)
#define H ((gint64)3600 * 1000 * 1000 * 1000)

static roce_addr
address(guint8 last)
{
    return (roce_addr){.bytes = {10, 0, 0, last}, .family = 4};
}

/* What a packet of each direction shows; `from_a`: the lesser address sent it. */
typedef struct packet {
    gboolean from_a;
    gint64 at_ns, difference_ns;
    guint8 low_hops, high_hops;
    gboolean one_clock;
} packet;

static void
check_ways(void)
{
    /* clang-format off */
    static const struct {
        const char *name;
        packet packets[8];
        guint n;
        rs_way want; /* of what the lesser address sends */
        rs_way_by by;
    } rows[] = {
        {"nothing", {{0}}, 0, RS_WAY_FORWARD, RS_WAY_BY_ORDER_GIVEN},
        {"one direction, two clocks", {{TRUE, 0, 5 * US, 64, 64, FALSE}}, 1, RS_WAY_FORWARD, RS_WAY_BY_ORDER_GIVEN},
        {"as many in both directions, and nothing tells",
         {{FALSE, 0, 5 * US, 64, 64, FALSE}, {TRUE, 0, 5 * US, 64, 64, FALSE}}, 2, RS_WAY_BACKWARD, RS_WAY_BY_ORDER_GIVEN},
        {"hop limit: forward", {{TRUE, 0, 5 * US, 64, 63, FALSE}}, 1, RS_WAY_FORWARD, RS_WAY_BY_HOPS},
        {"hop limit: backward", {{TRUE, 0, 5 * US, 63, 64, FALSE}}, 1, RS_WAY_BACKWARD, RS_WAY_BY_HOPS},
        {"hop limit of the other's", {{FALSE, 0, 5 * US, 62, 64, FALSE}}, 1, RS_WAY_FORWARD, RS_WAY_BY_HOPS},
        {"one clock: forward", {{TRUE, 0, US, 64, 64, TRUE}}, 1, RS_WAY_FORWARD, RS_WAY_BY_ONE_CLOCK},
        {"one clock: backward", {{TRUE, 0, -US, 64, 64, TRUE}}, 1, RS_WAY_BACKWARD, RS_WAY_BY_ONE_CLOCK},
        {"one clock, no time between", {{TRUE, 0, 0, 64, 64, TRUE}}, 1, RS_WAY_FORWARD, RS_WAY_BY_ORDER_GIVEN},
        {"hop limit before clock", {{TRUE, 0, -US, 64, 63, TRUE}}, 1, RS_WAY_FORWARD, RS_WAY_BY_HOPS},
        {"both, hours apart: forward",
         {{TRUE, 0, H + 5 * US, 64, 64, FALSE}, {FALSE, 9, H - 5 * US, 64, 64, FALSE}}, 2, RS_WAY_FORWARD, RS_WAY_BY_BOTH_WAYS},
        {"both, hours apart: backward",
         {{TRUE, 0, -H - 5 * US, 64, 64, FALSE}, {FALSE, 9, -H + 5 * US, 64, 64, FALSE}}, 2, RS_WAY_BACKWARD, RS_WAY_BY_BOTH_WAYS},
        {"one of many that waited in a queue",
         {{TRUE, 0, 5 * US, 64, 64, FALSE}, {FALSE, 1, -5 * US, 64, 64, FALSE},
          {TRUE, 2, 900 * US, 64, 64, FALSE}, {FALSE, 3, -5 * US, 64, 64, FALSE}}, 4, RS_WAY_FORWARD, RS_WAY_BY_BOTH_WAYS},
        {"stamps made every 50 us: answers seem to come before they are sent",
         {{TRUE, 50 * US, -49 * US, 64, 64, FALSE}, {FALSE, 50 * US, -47 * US, 64, 64, FALSE},
          {TRUE, 50 * US, -9 * US, 64, 64, FALSE}, {FALSE, 50 * US, -7 * US, 64, 64, FALSE},
          {TRUE, 100 * US, -47 * US, 64, 64, FALSE}, {FALSE, 100 * US, -45 * US, 64, 64, FALSE},
          {TRUE, 100 * US, -46 * US, 64, 64, FALSE}}, 7, RS_WAY_FORWARD, RS_WAY_BY_ORDER_GIVEN},
        {"likewise, and some were far apart",
         {{TRUE, 0, -9 * US, 64, 64, FALSE}, {FALSE, 9000 * US, -7 * US, 64, 64, FALSE},
          {TRUE, 9050 * US, -49 * US, 64, 64, FALSE}, {FALSE, 9050 * US, -50 * US, 64, 64, FALSE},
          {TRUE, 9050 * US, -51 * US, 64, 64, FALSE}}, 5, RS_WAY_FORWARD, RS_WAY_BY_ORDER_GIVEN},
        {"stamps of one clock that are no times",
         {{TRUE, 0, 0, 64, 64, FALSE}, {TRUE, 5 * US, -5 * US, 64, 64, FALSE},
          {FALSE, 200 * US, -200 * US, 64, 64, FALSE}}, 3, RS_WAY_FORWARD, RS_WAY_BY_ORDER_GIVEN},
        {"half of it by how clocks run, and not clearly more",
         {{TRUE, 0, 0, 64, 64, FALSE}, {TRUE, 10 * US, -5 * US, 64, 64, FALSE},
          {FALSE, 210 * US, -205 * US, 64, 64, FALSE}}, 3, RS_WAY_FORWARD, RS_WAY_BY_ORDER_GIVEN},
        {"less than half of it by what packets wait for",
         {{TRUE, 0, 0, 64, 64, FALSE}, {TRUE, 10 * US, -4 * US, 64, 64, FALSE},
          {FALSE, 210 * US, -204 * US, 64, 64, FALSE}}, 3, RS_WAY_FORWARD, RS_WAY_BY_BOTH_WAYS},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        rs_ways *ways = rs_ways_new();
        const roce_addr a = address(1);
        const roce_addr b = address(2);
        rs_way_by by;
        check_row(rows[i].name);
        guint32 route = rs_ways_route(ways, &b, &a);
        CHECK_INT(rs_ways_route(ways, &a, &b), route);
        for (guint k = 0; k < rows[i].n; k++) {
            const packet *p = &rows[i].packets[k];
            const rs_way_pair pair = {.high = 1,
                                      .at_ns = p->at_ns,
                                      .difference_ns = p->difference_ns,
                                      .low_hops = p->low_hops,
                                      .high_hops = p->high_hops,
                                      .one_clock = p->one_clock};
            rs_ways_count(ways, route, p->from_a ? &a : &b);
            rs_ways_add(ways, route, p->from_a ? &a : &b, &pair);
        }
        CHECK_INT(rs_ways_decide(ways, route, &a, &by), rows[i].want);
        CHECK_INT(by, rows[i].by);
        rs_way back = rs_ways_decide(ways, route, &b, &by);
        CHECK_INT(back, rows[i].n == 0 ? RS_WAY_FORWARD : RS_N_WAYS - 1 - rows[i].want);
        rs_ways_free(ways);
    }
    check_row(NULL);
}

/* Where nothing tells, all packets that two points saw have a voice, also those that could
 * not be asked. */
static void
check_most(void)
{
    rs_ways *ways = rs_ways_new();
    const roce_addr a = address(1);
    const roce_addr b = address(2);
    const rs_way_pair pair = {.high = 1, .low_hops = 64, .high_hops = 64};
    rs_way_by by;
    guint32 route = rs_ways_route(ways, &a, &b);
    for (guint i = 0; i < 3; i++) {
        rs_ways_count(ways, route, &a);
        rs_ways_add(ways, route, &a, &pair);
    }
    CHECK_INT(rs_ways_decide(ways, route, &b, &by), RS_WAY_BACKWARD);
    for (guint i = 0; i < 4; i++) {
        rs_ways_count(ways, route, &b);
    }
    CHECK_INT(rs_ways_decide(ways, route, &b, &by), RS_WAY_FORWARD);
    CHECK_INT(by, RS_WAY_BY_ORDER_GIVEN);
    rs_ways_free(ways);
}

/* Differences one after the other, and what is made of the last. */
static void
check_middles(void)
{
    /* clang-format off */
    static const struct {
        const char *name;
        struct { rs_way way; gint64 difference_ns; } takes[3];
        guint n, more; /* of the last, so many times more */
        gint64 want_ns;
        gboolean even;
    } rows[] = {
        {"one way alone", {{RS_WAY_FORWARD, H + 5 * US}}, 1, 0, H + 5 * US, FALSE},
        {"both ways", {{RS_WAY_FORWARD, H + 500 * US}, {RS_WAY_BACKWARD, H - 500 * US}}, 2, 0, H, TRUE},
        {"the newest counts",
         {{RS_WAY_BACKWARD, H}, {RS_WAY_BACKWARD, H - 40 * US}, {RS_WAY_FORWARD, H + 60 * US}}, 3, 0, H + 10 * US, TRUE},
        {"50 ms apart", {{RS_WAY_FORWARD, H}, {RS_WAY_BACKWARD, H - 50000 * US}}, 2, 0, H - 25000 * US, TRUE},
        {"set between both", {{RS_WAY_FORWARD, H}, {RS_WAY_BACKWARD, H - 50001 * US}}, 2, 0, H - 50001 * US, FALSE},
        {"old", {{RS_WAY_FORWARD, 20 * US}, {RS_WAY_BACKWARD, 0}}, 2, 1023, 10 * US, TRUE},
        {"too old", {{RS_WAY_FORWARD, 20 * US}, {RS_WAY_BACKWARD, 0}}, 2, 1024, 0, FALSE},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        rs_both_ways both = {0};
        gint64 middle_ns = 0;
        gboolean even = FALSE;
        check_row(rows[i].name);
        for (guint k = 0; k < rows[i].n + rows[i].more; k++) {
            guint take = MIN(k, rows[i].n - 1);
            middle_ns = rows[i].takes[take].difference_ns;
            even = rs_both_ways_middle(&both, rows[i].takes[take].way, &middle_ns);
        }
        CHECK_INT(middle_ns, rows[i].want_ns);
        CHECK_INT(even, rows[i].even);
    }
    check_row(NULL);
}

int
main(void)
{
    check_ways();
    check_most();
    check_middles();
    return check_status();
}
