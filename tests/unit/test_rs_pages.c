/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Large pages are asked for where threads allocate first, and nowhere else. */
#include "pages.h"

#include "check.h"
#include "sanitized.h"
#include "thread.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((gsize)1024 * 1024)
#define N_PIECES 100
#define PIECE_BYTES 100000
#define N_BEFORE 10 /* that find their place in what was there before */

/* Whether the flags that the kernel tells of the mapping with that byte have one of that
 * name; see proc_pid_smaps(5). */
static gboolean
has_flag(const void *byte, const char *flag)
{
    g_autofree char *text = NULL;
    if (!CHECK(g_file_get_contents("/proc/self/smaps", &text, NULL, NULL))) {
        return FALSE;
    }
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    gboolean inside = FALSE;
    for (guint i = 0; lines[i] != NULL; i++) {
        gsize from;
        gsize until;
        if (sscanf(lines[i], "%zx-%zx ", &from, &until) == 2) {
            inside = (gsize)byte >= from && (gsize)byte < until;
        } else if (inside && g_str_has_prefix(lines[i], "VmFlags:")) {
            g_auto(GStrv) flags = g_strsplit(lines[i], " ", -1);
            return g_strv_contains((const char *const *)flags, flag);
        }
    }
    return FALSE;
}

/* Whether large pages are asked for what is allocated from now on. */
static gboolean
are_large(void)
{
    void *pieces[N_PIECES];
    guint n = 0;
    for (guint i = 0; i < N_PIECES; i++) {
        pieces[i] = g_malloc(PIECE_BYTES);
        n += has_flag(pieces[i], "hg") ? 1 : 0;
    }
    for (guint i = 0; i < N_PIECES; i++) {
        g_free(pieces[i]);
    }
    return n >= N_PIECES - N_BEFORE;
}

/* By whoever runs the test. */
static gboolean
is_limited_already(void)
{
    struct rlimit data;
    struct rlimit all;
    return getrlimit(RLIMIT_DATA, &data) != 0 || getrlimit(RLIMIT_AS, &all) != 0 ||
           data.rlim_cur != RLIM_INFINITY || all.rlim_cur != RLIM_INFINITY;
}

static void
check_child(pid_t pid)
{
    int status;
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
}

/* Where memory is limited none of it is set aside. */
static void
test_limited(gboolean data_alone)
{
    pid_t pid = fork();
    if (pid == 0) {
        const struct rlimit limit = {1024 * MIB, 1024 * MIB};
        gboolean is_set = data_alone ? setrlimit(RLIMIT_DATA, &limit) == 0
                                     : setrlimit(RLIMIT_AS, &limit) == 0;
        guint64 before = rs_pages_unused();
        rs_pages_prefer_large();
        rs_pages_expect_thread();
        rs_pages_prefer_large_here();
        guint64 after = rs_pages_unused(); /* are_large() itself leaves memory unused */
        _exit(is_set && after < before + MIB && !are_large() ? 0 : 1);
    }
    check_child(pid);
}

static gpointer
look(gpointer are)
{
    *(gboolean *)are = are_large();
    return NULL;
}

static void
test_threads(void)
{
    gboolean are[2] = {FALSE, FALSE};
    GThread *threads[2];
    for (guint i = 0; i < 2; i++) {
        threads[i] = rs_thread_new("pages", look, &are[i]);
    }
    for (guint i = 0; i < 2; i++) {
        if (CHECK(threads[i] != NULL)) {
            g_thread_join(threads[i]);
            CHECK(are[i]);
        }
    }
}

/* What was asked for is there to be used, and is told of until it is. */
static void
test_unused(void)
{
    guint64 before = rs_pages_unused();
    void *piece = g_malloc(MIB / 2);
    guint64 after = rs_pages_unused();
    CHECK(before > 60 * MIB && before < 1040 * MIB);
    CHECK(after <= before - MIB / 2 && after > before - MIB);
    g_free(piece);
    rs_pages_be_one_of_many(0);
    CHECK(rs_pages_unused() > 50 * MIB && rs_pages_unused() < 80 * MIB);
    CHECK(are_large());
}

/* What is set aside beyond what a worker may take would be taken all the same. */
static void
test_limited_worker(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        rs_pages_be_one_of_many(20 * MIB);
        _exit(rs_pages_unused() < 20 * MIB ? 0 : 1);
    }
    check_child(pid);
}

static void
test_pieces(void)
{
    static const struct {
        const char *text;
        guint64 least_bytes, bytes;
    } rows[] = {
        {"", 1, 0},
        {"Node 0, zone      DMA      1      0      2 \n", 1, 4096 + 2 * 16384},
        {"Node 0, zone      DMA      1      0      2 \n", 8192, 2 * 16384},
        {"Node 0, zone    DMA32      7      3\nNode 1, zone   Normal      0      1\n",
         8192, 4 * 8192},
        {"Node 0, zone   Normal      7      3\n", 16384, 0},
        {"Node 0, zone   Normal\n", 1, 0},
        {"something else\n 1 2 3\n", 1, 0},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].text);
        CHECK_INT(rs_pages_in_pieces(rows[i].text, 4096, rows[i].least_bytes),
                  rows[i].bytes);
    }
    check_row(NULL);
}

int
main(void)
{
    test_pieces();
    gboolean is_there =
        g_file_test("/sys/kernel/mm/transparent_hugepage", G_FILE_TEST_IS_DIR);
#if defined(CHECK_SANITIZED) || !defined(__GLIBC__)
    is_there = FALSE;
#endif
    if (is_limited_already() || !is_there) {
        return check_status() == 0 ? 77 : 1;
    }
    test_limited(TRUE);
    test_limited(FALSE);
    void *before = g_malloc(PIECE_BYTES);
    CHECK(!has_flag(before, "hg"));
    g_free(before);
    rs_pages_prefer_large();
    CHECK(are_large());
    test_unused();
    test_limited_worker();
    test_threads();
    return check_status();
}
