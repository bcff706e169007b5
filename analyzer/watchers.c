/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "watchers.h"

#include "analysis.h"

void
rs_watchers_init(rs_watchers *watchers, const rs_analysis *analysis)
{
    *watchers = (rs_watchers){
        .timeline = rs_timeline_new(analysis->tracker),
        .background = rs_background_new(),
    };
}

void
rs_watchers_clear(rs_watchers *watchers)
{
    rs_timeline_free(watchers->timeline);
    rs_background_free(watchers->background);
}

void
rs_watchers_packet(rs_watchers *watchers, const rs_sight *sight)
{
    rs_timeline_packet(watchers->timeline, sight);
    rs_odd_frames_packet(&watchers->odd_frames, sight);
    rs_background_packet(watchers->background, sight);
}

void
rs_watchers_event(rs_watchers *watchers, const roce_event *event)
{
    rs_timeline_event(watchers->timeline, event);
    rs_odd_frames_event(&watchers->odd_frames, event);
}

void
rs_watchers_finish(rs_watchers *watchers, const rs_analysis *analysis)
{
    rs_timeline_finish(watchers->timeline, analysis->resolution_ns);
    rs_background_finish(watchers->background);
}
