/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Durations as people read them. */
#include "check.h"

#include "format.h"

#define US UINT64_C(1000)
#define MS (1000 * US)
#define S (1000 * MS)
#define MINUTE (60 * S)
#define H (60 * MINUTE)
#define D (24 * H)

static void
test_durations(void)
{
    static const struct {
        guint64 ns, resolution_ns;
        const char *text;
    } rows[] = {
        /* clang-format off */
        {0, 0, "0 ns"},
        {999, 0, "999 ns"},
        {US, 0, "1 µs"},
        {US + 500, US, "2 µs"},
        {123 * MS + 400 * US, 0, "123 ms"},
        {1500 * MS, 1, "1.50 s"},
        {MINUTE - 1, 0, "60.0 s"},
        {MINUTE, 0, "1 min"},
        {90 * S, US, "1.50 min"},
        {H - MINUTE, 0, "59 min"},
        {H, 0, "1 h"},
        {90 * MINUTE, 1, "1.50 h"},
        {D - H, 0, "23 h"},
        {D, 0, "1 d"},
        {12 * D + 12 * H, 1, "12.5 d"},
        {10000 * D + 1, 1, "10000 d"},
        /* clang-format on */
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].text);
        g_autofree char *text = rs_format_duration(rows[i].ns, rows[i].resolution_ns);
        CHECK_STR(text, rows[i].text);
    }
}

int
main(void)
{
    test_durations();
    return check_status();
}
