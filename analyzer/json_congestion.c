/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json_congestion.h"

#include "format.h"
#include "json_parts.h"
#include "twins.h"

#define PRIORITIES 8

static const roce_stream *
stream_of(const rs_analysis *analysis, guint32 id)
{
    return roce_tracker_stream(analysis->tracker, id);
}

/* ---- marks ---- */

static json_t *
share_json(guint64 part, guint64 whole)
{
    return whole > 0 ? json_real((double)part / (double)whole) : json_null();
}

static json_t *
episodes_json(const rs_analysis *analysis, const roce_stream *s)
{
    const roce_stream_congestion *congestion = roce_stream_congestion_of(s);
    json_t *json = json_array();
    for (guint32 i = 0; i < congestion->n_episodes_kept; i++) {
        const roce_ce_episode *episode = &congestion->episodes[i];
        json_t *one = json_object();
        json_object_set_new(one, "start_ns", rs_json_time(analysis, episode->start_ns));
        json_object_set_new(one, "end_ns", rs_json_time(analysis, episode->end_ns));
        json_object_set_new(one, "marked", rs_json_count(episode->marked));
        json_object_set_new(one, "data_packets", rs_json_count(episode->data_packets));
        json_object_set_new(one, "first_frame", rs_json_count(episode->first_frame));
        json_array_append_new(json, one);
    }
    return json;
}

static json_t *
answers_json(const roce_stream *s)
{
    const roce_stream_congestion *congestion = roce_stream_congestion_of(s);
    static const char *const names[ROCE_N_CE_ANSWERS] = {
        [ROCE_CE_ANSWERED] = "answered",
        [ROCE_CE_PACED] = "paced",
        [ROCE_CE_UNANSWERED] = "unanswered",
        [ROCE_CE_OPEN] = "open",
    };
    json_t *json = json_object();
    for (guint i = 0; i < ROCE_N_CE_ANSWERS; i++) {
        json_object_set_new(json, names[i], rs_json_count(congestion->ce_answers[i]));
    }
    return json;
}

/* What was marked before one member of a stream's group of points saw it. */
static void
add_segments(json_t *segments, const rs_analysis *analysis, guint32 member)
{
    const GArray *marked = rs_twins_marked(analysis->twins, member);
    for (guint i = 0; marked != NULL && i < marked->len; i++) {
        const rs_marked *one = &g_array_index(marked, rs_marked, i);
        json_t *segment = json_object();
        json_object_set_new(segment, "from", rs_json_count(one->from));
        json_object_set_new(segment, "to",
                            rs_json_count(stream_of(analysis, member)->point));
        json_object_set_new(segment, "packets", rs_json_count(one->packets));
        json_array_append_new(segments, segment);
    }
}

/* Who marked; null where one point alone saw the stream. */
static json_t *
marked_json(const rs_analysis *analysis, const rs_summary *summary, guint32 id)
{
    guint32 standing = rs_summary_group(summary, id);
    const GArray *members = rs_summary_members(summary, standing);
    if (analysis->twins == NULL || members == NULL || members->len < 2) {
        return json_null();
    }
    json_t *segments = json_array();
    guint64 before = 0;
    gboolean complete = rs_twins_complete(analysis->twins);
    for (guint i = 0; i < members->len; i++) {
        guint32 member = g_array_index(members, guint32, i);
        complete &= rs_twins_marks_known(analysis->twins, member);
        add_segments(segments, analysis, member);
        before += rs_twins_marked_before(analysis->twins, member);
    }
    json_t *json = json_object();
    json_object_set_new(json, "segments", segments);
    json_object_set_new(json, "before_all_points", rs_json_count(before));
    json_object_set_new(json, "complete", json_boolean(complete));
    return json;
}

/* ---- CNPs ---- */

static json_t *
cnp_counts_json(const rs_cnp_counts *counts)
{
    json_t *json = json_object();
    json_object_set_new(json, "answering", rs_json_count(counts->answering));
    json_object_set_new(json, "with_nak", rs_json_count(counts->with_nak));
    json_object_set_new(json, "alone", rs_json_count(counts->alone));
    return json;
}

static json_t *
cnps_json(const rs_analysis *analysis, guint32 id)
{
    rs_cnp_counts receivers;
    rs_cnp_counts others;
    if (!rs_congestion_cnps(analysis->watchers.congestion, id, &receivers, &others)) {
        return json_null();
    }
    json_t *json = json_object();
    json_object_set_new(json, "by_receiver", cnp_counts_json(&receivers));
    json_object_set_new(json, "by_others", cnp_counts_json(&others));
    return json;
}

static json_t *
bits_json(guint8 bits)
{
    json_t *json = json_array();
    for (guint i = 0; i < PRIORITIES; i++) {
        if ((bits & 1u << i) != 0) {
            json_array_append_new(json, json_integer((json_int_t)i));
        }
    }
    return json;
}

static json_t *
priorities_json(const rs_analysis *analysis, guint32 id)
{
    static const char *const names[RS_N_CLASSES] = {
        [RS_CLASS_DATA] = "data",
        [RS_CLASS_ACKS] = "acks",
        [RS_CLASS_NAKS] = "naks",
        [RS_CLASS_CNPS] = "cnps",
    };
    json_t *json = json_object();
    for (guint i = 0; i < RS_N_CLASSES; i++) {
        guint8 bits =
            rs_congestion_priorities(analysis->watchers.congestion, id, (rs_class_of)i);
        json_object_set_new(json, names[i], bits_json(bits));
    }
    return json;
}

/* ---- what the sender did ---- */

static json_t *
burst_json(const rs_analysis *analysis, const rs_cnp_burst *burst,
           gboolean before_marks)
{
    gboolean told = burst->before_bps != 0 && burst->lowest_bps != 0;
    guint64 cut = burst->lowest_before_second_bps;
    json_t *json = json_object();
    json_object_set_new(json, "start_ns", rs_json_time(analysis, burst->start_ns));
    json_object_set_new(json, "end_ns", rs_json_time(analysis, burst->end_ns));
    json_object_set_new(json, "cnps", rs_json_count(burst->cnps));
    json_object_set_new(json, "first_frame", rs_json_count(burst->first_frame));
    json_object_set_new(json, "before_bps",
                        rs_json_known(burst->before_bps, burst->before_bps != 0));
    json_object_set_new(json, "lowest_bps", rs_json_known(burst->lowest_bps, told));
    json_object_set_new(json, "first_cut",
                        told && before_marks && cut != 0
                            ? share_json(cut, burst->before_bps)
                            : json_null());
    json_object_set_new(json, "recovery_ns",
                        rs_json_known(burst->recovery_ns, burst->recovery_ns != 0));
    return json;
}

/* Whether the point stands between the sender and what marks: behind a queue it is the
 * queue that spaces packets, and a cut shows late. */
static gboolean
is_before_marks(const roce_stream *s)
{
    return s->vantage == ROCE_VANTAGE_REQUESTER || s->ecn.codepoint[ROCE_ECN_CE] == 0;
}

static json_t *
bursts_json(const rs_analysis *analysis, guint32 id, guint64 *n_omitted)
{
    const rs_reactions *reactions =
        rs_congestion_reactions(analysis->watchers.congestion);
    gboolean before_marks = is_before_marks(stream_of(analysis, id));
    guint n;
    guint64 n_all;
    const rs_cnp_burst *bursts = rs_reactions_bursts(reactions, id, &n, &n_all);
    json_t *json = json_array();
    for (guint i = 0; i < n; i++) {
        const rs_cnp_burst whole = rs_cnp_burst_whole(&bursts[i]);
        json_array_append_new(json, burst_json(analysis, &whole, before_marks));
    }
    *n_omitted = n_all - n;
    return json;
}

json_t *
rs_json_congestion_of_stream(const rs_analysis *analysis, const rs_summary *summary,
                             guint32 id)
{
    const roce_stream *s = stream_of(analysis, id);
    const roce_stream_congestion *congestion = roce_stream_congestion_of(s);
    const guint64 *n = s->ecn.codepoint;
    guint64 marked = n[ROCE_ECN_CE];
    gboolean paired = roce_stream_is_paired(s);
    guint64 bursts_omitted;
    json_t *bursts = bursts_json(analysis, id, &bursts_omitted);
    json_t *json = json_object();
    json_object_set_new(json, "marked_share",
                        share_json(marked, n[0] + n[1] + n[2] + n[3]));
    json_object_set_new(json, "episodes", episodes_json(analysis, s));
    json_object_set_new(
        json, "episodes_omitted",
        rs_json_count(congestion->n_episodes - congestion->n_episodes_kept));
    json_object_set_new(json, "marked_between", marked_json(analysis, summary, id));
    json_object_set_new(json, "ce_answers", paired ? answers_json(s) : json_null());
    json_object_set_new(json, "ce_per_cnp",
                        paired ? share_json(marked, congestion->cnps_received)
                               : json_null());
    json_object_set_new(json, "cnps", cnps_json(analysis, id));
    json_object_set_new(json, "priorities", priorities_json(analysis, id));
    json_object_set_new(json, "cnp_bursts", bursts);
    json_object_set_new(json, "cnp_bursts_omitted", rs_json_count(bursts_omitted));
    return json;
}

/* ---- who sends CNPs ---- */

static json_t *
gaps_json(const rs_analysis *analysis, const roce_notifier *n)
{
    static const char *const names[ROCE_N_PACING_GAPS] = {
        [ROCE_GAP_SAME_QP] = "same_qp_ns",
        [ROCE_GAP_OTHER_QP] = "other_qp_of_pair_ns",
        [ROCE_GAP_OTHER_PAIR] = "other_pair_ns",
    };
    json_t *json = json_object();
    for (guint i = 0; i < ROCE_N_PACING_GAPS; i++) {
        json_object_set_new(json, names[i],
                            rs_json_dist(&n->gaps[i], analysis->resolution_ns));
    }
    return json;
}

static json_t *
scopes_json(const roce_pacing *pacing)
{
    json_t *json = json_array();
    for (guint i = 0; pacing->known && i < ROCE_N_PACING_SCOPES; i++) {
        if ((pacing->scopes & 1u << i) != 0) {
            json_array_append_new(
                json, json_string(roce_pacing_scope_name((roce_pacing_scope)i)));
        }
    }
    return json;
}

static json_t *
notifier_json(const rs_analysis *analysis, const roce_notifier *n)
{
    g_autofree char *addr = rs_format_addr(&n->addr);
    const roce_pacing *pacing = &n->pacing;
    json_t *json = json_object();
    json_object_set_new(json, "point", rs_json_count(n->point));
    json_object_set_new(json, "src", json_string(addr));
    json_object_set_new(json, "src_host",
                        rs_json_host(rs_hosts_find(analysis->told->hosts, &n->addr)));
    json_object_set_new(json, "cnps", rs_json_count(n->cnps));
    json_object_set_new(json, "interval_ns",
                        rs_json_known(pacing->interval_ns, pacing->known));
    json_object_set_new(
        json, "scope",
        json_string(roce_pacing_scope_name(roce_pacing_scope_of(pacing))));
    json_object_set_new(json, "possible_scopes", scopes_json(pacing));
    json_object_set_new(json, "gaps", gaps_json(analysis, n));
    json_object_set_new(json, "marks_held_back", rs_json_count(n->marks_held_back));
    json_object_set_new(json, "marks_later", rs_json_count(n->marks_later));
    return json;
}

json_t *
rs_json_congestion(const rs_analysis *analysis)
{
    json_t *notifiers = json_array();
    for (guint32 i = 0; i < roce_tracker_n_notifiers(analysis->tracker); i++) {
        json_array_append_new(
            notifiers,
            notifier_json(analysis, roce_tracker_notifier(analysis->tracker, i)));
    }
    json_t *json = json_object();
    json_object_set_new(json, "notifiers", notifiers);
    json_object_set_new(json, "rates_not_followed",
                        rs_json_count(rs_reactions_not_followed(
                            rs_congestion_reactions(analysis->watchers.congestion))));
    return json;
}
