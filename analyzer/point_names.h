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

/* Where a stream was seen: of points that are taken together the one that has all of it, or
 * all of them.  A number for comparing, and for rs_place_name(). */
typedef guint32 rs_place;

rs_place
rs_stream_place(const rs_analysis *analysis, guint32 stream);

/* The name of a point; of several that are taken together the names of all, the file that they
 * are of, the one interface that they are in rotated files, or the name of one with how many
 * more there are; g_free(). */
char *
rs_place_name(const rs_analysis *analysis, rs_place place);

#endif
