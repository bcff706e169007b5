/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranges of PSNs that went unseen: tables of what adding, taking and marking do, and a
 * long run against a naive model with one entry per PSN, with memory failing at every
 * point.
 */
#include "check.h"
#include "failing_alloc.h"
#include "seeded.h"

#include "missing.h"

#define N(rows) (sizeof(rows) / sizeof(rows)[0])

/* ---- Tables: the ranges as text, "10-13x2a" for two copies of 10, 11 and 12, which
 *      were asked for ('a'), acknowledged ('k') ---- */

static void
print_ranges(const roce_missing *missing, char *text, size_t size)
{
    size_t n = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < missing->n && n < size; i++) {
        const roce_missing_range *r = &missing->ranges[i];
        n += (size_t)snprintf(text + n, size - n,
                              "%s%" PRId64 "-%" PRId64 "x%" PRIu32 "%s%s",
                              i > 0 ? " " : "", r->start, r->end, r->copies,
                              r->asked ? "a" : "", r->acked ? "k" : "");
    }
}

typedef enum operation {
    ADD,
    TAKE,
    PUT, /* back: three copies, asked for */
    ASK,
    ACKNOWLEDGE
} operation;

typedef struct missing_row {
    const char *name;
    int64_t before[6]; /* ranges that were added: start, end, ... ; 0, 0 for none */
    operation what;
    int64_t start, end;
    const char *want;
} missing_row;

/* clang-format off */
static const missing_row rows[] = {
    {"add to nothing", {0}, ADD, 10, 20, "10-20x1"},
    {"add nothing", {0}, ADD, 10, 10, ""},
    {"add less than nothing", {10, 20}, ADD, 15, 14, "10-20x1"},
    {"add before, touching not", {10, 20}, ADD, 5, 9, "5-9x1 10-20x1"},
    {"add before, touching", {10, 20}, ADD, 5, 10, "5-10x1 10-20x1"},
    {"add before, over by one", {10, 20}, ADD, 5, 11, "5-10x1 10-11x2 11-20x1"},
    {"add behind, touching not", {10, 20}, ADD, 21, 25, "10-20x1 21-25x1"},
    {"add behind, touching", {10, 20}, ADD, 20, 25, "10-20x1 20-25x1"},
    {"add behind, over by one", {10, 20}, ADD, 19, 25, "10-19x1 19-20x2 20-25x1"},
    {"add the same", {10, 20}, ADD, 10, 20, "10-20x2"},
    {"add inside", {10, 20}, ADD, 12, 15, "10-12x1 12-15x2 15-20x1"},
    {"add from the start", {10, 20}, ADD, 10, 11, "10-11x2 11-20x1"},
    {"add to the end", {10, 20}, ADD, 19, 20, "10-19x1 19-20x2"},
    {"add around", {10, 20}, ADD, 9, 21, "9-10x1 10-20x2 20-21x1"},
    {"add between two", {10, 20, 30, 40}, ADD, 20, 30, "10-20x1 20-30x1 30-40x1"},
    {"add over two and the hole", {10, 20, 30, 40}, ADD, 15, 35,
     "10-15x1 15-20x2 20-30x1 30-35x2 35-40x1"},
    {"add over three", {10, 12, 14, 16, 18, 20}, ADD, 9, 21,
     "9-10x1 10-12x2 12-14x1 14-16x2 16-18x1 18-20x2 20-21x1"},
    {"add below 0", {0}, ADD, -5, 5, "-5-5x1"},

    {"take from nothing", {0}, TAKE, 10, 20, ""},
    {"take nothing", {10, 20}, TAKE, 15, 15, "10-20x1"},
    {"take before, touching", {10, 20}, TAKE, 5, 10, "10-20x1"},
    {"take behind, touching", {10, 20}, TAKE, 20, 25, "10-20x1"},
    {"take the first", {10, 20}, TAKE, 10, 11, "11-20x1"},
    {"take the last", {10, 20}, TAKE, 19, 20, "10-19x1"},
    {"take inside", {10, 20}, TAKE, 12, 15, "10-12x1 15-20x1"},
    {"take all", {10, 20}, TAKE, 10, 20, ""},
    {"take more than all", {10, 20}, TAKE, 9, 21, ""},
    {"take of two, the lowest part alone", {10, 20, 30, 40}, TAKE, 15, 35,
     "10-15x1 30-35x1 35-40x1"},
    {"take in the hole", {10, 20, 30, 40}, TAKE, 20, 30, "10-20x1 30-40x1"},

    {"put into nothing", {0}, PUT, 10, 20, "10-20x3a"},
    {"put before, touching", {10, 20}, PUT, 5, 10, "5-10x3a 10-20x1"},
    {"put between two", {10, 20, 30, 40}, PUT, 24, 26, "10-20x1 24-26x3a 30-40x1"},
    {"put between two, touching both", {10, 20, 30, 40}, PUT, 20, 30,
     "10-20x1 20-30x3a 30-40x1"},
    {"put behind, touching", {10, 20}, PUT, 20, 21, "10-20x1 20-21x3a"},

    {"ask in nothing", {0}, ASK, 10, 20, ""},
    {"ask for nothing", {10, 20}, ASK, 15, 15, "10-20x1"},
    {"ask for the first", {10, 20}, ASK, 10, 11, "10-11x1a 11-20x1"},
    {"ask for the last", {10, 20}, ASK, 19, 20, "10-19x1 19-20x1a"},
    {"ask for one that is there", {10, 20}, ASK, 20, 21, "10-20x1"},
    {"ask over two", {10, 20, 30, 40}, ASK, 15, 35, "10-15x1 15-20x1a 30-35x1a 35-40x1"},
    {"acknowledge all", {10, 20, 30, 40}, ACKNOWLEDGE, 0, 50, "10-20x1k 30-40x1k"},
    {"acknowledge up to the middle", {10, 20}, ACKNOWLEDGE, 0, 15, "10-15x1k 15-20x1"},
};
/* clang-format on */

static void
test_rows(void)
{
    for (size_t i = 0; i < N(rows); i++) {
        check_row(rows[i].name);
        failing_alloc state = {0};
        const roce_alloc alloc = failing_alloc_make(&state);
        roce_missing missing = {0};
        for (unsigned k = 0; k < 6 && rows[i].before[k + 1] != 0; k += 2) {
            const roce_missing_range like = {.start = rows[i].before[k],
                                             .end = rows[i].before[k + 1]};
            CHECK(roce_missing_add(&missing, &alloc, &like));
        }
        const roce_missing_range like = {
            .start = rows[i].start, .end = rows[i].end, .copies = 3, .asked = true};
        const roce_missing_range fresh = {.start = rows[i].start, .end = rows[i].end};
        roce_missing_range out;
        switch (rows[i].what) {
        case ADD:
            CHECK(roce_missing_add(&missing, &alloc, &fresh));
            break;
        case PUT:
            CHECK(roce_missing_put(&missing, &alloc, &like));
            break;
        case TAKE:
            (void)roce_missing_take(&missing, &alloc, rows[i].start, rows[i].end, &out);
            break;
        case ASK:
            roce_missing_mark_range(&missing, &alloc, rows[i].start, rows[i].end,
                                    ROCE_MISSING_ASKED);
            break;
        case ACKNOWLEDGE:
            roce_missing_mark_range(&missing, &alloc, rows[i].start, rows[i].end,
                                    ROCE_MISSING_ACKED);
            break;
        }
        char text[200];
        print_ranges(&missing, text, sizeof text);
        CHECK_STR(text, rows[i].want);
        roce_missing_clear(&missing, &alloc);
        CHECK_INT(state.n_live, 0);
        CHECK_INT(missing.n, 0);
        roce_missing_clear(&missing, &alloc); /* twice is fine */
    }
}

/* Ranges beyond the cap go, lowest first. */
static void
test_caps(void)
{
    static const struct {
        const char *name;
        uint32_t n, want_trimmed;
    } caps[] = {
        {"none", 0, 0},
        {"one less than the cap", ROCE_MISSING_MAX - 1, 0},
        {"just the cap", ROCE_MISSING_MAX, 0},
        {"one more than the cap", ROCE_MISSING_MAX + 1, 1},
        {"twice the cap", 2 * ROCE_MISSING_MAX, ROCE_MISSING_MAX},
    };
    for (size_t i = 0; i < N(caps); i++) {
        check_row(caps[i].name);
        failing_alloc state = {0};
        const roce_alloc alloc = failing_alloc_make(&state);
        roce_missing missing = {0};
        for (uint32_t k = 0; k < caps[i].n; k++) {
            const roce_missing_range like = {.start = 10 * k, .end = 10 * k + 3};
            CHECK(roce_missing_add(&missing, &alloc, &like));
        }
        roce_missing_range out;
        uint32_t n = 0;
        while (roce_missing_trim(&missing, &out)) {
            CHECK_INT(out.start, 10 * n);
            CHECK_INT(out.end, 10 * n + 3);
            n++;
        }
        CHECK_INT(n, caps[i].want_trimmed);
        CHECK_INT(missing.n, caps[i].n - caps[i].want_trimmed);
        roce_missing_clear(&missing, &alloc);
        CHECK_INT(state.n_live, 0);
    }
}

/* ---- Against a model ---- */

#define LEAST (-100) /* lowest PSN of the model */
#define N_PSNS 400

typedef struct fate {
    uint32_t copies;
    uint64_t frame;
    bool asked, acked, first_seen;
} fate;

typedef struct bench {
    failing_alloc state;
    roce_alloc alloc;
    roce_missing missing;
    fate model[N_PSNS];
    fate now[N_PSNS]; /* what the table says */
    seeded random;
    uint64_t frame;
} bench;

static bool
same_fate(const fate *a, const fate *b)
{
    return a->copies == b->copies &&
           (a->copies == 0 || (a->frame == b->frame && a->asked == b->asked &&
                               a->acked == b->acked && a->first_seen == b->first_seen));
}

/* Reads the table into `now`; false when its ranges are not disjoint and in order. */
static bool
read_table(bench *b)
{
    memset(b->now, 0, sizeof b->now);
    int64_t end = LEAST;
    uint32_t n_acked = 0;
    for (uint32_t i = 0; i < b->missing.n; i++) {
        const roce_missing_range *r = &b->missing.ranges[i];
        n_acked += r->acked ? 1 : 0;
        if (!CHECK(r->start >= end) || !CHECK(r->start < r->end) ||
            !CHECK(r->end <= LEAST + N_PSNS) || !CHECK(r->copies > 0)) {
            return false;
        }
        end = r->end;
        for (int64_t psn = r->start; psn < r->end; psn++) {
            b->now[psn - LEAST] = (fate){.copies = r->copies,
                                         .frame = r->frame,
                                         .asked = r->asked,
                                         .acked = r->acked,
                                         .first_seen = r->first_seen};
        }
    }
    for (int64_t psn = LEAST - 1; psn <= LEAST + N_PSNS; psn++) {
        const roce_missing_range *r = roce_missing_find(&b->missing, psn);
        bool inside = psn >= LEAST && psn < LEAST + N_PSNS;
        uint32_t copies = inside ? b->now[psn - LEAST].copies : 0;
        if (!CHECK_INT(r != NULL ? r->copies : 0, copies)) {
            return false;
        }
    }
    return CHECK_INT(b->missing.n_acked, n_acked) &&
           CHECK(b->missing.n <= b->missing.capacity);
}

/* After an operation on [start, end): outside nothing has changed; inside each PSN is
 * as `want` says, or, where memory failed, as it was. */
static bool
settle(bench *b, int64_t start, int64_t end, const fate *want, bool may_fail)
{
    if (!read_table(b)) {
        return false;
    }
    for (int64_t psn = LEAST; psn < LEAST + N_PSNS; psn++) {
        int64_t i = psn - LEAST;
        bool inside = psn >= start && psn < end;
        bool as_wanted = same_fate(&b->now[i], inside ? &want[i] : &b->model[i]);
        bool as_before = may_fail && same_fate(&b->now[i], &b->model[i]);
        if (!CHECK(as_wanted || as_before)) {
            fprintf(stderr,
                    "    PSN %" PRId64 ", operation on %" PRId64 " to %" PRId64
                    ": %u copies, not %u\n",
                    psn, start, end, b->now[i].copies,
                    inside ? want[i].copies : b->model[i].copies);
            return false;
        }
    }
    memcpy(b->model, b->now, sizeof b->model);
    return true;
}

static bool
failed_since(const bench *b, uint64_t n_calls)
{
    return b->state.n_calls > b->state.fail_from && n_calls < b->state.fail_until &&
           b->state.n_calls > n_calls;
}

static bool
add(bench *b, int64_t start, int64_t end)
{
    uint64_t n_calls = b->state.n_calls;
    const roce_missing_range like = {
        .start = start,
        .end = end,
        .frame = ++b->frame,
        .copies = seeded_below(&b->random, 9), /* not looked at */
        .first_seen = seeded_below(&b->random, 2) != 0,
    };
    bool added = roce_missing_add(&b->missing, &b->alloc, &like);
    fate want[N_PSNS];
    memcpy(want, b->model, sizeof want);
    for (int64_t psn = start; psn < end; psn++) {
        fate *f = &want[psn - LEAST];
        if (f->copies == 0) {
            *f = (fate){.frame = like.frame, .first_seen = like.first_seen};
        }
        f->copies++;
    }
    return CHECK(added || failed_since(b, n_calls)) &&
           settle(b, start, end, want, !added);
}

static bool
mark(bench *b, int64_t start, int64_t end, enum roce_missing_mark what)
{
    uint64_t n_calls = b->state.n_calls;
    roce_missing_mark_range(&b->missing, &b->alloc, start, end, what);
    fate want[N_PSNS];
    memcpy(want, b->model, sizeof want);
    for (int64_t psn = start; psn < end; psn++) {
        want[psn - LEAST].asked |= what == ROCE_MISSING_ASKED;
        want[psn - LEAST].acked |= what == ROCE_MISSING_ACKED;
    }
    return settle(b, start, end, want, failed_since(b, n_calls));
}

/* Puts back what was taken, one copy less. */
static bool
put(bench *b, const roce_missing_range *taken)
{
    uint64_t n_calls = b->state.n_calls;
    roce_missing_range range = *taken;
    if (range.copies > 1) {
        range.copies--;
    }
    bool done = roce_missing_put(&b->missing, &b->alloc, &range);
    fate want[N_PSNS];
    memcpy(want, b->model, sizeof want);
    for (int64_t psn = range.start; psn < range.end; psn++) {
        want[psn - LEAST] = (fate){.copies = range.copies,
                                   .frame = range.frame,
                                   .asked = range.asked,
                                   .acked = range.acked,
                                   .first_seen = range.first_seen};
    }
    return CHECK(done || failed_since(b, n_calls)) &&
           settle(b, range.start, range.end, done ? want : b->model, false);
}

/* Takes everything in [start, end), part by part, lowest first; then perhaps puts the
 * last of it back. */
static bool
take(bench *b, int64_t start, int64_t end)
{
    roce_missing_range out = {.copies = 0};
    uint64_t n_calls = b->state.n_calls;
    int64_t done = start;
    while (roce_missing_take(&b->missing, &b->alloc, start, end, &out)) {
        if (!CHECK(out.start >= done) || !CHECK(out.start < out.end) ||
            !CHECK(out.end <= end)) {
            return false;
        }
        fate want[N_PSNS];
        memcpy(want, b->model, sizeof want);
        for (int64_t psn = done; psn < out.end; psn++) {
            const fate *f = &b->model[psn - LEAST];
            const fate got = {.copies = psn < out.start ? 0 : out.copies,
                              .frame = out.frame,
                              .asked = out.asked,
                              .acked = out.acked,
                              .first_seen = out.first_seen};
            if (!CHECK(same_fate(f, &got))) {
                return false;
            }
            want[psn - LEAST] = (fate){0};
        }
        done = out.end;
        if (!settle(b, out.start, out.end, want, false)) {
            return false;
        }
    }
    for (int64_t psn = start; psn < end; psn++) {
        if (b->model[psn - LEAST].copies != 0) {
            return CHECK(failed_since(b, n_calls));
        }
    }
    if (out.copies > 0 && seeded_below(&b->random, 3) == 0) {
        return put(b, &out);
    }
    return true;
}

static bool
step(bench *b)
{
    uint32_t width = seeded_below(&b->random, 4) == 0 ? 60 : 6;
    int64_t start = LEAST + (int64_t)seeded_below(&b->random, N_PSNS - 60);
    int64_t end = start + (int64_t)seeded_below(&b->random, width);
    switch (seeded_below(&b->random, 8)) {
    case 0:
    case 1:
    case 2:
        return add(b, start, end);
    case 3:
        return mark(b, start, end, ROCE_MISSING_ASKED);
    case 4:
        return mark(b, start, end, ROCE_MISSING_ACKED);
    default:
        return take(b, start, end);
    }
}

static bool
run(uint64_t seed, unsigned n_steps, uint64_t fail_from, uint64_t fail_until,
    uint64_t *n_calls)
{
    bench b = {.random = {.state = seed},
               .state = {.fail_from = fail_from, .fail_until = fail_until}};
    b.alloc = failing_alloc_make(&b.state);
    bool holds = true;
    for (unsigned i = 0; i < n_steps && holds; i++) {
        holds = step(&b);
        if (!holds) {
            fprintf(stderr,
                    "    seed %" PRIu64 ", step %u, failing %" PRIu64 " to %" PRIu64
                    "\n",
                    seed, i, fail_from, fail_until);
        }
    }
    roce_missing_clear(&b.missing, &b.alloc);
    CHECK_INT(b.state.n_live, 0);
    *n_calls = b.state.n_calls;
    return holds;
}

static void
test_model(void)
{
    check_row("model");
    for (uint64_t seed = 1; seed <= 100; seed++) {
        uint64_t n_calls;
        if (!run(seed, 200, 0, 0, &n_calls)) {
            return;
        }
    }
}

/* Each allocation fails once; and all fail from each one on. */
static void
test_no_memory(void)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        uint64_t n_calls;
        run(seed, 200, 0, 0, &n_calls);
        CHECK(n_calls >= 3);
        for (uint64_t call = 0; call < n_calls; call++) {
            uint64_t unused;
            check_row("no memory once");
            bool once = run(seed, 200, call, call + 1, &unused);
            check_row("no memory any more");
            if (!run(seed, 200, call, UINT64_MAX, &unused) || !once) {
                return;
            }
        }
    }
}

int
main(void)
{
    test_rows();
    test_caps();
    test_model();
    test_no_memory();
    return check_status();
}
