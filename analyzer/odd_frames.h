/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames that are odd in themselves, whatever stream they are of.
 *
 * The one rule: a frame is counted under each kind that it is of, and the first of each
 * kind are remembered.
 */
#ifndef RS_ODD_FRAMES_H
#define RS_ODD_FRAMES_H

#include "frames.h"
#include "glimpse.h"
#include "sight.h"

#include "roce/event.h"

#include <glib.h>

typedef enum rs_oddity {
    RS_ODD_CUT,         /* by the snap length */
    RS_ODD_MIRROR_CUT,  /* by the mirror that carried it */
    RS_ODD_MALFORMED,   /* its headers promise more than there was */
    RS_ODD_FRAGMENT,    /* of IP */
    RS_ODD_ORPHAN,      /* bad ICRC, and of no stream */
    RS_ODD_HEADERS_CUT, /* RoCE of no stream, since its headers were cut */
    RS_ODD_NOT_IB,      /* on a RoCE port */
    RS_ODD_FLUSH_ICRC,  /* as soft-RoCE reckons it */
    RS_ODD_CNP_ICRC,    /* as some devices reckon it */
    RS_ODD_EVICTION,    /* a table was full */
    RS_N_ODDITIES,
} rs_oddity;

typedef struct rs_odd_frames {
    rs_frames kinds[RS_N_ODDITIES];
} rs_odd_frames;

void
rs_odd_frames_packet(rs_odd_frames *odd, const rs_sight *sight);
void
rs_odd_frames_glimpse(rs_odd_frames *odd, const rs_glimpse *glimpse);

void
rs_odd_frames_event(rs_odd_frames *odd, const roce_event *event);

#endif
