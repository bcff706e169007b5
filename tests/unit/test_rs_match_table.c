/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets that wait for their twins: found, full, resolved, and gone in order. */
#include "match_table.h"

#include "check.h"

#define POINTS 2
#define MOST 6000

static guint32
see(rs_match_table *table, guint64 narrow, guint point, guint64 frame)
{
    const roce_wire_identity identity = {.narrow = narrow};
    guint32 entry = rs_match_find(table, &identity, point);
    entry = entry != RS_NO_ENTRY ? entry : rs_match_open(table, &identity);
    const rs_sighting sighting = {
        .frame = frame,
        .at_ns = (gint64)frame * 10,
        .entry = entry,
        .point = (guint8)point,
    };
    (void)rs_match_add(table, &sighting);
    return entry;
}

static void
check_twins(void)
{
    rs_match_table *table = rs_match_table_new(POINTS, MOST);
    guint32 one = see(table, 1, 0, 1);
    guint32 two = see(table, 2, 0, 2);
    CHECK(one != two);
    CHECK_INT(see(table, 1, 1, 7), one);
    const rs_match_entry *e = rs_match_entry_of(table, one);
    CHECK_INT(e->n, 2);
    CHECK_INT(e->newest_ns, 70);
    CHECK_INT(rs_match_sighting(table, e->other)->point, 0);
    rs_match_resolve(table, one);
    CHECK(see(table, 1, 0, 3) != one);
    CHECK_INT(rs_match_n(table, 0), 3);
    CHECK_INT(rs_match_sighting(table, rs_match_oldest(table, 0))->frame, 1);
    rs_match_drop_oldest(table, 0);
    CHECK_INT(rs_match_sighting(table, rs_match_oldest(table, 0))->frame, 2);
    rs_match_table_free(table);
}

static guint32
see_icrc(rs_match_table *table, guint32 icrc, guint point, guint64 frame)
{
    const roce_wire_identity identity = {
        .narrow = 1, .icrc = icrc, .has_icrc = icrc != 0};
    guint32 entry = rs_match_find(table, &identity, point);
    entry = entry != RS_NO_ENTRY ? entry : rs_match_open(table, &identity);
    const rs_sighting sighting = {
        .frame = frame, .entry = entry, .point = (guint8)point};
    (void)rs_match_add(table, &sighting);
    return entry;
}

/* Packets that nothing but their ICRCs tells apart: where these are cut off, they come in
 * the same order. */
static void
check_cut(void)
{
    rs_match_table *table = rs_match_table_new(POINTS, MOST);
    guint32 one = see_icrc(table, 77, 0, 1);
    guint32 two = see_icrc(table, 78, 0, 2);
    CHECK(one != two);
    CHECK_INT(see_icrc(table, 0, 1, 1), one);
    CHECK_INT(see_icrc(table, 0, 1, 2), two);
    CHECK_INT(see_icrc(table, 77, 0, 3), one);
    CHECK_INT(see_icrc(table, 0, 1, 3), one);
    CHECK_INT(see_icrc(table, 78, 0, 4), two);
    CHECK_INT(see_icrc(table, 0, 1, 4), two);
    /* One more than there was is as good a copy of one as of the other. */
    CHECK_INT(see_icrc(table, 0, 1, 5), two);
    CHECK_INT(see_icrc(table, 78, 1, 6), two);
    rs_match_table_free(table);
}

/* What is full gets room when entries are gone, and grows no further. */
static void
check_full(void)
{
    rs_match_table *table = rs_match_table_new(POINTS, MOST);
    for (guint64 i = 1; i <= 20 * MOST; i++) {
        while (rs_match_table_is_full(table)) {
            rs_match_drop_oldest(table, 0);
        }
        (void)see(table, i * 0x9e3779b97f4a7c15u, 0, i);
        CHECK(rs_match_n(table, 0) <= MOST);
    }
    CHECK_INT(rs_match_n(table, 0), MOST);
    for (guint i = 0; i < MOST; i += 499) {
        guint64 frame = 19 * MOST + 1 + i;
        guint32 at = rs_match_of_frame(table, 0, frame);
        if (CHECK(at != RS_NO_SIGHTING)) {
            CHECK_INT(rs_match_sighting(table, at)->frame, frame);
        }
    }
    CHECK(rs_match_of_frame(table, 0, 19 * MOST) == RS_NO_SIGHTING);
    CHECK(rs_match_of_frame(table, 0, 20 * MOST + 1) == RS_NO_SIGHTING);
    CHECK(rs_match_of_frame(table, 1, 5) == RS_NO_SIGHTING);
    rs_match_table_free(table);
}

/* Frames that have not left are found in whatever order they came, and no others. */
static void
check_frames(void)
{
    rs_match_table *table = rs_match_table_new(POINTS, MOST);
    for (guint64 i = 0; i < 3000; i++) {
        (void)see(table, i, 0, 1 + 3 * (i * 1001 % 3000));
        (void)see(table, i, 1, 2 + 3 * i);
    }
    for (guint i = 0; i < 1000; i++) {
        rs_match_drop_oldest(table, 0);
    }
    guint found[POINTS] = {0};
    for (guint64 frame = 0; frame < 12000; frame++) {
        for (guint point = 0; point < POINTS; point++) {
            guint32 at = rs_match_of_frame(table, point, frame);
            if (at != RS_NO_SIGHTING) {
                CHECK_INT(rs_match_sighting(table, at)->frame, frame);
                CHECK_INT(rs_match_sighting(table, at)->point, point);
                found[point]++;
            }
        }
    }
    CHECK_INT(found[0], 2000);
    CHECK_INT(found[1], 3000);
    rs_match_table_free(table);
}

/* A sighting leaves its point, and its entry stays for the others. */
static void
check_partly_gone(void)
{
    rs_match_table *table = rs_match_table_new(POINTS, MOST);
    guint32 one = see(table, 1, 0, 1);
    (void)see(table, 1, 1, 1);
    rs_match_drop_oldest(table, 0);
    const roce_wire_identity identity = {.narrow = 1};
    CHECK_INT(rs_match_find(table, &identity, 0), one);
    CHECK_INT(rs_match_oldest(table, 0), RS_NO_SIGHTING);
    rs_match_drop_oldest(table, 1);
    CHECK(rs_match_find(table, &identity, 0) == RS_NO_ENTRY);
    rs_match_table_free(table);
}

/* What is settled stays, the rest goes to an entry that is found from then on. */
static void
check_parted(void)
{
    rs_match_table *table = rs_match_table_new(POINTS, MOST);
    for (guint64 frame = 1; frame <= 4; frame++) {
        (void)see(table, 1, 0, frame);
        (void)see(table, 1, 1, frame);
    }
    for (guint point = 0; point < POINTS; point++) {
        for (guint i = 0; i < 3; i++) {
            guint32 at = rs_match_nth(table, point, i);
            rs_match_sighting(table, at)->flags |= RS_SIGHTING_SETTLED;
        }
    }
    const roce_wire_identity identity = {.narrow = 1};
    guint32 old = rs_match_find(table, &identity, 0);
    rs_match_part(table, old);
    CHECK(rs_match_entry_of(table, old)->resolved);
    CHECK_INT(rs_match_entry_of(table, old)->n, 6);
    CHECK_INT(rs_match_entry_of(table, old)->newest_ns, 30);
    guint32 rest = rs_match_find(table, &identity, 0);
    if (CHECK(rest != RS_NO_ENTRY && rest != old)) {
        const rs_match_entry *e = rs_match_entry_of(table, rest);
        CHECK_INT(e->n, 2);
        CHECK(e->parted);
        CHECK_INT(rs_match_sighting(table, e->first)->frame, 4);
        CHECK_INT(rs_match_sighting(table, e->first)->entry, rest);
        CHECK_INT(rs_match_sighting(table, e->other)->point, 0);
    }
    CHECK_INT(see(table, 1, 0, 5), rest);
    for (guint point = 0; point < POINTS; point++) {
        while (rs_match_oldest(table, point) != RS_NO_SIGHTING) {
            rs_match_drop_oldest(table, point);
        }
    }
    CHECK(rs_match_find(table, &identity, 0) == RS_NO_ENTRY);
    rs_match_table_free(table);
}

int
main(void)
{
    check_parted();
    check_twins();
    check_cut();
    check_full();
    check_frames();
    check_partly_gone();
    return check_status();
}
