/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets that came to a port behind its XOFF, for which it needs headroom (IEEE 802.1Q annex
 * N), and what of them did not arrive: a headroom that is too small spills.
 *
 * The one rule: what became of a copy is the tracker's word at its own point, about the frame
 * that carried it, or at a point further on, about its PSN; of the latter only packets count
 * that came for the first time, so that a PSN stands for one of them.  The newest
 * RS_SPILLS_KEPT are known: what is told later, or was lost when there are as many losses,
 * counts as what came at another time.
 */
#ifndef RS_SPILLS_H
#define RS_SPILLS_H

#include "roce/event.h"
#include "roce/relation.h"

#include <glib.h>

#define RS_SPILLS_KEPT 65536

/* Of one stream at its point. */
typedef struct rs_spill {
    guint32 pause;       /* whose XOFF it was, the newest; the tracker's number */
    guint64 came;        /* packets behind an XOFF, */
    guint64 came_first;  /* for the first time */
    guint64 undelivered; /* of all of them */
} rs_spill;

typedef struct rs_spills rs_spills;

rs_spills *
rs_spills_new(void);

/* NULL is fine. */
void
rs_spills_free(rs_spills *spills);

/* A packet of a stream came while `pause` held it. */
void
rs_spills_came(rs_spills *spills, const roce_sighting *sighting, guint64 frame,
               guint32 pause);

void
rs_spills_event(rs_spills *spills, const roce_event *event);

/* NULL: nothing of that stream came behind an XOFF. */
const rs_spill *
rs_spills_of(const rs_spills *spills, guint32 stream);

/* So many that came so, for the first time, never came to a point further on, where the same
 * stream is `to`. */
guint64
rs_spills_lost_before(const rs_spills *spills, guint32 from, guint32 to);

/* Whether it is no chance that so many of `n_lost` packets came behind an XOFF, as `came` of
 * `n` did: three times as many as chance makes on average, and by it not once in a million
 * times. */
gboolean
rs_spills_is_no_chance(guint64 lost, guint64 n_lost, guint64 came, guint64 n);

#endif
