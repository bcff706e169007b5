/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several files as one sequence.
 *
 * The one rule: a row has the stamps of each file, and what the feed says: "0:10" is the
 * frame of file 0 with stamp 10, "0." its end, "0!" its end before time.
 */
#include "capture_maker.h"

#include "feed.h"

#define MAX_FILES 4

static void
put_stamps(maker *m, const char *stamps)
{
    put_pcap(m, 0xa1b23c4d, 65535, 1);
    g_auto(GStrv) words = g_strsplit(stamps, " ", -1);
    for (char **word = words; *word != NULL && **word != '\0'; word++) {
        put_32(m, 0);
        put_32(m, (guint32)g_ascii_strtoull(*word, NULL, 10));
        put_32(m, 20);
        put_32(m, 20);
        put_frame(m, 20);
    }
}

/* A capture; "!" at its end stands for a record that is cut off, "?" alone for no
 * capture at all. */
static char *
store_stamps(const char *name, const char *stamps)
{
    maker m = {g_byte_array_new(), FALSE};
    if (stamps[0] == '?') {
        put_bytes(&m, stamps, 1);
    } else {
        g_autofree char *good = g_strdup(stamps);
        gboolean damaged = g_str_has_suffix(good, "!");
        good[strlen(good) - (damaged ? 1 : 0)] = '\0';
        put_stamps(&m, g_strchomp(good));
        if (damaged) {
            put_32(&m, 0);
        }
    }
    char *path = store(name, m.out);
    g_byte_array_unref(m.out);
    return path;
}

/* The paths to captures with the stamps of each; NULL ends them. */
static GStrv
store_files(const char *const files[MAX_FILES])
{
    GStrv paths = g_new0(char *, MAX_FILES + 1);
    for (guint i = 0; i < MAX_FILES && files[i] != NULL; i++) {
        g_autofree char *name = g_strdup_printf("%u.pcap", i);
        paths[i] = store_stamps(name, files[i]);
    }
    return paths;
}

static void
say_frame(GString *told, guint file_i, const rs_record *record)
{
    g_string_append_printf(told, "%u:%" G_GUINT64_FORMAT " ", file_i,
                           record->frame.time_ns);
    CHECK_INT(record->frame.bytes[19], 19);
}

static void
say_end(GString *told, guint file_i, const GError *problem)
{
    g_string_append_printf(told, "%u%s ", file_i, problem != NULL ? "!" : ".");
}

static void
say(GString *told, const rs_feed_step *step)
{
    if (step->kind == RS_FEED_FRAME) {
        say_frame(told, step->file_i, &step->record);
        CHECK(step->reader != NULL);
    } else {
        say_end(told, step->file_i, step->problem);
    }
}

static char *
tell_all(GStrv paths)
{
    GString *told = g_string_new(NULL);
    g_autoptr(rs_feed) feed = rs_feed_new(paths);
    rs_feed_read_ahead(feed, 1);
    rs_feed_step step;
    for (rs_feed_next(feed, &step); step.kind != RS_FEED_END;
         rs_feed_next(feed, &step)) {
        say(told, &step);
    }
    rs_feed_next(feed, &step);
    CHECK_INT(step.kind, RS_FEED_END);
    CHECK_INT(rs_feed_position(feed), rs_feed_total_bytes(feed));
    return g_strchomp(g_string_free(told, FALSE));
}

/* The same in batches, with `mark` in front of each. */
static char *
tell_batches(GStrv paths, const char *mark)
{
    GString *told = g_string_new(NULL);
    g_autoptr(rs_feed) feed = rs_feed_new(paths);
    rs_feed_batch batch;
    for (rs_feed_next_batch(feed, &batch); batch.kind != RS_FEED_END;
         rs_feed_next_batch(feed, &batch)) {
        if (batch.kind == RS_FEED_FILE_END) {
            CHECK_INT(batch.n_records, 0);
            say_end(told, batch.file_i, batch.problem);
            continue;
        }
        CHECK(batch.reader != NULL && batch.problem == NULL);
        CHECK(batch.n_records > 0 && batch.n_records <= RS_FEED_BATCH_RECORDS);
        g_string_append(told, mark);
        for (guint i = 0; i < batch.n_records; i++) {
            say_frame(told, batch.file_i, &batch.records[i]);
        }
    }
    rs_feed_next_batch(feed, &batch);
    CHECK_INT(batch.kind, RS_FEED_END);
    return g_strchomp(g_string_free(told, FALSE));
}

static void
test_order(void)
{
    static const struct {
        const char *name;
        const char *files[MAX_FILES];
        const char *told;
    } rows[] = {
        {"one file", {"10 20 30"}, "0:10 0:20 0:30 0."},
        {"side by side", {"10 30", "20 40"}, "0:10 1:20 0:30 0. 1:40 1."},
        {"three",
         {"30 60", "10 40", "20 50"},
         "1:10 2:20 0:30 1:40 1. 2:50 2. 0:60 0."},
        {"one behind the other", {"10 20", "30 40"}, "0:10 0:20 0. 1:30 1:40 1."},
        {"the same, the other way round",
         {"30 40", "10 20"},
         "1:10 1:20 1. 0:30 0:40 0."},
        {"ends when the next begins",
         {"10 20 20", "20 30"},
         "0:10 0:20 0:20 0. 1:20 1:30 1."},
        {"the same, the other way round",
         {"20 30", "10 20 20"},
         "1:10 1:20 1:20 1. 0:20 0:30 0."},
        {"one time", {"10 10", "10 10"}, "0:10 0:10 0. 1:10 1:10 1."},
        {"a step back reorders nothing",
         {"10 30 12 14 40", "20 35"},
         "0:10 1:20 0:30 0:12 0:14 1:35 1. 0:40 0."},
        {"a step far ahead, alone", {"10 90 11 12"}, "0:10 0:90 0:11 0:12 0."},
        {"a step far ahead waits for the other",
         {"10 90 11", "20 30"},
         "0:10 1:20 1:30 1. 0:90 0:11 0."},
        {"no frames", {"", "20"}, "0. 1:20 1."},
        {"no frames behind", {"20", ""}, "1. 0:20 0."},
        {"no frames at all", {"", ""}, "0. 1."},
        {"no capture", {"10", "?", "20"}, "1! 0:10 0. 2:20 2."},
        {"damaged in the middle", {"10 20!", "15 25"}, "0:10 1:15 0:20 0! 1:25 1."},
        {"damaged at once", {"!", "15"}, "0! 1:15 1."},
        {"stamps of 0", {"0 0", "0 5"}, "0:0 0:0 0. 1:0 1:5 1."},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        GStrv paths = store_files(rows[i].files);
        g_autofree char *told = tell_all(paths);
        CHECK_STR(told, rows[i].told);
        g_autofree char *in_batches = tell_batches(paths, "");
        CHECK_STR(in_batches, rows[i].told);
        g_strfreev(paths);
    }
}

/* A batch ends where it is another file's turn, and nowhere else in a short file. */
static void
test_batches(void)
{
    static const struct {
        const char *name;
        const char *files[MAX_FILES];
        const char *told;
    } rows[] = {
        {"one file", {"10 20 12 30"}, "|0:10 0:20 0:12 0:30 0."},
        {"one behind the other", {"30 40", "10 20"}, "|1:10 1:20 1. |0:30 0:40 0."},
        {"by turns",
         {"10 11 30 31", "20 21 40"},
         "|0:10 0:11 |1:20 1:21 |0:30 0:31 0. |1:40 1."},
        {"one time, the earlier first",
         {"10 20 20", "15 20 30"},
         "|0:10 |1:15 |0:20 0:20 0. |1:20 1:30 1."},
        {"one time, the later waits",
         {"15 20 30", "10 20 20"},
         "|1:10 |0:15 |1:20 1:20 1. |0:20 0:30 0."},
        {"a step back ends no turn",
         {"10 15 12 30", "20"},
         "|0:10 0:15 0:12 |1:20 1. |0:30 0."},
        {"damage behind frames", {"10 20!"}, "|0:10 0:20 0!"},
        {"three",
         {"10 40", "20 50", "30 60"},
         "|0:10 |1:20 |2:30 |0:40 0. |1:50 1. |2:60 2."},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        GStrv paths = store_files(rows[i].files);
        g_autofree char *told = tell_batches(paths, "|");
        CHECK_STR(told, rows[i].told);
        g_strfreev(paths);
    }
}

/* Steps and batches may be mixed; a long file comes in several. */
static void
test_long(guint n_ahead)
{
    check_row(n_ahead > 0 ? "long, read ahead" : "long");
    const guint n_frames = 300 * RS_FEED_BATCH_RECORDS + 5;
    g_autoptr(GString) stamps = g_string_new(NULL);
    for (guint i = 0; i < n_frames; i++) {
        g_string_append_printf(stamps, "%u ", i + 1);
    }
    g_autofree char *path = store_stamps("long.pcap", stamps->str);
    char *paths[] = {path, NULL};
    g_autoptr(rs_feed) feed = rs_feed_new(paths);
    CHECK(!rs_feed_takes_long(feed));
    rs_feed_read_ahead(feed, n_ahead);
    rs_feed_step step;
    guint n = 0;
    for (rs_feed_next(feed, &step); step.kind == RS_FEED_FRAME;
         rs_feed_next(feed, &step)) {
        CHECK_INT(step.record.frame.time_ns, ++n);
        rs_feed_batch batch;
        rs_feed_next_batch(feed, &batch);
        for (guint i = 0; i < batch.n_records; i++) {
            CHECK_INT(batch.records[i].frame.time_ns, ++n);
        }
    }
    CHECK_INT(n, n_frames);
}

static void
test_missing(void)
{
    check_row("missing");
    g_autofree char *there = store_stamps("there.pcap", "10");
    g_autofree char *missing = g_build_filename(directory, "missing", NULL);
    char *paths[] = {missing, there, missing, NULL};
    g_autofree char *told = tell_all(paths);
    CHECK_STR(told, "0! 2! 1:10 1.");
}

/* More files than are kept open: each is told of in its time, whatever the order of the
 * command line. */
static void
test_many(void)
{
    static const guint n_files[] = {63, 64, 65, 200};
    for (gsize row = 0; row < G_N_ELEMENTS(n_files); row++) {
        guint n = n_files[row];
        g_autofree char *name = g_strdup_printf("%u files", n);
        check_row(name);
        GStrv paths = g_new0(char *, n + 1);
        for (guint i = 0; i < n; i++) {
            guint turn = i * 11 % n; /* the file that begins i-th; overlaps the next */
            g_autofree char *file = g_strdup_printf("many%u.pcap", turn);
            g_autofree char *stamps = g_strdup_printf("%u %u", 10 * i, 10 * i + 15);
            g_free(paths[turn]);
            paths[turn] = store_stamps(file, stamps);
        }
        g_autoptr(rs_feed) feed = rs_feed_new(paths);
        rs_feed_step step;
        guint64 newest = 0;
        guint frames = 0;
        guint ends = 0;
        for (rs_feed_next(feed, &step); step.kind != RS_FEED_END;
             rs_feed_next(feed, &step)) {
            ends += step.kind == RS_FEED_FILE_END ? 1 : 0;
            if (step.kind == RS_FEED_FRAME) {
                CHECK(step.record.frame.time_ns >= newest);
                newest = step.record.frame.time_ns;
                frames++;
            }
        }
        CHECK_INT(frames, 2 * n);
        CHECK_INT(ends, n);
        g_autofree char *by_steps = tell_all(paths);
        g_autofree char *in_batches = tell_batches(paths, "");
        CHECK_STR(in_batches, by_steps);
        g_strfreev(paths);
    }
}

static void
test_pipe(void)
{
    check_row("pipe");
    maker m = {g_byte_array_new(), FALSE};
    put_stamps(&m, "15 25");
    int ends[2];
    if (!CHECK(pipe(ends) == 0)) {
        return;
    }
    CHECK_INT(write(ends[1], m.out->data, m.out->len), m.out->len);
    close(ends[1]);
    replace_stdin(ends[0]);
    g_byte_array_unref(m.out);
    g_autofree char *file = store_stamps("beside.pcap", "10 20");
    char *paths[] = {file, "-", NULL};
    g_autoptr(rs_feed) feed = rs_feed_new(paths);
    g_autoptr(GString) told = g_string_new(NULL);
    CHECK_INT(rs_feed_total_bytes(feed), 0); /* not known */
    rs_feed_step step;
    for (rs_feed_next(feed, &step); step.kind != RS_FEED_END;
         rs_feed_next(feed, &step)) {
        say(told, &step);
    }
    CHECK_STR(told->str, "0:10 1:15 0:20 0. 1:25 1. ");
}

static void
test_abandon(void)
{
    check_row("abandon");
    g_autofree char *a = store_stamps("a.pcap", "10 20");
    g_autofree char *b = store_stamps("b.pcap", "15 25");
    char *paths[] = {a, b, NULL};
    for (guint taken = 0; taken < 6; taken++) {
        g_autoptr(rs_feed) feed = rs_feed_new(paths);
        rs_feed_step step;
        guint ended = 0;
        for (guint i = 0; i < taken; i++) {
            rs_feed_next(feed, &step);
            ended += step.kind == RS_FEED_FILE_END ? 1 : 0;
        }
        while (rs_feed_abandon(feed, &step)) {
            CHECK_INT(step.kind, RS_FEED_FILE_END);
            CHECK(step.problem == NULL);
            ended++;
        }
        CHECK_INT(ended, 2);
    }
    rs_feed_free(NULL);
}

int
main(void)
{
    if (!make_directory()) {
        return check_status();
    }
    test_order();
    test_batches();
    test_long(0);
    test_long(1);
    test_missing();
    test_many();
    test_abandon();
    test_pipe();
    remove_directory();
    return check_status();
}
