/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a point remembers of the packets it saw: a table of look-ups, and a long run
 * against a naive model, with memory failing at every point.
 */
#include "check.h"
#include "failing_alloc.h"
#include "seeded.h"

#include "history.h"

#define N(rows) (sizeof(rows) / sizeof(rows)[0])
#define MODEL_MAX 5000

/* ---- Look-ups ---- */

/* Three entries: [10, 13), [13, 14), [20, 25). */
static void
fill(roce_history *history, const roce_alloc *alloc)
{
    static const struct {
        int64_t psn;
        uint32_t span;
    } entries[] = {{20, 5}, {10, 3}, {13, 1}}; /* not in order */
    uint64_t forgot = 0;
    for (size_t i = 0; i < N(entries); i++) {
        roce_slot *slot =
            roce_history_insert(history, alloc, entries[i].psn, 0, 64, &forgot);
        if (CHECK(slot != NULL)) {
            roce_slot_set_span(slot, entries[i].span);
        }
    }
    CHECK_INT(forgot, 0);
}

static void
test_find(void)
{
    static const struct {
        const char *name;
        int64_t psn;
        uint32_t lower;
        int64_t found; /* psn of the entry; -1 for none */
    } cases[] = {
        {"far before all", -1000, 0, -1},
        {"before the first by one", 9, 0, -1},
        {"start of the first", 10, 0, 10},
        {"inside the first", 11, 0, 10},
        {"last of the first", 12, 0, 10},
        {"start of the second, which touches it", 13, 1, 13},
        {"behind the second by one", 14, 2, -1},
        {"before the third by one", 19, 2, -1},
        {"start of the third", 20, 2, 20},
        {"inside the third", 21, 2, 20},
        {"last of the third", 24, 2, 20},
        {"behind the third by one", 25, 3, -1},
        {"far behind all", INT64_C(1) << 40, 3, -1},
    };
    failing_alloc state = {0};
    const roce_alloc alloc = failing_alloc_make(&state);
    roce_history history = {0};
    check_row("empty");
    CHECK(roce_history_find(&history, 0) == NULL);
    CHECK_INT(roce_history_lower(&history, 0), 0);
    fill(&history, &alloc);
    CHECK_INT(history.n, 3);
    for (size_t i = 0; i < N(cases); i++) {
        check_row(cases[i].name);
        CHECK_INT(roce_history_lower(&history, cases[i].psn), cases[i].lower);
        const roce_slot *slot = roce_history_find(&history, cases[i].psn);
        CHECK_INT(slot != NULL ? slot->psn : -1, cases[i].found);
    }
    check_row("cleared");
    roce_history_clear(&history, &alloc);
    CHECK_INT(state.n_live, 0);
    CHECK_INT(history.n, 0);
    CHECK(roce_history_find(&history, 10) == NULL);
    roce_history_clear(&history, &alloc); /* twice is fine */
}

/* ---- Caps ---- */

/* Fills with `n` entries in order, all wanted or none of them, and says what is left.
 */
static void
test_caps(void)
{
    static const struct {
        const char *name;
        uint32_t n, max;
        bool wanted;
        uint32_t want_n;
        uint64_t want_forgot;
    } cases[] = {
        {"one less than the cap", 63, 64, true, 63, 0},
        {"just the cap", 64, 64, true, 64, 0},
        {"one more than the cap", 65, 64, true, 64, 1},
        {"twice the cap", 128, 64, true, 64, 64},
        {"larger cap, one less", 1023, 1024, true, 1023, 0},
        {"larger cap, just it", 1024, 1024, true, 1024, 0},
        {"larger cap, one more", 1025, 1024, true, 1024, 1},
        {"what nobody wants is no loss", 65, 64, false, 64, 0},
        {"what nobody wants, larger cap", 1025, 1024, false, 1024, 0},
        {"a cap below the least", 1, 3, true, 0, 0},
        {"a cap of the least", 5, 4, true, 4, 1},
    };
    for (size_t i = 0; i < N(cases); i++) {
        check_row(cases[i].name);
        failing_alloc state = {0};
        const roce_alloc alloc = failing_alloc_make(&state);
        roce_history history = {0};
        uint64_t forgot = 0;
        for (uint32_t k = 0; k < cases[i].n; k++) {
            int64_t psn = 1000 + (int64_t)k;
            int64_t keep_from = cases[i].wanted ? 0 : psn;
            roce_slot *slot = roce_history_insert(&history, &alloc, psn, keep_from,
                                                  cases[i].max, &forgot);
            if (slot != NULL) {
                slot->span = 1;
            }
        }
        CHECK_INT(history.n, cases[i].want_n);
        CHECK_INT(forgot, cases[i].want_forgot);
        for (uint32_t k = 0; k < history.n; k++) {
            CHECK_INT(roce_history_at(&history, k)->psn,
                      1000 + cases[i].n - history.n + k);
        }
        roce_history_clear(&history, &alloc);
        CHECK_INT(state.n_live, 0);
    }
}

/* Made smaller, of 40 entries from 1000 on. */
static void
test_shrink(void)
{
    static const struct {
        const char *name;
        uint32_t max;
        int64_t keep_from;
        uint32_t want_n, want_capacity;
        uint64_t want_forgot;
    } cases[] = {
        {"as it is", 64, 0, 40, 64, 0},
        {"those beyond half of the room go", 32, 0, 32, 32, 8},
        {"nobody wants those that go", 32, 1008, 32, 32, 0},
        {"somebody wants one of them", 32, 1007, 32, 32, 1},
        {"to the least", 4, 0, 4, 4, 36},
    };
    for (size_t i = 0; i < N(cases); i++) {
        check_row(cases[i].name);
        failing_alloc state = {0};
        const roce_alloc alloc = failing_alloc_make(&state);
        roce_history history = {0};
        uint64_t forgot = 0;
        for (uint32_t k = 0; k < 40; k++) {
            roce_history_insert(&history, &alloc, 1000 + k, 0, 64, &forgot)->span = 1;
        }
        roce_history_shrink(&history, &alloc, cases[i].max, cases[i].keep_from,
                            &forgot);
        CHECK_INT(history.n, cases[i].want_n);
        CHECK_INT(history.capacity, cases[i].want_capacity);
        CHECK_INT(forgot, cases[i].want_forgot);
        for (uint32_t k = 0; k < history.n; k++) {
            CHECK_INT(roce_history_at(&history, k)->psn, 1040 - history.n + k);
        }
        roce_history_clear(&history, &alloc);
        CHECK_INT(state.n_live, 0);
    }
}

/* ---- Against a model ---- */

typedef struct model {
    uint32_t n;
    roce_slot slots[MODEL_MAX]; /* in PSN order */
} model;

typedef struct bench {
    failing_alloc state;
    roce_alloc alloc;
    roce_history history;
    model model;
    seeded random;
    uint64_t forgot, want_forgot;
    uint64_t tag; /* of the newest entry, so that each can be told from others */
    uint32_t max; /* a power of two */
} bench;

static uint32_t
model_lower(const model *m, int64_t psn)
{
    uint32_t i = 0;
    while (i < m->n && m->slots[i].psn + m->slots[i].span <= psn) {
        i++;
    }
    return i;
}

static void
model_insert(model *m, const roce_slot *slot)
{
    uint32_t i = model_lower(m, slot->psn);
    memmove(&m->slots[i + 1], &m->slots[i], (m->n - i) * sizeof m->slots[0]);
    m->slots[i] = *slot;
    m->n++;
}

static void
model_forget_oldest(model *m)
{
    m->n--;
    memmove(&m->slots[0], &m->slots[1], m->n * sizeof m->slots[0]);
}

/* The history holds what the model does. */
static bool
same(const bench *b)
{
    if (!CHECK_INT(b->history.n, b->model.n)) {
        return false;
    }
    for (uint32_t i = 0; i < b->model.n; i++) {
        const roce_slot *got = roce_history_at(&b->history, i);
        const roce_slot *want = &b->model.slots[i];
        if (!CHECK_INT(got->psn, want->psn) || !CHECK_INT(got->span, want->span) ||
            !CHECK_INT(got->frame, want->frame)) {
            return false;
        }
    }
    return CHECK_INT(b->forgot, b->want_forgot);
}

static bool
is_blank(const roce_slot *slot)
{
    return CHECK_INT(slot->span, 0) && CHECK_INT(slot->skipped, 0) &&
           CHECK_INT(slot->first_check, 0) && CHECK_INT(slot->first_ident, 0) &&
           CHECK_INT(slot->newest_check, 0) && CHECK_INT(slot->newest_ident, 0) &&
           CHECK_INT(slot->time_ns, 0) && CHECK_INT(slot->frame, 0) &&
           CHECK_INT(slot->tx, 0) && CHECK_INT(slot->message_bytes, 0) &&
           CHECK_INT(slot->flags, 0) && CHECK_INT(slot->copies, 0) &&
           CHECK_INT(slot->lost, 0);
}

/* Inserts and checks that what became of it is allowed. */
static bool
insert(bench *b, int64_t psn, uint32_t span, int64_t keep_from)
{
    model *m = &b->model;
    uint64_t calls_before = b->state.n_calls;
    uint64_t forgot_before = b->forgot;
    roce_slot *slot =
        roce_history_insert(&b->history, &b->alloc, psn, keep_from, b->max, &b->forgot);
    bool failed = b->state.n_calls > calls_before &&
                  calls_before >= b->state.fail_from &&
                  calls_before < b->state.fail_until;
    if (slot == NULL) {
        bool oldest = m->n > 0 && psn < m->slots[0].psn;
        return CHECK(failed || (oldest && b->history.n == b->history.capacity)) &&
               same(b);
    }
    b->tag++;
    if (!CHECK_INT(slot->psn, psn) || !is_blank(slot)) {
        return false;
    }
    roce_slot_set_span(slot, span);
    slot->frame = b->tag & ROCE_SLOT_MAX_FRAME;
    if (!CHECK_INT(slot->span, span) || !CHECK_INT(slot->frame, b->tag)) {
        return false;
    }
    if (b->history.n == m->n) { /* one had to go */
        bool wanted = m->slots[0].psn + m->slots[0].span > keep_from;
        b->want_forgot += wanted ? 1 : 0;
        if (!CHECK(m->n > 0) || !CHECK(m->slots[0].psn < psn) ||
            !CHECK(!wanted || failed || m->n == b->max)) {
            return false;
        }
        model_forget_oldest(m);
    }
    model_insert(m, slot);
    return CHECK(b->history.n <= b->max) && CHECK(b->forgot >= forgot_before) &&
           same(b);
}

/* Where the next packet goes: mostly on, sometimes into a hole, sometimes far back. */
static int64_t
choose_psn(bench *b)
{
    const model *m = &b->model;
    int64_t newest =
        m->n > 0 ? m->slots[m->n - 1].psn + m->slots[m->n - 1].span : 0x1000000 - 50;
    uint32_t dice = seeded_below(&b->random, 100);
    if (dice < 60 || m->n == 0) {
        return newest;
    }
    if (dice < 75) {
        return newest + 1 + seeded_below(&b->random, 5);
    }
    if (dice < 80) {
        return m->slots[0].psn - 1 - seeded_below(&b->random, 5);
    }
    return m->slots[0].psn +
           (int64_t)(seeded_next(&b->random) % (uint64_t)(newest - m->slots[0].psn));
}

static bool
step(bench *b)
{
    const model *m = &b->model;
    int64_t psn = choose_psn(b);
    uint32_t at = model_lower(m, psn);
    const roce_slot *covering =
        at < m->n && m->slots[at].psn <= psn ? &m->slots[at] : NULL;
    const roce_slot *found = roce_history_find(&b->history, psn);
    if (!CHECK_INT(roce_history_lower(&b->history, psn), at) ||
        !CHECK_INT(found != NULL ? found->frame : 0,
                   covering != NULL ? covering->frame : 0)) {
        return false;
    }
    if (covering != NULL) {
        return true;
    }
    uint32_t span = seeded_below(&b->random, 8) == 0 ? 256 : 1;
    if (at < m->n && psn + span > m->slots[at].psn) {
        span = (uint32_t)(m->slots[at].psn - psn);
    }
    int64_t newest = m->n > 0 ? m->slots[m->n - 1].psn : psn;
    int64_t window = (int64_t)seeded_below(&b->random, 3) * 400;
    return insert(b, psn, span, newest - window);
}

static bool
run(uint64_t seed, uint32_t max, unsigned n_steps, uint64_t fail_from,
    uint64_t fail_until, uint64_t *n_calls)
{
    static bench b; /* too large for a stack */
    memset(&b, 0, sizeof b);
    b.random.state = seed;
    b.max = max;
    b.state.fail_from = fail_from;
    b.state.fail_until = fail_until;
    b.alloc = failing_alloc_make(&b.state);
    bool holds = true;
    for (unsigned i = 0; i < n_steps && holds; i++) {
        holds = step(&b);
        if (!holds) {
            fprintf(stderr,
                    "    seed %" PRIu64 ", max %u, step %u, failing %" PRIu64
                    " to %" PRIu64 "\n",
                    seed, max, i, fail_from, fail_until);
        }
    }
    roce_history_clear(&b.history, &b.alloc);
    CHECK_INT(b.state.n_live, 0);
    *n_calls = b.state.n_calls;
    return holds;
}

static void
test_model(void)
{
    check_row("model");
    for (uint64_t seed = 1; seed <= 20; seed++) {
        for (uint32_t max = 4; max <= 1024; max *= 2) {
            uint64_t n_calls;
            if (!run(seed, max, 600, 0, 0, &n_calls)) {
                return;
            }
        }
    }
}

/* Each allocation fails once; and all fail from each one on. */
static void
test_no_memory(void)
{
    check_row("no memory");
    uint64_t n_calls = 0;
    run(7, 1024, 600, 0, 0, &n_calls);
    CHECK(n_calls >= 5);
    for (uint64_t call = 0; call < n_calls; call++) {
        uint64_t unused;
        if (!run(7, 1024, 600, call, call + 1, &unused) ||
            !run(7, 1024, 600, call, UINT64_MAX, &unused)) {
            return;
        }
    }
}

/* The longest and highest of each, next to nothing in its neighbours. */
static void
test_packing(void)
{
    const roce_identity identity = {.check = 0xfffffffe, .ident = 0xfffd};
    roce_slot slot = {0};
    roce_slot_set_span(&slot, 1u << 24);
    check_row("the span of the longest READ");
    CHECK_INT(slot.span, 1u << 24);
    CHECK_INT(slot.frame, 0);
    check_row("its last copy is the latest");
    roce_slot_set_newest(&slot, &identity, UINT64_MAX, ROCE_SLOT_MAX_FRAME,
                         ROCE_SLOT_MAX_TX);
    CHECK_INT(slot.span, 1u << 24);
    CHECK(slot.frame == ((uint64_t)1 << 39) - 1);
    CHECK(slot.tx == ((uint64_t)1 << 40) - 1);
    CHECK(slot.time_ns == UINT64_MAX);
    CHECK_INT(slot.skipped, 0);
    CHECK_INT(slot.newest_check, 0xfffffffe);
    CHECK_INT(slot.newest_ident, 0xfffd);
    CHECK_INT(slot.first_check, 0);
    CHECK_INT(slot.first_ident, 0);
    CHECK_INT(slot.psn, 0);
    CHECK_INT(slot.message_bytes, 0);
    CHECK_INT(slot.flags, 0);
    check_row("which began with its last PSN, and then another one came");
    slot.skipped = ROCE_SLOT_MAX_SKIPPED;
    roce_slot_set_newest(&slot, &identity, 0, 0, 0);
    CHECK_INT(slot.span, 1u << 24);
    CHECK_INT(slot.skipped, (1u << 24) - 1);
    CHECK_INT(slot.tx, 0);
    CHECK_INT(slot.frame, 0);
}

int
main(void)
{
    test_packing();
    test_find();
    test_caps();
    test_shrink();
    test_model();
    test_no_memory();
    return check_status();
}
