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

/* A packet of this stream will come soon, see approach.h; in three steps, each of which
 * takes what the one before has brought near. */
void
rs_collective_approach(const rs_collective *collective, guint32 stream);
void
rs_collective_approach_edge(const rs_collective *collective, guint32 stream);
void
rs_collective_approach_cell(const rs_collective *collective, guint32 stream,
                            guint64 time_ns);

void
rs_collective_packet(rs_collective *collective, const rs_sight *sight);
void
rs_collective_glimpse(rs_collective *collective, const rs_glimpse *glimpse);

/* The tracker has finished. */
void
rs_collective_finish(rs_collective *collective, const roce_tracker *tracker);

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
