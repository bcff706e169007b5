/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The short way of frames into trains (trains.h), a few at a time: while the first of them
 * are taken, what the others will want of memory, which for many streams is far away, comes
 * near.
 *
 * The one rule: looking ahead changes nothing, and what it guesses is asked again.
 */
#ifndef RS_HANDFUL_H
#define RS_HANDFUL_H

#include "analysis.h"
#include "feed.h"
#include "mirrors.h"
#include "trains.h"

#include "roce/intake.h"

#include <glib.h>

#define RS_HANDFUL 16 /* packets whose memory fits near the processor */

/* What frames pass on their way, all of it its owner's. */
typedef struct rs_short_way {
    rs_analysis *analysis;
    roce_intake *intake;
    rs_trains *trains; /* NULL: each packet goes by itself */
    rs_mirrors *mirrors;
    gboolean glances_wanted; /* see rs_glance */
} rs_short_way;

/* Frames that come next, and what is known of them ahead. */
typedef struct rs_handful {
    const rs_feed_batch *from;
    rs_record *records; /* of the batch, from the first of these on */
    guint n;
    gboolean is_alike; /* all are of one interface, and no mirror carried any */
    roce_frame *frames[RS_HANDFUL]; /* as trains have them: themselves, or in `inner` */
    rs_platform *platforms[RS_HANDFUL];     /* where they may wait; NULL: nowhere */
    const roce_packet *packets[RS_HANDFUL]; /* of those that wait nowhere */
    roce_packet turned_away;                /* by the platform that was guessed */
    roce_frame inner[RS_HANDFUL];
} rs_handful;

/* Looks at `n` frames of a batch, which have their numbers. */
void
rs_handful_look_ahead(rs_handful *h, const rs_short_way *way, const rs_feed_batch *from,
                      guint first, guint n);

/* Takes those from the i-th on that go the short way, one after the other, but for counting
 * them; which is the first that does not, `n`: none.  Its packet is known, and it goes
 * another one. */
guint
rs_handful_board(rs_handful *h, const rs_short_way *way, guint i);

#endif
