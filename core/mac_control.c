/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MAC control: PFC (IEEE 802.1Q clause 36, opcode 0x0101) and PAUSE (IEEE 802.3 annex
 * 31B, opcode 0x0001).
 */
#include "cursor.h"
#include "roce/decode.h"

#define OPCODE_PAUSE 0x0001
#define OPCODE_PFC 0x0101

void
roce_decode_mac_control(const uint8_t *bytes, uint32_t captured, uint32_t wire,
                        roce_packet *p)
{
    roce_cursor c = roce_cursor_make(bytes, captured, wire);
    p->pause.opcode = roce_cursor_u16(&c);
    p->kind = ROCE_CLASS_MAC_CONTROL;
    if (p->pause.opcode == OPCODE_PFC) {
        p->kind = ROCE_CLASS_PFC;
        p->pause.enabled = roce_cursor_u16(&c);
        for (unsigned i = 0; i < 8; i++) {
            p->pause.quanta[i] = roce_cursor_u16(&c);
        }
    } else if (p->pause.opcode == OPCODE_PAUSE) {
        p->kind = ROCE_CLASS_PAUSE;
        p->pause.quanta[0] = roce_cursor_u16(&c);
    }
    p->outcome = c.outcome;
    if (c.outcome == ROCE_DECODED && p->kind == ROCE_CLASS_MAC_CONTROL) {
        p->outcome = ROCE_NOT_OURS;
    }
}
