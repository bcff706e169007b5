/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about what else rides in the lossless priorities. */
#include "background.h"
#include "findings_parts.h"
#include "format.h"
#include "lossless.h"
#include "priorities.h"
#include "thresholds.h"

#define FLOWS_NAMED 10

/* "10.0.0.1:443 and 10.0.0.2:50000 (TLS, 1.2 MB)" */
static char *
flow_words(const rs_findings *all, const rs_background_flow *flow)
{
    g_autofree char *a = rs_findings_label(all, &flow->addr[0]);
    g_autofree char *b = rs_findings_label(all, &flow->addr[1]);
    g_autofree char *bytes = rs_format_bytes(flow->bytes);
    g_autofree char *ports =
        flow->port[0] == 0 && flow->port[1] == 0
            ? g_strdup_printf("IP protocol %u", flow->ip_protocol)
            : g_strdup_printf("%s ports %u and %u",
                              flow->ip_protocol == 6 ? "TCP" : "UDP", flow->port[0],
                              flow->port[1]);
    return g_strdup_printf("%s and %s (%s, %s, %s)", a, b, flow->protocol, ports,
                           bytes);
}

static char *
flow_filter(const rs_background_flow *flow)
{
    const char *field = flow->addr[0].family == 6 ? "ipv6.addr" : "ip.addr";
    const char *transport = flow->ip_protocol == 6 ? "tcp" : "udp";
    g_autofree char *a = rs_format_addr(&flow->addr[0]);
    g_autofree char *b = rs_format_addr(&flow->addr[1]);
    g_autofree char *ports =
        flow->port[0] == 0 && flow->port[1] == 0
            ? g_strdup("")
            : g_strdup_printf(" && %s.port == %u && %s.port == %u", transport,
                              flow->port[0], transport, flow->port[1]);
    return g_strdup_printf("%s == %s && %s == %s%s", field, a, field, b, ports);
}

/* RoCE data in these priorities at the only point. */
static guint64
roce_bytes_here(const rs_findings *all, guint8 priorities)
{
    const rs_point_priorities *p =
        rs_priorities_point(all->analysis->watchers.priorities, 0);
    guint64 bytes = 0;
    for (guint i = 0; p != NULL && i < 8; i++) {
        bytes += (priorities & 1u << i) != 0 ? p->data[i].bytes : 0;
    }
    return bytes;
}

/* The same at several points, which may have seen the same packets: whole streams, each once,
 * as flows of other traffic are. */
static guint64
roce_bytes_once(const rs_findings *all, guint8 priorities)
{
    const roce_tracker *tracker = all->analysis->tracker;
    guint64 bytes = 0;
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        const rs_stream_priorities *p =
            rs_priorities_stream(all->analysis->watchers.priorities, id);
        if (rs_summary_stands(all->summary, id) && p != NULL &&
            (p->priorities & priorities) != 0) {
            bytes += roce_tracker_stream(tracker, id)->wire_bytes;
        }
    }
    return bytes;
}

static char *
name_flows(const rs_findings *all, rs_finding *f, const rs_background_share *share)
{
    g_autoptr(GString) names = g_string_new(NULL);
    for (guint i = 0; i < share->flows->len; i++) {
        const rs_background_flow *flow =
            &g_array_index(share->flows, rs_background_flow, i);
        g_autofree char *words = flow_words(all, flow);
        g_string_append_printf(names, "%s%s", i > 0 ? "; " : "", words);
        rs_finding_add_frame(f, flow->first_frame);
        rs_finding_add_filter(f, flow_filter(flow));
    }
    if (share->n_flows > share->flows->len) {
        g_autofree char *rest = rs_finding_count(share->n_flows - share->flows->len,
                                                 "more flow", "more flows");
        g_string_append_printf(names, "; and %s", rest);
    }
    return g_strdup(names->str);
}

void
rs_find_lossless_background(rs_findings *all, const rs_finding_row *row)
{
    guint8 lossless = rs_lossless_anywhere(all->analysis);
    const rs_background *background = all->analysis->watchers.background;
    if (lossless == 0 || background == NULL) {
        return;
    }
    g_auto(rs_background_share) share;
    rs_background_share_of(background, lossless, FLOWS_NAMED, &share);
    if (share.packets == 0) {
        return;
    }
    guint64 roce = rs_points_n(all->analysis->points) == 1
                       ? roce_bytes_here(all, lossless)
                       : roce_bytes_once(all, lossless);
    gboolean much = roce > 0 && share.bytes * 100 >= (share.bytes + roce) *
                                                         RS_WARNING_BACKGROUND_PERCENT;
    rs_finding *f =
        rs_finding_add(all, row, much ? RS_SEVERITY_WARNING : RS_SEVERITY_NOTE);
    g_autofree char *n =
        rs_finding_count(share.packets, "packet that is", "packets that are");
    g_autofree char *list = rs_format_priorities(lossless);
    g_autofree char *part = rs_format_share(share.bytes, share.bytes + roce);
    g_autofree char *names = name_flows(all, f, &share);
    f->weight = share.packets;
    f->more_frames = share.packets > share.flows->len;
    rs_finding_say(
        f,
        g_strdup_printf("%s no RoCE in lossless %s %s", n,
                        (lossless & (lossless - 1)) == 0 ? "priority" : "priorities",
                        list),
        g_strdup_printf("%s of the bytes there%s%s.  %s", part,
                        *names != '\0' ? ", between " : "", names,
                        rs_findings_priority_words(all, FALSE)));
}
