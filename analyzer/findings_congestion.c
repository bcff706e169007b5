/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about ECN marks and CNPs. */
#include "findings_parts.h"
#include "format.h"
#include "thresholds.h"

#define GSI_QPN 1

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
    g_autofree char *n = rs_finding_packets(flow->n);
    g_autofree char *who = rs_flow_ends(flow);
    g_autofree char *share = rs_format_share(flow->n, data);
    f->severity = flow->n * 100 >= data * RS_WARNING_CE_PERCENT ? RS_SEVERITY_WARNING
                                                                : RS_SEVERITY_NOTE;
    f->title = g_strdup_printf("%s from %s marked CE (%s of the data)", n, who, share);
    f->detail = g_strdup_printf(
        "Some queue on the way to this point was above its marking threshold, in "
        "%" G_GUINT64_FORMAT " episodes.  CNPs seen in return: %" G_GUINT64_FORMAT ".",
        flow->sum.ecn.ce_episodes, flow->sum.cnps_received);
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
    g_autofree char *who = rs_flow_ends(flow);
    f->severity = flow->congested ? RS_SEVERITY_WARNING : RS_SEVERITY_NOTE;
    f->title = g_strdup_printf("Data from %s is not ECN-capable", who);
    f->detail = g_strdup_printf(
        "%" G_GUINT64_FORMAT
        " data packets are Not-ECT: switches must drop them where they would mark.%s",
        flow->n,
        flow->congested ? "  Loss, CE, CNPs or pauses were seen between these hosts."
                        : "");
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
    g_autofree char *who = rs_flow_ends(flow);
    g_autofree char *n = rs_finding_count(flow->n, "CNP", "CNPs");
    f->severity = RS_SEVERITY_NOTE;
    f->title = g_strdup_printf("%s sent in return for data from %s", n, who);
    f->detail =
        g_strdup_printf("CE marks seen here on that data: %" G_GUINT64_FORMAT ".",
                        flow->sum.ecn.codepoint[3]);
    return TRUE;
}

const rs_flow_row rs_flow_ce = {measure_ce, write_ce, {KIND(CE_EPISODE)}};
const rs_flow_row rs_flow_not_ect = {measure_not_ect, write_not_ect, {0}};
const rs_flow_row rs_flow_cnp = {measure_cnps, write_cnps, {KIND(CNP)}};
