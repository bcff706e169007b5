/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "psn_plot.h"

#include "data_sight.h"

/* Every stride-th of the points of one kind, at most RS_PSN_PLOT_POINTS. */
typedef struct thinned {
    guint64 total;
    guint64 stride;
    GArray *points; /* rs_psn_point; NULL: none */
} thinned;

/* What is drawn of one stream. */
typedef struct drawing {
    thinned kinds[RS_PSN_KINDS];
    rs_psn_point recent[RS_PSN_PLOT_AROUND]; /* a ring of its newest packets */
    guint64 n_recent;                        /* put into the ring so far */
    guint64 detailed;                        /* of them, up to here are in `details` */
    guint to_come;   /* packets to be kept whatever they are, after a fault */
    GArray *details; /* rs_psn_point, at most RS_PSN_PLOT_DETAILS; NULL: none */
} drawing;

struct rs_psn_plot {
    drawing *streams[RS_PSN_PLOT_STREAMS]; /* NULL: nothing seen */
};

rs_psn_plot *
rs_psn_plot_new(void)
{
    rs_psn_plot *plot = g_new0(rs_psn_plot, 1);
    return plot;
}

void
rs_psn_plot_free(rs_psn_plot *plot)
{
    for (guint i = 0; plot != NULL && i < RS_PSN_PLOT_STREAMS; i++) {
        drawing *d = plot->streams[i];
        for (guint kind = 0; d != NULL && kind < RS_PSN_KINDS; kind++) {
            g_clear_pointer(&d->kinds[kind].points, g_array_unref);
        }
        if (d != NULL) {
            g_clear_pointer(&d->details, g_array_unref);
            g_free(d);
        }
    }
    g_free(plot);
}

/* NULL beyond the bound. */
static drawing *
drawing_of(rs_psn_plot *plot, guint32 stream)
{
    if (stream >= RS_PSN_PLOT_STREAMS) {
        return NULL;
    }
    if (plot->streams[stream] == NULL) {
        plot->streams[stream] = g_new0(drawing, 1);
    }
    return plot->streams[stream];
}

/* Keeps every second point. */
static void
thin_out(thinned *t)
{
    guint n = 0;
    for (guint i = 0; i < t->points->len; i += 2) {
        g_array_index(t->points, rs_psn_point, n++) =
            g_array_index(t->points, rs_psn_point, i);
    }
    g_array_set_size(t->points, n);
    t->stride *= 2;
}

static void
add_thinned(thinned *t, const rs_psn_point *point)
{
    if (t->points == NULL) {
        t->points = g_array_new(FALSE, FALSE, sizeof(rs_psn_point));
        t->stride = 1;
    }
    if (t->total++ % t->stride != 0) {
        return;
    }
    if (t->points->len == RS_PSN_PLOT_POINTS) {
        thin_out(t); /* room is even: this point's turn stays */
    }
    g_array_append_val(t->points, *point);
}

/* ---- details around faults ---- */

static void
add_detail(drawing *d, const rs_psn_point *point)
{
    if (d->details == NULL) {
        d->details = g_array_new(FALSE, FALSE, sizeof(rs_psn_point));
    }
    if (d->details->len < RS_PSN_PLOT_DETAILS) {
        g_array_append_val(d->details, *point);
    }
}

/* Keeps the packets before a fault, and those that will come after it. */
static void
look_closely(drawing *d)
{
    guint64 from = d->n_recent - MIN(d->n_recent, RS_PSN_PLOT_AROUND);
    for (guint64 i = MAX(from, d->detailed); i < d->n_recent; i++) {
        add_detail(d, &d->recent[i % RS_PSN_PLOT_AROUND]);
    }
    d->detailed = d->n_recent;
    d->to_come = RS_PSN_PLOT_AROUND;
}

static void
pass_by(drawing *d, const rs_psn_point *point)
{
    d->recent[d->n_recent++ % RS_PSN_PLOT_AROUND] = *point;
    if (d->to_come > 0) {
        d->to_come--;
        d->detailed = d->n_recent;
        add_detail(d, point);
    }
}

/* ---- packets ---- */

static void
draw_data(drawing *d, const rs_sight *sight)
{
    const roce_sighting *at = sight->sighting;
    rs_psn_point point = {
        .time_ns = sight->frame->time_ns,
        .frame = sight->frame->number,
        .psn = at->psn,
        .span = at->span,
        .kind = at->space == ROCE_SPACE_REQUESTS ? RS_PSN_REQUEST : RS_PSN_RESPONSE,
        .space = (guint8)at->space,
    };
    add_thinned(&d->kinds[point.kind], &point);
    pass_by(d, &point);
    if (sight->is_data && roce_packet_ecn(sight->packet) == ROCE_ECN_CE) {
        point.kind = RS_PSN_CE;
        add_thinned(&d->kinds[RS_PSN_CE], &point);
    }
}

/* What is acknowledged is the other direction's. */
static void
draw_ack(rs_psn_plot *plot, const rs_sight *sight)
{
    const roce_sighting *at = sight->sighting;
    if (at->acked_until <= at->acked_from) {
        return;
    }
    drawing *d = drawing_of(plot, sight->peer);
    if (d == NULL) {
        return;
    }
    const rs_psn_point point = {
        .time_ns = sight->frame->time_ns,
        .frame = sight->frame->number,
        .psn = at->acked_until,
        .kind = RS_PSN_ACK,
        .space = ROCE_SPACE_REQUESTS,
    };
    add_thinned(&d->kinds[RS_PSN_ACK], &point);
    pass_by(d, &point);
}

void
rs_psn_plot_packet(rs_psn_plot *plot, const rs_sight *sight)
{
    if (sight->stream == NULL || sight->sighting->stream == ROCE_NO_STREAM) {
        return;
    }
    drawing *d = drawing_of(plot, sight->stream->id);
    if (d != NULL && sight->sighting->sequenced) {
        draw_data(d, sight);
    }
    draw_ack(plot, sight);
}

/* ---- events ---- */

typedef struct drawn_event {
    guint8 kind;
    gboolean is_drawn;
    gboolean is_fault;
} drawn_event;

static const drawn_event drawn_events[ROCE_N_EVENTS] = {
    [ROCE_EVENT_GAP] = {RS_PSN_GAP, TRUE, TRUE},
    [ROCE_EVENT_LATE] = {RS_PSN_LATE, TRUE, TRUE},
    [ROCE_EVENT_DUPLICATE] = {RS_PSN_DUPLICATE, TRUE, FALSE},
    [ROCE_EVENT_RETRANSMISSION] = {RS_PSN_RETRANSMISSION, TRUE, FALSE},
    [ROCE_EVENT_ROUND] = {0, FALSE, TRUE},
    [ROCE_EVENT_NAK] = {RS_PSN_NAK, TRUE, TRUE},
    [ROCE_EVENT_RNR_NAK] = {RS_PSN_RNR_NAK, TRUE, TRUE},
    [ROCE_EVENT_RESPONSE_RESENT] = {RS_PSN_RESPONSE_RESENT, TRUE, TRUE},
    [ROCE_EVENT_CNP] = {RS_PSN_CNP, TRUE, FALSE},
    [ROCE_EVENT_LOSS] = {RS_PSN_LOSS, TRUE, FALSE},
};

/* A NAK of a stream without the other direction is told of the stream that carries it,
 * whose PSNs it does not speak of. */
static gboolean
speaks_of(const rs_occurrence *o)
{
    return (o->event.kind != ROCE_EVENT_NAK && o->event.kind != ROCE_EVENT_RNR_NAK) ||
           o->is_paired;
}

void
rs_psn_plot_event(rs_psn_plot *plot, const rs_occurrence *o)
{
    const roce_event *event = &o->event;
    const drawn_event *how = &drawn_events[event->kind];
    if (event->stream == ROCE_NO_STREAM || (!how->is_drawn && !how->is_fault) ||
        !speaks_of(o)) {
        return;
    }
    drawing *d = drawing_of(plot, event->stream);
    if (d == NULL) {
        return;
    }
    if (how->is_drawn) {
        const rs_psn_point point = {
            .time_ns = event->time_ns,
            .frame = event->frame,
            .psn = event->psn,
            .span = (guint32)MIN(event->count, G_MAXUINT32),
            .kind = how->kind,
            .space = (guint8)event->space,
            .detail = event->detail,
        };
        add_thinned(&d->kinds[how->kind], &point);
    }
    if (how->is_fault) {
        look_closely(d);
    }
}

/* ---- answers ---- */

static gint
by_time(gconstpointer a, gconstpointer b)
{
    const rs_psn_point *first = a;
    const rs_psn_point *second = b;
    if (first->time_ns != second->time_ns) {
        return first->time_ns < second->time_ns ? -1 : 1;
    }
    if (first->frame != second->frame) {
        return first->frame < second->frame ? -1 : 1;
    }
    if (first->kind != second->kind) {
        return first->kind < second->kind ? -1 : 1;
    }
    return first->psn < second->psn ? -1 : first->psn > second->psn;
}

/* A packet around a fault may have been kept among its kind as well. */
static void
drop_repeats(GArray *points)
{
    guint n = 0;
    for (guint i = 0; i < points->len; i++) {
        const rs_psn_point *point = &g_array_index(points, rs_psn_point, i);
        if (n == 0 ||
            by_time(&g_array_index(points, rs_psn_point, n - 1), point) != 0) {
            g_array_index(points, rs_psn_point, n++) = *point;
        }
    }
    g_array_set_size(points, n);
}

static void
append_all(GArray *points, const GArray *some)
{
    if (some != NULL && some->len > 0) {
        g_array_append_vals(points, some->data, some->len);
    }
}

GArray *
rs_psn_plot_points(const rs_psn_plot *plot, guint32 stream)
{
    if (stream >= RS_PSN_PLOT_STREAMS || plot->streams[stream] == NULL) {
        return NULL;
    }
    const drawing *d = plot->streams[stream];
    GArray *points = g_array_new(FALSE, FALSE, sizeof(rs_psn_point));
    for (guint kind = 0; kind < RS_PSN_KINDS; kind++) {
        append_all(points, d->kinds[kind].points);
    }
    append_all(points, d->details);
    g_array_sort(points, by_time);
    drop_repeats(points);
    return points;
}

guint64
rs_psn_plot_total(const rs_psn_plot *plot, guint32 stream, rs_psn_kind kind)
{
    return stream < RS_PSN_PLOT_STREAMS && plot->streams[stream] != NULL
               ? plot->streams[stream]->kinds[kind].total
               : 0;
}

const char *
rs_psn_kind_name(rs_psn_kind kind)
{
    static const char *const names[] = {
        [RS_PSN_REQUEST] = "request",
        [RS_PSN_RESPONSE] = "response",
        [RS_PSN_ACK] = "ack",
        [RS_PSN_RETRANSMISSION] = "retransmission",
        [RS_PSN_RESPONSE_RESENT] = "response_resent",
        [RS_PSN_NAK] = "nak",
        [RS_PSN_RNR_NAK] = "rnr_nak",
        [RS_PSN_CNP] = "cnp",
        [RS_PSN_CE] = "ce",
        [RS_PSN_GAP] = "gap",
        [RS_PSN_LATE] = "late",
        [RS_PSN_DUPLICATE] = "duplicate",
        [RS_PSN_LOSS] = "loss",
    };
    _Static_assert(G_N_ELEMENTS(names) == RS_PSN_KINDS, "a name for each kind");
    return names[kind];
}
