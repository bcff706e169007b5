/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes behind the ethertype of MAC control: PFC and PAUSE say what their bytes say,
 * field by field, and nothing else does.
 *
 *   0    how many more bytes there were on the wire
 *   1..  the bytes
 */
#include "traffic.h"

#include "roce/decode.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS 1
#define PAUSE_BYTES 4 /* opcode and time */
#define PFC_BYTES 20  /* opcode, vector, eight times */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint16_t
number_at(const uint8_t *bytes, uint32_t at)
{
    return (uint16_t)(bytes[at] << 8 | bytes[at + 1]);
}

static void
check_times(const roce_packet *p, const uint8_t *bytes)
{
    if (p->kind == ROCE_CLASS_PAUSE) {
        assert(p->pause.enabled == 0);
        assert(p->pause.quanta[0] == number_at(bytes, 2));
        return;
    }
    assert(p->pause.enabled == number_at(bytes, 2));
    for (uint32_t i = 0; i < 8; i++) {
        assert(p->pause.quanta[i] == number_at(bytes, 4 + 2 * i));
    }
}

static void
check(const roce_packet *p, const uint8_t *bytes, uint32_t captured, uint32_t wire)
{
    uint16_t opcode = captured >= 2 ? number_at(bytes, 0) : 0;
    bool is_pfc = opcode == 0x0101;
    bool is_pause = opcode == 0x0001;
    uint32_t needed = is_pfc ? PFC_BYTES : is_pause ? PAUSE_BYTES : 2;
    assert((p->kind == ROCE_CLASS_PFC) == is_pfc);
    assert((p->kind == ROCE_CLASS_PAUSE) == is_pause);
    if (captured >= needed) {
        assert(p->pause.opcode == opcode);
        assert(p->outcome == (is_pfc || is_pause ? ROCE_DECODED : ROCE_NOT_OURS));
    } else {
        uint32_t missing_end =
            captured / 2 * 2 + 2; /* of the first that is not there */
        assert(p->outcome == (missing_end <= wire ? ROCE_TRUNCATED : ROCE_MALFORMED));
    }
    if (p->outcome == ROCE_DECODED) {
        check_times(p, bytes);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < SETTINGS || size > 4096) {
        return 0;
    }
    uint32_t captured = (uint32_t)size - SETTINGS;
    uint32_t wire = captured + data[0];
    uint8_t *bytes = traffic_copy(data + SETTINGS, captured);
    roce_packet p = {0};
    roce_decode_mac_control(bytes, captured, wire, &p);
    check(&p, bytes, captured, wire);
    free(bytes);
    return 0;
}
