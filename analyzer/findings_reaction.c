/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about what senders make of CNPs, and about those that hear none. */
#include "findings_parts.h"
#include "format.h"
#include "thresholds.h"

#define US 1000
#define MBPS 1000000
#define NS_PER_S 1000000000u

static guint64
count_cnps(const roce_stream *s)
{
    return roce_stream_congestion_of(s)->cnps_received;
}

static gboolean
did_not_react(const rs_cnp_burst *burst)
{
    const guint64 before_bps = burst->heard_bps;
    guint64 duration_ns = burst->end_ns - burst->start_ns;
    /* What was unheard of it tells of a rate that may have been higher still. */
    if (burst->before_bps > before_bps &&
        burst->lowest_bps * 100 < burst->before_bps * RS_REACTION_PERCENT) {
        return FALSE;
    }
    if (burst->unheard > 0 && burst->before_bps == 0) {
        return FALSE; /* it has cut the rate already, from one that nobody knows */
    }
    if (burst->cnps < RS_REACTION_CNPS || before_bps == 0 ||
        burst->windows < burst->cnps ||
        duration_ns > burst->cnps * RS_REACTION_SPACING_US * US ||
        burst->lowest_bps * 100 < before_bps * RS_REACTION_PERCENT ||
        before_bps < (guint64)RS_REACTION_LEAST_MBPS * MBPS) {
        return FALSE;
    }
    double average_bps = (double)burst->bits * NS_PER_S / (double)MAX(duration_ns, 1);
    return average_bps * 100 >= (double)burst->lowest_bps * RS_REACTION_BUSY_PERCENT;
}

/* The burst of most CNPs that a stream did not react to; NULL: there is none. */
static const rs_cnp_burst *
worst_burst(const rs_flow *flow, const roce_stream *s)
{
    guint n;
    guint64 n_all;
    const rs_cnp_burst *bursts = rs_reactions_bursts(
        rs_congestion_reactions(flow->all->analysis->watchers.congestion), s->id, &n,
        &n_all);
    const rs_cnp_burst *worst = NULL;
    for (guint i = 0; i < n; i++) {
        if (did_not_react(&bursts[i]) &&
            (worst == NULL || bursts[i].cnps > worst->cnps)) {
            worst = &bursts[i];
        }
    }
    return worst;
}

static guint64
measure_many_cnps(const roce_stream *s)
{
    guint64 cnps = roce_stream_congestion_of(s)->cnps_received;
    return cnps >= RS_REACTION_CNPS && !s->partial_path ? cnps : 0;
}

/* Whether everything at a point has to do with one host, as at its NIC: an address is a host's
 * in its own network. */
static gboolean
is_all_of_host(const roce_tracker *tracker, guint32 point, const roce_tenant *tenant,
               const roce_addr *host)
{
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        const roce_stream *s = roce_tracker_stream(tracker, id);
        gboolean is_its =
            roce_tenant_equal(&s->tenant, tenant) &&
            (roce_addr_equal(&s->src, host) || roce_addr_equal(&s->dst, host));
        if (s->point == point && !is_its) {
            return FALSE;
        }
    }
    return TRUE;
}

static guint64
answers_to(const roce_tracker *tracker, const roce_stream *s)
{
    const roce_stream *peer = roce_tracker_stream(tracker, s->peer);
    return peer->packets - roce_stream_congestion_of(peer)->cnps_sent;
}

/* Whether at a point the data of `s` and what else answers it came by, and hardly a CNP, though
 * that is at the sender, where all of them end. */
static gboolean
heard_hardly_any(const roce_tracker *tracker, const roce_stream *s,
                 const roce_stream *there)
{
    const rs_tenant_addr receiver = {.tenant = s->tenant, .addr = s->dst};
    if (there->point == s->point || there->peer == ROCE_NO_STREAM ||
        there->partial_path ||
        count_cnps(there) * 100 > count_cnps(s) * (100 - RS_HEARD_PERCENT) ||
        rs_has_open_cnps(tracker, there->point, &receiver)) {
        return FALSE;
    }
    return there->packets * 100 >= s->packets * RS_HEARD_PERCENT &&
           answers_to(tracker, there) * 100 >=
               answers_to(tracker, s) * RS_HEARD_PERCENT &&
           (there->vantage == ROCE_VANTAGE_REQUESTER ||
            (there->vantage == ROCE_VANTAGE_UNKNOWN &&
             is_all_of_host(tracker, there->point, &s->tenant, &s->src)));
}

/* The same stream at the sender, where hardly any of its CNPs came; NULL: not known. */
static const roce_stream *
deaf_end(const rs_flow *flow, const roce_stream *s)
{
    const roce_tracker *tracker = flow->all->analysis->tracker;
    guint32 group = rs_summary_group(flow->all->summary, s->id);
    const GArray *members = rs_summary_members(flow->all->summary, group);
    for (guint i = 0; members != NULL && s->peer != ROCE_NO_STREAM && i < members->len;
         i++) {
        const roce_stream *there =
            roce_tracker_stream(tracker, g_array_index(members, guint32, i));
        if (heard_hardly_any(tracker, s, there)) {
            return there;
        }
    }
    return NULL;
}

/* Streams that did not become slower. */
typedef struct unmoved {
    guint n;
    const rs_cnp_burst *worst; /* of most CNPs; NULL without any */
    guint64 cnps, heard;
    rs_place here, there; /* of the last one: seen, and not seen */
} unmoved;

static void
add_unmoved(unmoved *all, const rs_analysis *analysis, const roce_stream *s,
            const rs_cnp_burst *burst)
{
    all->n++;
    all->cnps += count_cnps(s);
    all->here = rs_stream_place(analysis, s->id);
    if (all->worst == NULL || burst->cnps > all->worst->cnps) {
        all->worst = burst;
    }
}

static char *
rates_of(const unmoved *all)
{
    g_autofree char *before = rs_format_rate(all->worst->heard_bps);
    g_autofree char *lowest = rs_format_rate(all->worst->lowest_bps);
    return g_strdup_printf("%s inside messages when they began, and never below "
                           "%s behind them; so in %u of its streams there.",
                           before, lowest, all->n);
}

/* The sender is not to blame for what may not have come to it. */
static void
say_unheard(const rs_flow *flow, rs_finding *f, const unmoved *unheard)
{
    const rs_analysis *a = flow->all->analysis;
    g_autofree char *who = rs_flow_ends(flow);
    g_autofree char *src = rs_findings_label(flow->all, &flow->src);
    g_autofree char *cnps = rs_finding_count(unheard->cnps, "CNP", "CNPs");
    g_autofree char *here = rs_place_name(a, unheard->here);
    g_autofree char *there = rs_place_name(a, unheard->there);
    g_autofree char *rates = rates_of(unheard);
    g_autofree char *heard =
        unheard->heard == 0 ? g_strdup("None") : rs_format_count(unheard->heard);
    f->title = g_strdup_printf("%s of %s about data from %s %s seen at %s", heard, cnps,
                               who, unheard->heard > 1 ? "were" : "was", src);
    f->detail = g_strdup_printf(
        "%s came by at %s and not at %s, where the data and its other answers did.  "
        "They were lost on the way and the sender cannot slow down, or its NIC takes "
        "them in before they are captured, as its counters tell.  %s",
        unheard->heard > 0 ? "The others" : "They", here, there, rates);
    f->advice = g_strdup("Look at what becomes of CNPs between these two points: the "
                         "queue of their priority, its drops, filters and policers.");
}

static void
say_no_reaction(const rs_flow *flow, rs_finding *f, const unmoved *heard)
{
    g_autofree char *src = rs_findings_label(flow->all, &flow->src);
    g_autofree char *dst = rs_findings_label(flow->all, &flow->dst);
    g_autofree char *cnps = rs_format_count(heard->worst->cnps);
    f->title = g_strdup_printf("%s does not slow down towards %s: %s CNPs in a row",
                               src, dst, cnps);
    f->detail = rates_of(heard);
}

static gboolean
write_no_reaction(const rs_flow *flow, rs_finding *f)
{
    unmoved heard = {0};
    unmoved unheard = {0};
    for (guint i = 0; i < flow->streams->len; i++) {
        const roce_stream *s = rs_flow_stream(flow, i);
        const rs_cnp_burst *burst = worst_burst(flow, s);
        if (burst == NULL) {
            continue;
        }
        const roce_stream *deaf = deaf_end(flow, s);
        if (deaf != NULL && rs_cnps_are_lost(flow->all, s)) {
            continue; /* cnp_lost tells where */
        }
        if (deaf != NULL) {
            add_unmoved(&unheard, flow->all->analysis, s, burst);
            unheard.there = rs_stream_place(flow->all->analysis, deaf->id);
            unheard.heard += count_cnps(deaf);
        } else {
            add_unmoved(&heard, flow->all->analysis, s, burst);
        }
        rs_finding_add_frame(f, burst->first_frame);
        rs_finding_add_frame(f, burst->last_frame);
    }
    f->severity = RS_SEVERITY_WARNING;
    if (heard.n > 0) {
        say_no_reaction(flow, f, &heard);
    } else if (unheard.n > 0) {
        say_unheard(flow, f, &unheard);
    }
    return heard.n + unheard.n > 0;
}

const rs_flow_row rs_flow_no_reaction = {measure_many_cnps, write_no_reaction, {0}};
