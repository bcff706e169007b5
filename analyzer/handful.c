/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "handful.h"

#include "stages.h"

#include "roce/decode.h"

#include <string.h>

static const rs_record *
record_at(const rs_handful *h, guint i)
{
    return &h->from->records[h->first + i];
}

/* ---- ahead ---- */

/* A frame as trains have it: of what a mirror carries its point is known. */
static inline roce_frame *
unwrap(rs_handful *h, const rs_short_way *way, guint i)
{
    rs_record *record = &h->from->records[h->first + i];
    if (!rs_mirrors_any(way->mirrors) ||
        !rs_mirrors_open(way->mirrors, h->from->file_i, record->interface,
                         &record->frame, &h->inner[i])) {
        return &record->frame;
    }
    h->is_alike = FALSE;
    return &h->inner[i];
}

static inline gboolean
is_mirrored(const rs_handful *h, guint i)
{
    return h->frames[i] == &h->inner[i];
}

/* Where a frame was captured, as far as is known. */
static guint32
guess_point(const rs_short_way *way, const rs_handful *h, guint interface)
{
    const rs_points *points = way->analysis->points;
    const rs_point *point = rs_points_itself(points, h->from->file_i, interface);
    return point != NULL ? point->id : rs_points_newest(points);
}

static void
guess_platforms(rs_handful *h, const rs_short_way *way)
{
    guint interface = record_at(h, 0)->interface;
    guint32 point = guess_point(way, h, interface);
    guint32 keys[RS_HANDFUL];
    for (guint i = 0; i < h->n; i++) {
        h->frames[i] = unwrap(h, way, i);
        if (record_at(h, i)->interface != interface) {
            interface = record_at(h, i)->interface;
            point = guess_point(way, h, interface);
            h->is_alike = FALSE;
        }
        keys[i] = rs_trains_key(roce_mould_hash(h->frames[i]),
                                is_mirrored(h, i) ? h->inner[i].point : point);
        rs_trains_approach_guess(way->trains, keys[i]);
    }
    for (guint i = 0; i < h->n; i++) {
        h->platforms[i] = rs_trains_guess(way->trains, keys[i]);
        rs_trains_approach(h->platforms[i]);
    }
}

static void
decode(const rs_handful *h, const rs_short_way *way, guint i, roce_packet *packet)
{
    roce_decode(&record_at(h, i)->frame, &way->analysis->options->ports, packet);
}

/* Of those that wait nowhere, n of them: decodes them, and foresees their streams. */
static void
look_at_lone_ones(rs_handful *h, const rs_short_way *way, const guint *alone, guint n)
{
    const roce_tracker *tracker = way->analysis->tracker;
    roce_packet *packets = rs_stages_packets(way->analysis->stages, n);
    guint64 foreseen[RS_HANDFUL];
    for (guint k = 0; k < n; k++) {
        guint i = alone[k];
        decode(h, way, i, &packets[k]);
        h->packets[i] = &packets[k];
        guint32 point = guess_point(way, h, record_at(h, i)->interface);
        foreseen[k] = roce_tracker_foresee(tracker, point, &packets[k]);
    }
    guint32 streams[RS_HANDFUL];
    for (guint k = 0; k < n; k++) {
        streams[k] = roce_tracker_guess(tracker, foreseen[k]);
    }
    for (guint k = 0; k < n; k++) {
        if (streams[k] != ROCE_NO_STREAM) {
            roce_tracker_approach(tracker, streams[k], &packets[k]);
        }
    }
    for (guint k = 0; k < n && way->trains != NULL; k++) {
        if (streams[k] != ROCE_NO_STREAM) {
            rs_trains_approach_way(way->trains, streams[k]);
        }
    }
}

G_NO_INLINE void
rs_handful_look_ahead(rs_handful *h, const rs_short_way *way, const rs_feed_batch *from,
                      guint first, guint n)
{
    h->from = from;
    h->first = first;
    h->n = n;
    h->is_alike = TRUE;
    h->gate = NULL;
    if (way->trains != NULL) {
        guess_platforms(h, way);
    } else {
        memset(h->platforms, 0, sizeof h->platforms);
    }
    guint alone[RS_HANDFUL];
    guint n_alone = 0;
    for (guint i = 0; i < n; i++) {
        if (h->platforms[i] == NULL) {
            alone[n_alone++] = i;
        } else {
            rs_trains_approach_car(way->trains, h->platforms[i]);
        }
    }
    if (n_alone > 0) {
        look_at_lone_ones(h, way, alone, n_alone);
    }
}

/* ---- boarding ---- */

/* The point of a frame that may go the short way, see trains.h; NULL: it may not. */
G_NO_INLINE static rs_point *
find_gate(const rs_handful *h, const rs_short_way *way, guint i)
{
    const rs_points *points = way->analysis->points;
    rs_point *point = is_mirrored(h, i) ? rs_points_at(points, h->inner[i].point)
                                        : rs_points_itself(points, h->from->file_i,
                                                           record_at(h, i)->interface);
    return point != NULL && roce_intake_is_straight(way->intake, point->id) ? point
                                                                            : NULL;
}

/* A window in which there is room for a glimpse. */
static inline rs_window *
window_with_room(const rs_analysis *analysis)
{
    if (!rs_window_has_room(rs_stages_window(analysis->stages), 0)) {
        rs_stages_hand_on(analysis->stages);
    }
    return rs_stages_window(analysis->stages);
}

/* What it is known by in later files and at other points, where somebody asks. */
static void
identify(const rs_analysis *analysis, const roce_frame *frame, const rs_point *point,
         const rs_platform *platform, const roce_car *car, rs_window *window,
         rs_glimpse *glimpse)
{
    gboolean is_recalled = rs_points_have_recall(analysis->points);
    if (!is_recalled && analysis->twins == NULL) {
        return;
    }
    roce_wire_identity identity;
    rs_trains_identify(platform, frame, car, &identity);
    if (is_recalled) {
        rs_points_remember_car(analysis->points, point, frame->number, &identity);
    }
    if (analysis->twins != NULL) {
        glimpse->has_identity = TRUE;
        window->has_identities = TRUE;
        window->identities[glimpse - window->glimpses] = identity;
    }
}

static gboolean
board(rs_handful *h, const rs_short_way *way, guint i, rs_point *point)
{
    rs_analysis *analysis = way->analysis;
    rs_platform *platform = h->platforms[i];
    roce_frame *frame = h->frames[i];
    frame->point = point->id;
    const roce_car *car = rs_trains_board(way->trains, platform, frame);
    if (car == NULL) {
        return FALSE;
    }
    rs_analysis_follow_time(analysis, point, frame);
    analysis->snaplen_truncated += car->cut ? 1 : 0;
    if (is_mirrored(h, i)) {
        roce_tracker_count_mirrored(analysis->tracker, 1);
    }
    rs_window *window = window_with_room(analysis);
    guint glimpse_i = window->n_glimpses++;
    rs_glimpse *glimpse = &window->glimpses[glimpse_i];
    rs_trains_glimpse(platform, car, (guint16)window->n, glimpse);
    if (way->glances_wanted) {
        rs_trains_glance(platform, &window->glances[glimpse_i]);
    }
    identify(analysis, frame, point, platform, car, window, glimpse);
    return TRUE;
}

/* Whether the i-th has. */
static inline gboolean
try_to_board(rs_handful *h, const rs_short_way *way, guint i)
{
    if (h->platforms[i] == NULL) {
        return FALSE;
    }
    rs_point *point = h->gate != NULL ? h->gate : find_gate(h, way, i);
    if (point != NULL && board(h, way, i, point)) {
        h->gate = h->is_alike ? point : NULL;
        return TRUE;
    }
    decode(h, way, i, &h->turned_away);
    h->packets[i] = &h->turned_away;
    return FALSE;
}

G_NO_INLINE guint
rs_handful_board(rs_handful *h, const rs_short_way *way, guint i)
{
    while (i < h->n && try_to_board(h, way, i)) {
        i++;
    }
    h->gate = NULL; /* what goes another way may close it */
    return i;
}
