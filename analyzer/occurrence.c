/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "occurrence.h"

static guint64
interval_of(const roce_event *event, const roce_tracker *tracker)
{
    const roce_notifier *notifier =
        event->kind == ROCE_EVENT_CNP && event->stream != ROCE_NO_STREAM
            ? roce_tracker_notifier_of(tracker, event->stream)
            : NULL;
    return notifier != NULL && notifier->pacing.known ? notifier->pacing.interval_ns
                                                      : 0;
}

rs_occurrence
rs_occurrence_of(const roce_event *event, const roce_tracker *tracker)
{
    rs_occurrence o = {
        .event = *event,
        .carrier = roce_tracker_last_stream(tracker),
        .cnp_interval_ns = interval_of(event, tracker),
    };
    if (event->stream != ROCE_NO_STREAM) {
        o.stream = roce_tracker_stream(tracker, event->stream);
        o.is_paired = roce_stream_is_paired(o.stream);
        o.peer_carries = o.stream->peer == o.carrier;
    }
    return o;
}
