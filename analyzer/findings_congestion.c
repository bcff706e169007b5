/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings about ECN marks and CNPs. */
#include "findings_parts.h"
#include "format.h"
#include "mark_places.h"
#include "thresholds.h"

#include "roce/hash.h"

#define ANSWER_WITHIN_NS 200000 /* see ROCE_LATENCY_CNP_DELAY */
#define PLACES_TOLD 3           /* in which packets were marked */

static const rs_congestion *
congestion_of(const rs_flow *flow)
{
    return flow->all->analysis->watchers.congestion;
}

/* A counter of a stream, summed over all points that saw it. */
static guint64
at_all_points(const rs_findings *all, const roce_stream *s,
              guint64 (*count)(const roce_stream *))
{
    const GArray *members = rs_summary_members_with(all->summary, s->id);
    guint64 sum = members == NULL ? count(s) : 0;
    for (guint i = 0; members != NULL && i < members->len; i++) {
        sum += count(roce_tracker_stream(all->analysis->tracker,
                                         g_array_index(members, guint32, i)));
    }
    return sum;
}

static guint64
count_ce(const roce_stream *s)
{
    return s->ecn.codepoint[ROCE_ECN_CE];
}

static guint64
count_cnps(const roce_stream *s)
{
    return roce_stream_congestion_of(s)->cnps_received;
}

/* ---- marks ---- */

static guint64
count_paired(const roce_stream *s)
{
    return roce_stream_is_paired(s) ? 1 : 0;
}

/* What came back, as far as it is known at any point. */
static void
append_cnps(GString *text, const rs_flow *flow)
{
    const roce_tracker *tracker = flow->all->analysis->tracker;
    guint64 unpaired = 0;
    guint64 cnps = 0;
    for (guint i = 0; i < flow->streams->len; i++) {
        const roce_stream *s = rs_flow_stream(flow, i);
        unpaired += at_all_points(flow->all, s, count_paired) > 0 ? 0 : 1;
        cnps += count_cnps(roce_tracker_stream(
            tracker, rs_finding_most_at(flow->all, s->id, count_cnps)));
    }
    g_autofree char *n = rs_finding_count(unpaired, "stream", "streams");
    if (unpaired == flow->streams->len && cnps == 0) {
        g_string_append_printf(text,
                               "Whether CNPs came in return is not known: what answers "
                               "%s is not.",
                               unpaired == 1 ? "the stream" : "these streams");
        return;
    }
    g_autofree char *seen = rs_format_count(cnps);
    g_string_append_printf(text, "CNPs seen in return: %s", seen);
    g_string_append_printf(text, unpaired > 0 ? ", those for %s not known." : ".", n);
}

static GArray *
mark_places_of(const rs_flow *flow)
{
    const rs_findings *all = flow->all;
    GArray *places = rs_mark_places_new();
    for (guint i = 0; i < flow->streams->len; i++) {
        guint32 id = rs_flow_stream(flow, i)->id;
        const GArray *members = rs_summary_members_with(all->summary, id);
        for (guint k = 0; members != NULL && k < members->len; k++) {
            rs_mark_places_add(places, all->analysis,
                               g_array_index(members, guint32, k));
        }
    }
    rs_mark_places_sort(places);
    return places;
}

/* Whether all marks, as far as is known of where they were made, are those of an incast that has
 * a finding of its own. */
static gboolean
are_of_incast(const rs_flow *flow, const GArray *places)
{
    for (guint i = 0; i < flow->streams->len; i++) {
        const roce_stream *s = rs_flow_stream(flow, i);
        if (count_ce(s) > 0 && !rs_incast_tells_of_marks(flow->all, s)) {
            return FALSE;
        }
    }
    return places->len <= 1;
}

/* "The queue was between a and b (20 packets)", and what to do then. */
static void
append_mark_places(GString *text, const rs_flow *flow, const GArray *places,
                   rs_finding *f)
{
    for (guint i = 0; i < MIN(places->len, PLACES_TOLD); i++) {
        const rs_mark_place *one = &g_array_index(places, rs_mark_place, i);
        g_autofree char *from = rs_place_name(flow->all->analysis, one->from);
        g_autofree char *to = rs_place_name(flow->all->analysis, one->to);
        g_autofree char *n = rs_finding_packets(one->packets);
        g_string_append_printf(text, "%s between %s and %s (%s)",
                               i == 0 ? "Marked" : ",", from, to, n);
    }
    if (places->len > 0) {
        g_string_append(text, places->len > PLACES_TOLD ? ", and elsewhere.  " : ".  ");
        f->advice = g_strdup(
            "Look at the queue that marks, between these two points: incast, if it is "
            "the one in front of the receiver; else what else takes that link, and how "
            "flows are spread over those beside it.");
    }
}

static gboolean
write_ce(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *n = rs_finding_packets(flow->n);
    g_autofree char *who = rs_flow_ends(flow);
    g_autofree char *share = rs_format_share(flow->n, flow->data);
    f->severity = flow->n * 100 >= flow->data * RS_WARNING_CE_PERCENT
                      ? RS_SEVERITY_WARNING
                      : RS_SEVERITY_NOTE;
    f->title = g_strdup_printf("%s from %s marked CE (%s of the data)", n, who, share);
    g_autofree char *episodes =
        rs_finding_count(flow->sum.ecn.ce_episodes, "episode", "episodes");
    GString *text = g_string_new(NULL);
    g_string_append_printf(
        text,
        "Some queue on the way to this point was above its marking threshold, in %s.  ",
        episodes);
    g_autoptr(GArray) places = mark_places_of(flow);
    append_mark_places(text, flow, places, f);
    append_cnps(text, flow);
    if (are_of_incast(flow, places)) {
        g_autofree char *dst = rs_findings_label(flow->all, &flow->dst);
        g_string_append_printf(text,
                               "  They came with the incast to %s, of which "
                               "another finding tells.",
                               dst);
        f->severity = RS_SEVERITY_NOTE;
    }
    f->detail = g_string_free(text, FALSE);
    f->more_frames = flow->n > flow->sum.ecn.ce_episodes;
    return TRUE;
}

static guint64
measure_not_ect(const roce_stream *s)
{
    if (s->dst_qpn == ROCE_GSI_QPN) {
        return 0; /* connection management is no data */
    }
    const guint64 *n = s->ecn.codepoint;
    guint64 capable = n[1] + n[2] + n[3];
    return n[ROCE_ECN_NOT_ECT] > capable ? n[ROCE_ECN_NOT_ECT] : 0;
}

static gboolean
write_not_ect(const rs_flow *flow, rs_finding *f)
{
    g_autofree char *who = rs_flow_ends(flow);
    f->severity = flow->congested ? RS_SEVERITY_WARNING : RS_SEVERITY_NOTE;
    f->title = g_strdup_printf("Data from %s is not ECN-capable", who);
    g_autofree char *n =
        rs_finding_count(flow->n, "data packet is", "data packets are");
    const char *them = flow->n == 1 ? "it" : "them";
    f->detail = g_strdup_printf(
        "%s Not-ECT: switches cannot mark %s, and drop %s or pause for %s instead.%s",
        n, them, them, them,
        flow->congested ? "  Between these hosts packets were lost or late, or there "
                          "was congestion."
                        : "");
    for (guint i = 0; i < flow->streams->len; i++) {
        const rs_stream_congestion *known =
            rs_congestion_of(congestion_of(flow), rs_flow_stream(flow, i)->id);
        rs_finding_add_frames(f, &known->not_ect_frame, 1,
                              rs_flow_stream(flow, i)->ecn.codepoint[ROCE_ECN_NOT_ECT]);
    }
    return TRUE;
}

/* ---- marks without CNPs ---- */

#define N_PRIORITIES 8
#define ALL_PRIORITIES N_PRIORITIES /* those of a receiver together */

/* Marked data that one receiver got, in all or in one priority, and is not known to have sent
 * a CNP about: notification points are on and off by priority. */
typedef struct silent {
    rs_tenant_addr host;
    guint priority;  /* or ALL_PRIORITIES */
    GArray *streams; /* guint32: whose marks waited in vain */
    GHashTable *senders;
    guint64 marks;
    gboolean spoke;         /* it did send some, or a switch about its data */
    gboolean in_the_middle; /* some of them were seen inside the network */
} silent;

static void
free_silent(gpointer data)
{
    silent *one = data;
    g_array_unref(one->streams);
    g_hash_table_unref(one->senders);
    g_free(one);
}

/* Whether a CNP about this stream would have been seen: the other direction went on here
 * long enough, and nobody filtered. */
static gboolean
would_see_cnps(const rs_analysis *a, const roce_stream *s)
{
    const roce_stream_congestion *congestion = roce_stream_congestion_of(s);
    if (s->peer == ROCE_NO_STREAM || s->partial_path ||
        congestion->n_episodes_kept == 0 || a->options->filter != NULL) {
        return FALSE;
    }
    const roce_stream *peer = roce_tracker_stream(a->tracker, s->peer);
    const roce_ce_episode *last =
        &congestion->episodes[congestion->n_episodes_kept - 1];
    return !peer->partial_path &&
           peer->last_time_ns > last->start_ns + ANSWER_WITHIN_NS;
}

/* What a finding about it is about. */
static char *
silent_name(const roce_addr *receiver, guint priority)
{
    g_autofree char *name = rs_format_addr(receiver);
    return priority == ALL_PRIORITIES ? g_steal_pointer(&name)
                                      : g_strdup_printf("%s:%u", name, priority);
}

/* Receivers are told apart by their networks, as well. */
static guint
silent_hash(gconstpointer data)
{
    const silent *one = data;
    return (guint)roce_hash_mix(rs_tenant_addr_hash(&one->host), one->priority);
}

static gboolean
silent_equal(gconstpointer a, gconstpointer b)
{
    const silent *x = a;
    const silent *y = b;
    return x->priority == y->priority && rs_tenant_addr_equal(&x->host, &y->host);
}

/* Of the receiver in this network. */
static silent *
silent_of(GHashTable *receivers, const rs_tenant_addr *receiver, guint priority)
{
    const silent key = {.host = *receiver, .priority = priority};
    silent *one = g_hash_table_lookup(receivers, &key);
    if (one == NULL) {
        one = g_memdup2(&key, sizeof key);
        one->streams = g_array_new(FALSE, FALSE, sizeof(guint32));
        one->senders = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_hash_table_add(receivers, one);
    }
    return one;
}

static void
add_silent(const rs_findings *all, silent *one, const roce_stream *standing,
           const roce_stream *s)
{
    gboolean notifies = one->priority == ALL_PRIORITIES &&
                        roce_tracker_notifier_of(all->analysis->tracker, s->id) != NULL;
    if (notifies || at_all_points(all, standing, count_cnps) > 0) {
        one->spoke = TRUE;
    } else if (would_see_cnps(all->analysis, s)) {
        g_hash_table_add(one->senders, rs_format_addr(&s->src));
        g_array_append_val(one->streams, s->id);
        one->marks += roce_stream_congestion_of(s)->ce_answers[ROCE_CE_UNANSWERED];
        one->in_the_middle |= s->vantage == ROCE_VANTAGE_MIDDLE;
    }
}

/* To its receiver, and to each priority of its data.  CNPs about data that nobody saw marked
 * show as well that a receiver sends some. */
static void
add_stream(const rs_findings *all, GHashTable *receivers, const roce_stream *standing,
           const roce_stream *s)
{
    const rs_stream_priorities *known =
        rs_priorities_stream(all->analysis->watchers.priorities, s->id);
    const rs_tenant_addr receiver = {.tenant = s->tenant, .addr = s->dst};
    gboolean marked = count_ce(s) > 0;
    if (marked) {
        add_silent(all, silent_of(receivers, &receiver, ALL_PRIORITIES), standing, s);
    } else if (at_all_points(all, standing, count_cnps) == 0) {
        return;
    }
    for (guint p = 0; known != NULL && p < N_PRIORITIES; p++) {
        if ((known->priorities & 1u << p) != 0) {
            add_silent(all, silent_of(receivers, &receiver, p), standing, s);
        }
    }
}

gboolean
rs_has_open_cnps(const roce_tracker *tracker, guint32 point, const rs_tenant_addr *host)
{
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        const roce_stream *s = roce_tracker_stream(tracker, id);
        const roce_stream_congestion *c = roce_stream_congestion_of(s);
        if ((point == RS_ANY_POINT || s->point == point) && !roce_stream_is_paired(s) &&
            c->cnps_sent > c->cnps_attributed &&
            roce_tenant_equal(&s->tenant, &host->tenant) &&
            roce_addr_equal(&s->src, &host->addr)) {
            return TRUE;
        }
    }
    return FALSE;
}

/* Whether it is to be told of: a priority, only if the receiver is not silent in all. */
static gboolean
is_silent(const rs_findings *all, GHashTable *receivers, const silent *one)
{
    return !one->spoke && one->marks >= RS_NO_CNP_MARKS &&
           (one->priority == ALL_PRIORITIES ||
            (silent_of(receivers, &one->host, ALL_PRIORITIES)->spoke &&
             !rs_has_open_cnps(all->analysis->tracker, RS_ANY_POINT, &one->host)));
}

static void
report_silent(rs_findings *all, const rs_finding_row *row, const silent *one)
{
    g_autofree char *name = silent_name(&one->host.addr, one->priority);
    rs_finding *f = rs_finding_add(
        all, row, one->in_the_middle ? RS_SEVERITY_NOTE : RS_SEVERITY_WARNING);
    rs_finding_about(f, name);
    rs_finding_in(f, &one->host.tenant);
    f->weight = one->marks;
    for (guint i = 0; i < one->streams->len; i++) {
        guint32 id = g_array_index(one->streams, guint32, i);
        const roce_stream *s = roce_tracker_stream(all->analysis->tracker, id);
        g_array_append_val(f->streams, id);
        rs_finding_add_frame(f, roce_stream_congestion_of(s)->episodes[0].first_frame);
    }
    g_autofree char *n = rs_finding_packets(one->marks);
    g_autofree char *host =
        rs_findings_label_in(all, &one->host.tenant, &one->host.addr);
    g_autofree char *senders =
        rs_finding_count(g_hash_table_size(one->senders), "sender", "senders");
    gboolean everywhere = one->priority == ALL_PRIORITIES;
    g_autofree char *about = everywhere
                                 ? g_strdup("")
                                 : g_strdup_printf(" about priority %u", one->priority);
    rs_finding_say(
        f,
        g_strdup_printf("%s sends no CNPs%s: %s from %s marked in vain", host, about, n,
                        senders),
        g_strdup_printf(
            "They came here marked CE, the other direction was captured for at least "
            "200 µs behind them, and %s sent no CNP %s.%s",
            host,
            everywhere ? "to anybody" : "about them, as it does in other priorities",
            one->in_the_middle ? "  This point is inside the network: CNPs that take "
                                 "another way than ACKs are not seen here."
                               : ""));
}

void
rs_find_ce_without_cnp(rs_findings *all, const rs_finding_row *row)
{
    g_autoptr(GHashTable) receivers =
        g_hash_table_new_full(silent_hash, silent_equal, free_silent, NULL);
    const roce_tracker *tracker = all->analysis->tracker;
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker); id++) {
        if (!rs_summary_stands(all->summary, id)) {
            continue;
        }
        guint32 most = rs_finding_most_at(all, id, count_ce);
        add_stream(all, receivers, roce_tracker_stream(tracker, id),
                   roce_tracker_stream(tracker, most));
    }
    GHashTableIter iter;
    gpointer one;
    g_hash_table_iter_init(&iter, receivers);
    while (g_hash_table_iter_next(&iter, &one, NULL)) {
        if (is_silent(all, receivers, one)) {
            report_silent(all, row, one);
        }
    }
}

/* ---- CNPs ---- */

/* Other queue pairs between the same hosts may be marked as well: of them `ce` tells. */
static char *
marks_detail(const rs_flow *flow, guint64 marks)
{
    g_autofree char *n = rs_format_count(marks);
    g_autofree char *queue_pairs =
        flow->streams->len == 1
            ? g_strdup("queue pair")
            : rs_finding_count(flow->streams->len, "queue pair", "queue pairs");
    return g_strdup_printf("CE marks seen here on data of the %s that %s about: %s.",
                           queue_pairs, flow->n == 1 ? "it is" : "they are", n);
}

static gboolean
write_cnps(const rs_flow *flow, rs_finding *f)
{
    const roce_tracker *tracker = flow->all->analysis->tracker;
    guint64 marks = 0;
    for (guint i = 0; i < flow->streams->len; i++) {
        guint32 most =
            rs_finding_most_at(flow->all, rs_flow_stream(flow, i)->id, count_ce);
        marks += count_ce(roce_tracker_stream(tracker, most));
    }
    if (marks == 0) {
        return FALSE; /* cnp_without_ce */
    }
    g_autofree char *who = rs_flow_ends(flow);
    g_autofree char *n = rs_finding_count(flow->n, "CNP", "CNPs");
    f->severity = RS_SEVERITY_NOTE;
    f->title = g_strdup_printf("%s sent in return for data from %s", n, who);
    f->detail = marks_detail(flow, marks);
    return TRUE;
}

/* CNPs about data that came here unmarked, by what the evidence allows. */
typedef struct causes {
    guint64 by_switch, with_nak, marked_behind, undecided;
} causes;

/* Whether what is ECT here can be marked later on, on its way to the receiver. */
static gboolean
may_be_marked_behind(const roce_stream *s)
{
    gboolean capable = s->ecn.codepoint[1] + s->ecn.codepoint[2] > 0;
    return capable &&
           (s->vantage == ROCE_VANTAGE_REQUESTER || s->vantage == ROCE_VANTAGE_MIDDLE);
}

static causes
causes_of(const rs_flow *flow)
{
    causes sum = {0};
    for (guint i = 0; i < flow->streams->len; i++) {
        const roce_stream *s = rs_flow_stream(flow, i);
        rs_cnp_counts receivers;
        rs_cnp_counts others;
        (void)rs_congestion_cnps(congestion_of(flow), s->id, &receivers, &others);
        sum.by_switch += others.alone + others.answering;
        sum.with_nak += receivers.with_nak;
        if (may_be_marked_behind(s)) {
            sum.marked_behind += receivers.alone;
        } else {
            sum.undecided += receivers.alone;
        }
    }
    return sum;
}

static void
add_cause(GString *text, guint64 n, const char *one, const char *many)
{
    if (n > 0) {
        g_autofree char *count = rs_finding_count(n, one, many);
        g_string_append_printf(text, "%s%s", text->len > 0 ? "; " : "", count);
    }
}

static gboolean
write_cnp_without_ce(const rs_flow *flow, rs_finding *f)
{
    for (guint i = 0; i < flow->streams->len; i++) {
        if (at_all_points(flow->all, rs_flow_stream(flow, i), count_ce) > 0) {
            return FALSE;
        }
    }
    const causes why = causes_of(flow);
    g_autofree char *who = rs_flow_ends(flow);
    g_autofree char *n = rs_finding_count(flow->n, "CNP", "CNPs");
    GString *text = g_string_new(NULL);
    add_cause(text, why.by_switch,
              "did not come from the receiver: a switch that marks sent it",
              "did not come from the receiver: a switch that marks sent them");
    add_cause(
        text, why.with_nak,
        "stands next to a NAK of the receiver, which some NICs send together with "
        "a CNP",
        "stand next to a NAK of the receiver, which some NICs send together with a "
        "CNP");
    add_cause(text, why.marked_behind,
              "can only be for a mark made behind this point, where the data went on "
              "ECN-capable",
              "can only be for marks made behind this point, where the data went on "
              "ECN-capable");
    add_cause(
        text, why.undecided,
        "is undecidable from here: the mark was made behind this point, or the "
        "receiver had another reason",
        "are undecidable from here: the marks were made behind this point, or the "
        "receiver had another reason");
    g_string_append_c(text, '.');
    f->severity = RS_SEVERITY_NOTE;
    f->title = g_strdup_printf("%s about data from %s that has no mark here", n, who);
    f->detail = g_string_free(text, FALSE);
    return TRUE;
}

/* ---- classes ---- */

/* Whether no bit of `cnps` is above all of `data`. */
static gboolean
is_no_higher(guint8 cnps, guint8 data)
{
    return cnps != 0 && data != 0 && g_bit_nth_msf(cnps, -1) <= g_bit_nth_msf(data, -1);
}

/* Whether the way of these CNPs is congested itself: marks on it, or pauses that held up
 * what carries them. */
static gboolean
is_held_up(const rs_flow *flow, const roce_stream *s, guint8 cnps)
{
    const rs_analysis *analysis = flow->all->analysis;
    const roce_stream *peer = roce_tracker_stream(analysis->tracker, s->peer);
    return roce_stream_control_of(peer)->ecn[ROCE_ECN_CE] + count_ce(peer) > 0 ||
           (rs_pausing_held(analysis->watchers.pausing, peer->id) & cnps) != 0;
}

/* Of ACKs and NAKs. */
static guint8
answer_priorities(const rs_flow *flow, const roce_stream *s)
{
    const rs_congestion *known = congestion_of(flow);
    return rs_congestion_priorities(known, s->id, RS_CLASS_ACKS) |
           rs_congestion_priorities(known, s->id, RS_CLASS_NAKS);
}

static gboolean
write_cnp_class(const rs_flow *flow, rs_finding *f)
{
    guint8 cnps = 0;
    guint8 data = 0;
    guint8 answers = 0;
    guint64 n = 0;
    gboolean held_up = FALSE;
    for (guint i = 0; i < flow->streams->len; i++) {
        const roce_stream *s = rs_flow_stream(flow, i);
        guint8 theirs =
            rs_congestion_priorities(congestion_of(flow), s->id, RS_CLASS_CNPS);
        guint8 own =
            rs_congestion_priorities(congestion_of(flow), s->id, RS_CLASS_DATA);
        if (s->peer != ROCE_NO_STREAM && is_no_higher(theirs, own)) {
            cnps |= theirs;
            data |= own;
            answers |= answer_priorities(flow, s);
            n += roce_stream_congestion_of(s)->cnps_received;
            held_up |= is_held_up(flow, s, theirs);
        }
    }
    if (n == 0) {
        return FALSE;
    }
    g_autofree char *who = rs_flow_ends(flow);
    g_autofree char *count = rs_finding_count(n, "CNP", "CNPs");
    g_autofree char *cnp_names = rs_format_priorities(cnps);
    g_autofree char *data_names = rs_format_priorities(data);
    f->severity = held_up ? RS_SEVERITY_WARNING : RS_SEVERITY_NOTE;
    f->title =
        g_strdup_printf("%s about data from %s %s in no higher priority than the data",
                        count, who, n == 1 ? "travels" : "travel");
    g_autofree char *answer_names = rs_format_priorities(answers);
    f->detail = g_strdup_printf(
        "CNPs in priority %s, data in priority %s; its ACKs and NAKs in %s.%s",
        cnp_names, data_names, answers != 0 ? answer_names : "none seen",
        held_up ? "  Marks or pauses show that they have to wait on their own way."
                : "");
    return TRUE;
}

const rs_flow_row rs_flow_ce = {count_ce, write_ce, {KIND(CE_EPISODE)}};
const rs_flow_row rs_flow_not_ect = {measure_not_ect, write_not_ect, {0}};
const rs_flow_row rs_flow_cnp_class = {count_cnps, write_cnp_class, {KIND(CNP)}};
const rs_flow_row rs_flow_cnp = {count_cnps, write_cnps, {KIND(CNP)}};
const rs_flow_row rs_flow_cnp_without_ce = {
    count_cnps, write_cnp_without_ce, {KIND(CNP)}};
