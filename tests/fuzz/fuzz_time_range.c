/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a stretch of time: what is taken has an order, and lies in a capture. */
#include "time_range.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(const rs_time_range *range, guint64 first_ns)
{
    guint64 from_ns, to_ns;
    rs_time_range_of(range, first_ns, &from_ns, &to_ns);
    assert(range->from.given || from_ns == 0);
    assert(range->to.given || to_ns == G_MAXUINT64);
    assert(!range->from.given || !range->from.relative || from_ns >= first_ns);
    assert(!range->to.given || !range->to.relative || to_ns >= first_ns);
    gboolean comparable = range->from.given && range->to.given &&
                          range->from.relative == range->to.relative;
    assert(!comparable || from_ns <= to_ns);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const guint64 firsts_ns[] = {
        0, 1, 1700000000000000000, G_MAXINT64, G_MAXUINT64 - 1, G_MAXUINT64};
    if (size > 256) {
        return 0;
    }
    g_autofree char *text = g_strndup((const char *)data, size);
    rs_time_range range;
    if (rs_time_range_parse(text, &range)) {
        for (guint i = 0; i < G_N_ELEMENTS(firsts_ns); i++) {
            check(&range, firsts_ns[i]);
        }
    }
    return 0;
}
