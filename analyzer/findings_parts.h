/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What finding is made of: for the functions and rows that findings_table.c names.
 */
#ifndef RS_FINDINGS_PARTS_H
#define RS_FINDINGS_PARTS_H

#include "findings.h"
#include "frames.h"
#include "last_heard.h"
#include "point_names.h"
#include "tenant_addr.h"

/* What is said wherever the other direction would say more, and what to do. */
#define RS_OTHER_NOT_KNOWN                                                             \
    "The other direction is not known: not captured, or not to be told from that of "  \
    "other queue pairs.  "
#define RS_CAPTURE_BOTH                                                                \
    "Capture both directions at one point; --qp-map tells which queue pairs belong "   \
    "together."

struct rs_findings {
    const rs_analysis *analysis;
    const rs_summary *summary;
    GPtrArray *list;
    GHashTable *congested; /* see rs_findings_congested() */
    gboolean several_tenants;
    GHashTable *traffic;        /* who sends whom how much; NULL: not asked for yet */
    GPtrArray *outages;         /* rs_outage */
    GHashTable *in_outages;     /* rs_outage_share, see rs_outages_shares() */
    GHashTable *too_long;       /* see rs_findings_too_long() */
    GHashTable *holders;        /* see rs_findings_holders() */
    GHashTable *first_holders;  /* likewise, of first passages */
    const rs_last_heard *heard; /* all hosts */
    GHashTable *told;           /* guint32: pauses of which a finding has told, see
                          * rs_pause_port_tell() */
};

/* A finding to be filled in: title, detail, frames; belongs to the list. */
rs_finding *
rs_finding_add(rs_findings *all, const rs_finding_row *row, rs_severity severity);

/* What it is about, as the second half of its id. */
void
rs_finding_about(rs_finding *finding, const char *what);

/* Where that is, if the same may be found elsewhere: "@point-2" tells their ids apart. */
void
rs_finding_at(rs_finding *finding, guint32 point);
void
rs_finding_in(rs_finding *finding, const roce_tenant *tenant);

/* Takes both over. */
void
rs_finding_say(rs_finding *finding, char *title, char *detail);

/* Takes the newest finding back. */
void
rs_findings_take_back(rs_findings *all);

/* A frame that shows it. */
void
rs_finding_add_frame(rs_finding *finding, guint64 frame);

/* Frames that were kept, first ones first, of `total`. */
void
rs_finding_add_frames(rs_finding *finding, const guint64 *frames, guint n,
                      guint64 total);

/* All that were kept. */
void
rs_finding_add_kept(rs_finding *finding, const rs_frames *frames);

/* The frames on which events of that RS_EVIDENCE_KIND about its streams were seen.  The
 * filter for all of them is made of the plugin's fields of these events. */
void
rs_finding_add_events(const rs_findings *all, rs_finding *finding, guint kind);

/* Another display filter for all frames, with the plugin, where some are left out; "or"
 * with what there is.  Takes the text over. */
void
rs_finding_add_filter(rs_finding *finding, char *filter);

/* "rocev2.analysis.stream in {1, 3..5}" for its streams, or for their addresses and QPNs
 * where Wireshark cannot know the numbers of the report; g_free(). */
char *
rs_finding_stream_filter(const rs_findings *all, const rs_finding *finding);

/* Name or address of a host, safe for a terminal; g_free(). */
char *
rs_findings_label(const rs_findings *all, const roce_addr *addr);

/* The same, of a tenant network: "10.0.0.1 in vxlan 100", if there is another one. */
char *
rs_findings_label_in(const rs_findings *all, const roce_tenant *tenant,
                     const roce_addr *addr);

/* "gpu01 to gpu02"; likewise. */
char *
rs_findings_ends(const rs_findings *all, const roce_tenant *tenant,
                 const roce_addr *src, const roce_addr *dst);

/* The first of `n` names (char *): "a", "a and b", "a, b and 3 more"; likewise. */
char *
rs_finding_list(const GPtrArray *names, guint n);

/* Who sends these streams, each once, in their order, as such a list; likewise. */
char *
rs_findings_senders(const rs_findings *all, const GArray *streams);

/* How the report knows priorities, as a sentence. */
const char *
rs_findings_priority_words(const rs_findings *all, gboolean tagged);

/* "11 packets", "1 packet"; g_free(). */
char *
rs_finding_count(guint64 n, const char *one, const char *many);
char *
rs_finding_packets(guint64 n);
/* "64 (900 packets), 63 (100 packets) and others", if there are `more`; g_free(). */
char *
rs_finding_values(const guint8 *values, const guint64 *packets, guint n, gboolean more);

/* rs_pair without streams, both ways, of hosts between which there is congestion or loss
 * that is worth a warning by itself: packets lost, WARNING_CE_PERCENT of the data of one
 * direction marked, as many CNPs about it, or a pause of WARNING_PAUSED_PERCENT of the
 * time. */
GHashTable *
rs_findings_congested(const rs_findings *all);
gboolean
rs_findings_is_congested(const rs_findings *all, const roce_tenant *tenant,
                         const roce_addr *src, const roce_addr *dst);

/* Whether some pause holds for WARNING_PAUSED_PERCENT of the time of its point. */
gboolean
rs_findings_paused_much(const rs_findings *all);

/* ---- Findings about streams ---- */

/* The streams from one address to another, in one tenant network, that a finding is about. */
typedef struct rs_flow {
    const rs_findings *all;
    roce_tenant tenant;
    roce_addr src, dst;
    GArray *streams;    /* guint32 */
    rs_counters sum;    /* over them */
    guint64 n;          /* what the row measured, summed */
    guint64 packets;    /* that shares are of: requests and responses of READs of all
                         * streams from the one to the other */
    guint64 data;       /* their data packets */
    gboolean congested; /* see rs_findings_congested() */
} rs_flow;

#define RS_EVIDENCE_KINDS 6

struct rs_flow_row {
    /* How much of it a stream has; 0: nothing to find. */
    guint64 (*measure)(const roce_stream *stream);
    /* Decides on severity, writes title and detail; FALSE: no finding. */
    gboolean (*write)(const rs_flow *flow, rs_finding *finding);
    /* RS_EVIDENCE_KINDs whose frames show it, 0 at the end. */
    guint evidence[RS_EVIDENCE_KINDS];
};

/* Of the streams that are the same one as `id` at several points, the one that has most of it;
 * `id` itself, where none has more. */
guint32
rs_finding_most_at(const rs_findings *all, guint32 id,
                   guint64 (*measure)(const roce_stream *stream));

/* RS_EVIDENCE_KINDs. */
#define LOSS(verdict) RS_EVIDENCE_KIND(ROCE_EVENT_LOSS, ROCE_VERDICT_##verdict)
#define ROUND(cause) RS_EVIDENCE_KIND(ROCE_EVENT_ROUND, ROCE_CAUSE_##cause)
#define NAK(code) RS_EVIDENCE_KIND(ROCE_EVENT_NAK, ROCE_NAK_##code)
#define KIND(kind) RS_EVIDENCE_KIND(ROCE_EVENT_##kind, 0)

/* For `find` of rows with a `flow`: streams between the same two addresses that have what
 * it measures become one finding. */
void
rs_find_flows(rs_findings *all, const rs_finding_row *row);

/* The same; but of a stream that several points saw the one speaks that knows the causes of
 * most of its rounds: how long a requester was silent shows best near to it. */
void
rs_find_flows_explained(rs_findings *all, const rs_finding_row *row);

/* The same; but of a stream that several points saw the one speaks that has most of it, as
 * of marks, which are made on the way. */
void
rs_find_flows_at_most(rs_findings *all, const rs_finding_row *row);

/* The same, of streams whose receiver acknowledges nothing (UC); of others the one that
 * stands for all, which knows from acknowledgements what became of packets. */
void
rs_find_flows_unacknowledged(rs_findings *all, const rs_finding_row *row);

/* The i-th of its streams. */
const roce_stream *
rs_flow_stream(const rs_flow *flow, guint i);

/* "gpu01 to gpu02"; g_free(). */
char *
rs_flow_ends(const rs_flow *flow);

/* Whether all that was seen of these streams came to one point further on: which. */
gboolean
rs_flow_all_came(const rs_flow *flow, rs_place *place);

/* The same, and nothing was lost at any place that is known. */
gboolean
rs_flow_lost_nothing(const rs_flow *flow, rs_place *place);

/* "10.0.0.2 has sent no RoCE packet since ...", where queue pairs of a flow stopped, or had
 * repeated to no avail when the capture ended, and the receiver was not heard of from the
 * first repeat on; NULL: so it is not.  g_free().  *alone: nor was any other host of several
 * but the sender itself. */
char *
rs_flow_silence(const rs_flow *flow, gboolean *alone);

/* By roce_verdict. */
const guint64 *
rs_flow_requests_lost(const rs_counters *counters);
const guint64 *
rs_flow_responses_lost(const rs_counters *counters);

/* Verdicts about a stream, where they may be relied on. */
guint64
rs_flow_verdicts(const roce_stream *stream, roce_verdict verdict);

/* Says between which points what is missing was lost; FALSE: that is not known. */
gboolean
rs_flow_write_missing(const rs_flow *flow, rs_finding *finding);

/* Of unacknowledged streams, messages that were not whole and in order here, at least: their
 * receiver drops such. */
guint64
rs_flow_messages_cut(const rs_flow *flow);

/* Streams that stopped with a packet too long for its way, by no chance: what
 * rs_summary_group() has of each.  g_hash_table_unref(). */
GHashTable *
rs_findings_too_long(const rs_findings *all);

/* Says how much of what events of a RS_EVIDENCE_KIND told of comes of an outage. */
void
rs_flow_tell_outage(const rs_flow *flow, rs_finding *finding, guint kind);

/* Likewise of its timeouts, of queue pairs that stopped with a packet too long for its way. */
void
rs_flow_tell_too_long(const rs_flow *flow, rs_finding *finding);

/* So many were lost, of so many that were sent. */
rs_severity
rs_flow_loss_severity(guint64 lost, guint64 sent);

/* Whether all of its streams were captured there: at the NIC of their sender, or of their
 * receiver, so that no link is in front of the point or behind it. */
gboolean
rs_flow_is_at(const rs_flow *flow, roce_vantage vantage);

/* Whether all of its streams are of a service that acknowledges nothing (UC). */
gboolean
rs_flow_is_unacknowledged(const rs_flow *flow);

/* ---- What the table names ---- */

extern const rs_flow_row rs_flow_lost_before_capture;
extern const rs_flow_row rs_flow_undelivered_after_capture;
extern const rs_flow_row rs_flow_ack_lost;
extern const rs_flow_row rs_flow_data_or_ack_lost;
extern const rs_flow_row rs_flow_corrupt;
extern const rs_flow_row rs_flow_fatal_nak;
extern const rs_flow_row rs_flow_rnr;
extern const rs_flow_row rs_flow_timeout;
extern const rs_flow_row rs_flow_unexplained_round;
extern const rs_flow_row rs_flow_reordered;
extern const rs_flow_row rs_flow_duplicated;
extern const rs_flow_row rs_flow_unattributed_nak;
extern const rs_flow_row rs_flow_ce;
extern const rs_flow_row rs_flow_not_ect;
extern const rs_flow_row rs_flow_cnp;
extern const rs_flow_row rs_flow_no_reaction;
extern const rs_flow_row rs_flow_cnp_lost;
extern const rs_flow_row rs_flow_cnp_class;
extern const rs_flow_row rs_flow_cnp_without_ce;
extern const rs_flow_row rs_flow_partial_path;
extern const rs_flow_row rs_flow_not_captured;
extern const rs_flow_row rs_flow_undecided;
extern const rs_flow_row rs_flow_qpn_reused;
extern const rs_flow_row rs_flow_qp_map_contradicted;

/* Whether CNPs of a host came by a point, or by any, of which nobody knows what data they are
 * about. */
#define RS_ANY_POINT G_MAXUINT32
gboolean
rs_has_open_cnps(const roce_tracker *tracker, guint32 point,
                 const rs_tenant_addr *host);

/* Whether packets of a stream take several paths, and its receiver is made for it (spraying). */
gboolean
rs_is_sprayed(const rs_analysis *analysis, guint32 stream);

/* Whether CNPs about a stream are told to be lost between two points (cnp_lost). */
gboolean
rs_cnps_are_lost(const rs_findings *all, const roce_stream *stream);

void
rs_find_ce_without_cnp(rs_findings *all, const rs_finding_row *row);
void
rs_find_outages(rs_findings *all, const rs_finding_row *row);
void
rs_find_one_hop(rs_findings *all, const rs_finding_row *row);
void
rs_find_one_link(rs_findings *all, const rs_finding_row *row);
void
rs_find_one_class(rs_findings *all, const rs_finding_row *row);
void
rs_find_clock_steps(rs_findings *all, const rs_finding_row *row);
void
rs_find_truncated(rs_findings *all, const rs_finding_row *row);
void
rs_find_mirror_cut(rs_findings *all, const rs_finding_row *row);
void
rs_find_malformed(rs_findings *all, const rs_finding_row *row);
void
rs_find_fragments(rs_findings *all, const rs_finding_row *row);
void
rs_find_icrc_orphans(rs_findings *all, const rs_finding_row *row);
void
rs_find_headers_cut(rs_findings *all, const rs_finding_row *row);
void
rs_find_extract(rs_findings *all, const rs_finding_row *row);
void
rs_find_capture_drops(rs_findings *all, const rs_finding_row *row);
void
rs_find_capture_duplicates(rs_findings *all, const rs_finding_row *row);
void
rs_find_merged_queues(rs_findings *all, const rs_finding_row *row);
void
rs_find_tables_full(rs_findings *all, const rs_finding_row *row);
void
rs_find_overlapping_files(rs_findings *all, const rs_finding_row *row);
void
rs_find_strangers(rs_findings *all, const rs_finding_row *row);
void
rs_find_flush_icrc(rs_findings *all, const rs_finding_row *row);
void
rs_find_cnp_icrc(rs_findings *all, const rs_finding_row *row);
void
rs_find_unanswered(rs_findings *all, const rs_finding_row *row);
void
rs_find_rejected(rs_findings *all, const rs_finding_row *row);
void
rs_find_refused_services(rs_findings *all, const rs_finding_row *row);
void
rs_find_straggler(rs_findings *all, const rs_finding_row *row);
void
rs_find_waits_for_receiver(rs_findings *all, const rs_finding_row *row);
void
rs_find_pfc(rs_findings *all, const rs_finding_row *row);
void
rs_find_global_pause(rs_findings *all, const rs_finding_row *row);
void
rs_find_incast(rs_findings *all, const rs_finding_row *row);

/* Whether the marks of a stream are among those of which the incast of its receiver tells, with a
 * warning. */
gboolean
rs_incast_tells_of_marks(const rs_findings *all, const roce_stream *stream);
void
rs_find_slow_receiver(rs_findings *all, const rs_finding_row *row);
void
rs_find_low_entropy(rs_findings *all, const rs_finding_row *row);
void
rs_find_shared_five_tuple(rs_findings *all, const rs_finding_row *row);
void
rs_find_unfair_siblings(rs_findings *all, const rs_finding_row *row);
void
rs_find_spraying(rs_findings *all, const rs_finding_row *row);
void
rs_find_dcb_pfc(rs_findings *all, const rs_finding_row *row);
void
rs_find_dcb_ets(rs_findings *all, const rs_finding_row *row);
void
rs_find_dcb_pause(rs_findings *all, const rs_finding_row *row);
void
rs_find_dcb_application(rs_findings *all, const rs_finding_row *row);
void
rs_find_dcb_ports(rs_findings *all, const rs_finding_row *row);
void
rs_find_dcb_dscp(rs_findings *all, const rs_finding_row *row);
void
rs_find_roce_without_pfc(rs_findings *all, const rs_finding_row *row);
void
rs_find_roce_priorities(rs_findings *all, const rs_finding_row *row);
void
rs_find_pcp_dscp(rs_findings *all, const rs_finding_row *row);
void
rs_find_dscp_changed(rs_findings *all, const rs_finding_row *row);
void
rs_find_dscp_rewritten(rs_findings *all, const rs_finding_row *row);
void
rs_find_lossless_background(rs_findings *all, const rs_finding_row *row);
void
rs_find_ttl_changed(rs_findings *all, const rs_finding_row *row);
void
rs_find_mtu_black_hole(rs_findings *all, const rs_finding_row *row);
void
rs_find_small_mtu(rs_findings *all, const rs_finding_row *row);
void
rs_find_migreq(rs_findings *all, const rs_finding_row *row);
void
rs_find_p_key(rs_findings *all, const rs_finding_row *row);
void
rs_find_cross_rail(rs_findings *all, const rs_finding_row *row);
void
rs_find_counters(rs_findings *all, const rs_finding_row *row);
void
rs_find_counters_unplaced(rs_findings *all, const rs_finding_row *row);
void
rs_find_counters_reset(rs_findings *all, const rs_finding_row *row);
void
rs_find_pause_storm(rs_findings *all, const rs_finding_row *row);
void
rs_find_pause_ignored(rs_findings *all, const rs_finding_row *row);
void
rs_find_pause_cascade(rs_findings *all, const rs_finding_row *row);
void
rs_find_pause_bystanders(rs_findings *all, const rs_finding_row *row);
void
rs_find_pause_deadlock(rs_findings *all, const rs_finding_row *row);
void
rs_find_pause_before_ecn(rs_findings *all, const rs_finding_row *row);

#endif
