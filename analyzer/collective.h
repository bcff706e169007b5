/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What many hosts do together: the rhythm of their bursts, the shape in which they send,
 * and who admits whom.
 *
 * The one rule: packets are noted as they come, each in constant time; everything else
 * is found when the capture has ended.
 */
#ifndef RS_COLLECTIVE_H
#define RS_COLLECTIVE_H

#include "admission.h"
#include "edges.h"
#include "glimpse.h"
#include "rhythm.h"
#include "rhythm_shape.h"
#include "sight.h"
#include "stragglers.h"

#include "roce/tracker.h"

typedef struct rs_collective rs_collective;

rs_collective *
rs_collective_new(void);

void
rs_collective_free(rs_collective *collective);

void
rs_collective_packet(rs_collective *collective, const rs_sight *sight);

/* What is known of a stream of which glimpses come; as long as the collective. */
typedef struct rs_collective_stream {
    rs_edge_follower *follower; /* NULL: there is no room for it */
    rs_newest_cell *newest;     /* of its edge; likewise */
} rs_collective_stream;

rs_collective_stream
rs_collective_know(rs_collective *collective, const roce_stream *stream);

/* A glimpse of that stream will come soon, see approach.h; in two steps, of which the
 * second takes what the first has brought near. */
void
rs_collective_approach(const rs_collective_stream *known);
void
rs_collective_approach_cell(const rs_collective *collective,
                            const rs_collective_stream *known, guint64 time_ns);

void
rs_collective_glimpse(rs_collective *collective, const rs_collective_stream *known,
                      const rs_glimpse *glimpse);

/* The tracker has finished.  `files` are guint32 by point: which file it stands in. */
void
rs_collective_finish(rs_collective *collective, const roce_tracker *tracker,
                     const GArray *files);

const rs_edges *
rs_collective_edges(const rs_collective *collective);

/* NULL: there is none. */
const rs_rhythm *
rs_collective_rhythm(const rs_collective *collective);

/* rs_group, see rs_groups_new(). */
const GPtrArray *
rs_collective_groups(const rs_collective *collective);

/* rs_performer, see rs_performers_new(). */
const GArray *
rs_collective_performers(const rs_collective *collective);

/* rs_admission, see rs_admissions_new(). */
const GArray *
rs_collective_admissions(const rs_collective *collective);

#endif
