/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unwrapping PSNs: every boundary and its neighbours, and the inverse. */
#include "check.h"
#include "seeded.h"

#include "roce/psn.h"

#include <stddef.h>

#define N(rows) (sizeof(rows) / sizeof(rows)[0])

#define WRAP 0x1000000 /* 2^24 */
#define HALF 0x800000  /* 2^23 */

static void
test_expand(void)
{
    static const struct {
        const char *name;
        int64_t reference;
        uint32_t psn24;
        int64_t want;
    } cases[] = {
        {"one behind 0", 0, WRAP - 1, -1},
        {"0 itself", 0, 0, 0},
        {"one ahead of 0", 0, 1, 1},

        {"half ahead of 0, one short", 0, HALF - 1, HALF - 1},
        {"half ahead of 0: ambiguous, taken as ahead", 0, HALF, HALF},
        {"half behind 0, one short", 0, HALF + 1, -HALF + 1},

        {"one behind the end of the space", WRAP - 1, WRAP - 2, WRAP - 2},
        {"the end of the space itself", WRAP - 1, WRAP - 1, WRAP - 1},
        {"wraps", WRAP - 1, 0, WRAP},
        {"wraps and one more", WRAP - 1, 1, WRAP + 1},

        {"behind, back over the wrap, by one", WRAP, WRAP - 1, WRAP - 1},
        {"just wrapped", WRAP, 0, WRAP},
        {"ahead, just wrapped", WRAP, 1, WRAP + 1},

        {"half ahead over the wrap, one short", WRAP - 1, HALF - 2, WRAP + HALF - 2},
        {"half ahead over the wrap", WRAP - 1, HALF - 1, WRAP + HALF - 1},
        {"half behind the wrap, one short", WRAP - 1, HALF, HALF},

        {"half ahead of half, one short", HALF, WRAP - 1, WRAP - 1},
        {"half ahead of half: wraps", HALF, 0, WRAP},
        {"half behind half, one short", HALF, 1, 1},

        {"below half: half ahead, one short", HALF - 1, WRAP - 2, WRAP - 2},
        {"below half: half ahead", HALF - 1, WRAP - 1, WRAP - 1},
        {"below half: half behind, one short", HALF - 1, 0, 0},

        {"above half: half ahead, one short", HALF + 1, 0, WRAP},
        {"above half: half ahead", HALF + 1, 1, WRAP + 1},
        {"above half: half behind, one short", HALF + 1, 2, 2},

        {"one behind -1", -1, WRAP - 2, -2},
        {"-1 itself", -1, WRAP - 1, -1},
        {"from -1 to 0", -1, 0, 0},

        {"one behind -2^24", -WRAP, WRAP - 1, -WRAP - 1},
        {"-2^24 itself", -WRAP, 0, -WRAP},
        {"one ahead of -2^24", -WRAP, 1, -WRAP + 1},
        {"half ahead of -2^24", -WRAP, HALF, -HALF},
        {"half behind -2^24, one short", -WRAP, HALF + 1, -WRAP - HALF + 1},

        {"a thousand wraps on, one behind", INT64_C(1000) * WRAP, WRAP - 1,
         INT64_C(1000) * WRAP - 1},
        {"a thousand wraps on", INT64_C(1000) * WRAP, 0, INT64_C(1000) * WRAP},
        {"a thousand wraps on, one ahead", INT64_C(1000) * WRAP, 1,
         INT64_C(1000) * WRAP + 1},
        {"beyond 2^32", INT64_C(0x100000000) - 1, 0, INT64_C(0x100000000)},
    };
    for (size_t i = 0; i < N(cases); i++) {
        check_row(cases[i].name);
        CHECK_INT(roce_psn_expand(cases[i].psn24, cases[i].reference), cases[i].want);
        CHECK_INT(roce_psn_wrap(cases[i].want), cases[i].psn24);
    }
}

static void
test_wrap(void)
{
    static const struct {
        const char *name;
        int64_t psn;
        uint32_t want;
    } cases[] = {
        {"-2^24 - 1", -WRAP - 1, WRAP - 1},
        {"-2^24", -WRAP, 0},
        {"-2^24 + 1", -WRAP + 1, 1},
        {"-1", -1, WRAP - 1},
        {"0", 0, 0},
        {"1", 1, 1},
        {"2^24 - 1", WRAP - 1, WRAP - 1},
        {"2^24", WRAP, 0},
        {"2^24 + 1", WRAP + 1, 1},
        {"least", INT64_MIN, 0},
        {"greatest", INT64_MAX, WRAP - 1},
    };
    for (size_t i = 0; i < N(cases); i++) {
        check_row(cases[i].name);
        CHECK_INT(roce_psn_wrap(cases[i].psn), cases[i].want);
    }
}

/* What is nearer than half the space comes back as it was; anything comes back equal on
 * the wire and at most half the space away. */
static void
test_inverse(void)
{
    check_row("inverse");
    seeded random = {.state = 1};
    for (unsigned i = 0; i < 1000000; i++) {
        int64_t reference = (int64_t)(seeded_next(&random) >> 16) - (INT64_C(1) << 47);
        int64_t distance = (int64_t)seeded_below(&random, WRAP) - HALF + 1;
        int64_t psn = reference + distance;
        uint32_t any = seeded_below(&random, WRAP);
        int64_t near = roce_psn_expand(any, reference);
        if (!CHECK_INT(roce_psn_expand(roce_psn_wrap(psn), reference), psn) ||
            !CHECK_INT(roce_psn_wrap(near), any) ||
            !CHECK(near - reference <= HALF && reference - near < HALF)) {
            return;
        }
    }
}

/* Unwrapping packet by packet follows a stream over several wraps. */
static void
test_follow(void)
{
    check_row("follow");
    seeded random = {.state = 2};
    int64_t psn = WRAP - 5;
    int64_t reference = psn;
    while (psn < INT64_C(5) * WRAP) {
        psn += (int64_t)seeded_below(&random, 70000) - 1000;
        reference = roce_psn_expand(roce_psn_wrap(psn), reference);
        if (!CHECK_INT(reference, psn)) {
            return;
        }
    }
}

static void
test_read_span(void)
{
    static const struct {
        const char *name;
        uint32_t length, pmtu, want;
    } cases[] = {
        {"length 0 takes one", 0, 1024, 1},
        {"1 byte", 1, 1024, 1},
        {"one PMTU less 1", 1023, 1024, 1},
        {"one PMTU", 1024, 1024, 1},
        {"one PMTU and 1", 1025, 1024, 2},
        {"two PMTU less 1", 2047, 1024, 2},
        {"two PMTU", 2048, 1024, 2},
        {"two PMTU and 1", 2049, 1024, 3},
        {"PMTU 256", 257, 256, 2},
        {"PMTU 4096, 1 MiB", 1048576, 4096, 256},
        {"2 GiB, the longest that is allowed", 0x80000000u, 4096, 0x80000},
        {"2 GiB at PMTU 256 takes half the space", 0x80000000u, 256, HALF},
        {"longest that the field can hold", UINT32_MAX, 256, 0x1000000},
        {"longest, PMTU 1", UINT32_MAX, 1, UINT32_MAX},
    };
    for (size_t i = 0; i < N(cases); i++) {
        check_row(cases[i].name);
        CHECK_INT(roce_psn_read_span(cases[i].length, cases[i].pmtu), cases[i].want);
    }
}

int
main(void)
{
    test_expand();
    test_wrap();
    test_inverse();
    test_follow();
    test_read_span();
    return check_status();
}
