/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "priorities.h"

#include <string.h>

struct rs_priorities {
    const rs_options *options;
    GPtrArray *points; /* rs_point_priorities or NULL, by point */
    GArray *streams;   /* rs_stream_priorities, by stream */
};

static void
free_point(gpointer data)
{
    g_free(data);
}

static void
clear_stream(gpointer data)
{
    rs_stream_priorities *s = data;
    g_free(s->changed);
}

rs_priorities *
rs_priorities_new(const rs_options *options)
{
    rs_priorities *priorities = g_new0(rs_priorities, 1);
    priorities->options = options;
    priorities->points = g_ptr_array_new_with_free_func(free_point);
    priorities->streams = g_array_new(FALSE, TRUE, sizeof(rs_stream_priorities));
    g_array_set_clear_func(priorities->streams, clear_stream);
    return priorities;
}

void
rs_priorities_free(rs_priorities *priorities)
{
    if (priorities == NULL) {
        return;
    }
    g_ptr_array_unref(priorities->points);
    g_array_unref(priorities->streams);
    g_free(priorities);
}

gboolean
rs_is_connected_data(const roce_packet *packet)
{
    if (packet->kind != ROCE_CLASS_ROCE || packet->payload_bytes == 0) {
        return FALSE;
    }
    switch (packet->transport) {
    case ROCE_TRANSPORT_RC:
    case ROCE_TRANSPORT_UC:
    case ROCE_TRANSPORT_RD:
    case ROCE_TRANSPORT_DC:
    case ROCE_TRANSPORT_XRC:
        return TRUE;
    case ROCE_TRANSPORT_UD:
    case ROCE_TRANSPORT_CNP:
    case ROCE_TRANSPORT_VENDOR:
    case ROCE_TRANSPORT_UNKNOWN:
    case ROCE_N_TRANSPORTS:
        break;
    }
    return FALSE;
}

static rs_point_priorities *
point_of(rs_priorities *priorities, guint32 point)
{
    if (point >= RS_PRIORITIES_POINTS) {
        return NULL;
    }
    if (point >= priorities->points->len) {
        g_ptr_array_set_size(priorities->points, (gint)point + 1);
    }
    rs_point_priorities *found = g_ptr_array_index(priorities->points, point);
    if (found == NULL) {
        found = priorities->points->pdata[point] = g_new0(rs_point_priorities, 1);
    }
    return found;
}

/* Whether the PCP is not what the map makes of the DSCP. */
static gboolean
disagrees(const rs_options *options, const roce_packet *p)
{
    const roce_queued_by by = roce_packet_queued_by(p);
    return by.is_tagged && by.pcp != options->dscp_map[by.dscp];
}

static void
add_to_point(rs_point_priorities *point, const rs_options *options,
             const rs_sight *sight)
{
    const roce_packet *p = sight->packet;
    const roce_queued_by by = roce_packet_queued_by(p);
    rs_priority_data *data = &point->data[sight->priority];
    data->packets += sight->n;
    data->bytes += sight->wire_bytes;
    rs_frames_keep_newest(&data->frames, sight->frame->number, sight->n);
    if (by.is_tagged) {
        point->tagged += sight->n;
        point->pcps[by.pcp][by.dscp] += sight->n;
        if (disagrees(options, p)) {
            rs_frames_keep_newest(&point->disagreeing, sight->frame->number, sight->n);
        }
    } else {
        point->untagged_dscps[by.dscp] += sight->n;
    }
}

static void
count_dscp(rs_stream_priorities *s, guint8 dscp, guint64 n)
{
    guint i = 0;
    while (i < s->n_dscps && s->dscps[i] != dscp) {
        i++;
    }
    if (i == RS_PRIORITIES_DSCPS) {
        s->more_dscps = TRUE;
        return;
    }
    s->n_dscps = (guint8)MAX(s->n_dscps, i + 1);
    s->dscps[i] = dscp;
    s->dscp_packets[i] += n;
}

static rs_priority_changes *
changes_of(rs_stream_priorities *s)
{
    if (s->changed == NULL) {
        s->changed = g_new0(rs_priority_changes, 1);
    }
    return s->changed;
}

static void
add_to_stream(rs_stream_priorities *s, const rs_options *options, const rs_sight *sight)
{
    guint64 frame = sight->frame->number;
    guint8 dscp = sight->packet->traffic_class >> 2;
    guint8 bit = (guint8)(1u << sight->priority);
    if (s->n_dscps > 0 && dscp != s->newest_dscp) {
        rs_priority_changes *c = changes_of(s);
        c->changes++;
        if (c->at_change == 0) {
            c->before_change = s->newest_frame;
            c->at_change = frame;
        }
    }
    if (s->priorities != 0 && (s->priorities & bit) == 0 &&
        changes_of(s)->at_second == 0) {
        s->changed->before_second = s->newest_frame;
        s->changed->at_second = frame;
    }
    s->priorities |= bit;
    guint8 queued_by = roce_packet_queued_by(sight->packet).dscp;
    s->named |= (guint8)(1u << options->dscp_map[queued_by]);
    s->newest_dscp = dscp;
    /* What waited in a run may be counted behind what stood beside it, and came before. */
    s->newest_frame = MAX(s->newest_frame, frame);
    count_dscp(s, dscp, sight->n);
}

void
rs_priorities_packet(rs_priorities *priorities, const rs_sight *sight)
{
    if (sight->stream == NULL || !rs_is_connected_data(sight->packet)) {
        return;
    }
    rs_point_priorities *point = point_of(priorities, sight->frame->point);
    if (point != NULL) {
        add_to_point(point, priorities->options, sight);
    }
    guint32 id = sight->stream->id;
    if (id >= RS_PRIORITIES_STREAMS) {
        return;
    }
    if (id >= priorities->streams->len) {
        g_array_set_size(priorities->streams, id + 1);
    }
    add_to_stream(&g_array_index(priorities->streams, rs_stream_priorities, id),
                  priorities->options, sight);
}

gboolean
rs_priorities_only_count(const rs_priorities *priorities, const rs_sight *sight)
{
    const rs_point_priorities *point =
        rs_priorities_point(priorities, sight->frame->point);
    if (point == NULL || !rs_is_connected_data(sight->packet)) {
        return TRUE;
    }
    return rs_frames_are_full(&point->data[sight->priority].frames) &&
           (!disagrees(priorities->options, sight->packet) ||
            rs_frames_are_full(&point->disagreeing));
}

const rs_point_priorities *
rs_priorities_point(const rs_priorities *priorities, guint32 point)
{
    return point < priorities->points->len
               ? g_ptr_array_index(priorities->points, point)
               : NULL;
}

const rs_stream_priorities *
rs_priorities_stream(const rs_priorities *priorities, guint32 stream)
{
    if (stream >= priorities->streams->len) {
        return NULL;
    }
    const rs_stream_priorities *s =
        &g_array_index(priorities->streams, rs_stream_priorities, stream);
    return s->n_dscps > 0 ? s : NULL;
}

const rs_priority_changes *
rs_priority_changes_of(const rs_stream_priorities *s)
{
    static const rs_priority_changes none;
    return s->changed != NULL ? s->changed : &none;
}
