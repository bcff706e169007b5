/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tell.h"

#include "analysis.h"
#include "twins.h"

#define AHEAD 8 /* packets whose memory fits near the processor */
#define TWINS_AHEAD 6

/* What the reports themselves keep. */
static void
keep_event(rs_analysis *analysis, const roce_event *event)
{
    analysis->event_totals[event->kind]++;
    if (analysis->events->len < analysis->options->max_events) {
        g_array_append_val(analysis->events, *event);
    }
    rs_evidence_keep(analysis->evidence, event);
    if (analysis->tap != NULL) {
        analysis->tap->event(analysis->tap->ctx, event);
    }
}

void
rs_tell_event(rs_analysis *analysis, rs_watch_parts parts,
              const rs_occurrence *occurrence)
{
    if ((parts & RS_WATCH_NETWORK) != 0) {
        keep_event(analysis, &occurrence->event);
    }
    rs_watchers_event(&analysis->watchers, parts, occurrence);
}

static void
tell_packet(rs_analysis *analysis, rs_watch_parts parts, const rs_slot *slot)
{
    rs_watchers_packet(&analysis->watchers, parts, &slot->sight);
    if ((parts & RS_WATCH_NETWORK) == 0) {
        return;
    }
    if (analysis->tap != NULL) {
        analysis->tap->packet(analysis->tap->ctx, &slot->sight);
    }
    if (slot->has_identity) {
        (void)rs_twins_add(analysis->twins, &slot->identity, &slot->sight);
    }
}

static void
approach(const rs_analysis *analysis, rs_watch_parts parts, const rs_window *window,
         guint i)
{
    if (i + AHEAD < window->n) {
        rs_watchers_approach(&analysis->watchers, parts,
                             &window->slots[i + AHEAD].sight);
    }
    if (i + AHEAD / 2 < window->n) {
        rs_watchers_approach_more(&analysis->watchers, parts,
                                  &window->slots[i + AHEAD / 2].sight);
    }
}

/* What trains behind the i-th will want comes near in steps. */
static void
approach_trains(const rs_analysis *analysis, rs_watch_parts parts,
                const rs_window *window, guint i)
{
    for (guint step = 0; step < RS_APPROACH_STEPS; step++) {
        guint ahead = i + RS_APPROACH_STEPS - step;
        if (ahead < window->n_trains) {
            const rs_train *train = &window->trains[ahead];
            const roce_car *newest = &window->cars[train->first + train->n - 1];
            rs_watchers_approach_train(&analysis->watchers, parts, train->stream->id,
                                       newest->time_ns, step);
        }
    }
}

/* Looks for packets of trains at other points. */
static void
compare_points(const rs_analysis *analysis, const rs_window *window, guint from,
               guint until)
{
    for (guint i = from; i < until; i++) {
        guint ahead = i + TWINS_AHEAD;
        if (ahead < window->n_glimpses && window->glimpses[ahead].has_identity) {
            rs_twins_approach(analysis->twins, &window->identities[ahead]);
        }
        if (window->glimpses[i].has_identity) {
            (void)rs_twins_glimpse(analysis->twins, &window->identities[i],
                                   &window->glimpses[i]);
        }
    }
}

/* How much of a window has been told. */
typedef struct position {
    guint n_glimpses, n_trains, n_events;
} position;

/* Glimpses and trains that stand before the i-th slot. */
static void
tell_before(rs_analysis *analysis, rs_watch_parts parts, const rs_window *window,
            guint i, position *at)
{
    guint from = at->n_glimpses;
    while (at->n_glimpses < window->n_glimpses &&
           window->glimpses[at->n_glimpses].behind <= i) {
        at->n_glimpses++;
    }
    if (at->n_glimpses > from) {
        rs_watchers_glimpses(&analysis->watchers, parts, &window->glimpses[from],
                             &window->glances[from], at->n_glimpses - from,
                             window->n_glimpses - from);
        if ((parts & RS_WATCH_NETWORK) != 0 && window->has_identities) {
            compare_points(analysis, window, from, at->n_glimpses);
        }
    }
    for (; at->n_trains < window->n_trains && window->trains[at->n_trains].behind <= i;
         at->n_trains++) {
        approach_trains(analysis, parts, window, at->n_trains);
        const rs_train *train = &window->trains[at->n_trains];
        rs_watchers_train(&analysis->watchers, parts, train,
                          &window->cars[train->first]);
    }
}

void
rs_tell_window(gpointer ctx, rs_watch_parts parts, const rs_window *window)
{
    rs_analysis *analysis = ctx;
    position at = {0};
    for (guint i = 0; i < MIN(window->n, AHEAD); i++) {
        rs_watchers_approach(&analysis->watchers, parts, &window->slots[i].sight);
    }
    for (guint i = 0; i < window->n; i++) {
        const rs_slot *slot = &window->slots[i];
        approach(analysis, parts, window, i);
        tell_before(analysis, parts, window, i, &at);
        for (; at.n_events < slot->n_events; at.n_events++) {
            rs_tell_event(analysis, parts,
                          &g_array_index(window->events, rs_occurrence, at.n_events));
        }
        tell_packet(analysis, parts, slot);
    }
    tell_before(analysis, parts, window, window->n, &at);
}
