/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace.h"

#include "spool.h"

#include "roce/cm.h"

struct rs_trace {
    rs_spooled_rows *frames; /* rs_trace_row; row 0 is no frame */
    rs_spooled_rows *events; /* roce_event */
    GArray *cms;
    GError *error; /* why it is not whole */
};

rs_trace *
rs_trace_new(GError **error)
{
    g_autoptr(rs_trace) trace = g_new0(rs_trace, 1);
    trace->cms = g_array_new(FALSE, FALSE, sizeof(rs_trace_cm));
    trace->frames = rs_spooled_rows_new(sizeof(rs_trace_row), error);
    if (trace->frames == NULL) {
        return NULL;
    }
    trace->events = rs_spooled_rows_new(sizeof(roce_event), error);
    return trace->events != NULL ? g_steal_pointer(&trace) : NULL;
}

void
rs_trace_free(rs_trace *trace)
{
    if (trace == NULL) {
        return;
    }
    rs_spooled_rows_free(trace->frames);
    rs_spooled_rows_free(trace->events);
    g_array_unref(trace->cms);
    g_clear_error(&trace->error);
    g_free(trace);
}

/* A new row, or NULL once there was no room. */
static gpointer
make_row(rs_trace *trace, rs_spooled_rows *rows, guint64 number)
{
    return trace->error == NULL ? rs_spooled_rows_make(rows, number, &trace->error)
                                : NULL;
}

static void
note_frame(rs_trace *trace, const roce_frame *frame, guint32 stream,
           enum rs_trace_flag flag)
{
    rs_trace_row *row = make_row(trace, trace->frames, frame->number);
    if (row != NULL) {
        *row = (rs_trace_row){.time_ns = frame->time_ns,
                              .stream = stream,
                              .point = frame->point,
                              .flags = flag};
    }
}

static void
note_cm(rs_trace *trace, const rs_sight *sight)
{
    roce_cm_message message;
    if (trace->cms->len >= RS_TRACE_CMS || !sight->packet->has_bth ||
        sight->packet->bth.dest_qpn != ROCE_GSI_QPN ||
        roce_cm_decode(sight->frame->bytes, sight->frame->captured_bytes, sight->packet,
                       &message) != ROCE_DECODED) {
        return;
    }
    const rs_trace_cm cm = {
        .frame = sight->frame->number,
        .src = sight->packet->src,
        .dst = sight->packet->dst,
        .local_comm_id = message.local_comm_id,
        .remote_comm_id = message.remote_comm_id,
    };
    g_array_append_val(trace->cms, cm);
}

static void
take_packet(void *ctx, const rs_sight *sight)
{
    rs_trace *trace = ctx;
    note_frame(trace, sight->frame,
               sight->stream != NULL ? sight->stream->id : ROCE_NO_STREAM,
               RS_TRACE_TRACKED);
    note_cm(trace, sight);
}

static void
take_second_copy(void *ctx, const roce_frame *frame)
{
    note_frame(ctx, frame, ROCE_NO_STREAM, RS_TRACE_SECOND_COPY);
}

static void
take_event(void *ctx, const roce_event *event)
{
    rs_trace *trace = ctx;
    roce_event *row = make_row(trace, trace->events, rs_spooled_rows_n(trace->events));
    if (row != NULL) {
        *row = *event;
    }
}

rs_tap
rs_trace_tap(rs_trace *trace)
{
    return (rs_tap){take_packet, take_event, take_second_copy, trace};
}

gboolean
rs_trace_is_whole(const rs_trace *trace, GError **error)
{
    if (trace->error != NULL) {
        g_propagate_error(error, g_error_copy(trace->error));
    }
    return trace->error == NULL;
}

guint64
rs_trace_last_frame(const rs_trace *trace)
{
    guint64 n = rs_spooled_rows_n(trace->frames);
    return n > 0 ? n - 1 : 0;
}

rs_trace_row *
rs_trace_at(const rs_trace *trace, guint64 frame)
{
    return rs_spooled_rows_at(trace->frames, frame);
}

guint64
rs_trace_n_events(const rs_trace *trace)
{
    return rs_spooled_rows_n(trace->events);
}

const roce_event *
rs_trace_event(const rs_trace *trace, guint64 event_i)
{
    return rs_spooled_rows_at(trace->events, event_i);
}

const GArray *
rs_trace_cms(const rs_trace *trace)
{
    return trace->cms;
}
