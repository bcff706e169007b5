/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as an Ethernet frame, decoded both ways: what the short one takes has to be
 * equal byte for byte to what the walk from header to header says, and it has to take all
 * that has the common shape.
 *
 *   0    how many more bytes the frame had on the wire; bit 7: more ports than 4791
 *   1..  the frame
 */
#include "express.h"
#include "traffic.h"
#include "two_ways.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS 1

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
compare(const roce_frame *frame, const roce_ports *ports)
{
    roce_packet walked, taken;
    memset(&walked, 0x5a, sizeof walked);
    memset(&taken, 0xa5, sizeof taken);
    roce_decode_walk(frame, ports, &walked);
    if (roce_decode_express(frame, ports, &taken)) {
        assert(memcmp(&taken, &walked, sizeof taken) == 0);
    } else {
        assert(!two_ways_is_common(frame, &walked));
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < SETTINGS || size > 70000) {
        return 0;
    }
    roce_ports ports;
    roce_ports_init(&ports);
    if ((data[0] & 0x80) != 0) {
        ports = (roce_ports){.port = {53, 4791, 0, 0xffff}, .n_ports = 4};
    }
    uint32_t captured = (uint32_t)size - SETTINGS;
    uint8_t *bytes = traffic_copy(data + SETTINGS, captured);
    const roce_frame frame = {
        .bytes = bytes,
        .captured_bytes = captured,
        .wire_bytes = captured + (data[0] & 0x7f),
        .number = 1,
        .link = ROCE_LINK_ETHERNET,
        .direction = ROCE_DIRECTION_IN,
    };
    compare(&frame, &ports);
    free(bytes);
    return 0;
}
