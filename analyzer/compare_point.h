/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A capture point as the user names it, and the way of its frames up to where they are
 * matched: FILE, or FILE#INTERFACE.
 *
 * The one rule: of what is named the longest part that is a file is the file, whatever "#"
 * there is in it, or behind it.  An interface goes by its name; if none has it, by its number
 * (as Wireshark's frame.interface_id, from 0; of a cooked capture of all interfaces, its index).
 */
#ifndef RS_COMPARE_POINT_H
#define RS_COMPARE_POINT_H

#include "filter.h"
#include "icrc_check.h"
#include "path_match.h"
#include "points.h"
#include "reader.h"

#include "roce/intake.h"
#include "roce/tracker.h"

#include <glib.h>

typedef struct rs_compare_point {
    guint id;
    char *given; /* as on the command line */
    char *path;
    char *file[2];       /* the same, and NULL */
    char *interface;     /* NULL: all of the file */
    gboolean has_number; /* `interface` can be a number as well */
    guint64 number;
    gboolean by_name;       /* and cannot: some interface is called so */
    gboolean exists;        /* there is such an interface, if only without frames */
    guint64 packets, bytes; /* of its interfaces */
    guint64 filtered_out;
    guint64 roce_packets;
    guint64 first_ns, last_ns;
    gboolean begun;
    gint64 late_ns; /* its first frame behind its file's; valid if begun */
    gint64 idle_ns; /* since its newest frame, as far as the file is read; likewise */
    guint64 steps_back;
    guint64 dropped;
    gboolean dropped_known;
    guint64 capture_duplicates;

    rs_options *options; /* of its own: `file` is all its files */
    rs_points *inner;    /* its interfaces */
    roce_intake *intake;
    roce_tracker *tracker;
    rs_icrc_check icrc;
    rs_path *path_of; /* where its packets go */
    gint64 offset_ns; /* its clock minus the path's */
    gboolean settled; /* interfaces are no longer looked at first */
} rs_compare_point;

/* FILE of "FILE#INTERFACE"; to be freed. */
char *
rs_compare_point_path(const char *given);

/* Takes "FILE#INTERFACE" apart. */
rs_compare_point *
rs_compare_point_new(guint id, const char *given, const rs_options *options);

void
rs_compare_point_free(rs_compare_point *point);

/* Its packets go to `path` from now on; what was known of it before is forgotten. */
void
rs_compare_point_begin(rs_compare_point *point, rs_path *path);

/* Whether a frame is one of its. */
gboolean
rs_compare_point_wants(rs_compare_point *point, const rs_reader *reader,
                       const rs_record *record, const roce_packet *packet);

/* Takes a frame of its; FALSE for a filter that does not fit its link layer. */
gboolean
rs_compare_point_take(rs_compare_point *point, const rs_reader *reader,
                      const rs_record *record, const roce_packet *packet,
                      rs_filter *filter, GError **error);

/* Nothing more comes for now: hands on all that waits, and no longer looks at interfaces
 * before it does. */
void
rs_compare_point_settle(rs_compare_point *point);

/* Its file has been read. */
void
rs_compare_point_end(rs_compare_point *point, const rs_reader *reader);

#endif
