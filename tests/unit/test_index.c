/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The index by hash: everything is found, in its order, and nothing else. */
#include "check.h"
#include "failing_alloc.h"
#include "index.h"

#define MANY 1000 /* it grows several times */

static const roce_alloc *
memory(failing_alloc *state)
{
    static roce_alloc alloc;
    alloc = failing_alloc_make(state);
    return &alloc;
}

/* How hashes are spread over the elements. */
static const struct {
    const char *name;
    uint64_t n_hashes; /* element i has hash stride * (i % n_hashes) */
    uint64_t stride;
} spreads[] = {
    {"all different", MANY, 0x9e3779b97f4a7c15u},
    {"all different, one chain", MANY, (uint64_t)1 << 40},
    {"seven hashes", 7, 0x9e3779b97f4a7c15u},
    {"one hash", 1, 0},
};

static void
check_spreads(void)
{
    for (size_t row = 0; row < sizeof spreads / sizeof spreads[0]; row++) {
        failing_alloc state = {.fail_from = UINT64_MAX};
        const roce_alloc *alloc = memory(&state);
        roce_index index = {0};
        check_row(spreads[row].name);
        CHECK_INT(roce_index_first(&index, 0), ROCE_INDEX_END);
        for (uint32_t i = 0; i < MANY; i++) {
            CHECK(roce_index_add(&index, alloc,
                                 spreads[row].stride * (i % spreads[row].n_hashes)));
        }
        for (uint32_t k = 0; k < spreads[row].n_hashes; k++) {
            uint32_t want = MANY - 1 - (MANY - 1 - k) % (uint32_t)spreads[row].n_hashes;
            uint32_t found = 0;
            for (uint32_t i = roce_index_first(&index, spreads[row].stride * k);
                 i != ROCE_INDEX_END; i = roce_index_next(&index, i)) {
                CHECK_INT(i, want);
                want -= (uint32_t)spreads[row].n_hashes;
                found++;
            }
            CHECK_INT(found, (MANY - 1 - k) / spreads[row].n_hashes + 1);
        }
        CHECK_INT(roce_index_first(&index, 12345), ROCE_INDEX_END);
        roce_index_clear(&index, alloc);
        CHECK_INT(roce_index_first(&index, 0), ROCE_INDEX_END);
        CHECK_INT(state.n_live, 0);
    }
    check_row(NULL);
}

/* Without memory nothing changes. */
static void
check_memory(void)
{
    for (uint64_t fail = 0; fail < 6; fail++) {
        failing_alloc state = {.fail_from = fail, .fail_until = fail + 1};
        const roce_alloc *alloc = memory(&state);
        roce_index index = {0};
        uint32_t added = 0;
        while (added < 200) {
            bool good = roce_index_add(&index, alloc, added % 3);
            added += good ? 1 : 0;
            CHECK_INT(index.n, added);
        }
        uint32_t found = 0;
        for (uint32_t i = roce_index_first(&index, 1); i != ROCE_INDEX_END;
             i = roce_index_next(&index, i)) {
            found++;
        }
        CHECK_INT(found, 67);
        roce_index_clear(&index, alloc);
        CHECK_INT(state.n_live, 0);
    }
}

int
main(void)
{
    check_spreads();
    check_memory();
    return check_status();
}
