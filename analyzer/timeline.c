/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "timeline.h"

#include "approach.h"
#include "bins.h"

#define LEAST_BIN_NS 1000
#define BITS_PER_BYTE 8
#define UDP_HEADER_BYTES 8

/* Columns of a stream's bins, which are two series: most streams have no signs. */
#define TRAFFIC_COLUMNS RS_TIMELINE_CE /* the rows before this one */
#define BY_OTHERS RS_TIMELINE_N_ROWS   /* CNPs that a switch sent about its data */
#define SIGN_COLUMNS (BY_OTHERS + 1 - TRAFFIC_COLUMNS)
/* Columns of a point's bins, behind its rows. */
#define PAUSED RS_TIMELINE_N_ROWS /* by priority */
#define POINT_COLUMNS (PAUSED + ROCE_PRIORITY_GLOBAL + 1)

/* A stream that has bins.  Its packets of one bin are entered together, when one of another
 * comes.  Of what only grows the low half is kept: of two, the difference is right. */
typedef struct progress {
    guint64 newest_ns;        /* of a bin that begins at start_ns, inclusive, ... */
    guint64 start_ns, end_ns; /* ... and ends there; both 0 before the first packet */
    guint64 bits;             /* that are not entered yet */
    guint32 packets;
    guint32 now[RS_TIMELINE_N_ROWS]; /* its counters with its newest packet, but bits */
    guint32 entered[RS_TIMELINE_N_ROWS];
} progress;

/* What streams without bins of their own add to those of their point, of one bin. */
typedef struct portion {
    guint64 start_ns, end_ns; /* of the bin; both 0 before the first packet */
    guint64 newest_ns;
    guint64 rows[RS_TIMELINE_N_ROWS];
} portion;

/* What one of them had counted when that was last added. */
typedef struct counts {
    guint32 packets, data, ce, cnps, resent; /* as in rs_counted */
} counts;

/* The bins of a stream; NULL: all 0. */
typedef struct stream_series {
    rs_series *traffic, *signs;
} stream_series;

struct rs_timeline {
    const roce_tracker *tracker;
    rs_bins *bins;
    stream_series streams[RS_TIMELINE_STREAMS];
    rs_series *points[RS_TIMELINE_POINTS];
    portion portions[RS_TIMELINE_POINTS];
    GArray *streams_so_far; /* progress, of those that have bins */
    GArray *further;        /* counts, of the streams behind them */
};

rs_timeline *
rs_timeline_new(const roce_tracker *tracker)
{
    rs_timeline *timeline = g_new0(rs_timeline, 1);
    timeline->tracker = tracker;
    timeline->bins = rs_bins_new(LEAST_BIN_NS);
    timeline->streams_so_far = g_array_new(FALSE, TRUE, sizeof(progress));
    timeline->further = g_array_new(FALSE, TRUE, sizeof(counts));
    return timeline;
}

void
rs_timeline_free(rs_timeline *timeline)
{
    if (timeline != NULL) {
        rs_bins_free(timeline->bins);
        g_array_unref(timeline->streams_so_far);
        g_array_unref(timeline->further);
        g_free(timeline);
    }
}

/* A series, made when first needed. */
static rs_series *
need(rs_timeline *timeline, rs_series **series, guint columns)
{
    if (*series == NULL) {
        *series = rs_bins_add_series(timeline->bins, columns);
    }
    return *series;
}

static rs_series *
need_signs(rs_timeline *timeline, guint32 stream)
{
    return need(timeline, &timeline->streams[stream].signs, SIGN_COLUMNS);
}

/* NULL beyond the bound. */
static rs_series *
point_series(rs_timeline *timeline, guint32 point)
{
    return point < RS_TIMELINE_POINTS
               ? need(timeline, &timeline->points[point], POINT_COLUMNS)
               : NULL;
}

static void
follow(progress *p, const rs_counted *counted)
{
    p->packets = counted->packets;
    p->now[RS_TIMELINE_DATA] = counted->data;
    p->now[RS_TIMELINE_CE] = counted->ce;
    p->now[RS_TIMELINE_CNPS] = counted->cnps;
    p->now[RS_TIMELINE_RETRANSMISSIONS] = counted->resent;
}

static progress *
progress_of(rs_timeline *timeline, guint32 stream)
{
    if (stream >= timeline->streams_so_far->len) {
        g_array_set_size(timeline->streams_so_far, stream + 1);
    }
    return &g_array_index(timeline->streams_so_far, progress, stream);
}

/* How much one has grown; it may have been taken back. */
static guint64
growth(guint32 now, guint32 before)
{
    return (guint64)(gint64)(gint32)(now - before);
}

/* Enters what is not 0 of a stream's rows. */
static void
enter_rows(rs_timeline *timeline, const roce_stream *s, guint64 time_ns,
           const guint64 *rows)
{
    if (rows[RS_TIMELINE_BITS] != 0 || rows[RS_TIMELINE_DATA] != 0) {
        rs_series *traffic =
            need(timeline, &timeline->streams[s->id].traffic, TRAFFIC_COLUMNS);
        rs_bins_add(timeline->bins, traffic, time_ns, rows, TRAFFIC_COLUMNS);
    }
    guint64 signs = 0;
    for (guint row = TRAFFIC_COLUMNS; row < RS_TIMELINE_N_ROWS; row++) {
        signs |= rows[row];
    }
    if (signs != 0) {
        rs_bins_add(timeline->bins, need_signs(timeline, s->id), time_ns,
                    &rows[TRAFFIC_COLUMNS], RS_TIMELINE_N_ROWS - TRAFFIC_COLUMNS);
    }
}

/* Enters what the counters of a stream have grown by, at its newest packet. */
static void
enter(rs_timeline *timeline, const roce_stream *s, progress *p)
{
    guint64 rows[RS_TIMELINE_N_ROWS] = {[RS_TIMELINE_BITS] = p->bits};
    guint64 any = p->bits;
    for (guint row = RS_TIMELINE_BITS + 1; row < RS_TIMELINE_N_ROWS; row++) {
        rows[row] = growth(p->now[row], p->entered[row]);
        p->entered[row] = p->now[row];
        any |= rows[row];
    }
    p->bits = 0;
    if (any == 0) {
        return;
    }
    enter_rows(timeline, s, p->newest_ns, rows);
    rs_series *of_point = point_series(timeline, s->point);
    if (of_point != NULL) {
        rs_bins_add(timeline->bins, of_point, p->newest_ns, rows, RS_TIMELINE_N_ROWS);
    }
}

/* What IP carries: UDP with its header; of RoCEv1, what the GRH carries. */
static guint64
ip_payload_bits(const roce_packet *packet)
{
    guint64 bytes = packet->udp_length;
    if (packet->is_grh) {
        bytes -= MIN(bytes, UDP_HEADER_BYTES);
    }
    return bytes * BITS_PER_BYTE;
}

/* ---- streams without bins of their own ---- */

static counts *
further_of(rs_timeline *timeline, guint32 stream)
{
    guint32 i = stream - RS_TIMELINE_STREAMS;
    if (i >= timeline->further->len) {
        g_array_set_size(timeline->further, i + 1);
    }
    return &g_array_index(timeline->further, counts, i);
}

static void
enter_portion(rs_timeline *timeline, guint32 point)
{
    portion *p = &timeline->portions[point];
    guint64 any = 0;
    for (guint row = 0; row < RS_TIMELINE_N_ROWS; row++) {
        any |= p->rows[row];
    }
    if (any != 0) {
        rs_bins_add(timeline->bins, point_series(timeline, point), p->newest_ns,
                    p->rows, RS_TIMELINE_N_ROWS);
    }
    *p = (portion){0};
}

/* The rows of a point that what was counted at a time goes to; NULL beyond the bound. */
static guint64 *
rows_at(rs_timeline *timeline, guint32 point, guint64 time_ns)
{
    if (point >= RS_TIMELINE_POINTS) {
        return NULL;
    }
    portion *p = &timeline->portions[point];
    if (time_ns < p->start_ns || time_ns >= p->end_ns) {
        enter_portion(timeline, point);
        rs_bins_around(timeline->bins, time_ns, &p->start_ns, &p->end_ns);
    }
    p->newest_ns = time_ns;
    return p->rows;
}

/* Adds what a stream has counted since. */
static void
add_further(guint64 *rows, counts *before, const rs_counted *now)
{
    rows[RS_TIMELINE_DATA] += growth(now->data, before->data);
    rows[RS_TIMELINE_CE] += growth(now->ce, before->ce);
    rows[RS_TIMELINE_CNPS] += growth(now->cnps, before->cnps);
    rows[RS_TIMELINE_RETRANSMISSIONS] += growth(now->resent, before->resent);
    *before = (counts){
        .packets = now->packets,
        .data = now->data,
        .ce = now->ce,
        .cnps = now->cnps,
        .resent = now->resent,
    };
}

static void
take_further(rs_timeline *timeline, const rs_sight *sight)
{
    const roce_stream *s = sight->stream;
    guint64 *rows = rows_at(timeline, s->point, sight->frame->time_ns);
    if (rows == NULL) {
        return;
    }
    counts *before = further_of(timeline, s->id);
    if (sight->counted.packets != before->packets) {
        rows[RS_TIMELINE_BITS] += ip_payload_bits(sight->packet);
    }
    add_further(rows, before, &sight->counted);
}

static void
take_further_train(rs_timeline *timeline, const rs_train_sight *train)
{
    const roce_stream *s = train->stream;
    if (s->point >= RS_TIMELINE_POINTS) {
        return;
    }
    counts *before = further_of(timeline, s->id);
    for (guint i = 0; i < train->n; i++) {
        guint64 *rows = rows_at(timeline, s->point, train->cars[i].time_ns);
        if (i == 0) {
            add_further(rows, before, &train->before);
        }
        rows[RS_TIMELINE_BITS] += (guint64)train->cars[i].udp_bytes * BITS_PER_BYTE;
        rows[RS_TIMELINE_DATA]++;
    }
    before->packets += train->n;
    before->data += train->n;
}

/* ---- packets ---- */

void
rs_timeline_packet(rs_timeline *timeline, const rs_sight *sight)
{
    const roce_stream *s = sight->stream;
    if (s == NULL) {
        return;
    }
    if (s->id >= RS_TIMELINE_STREAMS) {
        take_further(timeline, sight);
        return;
    }
    progress *p = progress_of(timeline, s->id);
    guint64 now_ns = sight->frame->time_ns;
    if (now_ns < p->start_ns || now_ns >= p->end_ns) {
        enter(timeline, s, p);
        rs_bins_around(timeline->bins, now_ns, &p->start_ns, &p->end_ns);
    }
    p->newest_ns = now_ns;
    if (sight->counted.packets != p->packets) {
        p->bits += ip_payload_bits(sight->packet);
    }
    follow(p, &sight->counted);
}

/* n cars of the bin of a stream, which has counted so much before. */
static inline void
add_cars(progress *p, rs_counted *counted, guint64 bytes, guint n)
{
    p->bits += bytes * BITS_PER_BYTE;
    counted->packets += n;
    counted->data += n;
    follow(p, counted);
}

void
rs_timeline_train(rs_timeline *timeline, const rs_train_sight *train)
{
    const roce_stream *s = train->stream;
    if (s->id >= RS_TIMELINE_STREAMS) {
        take_further_train(timeline, train);
        return;
    }
    progress *p = progress_of(timeline, s->id);
    rs_counted counted = train->before;
    guint64 bytes = 0; /* that are not the bin's yet; as many packets: */
    guint n = 0;
    for (guint i = 0; i < train->n; i++) {
        const roce_car *car = &train->cars[i];
        if (car->time_ns - p->start_ns >= p->end_ns - p->start_ns) {
            add_cars(p, &counted, bytes, n);
            enter(timeline, s, p);
            rs_bins_around(timeline->bins, car->time_ns, &p->start_ns, &p->end_ns);
            bytes = n = 0;
        }
        p->newest_ns = car->time_ns;
        bytes += car->udp_bytes;
        n++;
    }
    add_cars(p, &counted, bytes, n);
}

void
rs_timeline_approach(const rs_timeline *timeline, guint32 stream)
{
    rs_approach_element(timeline->streams_so_far, stream, sizeof(progress));
    if (stream < RS_TIMELINE_STREAMS) {
        rs_approach(&timeline->streams[stream], sizeof(stream_series));
    }
}

/* Whether packets until then are entered: the bin that is gathered is over by then. */
static gboolean
enters_by(const rs_timeline *timeline, guint32 stream, guint64 time_ns)
{
    if (stream >= RS_TIMELINE_STREAMS || stream >= timeline->streams_so_far->len) {
        return FALSE;
    }
    const progress *p = &g_array_index(timeline->streams_so_far, progress, stream);
    return time_ns - p->start_ns >= p->end_ns - p->start_ns;
}

void
rs_timeline_approach_series(const rs_timeline *timeline, guint32 stream,
                            guint64 time_ns)
{
    if (enters_by(timeline, stream, time_ns)) {
        rs_series_approach(timeline->streams[stream].traffic);
    }
}

void
rs_timeline_approach_bin(const rs_timeline *timeline, guint32 stream, guint64 time_ns)
{
    if (enters_by(timeline, stream, time_ns)) {
        rs_series_approach_newest(timeline->streams[stream].traffic);
    }
}

/* A CNP whose cause is known and which the other direction does not carry. */
static void
add_foreign_cnp(rs_timeline *timeline, const rs_occurrence *o)
{
    const roce_event *event = &o->event;
    if (event->stream < RS_TIMELINE_STREAMS && event->stream != o->carrier &&
        !o->peer_carries) {
        rs_bins_count(timeline->bins, need_signs(timeline, event->stream),
                      BY_OTHERS - TRAFFIC_COLUMNS, event->time_ns, 1);
    }
}

static void
add_pause(rs_timeline *timeline, guint32 point, guint8 priority, guint64 start_ns,
          guint64 end_ns)
{
    rs_series *series = point_series(timeline, point);
    if (series != NULL) {
        rs_bins_cover(timeline->bins, series, PAUSED + (guint)priority, start_ns,
                      end_ns);
    }
}

void
rs_timeline_event(rs_timeline *timeline, const rs_occurrence *o)
{
    const roce_event *event = &o->event;
    if (event->kind == ROCE_EVENT_CNP) {
        add_foreign_cnp(timeline, o);
    } else if (event->kind == ROCE_EVENT_PAUSE_XON ||
               event->kind == ROCE_EVENT_PAUSE_EXPIRED) {
        add_pause(timeline, event->point, event->detail,
                  event->time_ns - event->duration_ns, event->time_ns);
    }
}

/* What the further streams have counted since their newest packet. */
static void
finish_further(rs_timeline *timeline)
{
    for (guint32 i = 0; i < timeline->further->len; i++) {
        const roce_stream *s =
            roce_tracker_stream(timeline->tracker, RS_TIMELINE_STREAMS + i);
        guint64 *rows = rows_at(timeline, s->point, s->last_time_ns);
        if (rows != NULL) {
            const rs_counted counted = rs_counted_of(s);
            add_further(rows, further_of(timeline, s->id), &counted);
        }
    }
    for (guint32 point = 0; point < RS_TIMELINE_POINTS; point++) {
        enter_portion(timeline, point);
    }
}

void
rs_timeline_finish(rs_timeline *timeline, guint64 resolution_ns)
{
    const roce_tracker *tracker = timeline->tracker;
    finish_further(timeline);
    for (guint32 i = 0; i < timeline->streams_so_far->len; i++) {
        const roce_stream *s = roce_tracker_stream(tracker, i);
        progress *p = progress_of(timeline, i);
        enter(timeline, s, p);
        p->newest_ns = s->last_time_ns;
        const rs_counted counted = rs_counted_of(s);
        follow(p, &counted);
        enter(timeline, s, p);
    }
    for (guint32 i = 0; i < roce_tracker_n_pauses(tracker); i++) {
        const roce_pause_source *p = roce_tracker_pause(tracker, i);
        if (p->n_intervals > 0 && p->newest.end == ROCE_PAUSE_CAPTURE_END) {
            add_pause(timeline, p->point, p->priority, p->newest.start_ns,
                      p->newest.end_ns);
        }
    }
    rs_bins_widen(timeline->bins, resolution_ns);
}

guint
rs_timeline_n_bins(const rs_timeline *timeline)
{
    return rs_bins_n(timeline->bins);
}

guint64
rs_timeline_bin_ns(const rs_timeline *timeline)
{
    return rs_bins_width_ns(timeline->bins);
}

guint64
rs_timeline_start_ns(const rs_timeline *timeline)
{
    return rs_bins_start_ns(timeline->bins);
}

gboolean
rs_timeline_has_stream(const rs_timeline *timeline, guint32 stream)
{
    if (stream >= RS_TIMELINE_STREAMS) {
        return FALSE;
    }
    const stream_series *of = &timeline->streams[stream];
    return of->traffic != NULL || of->signs != NULL;
}

gboolean
rs_timeline_has_point(const rs_timeline *timeline, guint32 point)
{
    return point < RS_TIMELINE_POINTS && timeline->points[point] != NULL;
}

static void
add_column(const rs_timeline *timeline, const rs_series *series, guint column,
           guint64 *sum)
{
    for (guint i = 0; i < rs_bins_n(timeline->bins); i++) {
        sum[i] += rs_bins_get(timeline->bins, series, column, i);
    }
}

static void
add_stream_column(const rs_timeline *timeline, guint32 stream, guint column,
                  guint64 *sum)
{
    const stream_series *of = &timeline->streams[stream];
    if (column < TRAFFIC_COLUMNS && of->traffic != NULL) {
        add_column(timeline, of->traffic, column, sum);
    } else if (column >= TRAFFIC_COLUMNS && of->signs != NULL) {
        add_column(timeline, of->signs, column - TRAFFIC_COLUMNS, sum);
    }
}

void
rs_timeline_add_stream(const rs_timeline *timeline, guint32 stream, rs_timeline_row row,
                       guint64 *sum)
{
    add_stream_column(timeline, stream, row, sum);
}

void
rs_timeline_add_point(const rs_timeline *timeline, guint32 point, rs_timeline_row row,
                      guint64 *sum)
{
    add_column(timeline, timeline->points[point], row, sum);
}

gboolean
rs_timeline_add_cnps_received(const rs_timeline *timeline, guint32 stream, guint64 *sum)
{
    const roce_stream *s = roce_tracker_stream(timeline->tracker, stream);
    if (s->peer == ROCE_NO_STREAM || !rs_timeline_has_stream(timeline, s->peer)) {
        return FALSE;
    }
    add_stream_column(timeline, s->peer, RS_TIMELINE_CNPS, sum);
    add_stream_column(timeline, stream, BY_OTHERS, sum);
    return TRUE;
}

gboolean
rs_timeline_add_paused(const rs_timeline *timeline, guint32 point, guint8 priority,
                       guint64 *sum)
{
    gboolean any = FALSE;
    for (guint32 i = 0; i < roce_tracker_n_pauses(timeline->tracker); i++) {
        const roce_pause_source *p = roce_tracker_pause(timeline->tracker, i);
        if (p->point != point) {
            continue;
        }
        any = TRUE;
        if (!p->speed_known &&
            (p->priority == priority || p->priority == ROCE_PRIORITY_GLOBAL)) {
            return FALSE;
        }
    }
    if (any && rs_timeline_has_point(timeline, point)) {
        add_column(timeline, timeline->points[point], PAUSED + (guint)priority, sum);
        add_column(timeline, timeline->points[point], PAUSED + ROCE_PRIORITY_GLOBAL,
                   sum);
    }
    return any;
}
