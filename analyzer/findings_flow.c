/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings about streams.  A row measures one thing on a stream; streams between the same
 * two addresses that have it become one finding, which the row writes.
 */
#include "findings_pause.h"
#include "format.h"
#include "further.h"
#include "pairs.h"
#include "thresholds.h"

#include <string.h>

const guint64 *
rs_flow_requests_lost(const rs_counters *c)
{
    return c->losses[ROCE_SPACE_REQUESTS];
}

const guint64 *
rs_flow_responses_lost(const rs_counters *c)
{
    return c->losses[ROCE_SPACE_RESPONSES];
}

char *
rs_finding_count(guint64 n, const char *one, const char *many)
{
    return rs_format_things(n, one, many);
}

char *
rs_finding_packets(guint64 n)
{
    return rs_finding_count(n, "packet", "packets");
}

char *
rs_finding_values(const guint8 *values, const guint64 *packets, guint n, gboolean more)
{
    g_autoptr(GString) words = g_string_new(NULL);
    for (guint i = 0; i < n; i++) {
        g_autofree char *count = rs_finding_packets(packets[i]);
        g_string_append_printf(words, "%s%u (%s)", i > 0 ? ", " : "", values[i], count);
    }
    return g_strdup_printf("%s%s", words->str, more ? " and others" : "");
}

const roce_stream *
rs_flow_stream(const rs_flow *flow, guint i)
{
    return roce_tracker_stream(flow->all->analysis->tracker,
                               g_array_index(flow->streams, guint32, i));
}

char *
rs_flow_ends(const rs_flow *flow)
{
    return rs_findings_ends(flow->all, &flow->tenant, &flow->src, &flow->dst);
}

gboolean
rs_flow_is_at(const rs_flow *flow, roce_vantage vantage)
{
    for (guint i = 0; i < flow->streams->len; i++) {
        if (rs_flow_stream(flow, i)->vantage != vantage) {
            return FALSE;
        }
    }
    return flow->streams->len > 0;
}

gboolean
rs_flow_is_unacknowledged(const rs_flow *flow)
{
    for (guint i = 0; i < flow->streams->len; i++) {
        if (roce_stream_is_reliable(rs_flow_stream(flow, i))) {
            return FALSE;
        }
    }
    return flow->streams->len > 0;
}

guint64
rs_flow_messages_cut(const rs_flow *flow)
{
    guint64 n = 0;
    for (guint i = 0; i < flow->streams->len; i++) {
        n += roce_stream_trouble_of(rs_flow_stream(flow, i))->messages_broken;
    }
    return n;
}

guint64
rs_flow_verdicts(const roce_stream *s, roce_verdict verdict)
{
    if (s->partial_path) {
        return 0; /* a point that sees one path of several proves no loss */
    }
    return rs_verdicts_of(s, verdict);
}

rs_severity
rs_flow_loss_severity(guint64 lost, guint64 sent)
{
    return lost * 100 >= sent * RS_CRITICAL_LOSS_PERCENT ? RS_SEVERITY_CRITICAL
                                                         : RS_SEVERITY_WARNING;
}

static void
free_flow(gpointer data)
{
    rs_flow *flow = data;
    g_array_unref(flow->streams);
    g_free(flow);
}

/* ---- congestion that matters ---- */

/* What one host sends another, and what comes of it. */
typedef struct signs {
    rs_pair pair; /* without its streams */
    guint64 data, ce, cnps, lost;
} signs;

static guint64
data_of(const roce_stream *s)
{
    guint64 n = 0;
    for (guint i = 0; i < G_N_ELEMENTS(s->ecn.codepoint); i++) {
        n += s->ecn.codepoint[i];
    }
    return n;
}

static signs
signs_of(const roce_stream *s)
{
    signs its = {
        .pair = {.tenant = s->tenant, .src = s->src, .dst = s->dst},
        .data = data_of(s),
        .ce = s->ecn.codepoint[ROCE_ECN_CE],
        .cnps = roce_stream_congestion_of(s)->cnps_received,
        .lost = rs_flow_verdicts(s, ROCE_VERDICT_LOST_BEFORE_CAPTURE) +
                rs_flow_verdicts(s, ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE) +
                rs_flow_verdicts(s, ROCE_VERDICT_ACK_LOST) +
                rs_flow_verdicts(s, ROCE_VERDICT_DATA_OR_ACK_LOST),
    };
    return its;
}

/* Whether there are any at all: without them nobody's have to be added up. */
static gboolean
there_are_signs(const roce_tracker *tracker)
{
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        const signs its = signs_of(roce_tracker_stream(tracker, id));
        if (its.ce + its.cnps + its.lost > 0) {
            return TRUE;
        }
    }
    return FALSE;
}

static void
add_signs(GHashTable *pairs, const roce_stream *s)
{
    const signs its = signs_of(s);
    signs *sum = g_hash_table_lookup(pairs, &its);
    if (sum == NULL) {
        g_hash_table_add(pairs, g_memdup2(&its, sizeof its));
        return;
    }
    sum->data += its.data;
    sum->ce += its.ce;
    sum->cnps += its.cnps;
    sum->lost += its.lost;
}

/* A CNP is about one mark at least: so many of them stand for as many marks. */
static gboolean
weigh(const signs *sum)
{
    guint64 marks = MAX(sum->ce, sum->cnps);
    return sum->lost > 0 ||
           (marks > 0 && marks * 100 >= sum->data * RS_WARNING_CE_PERCENT);
}

gboolean
rs_findings_paused_much(const rs_findings *all)
{
    const roce_tracker *tracker = all->analysis->tracker;
    for (guint32 i = 0; i < roce_tracker_n_pauses(tracker); i++) {
        if (rs_pause_is_much(all, i, rs_pause_paused_ns(all, i))) {
            return TRUE;
        }
    }
    return FALSE;
}

static void
add_congested(GHashTable *pairs, const roce_tenant *tenant, const roce_addr *src,
              const roce_addr *dst)
{
    const rs_pair pair = {.tenant = *tenant, .src = *src, .dst = *dst};
    g_hash_table_add(pairs, g_memdup2(&pair, sizeof pair));
}

static void
add_congested_both(GHashTable *pairs, const roce_tenant *tenant, const roce_addr *a,
                   const roce_addr *b)
{
    add_congested(pairs, tenant, a, b);
    add_congested(pairs, tenant, b, a);
}

/* Between whom a source of pauses held something up for much of the time. */
static void
add_paused(const rs_findings *all, GHashTable *pairs, guint32 pause)
{
    const roce_tracker *tracker = all->analysis->tracker;
    const rs_pause_watch *watch = rs_pause_watch_of(all, pause);
    for (guint i = 0; i < watch->passages->len; i++) {
        const rs_passage *passage = g_ptr_array_index(watch->passages, i);
        const roce_stream *s = roce_tracker_stream(tracker, passage->stream);
        if (rs_pause_is_much(all, pause, rs_passage_held(passage, pause)->held_ns)) {
            add_congested_both(pairs, &s->tenant, &s->src, &s->dst);
        }
    }
}

/* Where it is not known what a source stops, it may be all that passes its point. */
static void
add_all_paused(const rs_findings *all, GHashTable *pairs)
{
    const roce_tracker *tracker = all->analysis->tracker;
    g_autoptr(GHashTable) points = g_hash_table_new(NULL, NULL);
    for (guint32 i = 0; i < roce_tracker_n_pauses(tracker); i++) {
        const roce_pause_source *p = rs_pause_source(all, i);
        if (rs_pausing_knows_victims(all->analysis->watchers.pausing, i)) {
            add_paused(all, pairs, i);
        } else if (rs_pause_is_much(all, i, rs_pause_paused_ns(all, i))) {
            g_hash_table_add(points, GUINT_TO_POINTER(p->point));
        }
    }
    guint32 n = g_hash_table_size(points) > 0 ? roce_tracker_n_streams(tracker) : 0;
    for (guint32 id = 0; id < n; id++) {
        const roce_stream *s = roce_tracker_stream(tracker, id);
        if (g_hash_table_contains(points, GUINT_TO_POINTER(s->point))) {
            add_congested_both(pairs, &s->tenant, &s->src, &s->dst);
        }
    }
}

GHashTable *
rs_findings_congested(const rs_findings *all)
{
    g_autoptr(GHashTable) sums =
        g_hash_table_new_full(rs_pair_hash, rs_pair_equal, g_free, NULL);
    GHashTable *pairs =
        g_hash_table_new_full(rs_pair_hash, rs_pair_equal, g_free, NULL);
    const roce_tracker *tracker = all->analysis->tracker;
    add_all_paused(all, pairs);
    if (!there_are_signs(tracker)) {
        return pairs;
    }
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        add_signs(sums, roce_tracker_stream(tracker, id));
    }
    GHashTableIter iter;
    gpointer data;
    g_hash_table_iter_init(&iter, sums);
    while (g_hash_table_iter_next(&iter, &data, NULL)) {
        const signs *sum = data;
        if (weigh(sum)) {
            add_congested_both(pairs, &sum->pair.tenant, &sum->pair.src,
                               &sum->pair.dst);
        }
    }
    return pairs;
}

gboolean
rs_findings_is_congested(const rs_findings *all, const roce_tenant *tenant,
                         const roce_addr *src, const roce_addr *dst)
{
    const rs_pair pair = {.tenant = *tenant, .src = *src, .dst = *dst};
    return g_hash_table_contains(all->congested, &pair);
}

/* ---- findings about streams ---- */

/* All that one host sends another, whatever there is to find in it: shares are of it. */
typedef struct traffic {
    rs_pair pair; /* without its streams */
    guint64 packets, data;
} traffic;

/* What verdicts can be about: ACKs, which count among the responses, are never missed. */
static guint64
numbered_of(const roce_stream *s)
{
    return s->space[ROCE_SPACE_REQUESTS].packets +
           s->space[ROCE_SPACE_RESPONSES].unique_psns;
}

static void
add_traffic(GHashTable *pairs, const roce_stream *s)
{
    const traffic key = {.pair = {.tenant = s->tenant, .src = s->src, .dst = s->dst}};
    traffic *sum = g_hash_table_lookup(pairs, &key);
    if (sum == NULL) {
        sum = g_memdup2(&key, sizeof key);
        g_hash_table_add(pairs, sum);
    }
    sum->packets += numbered_of(s);
    sum->data += data_of(s);
}

/* Added up when it is asked for the first time: without findings nobody does. */
static const traffic *
traffic_between(rs_findings *all, const roce_stream *s)
{
    const roce_tracker *tracker = all->analysis->tracker;
    if (all->traffic == NULL) {
        all->traffic = g_hash_table_new_full(rs_pair_hash, rs_pair_equal, g_free, NULL);
        for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
            if (rs_summary_stands(all->summary, id)) {
                add_traffic(all->traffic, roce_tracker_stream(tracker, id));
            }
        }
    }
    const rs_pair pair = {.tenant = s->tenant, .src = s->src, .dst = s->dst};
    return g_hash_table_lookup(all->traffic, &pair);
}

static rs_flow *
flow_of(rs_findings *all, GHashTable *flows, const roce_stream *s)
{
    const rs_pair key = {.tenant = s->tenant, .src = s->src, .dst = s->dst};
    rs_flow *flow = g_hash_table_lookup(flows, &key);
    if (flow == NULL) {
        const traffic *between = traffic_between(all, s);
        flow = g_new0(rs_flow, 1);
        flow->all = all;
        flow->tenant = s->tenant;
        flow->src = s->src;
        flow->dst = s->dst;
        flow->streams = g_array_new(FALSE, FALSE, sizeof(guint32));
        flow->packets = between->packets;
        flow->data = between->data;
        flow->congested = rs_findings_is_congested(all, &s->tenant, &s->src, &s->dst);
        g_hash_table_insert(flows, g_memdup2(&key, sizeof key), flow);
    }
    return flow;
}

/* `s` speaks for the stream that stands for all points. */
static void
add_to_flow(rs_flow *flow, const roce_stream *s, const roce_stream *standing, guint64 n)
{
    rs_counters counters;
    rs_counters_of_stream(&counters, s);
    rs_counters_add(&flow->sum, &counters);
    g_array_append_val(flow->streams, s->id);
    flow->packets = flow->packets - numbered_of(standing) + numbered_of(s);
    flow->data = flow->data - data_of(standing) + data_of(s);
    flow->n += n;
}

static void
report_flow(rs_findings *all, const rs_finding_row *row, const rs_pair *pair,
            const rs_flow *flow)
{
    rs_finding *finding = rs_finding_add(all, row, RS_SEVERITY_NOTE);
    rs_pair_name(finding, pair);
    finding->weight = flow->n;
    for (guint i = 0; i < flow->streams->len; i++) {
        guint32 id = g_array_index(flow->streams, guint32, i);
        g_array_append_val(finding->streams, id);
    }
    if (!row->flow->write(flow, finding)) {
        rs_findings_take_back(all);
        return;
    }
    rs_flow_tell_outage(flow, finding, row->flow->evidence[0]);
    if (row->flow->evidence[0] == ROUND(TIMEOUT)) {
        rs_flow_tell_too_long(flow, finding);
    }
    for (guint k = 0; k < RS_EVIDENCE_KINDS && row->flow->evidence[k] != 0; k++) {
        rs_finding_add_events(all, finding, row->flow->evidence[k]);
    }
}

guint32
rs_finding_most_at(const rs_findings *all, guint32 id,
                   guint64 (*measure)(const roce_stream *stream))
{
    guint32 group = rs_summary_group(all->summary, id);
    guint32 most =
        rs_summary_most_at(all->summary, all->analysis->tracker, group, measure);
    const roce_tracker *tracker = all->analysis->tracker;
    return measure(roce_tracker_stream(tracker, most)) >
                   measure(roce_tracker_stream(tracker, id))
               ? most
               : id;
}

/* Which point speaks of a stream that several saw. */
typedef enum flow_place {
    STANDS_FOR_ALL,
    HAS_MOST,
    HAS_MOST_UNACKNOWLEDGED,
    EXPLAINS_MOST_ROUNDS,
} flow_place;

static guint64
count_explained_rounds(const roce_stream *s)
{
    const roce_retransmission_counters *n = &roce_stream_trouble_of(s)->retransmissions;
    return n->rounds - n->by_cause[ROCE_CAUSE_UNKNOWN];
}

/* How long a stream was silent before its timeouts, as its point saw it. */
static guint64
silence_ns(const rs_findings *all, const roce_stream *s)
{
    const rs_stall *stall = rs_stalls_of(all->analysis->watchers.stalls, s->id);
    return stall != NULL ? stall->sum_ns : 0;
}

/* The same stream as `id` at a point nearer to its sender that tells as much of its rounds, and
 * of a longer silence: between two copies of a packet lies what the requester waited for, and
 * what held the first one up on its way shortens that. */
static guint32
nearer_of(const rs_findings *all, const rs_finding_row *row, guint32 id)
{
    const roce_tracker *tracker = all->analysis->tracker;
    const GArray *members = rs_summary_members_with(all->summary, id);
    const roce_stream *best = roce_tracker_stream(tracker, id);
    const guint64 n = row->flow->measure(best);
    const guint64 explained = count_explained_rounds(best);
    for (guint i = 0; members != NULL && i < members->len; i++) {
        const roce_stream *s =
            roce_tracker_stream(tracker, g_array_index(members, guint32, i));
        if (row->flow->measure(s) == n && count_explained_rounds(s) == explained &&
            rs_further(s, best) < 0 &&
            silence_ns(all, s) / 10 > silence_ns(all, best) / 9) {
            best = s;
        }
    }
    return best->id;
}

/* The point that speaks of a stream, as its stream there. */
static guint32
speaker(const rs_findings *all, const rs_finding_row *row, flow_place place, guint32 id)
{
    const roce_stream *s = roce_tracker_stream(all->analysis->tracker, id);
    switch (place) {
    case HAS_MOST:
        return rs_finding_most_at(all, id, row->flow->measure);
    case HAS_MOST_UNACKNOWLEDGED:
        return roce_stream_is_reliable(s)
                   ? id
                   : rs_finding_most_at(all, id, row->flow->measure);
    case EXPLAINS_MOST_ROUNDS:
        return nearer_of(all, row, rs_finding_most_at(all, id, count_explained_rounds));
    case STANDS_FOR_ALL:
        break;
    }
    return id;
}

static void
find_flows(rs_findings *all, const rs_finding_row *row, flow_place place)
{
    g_autoptr(GHashTable) flows =
        g_hash_table_new_full(rs_pair_hash, rs_pair_equal, g_free, free_flow);
    const roce_tracker *tracker = all->analysis->tracker;
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        if (!rs_summary_stands(all->summary, id)) {
            continue;
        }
        const roce_stream *s =
            roce_tracker_stream(tracker, speaker(all, row, place, id));
        guint64 n = row->flow->measure(s);
        if (n > 0) {
            add_to_flow(flow_of(all, flows, s), s, roce_tracker_stream(tracker, id), n);
        }
    }
    GHashTableIter iter;
    gpointer pair;
    gpointer flow;
    g_hash_table_iter_init(&iter, flows);
    while (g_hash_table_iter_next(&iter, &pair, &flow)) {
        report_flow(all, row, pair, flow);
    }
}

void
rs_find_flows(rs_findings *all, const rs_finding_row *row)
{
    find_flows(all, row, STANDS_FOR_ALL);
}

void
rs_find_flows_unacknowledged(rs_findings *all, const rs_finding_row *row)
{
    find_flows(all, row, HAS_MOST_UNACKNOWLEDGED);
}

void
rs_find_flows_explained(rs_findings *all, const rs_finding_row *row)
{
    find_flows(all, row, EXPLAINS_MOST_ROUNDS);
}

void
rs_find_flows_at_most(rs_findings *all, const rs_finding_row *row)
{
    find_flows(all, row, HAS_MOST);
}
