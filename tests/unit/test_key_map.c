/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers by keys: what was set is found, nothing else is, and nothing of before. */
#include "check.h"
#include "failing_alloc.h"
#include "key_map.h"

#define MANY 1000

static void
test_keys(void)
{
    static const struct {
        const char *name;
        uint64_t stride;
    } rows[] = {
        {"spread", 0x9e3779b97f4a7c15u},
        {"neighbours", 1},
        {"high bits alone", (uint64_t)1 << 48},
        {"halves cancel out", (uint64_t)1 << 32 | 1},
    };
    failing_alloc memory = {.fail_from = UINT64_MAX};
    const roce_alloc alloc = failing_alloc_make(&memory);
    roce_key_map map = {0};
    CHECK(roce_key_map_init(&map, &alloc, MANY));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_row(rows[i].name);
        roce_key_map_begin(&map, MANY);
        for (uint32_t k = 1; k <= MANY; k++) {
            CHECK_INT(roce_key_map_get(&map, rows[i].stride * k), 0);
            roce_key_map_set(&map, rows[i].stride * k, k);
        }
        for (uint32_t k = 1; k <= MANY; k++) {
            CHECK_INT(roce_key_map_get(&map, rows[i].stride * k), k);
        }
        CHECK_INT(roce_key_map_get(&map, rows[i].stride * (MANY + 1)), 0);
    }
    CHECK_INT(memory.n_calls, 1);
    roce_key_map_clear(&map, &alloc);
    CHECK_INT(memory.n_live, 0);
}

static void
test_again(void)
{
    check_row("set again");
    failing_alloc memory = {.fail_from = UINT64_MAX};
    const roce_alloc alloc = failing_alloc_make(&memory);
    roce_key_map map = {0};
    CHECK(roce_key_map_init(&map, &alloc, 1));
    for (uint32_t k = 0; k < 3; k++) {
        roce_key_map_set(&map, 7, k);
        CHECK_INT(roce_key_map_get(&map, 7), k);
        CHECK_INT(roce_key_map_get(&map, 8), 0);
    }
    roce_key_map_begin(&map, 0);
    CHECK_INT(roce_key_map_get(&map, 7), 0);
    roce_key_map_clear(&map, &alloc);
    roce_key_map_clear(&map, &alloc);
    CHECK_INT(memory.n_live, 0);
}

static void
test_memory(void)
{
    check_row("no memory");
    failing_alloc memory = {.fail_until = 1};
    const roce_alloc alloc = failing_alloc_make(&memory);
    roce_key_map map = {0};
    CHECK(!roce_key_map_init(&map, &alloc, MANY));
    roce_key_map_clear(&map, &alloc);
    CHECK_INT(memory.n_live, 0);
}

int
main(void)
{
    test_keys();
    test_again();
    test_memory();
    return check_status();
}
