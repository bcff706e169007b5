/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "watchers.h"

#include "analysis.h"
#include "approach.h"

#include "roce/psn.h"

#include <string.h>

#define AHEAD 6 /* glimpses: as many as can be waited for at once */

/* Those to whom each packet matters, and of others than its stream none. */
static void
take_step(gpointer ctx, const rs_sight *sight)
{
    rs_watchers *watchers = ctx;
    rs_timeline_packet(watchers->timeline, sight);
    rs_congestion_step(watchers->congestion, sight);
    rs_flowlets_packet(watchers->flowlets, sight);
    rs_lengths_step(watchers->lengths, sight);
}

static void
take_train(gpointer ctx, const rs_train_sight *train)
{
    rs_watchers *watchers = ctx;
    rs_receivers_train(watchers->receivers, train);
    rs_timeline_train(watchers->timeline, train);
    rs_congestion_train(watchers->congestion, train);
    rs_flowlets_train(watchers->flowlets, train);
    rs_lengths_train(watchers->lengths, train);
}

/* Those who only count.  What a damaged packet says is believed by none of them; but a pause
 * may have held it. */
static void
count(gpointer ctx, const rs_sight *sight)
{
    rs_watchers *watchers = ctx;
    if (!sight->sighting->corrupt) {
        rs_congestion_packet(watchers->congestion, sight);
        rs_receivers_packet(watchers->receivers, sight);
        rs_ports_packet(watchers->ports, sight);
        rs_priorities_packet(watchers->priorities, sight);
        rs_paths_packet(watchers->paths, sight);
    }
    if (!watchers->pauses_known) {
        rs_pausing_packet(watchers->pausing, sight);
    }
}

void
rs_watchers_init(rs_watchers *watchers, const rs_analysis *analysis)
{
    const rs_runs_listener listener = {
        .step = take_step, .count = count, .train = take_train, .ctx = watchers};
    *watchers = (rs_watchers){
        .runs = rs_runs_new(&listener),
        .timeline = rs_timeline_new(analysis->tracker),
        .congestion = rs_congestion_new(analysis->tracker),
        .background = rs_background_new(),
        .nics = rs_nics_new(),
        .incast = rs_incast_new(),
        .receivers = rs_receivers_new(analysis->tracker),
        .stalls = rs_stalls_new(),
        .stretches = rs_stretches_new(),
        .lengths = rs_lengths_new(),
        .ports = rs_ports_new(),
        .flowlets = rs_flowlets_new(),
        .bursts = rs_bursts_new(analysis->options->burst_bps),
        .dcb = rs_dcb_new(),
        .priorities = rs_priorities_new(analysis->options),
        .paths = rs_paths_new(),
        .pausing = rs_pausing_new(analysis),
        .collective = rs_collective_new(),
        .psn_plot = analysis->options->plots_wanted ? rs_psn_plot_new() : NULL,
    };
}

void
rs_watchers_clear(rs_watchers *watchers)
{
    rs_runs_free(watchers->runs);
    rs_timeline_free(watchers->timeline);
    rs_congestion_free(watchers->congestion);
    rs_background_free(watchers->background);
    rs_receivers_free(watchers->receivers);
    rs_stalls_free(watchers->stalls);
    rs_stretches_free(watchers->stretches);
    rs_lengths_free(watchers->lengths);
    rs_nics_free(watchers->nics);
    rs_incast_free(watchers->incast);
    rs_ports_free(watchers->ports);
    rs_flowlets_free(watchers->flowlets);
    rs_bursts_free(watchers->bursts);
    rs_dcb_free(watchers->dcb);
    rs_priorities_free(watchers->priorities);
    rs_paths_free(watchers->paths);
    rs_pausing_free(watchers->pausing);
    rs_collective_free(watchers->collective);
    rs_psn_plot_free(watchers->psn_plot);
}

void
rs_watchers_approach(const rs_watchers *watchers, rs_watch_parts parts,
                     const rs_sight *sight)
{
    guint32 stream = sight->sighting->stream;
    if ((parts & RS_WATCH_NETWORK) != 0 && stream != ROCE_NO_STREAM) {
        rs_incast_approach(watchers->incast, stream);
    }
    if ((parts & RS_WATCH_STREAMS) != 0 && stream != ROCE_NO_STREAM) {
        rs_runs_approach(watchers->runs, stream);
        rs_receivers_approach(watchers->receivers, sight);
    }
}

void
rs_watchers_approach_more(const rs_watchers *watchers, rs_watch_parts parts,
                          const rs_sight *sight)
{
    if ((parts & RS_WATCH_STREAMS) != 0) {
        rs_receivers_approach_times(watchers->receivers, sight);
    }
}

void
rs_watchers_approach_train(const rs_watchers *watchers, rs_watch_parts parts,
                           guint32 stream, guint64 time_ns, guint step)
{
    if ((parts & RS_WATCH_STREAMS) == 0) {
        return;
    }
    if (step == 0) {
        rs_runs_approach(watchers->runs, stream);
        rs_timeline_approach(watchers->timeline, stream);
        rs_congestion_approach(watchers->congestion, stream);
        rs_flowlets_approach(watchers->flowlets, stream);
    } else if (step == 1) {
        rs_timeline_approach_series(watchers->timeline, stream, time_ns);
        rs_congestion_approach_more(watchers->congestion, stream);
        rs_flowlets_approach_gaps(watchers->flowlets, stream);
    } else {
        rs_timeline_approach_bin(watchers->timeline, stream, time_ns);
    }
}

/* ---- what streams come to together ---- */

static void
tell_network(rs_watchers *watchers, const rs_sight *sight)
{
    rs_odd_frames_packet(&watchers->odd_frames, sight);
    rs_incast_packet(watchers->incast, sight);
    rs_bursts_packet(watchers->bursts, sight);
    rs_collective_packet(watchers->collective, sight);
    if (watchers->psn_plot != NULL) {
        rs_psn_plot_packet(watchers->psn_plot, sight);
    }
}

/* Packets of its data have been told. */
G_NO_INLINE static void
know(const rs_watchers *watchers, const roce_stream *stream, rs_face *face)
{
    *face = (rs_face){
        .sender = rs_incast_sender_of(watchers->incast, stream),
        .aim = rs_bursts_aim_of(watchers->bursts, stream, 0),
        .collective = rs_collective_know(watchers->collective, stream),
    };
}

/* The same of a packet of a train. */
static inline void
show_network(rs_watchers *watchers, const rs_glimpse *glimpse)
{
    rs_face *face = glimpse->face;
    if (face->aim == NULL) {
        know(watchers, glimpse->stream, face);
    }
    rs_odd_frames_glimpse(&watchers->odd_frames, glimpse);
    if (face->sender != NULL) {
        rs_incast_glimpse(watchers->incast, face->sender, glimpse);
    }
    if (face->aim != NULL) {
        rs_bursts_glimpse(face->aim, glimpse);
    }
    rs_collective_glimpse(watchers->collective, &face->collective, glimpse);
}

static void
tell_network_event(rs_watchers *watchers, const rs_occurrence *occurrence)
{
    rs_odd_frames_event(&watchers->odd_frames, &occurrence->event);
    rs_incast_event(watchers->incast, occurrence);
    if (watchers->psn_plot != NULL) {
        rs_psn_plot_event(watchers->psn_plot, occurrence);
    }
}

/* ---- what becomes of each ---- */

/* From the first pause on, what a packet meets depends on when it comes. */
static void
meet_pauses(rs_watchers *watchers, const rs_sight *sight)
{
    if (!watchers->pauses_known && roce_packet_is_pause(sight->packet)) {
        rs_runs_end(watchers->runs);
        watchers->pauses_known = TRUE;
    }
}

/* Those to whom the order of all packets matters. */
static void
tell_each(rs_watchers *watchers, const rs_sight *sight)
{
    rs_receivers_meet(watchers->receivers, sight);
    rs_lengths_meet(watchers->lengths, sight);
    if (sight->stream != NULL && sight->info->part == ROCE_PART_FIRST) {
        /* Rates are followed from the first one on, and those before it come before. */
        rs_runs_tell_steps(watchers->runs, sight->stream->id);
    }
    rs_congestion_meet(watchers->congestion, sight);
    if (watchers->pauses_known) {
        rs_pausing_packet(watchers->pausing, sight);
    }
}

static void
tell_streams(rs_watchers *watchers, const rs_sight *sight)
{
    meet_pauses(watchers, sight);
    tell_each(watchers, sight);
    if (rs_runs_join(watchers->runs, sight)) {
        return;
    }
    take_step(watchers, sight);
    rs_background_packet(watchers->background, sight);
    rs_dcb_packet(watchers->dcb, sight);
    rs_nics_packet(watchers->nics, sight);
    count(watchers, sight);
    if (!sight->is_beside && rs_priorities_only_count(watchers->priorities, sight)) {
        rs_runs_begin(watchers->runs, sight);
    }
}

static void
tell_streams_event(rs_watchers *watchers, const rs_occurrence *occurrence)
{
    const roce_event *event = &occurrence->event;
    if (event->stream != ROCE_NO_STREAM) {
        rs_runs_tell_steps(watchers->runs, event->stream);
    }
    rs_timeline_event(watchers->timeline, occurrence);
    rs_receivers_event(watchers->receivers, event);
    rs_stalls_event(watchers->stalls, event);
    rs_stretches_event(watchers->stretches, event);
    rs_lengths_event(watchers->lengths, event);
    rs_flowlets_event(watchers->flowlets, event);
    rs_congestion_event(watchers->congestion, occurrence);
    rs_pausing_event(watchers->pausing, event);
}

/* ---- both ---- */

void
rs_watchers_packet(rs_watchers *watchers, rs_watch_parts parts, const rs_sight *sight)
{
    if ((parts & RS_WATCH_NETWORK) != 0) {
        tell_network(watchers, sight);
    }
    if ((parts & RS_WATCH_STREAMS) != 0) {
        tell_streams(watchers, sight);
    }
}

/* A glimpse, for those who want to see a packet. */
typedef struct view {
    roce_frame frame;
    roce_packet packet;
    roce_sighting sighting;
    rs_sight sight;
} view;

static void
open_view(view *v)
{
    *v = (view){
        .packet =
            {
                .kind = ROCE_CLASS_ROCE,
                .has_macs = true,
                .has_bth = true,
                .transport = ROCE_TRANSPORT_RC,
            },
        .sighting = {.sequenced = true, .span = 1},
        .sight =
            {
                .frame = &v->frame,
                .packet = &v->packet,
                .sighting = &v->sighting,
                .is_counted = TRUE,
                .is_data = TRUE,
                .n = 1,
            },
    };
}

static void
look(view *v, const rs_glimpse *g, const rs_glance *more)
{
    v->frame.number = g->frame;
    v->frame.time_ns = g->time_ns;
    v->frame.point = g->stream->point;
    v->frame.wire_bytes = g->wire_bytes;
    v->frame.captured_bytes = g->cut ? 0 : g->wire_bytes;
    memcpy(v->packet.dst_mac, more->dst_mac, sizeof more->dst_mac);
    memcpy(v->packet.src_mac, more->src_mac, sizeof more->src_mac);
    v->packet.direction = more->direction;
    v->packet.src = g->stream->src;
    v->packet.dst = g->stream->dst;
    v->packet.traffic_class = g->traffic_class;
    v->packet.hop_limit = g->hop_limit;
    v->packet.bth.psn24 = roce_psn_wrap(more->psn);
    v->packet.bth.opcode = g->opcode;
    v->packet.bth.dest_qpn = g->stream->dst_qpn;
    v->packet.payload_bytes = g->payload_bytes;
    v->sighting.stream = g->stream->id;
    v->sighting.space = more->space;
    v->sighting.psn = more->psn;
    v->sighting.acked_until = more->acked_until;
    v->sighting.acked_from =
        more->acked_until - (more->acknowledges != ROCE_NO_STREAM ? 1 : 0);
    v->sight.peer = more->acknowledges;
    v->sight.vantage = more->vantage;
    v->sight.stream = g->stream;
    v->sight.priority = more->priority;
    v->sight.info = roce_opcode_get(g->opcode);
    v->sight.counted.repeats = g->repeats;
    v->sight.payload_bytes = g->payload_bytes;
    v->sight.wire_bytes = g->wire_bytes;
}

/* Those who are told of each packet only where there is something to see. */
static void
look_closely(rs_watchers *watchers, rs_watch_parts parts, const rs_glimpse *glimpses,
             const rs_glance *glances, guint n)
{
    gboolean for_plot = (parts & RS_WATCH_NETWORK) != 0 && watchers->psn_plot != NULL;
    gboolean for_pauses = (parts & RS_WATCH_STREAMS) != 0 && watchers->pauses_known;
    if (!for_plot && !for_pauses) {
        return;
    }
    view v;
    open_view(&v);
    for (guint i = 0; i < n; i++) {
        look(&v, &glimpses[i], &glances[i]);
        if (for_plot) {
            rs_psn_plot_packet(watchers->psn_plot, &v.sight);
        }
        if (for_pauses) {
            rs_pausing_packet(watchers->pausing, &v.sight);
        }
    }
}

/* What the glimpses behind the i-th will want comes near in three steps, each of which goes
 * by what the one before has brought. */
static inline void
approach_glimpses(const rs_watchers *watchers, const rs_glimpse *glimpses, guint n,
                  guint i)
{
    if (i + 2 * AHEAD >= n) {
        return;
    }
    rs_approach(glimpses[i + 2 * AHEAD].face, sizeof(rs_face));
    const rs_face *next = glimpses[i + AHEAD].face;
    rs_incast_approach_sender(next->sender);
    rs_collective_approach(&next->collective);
    const rs_glimpse *nearest = &glimpses[i + AHEAD / 2];
    rs_collective_approach_cell(watchers->collective, &nearest->face->collective,
                                nearest->time_ns);
}

void
rs_watchers_glimpses(rs_watchers *watchers, rs_watch_parts parts,
                     const rs_glimpse *glimpses, const rs_glance *glances, guint n,
                     guint n_known)
{
    for (guint i = 0; (parts & RS_WATCH_NETWORK) != 0 && i < n; i++) {
        approach_glimpses(watchers, glimpses, n_known, i);
        show_network(watchers, &glimpses[i]);
    }
    look_closely(watchers, parts, glimpses, glances, n);
}

void
rs_watchers_train(rs_watchers *watchers, rs_watch_parts parts, const rs_train *train,
                  const roce_car *cars)
{
    if ((parts & RS_WATCH_STREAMS) != 0) {
        rs_runs_train(watchers->runs, train, cars);
    }
}

void
rs_watchers_event(rs_watchers *watchers, rs_watch_parts parts,
                  const rs_occurrence *occurrence)
{
    if ((parts & RS_WATCH_NETWORK) != 0) {
        tell_network_event(watchers, occurrence);
    }
    if ((parts & RS_WATCH_STREAMS) != 0) {
        tell_streams_event(watchers, occurrence);
    }
}

/* By point, which file it stands in; guint32. */
static GArray *
files_of_points(const rs_points *points)
{
    GArray *files = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint i = 0; i < rs_points_n(points); i++) {
        guint32 file_i = rs_points_at(points, i)->file_i;
        g_array_append_val(files, file_i);
    }
    return files;
}

void
rs_watchers_finish(rs_watchers *watchers, const rs_analysis *analysis)
{
    rs_runs_end(watchers->runs);
    rs_timeline_finish(watchers->timeline, analysis->resolution_ns);
    rs_congestion_finish(watchers->congestion, analysis->resolution_ns);
    rs_background_finish(watchers->background);
    rs_nics_finish(watchers->nics, rs_pausing_macs(watchers->pausing));
    rs_incast_finish(watchers->incast, watchers->nics, analysis->resolution_ns);
    rs_bursts_finish(watchers->bursts, analysis->resolution_ns);
    rs_dcb_finish(watchers->dcb);
    rs_pausing_finish(watchers->pausing);
    rs_receivers_finish(watchers->receivers, watchers->nics, watchers->pausing);
    g_autoptr(GArray) files = files_of_points(analysis->points);
    rs_collective_finish(watchers->collective, analysis->tracker, files);
}
