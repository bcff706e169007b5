/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CNPs that did not come from one point to the next.
 *
 * Nothing numbers CNPs and nobody asks for one again, so that they are counted: how many came
 * by at the point that is nearer to the receiver, which sends them, and how many at the one
 * behind it.  That is a loss where the second point is known to have captured all that it
 * should have: everything else that answers the data, and the data itself, as much of it as
 * the first has.
 */
#include "findings_parts.h"
#include "format.h"
#include "further.h"
#include "thresholds.h"
#include "twins.h"

static guint64
count_cnps(const roce_stream *s)
{
    return roce_stream_congestion_of(s)->cnps_received;
}

/* The stream that answers one, and carries the CNPs about it. */
static const roce_stream *
carrier_of(const roce_tracker *tracker, const roce_stream *s)
{
    return s->peer != ROCE_NO_STREAM ? roce_tracker_stream(tracker, s->peer) : NULL;
}

static guint64
carried_by(const roce_stream *carrier)
{
    return roce_stream_congestion_of(carrier)->cnps_sent;
}

/* What a point carried, with those that it was joined with. */
typedef struct carried {
    guint64 cnps, others;
} carried;

static guint32
point_group(const rs_findings *all, const roce_stream *s)
{
    return rs_analysis_point(all->analysis, s->point)->survey.group;
}

/* What answers a stream: carried, by group of points.  Points may be found to belong
 * together when packets have come by: what came before that is known by the point that saw it. */
static GHashTable *
carried_by_groups(const rs_findings *all, const roce_stream *carrier)
{
    const GArray *members = rs_summary_members_with(all->summary, carrier->id);
    GHashTable *sums = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    for (guint i = 0; i < (members != NULL ? members->len : 1); i++) {
        const roce_stream *s =
            members != NULL ? roce_tracker_stream(all->analysis->tracker,
                                                  g_array_index(members, guint32, i))
                            : carrier;
        gpointer key = GUINT_TO_POINTER(point_group(all, s));
        carried *sum = g_hash_table_lookup(sums, key);
        if (sum == NULL) {
            sum = g_new0(carried, 1);
            g_hash_table_insert(sums, key, sum);
        }
        sum->cnps += carried_by(s);
        sum->others += s->packets - carried_by(s);
    }
    return sums;
}

static carried
carried_in(const rs_findings *all, GHashTable *sums, const roce_stream *carrier)
{
    const carried *sum =
        g_hash_table_lookup(sums, GUINT_TO_POINTER(point_group(all, carrier)));
    return sum != NULL ? *sum
                       : (carried){.cnps = carried_by(carrier),
                                   .others = carrier->packets - carried_by(carrier)};
}

static carried
carried_at(const rs_findings *all, const roce_stream *carrier)
{
    g_autoptr(GHashTable) sums = carried_by_groups(all, carrier);
    return carried_in(all, sums, carrier);
}

/* The CNPs about a stream. */
static guint64
cnps_about(const rs_findings *all, const roce_stream *s)
{
    const roce_stream *carrier = carrier_of(all->analysis->tracker, s);
    return carrier != NULL ? carried_at(all, carrier).cnps : 0;
}

/* Whether the point of a stream could capture CNPs to a host: the NIC of that may take them in
 * before they are captured, but not where it shows some. */
static gboolean
shows_cnps(const roce_tracker *tracker, const roce_stream *s)
{
    gboolean any = FALSE;
    gboolean others = FALSE;
    for (guint32 id = 0; id < roce_tracker_n_streams(tracker) && !any; id++) {
        const roce_stream *t = roce_tracker_stream(tracker, id);
        gboolean same = roce_tenant_equal(&t->tenant, &s->tenant);
        gboolean to_it = same && roce_addr_equal(&t->dst, &s->src);
        if (t->point == s->point) {
            any = to_it && carried_by(t) > 0;
            others |= !to_it && !(same && roce_addr_equal(&t->src, &s->src));
        }
    }
    return any || s->vantage == ROCE_VANTAGE_MIDDLE ||
           (s->vantage == ROCE_VANTAGE_UNKNOWN && others);
}

/* Whether a point captured all of a stream and of its answers that came by. */
static gboolean
captured_all(const rs_findings *all, const roce_stream *s, const roce_stream *carrier)
{
    const rs_point *point = rs_analysis_point(all->analysis, s->point);
    const rs_tenant_addr receiver = {.tenant = s->tenant, .addr = s->dst};
    return !s->partial_path && !carrier->partial_path &&
           rs_verdicts_of(s, ROCE_VERDICT_NOT_CAPTURED) == 0 &&
           rs_verdicts_of(carrier, ROCE_VERDICT_NOT_CAPTURED) == 0 &&
           !(point->dropped_known && point->dropped > 0) &&
           !rs_has_open_cnps(all->analysis->tracker, s->point, &receiver);
}

/* Whether all data that came by at a point is known to have come by at another one as well: had
 * that one begun later or ended earlier, some would not. */
static gboolean
saw_all_data(const rs_findings *all, const roce_stream *s)
{
    const rs_twins *twins = all->analysis->twins;
    return twins != NULL && rs_twins_complete(twins) &&
           rs_twins_only_here(twins, s->id) == 0;
}

/* A stream at a point, and what answers it there. */
typedef struct visit {
    const roce_stream *data, *carrier;
    carried sum;
} visit;

/* The CNPs about a stream that came by at its point and not at the next one on their way. */
static guint64
lost_between(const rs_findings *all, const visit *here, const visit *there)
{
    const roce_stream *s = here->data;
    const roce_stream *next = there->data;
    if (next->point == s->point ||
        here->sum.cnps < there->sum.cnps + RS_CNP_LOST_LEAST ||
        rs_further(next, s) >= 0) {
        return 0;
    }
    gboolean sure = there->sum.others >= here->sum.others && here->sum.others > 0 &&
                    rs_summary_n_psns(next) >= rs_summary_n_psns(s) &&
                    saw_all_data(all, s) && captured_all(all, next, there->carrier) &&
                    shows_cnps(all->analysis->tracker, next);
    return sure ? here->sum.cnps - there->sum.cnps : 0;
}

/* Where a stream was seen, and what answers it; visit, g_array_unref().  None where all points
 * carried as many CNPs: then none was lost between them. */
static GArray *
visits_of(const rs_findings *all, const GArray *members)
{
    const roce_tracker *tracker = all->analysis->tracker;
    GArray *visits = g_array_new(FALSE, FALSE, sizeof(visit));
    g_autoptr(GHashTable) sums = NULL;
    guint64 least = G_MAXUINT64;
    guint64 most = 0;
    for (guint i = 0; members != NULL && i < members->len; i++) {
        visit v = {
            .data = roce_tracker_stream(tracker, g_array_index(members, guint32, i))};
        v.carrier = carrier_of(tracker, v.data);
        if (v.carrier == NULL) {
            continue;
        }
        sums = sums != NULL ? sums : carried_by_groups(all, v.carrier);
        v.sum = carried_in(all, sums, v.carrier);
        least = MIN(least, v.sum.cnps);
        most = MAX(most, v.sum.cnps);
        g_array_append_val(visits, v);
    }
    if (visits->len > 0 && most < least + RS_CNP_LOST_LEAST) {
        g_array_set_size(visits, 0);
    }
    return visits;
}

/* Where most of the CNPs about a stream were lost. */
typedef struct cnp_place {
    const roce_stream *from, *to; /* the data stream there */
    guint64 lost;
} cnp_place;

/* From which point they did not come to `to`: the one with the fewest of those in front of it,
 * and of such the nearest. */
static cnp_place
place_before(const rs_findings *all, const GArray *visits, const visit *to)
{
    cnp_place place = {.to = to->data};
    for (guint i = 0; i < visits->len; i++) {
        const visit *from = &g_array_index(visits, visit, i);
        guint64 lost = lost_between(all, from, to);
        gboolean is_nearer =
            lost == place.lost && lost > 0 && rs_further(from->data, place.from) < 0;
        if (lost > 0 && (place.from == NULL || lost < place.lost || is_nearer)) {
            place.from = from->data;
            place.lost = lost;
        }
    }
    return place;
}

static cnp_place
worst_place(const rs_findings *all, const roce_stream *s)
{
    guint32 group = rs_summary_group(all->summary, s->id);
    g_autoptr(GArray) visits = visits_of(all, rs_summary_members(all->summary, group));
    cnp_place worst = {0};
    for (guint i = 0; i < visits->len; i++) {
        const cnp_place place =
            place_before(all, visits, &g_array_index(visits, visit, i));
        worst = place.lost > worst.lost ? place : worst;
    }
    return worst;
}

gboolean
rs_cnps_are_lost(const rs_findings *all, const roce_stream *stream)
{
    return worst_place(all, stream).lost > 0;
}

/* Of all streams between two hosts. */
typedef struct cnp_losses {
    cnp_place worst;
    guint64 lost, of;           /* at that place, and of how many */
    guint8 cnps, data, answers; /* priorities */
} cnp_losses;

static void
add_place(const rs_flow *flow, cnp_losses *sum, const cnp_place *place)
{
    const rs_congestion *congestion = flow->all->analysis->watchers.congestion;
    guint32 id = place->from->id;
    sum->lost += place->lost;
    sum->of += cnps_about(flow->all, place->from);
    sum->cnps |= rs_congestion_priorities(congestion, id, RS_CLASS_CNPS);
    sum->data |= rs_congestion_priorities(congestion, id, RS_CLASS_DATA);
    sum->answers |= rs_congestion_priorities(congestion, id, RS_CLASS_ACKS) |
                    rs_congestion_priorities(congestion, id, RS_CLASS_NAKS);
}

/* What was lost in the place in which most was. */
static cnp_losses
losses_of(const rs_flow *flow)
{
    const guint n = flow->streams->len;
    g_autofree cnp_place *places = g_new(cnp_place, n);
    cnp_losses sum = {0};
    for (guint i = 0; i < n; i++) {
        places[i] = worst_place(flow->all, rs_flow_stream(flow, i));
        sum.worst = places[i].lost > sum.worst.lost ? places[i] : sum.worst;
    }
    for (guint i = 0; i < n; i++) {
        if (places[i].lost > 0 && places[i].from->point == sum.worst.from->point &&
            places[i].to->point == sum.worst.to->point) {
            add_place(flow, &sum, &places[i]);
        }
    }
    return sum;
}

/* "CNPs in priority 6, data in priority 3; its ACKs and NAKs in 3." */
static char *
priorities_of(const cnp_losses *sum)
{
    g_autofree char *cnps = rs_format_priorities(sum->cnps);
    g_autofree char *data = rs_format_priorities(sum->data);
    g_autofree char *answers = rs_format_priorities(sum->answers);
    return g_strdup_printf("CNPs in priority %s, data in priority %s%s%s.", cnps, data,
                           sum->answers != 0 ? "; its ACKs and NAKs in " : "",
                           sum->answers != 0 ? answers : "");
}

static gboolean
write_cnp_lost(const rs_flow *flow, rs_finding *f)
{
    const rs_analysis *a = flow->all->analysis;
    const cnp_losses sum = losses_of(flow);
    if (sum.lost == 0) {
        return FALSE;
    }
    g_autofree char *who = rs_flow_ends(flow);
    g_autofree char *src = rs_findings_label(flow->all, &flow->src);
    g_autofree char *lost = rs_format_count(sum.lost);
    g_autofree char *of = rs_format_count(sum.of);
    g_autofree char *from = rs_place_name(a, rs_stream_place(a, sum.worst.from->id));
    g_autofree char *to = rs_place_name(a, rs_stream_place(a, sum.worst.to->id));
    g_autofree char *priorities = priorities_of(&sum);
    gboolean all_of_them = sum.lost == sum.of;
    gboolean much = sum.lost * 100 >= sum.of * RS_CNP_LOST_PERCENT;
    f->severity = much ? RS_SEVERITY_WARNING : RS_SEVERITY_NOTE;
    f->weight = sum.lost;
    f->title =
        all_of_them
            ? g_strdup_printf("All %s CNPs about data from %s were lost between "
                              "%s and %s",
                              of, who, from, to)
            : g_strdup_printf("%s of %s CNPs about data from %s were lost between "
                              "%s and %s",
                              lost, of, who, from, to);
    f->detail = g_strdup_printf(
        "Seen at the first of two points and not at the second, where the data and all "
        "else that answers it came by.  %s is not told of %s congestion, and does not "
        "slow down for it.  %s",
        src, all_of_them ? "the" : "that part of the", priorities);
    return TRUE;
}

const rs_flow_row rs_flow_cnp_lost = {count_cnps, write_cnp_lost, {KIND(CNP)}};
