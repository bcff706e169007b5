/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "clock_match.h"

#include "path_time.h"
#include "sorting.h"

#include <math.h>

#define MAX_SLOTS 16384           /* of each way */
#define MOST_NS ((gint64)1 << 61) /* of differences, 73 years: two do not overflow */
#define MAX_SLOPE 1e-3            /* no clock drifts by more */
#define SLOPE_ROUNDS 80           /* of a search that leaves two thirds each time */
#define DRIFT_TOLD_PPB 1e5        /* a drift less sure than this is not told */
#define STEP_PACKETS 8            /* that agree on a step */
#define LEAST_STEP_NS 100000      /* clocks are disciplined by less all the time */
#define LONE_STEP_NS 10000000     /* of one way alone: no queue holds so much */
#define STEP_RANGES 4             /* a step is more than so many of the usual ranges */

/* One difference, and the extremes of all that it stands for. */
typedef struct slot {
    guint64 frame[2];
    gint64 at_ns, difference_ns;
    gint64 low_ns, low_at_ns, high_ns, high_at_ns;
} slot;

typedef struct lane {
    GArray *slots;  /* slot */
    guint64 stride; /* packets that one slot stands for */
    guint64 n;      /* packets in all */
} lane;

struct rs_clock {
    lane lanes[RS_N_CLOCK_WAYS];
};

rs_clock *
rs_clock_new(void)
{
    rs_clock *clock = g_new0(rs_clock, 1);
    for (guint way = 0; way < RS_N_CLOCK_WAYS; way++) {
        clock->lanes[way].slots = g_array_new(FALSE, FALSE, sizeof(slot));
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

static slot *
slot_at(const lane *l, guint i)
{
    return &g_array_index(l->slots, slot, i);
}

static void
take_extremes(slot *s, const slot *other)
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
compact(lane *l)
{
    guint half = l->slots->len / 2;
    for (guint i = 0; i < half; i++) {
        slot merged = *slot_at(l, 2 * i);
        take_extremes(&merged, slot_at(l, 2 * i + 1));
        *slot_at(l, i) = merged;
    }
    g_array_set_size(l->slots, half);
    l->stride *= 2;
}

void
rs_clock_add(rs_clock *clock, rs_clock_way way, const rs_clock_pair *pair)
{
    lane *l = &clock->lanes[way];
    gint64 difference_ns = CLAMP(pair->difference_ns, -MOST_NS, MOST_NS);
    const slot s = {
        .frame = {pair->frame[0], pair->frame[1]},
        .at_ns = pair->at_ns,
        .difference_ns = difference_ns,
        .low_ns = difference_ns,
        .low_at_ns = pair->at_ns,
        .high_ns = difference_ns,
        .high_at_ns = pair->at_ns,
    };
    if (l->n++ % l->stride != 0) {
        take_extremes(slot_at(l, l->slots->len - 1), &s);
        return;
    }
    if (l->slots->len == MAX_SLOTS) {
        compact(l);
    }
    g_array_append_val(l->slots, s);
}

/* ---- steps ---- */

/* The slots of both ways in the order of one point. */
typedef struct order {
    guint point;
    GArray *slots[RS_N_CLOCK_WAYS]; /* slot */
} order;

static gint
by_first_frame(gconstpointer a, gconstpointer b)
{
    const slot *x = a;
    const slot *y = b;
    return x->frame[0] < y->frame[0] ? -1 : x->frame[0] > y->frame[0];
}

static gint
by_second_frame(gconstpointer a, gconstpointer b)
{
    const slot *x = a;
    const slot *y = b;
    return x->frame[1] < y->frame[1] ? -1 : x->frame[1] > y->frame[1];
}

static void
begin_order(order *o, const rs_clock *clock, guint point)
{
    o->point = point;
    for (guint way = 0; way < RS_N_CLOCK_WAYS; way++) {
        o->slots[way] = g_array_copy(clock->lanes[way].slots);
        g_array_sort(o->slots[way], point == 0 ? by_first_frame : by_second_frame);
    }
}

static void
end_order(order *o)
{
    for (guint way = 0; way < RS_N_CLOCK_WAYS; way++) {
        g_array_unref(o->slots[way]);
    }
}

/* What is usual of one way in some place. */
typedef struct usual {
    gint64 low_ns, high_ns;
    gboolean known;
} usual;

static usual
usual_of(const GArray *slots, guint from, guint to)
{
    usual u = {.known = to > from};
    for (guint i = from; i < to; i++) {
        gint64 d = g_array_index(slots, slot, i).difference_ns;
        u.low_ns = i == from ? d : MIN(u.low_ns, d);
        u.high_ns = i == from ? d : MAX(u.high_ns, d);
    }
    return u;
}

static gint64
middle(const usual *u)
{
    return u->low_ns + (u->high_ns - u->low_ns) / 2;
}

/* From one usual to another by more than can be chance; 0: not so. */
static gint64
shift(const usual *before, const usual *after)
{
    if (!before->known || !after->known) {
        return 0;
    }
    gint64 range =
        MAX(before->high_ns - before->low_ns, after->high_ns - after->low_ns);
    gint64 by = middle(after) - middle(before);
    gint64 gap =
        by > 0 ? after->low_ns - before->high_ns : before->low_ns - after->high_ns;
    return gap > LEAST_STEP_NS && gap / STEP_RANGES > range ? by : 0;
}

/* The first slot that is not older than a frame. */
static guint
slot_from(const order *o, guint way, guint64 frame)
{
    const GArray *slots = o->slots[way];
    guint low = 0;
    guint high = slots->len;
    while (low < high) {
        guint i = low + (high - low) / 2;
        if (g_array_index(slots, slot, i).frame[o->point] < frame) {
            low = i + 1;
        } else {
            high = i;
        }
    }
    return low;
}

/* What the other way says of a step: it changed by about the same (1), it did not (-1),
 * or it has no packets there (0). */
static int
other_way_says(const order *o, guint way, guint64 frame, gint64 by_ns)
{
    const GArray *slots = o->slots[way];
    guint i = slot_from(o, way, frame);
    guint from = i > STEP_PACKETS ? i - STEP_PACKETS : 0;
    const usual before = usual_of(slots, from, i);
    const usual after = usual_of(slots, i, MIN(i + STEP_PACKETS, slots->len));
    if (!before.known || !after.known) {
        return 0;
    }
    gint64 off = rs_time_apart(shift(&before, &after), by_ns);
    return ABS(off) < ABS(by_ns) / 2 ? 1 : -1;
}

/* A step right before slot i of this way. */
static gboolean
find_step(const order *o, guint way, guint i, rs_clock_step *step)
{
    const GArray *slots = o->slots[way];
    if (i + STEP_PACKETS > slots->len) {
        return FALSE;
    }
    guint from = i > 2 * STEP_PACKETS ? i - 2 * STEP_PACKETS : 0;
    const usual before = usual_of(slots, from, i);
    const usual after = usual_of(slots, i, i + STEP_PACKETS);
    const slot *first = &g_array_index(slots, slot, i);
    gint64 by = shift(&before, &after);
    if (by == 0) {
        return FALSE;
    }
    int other = other_way_says(o, 1 - way, first->frame[o->point], by);
    if (other < 0 || (other == 0 && ABS(by) < LONE_STEP_NS)) {
        return FALSE;
    }
    *step = (rs_clock_step){
        .at_ns = first->at_ns,
        .by_ns = by,
        .point = o->point,
        .frame = first->frame[o->point],
    };
    return TRUE;
}

/* The other way may have met the step a little earlier. */
static void
begin_earlier(const order *o, guint way, rs_clock_step *step)
{
    const GArray *slots = o->slots[way];
    guint i = slot_from(o, way, step->frame);
    for (guint k = i > STEP_PACKETS ? i - STEP_PACKETS : 1; k < i; k++) {
        const slot *s = &g_array_index(slots, slot, k);
        gint64 by = s->difference_ns - g_array_index(slots, slot, k - 1).difference_ns;
        gint64 off = rs_time_apart(by, step->by_ns);
        if (ABS(off) < ABS(step->by_ns) / 2) {
            step->frame = s->frame[o->point];
            step->at_ns = s->at_ns;
            return;
        }
    }
}

/* The same step may show in the order of either point, and in both ways. */
static gboolean
is_told(const rs_clock_fit *fit, const rs_clock_step *step, gint64 near_ns)
{
    for (guint i = 0; i < fit->n_steps; i++) {
        gint64 apart = rs_time_apart(fit->steps[i].at_ns, step->at_ns);
        gint64 off = rs_time_apart(fit->steps[i].by_ns, step->by_ns);
        if (ABS(apart) <= near_ns && ABS(off) < ABS(step->by_ns) / 2) {
            return TRUE;
        }
    }
    return FALSE;
}

static void
find_steps_of(const order *o, guint way, rs_clock_fit *fit)
{
    const GArray *slots = o->slots[way];
    for (guint i = STEP_PACKETS / 2; i < slots->len && fit->n_steps < RS_CLOCK_STEPS;
         i++) {
        rs_clock_step step;
        if (!find_step(o, way, i, &step)) {
            continue;
        }
        begin_earlier(o, 1 - way, &step);
        guint last = MIN(i + 4 * STEP_PACKETS, slots->len - 1);
        gint64 near_ns =
            rs_time_apart(g_array_index(slots, slot, last).at_ns, step.at_ns);
        if (!is_told(fit, &step, rs_time_add(ABS(near_ns), ABS(step.by_ns)))) {
            fit->steps[fit->n_steps++] = step;
        }
        i += STEP_PACKETS;
    }
}

static gint
by_time(gconstpointer a, gconstpointer b)
{
    const rs_clock_step *x = a;
    const rs_clock_step *y = b;
    return x->at_ns < y->at_ns ? -1 : x->at_ns > y->at_ns;
}

static void
find_steps(const rs_clock *clock, rs_clock_fit *fit)
{
    for (guint point = 0; point < 2; point++) {
        order o;
        begin_order(&o, clock, point);
        for (guint way = 0; way < RS_N_CLOCK_WAYS; way++) {
            find_steps_of(&o, way, fit);
        }
        end_order(&o);
    }
    qsort(fit->steps, fit->n_steps, sizeof fit->steps[0], by_time);
}

static gint64
stepped_by(const rs_clock_fit *fit, const slot *s)
{
    gint64 by = 0;
    for (guint i = 0; i < fit->n_steps; i++) {
        const rs_clock_step *step = &fit->steps[i];
        by = s->frame[step->point] >= step->frame ? rs_time_add(by, step->by_ns) : by;
    }
    return by;
}

/* ---- the line ---- */

/* An extreme of one way, without steps: least forward, greatest backward. */
typedef struct edge {
    double at, difference; /* ns */
} edge;

static GArray *
edges_of(const rs_clock *clock, const rs_clock_fit *fit, rs_clock_way way)
{
    const lane *l = &clock->lanes[way];
    GArray *edges = g_array_sized_new(FALSE, FALSE, sizeof(edge), l->slots->len);
    for (guint i = 0; i < l->slots->len; i++) {
        const slot *s = slot_at(l, i);
        gint64 by = stepped_by(fit, s);
        gboolean forward = way == RS_CLOCK_FORWARD;
        gint64 at = forward ? s->low_at_ns : s->high_at_ns;
        gint64 difference = forward ? s->low_ns : s->high_ns;
        /* A slot across a step has an extreme of the other side: its own stands. */
        gint64 off = difference - s->difference_ns;
        if (fit->n_steps > 0 && ABS(off) > LEAST_STEP_NS) {
            at = s->at_ns;
            difference = s->difference_ns;
        }
        const edge e = {.at = (double)rs_time_apart(at, fit->start_ns),
                        .difference = (double)rs_time_apart(difference, by)};
        g_array_append_val(edges, e);
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
begin_strip(strip *s, const rs_clock *clock, const rs_clock_fit *fit)
{
    double sum = 0;
    guint n = 0;
    for (guint way = 0; way < RS_N_CLOCK_WAYS; way++) {
        s->edges[way] = edges_of(clock, fit, (rs_clock_way)way);
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
            *span = MAX(*span, e->at - g_array_index(edges, edge, 0).at);
            g_array_append_val(off, distance);
        }
    }
    g_array_sort(off, by_value);
    return off->len > 0 ? g_array_index(off, double, off->len / 2) : 0;
}

static void
fit_drift(const strip *s, rs_clock_fit *fit, double *slope)
{
    double span;
    *slope = widest_slope(s);
    double residual = residual_of(s, *slope, &span);
    double unsure_ppb = span > 0 ? (residual + 1) / span * 2e9 : INFINITY;
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
        fit->uncertainty_ns = (guint64)(ABS(both) / 2 + 1);
    } else {
        fit->offset_ns = fit->packets[RS_CLOCK_FORWARD] > 0 ? forward : backward;
    }
}

static void
begin_fit(const rs_clock *clock, rs_clock_fit *fit)
{
    *fit = (rs_clock_fit){0};
    gboolean first = TRUE;
    for (guint way = 0; way < RS_N_CLOCK_WAYS; way++) {
        const lane *l = &clock->lanes[way];
        fit->packets[way] = l->n;
        if (l->n > 0) {
            gint64 at = slot_at(l, 0)->at_ns;
            fit->start_ns = first ? at : MIN(fit->start_ns, at);
            first = FALSE;
        }
    }
    fit->known = fit->packets[0] > 0 || fit->packets[1] > 0;
    fit->both_ways = fit->packets[0] > 0 && fit->packets[1] > 0;
}

void
rs_clock_solve(const rs_clock *clock, rs_clock_fit *fit)
{
    begin_fit(clock, fit);
    if (!fit->known) {
        return;
    }
    find_steps(clock, fit);
    strip s;
    double slope;
    begin_strip(&s, clock, fit);
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
    begin_strip(&s, clock, fit);
    fit_offset(&s, fit, 0);
    fit->residual_ns = (guint64)llround(residual_of(&s, 0, &span));
    fit->drift_known = TRUE;
    fit->offset_ns = 0;
    fit->uncertainty_ns = 0;
    end_strip(&s);
}

/* ---- what follows from it ---- */

/* Delay above the least: what a difference says once steps and drift are taken out. */
static guint64
above_least(const rs_clock_fit *fit, rs_clock_way way, const slot *s, gint64 at_ns,
            gint64 difference_ns)
{
    double drift =
        (double)fit->drift_ppb * 1e-9 * (double)rs_time_apart(at_ns, fit->start_ns);
    gint64 even = rs_time_apart(rs_time_apart(difference_ns, stepped_by(fit, s)),
                                (gint64)llround(drift));
    gint64 above = way == RS_CLOCK_FORWARD ? rs_time_apart(even, fit->edge_ns[way])
                                           : rs_time_apart(fit->edge_ns[way], even);
    return (guint64)MAX(above, 0);
}

void
rs_clock_variation(const rs_clock *clock, const rs_clock_fit *fit, rs_clock_way way,
                   rs_dist *dist)
{
    const lane *l = &clock->lanes[way];
    g_autoptr(GArray) samples = g_array_new(FALSE, FALSE, sizeof(guint64));
    guint64 most = 0;
    for (guint i = 0; i < l->slots->len; i++) {
        const slot *s = slot_at(l, i);
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
