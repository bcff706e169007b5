/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What reports call a capture point.
 *
 * The one rule: names are safe for a terminal, whatever a capture says.
 */
#ifndef RS_POINT_NAMES_H
#define RS_POINT_NAMES_H

#include "analysis.h"

#include <glib.h>

/* Its interface, else its file, and of a mirror which one: "switch.pcapng, mirror session 3
 * of 10.0.0.9"; g_free(). */
char *
rs_point_name(const rs_analysis *analysis, guint32 point);

/* Of the points that are taken together with this one: the file that they are of, or the name
 * of this one with how many more there are; g_free(). */
char *
rs_point_group_name(const rs_analysis *analysis, guint32 point);

#endif
