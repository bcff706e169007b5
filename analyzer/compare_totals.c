/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare_totals.h"

#include "sorting.h"

#include <string.h>

#define OF_THESE 10 /* of so many one may be wrong */

static guint
n_points(const rs_compare *compare)
{
    return compare->points->len;
}

/* Whether packets of the flow were seen here that others saw as well. */
static gboolean
passes(const rs_flow *flow, guint point)
{
    return flow->point[point].shared > 0;
}

/* The first point behind one that the flow passes; n_points(): it leaves the path. */
static guint
next_passed(const rs_compare *compare, const rs_flow *flow, guint point)
{
    guint n = n_points(compare);
    for (guint i = 1; i < n; i++) {
        guint next = flow->way == RS_WAY_FORWARD ? point + i : point - i;
        if (next >= n) { /* or below 0 */
            return n;
        }
        if (passes(flow, next)) {
            return next;
        }
    }
    return n;
}

/* Whether a point's capture is known to have missed packets that went by. */
static gboolean
misses_packets(const rs_compare *compare, guint point)
{
    return compare->missed[point] > 0 ||
           rs_compare_point_at(compare, point)->dropped > 0;
}

/* The point that the flow comes to this one from; n_points(): it enters the path here. */
static guint
passed_before(const rs_compare *compare, const rs_flow *flow, guint point)
{
    for (guint i = 0; i < n_points(compare); i++) {
        if (passes(flow, i) && next_passed(compare, flow, i) == point) {
            return i;
        }
    }
    return n_points(compare);
}

/* Whether a copy that was seen before a point and not there was lost in front of it for
 * certain.  Of a go-back, what is behind the packet that was asked for is sent again if it
 * came or not; and what was asked for may have come by and been lost behind the point. */
static gboolean
is_lost(const rs_compare *compare, guint point, rs_way way, rs_loss_state state)
{
    return !misses_packets(compare, point) ||
           (rs_loss_is_certain(state) && compare->hardly_hides[point][way]) ||
           (state == RS_LOSS_RESENT && compare->hardly_misses[point][way]);
}

/* What was seen at `from`, or last before it, and not at `to`. */
static void
add_lost(const rs_compare *compare, const rs_flow_leg *leg, rs_compare_segment *part)
{
    for (rs_loss_state state = 0; state < RS_N_LOSS_STATES; state++) {
        guint64 n = leg->ended.n[state];
        if (state == RS_LOSS_CAME) {
            part->missed_to += n;
        } else if (is_lost(compare, part->to, part->way, state)) {
            part->lost += n;
            part->lost_resent += rs_loss_was_resent(state) ? n : 0;
        } else {
            part->undecidable += n;
        }
    }
    part->ambiguous += leg->ended.ambiguous;
    part->outside += leg->outside[0] + leg->outside[1];
    part->slipped += leg->undecided[0] + leg->undecided[1];
}

static void
add_more(const rs_compare *compare, const rs_flow *flow, guint from,
         const rs_flow_leg *leg, rs_compare_segment *part)
{
    gboolean sure = flow->data.numbered || !misses_packets(compare, from);
    part->duplicated += sure ? leg->extra : 0;
    part->duplicated_or_missed += leg->extra_equal + (sure ? 0 : leg->extra);
    part->missed_from += from == part->from ? leg->appeared + leg->over : 0;
    part->missed_to += flow->point[part->to].passed_over;
}

void
rs_compare_flow_segment(const rs_compare *compare, const rs_flow *flow,
                        const rs_compare_segment *where, rs_compare_segment *part)
{
    *part = (rs_compare_segment){
        .from = where->from, .to = where->to, .way = where->way, .low = where->low};
    if (!flow->way_known || flow->way != where->way || !passes(flow, where->to)) {
        return;
    }
    const rs_flow_segment *n = &flow->segment[where->low];
    part->matched = n->matched;
    part->known = n->matched > 0;
    part->weak = n->weak;
    part->reordered = n->reordered;
    guint from = passed_before(compare, flow, where->to);
    if (from < n_points(compare)) {
        const rs_flow_leg *leg = rs_flow_leg_of(flow, from, where->to);
        add_lost(compare, leg, part);
        add_more(compare, flow, from, leg, part);
        part->marked = leg->marked;
        part->ecn_other = leg->ecn_other;
        part->rewritten = leg->rewritten;
        part->corrupted = leg->corrupted;
        part->hops_rose = from == where->from ? leg->hops_rose : 0;
        part->loss_known = part->known || from != where->from;
        part->lost_round = from != where->from ? part->lost : 0;
    }
}

static void
add_part(rs_compare_segment *sum, const rs_compare_segment *part)
{
    sum->matched += part->matched;
    sum->known |= part->known;
    sum->loss_known |= part->loss_known;
    sum->weak += part->weak;
    sum->lost += part->lost;
    sum->lost_resent += part->lost_resent;
    sum->lost_round += part->lost_round;
    sum->undecidable += part->undecidable;
    sum->ambiguous += part->ambiguous;
    sum->marked += part->marked;
    sum->ecn_other += part->ecn_other;
    sum->rewritten += part->rewritten;
    sum->corrupted += part->corrupted;
    sum->hops_rose += part->hops_rose;
    sum->reordered += part->reordered;
    sum->duplicated += part->duplicated;
    sum->duplicated_or_missed += part->duplicated_or_missed;
    sum->missed_from += part->missed_from;
    sum->missed_to += part->missed_to;
    sum->outside += part->outside;
    sum->slipped += part->slipped;
}

/* What all captures are known to have missed. */
static void
find_misses(rs_compare *compare)
{
    for (guint i = 0; i < compare->path->flows->len; i++) {
        const rs_flow *flow = g_ptr_array_index(compare->path->flows, i);
        for (guint p = 0; p < n_points(compare); p++) {
            const rs_flow_point *n = &flow->point[p];
            if (!passes(flow, p)) {
                continue;
            }
            compare->missed[p] += n->passed_over;
            guint next = next_passed(compare, flow, p);
            if (next < n_points(compare)) {
                const rs_flow_leg *leg = rs_flow_leg_of(flow, p, next);
                compare->missed[next] += leg->ended.n[RS_LOSS_CAME];
                compare->missed[p] += leg->appeared;
            }
        }
    }
}

/* What tells how much of what was sent again, or asked for, a capture may have missed. */
typedef struct rs_again {
    gdouble came, came_missed;     /* of all that certainly came to the point */
    gdouble shared, shared_missed; /* and of what was seen behind it */
    struct {
        gdouble resent, resent_unseen; /* copies that were sent again, for any reason */
        gdouble asked, asked_unseen;   /* copies that their receiver has not got */
    } of[RS_N_WAYS];
} rs_again;

static void
add_again(const rs_compare *compare, const rs_flow *flow, guint point, rs_again *sum)
{
    guint from = passed_before(compare, flow, point);
    if (!passes(flow, point) || from == n_points(compare)) {
        return;
    }
    const guint64 *n = rs_flow_leg_of(flow, from, point)->ended.n;
    sum->came += (gdouble)flow->point[from].came;
    sum->came_missed += (gdouble)n[RS_LOSS_CAME];
    sum->shared += (gdouble)flow->point[point].shared;
    sum->shared_missed += (gdouble)flow->point[point].passed_over;
    gdouble asked_unseen = (gdouble)(n[RS_LOSS_ASKED] + n[RS_LOSS_MENDED]);
    sum->of[flow->way].resent += (gdouble)flow->point[from].resent;
    sum->of[flow->way].resent_unseen += (gdouble)n[RS_LOSS_RESENT] + asked_unseen;
    sum->of[flow->way].asked += (gdouble)flow->point[point].asked;
    sum->of[flow->way].asked_unseen += asked_unseen;
}

/* Whether a capture that misses packets as often as it is known to would have missed no more
 * than a tenth of those that were sent again and are not seen there; and of those that were
 * asked for, of which about as many were lost behind it as it has seen, and rather one more
 * where these are few. */
static void
find_hardly(rs_compare *compare, guint point)
{
    rs_again sum = {0};
    for (guint i = 0; i < compare->path->flows->len; i++) {
        add_again(compare, g_ptr_array_index(compare->path->flows, i), point, &sum);
    }
    const rs_compare_point *at = rs_compare_point_at(compare, point);
    gdouble dropped = (gdouble)at->dropped / MAX((gdouble)at->packets, 1);
    gdouble missed =
        sum.came_missed / MAX(sum.came, 1) + sum.shared_missed / MAX(sum.shared, 1);
    gdouble share = MIN(MAX(missed, dropped), 1);
    for (guint way = 0; way < RS_N_WAYS; way++) {
        gdouble asked = sum.of[way].asked + 1;
        compare->hardly_misses[point][way] =
            OF_THESE * share * sum.of[way].resent <= sum.of[way].resent_unseen;
        compare->hardly_hides[point][way] =
            OF_THESE * share * asked <= sum.of[way].asked_unseen * (1 - share);
    }
}

static void
turn_clock(rs_clock_fit *fit)
{
    fit->offset_ns = -fit->offset_ns;
    fit->drift_ppb = -fit->drift_ppb;
    for (guint i = 0; i < fit->n_steps; i++) {
        fit->steps[i].by_ns = -fit->steps[i].by_ns;
    }
}

/* Whether one clock stamps a point and the next one. */
static gboolean
has_one_clock(const rs_compare *compare, guint low)
{
    return compare->source_of[low] == compare->source_of[low + 1];
}

/* What stamps of a point leave open. */
static guint64
coarse_ns(const rs_compare *compare, guint point)
{
    return MAX(rs_compare_source_of(compare, point)->resolution_ns, 1) - 1;
}

static gboolean
has_stamps(const rs_compare *compare, guint point)
{
    return rs_compare_source_has_stamps(rs_compare_source_of(compare, point));
}

/* How the clock of the point behind `low` differs from that of `low`. */
static void
solve_clock(const rs_compare *compare, guint low, rs_clock_fit *fit)
{
    const rs_clock *clock = compare->path->clock[low];
    if (!has_stamps(compare, low) || !has_stamps(compare, low + 1)) {
        *fit = (rs_clock_fit){0};
    } else if (has_one_clock(compare, low)) {
        rs_clock_solve_same(clock, fit);
    } else {
        rs_clock_solve(clock, coarse_ns(compare, low) + coarse_ns(compare, low + 1),
                       fit);
    }
}

static void
add_clock(const rs_compare *compare, const rs_clock_fit *fit,
          rs_compare_segment *segment)
{
    gboolean forward = segment->way == RS_WAY_FORWARD;
    segment->one_clock = has_one_clock(compare, segment->low);
    segment->clock = *fit;
    if (fit->known) {
        rs_clock_variation(compare->path->clock[segment->low], fit,
                           forward ? RS_CLOCK_FORWARD : RS_CLOCK_BACKWARD,
                           &segment->variation);
    }
    if (!forward) {
        turn_clock(&segment->clock);
    }
}

static void
add_segment(rs_compare *compare, rs_way way, guint from, guint to,
            const rs_clock_fit *fit)
{
    rs_compare_segment sum = {.from = from, .to = to, .way = way, .low = MIN(from, to)};
    for (guint i = 0; i < compare->path->flows->len; i++) {
        rs_compare_segment part;
        rs_compare_flow_segment(compare, g_ptr_array_index(compare->path->flows, i),
                                &sum, &part);
        add_part(&sum, &part);
    }
    add_clock(compare, fit, &sum);
    g_array_append_val(compare->segments, sum);
}

static void
count_flows(rs_compare *compare)
{
    for (guint i = 0; i < compare->path->flows->len; i++) {
        const rs_flow *flow = g_ptr_array_index(compare->path->flows, i);
        gboolean shared = rs_flow_is_compared(flow, n_points(compare));
        *(shared ? &compare->compared_flows : &compare->alone_flows) += 1;
        for (guint p = 0; p < n_points(compare); p++) {
            *(shared ? &compare->compared_packets : &compare->alone_packets) +=
                flow->point[p].packets;
        }
    }
}

void
rs_compare_add_up(rs_compare *compare)
{
    guint n = n_points(compare);
    rs_clock_fit fits[RS_PATH_MAX_POINTS] = {0}; /* by the lower of two points */
    find_misses(compare);
    for (guint i = 0; i < n; i++) {
        find_hardly(compare, i);
    }
    for (guint i = 0; i + 1 < n; i++) {
        solve_clock(compare, i, &fits[i]);
        add_segment(compare, RS_WAY_FORWARD, i, i + 1, &fits[i]);
    }
    for (guint i = n - 1; i > 0; i--) {
        add_segment(compare, RS_WAY_BACKWARD, i, i - 1, &fits[i - 1]);
    }
    count_flows(compare);
}

static gint
by_frame(gconstpointer a, gconstpointer b)
{
    const rs_path_loss *x = *(rs_path_loss *const *)a;
    const rs_path_loss *y = *(rs_path_loss *const *)b;
    gint order = rs_by_number(x->point, y->point);
    return order != 0 ? order : rs_by_number(x->frames[x->point], y->frames[y->point]);
}

static gboolean
is_lost_there(const rs_compare *compare, const rs_compare_segment *segment,
              const rs_path_loss *loss)
{
    const rs_flow *flow = g_ptr_array_index(compare->path->flows, loss->flow);
    return flow->way == segment->way && passes(flow, loss->point) &&
           next_passed(compare, flow, loss->point) == segment->to &&
           (loss->behind & 1u << segment->to) != 0 && loss->state != RS_LOSS_CAME &&
           is_lost(compare, segment->to, segment->way, loss->state);
}

GPtrArray *
rs_compare_losses(const rs_compare *compare, const rs_compare_segment *segment,
                  guint most)
{
    GPtrArray *out = g_ptr_array_new();
    for (guint i = 0; i < compare->path->losses->len; i++) {
        rs_path_loss *loss = &g_array_index(compare->path->losses, rs_path_loss, i);
        if (is_lost_there(compare, segment, loss)) {
            g_ptr_array_add(out, loss);
        }
    }
    g_ptr_array_sort(out, by_frame);
    if (out->len > most) {
        g_ptr_array_set_size(out, (gint)most);
    }
    return out;
}

/* Adds those frames of which the flow comes from where they count, of some points. */
static void
add_traces(const rs_compare *compare, const rs_compare_segment *segment,
           const GArray *traces, guint32 points, rs_frames *frames)
{
    for (guint i = 0; i < traces->len; i++) {
        const rs_path_trace *t = &g_array_index(traces, rs_path_trace, i);
        const rs_flow *flow = g_ptr_array_index(compare->path->flows, t->flow);
        guint from = passed_before(compare, flow, segment->to);
        if (from < n_points(compare) && (t->from & points & 1u << from) != 0) {
            rs_frames_keep_lowest(frames, t->frame);
        }
    }
}

static void
add_rewrites(const rs_compare *compare, const rs_compare_segment *segment,
             const rs_path_evidence *seen, rs_compare_evidence *evidence)
{
    GHashTableIter at;
    gpointer key;
    gpointer n;
    memcpy(evidence->rewrites, seen->rewrites, sizeof evidence->rewrites);
    g_hash_table_iter_init(&at, seen->far_rewrites);
    while (g_hash_table_iter_next(&at, &key, &n)) {
        const rs_path_rewrite *r = key;
        const rs_flow *flow = g_ptr_array_index(compare->path->flows, r->flow);
        if (passed_before(compare, flow, segment->to) == r->from) {
            evidence->rewrites[r->dscp[0]][r->dscp[1]] += *(guint64 *)n;
        }
    }
}

void
rs_compare_evidence_of(const rs_compare *compare, const rs_compare_segment *segment,
                       rs_compare_evidence *evidence)
{
    const rs_path_evidence *seen = compare->path->evidence[segment->low][segment->way];
    evidence->reordered = seen->reordered;
    for (guint kind = 0; kind < RS_N_TRACES; kind++) {
        evidence->frames[kind] = seen->frames[kind];
        guint32 from = kind == RS_TRACE_APPEARED ? 1u << segment->from : G_MAXUINT32;
        add_traces(compare, segment, seen->traces[kind], from, &evidence->frames[kind]);
    }
    add_rewrites(compare, segment, seen, evidence);
}
