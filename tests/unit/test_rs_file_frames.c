/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which frame of which file a frame of the capture is.
 *
 * The one rule: what is found is what counting frame by frame finds.
 */
#include "file_frames.h"

#include "check.h"

#include <glib.h>

#define MOST_TURNS 8

static const struct {
    const char *name;
    guint n_files;
    gsize most_bytes;
    struct {
        guint file_i;
        guint64 n;
    } turns[MOST_TURNS]; /* up to n of 0 */
    guint64 frame;
    guint file_i;
    guint64 number; /* 0: not known */
} cases[] = {
    {"first of all", 2, 100, {{1, 3}, {0, 2}}, 1, 1, 1},
    {"last of a turn", 2, 100, {{1, 3}, {0, 2}}, 3, 1, 3},
    {"first of the next", 2, 100, {{1, 3}, {0, 2}}, 4, 0, 1},
    {"last of all", 2, 100, {{1, 3}, {0, 2}}, 5, 0, 2},
    {"behind the last", 2, 100, {{1, 3}, {0, 2}}, 6, 0, 0},
    {"nothing read", 2, 100, {{0, 0}}, 1, 0, 0},
    {"a turn in two parts", 2, 100, {{1, 3}, {1, 4}, {0, 2}}, 8, 0, 1},
    {"goes on with its count", 2, 100, {{0, 3}, {1, 4}, {0, 2}}, 9, 0, 5},
    {"the greatest of a byte", 2, 100, {{0, 63}, {1, 1}, {0, 1}}, 65, 0, 64},
    {"one more", 2, 100, {{0, 64}, {1, 1}, {0, 1}}, 66, 0, 65},
    {"many files", 300, 100, {{299, 1}, {298, 1}, {299, 1}}, 3, 299, 2},
    {"a long turn",
     3,
     100,
     {{2, UINT64_C(1) << 40}, {0, 2}},
     (UINT64_C(1) << 40) + 2,
     0,
     2},
    {"there is room for a turn", 2, 11, {{0, 1}, {1, 1}, {0, 1}}, 2, 1, 1},
    {"there is none for the next", 2, 10, {{0, 1}, {1, 1}, {0, 1}}, 2, 0, 0},
    {"what came before is known", 2, 10, {{0, 1}, {1, 1}, {0, 1}}, 1, 0, 1},
};

static void
test_cases(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        check_row(cases[i].name);
        rs_file_frames *all = rs_file_frames_new(cases[i].n_files, cases[i].most_bytes);
        for (guint k = 0; k < MOST_TURNS && cases[i].turns[k].n > 0; k++) {
            rs_file_frames_count(all, cases[i].turns[k].file_i, cases[i].turns[k].n);
        }
        rs_file_frame found;
        rs_file_frames_find(all, &cases[i].frame, 1, &found);
        CHECK_INT(found.file_i, cases[i].file_i);
        CHECK_INT(found.number, cases[i].number);
        rs_file_frames_free(all);
    }
    check_row(NULL);
}

/* Many turns of all lengths, beyond a block, and all frames at once, each twice. */
static void
test_many(void)
{
    enum {
        N_FILES = 5,
        N_TURNS = 100000
    };
    g_autoptr(GRand) random = g_rand_new_with_seed(7);
    g_autoptr(GArray) frames = g_array_new(FALSE, FALSE, sizeof(guint64));
    g_autoptr(GArray) want = g_array_new(FALSE, FALSE, sizeof(rs_file_frame));
    guint64 counts[N_FILES] = {0};
    guint64 last = 0;
    rs_file_frames *all = rs_file_frames_new(N_FILES, RS_FILE_FRAMES_BYTES);
    for (guint i = 0; i < N_TURNS; i++) {
        guint file_i = (guint)g_rand_int_range(random, 0, N_FILES);
        guint n = g_rand_int_range(random, 0, 20) == 0 ? 200 : 1;
        rs_file_frames_count(all, file_i, n);
        counts[file_i] += n;
        last += n;
        const rs_file_frame where = {file_i, counts[file_i]};
        for (guint k = 0; k < 2; k++) {
            g_array_append_val(frames, last);
            g_array_append_val(want, where);
        }
    }
    g_autofree rs_file_frame *found = g_new0(rs_file_frame, frames->len);
    rs_file_frames_find(all, &g_array_index(frames, guint64, 0), frames->len, found);
    for (guint i = 0; i < frames->len; i++) {
        const rs_file_frame *where = &g_array_index(want, rs_file_frame, i);
        if (found[i].file_i != where->file_i || found[i].number != where->number) {
            CHECK_INT(found[i].number, where->number);
            break;
        }
    }
    rs_file_frames_free(all);
}

int
main(void)
{
    test_cases();
    test_many();
    rs_file_frames_free(NULL);
    return check_status();
}
