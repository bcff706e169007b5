/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Activity over time: cells that widen, levels that are set aside, in bounded memory. */
#include "activity.h"

#include "check.h"

#define START ((guint64)1795000000 * 1000000000)

static guint64
bytes_of(const rs_level *level, guint edge)
{
    guint64 sum = 0;
    const rs_cells cells = rs_level_cells(level, edge);
    for (guint i = 0; i < cells.n; i++) {
        sum += cells.at[i].bytes;
    }
    return sum;
}

static void
check_width(void)
{
    /* clang-format off */
    static const struct {
        const char *name;
        guint64 last_ns; /* after the first packet */
        guint64 width_ns;
        guint n_levels;
    } cases[] = {
        {"one microsecond", 999, 1000, 1},
        {"the last of the finest cells", (RS_ACTIVITY_SPAN - 1) * 1000, 1000, 1},
        {"one more", RS_ACTIVITY_SPAN * 1000, 2000, 2},
        {"64 times as long", 64 * (RS_ACTIVITY_SPAN - 1) * 1000, 64000, 2},
        {"longer still", 64 * RS_ACTIVITY_SPAN * 1000, 128000, 3},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rs_activity *activity = rs_activity_new();
        guint64 start = START / 64000 * 64000;
        check_row(cases[i].name);
        CHECK_INT(rs_activity_n_levels(activity), 0);
        rs_activity_add(activity, rs_activity_newest(activity, 0), start, 1, 10);
        rs_activity_add(activity, rs_activity_newest(activity, 0),
                        start + cases[i].last_ns, 2, 20);
        rs_activity_settle(activity);
        CHECK_INT(rs_activity_n_levels(activity), cases[i].n_levels);
        CHECK_INT(rs_activity_level(activity, 0)->width_ns, cases[i].width_ns);
        CHECK_INT(rs_activity_level(activity, 0)->whole, TRUE);
        CHECK_INT(bytes_of(rs_activity_level(activity, 0), 0), 30);
        for (guint k = 1; k < cases[i].n_levels; k++) {
            const rs_level *level = rs_activity_level(activity, k);
            CHECK_INT(level->whole, FALSE);
            CHECK_INT(level->width_ns < rs_activity_level(activity, k - 1)->width_ns,
                      TRUE);
            CHECK_INT(bytes_of(level, 0), 10);
        }
        rs_activity_free(activity);
    }
    check_row(NULL);
}

/* What two cells had is in one afterwards, with the first and the last packet. */
static void
check_cells(void)
{
    rs_activity *activity = rs_activity_new();
    guint64 start = START / 2000 * 2000;
    rs_activity_add(activity, rs_activity_newest(activity, 1), start + 100, 1, 10);
    rs_activity_add(activity, rs_activity_newest(activity, 1), start + 1900, 2, 20);
    rs_activity_add(activity, rs_activity_newest(activity, 1), start + 1200, 3,
                    30); /* the clock steps back */
    rs_activity_add(activity, rs_activity_newest(activity, 1), start + 1300, 4,
                    0);           /* sent again */
    rs_activity_settle(activity); /* and goes on */
    const rs_level *level = rs_activity_level(activity, 0);
    CHECK_INT(rs_level_cells(level, 1).n, 2);
    CHECK_INT(rs_level_cells(level, 0).n, 0);
    rs_activity_add(activity, rs_activity_newest(activity, 1),
                    start + RS_ACTIVITY_SPAN * 1000, 5, 1);
    rs_activity_settle(activity);
    level = rs_activity_level(activity, 0);
    CHECK_INT(rs_level_cells(level, 1).n, 2);
    const rs_cell *cell = &rs_level_cells(level, 1).at[0];
    CHECK_INT(cell->first_ns, start + 100);
    CHECK_INT(cell->first_frame, 1);
    CHECK_INT(cell->last_ns, start + 1900);
    CHECK_INT(cell->last_frame, 2);
    CHECK_INT(cell->bytes, 60);
    CHECK_INT(cell->packets, 3);
    CHECK_INT(cell->resent, 1);
    rs_activity_free(activity);
}

/* A packet before all others opens a cell before theirs. */
static void
check_order(void)
{
    rs_activity *activity = rs_activity_new();
    static const guint64 after[] = {5000, 1000, 3000, 1000, 9000};
    for (guint i = 0; i < G_N_ELEMENTS(after); i++) {
        rs_activity_add(activity, rs_activity_newest(activity, 0), START + after[i],
                        i + 1, 1);
    }
    rs_activity_settle(activity);
    const rs_cells cells = rs_level_cells(rs_activity_level(activity, 0), 0);
    CHECK_INT(cells.n, 4);
    for (guint i = 1; i < cells.n; i++) {
        CHECK_INT(cells.at[i - 1].number < cells.at[i].number, TRUE);
    }
    rs_activity_free(activity);
}

/* More edges and cells than there may be: cells widen, and nothing is lost. */
static void
check_bound(void)
{
    rs_activity *activity = rs_activity_new();
    const guint edges = 64;
    const guint packets = 4000;
    for (guint i = 0; i < packets; i++) {
        for (guint edge = 0; edge < edges; edge++) {
            rs_activity_add(activity, rs_activity_newest(activity, edge),
                            START + (guint64)i * 2000, 1, 1);
        }
    }
    rs_activity_settle(activity);
    const rs_level *level = rs_activity_level(activity, 0);
    guint64 cells = 0;
    guint64 bytes = 0;
    for (guint edge = 0; edge < edges; edge++) {
        cells += rs_level_cells(level, edge).n;
        bytes += bytes_of(level, edge);
    }
    CHECK_INT(cells <= RS_ACTIVITY_CELLS, TRUE);
    CHECK_INT(bytes, (guint64)edges * packets);
    rs_activity_free(activity);
}

int
main(void)
{
    check_width();
    check_cells();
    check_order();
    check_bound();
    return check_status();
}
