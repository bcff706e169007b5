/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The same packet at several capture points.
 *
 * The packet that one point saw first, and its copies at other points, are twins.  They tell
 * which streams are the same, what came by at which points, whose DSCP was changed on the
 * way, and between which two points data was marked (twins_marks.c).
 *
 * The one rule: two packets are twins if their wire identity is the same.  The table is
 * bounded: a twin that comes after very many other packets is not known.
 */
#ifndef RS_TWINS_H
#define RS_TWINS_H

#include "glimpse.h"
#include "points.h"
#include "sight.h"

#include "roce/wire_identity.h"

#include <glib.h>

typedef struct rs_twins rs_twins;

/* Packets of a stream that had another DSCP at the point where they were seen before. */
typedef struct rs_rewriting {
    guint64 packets, cnps;           /* the latter among them */
    guint32 other_stream;            /* the same stream, at that other point */
    guint8 dscp_there, dscp_here;    /* of the first such packet */
    guint64 frame_there, frame_here; /* likewise */
} rs_rewriting;

/* `points` outlives the twins; NULL: all are of one clock. */
rs_twins *
rs_twins_new(const rs_points *points);

/* Packets went by that were not noted. */
void
rs_twins_miss(rs_twins *twins);

void
rs_twins_free(rs_twins *twins);

/* Notes a RoCE packet of a stream.  TRUE if its twin was seen at another point before.
 */
gboolean
rs_twins_add(rs_twins *twins, const roce_wire_identity *identity,
             const rs_sight *sight);

/* The same of a packet of a train. */
gboolean
rs_twins_glimpse(rs_twins *twins, const roce_wire_identity *identity,
                 const rs_glimpse *glimpse);

/* One with that identity will come soon; see approach.h. */
void
rs_twins_approach(const rs_twins *twins, const roce_wire_identity *identity);

/* Decides on what is still in the table.  The tracker has finished; NULL: it is not asked. */
void
rs_twins_finish(rs_twins *twins, const roce_tracker *tracker);

/* Packets that were seen at more than one point, counted once per further point. */
guint64
rs_twins_count(const rs_twins *twins);

/* Whether every packet was remembered to the end, so that "at no other point" holds. */
gboolean
rs_twins_complete(const rs_twins *twins);

/* Packets of a stream that were ECT at point `from` and CE at the stream's own. */
typedef struct rs_marked {
    guint from;
    guint32 from_stream; /* the same stream there */
    guint64 packets;
} rs_marked;

/* What was marked on the way to the point of a stream: rs_marked in order of points; NULL:
 * nothing that is known. */
const GArray *
rs_twins_marked(const rs_twins *twins, guint32 stream);

/* Data packets of a stream that were CE at its point, the first, and at every other that
 * saw them. */
guint64
rs_twins_marked_before(const rs_twins *twins, guint32 stream);

/* FALSE: of some marks of this stream it is not known where they were made. */
gboolean
rs_twins_marks_known(const rs_twins *twins, guint32 stream);

/* Packets of a stream that were seen at its point and at no other; if complete. */
guint64
rs_twins_only_here(const rs_twins *twins, guint32 stream);

/* Requests and responses that were seen at point `from` and not at `to`, of streams that are
 * the same at several points (guint32 each).  G_MAXUINT64: the points are not told apart. */
guint64
rs_twins_missing(const rs_twins *twins, const GArray *members, guint from, guint to);

/* Whether two streams are the same at two points, since some packet was seen at both, or of
 * each at a third one. */
gboolean
rs_twins_have_met(rs_twins *twins, guint32 a, guint32 b);

/* Requests and responses of a stream that were like one before at its point, as those that
 * are sent again are where nothing numbers them: of whether these were seen at other points
 * nothing is known. */
guint64
rs_twins_repeats(const rs_twins *twins, guint32 stream);

/* NULL: no packet of the stream, which stands at the later point; or `twins` is NULL. */
const rs_rewriting *
rs_twins_rewriting(const rs_twins *twins, guint32 stream);

#endif
