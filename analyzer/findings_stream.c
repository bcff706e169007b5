/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings about streams.  Each row of the table measures one thing on a stream;
 * streams between the same two addresses that have it become one finding, which the row
 * writes.
 */
#include "findings.h"
#include "format.h"
#include "twins.h"

#include "roce/aeth.h"

#include <string.h>

#define CRITICAL_LOSS_PERCENT 1
#define GSI_QPN 1
#define WARNING_CE_PERCENT 1

static const guint64 *
requests_lost(const rs_counters *c)
{
    return c->losses[ROCE_SPACE_REQUESTS];
}

static const guint64 *
responses_lost(const rs_counters *c)
{
    return c->losses[ROCE_SPACE_RESPONSES];
}

/* "11 packets", "1 packet" */
static char *
count_of(guint64 n, const char *one, const char *many)
{
    g_autofree char *text = rs_format_count(n);
    return g_strdup_printf("%s %s", text, n == 1 ? one : many);
}

static char *
packets(guint64 n)
{
    return count_of(n, "packet", "packets");
}

static char *
ends(const rs_flow *flow)
{
    g_autofree char *src = rs_findings_label(flow->all, &flow->src);
    g_autofree char *dst = rs_findings_label(flow->all, &flow->dst);
    return g_strdup_printf("%s to %s", src, dst);
}

static guint64
both(const roce_stream *s, roce_verdict verdict)
{
    if (s->partial_path) {
        return 0; /* a point that sees one path of several proves no loss */
    }
    return s->losses[ROCE_SPACE_REQUESTS][verdict] +
           s->losses[ROCE_SPACE_RESPONSES][verdict];
}

static rs_severity
loss_severity(const rs_flow *flow)
{
    return flow->n * 100 >= flow->sum.packets * CRITICAL_LOSS_PERCENT
               ? RS_SEVERITY_CRITICAL
               : RS_SEVERITY_WARNING;
}

/* Where several points saw a stream: how many copies reached one and not the other. */
typedef struct location {
    guint64 n;
    char *from, *to; /* names of the points; NULL when nothing is known */
} location;

static void
locate_stream(const rs_flow *flow, guint32 id, location *where)
{
    const rs_analysis *analysis = flow->all->analysis;
    const GArray *members = flow->all->summary->members->pdata[id];
    guint64 only = rs_twins_only_here(analysis->twins, id);
    if (members == NULL || members->len != 2 || only == 0) {
        return;
    }
    guint32 first = g_array_index(members, guint32, 0);
    guint32 other = first == id ? g_array_index(members, guint32, 1) : first;
    where->n += only;
    if (where->from == NULL) {
        const roce_tracker *tracker = analysis->tracker;
        where->from = rs_point_name(analysis, roce_tracker_stream(tracker, id)->point);
        where->to = rs_point_name(analysis, roce_tracker_stream(tracker, other)->point);
    }
}

static location
locate(const rs_flow *flow)
{
    location where = {0};
    const rs_twins *twins = flow->all->analysis->twins;
    if (twins == NULL || !rs_twins_complete(twins)) {
        return where;
    }
    for (guint i = 0; i < flow->streams->len && flow->all->analysis->twins != NULL;
         i++) {
        locate_stream(flow, g_array_index(flow->streams, guint32, i), &where);
    }
    return where;
}

/* ---- loss ---- */

static guint64
measure_lost_before(const roce_stream *s)
{
    return both(s, ROCE_VERDICT_LOST_BEFORE_CAPTURE);
}

static gboolean
write_lost_before(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = packets(flow->n);
    g_autofree char *who = ends(flow);
    g_autofree char *share = rs_format_share(flow->n, flow->sum.packets + flow->n);
    guint64 requests = requests_lost(&flow->sum)[ROCE_VERDICT_LOST_BEFORE_CAPTURE];
    guint64 responses = responses_lost(&flow->sum)[ROCE_VERDICT_LOST_BEFORE_CAPTURE];
    f->severity = loss_severity(flow);
    f->title =
        g_strdup_printf("%s lost on the way from %s, before the capture point", n, who);
    f->detail = g_strdup_printf(
        "Never seen here, then asked for or sent again: %" G_GUINT64_FORMAT
        " requests, %" G_GUINT64_FORMAT " responses; %s of what was sent.",
        requests, responses, share);
    f->advice =
        g_strdup("Look at drop counters (buffer, CRC, PFC watchdog) of the links "
                 "between the sender and this point.");
    return TRUE;
}

static guint64
measure_undelivered(const roce_stream *s)
{
    return both(s, ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE);
}

/* Whether no link is behind the points that saw these streams. */
static gboolean
at_receiver(const rs_flow *flow)
{
    const roce_tracker *tracker = flow->all->analysis->tracker;
    guint i = 0;
    while (i < flow->streams->len &&
           roce_tracker_stream(tracker, g_array_index(flow->streams, guint32, i))
                   ->vantage == ROCE_VANTAGE_RESPONDER) {
        i++;
    }
    return i == flow->streams->len;
}

static void
write_dropped_inside(const rs_flow *flow, rs_finding *f, const char *n, const char *who)
{
    g_autofree char *dst = rs_findings_label(flow->all, &flow->dst);
    f->title = g_strdup_printf(
        "%s from %s dropped or taken out of order inside the receiver", n, who);
    f->detail = g_strdup_printf(
        "They reached the NIC of %s, and were asked for or sent again: no link is "
        "behind this point, so that host or its NIC dropped them or took them out of "
        "order.",
        dst);
    f->advice = g_strdup("The network is not to blame.  Look at the receiving NIC's "
                         "discards and out-of-buffer counters, and at PCIe and memory "
                         "load of that host.");
}

static gboolean
write_undelivered(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = packets(flow->n);
    g_autofree char *who = ends(flow);
    location where = locate(flow);
    f->severity = RS_SEVERITY_WARNING; /* they may have been late only */
    if (where.n >= flow->n) {
        g_autofree char *gone = packets(where.n);
        f->severity = loss_severity(flow);
        f->title = g_strdup_printf("%s lost between %s and %s, from %s", gone,
                                   where.from, where.to, who);
        f->detail = g_strdup_printf("Copies seen at %s that never came by %s.",
                                    where.from, where.to);
        f->advice =
            g_strdup("Look at the queues and counters between these two points.");
    } else if (at_receiver(flow)) {
        write_dropped_inside(flow, f, n, who);
    } else {
        f->title = g_strdup_printf(
            "%s from %s did not arrive in order behind this point", n, who);
        f->detail =
            g_strdup("Seen here, then asked for or sent again: lost or late "
                     "behind the capture point; which of the two cannot be told "
                     "from here.");
        g_autofree char *dst = rs_findings_label(flow->all, &flow->dst);
        f->advice =
            g_strdup_printf("Capture at %s: there a lost packet stays away and a "
                            "late one arrives.",
                            dst);
    }
    g_free(where.from);
    g_free(where.to);
    return TRUE;
}

static guint64
measure_ack_lost(const roce_stream *s)
{
    return both(s, ROCE_VERDICT_ACK_LOST);
}

static gboolean
write_ack_lost(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = packets(flow->n);
    g_autofree char *who = ends(flow);
    f->severity = loss_severity(flow);
    f->title = g_strdup_printf(
        "%s from %s sent again because acknowledgements were lost", n, who);
    f->detail =
        g_strdup("They had been acknowledged when the requester timed out: the data "
                 "arrived, the ACK did not.");
    f->advice = g_strdup("Look at the return path: ACKs may ride in a lossy class; put "
                         "them in one that is not dropped.");
    return TRUE;
}

static guint64
measure_data_or_ack(const roce_stream *s)
{
    return both(s, ROCE_VERDICT_DATA_OR_ACK_LOST);
}

static gboolean
write_data_or_ack(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = packets(flow->n);
    g_autofree char *who = ends(flow);
    f->severity = loss_severity(flow);
    f->title =
        g_strdup_printf("%s from %s sent again by timeout: data or ACK lost", n, who);
    f->detail =
        g_strdup("No NAK and no covering ACK was captured, so either the data or "
                 "its acknowledgement was lost behind this point.");
    f->advice = g_strdup("Capture at the receiver to tell which.");
    return TRUE;
}

static guint64
measure_corrupt(const roce_stream *s)
{
    return both(s, ROCE_VERDICT_CORRUPT) + s->icrc.bad;
}

static gboolean
write_corrupt(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = packets(flow->sum.icrc.bad);
    g_autofree char *who = ends(flow);
    guint64 again = requests_lost(&flow->sum)[ROCE_VERDICT_CORRUPT] +
                    responses_lost(&flow->sum)[ROCE_VERDICT_CORRUPT];
    f->severity = RS_SEVERITY_WARNING;
    f->title = g_strdup_printf("%s from %s with a bad ICRC", n, who);
    f->detail =
        g_strdup_printf("%" G_GUINT64_FORMAT " of them were asked for again.", again);
    f->advice = g_strdup("The Ethernet FCS was right, so a device between sender and "
                         "this point rewrites what it must not, or damages packets.");
    return TRUE;
}

/* ---- retransmission ---- */

static guint64
measure_timeouts(const roce_stream *s)
{
    return s->retransmissions.by_cause[ROCE_CAUSE_TIMEOUT];
}

static gboolean
write_timeouts(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = count_of(flow->n, "timeout", "timeouts");
    g_autofree char *who = ends(flow);
    f->title = g_strdup_printf("%s from %s", n, who);
    f->detail = g_strdup("The requester sent again without a NAK, after a time of "
                         "silence; each stalls its queue pair for that long.");
    f->advice = g_strdup("Tail losses and lost ACKs end in timeouts: remove the loss; "
                         "local_ack_timeout_err counts the same on the NIC.");
    f->severity = RS_SEVERITY_WARNING;
    return TRUE;
}

static guint64
measure_unknown_rounds(const roce_stream *s)
{
    return s->retransmissions.by_cause[ROCE_CAUSE_UNKNOWN];
}

static gboolean
write_unknown_rounds(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = count_of(flow->n, "round", "rounds");
    g_autofree char *who = ends(flow);
    f->title =
        g_strdup_printf("%s of retransmission from %s without a visible cause", n, who);
    f->detail =
        g_strdup(flow->sum.paired_streams < flow->sum.streams
                     ? "The other direction is not known: not captured, or not to "
                       "be told from that of other queue pairs.  What it said "
                       "cannot be heard."
                     : "No NAK was captured before, and it came too soon for a "
                       "timeout.");
    f->advice = g_strdup("Capture both directions at one point.");
    f->severity = RS_SEVERITY_WARNING;
    return TRUE;
}

static guint64
measure_reordered(const roce_stream *s)
{
    return s->space[ROCE_SPACE_REQUESTS].reordered +
           s->space[ROCE_SPACE_RESPONSES].reordered;
}

static gboolean
write_reordered(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = packets(flow->n);
    g_autofree char *who = ends(flow);
    guint64 spurious = flow->sum.retransmissions.spurious_rounds;
    f->title = g_strdup_printf("%s from %s arrived late, out of order", n, who);
    f->detail = g_strdup_printf(
        "Originals that others overtook; nothing of them was lost.  %" G_GUINT64_FORMAT
        " rounds of retransmission were spurious for that reason.",
        spurious);
    f->advice =
        g_strdup("Packets of one flow take several paths (per-packet spraying, "
                 "adaptive routing, a bond): a go-back-N NIC needs one path per "
                 "flow.");
    f->severity = RS_SEVERITY_WARNING;
    return TRUE;
}

static guint64
measure_duplicates(const roce_stream *s)
{
    return s->space[ROCE_SPACE_REQUESTS].duplicates +
           s->space[ROCE_SPACE_RESPONSES].duplicates;
}

static gboolean
write_duplicates(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = packets(flow->n);
    g_autofree char *who = ends(flow);
    f->title = g_strdup_printf("%s from %s delivered twice by the network", n, who);
    f->detail = g_strdup("The same packet with the same identity came again: no sender "
                         "does that.");
    f->advice =
        g_strdup("Look for a forwarding loop, a flooded MAC address, or a mirror "
                 "that delivers twice.");
    f->severity = RS_SEVERITY_WARNING;
    return TRUE;
}

/* ---- refusals ---- */

static guint64
measure_fatal(const roce_stream *s)
{
    return s->naks_received[ROCE_NAKS_INVALID_REQUEST] +
           s->naks_received[ROCE_NAKS_REMOTE_ACCESS] +
           s->naks_received[ROCE_NAKS_REMOTE_OPERATIONAL];
}

static gboolean
write_fatal(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = count_of(flow->n, "request", "requests");
    g_autofree char *who = ends(flow);
    f->severity = RS_SEVERITY_CRITICAL;
    f->title = g_strdup_printf("%s from %s refused for good", n, who);
    f->detail = g_strdup_printf(
        "NAKs: %" G_GUINT64_FORMAT " remote access error, %" G_GUINT64_FORMAT
        " invalid request, %" G_GUINT64_FORMAT
        " remote operational error.  Each puts its queue pair into the error state.",
        flow->sum.naks[ROCE_NAKS_REMOTE_ACCESS],
        flow->sum.naks[ROCE_NAKS_INVALID_REQUEST],
        flow->sum.naks[ROCE_NAKS_REMOTE_OPERATIONAL]);
    f->advice =
        g_strdup("An application error: a wrong or stale rkey, an address beyond "
                 "the memory region, missing access rights, or a receive buffer "
                 "that is too small.  The network is not to blame.");
    return TRUE;
}

static guint64
measure_rnr(const roce_stream *s)
{
    return s->naks_received[ROCE_NAKS_RNR];
}

static gboolean
write_rnr(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = count_of(flow->n, "RNR NAK", "RNR NAKs");
    g_autofree char *who = ends(flow);
    f->severity = RS_SEVERITY_WARNING;
    f->title =
        g_strdup_printf("%s: the receiver was not ready for requests from %s", n, who);
    f->detail =
        g_strdup_printf("%" G_GUINT64_FORMAT
                        " rounds of retransmission followed.  The requester waited "
                        "as long as asked %" G_GUINT64_FORMAT
                        " times and not as long %" G_GUINT64_FORMAT
                        " times.  Sequence NAKs in the wake of an RNR NAK are its "
                        "consequence, no loss.",
                        flow->sum.retransmissions.by_cause[ROCE_CAUSE_RNR],
                        flow->sum.rnr_waits_kept, flow->sum.rnr_waits_broken);
    f->advice =
        g_strdup("The receiving application posts receives too late: more receive "
                 "requests, or a thread that refills them sooner.");
    return TRUE;
}

static guint64
measure_unpaired_naks(const roce_stream *s)
{
    guint64 n = 0;
    for (guint i = 0; i < ROCE_N_NAKS; i++) {
        n += roce_stream_is_paired(s) ? 0 : s->naks_sent[i];
    }
    return n;
}

static gboolean
write_unpaired_naks(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = count_of(flow->n, "NAK", "NAKs");
    g_autofree char *who = ends(flow);
    f->severity = RS_SEVERITY_WARNING;
    f->title =
        g_strdup_printf("%s from %s about requests that are not known here", n, who);
    f->detail = g_strdup("The requests they answer were not captured, or several queue "
                         "pairs could be meant.");
    f->advice = g_strdup("Capture both directions.");
    return TRUE;
}

/* ---- congestion ---- */

static guint64
measure_ce(const roce_stream *s)
{
    return s->ecn.codepoint[3];
}

static gboolean
write_ce(const rs_flow *flow, rs_finding *f)
{
    const guint64 *cp = flow->sum.ecn.codepoint;
    guint64 data = cp[0] + cp[1] + cp[2] + cp[3];
    g_autofree char *n = packets(flow->n);
    g_autofree char *who = ends(flow);
    g_autofree char *share = rs_format_share(flow->n, data);
    f->severity = flow->n * 100 >= data * WARNING_CE_PERCENT ? RS_SEVERITY_WARNING
                                                             : RS_SEVERITY_NOTE;
    f->title = g_strdup_printf("%s from %s marked CE (%s of the data)", n, who, share);
    f->detail = g_strdup_printf(
        "Some queue on the way to this point was above its marking threshold, in "
        "%" G_GUINT64_FORMAT " episodes.  CNPs seen in return: %" G_GUINT64_FORMAT ".",
        flow->sum.ecn.ce_episodes, flow->sum.cnps_received);
    f->advice = g_strdup("Look for incast towards the receiver and for the queue that "
                         "marks.");
    return TRUE;
}

static guint64
measure_not_ect(const roce_stream *s)
{
    if (s->dst_qpn == GSI_QPN) {
        return 0; /* connection management is no data */
    }
    guint64 marked = s->ecn.codepoint[1] + s->ecn.codepoint[2] + s->ecn.codepoint[3];
    return s->ecn.codepoint[0] > marked ? s->ecn.codepoint[0] : 0;
}

static gboolean
write_not_ect(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *who = ends(flow);
    f->severity = flow->congested ? RS_SEVERITY_WARNING : RS_SEVERITY_NOTE;
    f->title = g_strdup_printf("Data from %s is not ECN-capable", who);
    f->detail = g_strdup_printf(
        "%" G_GUINT64_FORMAT
        " data packets are Not-ECT: switches must drop them where they would mark.%s",
        flow->n,
        flow->congested ? "  Loss, CE, CNPs or pauses were seen between these hosts."
                        : "");
    f->advice = g_strdup("Set the traffic class of the queue pairs (RDMA_TOS, "
                         "NCCL_IB_TC, cma_roce_tos) so that ECT is sent.");
    return TRUE;
}

static guint64
measure_cnps(const roce_stream *s)
{
    return s->cnps_received;
}

static gboolean
write_cnps(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *who = ends(flow);
    g_autofree char *n = count_of(flow->n, "CNP", "CNPs");
    f->severity = RS_SEVERITY_NOTE;
    f->title = g_strdup_printf("%s sent in return for data from %s", n, who);
    f->detail =
        g_strdup_printf("CE marks seen here on that data: %" G_GUINT64_FORMAT ".",
                        flow->sum.ecn.codepoint[3]);
    f->advice =
        g_strdup("The sender is being slowed down; look for the congested queue.");
    return TRUE;
}

/* ---- how far to trust the capture ---- */

static guint64
measure_partial(const roce_stream *s)
{
    const guint64 *verdicts = s->losses[ROCE_SPACE_REQUESTS];
    return s->partial_path
               ? verdicts[ROCE_VERDICT_NOT_CAPTURED] + verdicts[ROCE_VERDICT_UNKNOWN]
               : 0;
}

static gboolean
write_partial(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *who = ends(flow);
    f->severity = RS_SEVERITY_NOTE;
    f->title = g_strdup_printf("This point sees only part of what %s sends", who);
    f->detail = g_strdup_printf("%" G_GUINT64_FORMAT
                                " packets were never seen here, and acknowledged or "
                                "never sent again; loss findings are withheld for "
                                "these streams.",
                                flow->n);
    f->advice = g_strdup("One path of several (ECMP, spraying, the other member of a "
                         "bond): capture the others too.");
    return TRUE;
}

static guint64
measure_not_captured(const roce_stream *s)
{
    return s->partial_path
               ? 0
               : s->losses[ROCE_SPACE_REQUESTS][ROCE_VERDICT_NOT_CAPTURED] +
                     s->losses[ROCE_SPACE_RESPONSES][ROCE_VERDICT_NOT_CAPTURED];
}

static gboolean
write_not_captured(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *who = ends(flow);
    g_autofree char *n = packets(flow->n);
    f->severity = RS_SEVERITY_NOTE;
    f->title = g_strdup_printf("%s from %s delivered but not seen here", n, who);
    f->detail = g_strdup("Never seen, never sent again, yet acknowledged.");
    f->advice = g_strdup("The capture missed them, or they took another path.");
    return TRUE;
}

static guint64
measure_undecided(const roce_stream *s)
{
    return s->partial_path ? 0 : both(s, ROCE_VERDICT_UNKNOWN);
}

static gboolean
write_undecided(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *who = ends(flow);
    g_autofree char *n = packets(flow->n);
    gboolean uc =
        flow->sum.paired_streams == 0 && flow->sum.space[ROCE_SPACE_REQUESTS].gaps > 0;
    f->severity = uc ? RS_SEVERITY_WARNING : RS_SEVERITY_NOTE;
    f->title = g_strdup_printf("%s from %s missing, and nothing tells why", n, who);
    f->detail = g_strdup("The capture ends too early, has one direction only, or the "
                         "service does not acknowledge (UC).");
    f->advice = g_strdup("Capture both directions and for longer.");
    return TRUE;
}

static guint64
measure_restarts(const roce_stream *s)
{
    return s->restarts;
}

static gboolean
write_restarts(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *who = ends(flow);
    f->severity = RS_SEVERITY_NOTE;
    f->title = g_strdup_printf("A queue pair number was used again from %s", who);
    f->detail =
        g_strdup_printf("PSNs started anew %" G_GUINT64_FORMAT " times.", flow->n);
    f->advice = g_strdup("Nothing to do; counters are summed over the queue pairs.");
    return TRUE;
}

static guint64
measure_contradicted(const roce_stream *s)
{
    return s->table_contradicted ? 1 : 0;
}

static gboolean
write_contradicted(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *who = ends(flow);
    g_autofree char *n = count_of(flow->n, "stream", "streams");
    f->severity = RS_SEVERITY_NOTE;
    f->title =
        g_strdup_printf("The QP map contradicts what was captured: %s from %s", n, who);
    f->detail =
        g_strdup("Acknowledgements, or the CM messages that set the queue pairs "
                 "up, name other peers than --qp-map does.  What depends on the "
                 "pairing of these streams is not to be relied on.");
    f->advice = g_strdup("Was the map taken on that host, and while these queue pairs "
                         "existed?  QPNs are used again.");
    return TRUE;
}

#define LOSS(verdict) RS_EVIDENCE_KIND(ROCE_EVENT_LOSS, ROCE_VERDICT_##verdict)
#define ROUND(cause) RS_EVIDENCE_KIND(ROCE_EVENT_ROUND, ROCE_CAUSE_##cause)
#define NAK(code) RS_EVIDENCE_KIND(ROCE_EVENT_NAK, ROCE_NAK_##code)
#define KIND(kind) RS_EVIDENCE_KIND(ROCE_EVENT_##kind, 0)

/* clang-format off */
static const rs_stream_row rows[] = {
    {"fatal_nak", measure_fatal, write_fatal,
     {NAK(REMOTE_ACCESS), NAK(INVALID_REQUEST), NAK(REMOTE_OPERATIONAL)}},
    {"lost_before_capture", measure_lost_before, write_lost_before, {LOSS(LOST_BEFORE_CAPTURE)}},
    {"undelivered_after_capture", measure_undelivered, write_undelivered, {LOSS(UNDELIVERED_AFTER_CAPTURE)}},
    {"ack_lost", measure_ack_lost, write_ack_lost, {LOSS(ACK_LOST)}},
    {"data_or_ack_lost", measure_data_or_ack, write_data_or_ack, {LOSS(DATA_OR_ACK_LOST)}},
    {"corrupt", measure_corrupt, write_corrupt, {KIND(ICRC_BAD), LOSS(CORRUPT)}},
    {"rnr", measure_rnr, write_rnr, {KIND(RNR_NAK)}},
    {"timeout", measure_timeouts, write_timeouts, {ROUND(TIMEOUT)}},
    {"unexplained_round", measure_unknown_rounds, write_unknown_rounds, {ROUND(UNKNOWN)}},
    {"reordered", measure_reordered, write_reordered, {KIND(LATE)}},
    {"duplicated", measure_duplicates, write_duplicates, {KIND(DUPLICATE)}},
    {"unattributed_nak", measure_unpaired_naks, write_unpaired_naks,
     {NAK(PSN_SEQUENCE), NAK(REMOTE_ACCESS), KIND(RNR_NAK)}},
    {"ce", measure_ce, write_ce, {KIND(CE_EPISODE)}},
    {"not_ect", measure_not_ect, write_not_ect, {0}},
    {"cnp", measure_cnps, write_cnps, {KIND(CNP)}},
    {"partial_path", measure_partial, write_partial, {0}},
    {"not_captured", measure_not_captured, write_not_captured, {LOSS(NOT_CAPTURED)}},
    {"undecided", measure_undecided, write_undecided, {LOSS(UNKNOWN)}},
    {"qpn_reused", measure_restarts, write_restarts, {KIND(STREAM_RESTART)}},
    {"qp_map_contradicted", measure_contradicted, write_contradicted, {0}},
};
/* clang-format on */

/* ---- the engine ---- */

static void
free_flow(gpointer data)
{
    rs_flow *flow = data;
    g_array_unref(flow->streams);
    g_free(flow);
}

static char *
flow_key(const roce_stream *s)
{
    g_autofree char *src = rs_format_addr(&s->src);
    g_autofree char *dst = rs_format_addr(&s->dst);
    return g_strdup_printf("%s>%s", src, dst);
}

/* Host pairs, unordered, that show congestion or loss. */
static GHashTable *
congested_pairs(const rs_findings *all)
{
    GHashTable *pairs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    const roce_tracker *tracker = all->analysis->tracker;
    gboolean paused = roce_tracker_n_pauses(tracker) > 0;
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        const roce_stream *s = roce_tracker_stream(tracker, id);
        guint64 signs = s->ecn.codepoint[3] + s->cnps_sent + s->cnps_received +
                        rs_losses_of(s->losses[0]) + rs_losses_of(s->losses[1]);
        if (signs > 0 || paused) {
            g_autofree char *src = rs_format_addr(&s->src);
            g_autofree char *dst = rs_format_addr(&s->dst);
            g_hash_table_add(pairs, g_strdup_printf("%s>%s", src, dst));
            g_hash_table_add(pairs, g_strdup_printf("%s>%s", dst, src));
        }
    }
    return pairs;
}

static void
add_to_flow(const rs_findings *all, GHashTable *flows, GHashTable *congested,
            const roce_stream *s, guint64 n)
{
    g_autofree char *key = flow_key(s);
    rs_flow *flow = g_hash_table_lookup(flows, key);
    if (flow == NULL) {
        flow = g_new0(rs_flow, 1);
        flow->all = all;
        flow->src = s->src;
        flow->dst = s->dst;
        flow->streams = g_array_new(FALSE, FALSE, sizeof(guint32));
        flow->congested = g_hash_table_contains(congested, key);
        g_hash_table_insert(flows, g_steal_pointer(&key), flow);
    }
    rs_counters counters;
    rs_counters_of_stream(&counters, s);
    rs_counters_add(&flow->sum, &counters);
    g_array_append_val(flow->streams, s->id);
    flow->n += n;
}

static void
report_flow(rs_findings *all, const rs_stream_row *row, const char *key,
            const rs_flow *flow)
{
    rs_finding *finding = rs_finding_add(all, row->kind, RS_SEVERITY_NOTE);
    if (!row->write(flow, finding)) {
        g_ptr_array_remove_index(all->list, all->list->len - 1);
        return;
    }
    g_free(finding->id);
    finding->id = g_strdup_printf("%s:%s", row->kind, key);
    finding->weight = flow->n;
    finding->rank = (guint)(row - rows);
    for (guint i = 0; i < flow->streams->len; i++) {
        guint32 id = g_array_index(flow->streams, guint32, i);
        g_array_append_val(finding->streams, id);
        for (guint k = 0; k < G_N_ELEMENTS(row->evidence) && row->evidence[k] != 0;
             k++) {
            rs_finding_add_frames(all, finding, id, row->evidence[k]);
        }
    }
}

static void
apply_row(rs_findings *all, const rs_stream_row *row, GHashTable *congested)
{
    g_autoptr(GHashTable) flows =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_flow);
    const roce_tracker *tracker = all->analysis->tracker;
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        const roce_stream *s = roce_tracker_stream(tracker, id);
        guint64 n = row->measure(s);
        if (n > 0 && rs_summary_stands(all->summary, id)) {
            add_to_flow(all, flows, congested, s, n);
        }
    }
    GHashTableIter iter;
    gpointer key;
    gpointer flow;
    g_hash_table_iter_init(&iter, flows);
    while (g_hash_table_iter_next(&iter, &key, &flow)) {
        report_flow(all, row, key, flow);
    }
}

void
rs_findings_of_streams(rs_findings *all)
{
    g_autoptr(GHashTable) congested = congested_pairs(all);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        apply_row(all, &rows[i], congested);
    }
}
