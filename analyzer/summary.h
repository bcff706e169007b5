/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From streams to a whole: counters summed, the two directions of a queue pair brought
 * together, the same stream at several points recognised.
 *
 * To the tracker the same stream at three points is three streams.  Here they are a group,
 * in which one of them stands for all: that of the point which saw most of it, and of points
 * that saw as much the last on its way.  All of the group are its members, itself as well.
 *
 * The one rule: nothing is added up over points that saw the same packet.  A group counts
 * once, by the stream that stands for it; but for latencies, which are those of the first
 * point on its way, of those that saw as much.
 */
#ifndef RS_SUMMARY_H
#define RS_SUMMARY_H

#include "analysis.h"
#include "stream_counters.h"
#include "timeline.h"

#include "roce/stream.h"

#include <glib.h>

/* A connection: two directions of one queue pair, over all points. */
typedef struct rs_link {
    roce_addr addr[2];
    guint32 qpn[2];
    gboolean qpn_known[2];
    roce_pairing paired_by;
    const char *trust;         /* "high", "medium", "low" */
    const roce_connection *cm; /* NULL without */
    GArray *streams;           /* guint32, ascending */
} rs_link;

/* What was carried by streams that are nobody's other direction. */
typedef struct rs_unattributed {
    guint64 naks, rnr, cnps, acks;
} rs_unattributed;

typedef struct rs_summary {
    rs_counters totals;
    roce_histogram latencies[ROCE_N_LATENCIES]; /* of these streams, where they begin */
    rs_unattributed unattributed;
    GArray *group;         /* guint32 by stream id: the stream that stands for it */
    GPtrArray *members;    /* see rs_summary_members(); empty where no stream has any */
    GHashTable *later;     /* ids of streams that go on with one that stands as well */
    GHashTable *missed;    /* ids of points whose capture is known to lack packets */
    GArray *worst_first;   /* guint32: stream ids */
    GPtrArray *links;      /* rs_link */
    GArray *link_of;       /* guint32 by stream id; G_MAXUINT32 none */
    GPtrArray *pairs;      /* rs_address_pair, see spreading.h */
    guint32 *pair_streams; /* of all pairs */
} rs_summary;

rs_summary *
rs_summary_new(const rs_analysis *analysis);

void
rs_summary_free(rs_summary *summary);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_summary, rs_summary_free)

/* ---- the same stream at several points ---- */

/* Whether this stream stands for its group; one that is alone does. */
gboolean
rs_summary_stands(const rs_summary *summary, guint32 stream);

/* The stream that stands for its group. */
guint32
rs_summary_group(const rs_summary *summary, guint32 stream);

/* The group of a stream that stands for it, guint32 each; NULL if it is alone. */
const GArray *
rs_summary_members(const rs_summary *summary, guint32 stream);

/* Likewise, of any of them. */
const GArray *
rs_summary_members_with(const rs_summary *summary, guint32 stream);

/* Of a group the stream that has most of what is measured; the one that stands for it, where
 * none has more. */
guint32
rs_summary_most_at(const rs_summary *summary, const roce_tracker *tracker, guint32 id,
                   guint64 (*measure)(const roce_stream *stream));

/* PSNs that were seen of a stream, of requests and of responses. */
guint64
rs_summary_n_psns(const roce_stream *s);

/* ---- each packet once ---- */

/* What is counted of a group, by the stream that stands for it: totals are the sum of these. */
void
rs_summary_count_once(const rs_summary *summary, const rs_analysis *analysis,
                      guint32 id, rs_counters *counters);

/* Adds to each bin of the time line what all points saw in that time.  FALSE where that
 * cannot be told: of several points and more streams than have bins. */
gboolean
rs_summary_add_timeline(const rs_summary *summary, const rs_analysis *analysis,
                        rs_timeline_row row, guint64 *sum);

/* ---- connections ---- */

/* Who owns the queue pair at one end of a connection, as the user's tables say; FALSE: not
 * known. */
gboolean
rs_link_process(const rs_link *link, guint side, const rs_qp_maps *maps,
                rs_process *process);

#endif
