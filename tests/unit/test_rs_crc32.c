/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ways to compute a CRC-32 against core's own, which test_icrc.c proves. */
#include "check.h"
#include "seeded.h"

#include "crc32.h"

#define MOST_BYTES 4200
#define ALIGNMENTS 64

static uint8_t bytes[MOST_BYTES + ALIGNMENTS];

/* Of every length and place in memory that ways change at, whole and in two parts. */
static void
check_way(roce_crc32_fn crc32)
{
    for (size_t n = 0; n < MOST_BYTES; n += n < 1100 ? 1 : 37) {
        const uint8_t *at = bytes + n % ALIGNMENTS;
        uint32_t want = roce_crc32(0, at, n);
        uint32_t third = crc32(0, at, n / 3);
        if (!CHECK_INT(crc32(0, at, n), want) ||
            !CHECK_INT(crc32(third, at + n / 3, n - n / 3), want)) {
            return;
        }
    }
}

/* A single bit anywhere changes what comes out, and as core's own has it. */
static void
check_bits(roce_crc32_fn crc32)
{
    static uint8_t zeros[700];
    for (size_t i = 0; i < sizeof zeros; i++) {
        zeros[i] = (uint8_t)(1u << i % 8);
        if (!CHECK_INT(crc32(0, zeros, sizeof zeros),
                       roce_crc32(0, zeros, sizeof zeros))) {
            return;
        }
        zeros[i] = 0;
    }
}

int
main(void)
{
    seeded random = {.state = 11};
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)seeded_next(&random);
    }
    roce_crc32_fn ways[8];
    guint n = rs_crc32_ways(ways, G_N_ELEMENTS(ways));
    CHECK(n >= 1);
    for (guint i = 0; i < n; i++) {
        check_row("a way of this processor");
        check_way(ways[i]);
        check_bits(ways[i]);
    }
    check_row("the way that is taken");
    check_way(rs_crc32);
    CHECK_INT(rs_crc32_ways(ways, 1), 1);
    return check_status();
}
