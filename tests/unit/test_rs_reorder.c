/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The buffer that puts frames in the order of time.
 *
 * The one rule: a row says what is pushed and what comes out after each push; the first
 * byte of a frame is its name.
 */
#include "check.h"

#include "reorder.h"

#include <glib.h>

#define MAX_STEPS 12
#define MAX_FRAMES 65536u /* as reorder.c has it */
#define MAX_BYTES (64u * 1024 * 1024)

static void
take(void *ctx, const roce_frame *frame)
{
    GString *out = ctx;
    g_string_append_c(out, (char)frame->bytes[0]);
}

static void
push(rs_reorder *reorder, char name, guint64 key_ns)
{
    guint8 byte = (guint8)name;
    const roce_frame frame = {.bytes = &byte, .captured_bytes = 1, .wire_bytes = 1};
    rs_reorder_push(reorder, &frame, key_ns);
    byte = '!'; /* the buffer has its own copy */
}

static void
test_order(void)
{
    static const struct {
        const char *name;
        guint64 horizon_ns;
        guint64 keys_ns[MAX_STEPS]; /* of frames a, b, c ...; 0 ends */
        const char *at_once;        /* what came out before the flush */
        const char *in_all;
    } rows[] = {
        {"in order", 10, {100, 105, 110}, "", "abc"},
        {"the newest is the horizon beyond the oldest", 10, {100, 110}, "", "ab"},
        {"one less", 10, {100, 109}, "", "ab"},
        {"one more", 10, {100, 111}, "a", "ab"},
        {"backwards", 10, {103, 102, 101}, "", "cba"},
        {"ties keep their order", 10, {100, 100, 99, 100, 99}, "", "ceabd"},
        {"all of one time", 10, {7, 7, 7, 7, 7, 7, 7}, "", "abcdefg"},
        {"no horizon", 0, {100, 101, 102}, "ab", "abc"},
        {"no horizon, one time", 0, {100, 100}, "", "ab"},
        {"behind what is gone", 10, {100, 120, 105}, "ac", "acb"},
        {"two queues", 20, {100, 102, 104, 101, 103, 105, 130}, "adbecf", "adbecfg"},
        {"four horizons back: too late", 10, {100, 60}, "b", "ba"},
        {"one less than that", 10, {100, 61}, "b", "ba"},
        {"one more: set back", 10, {100, 59, 100}, "ab", "abc"},
        {"set back for good", 10, {1000, 1005, 10, 20, 15}, "ab", "abced"},
        {"a single stamp far ahead", 10, {100, 101, 90000, 102, 103}, "abc", "abcde"},
        {"far ahead for good", 10, {100, 101, 90000, 90001}, "ab", "abcd"},
        {"the greatest stamps", 10, {G_MAXUINT64 - 1, G_MAXUINT64}, "", "ab"},
        {"from one end to the other",
         10,
         {1, G_MAXUINT64, 1, G_MAXUINT64},
         "abc",
         "abcd"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        g_autoptr(GString) out = g_string_new(NULL);
        rs_reorder *reorder = rs_reorder_new(rows[i].horizon_ns, take, out);
        for (guint k = 0; k < MAX_STEPS && rows[i].keys_ns[k] != 0; k++) {
            push(reorder, (char)('a' + k), rows[i].keys_ns[k]);
        }
        CHECK_STR(out->str, rows[i].at_once);
        rs_reorder_flush(reorder);
        CHECK_STR(out->str, rows[i].in_all);
        rs_reorder_free(reorder);
    }
}

static void
test_follow(void)
{
    static const struct {
        const char *name;
        guint64 clock_ns, time_ns, want_ns;
    } rows[] = {
        {"goes on", 100, 101, 101},          {"stands", 100, 100, 100},
        {"steps back", 100, 99, 100},        {"four horizons back", 100, 60, 100},
        {"one more: set back", 100, 59, 59}, {"set forward", 100, 100000, 100000},
        {"first of all", 0, 100, 100},
    };
    rs_reorder *reorder = rs_reorder_new(10, take, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        CHECK_INT(rs_reorder_follow(reorder, rows[i].clock_ns, rows[i].time_ns),
                  rows[i].want_ns);
    }
    rs_reorder_free(reorder);
}

static void
test_extend(void)
{
    check_row("extend");
    g_autoptr(GString) out = g_string_new(NULL);
    rs_reorder *reorder = rs_reorder_new(10, take, out);
    push(reorder, 'a', 100);
    rs_reorder_extend(reorder, 5); /* never less */
    push(reorder, 'b', 110);
    CHECK_STR(out->str, "");
    rs_reorder_extend(reorder, 30);
    push(reorder, 'c', 130);
    CHECK_STR(out->str, "");
    push(reorder, 'd', 131);
    CHECK_STR(out->str, "a");
    rs_reorder_free(reorder); /* with frames in it */
    rs_reorder_free(NULL);
}

static void
count(void *ctx, const roce_frame *frame)
{
    guint64 *next = ctx;
    CHECK_INT(frame->number, *next);
    (*next)++;
}

/* What the buffer holds is bounded, also where time stands still. */
static void
test_caps(void)
{
    static guint8 bytes[64 * 1024];
    static const struct {
        const char *name;
        guint32 frame_bytes;
        guint fits;
    } rows[] = {
        {"frames", 1, MAX_FRAMES},
        {"bytes", sizeof bytes, MAX_BYTES / sizeof bytes},
        {"empty frames", 0, MAX_FRAMES},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        check_row(rows[i].name);
        guint64 next = 0;
        rs_reorder *reorder = rs_reorder_new(G_MAXUINT64, count, &next);
        for (guint64 n = 0; n < rows[i].fits + 2; n++) {
            const roce_frame frame = {
                .bytes = bytes, .captured_bytes = rows[i].frame_bytes, .number = n};
            rs_reorder_push(reorder, &frame, 100);
            CHECK_INT(next, n < rows[i].fits ? 0 : n - rows[i].fits + 1);
        }
        rs_reorder_flush(reorder);
        CHECK_INT(next, rows[i].fits + 2);
        rs_reorder_free(reorder);
    }
}

int
main(void)
{
    test_order();
    test_follow();
    test_extend();
    test_caps();
    return check_status();
}
