/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capture points of the open capture: interfaces, and parts of them. */
#ifndef ROCESCOPE_POINTS_H
#define ROCESCOPE_POINTS_H

#include "plugin.h"

/* The point that a packet was captured at, from 0 in order of appearance. */
uint32_t
points_of(const packet_info *pinfo, const roce_packet *packet);

/* Speed of the link at a point in bit/s, as the preferences have it; 0 unknown. */
uint64_t
points_speed_bps(uint32_t point);

/* The name of the interface that a packet was captured on, or NULL. */
const char *
points_interface_name(const packet_info *pinfo);

/* The name of the interface that a packet was captured on, or NULL. */
const char *
points_interface_name(const packet_info *pinfo);

void
points_clear(void);

#endif
