/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The buffer that puts frames in the order of time.
 *
 * The one rule: a row says what is pushed and what comes out after each push; the first
 * byte of a frame is its name.
 */
#include "check.h"
#include "failing_alloc.h"

#include "roce/reorder.h"

#define N_ROWS(rows) (sizeof(rows) / sizeof(rows)[0])
#define MAX_STEPS 12
#define MAX_FRAMES 65536u /* as reorder.c has it */
#define MAX_BYTES (64u * 1024 * 1024)

/* The names of the frames that came out. */
typedef struct names {
    char text[MAX_STEPS + 1];
    uint32_t n;
} names;

static void
take(void *ctx, const roce_frame *frame)
{
    names *out = ctx;
    out->text[out->n++] = (char)frame->bytes[0];
}

static roce_reorder *
make(failing_alloc *memory, uint64_t horizon_ns, roce_frame_fn to, void *ctx)
{
    const roce_alloc alloc = failing_alloc_make(memory);
    roce_reorder *reorder = NULL;
    CHECK_INT(roce_reorder_new(&reorder, &alloc, horizon_ns, to, ctx), ROCE_OK);
    return reorder;
}

static int
push(roce_reorder *reorder, char name, uint64_t key_ns)
{
    uint8_t byte = (uint8_t)name;
    const roce_frame frame = {.bytes = &byte, .captured_bytes = 1, .wire_bytes = 1};
    int error = roce_reorder_push(reorder, &frame, key_ns);
    byte = '!'; /* the buffer has its own copy */
    return error;
}

static void
test_order(void)
{
    static const struct {
        const char *name;
        uint64_t horizon_ns;
        uint64_t keys_ns[MAX_STEPS]; /* of frames a, b, c ...; 0 ends */
        const char *at_once;         /* what came out before the flush */
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
        {"the greatest stamps", 10, {UINT64_MAX - 1, UINT64_MAX}, "", "ab"},
        {"from one end to the other",
         10,
         {1, UINT64_MAX, 1, UINT64_MAX},
         "abc",
         "abcd"},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        failing_alloc memory = {.fail_from = UINT64_MAX};
        names out = {0};
        roce_reorder *reorder = make(&memory, rows[i].horizon_ns, take, &out);
        for (uint32_t k = 0; k < MAX_STEPS && rows[i].keys_ns[k] != 0; k++) {
            CHECK_INT(push(reorder, (char)('a' + k), rows[i].keys_ns[k]), ROCE_OK);
        }
        CHECK_STR(out.text, rows[i].at_once);
        roce_reorder_flush(reorder);
        CHECK_STR(out.text, rows[i].in_all);
        roce_reorder_free(reorder);
    }
}

static void
test_follow(void)
{
    static const struct {
        const char *name;
        uint64_t clock_ns, time_ns, want_ns;
    } rows[] = {
        {"goes on", 100, 101, 101},          {"stands", 100, 100, 100},
        {"steps back", 100, 99, 100},        {"four horizons back", 100, 60, 100},
        {"one more: set back", 100, 59, 59}, {"set forward", 100, 100000, 100000},
        {"first of all", 0, 100, 100},
    };
    failing_alloc memory = {.fail_from = UINT64_MAX};
    roce_reorder *reorder = make(&memory, 10, take, NULL);
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        CHECK_INT(roce_reorder_follow(reorder, rows[i].clock_ns, rows[i].time_ns),
                  rows[i].want_ns);
    }
    roce_reorder_free(reorder);
}

static void
test_extend(void)
{
    check_row("extend");
    failing_alloc memory = {.fail_from = UINT64_MAX};
    names out = {0};
    roce_reorder *reorder = make(&memory, 10, take, &out);
    push(reorder, 'a', 100);
    roce_reorder_extend(reorder, 5); /* never less */
    push(reorder, 'b', 110);
    CHECK_STR(out.text, "");
    roce_reorder_extend(reorder, 30);
    push(reorder, 'c', 130);
    CHECK_STR(out.text, "");
    push(reorder, 'd', 131);
    CHECK_STR(out.text, "a");
    roce_reorder_free(reorder); /* with frames in it */
    CHECK_INT(memory.n_live, 0);
    roce_reorder_free(NULL);
}

static void
count(void *ctx, const roce_frame *frame)
{
    uint64_t *next = ctx;
    CHECK_INT(frame->number, *next);
    (*next)++;
}

/* What the buffer holds is bounded, also where time stands still. */
static void
test_caps(void)
{
    static uint8_t bytes[64 * 1024];
    static const struct {
        const char *name;
        uint32_t frame_bytes;
        uint32_t fits;
    } rows[] = {
        {"frames", 1, MAX_FRAMES},
        {"bytes", sizeof bytes, MAX_BYTES / sizeof bytes},
        {"empty frames", 0, MAX_FRAMES},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        uint64_t next = 0;
        failing_alloc memory = {.fail_from = UINT64_MAX};
        roce_reorder *reorder = make(&memory, UINT64_MAX, count, &next);
        for (uint64_t n = 0; n < rows[i].fits + 2; n++) {
            const roce_frame frame = {
                .bytes = bytes, .captured_bytes = rows[i].frame_bytes, .number = n};
            CHECK_INT(roce_reorder_push(reorder, &frame, 100), ROCE_OK);
            CHECK_INT(next, n < rows[i].fits ? 0 : n - rows[i].fits + 1);
        }
        roce_reorder_flush(reorder);
        CHECK_INT(next, rows[i].fits + 2);
        roce_reorder_free(reorder);
    }
}

static void
note(void *ctx, const roce_frame *frame)
{
    *(roce_frame *)ctx = *frame;
}

/* Another frame takes the place of one that waits. */
static void
test_replace(void)
{
    failing_alloc memory = {.fail_from = UINT64_MAX};
    names out = {0};
    roce_reorder *reorder = make(&memory, 10, take, &out);
    for (uint64_t k = 0; k < 4; k++) {
        const uint8_t bytes[2] = {(uint8_t)('a' + k), 0};
        const roce_frame frame = {.bytes = bytes,
                                  .captured_bytes = 2,
                                  .number = k + 1,
                                  .time_ns = 100 + k,
                                  .point = k == 3 ? 1 : 0};
        CHECK_INT(roce_reorder_push(reorder, &frame, 100 + k), ROCE_OK);
    }
    static const struct {
        const char *name;
        uint64_t number;
        uint32_t point;
        bool is_replaced;
    } rows[] = {
        {"one that waits", 2, 0, true},
        {"it is gone now", 2, 0, false},
        {"of another point", 3, 1, false},
        {"none", 9, 0, false},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        uint8_t byte = 'X';
        const roce_frame frame = {.bytes = &byte,
                                  .captured_bytes = 1,
                                  .number = 7,
                                  .time_ns = 108,
                                  .point = rows[i].point};
        roce_frame old = {0};
        CHECK_INT(roce_reorder_replace(reorder, rows[i].number, &frame, note, &old),
                  rows[i].is_replaced);
        CHECK_INT(old.number, rows[i].is_replaced ? 2 : 0);
        byte = '!';
    }
    check_row("no memory to replace it");
    memory.fail_from = memory.n_calls;
    memory.fail_until = UINT64_MAX;
    const uint8_t byte = 'Y';
    const roce_frame frame = {.bytes = &byte, .captured_bytes = 1, .number = 8};
    roce_frame old;
    CHECK(!roce_reorder_replace(reorder, 1, &frame, note, &old));
    roce_reorder_flush(reorder);
    CHECK_STR(out.text, "aXcd"); /* in its place */
    roce_reorder_free(reorder);
    CHECK_INT(memory.n_live, 0);
}

/* A frame that there was no memory for is not taken, and the others come in order. */
static void
test_memory(void)
{
    check_row("no memory");
    for (uint64_t fail = 1; fail < 7; fail++) {
        failing_alloc memory = {.fail_from = fail, .fail_until = fail + 1};
        names out = {0};
        names want = {0};
        roce_reorder *reorder = make(&memory, 10, take, &out);
        for (uint32_t k = 0; k < 4; k++) {
            char name = (char)('a' + k);
            if (push(reorder, name, 100 + k) == ROCE_OK) {
                want.text[want.n++] = name;
            }
        }
        roce_reorder_flush(reorder);
        CHECK_STR(out.text, want.text);
        CHECK_INT(want.n, fail < 6 ? 3 : 4); /* the buffer, its heap, four frames */
        roce_reorder_free(reorder);
        CHECK_INT(memory.n_live, 0);
    }
    failing_alloc memory = {.fail_until = 1};
    const roce_alloc alloc = failing_alloc_make(&memory);
    roce_reorder *reorder = NULL;
    CHECK_INT(roce_reorder_new(&reorder, &alloc, 10, take, NULL), ROCE_ERROR_MEMORY);
    CHECK(reorder == NULL);
}

int
main(void)
{
    test_order();
    test_follow();
    test_extend();
    test_caps();
    test_replace();
    test_memory();
    return check_status();
}
