/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collective.h"

struct rs_collective {
    rs_edges *edges;
    rs_activity *activity;
    rs_rhythm *rhythm;
    GPtrArray *groups;  /* rs_group; NULL before the end */
    GArray *performers; /* rs_performer; likewise */
    GArray *admissions; /* rs_admission; likewise */
};

rs_collective *
rs_collective_new(void)
{
    rs_collective *collective = g_new0(rs_collective, 1);
    collective->edges = rs_edges_new();
    collective->activity = rs_activity_new();
    return collective;
}

void
rs_collective_free(rs_collective *collective)
{
    if (collective == NULL) {
        return;
    }
    g_clear_pointer(&collective->admissions, g_array_unref);
    g_clear_pointer(&collective->performers, g_array_unref);
    g_clear_pointer(&collective->groups, g_ptr_array_unref);
    rs_rhythm_free(collective->rhythm);
    rs_activity_free(collective->activity);
    rs_edges_free(collective->edges);
    g_free(collective);
}

rs_collective_stream
rs_collective_know(rs_collective *collective, const roce_stream *stream)
{
    rs_edge_follower *follower = rs_edges_follower(collective->edges, stream);
    return (rs_collective_stream){
        .follower = follower,
        .newest = follower != NULL ? rs_activity_newest(collective->activity,
                                                        rs_edges_edge_of(follower))
                                   : NULL,
    };
}

void
rs_collective_approach(const rs_collective_stream *known)
{
    rs_edges_approach(known->follower);
    rs_activity_approach(known->newest);
}

void
rs_collective_approach_cell(const rs_collective *collective,
                            const rs_collective_stream *known, guint64 time_ns)
{
    if (known->newest != NULL) {
        rs_activity_approach_cell(collective->activity, known->newest, time_ns);
    }
}

void
rs_collective_packet(rs_collective *collective, const rs_sight *sight)
{
    const rs_load load = rs_edges_packet(collective->edges, sight);
    if (load.kind != RS_LOAD_NONE) {
        rs_activity_add(collective->activity,
                        rs_activity_newest(collective->activity, load.edge),
                        sight->frame->time_ns, sight->frame->number, load.bytes);
    }
}

void
rs_collective_glimpse(rs_collective *collective, const rs_collective_stream *known,
                      const rs_glimpse *glimpse)
{
    if (known->follower == NULL) {
        rs_edges_omit(collective->edges, glimpse->stream);
        return;
    }
    const rs_load load = rs_edges_glimpse(collective->edges, known->follower, glimpse);
    if (load.kind != RS_LOAD_NONE) {
        rs_activity_add(collective->activity, known->newest, glimpse->time_ns,
                        glimpse->frame, load.bytes);
    }
}

/* Two hosts of which one clears the other have the receiver's rhythm, unless they exchange
 * more in an iteration than it clears at once. */
static gboolean
is_rhythm_of_admission(const rs_collective *collective)
{
    const rs_rhythm *rhythm = collective->rhythm;
    const GArray *admissions = collective->admissions;
    if (rhythm == NULL || rhythm->several) {
        return FALSE;
    }
    for (guint i = 0; i < admissions->len; i++) {
        const rs_admission *a = &g_array_index(admissions, rs_admission, i);
        if (a->units <= (guint64)(rhythm->iterations->len + 1) * a->window) {
            return TRUE;
        }
    }
    return FALSE;
}

void
rs_collective_finish(rs_collective *collective, const roce_tracker *tracker,
                     const GArray *files)
{
    const rs_edges *edges = collective->edges;
    rs_edges_finish(collective->edges);
    rs_activity_settle(collective->activity);
    collective->rhythm = rs_rhythm_new(edges, collective->activity, tracker, files);
    collective->admissions = rs_admissions_new(edges, collective->rhythm, tracker);
    if (is_rhythm_of_admission(collective)) {
        g_clear_pointer(&collective->rhythm, rs_rhythm_free);
        g_array_unref(collective->admissions);
        collective->admissions = rs_admissions_new(edges, NULL, tracker);
    }
    collective->groups = rs_groups_new(edges, collective->rhythm, tracker);
    collective->performers =
        rs_performers_new(edges, collective->rhythm, collective->groups);
}

const rs_edges *
rs_collective_edges(const rs_collective *collective)
{
    return collective->edges;
}

const rs_rhythm *
rs_collective_rhythm(const rs_collective *collective)
{
    return collective->rhythm;
}

const GPtrArray *
rs_collective_groups(const rs_collective *collective)
{
    return collective->groups;
}

const GArray *
rs_collective_performers(const rs_collective *collective)
{
    return collective->performers;
}

const GArray *
rs_collective_admissions(const rs_collective *collective)
{
    return collective->admissions;
}
