/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pauses that are one pause, and watchdogs that fire. */
#include "check.h"
#include "watchdog.h"

#define MOST 4
#define JOIN_NS 10

/* Detects after 100 ns, is restored after 50; pauses are [start, end). */
static const struct {
    const char *name;
    guint64 pauses[MOST][2]; /* 0, 0 behind the last */
    guint64 holds, longest_ns, longest_start_ns, fired, first_fired_ns;
} rows[] = {
    {"none", {{0}}, 0, 0, 0, 0, 0},
    {"just too short", {{1000, 1099}}, 1, 99, 1000, 0, 0},
    {"just long enough", {{1000, 1100}}, 1, 100, 1000, 1, 1100},
    {"longer", {{1000, 9000}}, 1, 8000, 1000, 1, 1100},
    {"joined: no time in between", {{1000, 1050}, {1050, 1100}}, 1, 100, 1000, 1, 1100},
    {"joined: just", {{1000, 1045}, {1055, 1100}}, 1, 100, 1000, 1, 1100},
    {"not joined any more", {{1000, 1045}, {1056, 1101}}, 2, 45, 1000, 0, 0},
    {"three in a row",
     {{1000, 1040}, {1045, 1080}, {1085, 1120}},
     1,
     120,
     1000,
     1,
     1100},
    {"the longest is not the first", {{1000, 1020}, {1100, 1190}}, 2, 90, 1100, 0, 0},
    {"of two as long the first", {{1000, 1090}, {1200, 1290}}, 2, 90, 1000, 0, 0},
    {"fires again once restored", {{1000, 1100}, {1150, 1250}}, 2, 100, 1000, 2, 1100},
    {"not before", {{1000, 1100}, {1149, 1249}}, 2, 100, 1000, 1, 1100},
    {"a short pause puts restoration off",
     {{1000, 1100}, {1140, 1145}, {1190, 1290}},
     3,
     100,
     1000,
     1,
     1100},
    {"a short pause after restoration does not",
     {{1000, 1100}, {1150, 1160}, {1190, 1290}},
     3,
     100,
     1000,
     2,
     1100},
    {"begins within another: the clock stepped back",
     {{1000, 1100}, {1050, 1090}},
     1,
     100,
     1000,
     1,
     1100},
};

static void
check_rows(void)
{
    static const rs_watchdog_preset preset = {"x", "the test", 100, 50};
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        rs_holds holds = {0};
        for (guint k = 0; k < MOST && rows[i].pauses[k][1] != 0; k++) {
            rs_holds_add(&holds, &preset, 1, rows[i].pauses[k][0], rows[i].pauses[k][1],
                         k + 1, JOIN_NS);
        }
        rs_holds_end(&holds, &preset, 1);
        CHECK_INT(holds.n, rows[i].holds);
        CHECK_INT(holds.longest_ns, rows[i].longest_ns);
        CHECK_INT(holds.longest_start_ns, rows[i].longest_start_ns);
        CHECK_INT(holds.ratings[0].fired, rows[i].fired);
        CHECK_INT(holds.ratings[0].first_fired_ns, rows[i].first_fired_ns);
    }
    check_row(NULL);
}

/* What --watchdog names is among the presets, at the place that is said. */
static void
check_presets(void)
{
    static const struct {
        rs_watchdog watchdog;
        const char *name; /* NULL: none is named */
        guint64 detect_ms;
    } cases[] = {
        {RS_WATCHDOG_NONE, NULL, 0},
        {RS_WATCHDOG_SONIC, "sonic", 200},
        {RS_WATCHDOG_JUNIPER, "juniper", 200},
        {RS_WATCHDOG_MS, "user", 70},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        const rs_options options = {.watchdog = cases[i].watchdog, .watchdog_ms = 70};
        rs_watchdog_preset presets[RS_WATCHDOG_PRESETS];
        guint n = rs_watchdog_presets(&options, presets);
        gint chosen = rs_watchdog_chosen(&options);
        CHECK(n <= RS_WATCHDOG_PRESETS && chosen < (gint)n);
        if (CHECK_INT(chosen < 0, cases[i].name == NULL) && chosen >= 0) {
            CHECK_STR(presets[chosen].name, cases[i].name);
            CHECK_INT(presets[chosen].detect_ns, cases[i].detect_ms * 1000000);
        }
    }
}

int
main(void)
{
    check_rows();
    check_presets();
    return check_status();
}
