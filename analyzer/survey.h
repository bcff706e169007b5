/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the first frames of a capture point tell about the point itself.
 *
 * The one rule: it looks before anything is counted.  Frames are held until enough of
 * them are there, then it is decided for each new point whether
 *
 *   - it delivers every packet twice: nearly every packet comes again soon, those of
 *     every sender, so that no network can have made the copies;
 *   - its frames are in the order of their stamps rather than of the file: two queues
 *     were merged, so that PSNs step back and ACKs stand before their requests where in
 *     the order of the stamps they do not;
 *   - it shares streams with another point that has none of its packets: a bond's other
 *     member, another path, the file of the other direction.  Those points are joined;
 *
 * and the frames are handed on.  What is decided holds to the end of the capture; of a
 * point with few frames among them, the next survey may decide more.
 */
#ifndef RS_SURVEY_H
#define RS_SURVEY_H

#include "points.h"

#include "roce/packet.h"
#include "roce/reorder.h"

#include <glib.h>

typedef struct rs_survey rs_survey;

rs_survey *
rs_survey_new(rs_points *points);

void
rs_survey_free(rs_survey *survey);

/* Whether frames have to be held: some point is new. */
gboolean
rs_survey_wants(const rs_survey *survey, const rs_point *point);

/* Holds a copy of a frame.  TRUE when enough are held to decide. */
gboolean
rs_survey_hold(rs_survey *survey, const roce_frame *frame, const roce_packet *packet);

/* Decides on what is new, by what is held. */
void
rs_survey_decide(rs_survey *survey);

/* Hands the frames held to `take` in the order in which they came, and holds none. */
void
rs_survey_release(rs_survey *survey, roce_frame_fn take, void *ctx);

#endif
