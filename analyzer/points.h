/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capture points: where frames were captured.
 *
 * The one rule: a point is one interface of one capture; a rotated file goes on with the
 * point of the file before it, unless it has that file's packets once more.  Points that were found to share the packets of a stream
 * between them (bond members, two queues, one file for each direction) are joined: they
 * keep their own counts, and the tracker knows them by the first of them.
 */
#ifndef RS_POINTS_H
#define RS_POINTS_H

#include "options.h"
#include "reader.h"

#include "roce/origin.h"
#include "roce/packet.h"

#include <glib.h>

/* In what order a point's frames come to the tracker. */
typedef enum rs_order {
    RS_ORDER_FILE,  /* as they stand in the file, for clocks step back */
    RS_ORDER_CLOCK, /* likewise, but put among those of other points by their stamps */
    RS_ORDER_STAMP, /* by their stamps, for the file was merged out of order */
} rs_order;

typedef struct rs_point {
    guint id;
    guint file_i, last_file_i; /* the first and the last file of a rotated set */
    guint interface_i;         /* in the first of them */
    char *interface;           /* NULL: unnamed */
    roce_origin origin;
    int link_type;
    roce_link link;
    guint64 speed_bps; /* 0 unknown */
    gboolean speed_from_user;
    guint64 packets;
    guint64 dropped;
    gboolean dropped_known;
    guint64 first_ns, last_ns;
    guint64 newest_ns; /* greatest stamp so far: the point's clock */
    guint64 steps_back, largest_step_ns;
    gboolean switch_stamps;    /* the mirror's header has the switch's own time */
    guint8 switch_granularity; /* as roce_mirror has it */

    /* as found out by the survey */
    guint32 group;     /* the point that the tracker knows it by; own id if alone */
    gboolean surveyed; /* for good */
    guint n_surveys;
    rs_order order;
    guint64 clock_ns;        /* newest stamp handed on; but for RS_ORDER_FILE */
    guint64 horizon_ns;      /* how far frames are out of order; 0 with RS_ORDER_FILE */
    gboolean delivers_twice; /* second copies are capture duplicates */
    guint64 repeat_within_ns; /* ... within this time */
    guint64 capture_duplicates;
} rs_point;

typedef struct rs_points rs_points;

rs_points *
rs_points_new(const rs_options *options);

void
rs_points_free(rs_points *points);

guint
rs_points_n(const rs_points *points);

rs_point *
rs_points_at(const rs_points *points, guint id);

/* The point of a frame, made if need be.  `packet` may be NULL: all of the interface. */
rs_point *
rs_points_of(rs_points *points, guint file_i, const rs_reader *reader,
             guint interface_i, const roce_packet *packet, guint64 time_ns);

/* Takes what the file said of its interfaces when it has been read: silent interfaces
 * are points as well ("nothing seen here"), and drops are known. */
void
rs_points_end_file(rs_points *points, guint file_i, const rs_reader *reader);

gboolean
rs_points_file_ended(const rs_points *points, guint file_i);

/* Notes a packet, so that the same traffic is known in a later file. */
void
rs_points_remember(rs_points *points, const rs_point *point, const roce_frame *frame,
                   const roce_packet *packet);

/* The point that a file's interface goes on with, whose first frame is of this time:
 * one of the same interface in a file that has been read, that ended no later, and that
 * did not see the same packets already.  Of several, that whose file has the most
 * similar name; else the one that ended last.  NULL if there is none. */
rs_point *
rs_points_before(rs_points *points, const rs_point *next, guint64 first_ns);

/* Makes one of two. */
void
rs_points_join(rs_points *points, guint a, guint b);

/* Whether a file begins before another of the same interface ends, so that they are two
 * points. */
gboolean
rs_points_overlap(const rs_points *points);

/* Counts a frame's stamp; returns by how much it steps back behind the one before. */
guint64
rs_point_follow_time(rs_point *point, guint64 time_ns);

#endif
