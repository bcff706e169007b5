/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checking ICRCs, of as many packets as the user wants.
 *
 * The one rule: a packet that was passed over is counted.  What could not be checked because
 * it was cut is another matter, and in the counters of its stream.
 */
#ifndef RS_ICRC_CHECK_H
#define RS_ICRC_CHECK_H

#include "options.h"

#include "roce/icrc.h"
#include "roce/packet.h"
#include "roce/train.h"

#include <glib.h>

#define RS_ICRC_SAMPLE_FIRST 1000 /* frames of what is analyzed by itself */

typedef struct rs_icrc_check {
    rs_icrc_mode mode;
    guint64 sample_first; /* frames up to this number are all of the sample */
    guint64 passed_over;  /* RoCE packets that the mode does not want */
} rs_icrc_check;

/* ROCE_ICRC_UNCHECKED for what has no ICRC, or was passed over.  A sample goes by PSNs, so
 * that the same packets are of it wherever they were captured. */
roce_icrc_status
rs_icrc_check_packet(rs_icrc_check *check, const roce_frame *frame,
                     const roce_packet *packet);

/* The same for a packet that became a car, but for counting it if it is passed over. */
roce_icrc_status
rs_icrc_check_car(const rs_icrc_check *check, const roce_frame *frame,
                  const roce_mould *mould, const roce_car *car);

#endif
