/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which priorities are lossless at a capture point, as far as the capture tells.
 *
 * The one rule: PFC is a matter of one link, and nobody says that it is off but DCBX.
 * Pauses show that a priority has it; that there were none shows nothing.
 */
#ifndef RS_LOSSLESS_H
#define RS_LOSSLESS_H

#include "analysis.h"

#include <glib.h>

/* Sets of priorities: bit n is priority n. */
typedef struct rs_lossless {
    gboolean by_dcbx;  /* some port at the point says what it has PFC on for */
    guint8 some_port;  /* some of them has it on for these; 0 without by_dcbx */
    guint8 every_port; /* each of them has; 0 without by_dcbx */
    guint8 paused;     /* PFC frames were seen for these */
} rs_lossless;

void
rs_lossless_at(const rs_analysis *analysis, guint32 point, rs_lossless *lossless);

/* What is known to be lossless there: paused, or on at every port that says.  0: nothing
 * is known to be. */
static inline guint8
rs_lossless_known(const rs_lossless *lossless)
{
    return lossless->paused | lossless->every_port;
}

/* Likewise at any point of the capture. */
guint8
rs_lossless_anywhere(const rs_analysis *analysis);

#endif
