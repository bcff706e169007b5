/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a clock was set: the differences of both ways change at once and by the same, in
 * the order in which the point whose clock it is saw the packets; in that of the other
 * point, packets under way at that moment stand in between.
 */
#include "clock_parts.h"
#include "path_time.h"
#include "sorting.h"

#include <stdlib.h>

#define STEP_PACKETS 8        /* that agree on a step */
#define EDGE_PACKETS 64       /* of each way and side, by which it is measured */
#define LONE_STEP_NS 10000000 /* of one way alone: no queue holds so much */
#define STEP_RANGES 4         /* a step is more than so many of the usual ranges */

/* The slots of both ways in the order of one point. */
typedef struct order {
    guint point;
    GArray *slots[RS_N_CLOCK_WAYS]; /* rs_clock_slot */
} order;

static gint
by_first_frame(gconstpointer a, gconstpointer b)
{
    const rs_clock_slot *x = a;
    const rs_clock_slot *y = b;
    return rs_by_number(x->frame[0], y->frame[0]);
}

static gint
by_second_frame(gconstpointer a, gconstpointer b)
{
    const rs_clock_slot *x = a;
    const rs_clock_slot *y = b;
    return rs_by_number(x->frame[1], y->frame[1]);
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
        gint64 d = g_array_index(slots, rs_clock_slot, i).difference_ns;
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
    return gap > RS_CLOCK_LEAST_STEP_NS && gap / STEP_RANGES > range ? by : 0;
}

/* The edge of one way in some place: the least difference forward, the greatest backward.
 * Queues do not touch it. */
static gint64
edge_of(const GArray *slots, guint way, guint from, guint to)
{
    const usual u = usual_of(slots, from, to);
    return way == RS_CLOCK_FORWARD ? u.low_ns : u.high_ns;
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
        if (g_array_index(slots, rs_clock_slot, i).frame[o->point] < frame) {
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

/* How much the edge of a way moves at a frame; FALSE without packets at both sides. */
static gboolean
edge_moves(const order *o, guint way, guint64 frame, gint64 *by_ns)
{
    const GArray *slots = o->slots[way];
    guint i = slot_from(o, way, frame);
    guint from = i > EDGE_PACKETS ? i - EDGE_PACKETS : 0;
    guint to = MIN(i + EDGE_PACKETS, slots->len);
    if (from == i || to == i) {
        return FALSE;
    }
    *by_ns = rs_time_apart(edge_of(slots, way, i, to), edge_of(slots, way, from, i));
    return TRUE;
}

/* The size of a step, by the edges of both ways. */
static void
measure_step(const order *o, rs_clock_step *step)
{
    gint64 by_ns[RS_N_CLOCK_WAYS];
    gboolean forward = edge_moves(o, RS_CLOCK_FORWARD, step->frame, &by_ns[0]);
    gboolean backward = edge_moves(o, RS_CLOCK_BACKWARD, step->frame, &by_ns[1]);
    if (forward && backward) {
        step->by_ns = by_ns[0] + rs_time_apart(by_ns[1], by_ns[0]) / 2;
    } else if (forward || backward) {
        step->by_ns = forward ? by_ns[0] : by_ns[1];
    }
}

/* Whose clock was set right before slot i: there, the time since the packet before is odd. */
static guint
whose_step(const GArray *slots, guint i)
{
    const rs_clock_slot *before = &g_array_index(slots, rs_clock_slot, i - 1);
    const rs_clock_slot *after = &g_array_index(slots, rs_clock_slot, i);
    gint64 first = rs_time_apart(after->at_ns, before->at_ns);
    gint64 second =
        rs_time_add(first, rs_time_apart(after->difference_ns, before->difference_ns));
    return ABS(first) > ABS(second) ? 0 : 1;
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
    const rs_clock_slot *first = &g_array_index(slots, rs_clock_slot, i);
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
        .set = whose_step(slots, i),
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
        const rs_clock_slot *s = &g_array_index(slots, rs_clock_slot, k);
        gint64 by =
            s->difference_ns - g_array_index(slots, rs_clock_slot, k - 1).difference_ns;
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
        const gint64 seen_ns = step.by_ns;
        measure_step(o, &step);
        if (ABS(step.by_ns) < ABS(seen_ns) / 2) {
            continue; /* the least that packets take stays: queues were there, or gone */
        }
        guint last = MIN(i + 4 * STEP_PACKETS, slots->len - 1);
        gint64 near_ns =
            rs_time_apart(g_array_index(slots, rs_clock_slot, last).at_ns, step.at_ns);
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
    return rs_by_i64(&x->at_ns, &y->at_ns);
}

void
rs_clock_find_steps(const rs_clock *clock, rs_clock_fit *fit)
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

gint64
rs_clock_stepped_by(const rs_clock_fit *fit, const rs_clock_slot *s)
{
    gint64 by = 0;
    for (guint i = 0; i < fit->n_steps; i++) {
        const rs_clock_step *step = &fit->steps[i];
        by = s->frame[step->point] >= step->frame ? rs_time_add(by, step->by_ns) : by;
    }
    return by;
}

gint64
rs_clock_even_time(const rs_clock_fit *fit, const rs_clock_slot *s, gint64 at_ns)
{
    for (guint i = 0; i < fit->n_steps; i++) {
        const rs_clock_step *step = &fit->steps[i];
        if (step->set == 0 && s->frame[step->point] >= step->frame) {
            at_ns = rs_time_add(at_ns, step->by_ns);
        }
    }
    return at_ns;
}
