/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "icrc_check.h"

#include "crc32.h"

#define SAMPLE_ONE_IN 64 /* PSNs */

static gboolean
is_wanted(const rs_icrc_check *check, guint64 frame, guint32 psn24)
{
    switch (check->mode) {
    case RS_ICRC_ALL:
        return TRUE;
    case RS_ICRC_SAMPLE:
        return frame <= check->sample_first || psn24 % SAMPLE_ONE_IN == 0;
    case RS_ICRC_OFF:
        break;
    }
    return FALSE;
}

roce_icrc_status
rs_icrc_check_packet(rs_icrc_check *check, const roce_frame *frame,
                     const roce_packet *packet)
{
    if (packet->kind != ROCE_CLASS_ROCE || !packet->has_bth) {
        return ROCE_ICRC_UNCHECKED;
    }
    if (!is_wanted(check, frame->number, packet->bth.psn24)) {
        check->passed_over++;
        return ROCE_ICRC_UNCHECKED;
    }
    return roce_icrc_check(frame->bytes, frame->captured_bytes, packet, rs_crc32);
}

roce_icrc_status
rs_icrc_check_car(const rs_icrc_check *check, const roce_frame *frame,
                  const roce_mould *mould, const roce_car *car)
{
    return is_wanted(check, car->frame, car->psn24)
               ? roce_mould_check_icrc(mould, frame, car, rs_crc32)
               : ROCE_ICRC_UNCHECKED;
}
