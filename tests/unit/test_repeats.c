/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Second copies from a mirror that delivers twice, paired off.
 *
 * The one rule: a row pushes copies and says of each whether it is the second of a pair.
 */
#include "check.h"
#include "failing_alloc.h"

#include "roce/repeats.h"

#define N_ROWS(rows) (sizeof(rows) / sizeof(rows)[0])
#define MAX_STEPS 8
#define WITHIN_NS 1000

typedef struct step {
    uint32_t point;
    uint64_t narrow;
    uint64_t time_ns; /* 0 ends */
    uint32_t icrc;    /* 0: cut off */
    bool is_second;
} step;

static roce_repeats *
make(failing_alloc *memory)
{
    const roce_alloc alloc = failing_alloc_make(memory);
    roce_repeats *repeats = NULL;
    CHECK_INT(roce_repeats_new(&repeats, &alloc), ROCE_OK);
    return repeats;
}

static void
test_pairs(void)
{
    static const struct {
        const char *name;
        step steps[MAX_STEPS];
    } rows[] = {
        {"two are one", {{0, 7, 100, 1, false}, {0, 7, 101, 1, true}}},
        {"three are two",
         {{0, 7, 100, 1, false}, {0, 7, 101, 1, true}, {0, 7, 102, 1, false}}},
        {"four are two",
         {{0, 7, 100, 1, false},
          {0, 7, 101, 1, true},
          {0, 7, 102, 1, false},
          {0, 7, 103, 1, true}}},
        {"at the limit", {{0, 7, 5000, 1, false}, {0, 7, 6000, 1, true}}},
        {"one less", {{0, 7, 5000, 1, false}, {0, 7, 5999, 1, true}}},
        {"one more", {{0, 7, 5000, 1, false}, {0, 7, 6001, 1, false}}},
        {"what came too late waits in its place",
         {{0, 7, 5000, 1, false}, {0, 7, 6001, 1, false}, {0, 7, 7001, 1, true}}},
        {"stamps step back, at the limit",
         {{0, 7, 6000, 1, false}, {0, 7, 5000, 1, true}}},
        {"stamps step back, one more",
         {{0, 7, 6001, 1, false}, {0, 7, 5000, 1, false}}},
        {"one time", {{0, 7, 100, 1, false}, {0, 7, 100, 1, true}}},
        {"two points",
         {{0, 7, 100, 1, false},
          {1, 7, 100, 1, false},
          {1, 7, 101, 1, true},
          {0, 7, 101, 1, true}}},
        {"another packet", {{0, 7, 100, 1, false}, {0, 8, 101, 1, false}}},
        {"another ICRC", {{0, 7, 100, 1, false}, {0, 7, 101, 2, false}}},
        {"first without ICRC", {{0, 7, 100, 0, false}, {0, 7, 101, 2, true}}},
        {"second without ICRC", {{0, 7, 100, 1, false}, {0, 7, 101, 0, true}}},
        {"interleaved",
         {{0, 7, 100, 1, false},
          {0, 8, 101, 1, false},
          {0, 8, 102, 1, true},
          {0, 7, 103, 1, true}}},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        failing_alloc memory = {.fail_from = UINT64_MAX};
        roce_repeats *repeats = make(&memory);
        for (const step *s = rows[i].steps;
             s < rows[i].steps + MAX_STEPS && s->time_ns != 0; s++) {
            const roce_wire_identity identity = {
                .narrow = s->narrow, .icrc = s->icrc, .has_icrc = s->icrc != 0};
            const roce_copy copy = {s->time_ns, (uint64_t)(s - rows[i].steps), false};
            roce_copy first = {0};
            CHECK_INT(roce_repeats_is_second(repeats, s->point, &identity, &copy,
                                             WITHIN_NS, &first),
                      s->is_second);
            CHECK(!s->is_second ||
                  (first.number < copy.number &&
                   rows[i].steps[first.number].time_ns == first.time_ns &&
                   rows[i].steps[first.number].narrow == s->narrow));
        }
        CHECK_INT(memory.n_calls, 1); /* none since it was made */
        roce_repeats_free(repeats);
        CHECK_INT(memory.n_live, 0);
    }
    roce_repeats_free(NULL);
}

/* Spread as hashes are. */
static roce_wire_identity
nth_identity(uint64_t n)
{
    return (roce_wire_identity){.narrow = (n + 1) * 0x9e3779b97f4a7c15u};
}

static bool
is_second(roce_repeats *repeats, const roce_wire_identity *identity, uint64_t time_ns)
{
    const roce_copy copy = {.time_ns = time_ns};
    roce_copy first;
    return roce_repeats_is_second(repeats, 0, identity, &copy, UINT64_MAX, &first);
}

/* Far more packets than the table holds, the second copy `behind` packets later; how many
 * are known. */
static uint64_t
known_of(uint64_t n_packets, uint64_t behind)
{
    failing_alloc memory = {.fail_from = UINT64_MAX};
    roce_repeats *repeats = make(&memory);
    uint64_t known = 0;
    for (uint64_t n = 0; n < n_packets + behind; n++) {
        const roce_wire_identity first = nth_identity(n);
        if (n < n_packets) {
            CHECK(!is_second(repeats, &first, n));
        }
        if (n >= behind) {
            const roce_wire_identity second = nth_identity(n - behind);
            known += is_second(repeats, &second, n) ? 1 : 0;
        }
    }
    roce_repeats_free(repeats);
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

static void
test_memory(void)
{
    check_row("no memory");
    failing_alloc memory = {.fail_until = 1};
    const roce_alloc alloc = failing_alloc_make(&memory);
    roce_repeats *repeats = NULL;
    CHECK_INT(roce_repeats_new(&repeats, &alloc), ROCE_ERROR_MEMORY);
    CHECK(repeats == NULL);
    CHECK_INT(memory.n_live, 0);
}

int
main(void)
{
    test_pairs();
    test_memory();
    test_bounded();
    return check_status();
}
