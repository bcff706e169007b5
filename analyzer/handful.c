/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "handful.h"

#include "stages.h"

#include "roce/decode.h"

#include <string.h>

static const rs_record *
record_at(const rs_handful *h, guint i)
{
    return &h->records[i];
}

/* ---- ahead ---- */

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

/* Takes frames as trains have them: of what a mirror carries its point is known. */
static void
unwrap(rs_handful *h, const rs_short_way *way)
{
    for (guint i = 0; i < h->n; i++) {
        const rs_record *record = record_at(h, i);
        if (rs_mirrors_open(way->mirrors, h->from->file_i, record->interface,
                            &record->frame, &h->inner[i])) {
            h->frames[i] = &h->inner[i];
            h->is_alike = FALSE;
        }
    }
}

static gboolean
have_one_interface(const rs_handful *h)
{
    if (rs_reader_n_interfaces(h->from->reader) == 1) {
        return TRUE;
    }
    guint different = 0;
    for (guint i = 1; i < h->n; i++) {
        different |= record_at(h, i)->interface ^ record_at(h, 0)->interface;
    }
    return different == 0;
}

/* The point of a frame, as far as it is known. */
static guint32
guess_point_of(const rs_handful *h, const rs_short_way *way, guint i)
{
    return is_mirrored(h, i) ? h->inner[i].point
                             : guess_point(way, h, record_at(h, i)->interface);
}

static void
guess_platforms(rs_handful *h, const rs_short_way *way)
{
    const rs_trains *trains = way->trains;
    const guint n = h->n;
    const gboolean is_alike = h->is_alike;
    guint32 keys[RS_HANDFUL];
    const rs_shelf *shelves[RS_HANDFUL];
    guint32 point = guess_point(way, h, record_at(h, 0)->interface);
    for (guint i = 0; i < n; i++) {
        guint32 at = is_alike ? point : guess_point_of(h, way, i);
        keys[i] = rs_trains_key(roce_mould_hash(h->frames[i]), at);
        shelves[i] = rs_trains_approach_shelf(trains, keys[i]);
    }
    for (guint i = 0; i < n; i++) {
        h->platforms[i] = rs_trains_guess(shelves[i], keys[i]);
        rs_trains_approach(h->platforms[i]);
    }
}

static void
decode(const rs_handful *h, const rs_short_way *way, guint i, roce_packet *packet)
{
    roce_decode(&record_at(h, i)->frame, &way->analysis->options->ports, packet);
}

/* Those that wait nowhere, n of them; by each, what is found of it step by step.  Between the
 * steps others are looked at, so that what one asks for is there when the next does. */
typedef struct lone_ones {
    guint n;
    guint at[RS_HANDFUL];
    roce_packet *packets; /* n of them */
    guint64 foreseen[RS_HANDFUL];
    guint32 streams[RS_HANDFUL]; /* ROCE_NO_STREAM: none is known */
} lone_ones;

/* Decodes them, and foresees their streams. */
static void
foresee(rs_handful *h, const rs_short_way *way, lone_ones *lone)
{
    lone->packets = rs_stages_packets(way->analysis->stages, lone->n);
    for (guint k = 0; k < lone->n; k++) {
        guint i = lone->at[k];
        roce_packet *packet = &lone->packets[k];
        decode(h, way, i, packet);
        h->packets[i] = packet;
        guint32 point = guess_point(way, h, record_at(h, i)->interface);
        lone->foreseen[k] = roce_tracker_foresee(way->analysis->tracker, point, packet);
    }
}

static void
guess_streams(const rs_short_way *way, lone_ones *lone)
{
    for (guint k = 0; k < lone->n; k++) {
        lone->streams[k] =
            roce_tracker_guess(way->analysis->tracker, lone->foreseen[k]);
    }
}

static void
approach_streams(const rs_short_way *way, const lone_ones *lone)
{
    for (guint k = 0; k < lone->n; k++) {
        if (lone->streams[k] != ROCE_NO_STREAM) {
            roce_tracker_approach(way->analysis->tracker, lone->streams[k],
                                  &lone->packets[k]);
        }
    }
}

/* What they have to do with beside their own streams. */
static void
approach_others(const rs_short_way *way, const lone_ones *lone)
{
    const roce_tracker *tracker = way->analysis->tracker;
    for (guint k = 0; k < lone->n && way->trains != NULL; k++) {
        if (lone->streams[k] != ROCE_NO_STREAM) {
            rs_trains_approach_way(way->trains, lone->streams[k]);
        }
    }
    guint32 answered[RS_HANDFUL]; /* by streams */
    guint n = 0;
    for (guint k = 0; k < lone->n; k++) {
        if (lone->streams[k] != ROCE_NO_STREAM &&
            (lone->packets[k].headers & ROCE_HEADER_AETH) != 0) {
            roce_tracker_approach_answered(tracker, lone->streams[k]);
            answered[n++] = lone->streams[k];
        }
    }
    for (guint k = 0; k < n; k++) {
        roce_tracker_approach_latencies(tracker, answered[k]);
    }
}

G_NO_INLINE void
rs_handful_look_ahead(rs_handful *h, const rs_short_way *way, const rs_feed_batch *from,
                      guint first, guint n)
{
    h->from = from;
    h->records = &from->records[first];
    h->n = n;
    for (guint i = 0; i < n; i++) {
        h->frames[i] = &h->records[i].frame;
    }
    h->is_alike = have_one_interface(h);
    if (way->trains != NULL) {
        if (rs_mirrors_any(way->mirrors)) {
            unwrap(h, way);
        }
        guess_platforms(h, way);
    } else {
        memset(h->platforms, 0, sizeof h->platforms);
    }
    lone_ones lone;
    lone.n = 0;
    lone.packets = NULL;
    for (guint i = 0; i < n; i++) {
        if (h->platforms[i] == NULL) {
            lone.at[lone.n++] = i;
        }
    }
    if (lone.n > 0) {
        foresee(h, way, &lone);
    }
    const rs_platform *full[RS_HANDFUL];
    guint n_full = 0;
    for (guint i = 0; i < n; i++) {
        if (h->platforms[i] != NULL) {
            rs_trains_approach_car(way->trains, h->platforms[i]);
            if (rs_trains_approach_full(way->trains, h->platforms[i])) {
                full[n_full++] = h->platforms[i];
            }
        }
    }
    guess_streams(way, &lone);
    for (guint i = 0; i < n_full; i++) {
        rs_trains_approach_train(way->trains, full[i]);
    }
    approach_streams(way, &lone);
    approach_others(way, &lone);
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

/* What it is known by in later files and at other points. */
static void
identify(const rs_analysis *analysis, const roce_frame *frame, const rs_point *point,
         const rs_platform *platform, const roce_car *car, rs_window *window,
         rs_glimpse *glimpse)
{
    roce_wire_identity identity;
    rs_trains_identify(platform, frame, car, &identity);
    if (rs_points_have_recall(analysis->points)) {
        rs_points_remember_car(analysis->points, point, frame->number, &identity);
    }
    if (analysis->twins != NULL) {
        glimpse->has_identity = TRUE;
        window->has_identities = TRUE;
        window->identities[glimpse - window->glimpses] = identity;
    }
}

/* Whether somebody asks for that. */
static gboolean
is_identity_wanted(const rs_analysis *analysis)
{
    return analysis->twins != NULL || rs_points_have_recall(analysis->points);
}

/* How those of a run board: nothing but themselves is asked for, and all are alike. */
static gboolean
is_plain(const rs_handful *h, const rs_short_way *way)
{
    return h->is_alike && !way->glances_wanted && !is_identity_wanted(way->analysis);
}

/* What is asked for of some. */
G_NO_INLINE static void
tell_more(const rs_handful *h, const rs_short_way *way, guint i, const rs_point *point,
          const roce_car *car, rs_window *window, rs_glimpse *glimpse)
{
    if (is_mirrored(h, i)) {
        roce_tracker_count_mirrored(way->analysis->tracker, 1);
    }
    if (way->glances_wanted) {
        rs_trains_glance(h->platforms[i], car,
                         &window->glances[glimpse - window->glimpses]);
    }
    if (is_identity_wanted(way->analysis)) {
        identify(way->analysis, h->frames[i], point, h->platforms[i], car, window,
                 glimpse);
    }
}

/* Of those from the i-th on the first that does not board. */
static inline guint
board(rs_handful *h, const rs_short_way *way, guint i)
{
    rs_analysis *analysis = way->analysis;
    gboolean plain = is_plain(h, way);
    rs_point *point = find_gate(h, way, i);
    while (point != NULL) {
        rs_platform *platform = h->platforms[i];
        roce_frame *frame = h->frames[i];
        frame->point = point->id;
        const roce_car *car = rs_trains_board(way->trains, platform, frame);
        if (car == NULL) {
            break;
        }
        if (!rs_point_goes_on(point, frame->time_ns)) {
            rs_analysis_follow_time(analysis, point, frame);
        }
        analysis->snaplen_truncated += car->cut ? 1 : 0;
        analysis->sliced += car->wire_bytes > frame->wire_bytes ? 1 : 0;
        rs_window *window = window_with_room(analysis);
        rs_glimpse *glimpse = &window->glimpses[window->n_glimpses++];
        rs_trains_glimpse(platform, car, (guint16)window->n, glimpse);
        rs_window_approach_glimpse(window);
        if (!plain) {
            tell_more(h, way, i, point, car, window, glimpse);
        }
        i++;
        if (i == h->n || h->platforms[i] == NULL) {
            break;
        }
        point = plain ? point : find_gate(h, way, i);
    }
    return i;
}

G_NO_INLINE guint
rs_handful_board(rs_handful *h, const rs_short_way *way, guint i)
{
    if (i < h->n && h->platforms[i] != NULL) {
        i = board(h, way, i);
    }
    if (i < h->n && h->platforms[i] != NULL) {
        decode(h, way, i, &h->turned_away);
        h->packets[i] = &h->turned_away;
    }
    return i;
}
