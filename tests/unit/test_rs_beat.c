/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bursts that repeat: what does, what just does not, and what cannot be told. */
#include "beat.h"

#include "check.h"

#include <string.h>

#define US 1000
#define START ((guint64)1795000000 * 1000000000)
#define MOST 40

/* Bursts by their starts; each has ten packets, 1 us apart. */
typedef struct train {
    guint64 starts_us[MOST]; /* 0 ends it, but for the first */
    guint bytes;             /* of a packet; 0: 1000 */
    guint packets;           /* 0: 10 */
    guint odd;               /* this burst, from 1, has three times the bytes */
    gboolean resent;         /* something is sent again before each burst */
} train;

static rs_cells
row_of(const train *t)
{
    gboolean uses = TRUE;
    rs_activity *activity = rs_activity_new();
    for (guint i = 0; i < MOST && (i == 0 || t->starts_us[i] != 0); i++) {
        guint packets = t->packets > 0 ? t->packets : 10;
        guint bytes = t->bytes > 0 ? t->bytes : 1000;
        guint64 start = START + t->starts_us[i] * US;
        for (guint k = 0; k < packets; k++) {
            rs_activity_add(activity, rs_activity_newest(activity, 0), start + k * US,
                            1, i + 1 == t->odd ? bytes * 3 : bytes);
        }
        if (t->resent) {
            rs_activity_add(activity, rs_activity_newest(activity, 0), start, 1, 0);
        }
    }
    rs_activity_settle(activity);
    rs_cells row = rs_beat_row(rs_activity_level(activity, 0), &uses);
    rs_activity_free(activity);
    return row;
}

static void
check_beats(void)
{
    /* clang-format off */
    static const struct {
        const char *name;
        train train;
        guint n; /* 0: they do not repeat */
        guint64 period_us;
        guint64 missing;
    } cases[] = {
        {"five", {.starts_us = {0, 100, 200, 300, 400}}, 5, 100, 0},
        {"four are too few", {.starts_us = {0, 100, 200, 300}}, 0, 0, 0},
        {"50 us apart", {.starts_us = {0, 50, 100, 150, 200, 250}}, 6, 50, 0},
        {"49 us apart: paced", {.starts_us = {0, 49, 98, 147, 196, 245}}, 0, 0, 0},
        {"one is a fifth late", {.starts_us = {0, 100, 220, 300, 400, 500}}, 6, 100, 0},
        {"one in four is later", {.starts_us = {0, 100, 230, 300, 400}}, 0, 0, 0},
        {"one is left out", {.starts_us = {0, 100, 200, 400, 500, 600}}, 6, 100, 1},
        {"as many are left out as there are",
         {.starts_us = {0, 100, 200, 300, 400, 500, 1200}}, 7, 100, 6},
        {"more", {.starts_us = {0, 100, 200, 300, 400, 500, 1300}}, 0, 0, 0},
        {"eight packets", {.starts_us = {0, 100, 200, 300, 400}, .packets = 8}, 5, 100, 0},
        {"seven: heartbeats", {.starts_us = {0, 100, 200, 300, 400}, .packets = 7},
         0, 0, 0},
        {"one has more bytes", {.starts_us = {0, 100, 200, 300, 400}, .odd = 3},
         5, 100, 0},
        {"two bursts in each iteration",
         {.starts_us = {0, 30, 100, 130, 200, 230, 300, 330, 400, 430, 500, 530}},
         6, 100, 0},
        {"at random", {.starts_us = {0, 40, 230, 260, 500, 515, 900, 1100, 1130}}, 0, 0, 0},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rs_cells row = row_of(&cases[i].train);
        rs_beat beat = {0};
        guint n_loud = 0;
        check_row(cases[i].name);
        gboolean found = rs_beat_find(&row, RS_ACTIVITY_LEAST_NS, 0, RS_BEAT_LOUD_SHARE,
                                      &n_loud, &beat);
        CHECK_INT(found, cases[i].n > 0);
        if (found) {
            CHECK_INT(beat.bursts->len, cases[i].n);
            CHECK_INT(beat.period_ns, cases[i].period_us * US);
            CHECK_INT(beat.missing, cases[i].missing);
        }
        rs_beat_clear(&beat);
        g_free(row.at);
    }
    check_row(NULL);
}

static void
check_burst(void)
{
    const train five = {.starts_us = {0, 100, 200, 300, 400}, .resent = TRUE};
    rs_cells row = row_of(&five);
    rs_beat beat = {0};
    guint n_loud = 0;
    CHECK_INT(
        rs_beat_find(&row, RS_ACTIVITY_LEAST_NS, 0, RS_BEAT_LOUD_SHARE, &n_loud, &beat),
        TRUE);
    for (guint i = 0; i < 5; i++) {
        const rs_iteration *burst = &g_array_index(beat.bursts, rs_iteration, i);
        CHECK_INT(burst->start_ns, START + five.starts_us[i] * US);
        CHECK_INT(burst->end_ns, burst->start_ns + 9 * US);
        CHECK_INT(burst->bytes, 10000);
        CHECK_INT(burst->packets, 10);
        CHECK_INT(burst->partial, FALSE);
        CHECK_INT(burst->after_repair, i > 0);
    }
    rs_beat_clear(&beat);
    g_free(row.at);
}

/* A silence shorter than is asked for is none. */
static void
check_least_silence(void)
{
    const train five = {.starts_us = {0, 100, 200, 300, 400}};
    rs_cells row = row_of(&five);
    rs_beat beat = {0};
    guint n_loud = 0;
    CHECK_INT(rs_beat_find(&row, RS_ACTIVITY_LEAST_NS, 91 * US, RS_BEAT_LOUD_SHARE,
                           &n_loud, &beat),
              TRUE);
    rs_beat_clear(&beat);
    CHECK_INT(rs_beat_find(&row, RS_ACTIVITY_LEAST_NS, 91 * US + 1, RS_BEAT_LOUD_SHARE,
                           &n_loud, &beat),
              FALSE);
    g_free(row.at);
}

/* What the same cells did not tell with another share is not asked again. */
static void
check_known(void)
{
    const train five = {.starts_us = {0, 100, 200, 300, 400}};
    rs_cells row = row_of(&five);
    static const guint known[] = {0, 49, 50, 51};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        rs_beat beat = {0};
        guint n_loud = known[i];
        CHECK_INT(rs_beat_find(&row, RS_ACTIVITY_LEAST_NS, 0, 2, &n_loud, &beat),
                  known[i] != 50);
        CHECK_INT(n_loud, 50);
        rs_beat_clear(&beat);
    }
    g_free(row.at);
}

/* Quiet cells are left out, but for those at the edge of silence. */
static void
check_loud(void)
{
    /* clang-format off */
    static const struct {
        const char *name;
        guint64 bytes[8];
        guint kept;
        guint64 left_out;
    } cases[] = {
        {"all alike", {100, 100, 100, 100, 100, 100, 100, 100}, 8, 0},
        {"a tenth is loud", {100, 100, 100, 10, 100, 100, 100, 100}, 8, 0},
        {"less is background", {100, 100, 100, 9, 100, 100, 100, 100}, 7, 9},
        {"the beginning of a burst", {0, 0, 1, 100, 100, 100, 0, 0}, 4, 0},
        {"its end", {0, 0, 100, 100, 100, 1, 0, 0}, 4, 0},
        {"background before it", {0, 1, 1, 100, 100, 100, 0, 0}, 3, 2},
        {"background alone", {100, 100, 100, 0, 0, 1, 0, 0}, 3, 1},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rs_cell cells[8];
        rs_cells row = {.at = cells};
        for (guint k = 0; k < 8; k++) {
            if (cases[i].bytes[k] > 0) {
                cells[row.n++] = (rs_cell){.number = k + 1, .bytes = cases[i].bytes[k]};
            }
        }
        check_row(cases[i].name);
        guint64 left_out;
        rs_cells loud = rs_beat_loud(&row, RS_BEAT_LOUD_SHARE, &left_out);
        CHECK_INT(left_out, cases[i].left_out);
        CHECK_INT(loud.n, cases[i].kept);
        g_free(loud.at);
    }
    check_row(NULL);
}

static void
check_widen(void)
{
    const train two = {.starts_us = {0, 100}};
    rs_cells row = row_of(&two);
    CHECK_INT(row.n, 20);
    rs_cells wide = rs_beat_widen(&row, 64);
    CHECK_INT(wide.n <= 4, TRUE);
    guint64 bytes = 0;
    for (guint i = 0; i < wide.n; i++) {
        bytes += wide.at[i].bytes;
    }
    CHECK_INT(bytes, 20000);
    g_free(wide.at);
    g_free(row.at);
}

int
main(void)
{
    check_beats();
    check_burst();
    check_least_silence();
    check_known();
    check_loud();
    check_widen();
    return check_status();
}
