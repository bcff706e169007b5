/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capture points: where frames were captured.
 *
 * The one rule: a point is one interface of one capture; a rotated file goes on with the
 * point of the file before it, unless it has that file's packets once more.  Points that
 * were found to share the packets of a stream between them (bond members, two queues, one
 * file for each direction) are joined: they keep their own counts, and the tracker knows
 * them by the first of them.
 */
#ifndef RS_POINTS_H
#define RS_POINTS_H

#include "frames.h"
#include "options.h"
#include "reader.h"
#include "vantage.h"

#include "roce/origin.h"
#include "roce/packet.h"
#include "roce/survey.h"
#include "roce/wire_identity.h"

#include <glib.h>

/* By how much stamps may step back from a rotated file to the one that it goes on with. */
#define RS_FOLLOW_ON_TOLERANCE_NS ((guint64)5 * 1000 * 1000)

typedef struct rs_point {
    guint id;
    guint file_i;      /* of a rotated set, the first; the survey's is the last */
    guint interface_i; /* in the first of them */
    guint section;     /* of its file, that it was in last */
    guint first_section_number, section_number; /* likewise, as rs_interface counts */
    guint number;                               /* in the section of that interface */
    char *interface;                            /* NULL: unnamed */
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
    rs_frames stepped;         /* that stand behind a later stamp */
    gboolean switch_stamps;    /* the mirror's header has the switch's own time */
    guint8 switch_granularity; /* as roce_mirror has it */

    roce_survey_point survey; /* what it found out */
    gboolean rotation_known;  /* it is joined with what its file goes on with */
    guint n_ended_before;     /* files that had ended when it began */
    guint64 capture_duplicates;
    gboolean named_by_file;   /* an interface of another file is called the same ... */
    gboolean named_by_number; /* ... or another one of this file */
} rs_point;

typedef struct rs_points rs_points;

rs_points *
rs_points_new(const rs_options *options);

void
rs_points_free(rs_points *points);

/* Where the user says that files were captured; outlives the points. */
void
rs_points_tell(rs_points *points, const rs_vantages *vantages);

guint
rs_points_n(const rs_points *points);

/* The id of the point of the newest frame; 0 before the first. */
guint32
rs_points_newest(const rs_points *points);

rs_point *
rs_points_at(const rs_points *points, guint id);

/* The point of a frame, made if need be.  `packet` may be NULL: all of the interface. */
rs_point *
rs_points_of(rs_points *points, guint file_i, const rs_reader *reader,
             guint interface_i, const roce_packet *packet, guint64 time_ns);

/* The point of frames that were captured at the interface itself, and that no mirror
 * carried; NULL: none has come yet. */
rs_point *
rs_points_itself(const rs_points *points, guint file_i, guint interface_i);

/* The point of the first frame that an interface delivered, or of the interface without
 * any; NULL: it is not known. */
const rs_point *
rs_points_of_interface(const rs_points *points, guint file_i, guint interface_i);

/* Takes what the file said of its interfaces when it has been read: silent interfaces
 * are points as well ("nothing seen here"), and drops are known. */
void
rs_points_end_file(rs_points *points, guint file_i, const rs_reader *reader);

gboolean
rs_points_file_ended(const rs_points *points, guint file_i);

/* Whether packets are noted at all: there are several files. */
gboolean
rs_points_have_recall(const rs_points *points);

/* Notes a packet, if that is so, that the same traffic is known in a later file. */
void
rs_points_remember(rs_points *points, const rs_point *point, const roce_frame *frame,
                   const roce_packet *packet);

/* The same of a car (roce/train.h), which is known by its identity. */
void
rs_points_remember_car(rs_points *points, const rs_point *point, guint64 frame,
                       const roce_wire_identity *identity);

/* The point that a file's interface goes on with, whose first frame is of this time:
 * one of the same interface in a file that has been read, that ended no later, and that
 * did not see the same packets already.  Of several, that whose file has the most
 * similar name; else the one that ended last.  NULL if there is none. */
rs_point *
rs_points_before(rs_points *points, const rs_point *next, guint64 first_ns);

/* Joins points that have been surveyed since with that which their file goes on with,
 * where it began a little before the other had ended. */
void
rs_points_join_rotated(rs_points *points);

/* Whether a file begins before another of the same interface ends, so that they are two
 * points. */
gboolean
rs_points_overlap(const rs_points *points);

/* Finds what it takes to tell points by their names, once all are known. */
void
rs_points_tell_apart(rs_points *points);

/* From so many packets on, one stamp for all of them says nothing of how far apart they are;
 * of fewer it may be true that they came in one tick of the clock. */
#define RS_STILL_PACKETS 16

/* Whether a point's clock stands still: so many packets have come, and all of them have one
 * stamp, or none of their own. */
gboolean
rs_point_stands_still(const rs_point *point);

/* Whether its stamps differ. */
gboolean
rs_point_clock_moves(const rs_point *point);

/* Counts a frame's stamp; returns by how much it steps back behind the one before. */
guint64
rs_point_follow_time(rs_point *point, guint64 time_ns);

/* The same for one that none of the point was behind so far; FALSE, and nothing, for any
 * other. */
static inline gboolean
rs_point_goes_on(rs_point *point, guint64 time_ns)
{
    if (time_ns < point->newest_ns || point->packets == 0) {
        return FALSE;
    }
    point->packets++;
    point->last_ns = point->newest_ns = time_ns;
    return TRUE;
}

#endif
