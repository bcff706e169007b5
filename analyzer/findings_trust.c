/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about how far a capture may be trusted where single streams are concerned. */
#include "findings_parts.h"
#include "format.h"
#include "loss_places.h"

static guint64
measure_partial(const roce_stream *s)
{
    const guint64 *verdicts = roce_stream_trouble_of(s)->losses[ROCE_SPACE_REQUESTS];
    return s->partial_path
               ? verdicts[ROCE_VERDICT_NOT_CAPTURED] + verdicts[ROCE_VERDICT_UNKNOWN]
               : 0;
}

static gboolean
write_partial(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *who = rs_flow_ends(flow);
    f->severity = RS_SEVERITY_NOTE;
    f->title = g_strdup_printf("This point sees only some of the packets from %s", who);
    g_autofree char *n = rs_finding_count(flow->n, "packet was", "packets were");
    f->detail = g_strdup_printf("%s never seen here, and acknowledged or never sent "
                                "again; loss findings are withheld for these streams.",
                                n);
    return TRUE;
}

static guint64
measure_not_captured(const roce_stream *s)
{
    return rs_flow_verdicts(s, ROCE_VERDICT_NOT_CAPTURED);
}

static gboolean
write_not_captured(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *who = rs_flow_ends(flow);
    g_autofree char *n = rs_finding_packets(flow->n);
    f->severity = RS_SEVERITY_NOTE;
    if (rs_flow_is_at(flow, ROCE_VANTAGE_REQUESTER)) {
        f->title = g_strdup_printf("%s from %s sent but not captured", n, who);
        f->detail = g_strdup("This very host sent what the capture missed.  What was "
                             "asked for again was lost behind it.");
        f->advice = g_strdup("Capture headers only, or with a larger buffer.");
        return TRUE;
    }
    f->title = g_strdup_printf("%s from %s delivered but not seen here", n, who);
    f->detail = g_strdup("Never seen, never sent again, yet acknowledged.");
    return TRUE;
}

static guint64
measure_undecided(const roce_stream *s)
{
    return s->partial_path ? 0 : rs_flow_verdicts(s, ROCE_VERDICT_UNKNOWN);
}

/* Whether some of them came by another point, but a capture missed packets. */
static gboolean
is_doubtful(const rs_flow *flow)
{
    const rs_findings *all = flow->all;
    for (guint i = 0; i < flow->streams->len; i++) {
        guint32 id = g_array_index(flow->streams, guint32, i);
        if (rs_loss_is_doubtful(all->analysis, all->summary,
                                rs_summary_group(all->summary, id))) {
            return TRUE;
        }
    }
    return FALSE;
}

static void
write_unacknowledged(const rs_flow *flow, rs_finding *f, const char *n, const char *who)
{
    f->title = g_strdup_printf("%s from %s missing, and nothing is sent again", n, who);
    guint64 n_cut = rs_flow_messages_cut(flow);
    g_autofree char *cut = rs_finding_count(n_cut, "message", "messages");
    g_autofree char *dropped =
        n_cut == 0 ? g_strdup("")
                   : g_strdup_printf(
                         "  %s or more %s not whole here; where a packet was lost, "
                         "the receiver drops the whole message.",
                         cut, n_cut == 1 ? "was" : "were");
    if (is_doubtful(flow)) {
        f->detail =
            g_strdup_printf("The service does not acknowledge (UC), and a capture "
                            "missed packets: whether they were lost or only not "
                            "captured cannot be told.%s",
                            dropped);
        f->advice = g_strdup("Capture headers only, or with a larger buffer.");
        return;
    }
    f->detail =
        g_strdup_printf("The service does not acknowledge (UC): whether they were lost "
                        "or only not seen here cannot be told from one point.%s",
                        dropped);
    f->advice =
        g_strdup("Look at the queues and counters on the way.  Capture at a "
                 "second point as well: what was lost between the two is told.");
}

/* Whether all of it was seen here and sent again: the rounds have findings of their own. */
static gboolean
is_nothing_missing(const rs_flow *flow)
{
    return flow->sum.space[ROCE_SPACE_REQUESTS].gaps == 0 &&
           flow->sum.space[ROCE_SPACE_RESPONSES].gaps == 0;
}

static void
write_missing(const rs_flow *flow, rs_finding *f, const char *n, const char *who)
{
    f->title = g_strdup_printf("%s from %s missing, and nothing tells why", n, who);
    if (flow->sum.paired_streams < flow->sum.streams) {
        f->detail = g_strdup(RS_OTHER_NOT_KNOWN "It would say what arrived.");
        f->advice = g_strdup(RS_CAPTURE_BOTH);
        return;
    }
    f->detail = g_strdup("The capture ends before it is known what became of them, or "
                         "misses so much that this cannot be told from loss.");
    f->advice = g_strdup("Capture for longer, and headers only or with a larger "
                         "buffer.");
}

static gboolean
write_undecided(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *who = rs_flow_ends(flow);
    g_autofree char *n = rs_finding_packets(flow->n);
    gboolean gaps = flow->sum.space[ROCE_SPACE_REQUESTS].gaps > 0;
    gboolean uc = rs_flow_is_unacknowledged(flow);
    gboolean unheard = !uc && flow->sum.paired_streams == 0;
    gboolean unanswered = gaps && (uc || unheard);
    f->severity = unanswered ? RS_SEVERITY_WARNING : RS_SEVERITY_NOTE;
    /* On UC no verdict falls before the end: where something is missing, gaps show. */
    rs_finding_add_events(flow->all, f, uc && gaps ? KIND(GAP) : LOSS(UNKNOWN));
    if ((unanswered || unheard) && rs_flow_write_missing(flow, f)) {
        return TRUE;
    }
    if (uc) {
        write_unacknowledged(flow, f, n, who);
        return TRUE;
    }
    if (is_nothing_missing(flow)) {
        return FALSE;
    }
    write_missing(flow, f, n, who);
    return TRUE;
}

static guint64
measure_restarts(const roce_stream *s)
{
    return roce_stream_trouble_of(s)->restarts;
}

static gboolean
write_restarts(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *who = rs_flow_ends(flow);
    f->severity = RS_SEVERITY_NOTE;
    g_autofree char *pairs =
        rs_finding_count(flow->streams->len, "queue pair number", "queue pair numbers");
    g_autofree char *times = rs_finding_count(flow->n, "time", "times");
    f->title = g_strdup_printf("%s used again, from %s", pairs, who);
    f->detail = g_strdup_printf(
        "PSNs started anew %s.  Counters are summed over the queue pairs that had %s.",
        times, flow->streams->len == 1 ? "this number" : "these numbers");
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
    g_autofree char *who = rs_flow_ends(flow);
    g_autofree char *n = rs_finding_count(flow->n, "stream", "streams");
    f->severity = RS_SEVERITY_NOTE;
    f->title =
        g_strdup_printf("The QP map contradicts what was captured: %s from %s", n, who);
    f->detail =
        g_strdup("Acknowledgements, or the CM messages that set the queue pairs "
                 "up, name other peers than --qp-map does.  What depends on the "
                 "pairing of these streams is not to be relied on.");
    return TRUE;
}

const rs_flow_row rs_flow_partial_path = {
    measure_partial, write_partial, {LOSS(NOT_CAPTURED), LOSS(UNKNOWN)}};
const rs_flow_row rs_flow_not_captured = {
    measure_not_captured, write_not_captured, {LOSS(NOT_CAPTURED)}};
const rs_flow_row rs_flow_undecided = {measure_undecided, write_undecided, {0}};
const rs_flow_row rs_flow_qpn_reused = {
    measure_restarts, write_restarts, {KIND(STREAM_RESTART)}};
const rs_flow_row rs_flow_qp_map_contradicted = {
    measure_contradicted, write_contradicted, {0}};
