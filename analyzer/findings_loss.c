/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about what did not arrive, and where it went. */
#include "findings_parts.h"
#include "format.h"
#include "thresholds.h"
#include "twins.h"

/* Where several points saw a stream: how many copies reached one and not the other. */
typedef struct location {
    guint64 n;
    char *from, *to; /* names of the points; NULL when nothing is known */
} location;

static void
locate_stream(const rs_flow *flow, guint32 id, location *where)
{
    const rs_analysis *analysis = flow->all->analysis;
    const GArray *members = rs_summary_members(flow->all->summary, id);
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

static guint64
measure_lost_before(const roce_stream *s)
{
    return rs_flow_verdicts(s, ROCE_VERDICT_LOST_BEFORE_CAPTURE);
}

static gboolean
write_lost_before(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = rs_finding_packets(flow->n);
    g_autofree char *who = rs_flow_ends(flow);
    g_autofree char *share = rs_format_share(flow->n, flow->sum.packets + flow->n);
    g_autofree char *requests = rs_finding_count(
        rs_flow_requests_lost(&flow->sum)[ROCE_VERDICT_LOST_BEFORE_CAPTURE], "request",
        "requests");
    g_autofree char *responses = rs_finding_count(
        rs_flow_responses_lost(&flow->sum)[ROCE_VERDICT_LOST_BEFORE_CAPTURE],
        "response", "responses");
    f->severity = rs_flow_loss_severity(flow);
    f->title =
        g_strdup_printf("%s lost on the way from %s, before the capture point", n, who);
    f->detail = g_strdup_printf(
        "Never seen here, then asked for or sent again: %s, %s; %s of what was sent.",
        requests, responses, share);
    return TRUE;
}

static guint64
measure_undelivered(const roce_stream *s)
{
    return rs_flow_verdicts(s, ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE);
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
    g_autofree char *n = rs_finding_packets(flow->n);
    g_autofree char *who = rs_flow_ends(flow);
    location where = locate(flow);
    f->severity = RS_SEVERITY_WARNING; /* they may have been late only */
    if (where.n >= flow->n) {
        g_autofree char *gone = rs_finding_packets(where.n);
        f->severity = rs_flow_loss_severity(flow);
        f->title = g_strdup_printf("%s lost between %s and %s, from %s", gone,
                                   where.from, where.to, who);
        f->detail = g_strdup_printf("Copies seen at %s that never came by %s.",
                                    where.from, where.to);
        f->advice =
            g_strdup("Look at the queues and counters between these two points.");
    } else if (rs_flow_is_at(flow, ROCE_VANTAGE_RESPONDER)) { /* no link is behind it */
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
    return rs_flow_verdicts(s, ROCE_VERDICT_ACK_LOST);
}

static void
write_ack_lost_inside(const rs_flow *flow, rs_finding *f, const char *n,
                      const char *who)
{
    g_autofree char *src = rs_findings_label(flow->all, &flow->src);
    f->title = g_strdup_printf(
        "%s from %s sent again although acknowledgements had come", n, who);
    f->detail = g_strdup_printf(
        "They had been acknowledged when the requester timed out, and the ACKs had "
        "reached the NIC of %s: no link is behind this point, so that host or its NIC "
        "lost them, or was slow.",
        src);
    f->advice = g_strdup("The network is not to blame.  Look at the requesting NIC's "
                         "discards, and whether its timeout is too short.");
}

static gboolean
write_ack_lost(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = rs_finding_packets(flow->n);
    g_autofree char *who = rs_flow_ends(flow);
    f->severity = rs_flow_loss_severity(flow);
    if (rs_flow_is_at(flow, ROCE_VANTAGE_REQUESTER)) {
        write_ack_lost_inside(flow, f, n, who);
        return TRUE;
    }
    f->title = g_strdup_printf(
        "%s from %s sent again because acknowledgements were lost", n, who);
    f->detail =
        g_strdup("They had been acknowledged when the requester timed out: the data "
                 "arrived, the ACK did not.");
    return TRUE;
}

static guint64
measure_data_or_ack(const roce_stream *s)
{
    return rs_flow_verdicts(s, ROCE_VERDICT_DATA_OR_ACK_LOST);
}

static gboolean
write_data_or_ack(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = rs_finding_packets(flow->n);
    g_autofree char *who = rs_flow_ends(flow);
    f->severity = rs_flow_loss_severity(flow);
    f->title =
        g_strdup_printf("%s from %s sent again by timeout: data or ACK lost", n, who);
    f->detail =
        g_strdup("No NAK and no covering ACK was captured, so either the data or "
                 "its acknowledgement was lost behind this point.");
    return TRUE;
}

static guint64
measure_corrupt(const roce_stream *s)
{
    return rs_flow_verdicts(s, ROCE_VERDICT_CORRUPT) +
           roce_stream_trouble_of(s)->icrc_bad;
}

static gboolean
write_corrupt(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = rs_finding_packets(flow->sum.icrc.bad);
    g_autofree char *who = rs_flow_ends(flow);
    guint64 again = rs_flow_requests_lost(&flow->sum)[ROCE_VERDICT_CORRUPT] +
                    rs_flow_responses_lost(&flow->sum)[ROCE_VERDICT_CORRUPT];
    f->severity = RS_SEVERITY_WARNING;
    f->title = g_strdup_printf("%s from %s with a bad ICRC", n, who);
    f->detail = g_strdup_printf("Asked for again: %" G_GUINT64_FORMAT ".", again);
    return TRUE;
}

const rs_flow_row rs_flow_lost_before_capture = {
    measure_lost_before, write_lost_before, {LOSS(LOST_BEFORE_CAPTURE)}};
const rs_flow_row rs_flow_undelivered_after_capture = {
    measure_undelivered, write_undelivered, {LOSS(UNDELIVERED_AFTER_CAPTURE)}};
const rs_flow_row rs_flow_ack_lost = {
    measure_ack_lost, write_ack_lost, {LOSS(ACK_LOST)}};
const rs_flow_row rs_flow_data_or_ack_lost = {
    measure_data_or_ack, write_data_or_ack, {LOSS(DATA_OR_ACK_LOST)}};
const rs_flow_row rs_flow_corrupt = {
    measure_corrupt, write_corrupt, {KIND(ICRC_BAD), LOSS(CORRUPT)}};
