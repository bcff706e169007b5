/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stretches of time as users write them, and what is near a frame. */
#include "check.h"

#include "selection.h"
#include "time_range.h"

#define S UINT64_C(1000000000)
#define FIRST (1700000000 * S + 5)
#define DAY_S UINT64_C(1795298400) /* 2026-11-21T22:00:00Z */

static void
test_ranges(void)
{
    static const struct {
        const char *text;
        gboolean good;
        guint64 from_ns, to_ns;
    } rows[] = {
        /* clang-format off */
        {"-", TRUE, 0, G_MAXUINT64},
        {"1-", TRUE, FIRST + S, G_MAXUINT64},
        {"-1", TRUE, 0, FIRST + S},
        {"0-0", TRUE, FIRST, FIRST},
        {"0.5-1.25", TRUE, FIRST + S / 2, FIRST + S + S / 4},
        {"0.000000001-0.999999999", TRUE, FIRST + 1, FIRST + S - 1},
        {"99999999-", TRUE, FIRST + 99999999 * S, G_MAXUINT64},
        {"100000000-", TRUE, 100000000 * S, G_MAXUINT64},
        {"1700000001.000000007-1", TRUE, 1700000001 * S + 7, FIRST + S},
        {"2026-11-21T22:00:00Z-", TRUE, DAY_S * S, G_MAXUINT64},
        {"-2026-11-21T22:00:00Z", TRUE, 0, DAY_S * S},
        {"2026-11-21T22:00:00-", TRUE, DAY_S * S, G_MAXUINT64},
        {"2026-11-21T22:00:00.5Z-2026-11-21T22:00:00.500000001Z", TRUE,
         DAY_S * S + S / 2, DAY_S * S + S / 2 + 1},
        {"2026-11-22T00:00:00+02:00-2026-11-21T20:30:00-01:30", TRUE, DAY_S * S, DAY_S * S},
        {"2026-11-21 22:00:00.000000003 UTC-", TRUE, DAY_S * S + 3, G_MAXUINT64},
        {"20261121T220000Z-", TRUE, DAY_S * S, G_MAXUINT64},
        {"9223372035-", TRUE, 9223372035 * S, G_MAXUINT64},
        {"", FALSE, 0, 0},
        {"1", FALSE, 0, 0},
        {"--", FALSE, 0, 0},
        {"1-2-3", FALSE, 0, 0},
        {"2-1", FALSE, 0, 0},
        {"1.-2", FALSE, 0, 0},
        {".5-1", FALSE, 0, 0},
        {"0.1234567890-", FALSE, 0, 0},
        {"1e3-", FALSE, 0, 0},
        {" 1-2", FALSE, 0, 0},
        {"+1-2", FALSE, 0, 0},
        {"now-", FALSE, 0, 0},
        {"99999999999999999999-", FALSE, 0, 0},
        {"1969-12-31T23:59:59Z-", FALSE, 0, 0},
        {"2026-11-21T22:00:00Z-2026-11-21T21:59:59Z", FALSE, 0, 0},
        /* clang-format on */
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].text);
        rs_time_range range;
        if (!CHECK_INT(rs_time_range_parse(rows[i].text, &range), rows[i].good) ||
            !rows[i].good) {
            continue;
        }
        guint64 from_ns;
        guint64 to_ns;
        rs_time_range_of(&range, FIRST, &from_ns, &to_ns);
        CHECK_INT(from_ns, rows[i].from_ns);
        CHECK_INT(to_ns, rows[i].to_ns);
    }
}

static void
test_far(void)
{
    check_row("beyond the end of time");
    rs_time_range range;
    guint64 from_ns;
    guint64 to_ns;
    CHECK(rs_time_range_parse("99999999-", &range));
    rs_time_range_of(&range, G_MAXUINT64 - 1, &from_ns, &to_ns);
    CHECK_INT(from_ns, G_MAXUINT64);
}

static void
test_contexts(void)
{
    static const struct {
        const char *text;
        gboolean good, by_time;
        guint64 value;
    } rows[] = {
        {"0", TRUE, FALSE, 0},
        {"50", TRUE, FALSE, 50},
        {"1ns", TRUE, TRUE, 1},
        {"1.5us", TRUE, TRUE, 1500},
        {"2µs", TRUE, TRUE, 2000},
        {"2ms", TRUE, TRUE, 2000000},
        {"0.25s", TRUE, TRUE, 250000000},
        {"", FALSE, FALSE, 0},
        {"-1", FALSE, FALSE, 0},
        {"-1ms", FALSE, FALSE, 0},
        {"1.5", FALSE, FALSE, 0},
        {"2 ms", FALSE, FALSE, 0},
        {"2m", FALSE, FALSE, 0},
        {"ms", FALSE, FALSE, 0},
        {"inf s", FALSE, FALSE, 0},
        {"1e300s", FALSE, FALSE, 0},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].text);
        rs_context context;
        if (CHECK_INT(rs_context_parse(rows[i].text, &context), rows[i].good) &&
            rows[i].good) {
            CHECK_INT(context.by_time, rows[i].by_time);
            CHECK_INT(context.by_time ? context.ns : context.packets, rows[i].value);
        }
    }
}

int
main(void)
{
    test_ranges();
    test_far();
    test_contexts();
    check_row(NULL);
    return check_status();
}
