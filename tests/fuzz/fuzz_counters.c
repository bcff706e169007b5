/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a file of counters: what holds of it, and of its increase over itself. */
#include "counters.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 70000) {
        return 0;
    }
    g_autoptr(GError) error = NULL;
    g_autofree char *text = g_malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    g_autoptr(rs_counter_set) set = rs_counter_set_parse(text, size, "f", &error);
    assert((set == NULL) == (error != NULL));
    if (set == NULL) {
        assert(g_str_has_prefix(error->message, "f: "));
        assert(strchr(error->message, '\n') == NULL);
        return 0;
    }
    assert(rs_counter_set_n(set) > 0 && rs_counter_set_n_devices(set) > 0);
    guint64 value;
    guint64 increase = 1;
    if (rs_counter_set_get(set, "x", &value)) {
        assert(rs_counter_increase(set, set, "x", &increase) == RS_COUNTER_COUNTED);
        assert(increase == 0);
    }
    return 0;
}
