/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Second copies from a mirror that delivers twice, paired off.
 *
 * The one rule: a row pushes copies and says of each whether it is the second of a pair.
 */
#include "check.h"

#include "repeats.h"

#include <glib.h>

#define MAX_STEPS 8
#define WITHIN_NS 1000

typedef struct step {
    guint point;
    guint64 narrow;
    guint64 time_ns; /* 0 ends */
    guint32 icrc;    /* 0: cut off */
    gboolean is_second;
} step;

static void
test_pairs(void)
{
    static const struct {
        const char *name;
        step steps[MAX_STEPS];
    } rows[] = {
        {"two are one", {{0, 7, 100, 1, FALSE}, {0, 7, 101, 1, TRUE}}},
        {"three are two",
         {{0, 7, 100, 1, FALSE}, {0, 7, 101, 1, TRUE}, {0, 7, 102, 1, FALSE}}},
        {"four are two",
         {{0, 7, 100, 1, FALSE},
          {0, 7, 101, 1, TRUE},
          {0, 7, 102, 1, FALSE},
          {0, 7, 103, 1, TRUE}}},
        {"at the limit", {{0, 7, 5000, 1, FALSE}, {0, 7, 6000, 1, TRUE}}},
        {"one less", {{0, 7, 5000, 1, FALSE}, {0, 7, 5999, 1, TRUE}}},
        {"one more", {{0, 7, 5000, 1, FALSE}, {0, 7, 6001, 1, FALSE}}},
        {"what came too late waits in its place",
         {{0, 7, 5000, 1, FALSE}, {0, 7, 6001, 1, FALSE}, {0, 7, 7001, 1, TRUE}}},
        {"stamps step back, at the limit",
         {{0, 7, 6000, 1, FALSE}, {0, 7, 5000, 1, TRUE}}},
        {"stamps step back, one more",
         {{0, 7, 6001, 1, FALSE}, {0, 7, 5000, 1, FALSE}}},
        {"one time", {{0, 7, 100, 1, FALSE}, {0, 7, 100, 1, TRUE}}},
        {"two points",
         {{0, 7, 100, 1, FALSE},
          {1, 7, 100, 1, FALSE},
          {1, 7, 101, 1, TRUE},
          {0, 7, 101, 1, TRUE}}},
        {"another packet", {{0, 7, 100, 1, FALSE}, {0, 8, 101, 1, FALSE}}},
        {"another ICRC", {{0, 7, 100, 1, FALSE}, {0, 7, 101, 2, FALSE}}},
        {"first without ICRC", {{0, 7, 100, 0, FALSE}, {0, 7, 101, 2, TRUE}}},
        {"second without ICRC", {{0, 7, 100, 1, FALSE}, {0, 7, 101, 0, TRUE}}},
        {"interleaved",
         {{0, 7, 100, 1, FALSE},
          {0, 8, 101, 1, FALSE},
          {0, 8, 102, 1, TRUE},
          {0, 7, 103, 1, TRUE}}},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        rs_repeats *repeats = rs_repeats_new();
        for (const step *s = rows[i].steps;
             s < rows[i].steps + MAX_STEPS && s->time_ns != 0; s++) {
            const roce_wire_identity identity = {
                .narrow = s->narrow, .icrc = s->icrc, .has_icrc = s->icrc != 0};
            CHECK_INT(rs_repeats_is_second(repeats, s->point, &identity, s->time_ns,
                                           WITHIN_NS),
                      s->is_second);
        }
        rs_repeats_free(repeats);
    }
    rs_repeats_free(NULL);
}

/* Spread as hashes are. */
static roce_wire_identity
nth_identity(guint64 n)
{
    return (roce_wire_identity){.narrow = (n + 1) * 0x9e3779b97f4a7c15u};
}

/* Far more packets than the table holds, the second copy `behind` packets later; how many
 * are known. */
static guint64
known_of(guint64 n_packets, guint64 behind)
{
    rs_repeats *repeats = rs_repeats_new();
    guint64 known = 0;
    for (guint64 n = 0; n < n_packets + behind; n++) {
        const roce_wire_identity first = nth_identity(n);
        if (n < n_packets) {
            CHECK(!rs_repeats_is_second(repeats, 0, &first, n, G_MAXUINT64));
        }
        if (n >= behind) {
            const roce_wire_identity second = nth_identity(n - behind);
            known += rs_repeats_is_second(repeats, 0, &second, n, G_MAXUINT64) ? 1 : 0;
        }
    }
    rs_repeats_free(repeats);
    return known;
}

static void
test_bounded(void)
{
    check_row("bounded");
    CHECK_INT(known_of(300000, 1), 300000);
    CHECK_INT(known_of(300000, 1000), 300000);
    CHECK(known_of(300000, 250000) < 30000); /* the table has made room */
}

int
main(void)
{
    test_pairs();
    test_bounded();
    return check_status();
}
