/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the two files of clock_match.h share: the differences that are kept, and steps.
 *
 * The one rule: nobody else includes it.
 */
#ifndef RS_CLOCK_PARTS_H
#define RS_CLOCK_PARTS_H

#include "clock_match.h"

#define RS_CLOCK_LEAST_STEP_NS 100000 /* clocks are disciplined by less all the time */

/* One difference, and the extremes of all that it stands for. */
typedef struct rs_clock_slot {
    guint64 frame[2];
    gint64 at_ns, difference_ns;
    gint64 low_ns, low_at_ns, high_ns, high_at_ns;
} rs_clock_slot;

typedef struct rs_clock_lane {
    GArray *slots;  /* rs_clock_slot */
    guint64 stride; /* packets that one slot stands for */
    guint64 n;      /* packets in all */
} rs_clock_lane;

struct rs_clock {
    rs_clock_lane lanes[RS_N_CLOCK_WAYS];
};

static inline rs_clock_slot *
rs_clock_slot_at(const rs_clock_lane *l, guint i)
{
    return &g_array_index(l->slots, rs_clock_slot, i);
}

/* Finds where one of both clocks was set, in order of time. */
void
rs_clock_find_steps(const rs_clock *clock, rs_clock_fit *fit);

/* By how much the steps up to a slot moved its difference. */
gint64
rs_clock_stepped_by(const rs_clock_fit *fit, const rs_clock_slot *s);

/* A stamp of the first point, at a slot, as its clock would have run on. */
gint64
rs_clock_even_time(const rs_clock_fit *fit, const rs_clock_slot *s, gint64 at_ns);

#endif
