/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capture points: what a point is, which file goes on with which, silent interfaces and
 * drops.
 *
 * The one rule: frames come as the feed would bring them, each file's end told where it
 * is.
 */
#include "capture_maker.h"

#include "points.h"

#include "roce/decode.h"

#define TOLERANCE_NS UINT64_C(5000000) /* as points.c has it */

typedef struct bench {
    rs_options options;
    rs_points *points;
    guint64 number;
} bench;

static bench
bench_new(GStrv files)
{
    bench b = {.options = {.files = files}};
    roce_ports_init(&b.options.ports);
    return b;
}

/* A file of so many interfaces, all Ethernet; names may be NULL. */
static rs_reader
reader_of(GPtrArray *interfaces, const char *const *names, guint n)
{
    for (guint i = 0; i < n; i++) {
        rs_interface *interface = g_new0(rs_interface, 1);
        interface->name = (char *)(uintptr_t)(names != NULL ? names[i] : NULL);
        interface->link_type = 1;
        g_ptr_array_add(interfaces, interface);
    }
    return (rs_reader){.interfaces = interfaces};
}

/* One frame of an interface, without any packet in it. */
static rs_point *
take(bench *b, guint file_i, const rs_reader *reader, guint interface_i,
     guint64 time_ns)
{
    rs_point *point =
        rs_points_of(b->points, file_i, reader, interface_i, NULL, time_ns);
    rs_point_follow_time(point, time_ns);
    return point;
}

/* ---- files that go on with others ---- */

/* Of one file after the other: when they begin and end. */
typedef struct span {
    guint64 first_ns, last_ns;
} span;

static void
test_follow_on(void)
{
    static const struct {
        const char *name;
        span before, next;
        guint n_points;
    } rows[] = {
        {"an hour later", {10, 20}, {20 + UINT64_C(3600000000000), 0}, 1},
        {"at once", {T0_NS, T0_NS + 9}, {T0_NS + 9, 0}, 1},
        {"within the tolerance",
         {T0_NS, T0_NS + 2 * TOLERANCE_NS},
         {T0_NS + TOLERANCE_NS + 1, 0},
         1},
        {"at its end", {T0_NS, T0_NS + 2 * TOLERANCE_NS}, {T0_NS + TOLERANCE_NS, 0}, 1},
        {"beyond it",
         {T0_NS, T0_NS + 2 * TOLERANCE_NS},
         {T0_NS + TOLERANCE_NS - 1, 0},
         2},
        {"long before", {T0_NS, T0_NS + 9}, {10, 0}, 2},
        {"the greatest stamp", {10, 20}, {G_MAXUINT64 - TOLERANCE_NS, 0}, 1},
    };
    char *files[] = {(char *)(uintptr_t) "a1", (char *)(uintptr_t) "a2", NULL};
    g_autoptr(GPtrArray) interfaces = g_ptr_array_new_with_free_func(g_free);
    rs_reader reader = reader_of(interfaces, NULL, 1);
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        bench b = bench_new(files);
        b.points = rs_points_new(&b.options);
        rs_point *first = take(&b, 0, &reader, 0, rows[i].before.first_ns);
        take(&b, 0, &reader, 0, rows[i].before.last_ns);
        CHECK(!rs_points_file_ended(b.points, 0));
        rs_points_end_file(b.points, 0, &reader);
        CHECK(rs_points_file_ended(b.points, 0));
        rs_point *next = take(&b, 1, &reader, 0, rows[i].next.first_ns);
        CHECK_INT(rs_points_n(b.points), rows[i].n_points);
        CHECK_INT(next == first, rows[i].n_points == 1);
        CHECK_INT(next->survey.file_i, 1);
        CHECK_INT(next->packets, rows[i].n_points == 1 ? 3 : 1);
        CHECK_INT(rs_points_overlap(b.points), rows[i].n_points == 2);
        rs_points_free(b.points);
    }
}

static void
test_not_ended(void)
{
    check_row("the one before is still read");
    char *files[] = {(char *)(uintptr_t) "a1", (char *)(uintptr_t) "a2", NULL};
    g_autoptr(GPtrArray) interfaces = g_ptr_array_new_with_free_func(g_free);
    rs_reader reader = reader_of(interfaces, NULL, 1);
    bench b = bench_new(files);
    b.points = rs_points_new(&b.options);
    rs_point *first = take(&b, 0, &reader, 0, T0_NS);
    rs_point *second = take(&b, 1, &reader, 0, T0_NS + 1);
    CHECK(first != second);
    CHECK(rs_points_before(b.points, second, second->first_ns) == NULL);
    take(&b, 0, &reader, 0, T0_NS + 2);
    rs_points_end_file(b.points, 0, &reader);
    CHECK(rs_points_before(b.points, second, second->first_ns) == first);
    CHECK(rs_points_overlap(b.points));
    rs_points_join_rotated(b.points);
    CHECK_INT(second->survey.group, second->id); /* not surveyed so far */
    second->survey.n_surveys = 1;
    rs_points_join_rotated(b.points);
    CHECK_INT(second->survey.group, first->id);
    CHECK(!rs_points_overlap(b.points));
    rs_points_free(b.points);
}

/* Several files have ended: which of them the last one goes on with. */
static void
test_names(void)
{
    static const struct {
        const char *name;
        const char *files[3]; /* two that ended, the first sooner; one that follows */
        guint before;         /* which of the two */
    } rows[] = {
        {"two hosts", {"h1_00.pcap", "h2_00.pcap", "h1_01.pcap"}, 0},
        {"the other", {"h1_00.pcap", "h2_00.pcap", "h2_01.pcap"}, 1},
        {"one digit more", {"h1_9.pcap", "h2_9.pcap", "h1_10.pcap"}, 0},
        {"host behind", {"09-x.pcap", "09-y.pcap", "10-x.pcap"}, 0},
        {"directories", {"a/0", "b/0", "a/1"}, 0},
        {"numbers at the end", {"eth1.pcap8", "eth2.pcap8", "eth1.pcap9"}, 0},
        {"nothing to tell: the last to end", {"a", "b", "c"}, 1},
        {"the same name twice", {"x", "x", "x"}, 1},
        {"a name within another", {"aa", "aaaa", "aaa"}, 1},
    };
    g_autoptr(GPtrArray) interfaces = g_ptr_array_new_with_free_func(g_free);
    rs_reader reader = reader_of(interfaces, NULL, 1);
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        char *files[4] = {NULL};
        for (guint k = 0; k < 3; k++) {
            files[k] = (char *)(uintptr_t)rows[i].files[k];
        }
        bench b = bench_new(files);
        b.points = rs_points_new(&b.options);
        const rs_point *ended[] = {take(&b, 0, &reader, 0, T0_NS),
                                   take(&b, 1, &reader, 0, T0_NS + 1)};
        CHECK_INT(rs_points_n(b.points), 2);
        rs_points_end_file(b.points, 0, &reader);
        rs_points_end_file(b.points, 1, &reader);
        CHECK(take(&b, 2, &reader, 0, T0_NS + 2) == ended[rows[i].before]);
        rs_points_free(b.points);
    }
}

/* A file of a more similar name is still being read: it may be the one before. */
static void
test_waits_for_name(void)
{
    check_row("a more similar name is still read");
    char *files[] = {(char *)(uintptr_t) "h2_0", (char *)(uintptr_t) "h1_0",
                     (char *)(uintptr_t) "h1_1", NULL};
    g_autoptr(GPtrArray) interfaces = g_ptr_array_new_with_free_func(g_free);
    rs_reader reader = reader_of(interfaces, NULL, 1);
    bench b = bench_new(files);
    b.points = rs_points_new(&b.options);
    take(&b, 0, &reader, 0, T0_NS);
    rs_point *before = take(&b, 1, &reader, 0, T0_NS + 1);
    rs_points_end_file(b.points, 0, &reader);
    const rs_point *next = take(&b, 2, &reader, 0, T0_NS + 2);
    CHECK_INT(rs_points_n(b.points), 3);
    take(&b, 1, &reader, 0, T0_NS + 3);
    rs_points_end_file(b.points, 1, &reader);
    CHECK(rs_points_before(b.points, next, next->first_ns) == before);
    rs_points_free(b.points);
}

/* ---- interfaces ---- */

static void
test_interfaces(void)
{
    static const struct {
        const char *name;
        const char *first[2], *second[2]; /* interfaces of two files */
        guint met;                        /* of the second file, met first */
        gint goes_on_with;                /* point; -1: a new one */
    } rows[] = {
        {"without names, by number", {NULL, NULL}, {NULL, NULL}, 1, 1},
        {"the other", {NULL, NULL}, {NULL, NULL}, 0, 0},
        {"by name", {"eth0", "eth1"}, {"eth1", "eth0"}, 0, 1},
        {"by name, the other", {"eth0", "eth1"}, {"eth1", "eth0"}, 1, 0},
        {"another name", {"eth0", "eth1"}, {"eth2", "eth0"}, 0, -1},
        {"a name and none", {"eth0", "eth1"}, {NULL, NULL}, 0, -1},
    };
    char *files[] = {(char *)(uintptr_t) "a1", (char *)(uintptr_t) "a2", NULL};
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        g_autoptr(GPtrArray) one = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GPtrArray) two = g_ptr_array_new_with_free_func(g_free);
        rs_reader first = reader_of(one, rows[i].first, 2);
        rs_reader second = reader_of(two, rows[i].second, 2);
        bench b = bench_new(files);
        b.points = rs_points_new(&b.options);
        take(&b, 0, &first, 0, T0_NS);
        take(&b, 0, &first, 1, T0_NS);
        rs_points_end_file(b.points, 0, &first);
        const rs_point *point = take(&b, 1, &second, rows[i].met, T0_NS + 1);
        guint want = rows[i].goes_on_with < 0 ? 2 : (guint)rows[i].goes_on_with;
        CHECK_INT(point->id, want);
        rs_points_free(b.points);
    }
}

/* Frames that came from elsewhere tell nothing of those that an interface captured. */
static void
test_itself(void)
{
    char *files[] = {(char *)(uintptr_t) "a1", (char *)(uintptr_t) "a2", NULL};
    g_autoptr(GPtrArray) interfaces = g_ptr_array_new_with_free_func(g_free);
    rs_reader reader = reader_of(interfaces, NULL, 2);
    const roce_packet mirrored = {.mirror = {.kind = ROCE_MIRROR_ERSPAN_II}};
    bench b = bench_new(files);
    b.points = rs_points_new(&b.options);
    CHECK(rs_points_itself(b.points, 0, 0) == NULL);
    const rs_point *from = rs_points_of(b.points, 1, &reader, 1, &mirrored, T0_NS);
    CHECK(rs_points_itself(b.points, 1, 1) == NULL);
    const rs_point *second = take(&b, 1, &reader, 1, T0_NS);
    const rs_point *first = take(&b, 0, &reader, 0, T0_NS);
    CHECK(rs_points_of(b.points, 1, &reader, 1, &mirrored, T0_NS) == from);
    CHECK(first != second && first != from && second != from);
    CHECK(rs_points_itself(b.points, 1, 1) == second);
    CHECK(rs_points_itself(b.points, 0, 0) == first);
    CHECK(rs_points_itself(b.points, 0, 1) == NULL);
    CHECK(rs_points_itself(b.points, 1, 0) == NULL);
    CHECK(rs_points_itself(b.points, 2, 0) == NULL);
    rs_points_free(b.points);
}

static void
test_link_type(void)
{
    check_row("another link type");
    char *files[] = {(char *)(uintptr_t) "a1", (char *)(uintptr_t) "a2", NULL};
    g_autoptr(GPtrArray) one = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) two = g_ptr_array_new_with_free_func(g_free);
    rs_reader first = reader_of(one, NULL, 1);
    rs_reader second = reader_of(two, NULL, 1);
    ((rs_interface *)g_ptr_array_index(two, 0))->link_type = 113;
    bench b = bench_new(files);
    b.points = rs_points_new(&b.options);
    take(&b, 0, &first, 0, T0_NS);
    rs_points_end_file(b.points, 0, &first);
    take(&b, 1, &second, 0, T0_NS + 1);
    CHECK_INT(rs_points_n(b.points), 2);
    CHECK(!rs_points_overlap(b.points));
    rs_points_free(b.points);
}

/* Interfaces that delivered nothing are points as well; drops add up over files. */
static void
test_silent_and_drops(void)
{
    check_row("silent");
    char *files[] = {(char *)(uintptr_t) "a1", (char *)(uintptr_t) "a2", NULL};
    static const char *const names[] = {"eth0", "eth1"};
    g_autoptr(GPtrArray) interfaces = g_ptr_array_new_with_free_func(g_free);
    rs_reader reader = reader_of(interfaces, names, 2);
    rs_interface *busy = g_ptr_array_index(interfaces, 0);
    bench b = bench_new(files);
    b.options.link_speed_bps = 100;
    b.points = rs_points_new(&b.options);
    const rs_point *first = take(&b, 0, &reader, 0, T0_NS);
    CHECK_INT(rs_points_n(b.points), 1);
    rs_points_end_file(b.points, 0, &reader);
    CHECK_INT(rs_points_n(b.points), 2);
    CHECK(!first->dropped_known);
    const rs_point *silent = rs_points_at(b.points, 1);
    CHECK_STR(silent->interface, "eth1");
    CHECK_INT(silent->packets, 0);
    CHECK_INT(silent->speed_bps, 100);
    CHECK(silent->speed_from_user);

    check_row("drops");
    busy->dropped_known = TRUE;
    busy->dropped = 3;
    take(&b, 1, &reader, 0, T0_NS + 1);
    rs_points_end_file(b.points, 1, &reader);
    CHECK_INT(rs_points_n(b.points), 2);
    CHECK(first->dropped_known && !silent->dropped_known);
    CHECK_INT(first->dropped, 3);
    CHECK_INT(first->survey.file_i, 1);
    CHECK_INT(silent->survey.file_i, 1);

    check_row("a file that could not be opened");
    rs_points_end_file(b.points, 7, NULL);
    CHECK(rs_points_file_ended(b.points, 7));
    CHECK(!rs_points_file_ended(b.points, 6));
    CHECK(!rs_points_file_ended(b.points, 8));
    rs_points_free(b.points);
    rs_points_free(NULL);
}

static void
test_follow_time(void)
{
    static const struct {
        const char *name;
        guint64 times_ns[4]; /* 0 ends */
        guint64 steps, largest_ns, newest_ns;
    } rows[] = {
        {"one", {5}, 0, 0, 5},
        {"forward", {5, 6}, 0, 0, 6},
        {"stands", {5, 5}, 0, 0, 5},
        {"one back", {5, 4}, 1, 1, 5},
        {"back twice", {9, 4, 8, 7}, 2, 5, 9},
        {"years", {G_MAXUINT64, 1, G_MAXUINT64}, 1, G_MAXUINT64 - 1, G_MAXUINT64},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        rs_point point = {.id = 0};
        guint64 last_ns = rows[i].times_ns[0];
        for (guint k = 0; k < 4 && rows[i].times_ns[k] != 0; k++) {
            guint64 now_ns = rows[i].times_ns[k];
            CHECK_INT(rs_point_follow_time(&point, now_ns),
                      last_ns > now_ns ? last_ns - now_ns : 0);
            last_ns = now_ns;
        }
        CHECK_INT(point.first_ns, rows[i].times_ns[0]);
        CHECK_INT(point.newest_ns, rows[i].newest_ns);
        CHECK_INT(point.steps_back, rows[i].steps);
        CHECK_INT(point.largest_step_ns, rows[i].largest_ns);
    }
}

int
main(void)
{
    test_follow_on();
    test_not_ended();
    test_names();
    test_waits_for_name();
    test_interfaces();
    test_itself();
    test_link_type();
    test_silent_and_drops();
    test_follow_time();
    return check_status();
}
