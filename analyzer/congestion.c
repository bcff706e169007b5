/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "congestion.h"

#include "roce/aeth.h"
#include "roce/opcode.h"

/* A CNP that a NIC sends with a NAK leaves it within a few microseconds, and may wait in
 * another queue. */
#define NEXT_TO_NAK_NS 10000

struct rs_congestion {
    const roce_tracker *tracker;
    GArray *streams;       /* rs_stream_congestion */
    guint32 foreign_about; /* stream that the packet being taken, a CNP of somebody else
                            * than its receiver, is about; else ROCE_NO_STREAM */
    rs_reactions *reactions;
};

static void
clear_stream(gpointer data)
{
    rs_stream_congestion *s = data;
    g_free(s->cnps);
}

rs_congestion *
rs_congestion_new(const roce_tracker *tracker)
{
    rs_congestion *congestion = g_new0(rs_congestion, 1);
    congestion->tracker = tracker;
    congestion->foreign_about = ROCE_NO_STREAM;
    congestion->streams = g_array_new(FALSE, TRUE, sizeof(rs_stream_congestion));
    g_array_set_clear_func(congestion->streams, clear_stream);
    congestion->reactions = rs_reactions_new();
    return congestion;
}

void
rs_congestion_free(rs_congestion *congestion)
{
    if (congestion != NULL) {
        g_array_unref(congestion->streams);
        rs_reactions_free(congestion->reactions);
        g_free(congestion);
    }
}

static rs_stream_congestion *
of_stream(rs_congestion *congestion, guint32 stream)
{
    if (stream >= congestion->streams->len) {
        g_array_set_size(congestion->streams, stream + 1);
    }
    return &g_array_index(congestion->streams, rs_stream_congestion, stream);
}

static rs_stream_cnps *
cnps_of(rs_congestion *congestion, guint32 stream)
{
    rs_stream_congestion *s = of_stream(congestion, stream);
    if (s->cnps == NULL) {
        s->cnps = g_new0(rs_stream_cnps, 1);
    }
    return s->cnps;
}

/* ---- NAKs and the CNPs that go with them ---- */

static gboolean
are_neighbours(guint64 a_ns, guint64 b_ns)
{
    return (a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns) <= NEXT_TO_NAK_NS;
}

/* A NAK may come behind its CNP, which overtook it. */
static void
take_nak(rs_stream_cnps *s, guint64 now)
{
    if (s->alone_open && are_neighbours(now, s->alone_ns)) {
        s->carried.alone--;
        s->carried.with_nak++;
    }
    s->alone_open = FALSE;
    s->nak_seen = TRUE;
    s->nak_ns = now;
}

static void
take_carried(rs_stream_cnps *s, const roce_event *event)
{
    guint64 now = event->time_ns;
    if (event->related_frame != 0) {
        s->carried.answering++;
    } else if (s->nak_seen && are_neighbours(now, s->nak_ns)) {
        s->carried.with_nak++;
        s->nak_seen = FALSE; /* one for each */
    } else {
        s->carried.alone++;
        s->alone_ns = now;
        s->alone_open = TRUE;
    }
}

void
rs_congestion_event(rs_congestion *congestion, const rs_occurrence *o)
{
    const roce_event *event = &o->event;
    if (event->kind != ROCE_EVENT_CNP) {
        return;
    }
    gboolean known = event->stream != ROCE_NO_STREAM && event->stream != o->carrier;
    if (known) {
        rs_reactions_cnp(congestion->reactions, o);
    } else if (o->carrier != ROCE_NO_STREAM) {
        rs_reactions_open_cnp(congestion->reactions, o);
    }
    if (known && !o->peer_carries) {
        rs_stream_cnps *cause = cnps_of(congestion, event->stream);
        congestion->foreign_about = event->stream;
        cause->foreign.answering += event->related_frame != 0 ? 1 : 0;
        cause->foreign.alone += event->related_frame == 0 ? 1 : 0;
    } else if (o->carrier != ROCE_NO_STREAM) {
        take_carried(cnps_of(congestion, o->carrier), event);
    }
}

/* ---- packets ---- */

static rs_class_of
class_of(const roce_packet *p, const roce_opcode_info *info)
{
    if (info->role == ROCE_ROLE_CNP) {
        return RS_CLASS_CNPS;
    }
    if (info->role == ROCE_ROLE_ACK) {
        return roce_aeth_get_kind(p->aeth_syndrome) == ROCE_AETH_ACK ? RS_CLASS_ACKS
                                                                     : RS_CLASS_NAKS;
    }
    gboolean data = p->payload_bytes > 0 && (roce_role_is_request(info->role) ||
                                             roce_role_is_response_data(info->role));
    return data ? RS_CLASS_DATA : RS_N_CLASSES;
}

void
rs_congestion_packet(rs_congestion *congestion, const rs_sight *sight)
{
    if (sight->stream == NULL) {
        return;
    }
    rs_class_of what = class_of(sight->packet, sight->info);
    if (what != RS_N_CLASSES) {
        rs_stream_congestion *s = of_stream(congestion, sight->stream->id);
        s->priorities[what] |= (guint8)(1u << sight->priority);
        if (what == RS_CLASS_NAKS) {
            take_nak(cnps_of(congestion, sight->stream->id), sight->frame->time_ns);
        }
        if (what == RS_CLASS_DATA && s->not_ect_frame == 0 &&
            roce_packet_ecn(sight->packet) == ROCE_ECN_NOT_ECT) {
            s->not_ect_frame = sight->frame->number;
        }
    }
    if (congestion->foreign_about != ROCE_NO_STREAM && what == RS_CLASS_CNPS) {
        cnps_of(congestion, congestion->foreign_about)->foreign_priorities |=
            (guint8)(1u << sight->priority);
        congestion->foreign_about = ROCE_NO_STREAM;
    }
}

void
rs_congestion_meet(rs_congestion *congestion, const rs_sight *sight)
{
    rs_reactions_meet(congestion->reactions, sight);
}

void
rs_congestion_step(rs_congestion *congestion, const rs_sight *sight)
{
    rs_reactions_packet(congestion->reactions, sight);
}

void
rs_congestion_train(rs_congestion *congestion, const rs_train_sight *train)
{
    rs_reactions_train(congestion->reactions, train);
}

void
rs_congestion_approach(const rs_congestion *congestion, guint32 stream)
{
    rs_reactions_approach(congestion->reactions, stream);
}

void
rs_congestion_approach_more(const rs_congestion *congestion, guint32 stream)
{
    rs_reactions_approach_intervals(congestion->reactions, stream);
}

void
rs_congestion_finish(rs_congestion *congestion, guint64 resolution_ns)
{
    rs_reactions_finish(congestion->reactions, resolution_ns);
}

/* ---- what reporters read ---- */

const rs_stream_congestion *
rs_congestion_of(const rs_congestion *congestion, guint32 stream)
{
    static const rs_stream_congestion nothing;
    return stream < congestion->streams->len
               ? &g_array_index(congestion->streams, rs_stream_congestion, stream)
               : &nothing;
}

static const rs_stream_cnps *
known_cnps(const rs_congestion *congestion, guint32 stream)
{
    static const rs_stream_cnps none;
    const rs_stream_congestion *s = rs_congestion_of(congestion, stream);
    return s->cnps != NULL ? s->cnps : &none;
}

gboolean
rs_congestion_cnps(const rs_congestion *congestion, guint32 stream,
                   rs_cnp_counts *receivers, rs_cnp_counts *others)
{
    const roce_stream *s = roce_tracker_stream(congestion->tracker, stream);
    *receivers = (rs_cnp_counts){0};
    *others = known_cnps(congestion, stream)->foreign;
    if (s->peer == ROCE_NO_STREAM) {
        return FALSE;
    }
    *receivers = known_cnps(congestion, s->peer)->carried;
    return TRUE;
}

guint8
rs_congestion_priorities(const rs_congestion *congestion, guint32 stream,
                         rs_class_of what)
{
    const rs_stream_congestion *own = rs_congestion_of(congestion, stream);
    if (what == RS_CLASS_DATA) {
        return own->priorities[what];
    }
    guint32 peer = roce_tracker_stream(congestion->tracker, stream)->peer;
    guint8 priorities =
        what == RS_CLASS_CNPS ? known_cnps(congestion, stream)->foreign_priorities : 0;
    if (peer != ROCE_NO_STREAM) {
        priorities |= rs_congestion_of(congestion, peer)->priorities[what];
    }
    return priorities;
}

const rs_reactions *
rs_congestion_reactions(const rs_congestion *congestion)
{
    return congestion->reactions;
}
