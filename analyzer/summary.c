/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "summary.h"

#include "alloc.h"
#include "further.h"
#include "loss_places.h"
#include "sorting.h"
#include "spreading.h"
#include "summary_parts.h"

#include <string.h>

/* ---- totals: each packet once ---- */

static void
add_latencies(rs_summary *summary, const roce_stream *s)
{
    roce_alloc alloc = rs_alloc_make();
    for (guint i = 0; i < ROCE_N_LATENCIES; i++) {
        const roce_histogram *h = roce_stream_latency(s, (roce_latency)i);
        if (h != NULL) {
            roce_histogram_merge(&summary->latencies[i], &alloc, h);
        }
    }
}

/* Of the points that saw as much of a stream as the one that stands for all, the one that it
 * comes to first: there latencies come nearest to what who asked has waited. */
static const roce_stream *
first_on_way(const rs_summary *summary, const rs_analysis *analysis, guint32 id)
{
    const GArray *members = rs_summary_members(summary, id);
    const roce_stream *first = rs_summary_stream(analysis, id);
    for (guint i = 0; members != NULL && i < members->len; i++) {
        const roce_stream *s =
            rs_summary_stream(analysis, g_array_index(members, guint32, i));
        if (s->packets == first->packets && rs_further(s, first) < 0) {
            first = s;
        }
    }
    return first;
}

/* Another point saw more packets with CE: as many of mine, which saw them before they were
 * marked, become CE as well; of those, ECT ones first, since only they can be marked. */
static void
take_marks(guint64 mine[4], const guint64 theirs[4])
{
    guint64 more = theirs[ROCE_ECN_CE] - MIN(mine[ROCE_ECN_CE], theirs[ROCE_ECN_CE]);
    for (guint i = 0; i < ROCE_ECN_CE && more > 0; i++) {
        guint ect = ROCE_ECN_CE - 1 - i; /* Not-ECT, which is 0, comes last */
        guint64 n = MIN(mine[ect], more);
        mine[ect] -= n;
        mine[ROCE_ECN_CE] += n;
        more -= n;
    }
}

/* What becomes of packets on their way is seen behind where it happens, and there one may
 * see fewer of them than in front of it: of that, the point counts that saw most. */
static void
take_most(rs_counters *c, const rs_counters *other, gboolean acknowledged)
{
    for (guint space = 0; space < ROCE_N_SPACES; space++) {
        rs_space_counters *mine = &c->space[space];
        const rs_space_counters *theirs = &other->space[space];
        mine->reordered = MAX(mine->reordered, theirs->reordered);
        mine->duplicates = MAX(mine->duplicates, theirs->duplicates);
    }
    rs_space_counters *requests = &c->space[ROCE_SPACE_REQUESTS];
    const rs_space_counters *requests_there = &other->space[ROCE_SPACE_REQUESTS];
    if (!acknowledged && requests_there->missing_psns > requests->missing_psns) {
        requests->missing_psns = requests_there->missing_psns;
        requests->gaps = requests_there->gaps;
        memcpy(c->losses, other->losses, sizeof c->losses);
    }
    c->icrc.bad = MAX(c->icrc.bad, other->icrc.bad);
    c->icrc.checked = MAX(c->icrc.checked, c->icrc.bad);
    c->ip_checksum_bad = MAX(c->ip_checksum_bad, other->ip_checksum_bad);
    c->psn_bad = MAX(c->psn_bad, other->psn_bad);
    if (other->ecn.codepoint[ROCE_ECN_CE] > c->ecn.codepoint[ROCE_ECN_CE]) {
        c->ecn.transitions = other->ecn.transitions;
        c->ecn.ce_episodes = other->ecn.ce_episodes;
    }
    take_marks(c->ecn.codepoint, other->ecn.codepoint);
    take_marks(c->ecn_control, other->ecn_control);
    c->cnps_sent = MAX(c->cnps_sent, other->cnps_sent);
    c->cnps_received = MAX(c->cnps_received, other->cnps_received);
}

void
rs_summary_count_once(const rs_summary *summary, const rs_analysis *analysis,
                      guint32 id, rs_counters *counters)
{
    const GArray *members = rs_summary_members(summary, id);
    const roce_stream *standing = rs_summary_stream(analysis, id);
    rs_counters_of_stream(counters, standing);
    for (guint i = 0; members != NULL && i < members->len; i++) {
        rs_counters other;
        guint32 member = g_array_index(members, guint32, i);
        if (member != id) {
            rs_counters_of_stream(&other, rs_summary_stream(analysis, member));
            take_most(counters, &other, roce_stream_is_reliable(standing));
        }
    }
    rs_loss_count_known(analysis, summary, id, counters);
}

static void
add_unattributed(rs_unattributed *n, const rs_summary *summary,
                 const rs_analysis *analysis, const roce_stream *s)
{
    const GArray *members = rs_summary_members(summary, s->id);
    gboolean paired = roce_stream_is_paired(s);
    for (guint i = 0; members != NULL && i < members->len; i++) {
        paired |= roce_stream_is_paired(
            rs_summary_stream(analysis, g_array_index(members, guint32, i)));
    }
    if (paired) {
        return;
    }
    const roce_stream_congestion *congestion = roce_stream_congestion_of(s);
    const uint64_t *naks_sent = roce_stream_trouble_of(s)->naks_sent;
    n->acks += roce_stream_control_of(s)->acks_sent;
    n->cnps += congestion->cnps_sent - congestion->cnps_attributed;
    for (guint i = 0; i < ROCE_N_NAKS; i++) {
        *(i == ROCE_NAKS_RNR ? &n->rnr : &n->naks) += naks_sent[i];
    }
}

static void
add_up(rs_summary *summary, const rs_analysis *analysis)
{
    for (guint32 id = 0; id < roce_tracker_n_streams(analysis->tracker); id++) {
        if (rs_summary_stands(summary, id)) {
            rs_counters counters;
            rs_summary_count_once(summary, analysis, id, &counters);
            rs_counters_add(&summary->totals, &counters);
            add_latencies(summary, first_on_way(summary, analysis, id));
            add_unattributed(&summary->unattributed, summary, analysis,
                             rs_summary_stream(analysis, id));
        }
    }
    guint64 orphans = roce_tracker_totals_get(analysis->tracker)->icrc_orphans;
    summary->totals.icrc.checked += orphans;
    summary->totals.icrc.bad += orphans;
}

/* ---- the time line ---- */

static guint64
count_ce(const roce_stream *s)
{
    return s->ecn.codepoint[ROCE_ECN_CE];
}

static guint64
count_cnps(const roce_stream *s)
{
    return roce_stream_congestion_of(s)->cnps_sent;
}

/* The point that counts for a row of the time line: as rs_summary_count_once() has it. */
static guint32
speaks_for(const rs_summary *summary, const rs_analysis *analysis, guint32 id,
           rs_timeline_row row)
{
    return row == RS_TIMELINE_CE
               ? rs_summary_most_at(summary, analysis->tracker, id, count_ce)
           : row == RS_TIMELINE_CNPS
               ? rs_summary_most_at(summary, analysis->tracker, id, count_cnps)
               : id;
}

gboolean
rs_summary_add_timeline(const rs_summary *summary, const rs_analysis *analysis,
                        rs_timeline_row row, guint64 *sum)
{
    const rs_timeline *timeline = analysis->watchers.timeline;
    guint n = roce_tracker_n_streams(analysis->tracker);
    if (rs_points_n(analysis->points) == 1 && rs_timeline_has_point(timeline, 0)) {
        rs_timeline_add_point(timeline, 0, row, sum);
        return TRUE;
    }
    if (n > RS_TIMELINE_STREAMS) {
        return FALSE;
    }
    for (guint32 id = 0; id < n; id++) {
        guint32 at = speaks_for(summary, analysis, id, row);
        if (rs_summary_stands(summary, id) && rs_timeline_has_stream(timeline, at)) {
            rs_timeline_add_stream(timeline, at, row, sum);
        }
    }
    return TRUE;
}

/* ---- order ---- */

static guint64
badness(const roce_stream *s)
{
    const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
    guint64 fatal = 0;
    for (guint i = ROCE_NAKS_INVALID_REQUEST; i <= ROCE_NAKS_REMOTE_OPERATIONAL; i++) {
        fatal += trouble->naks_received[i];
    }
    guint64 bad = fatal * 1000000 + trouble->retransmissions.packets * 10 +
                  trouble->icrc_bad + trouble->ip_checksum_bad + trouble->psn_bad +
                  s->ecn.codepoint[ROCE_ECN_CE];
    for (guint i = 0; i < ROCE_N_SPACES; i++) {
        const roce_disorder_counters *disorder = &trouble->disorder[i];
        bad += rs_losses_of(trouble->losses[i]) * 1000 + disorder->reordered +
               disorder->duplicates;
    }
    return bad + trouble->disorder[ROCE_SPACE_RESPONSES].resent * 10;
}

static gint
worse(gconstpointer a, gconstpointer b, gpointer data)
{
    const rs_analysis *analysis = data;
    const roce_stream *x = rs_summary_stream(analysis, *(const guint32 *)a);
    const roce_stream *y = rs_summary_stream(analysis, *(const guint32 *)b);
    guint64 bad_x = badness(x);
    guint64 bad_y = badness(y);
    if (bad_x != bad_y) {
        return bad_x > bad_y ? -1 : 1;
    }
    if (x->wire_bytes != y->wire_bytes) {
        return x->wire_bytes > y->wire_bytes ? -1 : 1;
    }
    return rs_by_number(x->id, y->id);
}

static void
order_streams(rs_summary *summary, const rs_analysis *analysis)
{
    guint n = roce_tracker_n_streams(analysis->tracker);
    summary->worst_first = g_array_sized_new(FALSE, FALSE, sizeof(guint32), n);
    for (guint32 id = 0; id < n; id++) {
        g_array_append_val(summary->worst_first, id);
    }
    gpointer data = (gpointer)(guintptr)analysis;
    g_array_sort_with_data(summary->worst_first, worse, data);
}

/* ---- the whole ---- */

/* Captures that are known to lack packets that came by, for the file says so, or others were
 * acknowledged that are not in it. */
static void
find_missed(rs_summary *summary, const rs_analysis *analysis)
{
    summary->missed = g_hash_table_new(NULL, NULL);
    for (guint32 id = 0; id < roce_tracker_n_streams(analysis->tracker); id++) {
        const roce_stream *s = roce_tracker_stream(analysis->tracker, id);
        if (rs_verdicts_of(s, ROCE_VERDICT_NOT_CAPTURED) > 0 ||
            rs_analysis_point(analysis, s->point)->dropped > 0) {
            g_hash_table_add(summary->missed, GUINT_TO_POINTER(s->point));
        }
    }
}

rs_summary *
rs_summary_new(const rs_analysis *analysis)
{
    rs_summary *summary = g_new0(rs_summary, 1);
    rs_summary_find_groups(summary, analysis);
    find_missed(summary, analysis);
    add_up(summary, analysis);
    order_streams(summary, analysis);
    rs_summary_find_links(summary, analysis);
    rs_spreading_find(summary, analysis);
    return summary;
}

void
rs_summary_free(rs_summary *summary)
{
    if (summary == NULL) {
        return;
    }
    g_array_unref(summary->group);
    g_ptr_array_unref(summary->members);
    g_hash_table_unref(summary->later);
    g_hash_table_unref(summary->missed);
    g_array_unref(summary->worst_first);
    g_ptr_array_unref(summary->links);
    roce_alloc alloc = rs_alloc_make();
    for (guint i = 0; i < ROCE_N_LATENCIES; i++) {
        roce_histogram_clear(&summary->latencies[i], &alloc);
    }
    g_array_unref(summary->link_of);
    g_ptr_array_unref(summary->pairs);
    g_free(summary->pair_streams);
    g_free(summary);
}
