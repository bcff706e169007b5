/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "watchdog.h"

#define NS_PER_MS G_GUINT64_CONSTANT(1000000)

static const rs_watchdog_preset known[] = {
    /* 200 ms for each 32 ports or part of them, to detect, to restore and to poll. */
    {"sonic", "SONiC, as `pfcwd start_default` sets it on a switch of up to 32 ports",
     200 * NS_PER_MS, 200 * NS_PER_MS},
    /* Detection 2, polling 100 ms. */
    {"juniper", "Junos, 2 intervals of 100 ms by default", 200 * NS_PER_MS,
     200 * NS_PER_MS},
    /* The NIC that pauses stops doing so; it has no time of restoration. */
    {"mlx5", "mlx5, stall prevention of the NIC that pauses, by default",
     8000 * NS_PER_MS, 0},
};

_Static_assert(G_N_ELEMENTS(known) + 1 == RS_WATCHDOG_PRESETS, "and the user's own");

guint
rs_watchdog_presets(const rs_options *options, rs_watchdog_preset *presets)
{
    guint n = 0;
    for (; n < G_N_ELEMENTS(known); n++) {
        presets[n] = known[n];
    }
    if (options->watchdog == RS_WATCHDOG_MS) {
        guint64 ns = options->watchdog_ms * NS_PER_MS;
        presets[n++] = (rs_watchdog_preset){"user", "--watchdog", ns, ns};
    }
    return n;
}

gint
rs_watchdog_chosen(const rs_options *options)
{
    switch (options->watchdog) {
    case RS_WATCHDOG_NONE:
        return -1;
    case RS_WATCHDOG_SONIC:
        return 0;
    case RS_WATCHDOG_JUNIPER:
        return 1;
    case RS_WATCHDOG_MS:
        return (gint)G_N_ELEMENTS(known);
    }
    return -1;
}

static void
rate(rs_watchdog_rating *rating, const rs_watchdog_preset *preset, guint64 start_ns,
     guint64 end_ns)
{
    gboolean is_off = rating->fired > 0 && start_ns < rating->restored_ns;
    if (!is_off && end_ns - start_ns < preset->detect_ns) {
        return;
    }
    if (!is_off && rating->fired++ == 0) {
        rating->first_fired_ns = start_ns + preset->detect_ns;
    }
    rating->restored_ns = end_ns + preset->restore_ns;
}

void
rs_holds_end(rs_holds *holds, const rs_watchdog_preset *presets, guint n_presets)
{
    if (!holds->any) {
        return;
    }
    holds->any = FALSE;
    holds->n++;
    guint64 length_ns = holds->end_ns - holds->start_ns;
    if (holds->n == 1 || length_ns > holds->longest_ns) {
        holds->longest_ns = length_ns;
        holds->longest_start_ns = holds->start_ns;
        holds->longest_frame = holds->frame;
    }
    for (guint i = 0; i < n_presets; i++) {
        rate(&holds->ratings[i], &presets[i], holds->start_ns, holds->end_ns);
    }
}

void
rs_holds_add(rs_holds *holds, const rs_watchdog_preset *presets, guint n_presets,
             guint64 start_ns, guint64 end_ns, guint64 frame, guint64 join_ns)
{
    gboolean is_set_back = holds->any && start_ns < holds->start_ns;
    if (holds->any && !is_set_back && start_ns <= holds->end_ns + join_ns) {
        holds->end_ns = MAX(holds->end_ns, end_ns);
        return;
    }
    rs_holds_end(holds, presets, n_presets);
    for (guint i = 0; i < n_presets && is_set_back; i++) {
        holds->ratings[i].restored_ns = 0; /* by a clock that is no more */
    }
    holds->any = TRUE;
    holds->start_ns = start_ns;
    holds->end_ns = end_ns;
    holds->frame = frame;
}
