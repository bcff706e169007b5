/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stopped.h"

#include "thresholds.h"

/* The next repeat would have come in twice the time of the last one, if timers double. */
rs_stop
rs_stop_of(const rs_analysis *analysis, const roce_stream *stream)
{
    const rs_stall *stall = rs_stalls_of(analysis->watchers.stalls, stream->id);
    if (stall == NULL || stall->repeats < RS_STOPPED_REPEATS || stream->partial_path ||
        stream->peer == ROCE_NO_STREAM) {
        return RS_WENT_ON;
    }
    const roce_stream *peer = roce_tracker_stream(analysis->tracker, stream->peer);
    if (peer->last_time_ns >= stall->since_ns ||
        stream->last_time_ns >= stall->newest_ns + stall->waited_ns) {
        return RS_WENT_ON;
    }
    guint64 end_ns = rs_analysis_point(analysis, stream->point)->last_ns;
    return stream->last_time_ns + 4 * stall->waited_ns < end_ns ? RS_STOPPED
                                                                : RS_CAPTURE_ENDS;
}
