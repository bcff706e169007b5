/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What reports call files and capture points.
 *
 * The one rule: names are safe for a terminal, whatever a capture says.
 */
#ifndef RS_POINT_NAMES_H
#define RS_POINT_NAMES_H

#include "analysis.h"

#include <glib.h>

/* The last of its path's names, and as many of those before it as tell it from the other
 * files of the capture; g_free(). */
char *
rs_file_name(const rs_analysis *analysis, guint file_i);

/* Its interface, else its file, both where an interface of another file is called the same,
 * and its number where one of this file is; of a mirror which one: "switch.pcapng, mirror
 * session 3 of 10.0.0.9"; g_free(). */
char *
rs_point_name(const rs_analysis *analysis, guint32 point);

/* Of the points that are taken together with this one: the file that they are of, the one
 * interface that they are in rotated files, or the name of this one with how many more there
 * are; g_free(). */
char *
rs_point_group_name(const rs_analysis *analysis, guint32 point);

#endif
