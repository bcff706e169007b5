/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as two Ethernet frames, the first of which leads: what fits its mould has to be
 * decoded to the same, but for what its car has.
 *
 *   0    how many more bytes the second had on the wire
 *   1    where the first ends
 *   2..  the frames; the second begins as the first one, with its own bytes laid over by
 *        exclusive or, so that zeros are what fits
 */
#include "mould_agrees.h"
#include "traffic.h"

#include <assert.h>
#include <stdlib.h>

#define SETTINGS 2

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < SETTINGS || size > 70000) {
        return 0;
    }
    uint32_t all = (uint32_t)size - SETTINGS;
    uint32_t n_lead = data[1] < all ? data[1] : all;
    uint32_t n_frame = all - n_lead;
    uint8_t *leading = traffic_copy(data + SETTINGS, n_lead);
    uint8_t *bytes = traffic_copy(data + SETTINGS + n_lead, n_frame);
    for (uint32_t i = 0; i < n_frame && i < n_lead; i++) {
        bytes[i] ^= leading[i];
    }
    roce_frame lead = {
        .bytes = leading,
        .captured_bytes = n_lead,
        .wire_bytes = n_lead,
        .number = 1,
        .link = ROCE_LINK_ETHERNET,
    };
    roce_frame frame = lead;
    frame.bytes = bytes;
    frame.captured_bytes = n_frame;
    frame.wire_bytes = n_frame + data[0];
    frame.number = 2;
    bool fits;
    if (!mould_agrees(&lead, &frame, &fits)) {
        abort();
    }
    free(leading);
    free(bytes);
    return 0;
}
