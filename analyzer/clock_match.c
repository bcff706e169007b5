/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "clock_match.h"

#include "clock_parts.h"
#include "path_time.h"
#include "sorting.h"

#include <math.h>

#define MAX_SLOTS 16384           /* of each way */
#define MOST_NS ((gint64)1 << 61) /* of differences, 73 years: two do not overflow */
#define MAX_SLOPE 1e-3            /* no clock drifts by more */
#define SLOPE_ROUNDS 80           /* of a search that leaves two thirds each time */
#define DRIFT_TOLD_PPB 1e5        /* a drift less sure than this is not told */

rs_clock *
rs_clock_new(void)
{
    rs_clock *clock = g_new0(rs_clock, 1);
    for (guint way = 0; way < RS_N_CLOCK_WAYS; way++) {
        clock->lanes[way].slots = g_array_new(FALSE, FALSE, sizeof(rs_clock_slot));
        clock->lanes[way].stride = 1;
    }
    return clock;
}

void
rs_clock_free(rs_clock *clock)
{
    if (clock == NULL) {
        return;
    }
    for (guint way = 0; way < RS_N_CLOCK_WAYS; way++) {
        g_array_unref(clock->lanes[way].slots);
    }
    g_free(clock);
}

static void
take_extremes(rs_clock_slot *s, const rs_clock_slot *other)
{
    if (other->low_ns < s->low_ns) {
        s->low_ns = other->low_ns;
        s->low_at_ns = other->low_at_ns;
    }
    if (other->high_ns > s->high_ns) {
        s->high_ns = other->high_ns;
        s->high_at_ns = other->high_at_ns;
    }
}

/* Every two slots become one. */
static void
compact(rs_clock_lane *l)
{
    guint half = l->slots->len / 2;
    for (guint i = 0; i < half; i++) {
        rs_clock_slot merged = *rs_clock_slot_at(l, 2 * i);
        take_extremes(&merged, rs_clock_slot_at(l, 2 * i + 1));
        *rs_clock_slot_at(l, i) = merged;
    }
    g_array_set_size(l->slots, half);
    l->stride *= 2;
}

void
rs_clock_add(rs_clock *clock, rs_clock_way way, const rs_clock_pair *pair)
{
    rs_clock_lane *l = &clock->lanes[way];
    gint64 difference_ns = CLAMP(pair->difference_ns, -MOST_NS, MOST_NS);
    const rs_clock_slot s = {
        .frame = {pair->frame[0], pair->frame[1]},
        .at_ns = pair->at_ns,
        .difference_ns = difference_ns,
        .low_ns = difference_ns,
        .low_at_ns = pair->at_ns,
        .high_ns = difference_ns,
        .high_at_ns = pair->at_ns,
    };
    if (l->n++ % l->stride != 0) {
        take_extremes(rs_clock_slot_at(l, l->slots->len - 1), &s);
        return;
    }
    if (l->slots->len == MAX_SLOTS) {
        compact(l);
    }
    g_array_append_val(l->slots, s);
}

/* ---- the line ---- */

/* An extreme of one way, without steps: least forward, greatest backward. */
typedef struct edge {
    double at, difference; /* ns */
} edge;

#define ALL_EPOCHS G_MAXUINT

/* Steps that lie before a slot: the number of its epoch. */
static guint
epoch_of(const rs_clock_fit *fit, const rs_clock_slot *s)
{
    guint n = 0;
    for (guint i = 0; i < fit->n_steps; i++) {
        n += s->frame[fit->steps[i].point] >= fit->steps[i].frame ? 1 : 0;
    }
    return n;
}

/* The extreme of a slot; one across a step has an extreme of the other side: its own
 * stands. */
static edge
edge_of(const rs_clock_fit *fit, rs_clock_way way, const rs_clock_slot *s)
{
    gboolean forward = way == RS_CLOCK_FORWARD;
    gint64 at = forward ? s->low_at_ns : s->high_at_ns;
    gint64 difference = forward ? s->low_ns : s->high_ns;
    gint64 off = rs_time_apart(difference, s->difference_ns);
    if (fit->n_steps > 0 && ABS(off) > RS_CLOCK_LEAST_STEP_NS) {
        at = s->at_ns;
        difference = s->difference_ns;
    }
    return (edge){
        .at = (double)rs_time_apart(rs_clock_even_time(fit, s, at), fit->start_ns),
        .difference = (double)rs_time_apart(difference, rs_clock_stepped_by(fit, s)),
    };
}

static GArray *
edges_of(const rs_clock *clock, const rs_clock_fit *fit, rs_clock_way way, guint epoch)
{
    const rs_clock_lane *l = &clock->lanes[way];
    GArray *edges = g_array_sized_new(FALSE, FALSE, sizeof(edge), l->slots->len);
    for (guint i = 0; i < l->slots->len; i++) {
        const rs_clock_slot *s = rs_clock_slot_at(l, i);
        if (epoch == ALL_EPOCHS || epoch_of(fit, s) == epoch) {
            const edge e = edge_of(fit, way, s);
            g_array_append_val(edges, e);
        }
    }
    return edges;
}

/* The line of this slope below (forward) or above (backward) all edges: where it is at
 * time `at`. */
static double
line_at(const GArray *edges, rs_clock_way way, double slope, double at)
{
    double best = 0;
    for (guint i = 0; i < edges->len; i++) {
        const edge *e = &g_array_index(edges, edge, i);
        double d = e->difference - slope * (e->at - at);
        if (i == 0 || (way == RS_CLOCK_FORWARD ? d < best : d > best)) {
            best = d;
        }
    }
    return best;
}

typedef struct strip {
    GArray *edges[RS_N_CLOCK_WAYS];
    double middle[RS_N_CLOCK_WAYS]; /* mean time of each */
    double coarse;                  /* by how much differences may be wrong, ns */
} strip;

/* How wide the strip between both ways is, at the middle of their times; of a way without
 * packets the line is taken for 0.  Concave in the slope. */
static double
width_of(const strip *s, double slope)
{
    double width = 0;
    for (guint way = 0; way < RS_N_CLOCK_WAYS; way++) {
        double line = line_at(s->edges[way], (rs_clock_way)way, slope, s->middle[way]);
        width += way == RS_CLOCK_FORWARD ? line : -line;
    }
    return width;
}

static double
widest_slope(const strip *s)
{
    double low = -MAX_SLOPE;
    double high = MAX_SLOPE;
    for (guint i = 0; i < SLOPE_ROUNDS; i++) {
        double a = low + (high - low) / 3;
        double b = high - (high - low) / 3;
        if (width_of(s, a) < width_of(s, b)) {
            low = a;
        } else {
            high = b;
        }
    }
    return (low + high) / 2;
}

static void
begin_strip(strip *s, const rs_clock *clock, const rs_clock_fit *fit, guint epoch)
{
    double sum = 0;
    guint n = 0;
    s->coarse = (double)fit->coarse_ns;
    for (guint way = 0; way < RS_N_CLOCK_WAYS; way++) {
        s->edges[way] = edges_of(clock, fit, (rs_clock_way)way, epoch);
        for (guint i = 0; i < s->edges[way]->len; i++) {
            sum += g_array_index(s->edges[way], edge, i).at;
        }
        n += s->edges[way]->len;
    }
    for (guint way = 0; way < RS_N_CLOCK_WAYS; way++) {
        s->middle[way] = n > 0 ? sum / n : 0;
    }
}

static void
end_strip(strip *s)
{
    for (guint way = 0; way < RS_N_CLOCK_WAYS; way++) {
        g_array_unref(s->edges[way]);
    }
}

static gint
by_value(gconstpointer a, gconstpointer b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Median distance of edges from the lines of this slope, and how long they last. */
static double
residual_of(const strip *s, double slope, double *span)
{
    g_autoptr(GArray) off = g_array_new(FALSE, FALSE, sizeof(double));
    *span = 0;
    for (guint way = 0; way < RS_N_CLOCK_WAYS; way++) {
        const GArray *edges = s->edges[way];
        double line = line_at(edges, (rs_clock_way)way, slope, 0);
        for (guint i = 0; i < edges->len; i++) {
            const edge *e = &g_array_index(edges, edge, i);
            double distance = fabs(e->difference - slope * e->at - line);
            *span = MAX(*span, fabs(e->at - g_array_index(edges, edge, 0).at));
            g_array_append_val(off, distance);
        }
    }
    g_array_sort(off, by_value);
    return off->len > 0 ? g_array_index(off, double, off->len / 2) : 0;
}

/* How long the packets of a strip last. */
static double
span_of(const strip *s)
{
    double span = 0;
    for (guint way = 0; way < RS_N_CLOCK_WAYS; way++) {
        guint n = s->edges[way]->len;
        if (n > 0) {
            double first = g_array_index(s->edges[way], edge, 0).at;
            double last = g_array_index(s->edges[way], edge, n - 1).at;
            span = MAX(span, fabs(last - first));
        }
    }
    return span;
}

/* How wrong a slope can be, over a span by whose edges it is found. */
static double
unsure_ppb_of(const strip *s, double residual, double span)
{
    return span > 0 ? (residual + 1 + s->coarse) / span * 2e9 : INFINITY;
}

static void
fit_drift(const strip *s, rs_clock_fit *fit, double *slope)
{
    double span;
    *slope = widest_slope(s);
    double residual = residual_of(s, *slope, &span);
    double unsure_ppb = unsure_ppb_of(s, residual, span);
    fit->drift_known = unsure_ppb <= DRIFT_TOLD_PPB;
    if (!fit->drift_known) {
        *slope = 0;
        residual = residual_of(s, 0, &span);
    } else {
        fit->drift_ppb = (gint64)llround(*slope * 1e9);
        fit->drift_uncertainty_ppb = (guint64)llround(unsure_ppb);
    }
    fit->residual_ns = (guint64)llround(residual);
}

static void
fit_offset(const strip *s, rs_clock_fit *fit, double slope)
{
    for (guint way = 0; way < RS_N_CLOCK_WAYS; way++) {
        fit->edge_ns[way] =
            (gint64)llround(line_at(s->edges[way], (rs_clock_way)way, slope, 0));
    }
    gint64 forward = fit->edge_ns[RS_CLOCK_FORWARD];
    gint64 backward = fit->edge_ns[RS_CLOCK_BACKWARD];
    if (fit->both_ways) {
        gint64 both = rs_time_apart(forward, backward);
        fit->offset_ns = backward + both / 2;
        fit->round_trip_ns = (guint64)MAX(both, 0);
        fit->uncertainty_ns = (guint64)(ABS(both) / 2 + 1) + fit->coarse_ns;
        fit->uncertainty_ns +=
            (guint64)llround(fit->drift_known ? 0 : span_of(s) * DRIFT_TOLD_PPB * 1e-9);
    } else {
        fit->offset_ns = fit->packets[RS_CLOCK_FORWARD] > 0 ? forward : backward;
    }
}

/* ---- steps, once more ---- */

/* The slope in the longest epoch: no step has a part in it. */
static double
slope_between_steps(const rs_clock *clock, const rs_clock_fit *fit)
{
    double longest = 0;
    double slope = 0;
    for (guint epoch = 0; epoch <= fit->n_steps; epoch++) {
        strip s;
        double span;
        begin_strip(&s, clock, fit, epoch);
        if (span_of(&s) > longest) {
            longest = span_of(&s);
            slope = widest_slope(&s);
            double unsure = unsure_ppb_of(&s, residual_of(&s, slope, &span), longest);
            slope = unsure <= DRIFT_TOLD_PPB ? slope : 0;
        }
        end_strip(&s);
    }
    return slope;
}

/* What is left of a step once drift is taken out, by the lines of both its sides. */
static gint64
rest_of_step(const strip *before, const strip *after, double slope)
{
    double sum = 0;
    guint n = 0;
    for (guint way = 0; way < RS_N_CLOCK_WAYS; way++) {
        if (before->edges[way]->len > 0 && after->edges[way]->len > 0) {
            sum += line_at(after->edges[way], (rs_clock_way)way, slope, 0) -
                   line_at(before->edges[way], (rs_clock_way)way, slope, 0);
            n++;
        }
    }
    return n > 0 ? (gint64)llround(sum / n) : 0;
}

/* Steps were measured by the packets next to them; now by all of the epochs at both
 * sides. */
static void
measure_steps(const rs_clock *clock, rs_clock_fit *fit)
{
    double slope = fit->n_steps > 0 ? slope_between_steps(clock, fit) : 0;
    for (guint i = 0; i < fit->n_steps; i++) {
        strip before;
        strip after;
        begin_strip(&before, clock, fit, i);
        begin_strip(&after, clock, fit, i + 1);
        gint64 rest = rest_of_step(&before, &after, slope);
        fit->steps[i].by_ns = rs_time_add(fit->steps[i].by_ns, rest);
        end_strip(&before);
        end_strip(&after);
    }
}

static void
begin_fit(const rs_clock *clock, rs_clock_fit *fit)
{
    *fit = (rs_clock_fit){0};
    gboolean first = TRUE;
    for (guint way = 0; way < RS_N_CLOCK_WAYS; way++) {
        const rs_clock_lane *l = &clock->lanes[way];
        fit->packets[way] = l->n;
        if (l->n > 0) {
            gint64 at = rs_clock_slot_at(l, 0)->at_ns;
            fit->start_ns = first ? at : MIN(fit->start_ns, at);
            first = FALSE;
        }
    }
    fit->known = fit->packets[0] > 0 || fit->packets[1] > 0;
    fit->both_ways = fit->packets[0] > 0 && fit->packets[1] > 0;
}

void
rs_clock_solve(const rs_clock *clock, guint64 coarse_ns, rs_clock_fit *fit)
{
    begin_fit(clock, fit);
    fit->coarse_ns = coarse_ns;
    if (!fit->known) {
        return;
    }
    rs_clock_find_steps(clock, fit);
    measure_steps(clock, fit);
    strip s;
    double slope;
    begin_strip(&s, clock, fit, ALL_EPOCHS);
    fit_drift(&s, fit, &slope);
    fit_offset(&s, fit, slope);
    end_strip(&s);
}

void
rs_clock_solve_same(const rs_clock *clock, rs_clock_fit *fit)
{
    begin_fit(clock, fit);
    if (!fit->known) {
        return;
    }
    strip s;
    double span;
    begin_strip(&s, clock, fit, ALL_EPOCHS);
    fit->drift_known = TRUE;
    fit_offset(&s, fit, 0);
    fit->residual_ns = (guint64)llround(residual_of(&s, 0, &span));
    fit->offset_ns = 0;
    fit->uncertainty_ns = 0;
    end_strip(&s);
}

/* ---- what follows from it ---- */

/* Delay above the least: what a difference says once steps and drift are taken out. */
static guint64
above_least(const rs_clock_fit *fit, rs_clock_way way, const rs_clock_slot *s,
            gint64 at_ns, gint64 difference_ns)
{
    double drift =
        (double)fit->drift_ppb * 1e-9 *
        (double)rs_time_apart(rs_clock_even_time(fit, s, at_ns), fit->start_ns);
    gint64 even =
        rs_time_apart(rs_time_apart(difference_ns, rs_clock_stepped_by(fit, s)),
                      (gint64)llround(drift));
    gint64 above = way == RS_CLOCK_FORWARD ? rs_time_apart(even, fit->edge_ns[way])
                                           : rs_time_apart(fit->edge_ns[way], even);
    return (guint64)MAX(above, 0);
}

void
rs_clock_variation(const rs_clock *clock, const rs_clock_fit *fit, rs_clock_way way,
                   rs_dist *dist)
{
    const rs_clock_lane *l = &clock->lanes[way];
    g_autoptr(GArray) samples = g_array_new(FALSE, FALSE, sizeof(guint64));
    guint64 most = 0;
    for (guint i = 0; i < l->slots->len; i++) {
        const rs_clock_slot *s = rs_clock_slot_at(l, i);
        guint64 above = above_least(fit, way, s, s->at_ns, s->difference_ns);
        g_array_append_val(samples, above);
        gboolean forward = way == RS_CLOCK_FORWARD;
        gint64 worst = forward ? s->high_ns : s->low_ns;
        gint64 at = forward ? s->high_at_ns : s->low_at_ns;
        if (fit->n_steps == 0) {
            most = MAX(most, above_least(fit, way, s, at, worst));
        }
        most = MAX(most, above);
    }
    rs_dist_of(samples, dist);
    if (dist->count > 0) {
        dist->count = l->n;
        dist->min = 0;
        dist->max = most;
    }
}

guint
rs_clock_densest(GArray *differences, guint64 width_ns, gint64 *median_ns)
{
    g_array_sort(differences, rs_by_i64);
    guint most = 0;
    for (guint low = 0, high = 0; high < differences->len; high++) {
        gint64 top = g_array_index(differences, gint64, high);
        while ((guint64)top - (guint64)g_array_index(differences, gint64, low) >
               width_ns) {
            low++;
        }
        guint n = high - low + 1;
        if (n > most) {
            most = n;
            *median_ns = g_array_index(differences, gint64, low + n / 2);
        }
    }
    return most;
}
