/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From streams to a whole: counters summed, streams of one queue pair brought together,
 * the same stream at several points recognised.
 *
 * The one rule: nothing is added up over points that saw the same packet.  Of a stream
 * that several points saw, the point that saw most of it stands for all, and of those that saw
 * as much the last on its way; but for times, which are those of the first.
 */
#ifndef RS_SUMMARY_H
#define RS_SUMMARY_H

#include "analysis.h"
#include "timeline.h"

#include "roce/stream.h"

#include <glib.h>

/* Those of one PSN space, as roce_space_counters and roce_disorder_counters have them. */
typedef struct rs_space_counters {
    guint64 packets, unique_psns;
    guint64 gaps, missing_psns;
    guint64 reordered, duplicates, capture_repeats, resent;
} rs_space_counters;

typedef struct rs_ecn_counters {
    guint64 codepoint[4];
    guint64 transitions, ce_episodes;
} rs_ecn_counters;

typedef struct rs_icrc_counters {
    guint64 checked, bad, unchecked_truncated, cnp_bad, flush_bad;
} rs_icrc_counters;

/* The counters of a stream, or of many. */
typedef struct rs_counters {
    guint64 streams;
    guint64 paired_streams; /* of them; what depends on pairing is their sum */
    guint64 packets, wire_bytes, payload_bytes;
    rs_space_counters space[ROCE_N_SPACES];
    roce_retransmission_counters retransmissions;
    guint64 losses[ROCE_N_SPACES][ROCE_N_VERDICTS];
    guint64 naks[ROCE_N_NAKS], naks_sent[ROCE_N_NAKS];
    guint64 cnps_received, cnps_sent;
    guint64 rnr_waits_kept, rnr_waits_broken;
    rs_ecn_counters ecn;
    guint64 ecn_control[4];
    rs_icrc_counters icrc;
    guint64 messages, message_bytes;
} rs_counters;

/* Two directions of one queue pair, over all points. */
typedef struct rs_link {
    roce_addr addr[2];
    guint32 qpn[2];
    gboolean qpn_known[2];
    roce_pairing paired_by;
    const char *trust;         /* "high", "medium", "low" */
    const roce_connection *cm; /* NULL without */
    GArray *streams;           /* guint32 */
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

/* The streams that one stands for, guint32 each, with itself; NULL if that is all. */
const GArray *
rs_summary_members(const rs_summary *summary, guint32 stream);

/* Of them, the one that has most of what is measured; the one itself, where none has more. */
guint32
rs_summary_most_at(const rs_summary *summary, const roce_tracker *tracker, guint32 id,
                   guint64 (*measure)(const roce_stream *stream));

void
rs_counters_of_stream(rs_counters *counters, const roce_stream *stream);

/* What is counted of a stream that stands for all points which saw it: totals are the sum. */
void
rs_summary_count_once(const rs_summary *summary, const rs_analysis *analysis,
                      guint32 id, rs_counters *counters);

void
rs_counters_add(rs_counters *sum, const rs_counters *other);

/* Who owns the queue pair at one end of a connection, as the user's tables say; FALSE: not
 * known. */
gboolean
rs_link_process(const rs_link *link, guint side, const rs_qp_maps *maps,
                rs_process *process);

/* Verdicts that mean that something did not arrive: all but not_captured and unknown.
 */
guint64
rs_losses_of(const guint64 losses[ROCE_N_VERDICTS]);

/* What to call a point: its interface, else its file.  Safe for a terminal; g_free().
 */
char *
rs_point_name(const rs_analysis *analysis, guint32 point);

/* Adds to each bin what all points saw in that time, each packet once.  FALSE where
 * that cannot be told: of several points and more streams than have bins. */
gboolean
rs_summary_add_timeline(const rs_summary *summary, const rs_analysis *analysis,
                        rs_timeline_row row, guint64 *sum);

/* Of the points that are taken together with this one: the file that they are of, or the name
 * of this one with how many more there are. */
char *
rs_point_group_name(const rs_analysis *analysis, guint32 point);

/* PSNs that were seen of a stream, of requests and of responses. */
guint64
rs_summary_n_psns(const roce_stream *s);

/* Whether this stream stands for all points that saw it. */
gboolean
rs_summary_stands(const rs_summary *summary, guint32 stream);

#endif
