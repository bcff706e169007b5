/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stopped.h"

#include "thresholds.h"

/* Whether the capture goes on behind the next repeat, which would have come in twice the time of
 * the last one, if timers double. */
static gboolean
is_overdue(const rs_analysis *analysis, const roce_stream *stream, guint64 waited_ns)
{
    guint64 end_ns = rs_analysis_point(analysis, stream->point)->last_ns;
    return stream->last_time_ns + 4 * waited_ns < end_ns;
}

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
    return is_overdue(analysis, stream, stall->waited_ns) ? RS_STOPPED
                                                          : RS_CAPTURE_ENDS;
}

/* Whether CM has ended the connection. */
static gboolean
is_disconnected(const rs_analysis *analysis, const roce_stream *stream)
{
    return stream->connection != ROCE_NO_STREAM &&
           roce_tracker_connection(analysis->tracker, stream->connection)->disconnected;
}

/* Whether what a stream repeats is the first that its queue pair sent here: it went on past
 * nothing, as it does when it is answered. */
static gboolean
is_at_its_first(const rs_analysis *analysis, guint32 stream)
{
    return rs_stalls_stuck_at(analysis->watchers.stalls, stream) <=
           roce_tracker_first_psn(analysis->tracker, stream);
}

guint
rs_stop_unanswered_repeats(const rs_analysis *analysis, const roce_stream *stream)
{
    guint64 waited_ns = 0;
    guint repeats = rs_stalls_stuck_for(analysis->watchers.stalls, stream, &waited_ns);
    gboolean gave_up =
        !roce_stream_is_paired(stream) && !stream->partial_path &&
        repeats >= RS_STOPPED_REPEATS && is_at_its_first(analysis, stream->id) &&
        (is_disconnected(analysis, stream) || is_overdue(analysis, stream, waited_ns));
    return gave_up ? repeats : 0;
}
