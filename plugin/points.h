/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capture points of the open capture: interfaces, and parts of them. */
#ifndef ROCESCOPE_POINTS_H
#define ROCESCOPE_POINTS_H

#include "plugin.h"

#include "roce/survey.h"

/* The point that a packet was captured at, from 0 in order of appearance. */
uint32_t
points_of(const packet_info *pinfo, const roce_packet *packet);

/* Speed of the link at a point in bit/s, as the preferences have it; 0 unknown. */
uint64_t
points_speed_bps(uint32_t point);

/* The name of a point's interface, or NULL. */
const char *
points_name(uint32_t point);

/* The name of the interface that a packet was captured on, or NULL. */
const char *
points_interface_name(const packet_info *pinfo);

/* What the survey says of a point; stays where it is until points_clear(). */
roce_survey_point *
points_survey(uint32_t point);

/* Whether all points deliver each packet once and in the order of the capture, each for
 * itself. */
bool
points_are_plain(void);

/* Nothing more is decided about any of them. */
void
points_settle(void);

void
points_clear(void);

#endif
