/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long equal packets take, by the times between them. */
#include "path_storm.h"

#include "check.h"

#define US ((gint64)1000)
#define MS (1000 * US)
#define N 600

/* Times that are not even, the same in every run. */
static void
make_times(gint64 *at_ns, gint64 every_ns, gboolean even)
{
    guint32 draw = 1;
    gint64 now_ns = MS;
    for (guint i = 0; i < N; i++) {
        draw = draw * 1664525u + 1013904223u;
        now_ns += even ? every_ns : every_ns / 2 + (gint64)(draw >> 8) % every_ns;
        at_ns[i] = now_ns;
    }
}

/* The same packets later; those from `first` on, and every `lost`-th (0: none) not. */
static guint
pass_on(const gint64 *at_ns, gint64 delay_ns, guint first, guint lost, gint64 *to_ns)
{
    guint n = 0;
    for (guint i = first; i < N; i++) {
        if (lost == 0 || i % lost != lost / 2) {
            to_ns[n++] = at_ns[i] + delay_ns + i % 7 * 100; /* and a little jitter */
        }
    }
    return n;
}

static void
check_delays(void)
{
    /* clang-format off */
    static const struct {
        const char *name;
        gint64 every_ns, delay_ns, about_ns;
        gboolean even;
        guint first, lost, reach, n_from;
        gboolean found;
    } rows[] = {
        {"as expected", 50 * US, 5 * US, 5 * US, FALSE, 0, 0, 64, N, TRUE},
        {"faster than others", 50 * US, 5 * US, 5 * MS, FALSE, 0, 0, 512, N, TRUE},
        {"slower than others", 4 * US, 500 * US, 5 * US, FALSE, 0, 0, 512, N, TRUE},
        {"out of reach", 4 * US, 5 * US, MS, FALSE, 0, 0, 64, N, FALSE},
        {"behind before ahead", 50 * US, -300 * US, 300 * US, FALSE, 0, 0, 64, N, TRUE},
        {"one capture begins later", 50 * US, 5 * US, 500 * US, FALSE, 200, 0, 512, N, TRUE},
        {"some are lost", 50 * US, 5 * US, 500 * US, FALSE, 0, 90, 512, N, TRUE},
        {"at even distances", 50 * US, 5 * US, 500 * US, TRUE, 0, 0, 512, N, FALSE},
        {"too few", 50 * US, 5 * US, 5 * US, FALSE, 0, 0, 64, 31, FALSE},
        {"none", 50 * US, 5 * US, 5 * US, FALSE, N, 0, 64, N, FALSE},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        gint64 from_ns[N];
        gint64 to_ns[N];
        gint64 delay_ns = -1;
        make_times(from_ns, rows[i].every_ns, rows[i].even);
        guint n =
            pass_on(from_ns, rows[i].delay_ns, rows[i].first, rows[i].lost, to_ns);
        const rs_storm from = {from_ns, rows[i].n_from};
        const rs_storm to = {to_ns, n};
        check_row(rows[i].name);
        CHECK_INT(
            rs_storm_delay(&from, &to, rows[i].about_ns, rows[i].reach, &delay_ns),
            rows[i].found);
        gint64 off_ns = delay_ns - (rows[i].found ? rows[i].delay_ns : -1);
        CHECK_INT(off_ns >= 0 && off_ns <= US, TRUE);
    }
    check_row(NULL);
}

int
main(void)
{
    check_delays();
    return check_status();
}
