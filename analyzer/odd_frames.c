/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "odd_frames.h"

#define OPCODE_FLUSH 0x1c
#define OPERATION_BITS 0x1f

static void
keep_if(rs_odd_frames *odd, rs_oddity kind, gboolean is, const rs_sight *sight)
{
    if (is) {
        rs_frames_keep(&odd->kinds[kind], sight->frame->number);
    }
}

static void
look_at_roce(rs_odd_frames *odd, const rs_sight *sight)
{
    const roce_packet *p = sight->packet;
    gboolean bad = sight->icrc == ROCE_ICRC_BAD;
    gboolean cnp = p->has_bth && p->bth.opcode == ROCE_OPCODE_CNP;
    gboolean flush = p->has_bth && (p->bth.opcode & OPERATION_BITS) == OPCODE_FLUSH;
    gboolean astray = sight->stream == NULL;
    keep_if(odd, RS_ODD_CNP_ICRC, bad && cnp, sight);
    keep_if(odd, RS_ODD_FLUSH_ICRC, bad && flush, sight);
    keep_if(odd, RS_ODD_ORPHAN, bad && !cnp && !flush && astray, sight);
    keep_if(odd, RS_ODD_HEADERS_CUT, !bad && astray && p->outcome == ROCE_TRUNCATED,
            sight);
}

void
rs_odd_frames_packet(rs_odd_frames *odd, const rs_sight *sight)
{
    const roce_packet *p = sight->packet;
    if (roce_packet_is_cut(p, sight->frame)) {
        rs_frames_keep(&odd->kinds[RS_ODD_CUT], sight->frame->number);
    }
    if (sight->is_counted && !p->mirror.cut && sight->icrc != ROCE_ICRC_BAD) {
        return; /* it is decoded, and in a stream */
    }
    keep_if(odd, RS_ODD_MIRROR_CUT, p->mirror.cut, sight);
    keep_if(odd, RS_ODD_MALFORMED, p->outcome == ROCE_MALFORMED, sight);
    keep_if(odd, RS_ODD_FRAGMENT, p->kind == ROCE_CLASS_FRAGMENT, sight);
    keep_if(odd, RS_ODD_NOT_IB, p->kind == ROCE_CLASS_NOT_IB, sight);
    if (p->kind == ROCE_CLASS_ROCE) {
        look_at_roce(odd, sight);
    }
}

/* It is decoded, and in a stream. */
void
rs_odd_frames_glimpse(rs_odd_frames *odd, const rs_glimpse *glimpse)
{
    if (glimpse->cut) {
        rs_frames_keep(&odd->kinds[RS_ODD_CUT], glimpse->frame);
    }
}

void
rs_odd_frames_event(rs_odd_frames *odd, const roce_event *event)
{
    if (event->kind == ROCE_EVENT_EVICTED) {
        rs_frames_keep(&odd->kinds[RS_ODD_EVICTION], event->frame);
    }
}
