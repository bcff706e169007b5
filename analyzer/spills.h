/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets that came to a port behind its XOFF, for which it needs headroom (IEEE 802.1Q annex
 * N), and what of them did not arrive: a headroom that is too small spills.
 *
 * The one rule: what became of a copy is the tracker's word at its own point, about the frame
 * that carried it; or at a point further on, about a PSN that was never seen there when those
 * behind it came, so that its first copy was lost: of that only first copies count.  Of each
 * stream all begins with the first packet that came behind an XOFF: what was lost before there
 * were pauses says nothing of them.  The newest RS_SPILLS_KEPT packets are known, and the first
 * so many losses: what is told later counts as what came at another time.
 */
#ifndef RS_SPILLS_H
#define RS_SPILLS_H

#include "roce/event.h"
#include "roce/relation.h"

#include <glib.h>

#define RS_SPILLS_KEPT 65536

/* Of one stream at its point, from the first packet behind an XOFF on. */
typedef struct rs_spill {
    guint32 pause;       /* whose XOFF it was, the newest; the tracker's number */
    guint64 n, came;     /* packets; those behind an XOFF */
    guint64 n_first;     /* packets for the first time; */
    guint64 came_first;  /* those behind an XOFF */
    guint64 lost;        /* seen there, and undelivered; */
    guint64 undelivered; /* those that came behind an XOFF */
    gint64 first_psn[ROCE_N_SPACES]; /* of these packets; ROCE_NO_PSN: none */
    guint64 newest_frame;
} rs_spill;

typedef struct rs_spills rs_spills;

rs_spills *
rs_spills_new(void);

/* NULL is fine. */
void
rs_spills_free(rs_spills *spills);

/* A packet of a stream came while `pause` held it; ROCE_NO_PAUSE: while nothing did. */
void
rs_spills_packet(rs_spills *spills, const roce_sighting *sighting, guint64 frame,
                 guint32 pause);

void
rs_spills_event(rs_spills *spills, const roce_event *event);

/* NULL: nothing of that stream came behind an XOFF. */
const rs_spill *
rs_spills_of(const rs_spills *spills, guint32 stream);

/* What was lost, and so much of it behind an XOFF. */
typedef struct rs_spilled {
    guint64 lost, behind;
} rs_spilled;

/* Of what came for the first time, and never to a point further on, where the same stream is
 * `to`. */
rs_spilled
rs_spills_lost_before(const rs_spills *spills, guint32 from, guint32 to);

/* Whether it is no chance that so many of `n_lost` packets came behind an XOFF, where so many
 * would have on average: what comes there is lost three times as often as what comes at other
 * times, and by chance so many would not be once in a million times. */
gboolean
rs_spills_is_no_chance(guint64 lost, guint64 n_lost, double by_chance);

#endif
