/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A frame's way: the feed brings it, it gets its number and its point, the filter looks
 * at it, the intake surveys its point and puts it in its place, and then it is tracked.
 */
#include "analysis.h"

#include "alloc.h"
#include "error.h"
#include "feed.h"
#include "filter.h"
#include "handful.h"
#include "progress.h"
#include "stages.h"
#include "tell.h"
#include "twins.h"

#include "roce/decode.h"
#include "roce/intake.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t interrupt_asked;

void
rs_analysis_interrupt(void)
{
    interrupt_asked = 1;
}

gboolean
rs_analysis_is_interrupted(void)
{
    return interrupt_asked != 0;
}

/* An analysis while it runs. */
typedef struct run {
    rs_short_way way;
    rs_handful handful;
    rs_filter *filter;
    gboolean tracking; /* some frame has been tracked */
    gboolean paused;   /* some pause frame has been */
} run;

static void
free_file(gpointer data)
{
    rs_file *file = data;
    g_free(file->path);
    g_free(file->error);
    g_free(file);
}

static guint64
link_speed(void *ctx, guint32 point)
{
    const rs_analysis *analysis = ctx;
    return rs_analysis_point(analysis, point)->speed_bps;
}

/* When the file ended that a point stands in; by a clock that was set back, as it went on. */
static guint64
last_stamp(void *ctx, guint32 point)
{
    const rs_analysis *analysis = ctx;
    guint file_i = rs_analysis_point(analysis, point)->survey.file_i;
    guint64 last_ns = 0;
    for (guint i = 0; i < rs_points_n(analysis->points); i++) {
        const rs_point *p = rs_analysis_point(analysis, i);
        gboolean is_set_back = roce_is_set_back(p->last_ns, p->newest_ns);
        if (p->survey.file_i == file_i) {
            last_ns = MAX(last_ns, is_set_back ? p->last_ns : p->newest_ns);
        }
    }
    return last_ns;
}

static roce_vantage
vantage(void *ctx, guint32 point, const roce_addr *src, const roce_addr *dst)
{
    const rs_analysis *analysis = ctx;
    const rs_file *file =
        g_ptr_array_index(analysis->files, rs_analysis_point(analysis, point)->file_i);
    return rs_vantages_find(analysis->told->vantages, file->path, src, dst);
}

gboolean
rs_analysis_has_stamps(const rs_analysis *analysis)
{
    return analysis->resolution_ns < RS_NO_STAMPS_NS;
}

const rs_point *
rs_analysis_point(const rs_analysis *analysis, guint32 point)
{
    return rs_points_at(analysis->points, point);
}

gboolean
rs_analysis_share_file(const rs_analysis *analysis, guint32 point, guint32 other)
{
    return rs_analysis_point(analysis, point)->file_i ==
           rs_analysis_point(analysis, other)->file_i;
}

/* ---- a frame at the end of its way ---- */

/* The tracker says this, while it takes a packet or finishes. */
static void
take_event(void *ctx, const roce_event *event)
{
    rs_analysis *analysis = ctx;
    const rs_occurrence occurrence = rs_occurrence_of(event, analysis->tracker);
    if (analysis->stages == NULL) {
        rs_tell_event(analysis, RS_WATCH_EVERYTHING, &occurrence);
    } else {
        g_array_append_val(rs_stages_window(analysis->stages)->events, occurrence);
    }
}

static void
complete(rs_sight *sight, const rs_analysis *analysis)
{
    const roce_tracker *tracker = analysis->tracker;
    guint32 stream = roce_tracker_last_stream(tracker);
    sight->stream =
        stream != ROCE_NO_STREAM ? roce_tracker_stream(tracker, stream) : NULL;
    sight->priority = rs_priority_of(sight->packet, analysis->options);
    const rs_point *point = rs_analysis_point(analysis, sight->frame->point);
    sight->group = point->survey.group;
    sight->link_bps = point->speed_bps;
    rs_sight_complete(sight);
    if (sight->peer != ROCE_NO_STREAM && sight->info->role == ROCE_ROLE_ACK) {
        rs_sight_take_peer(sight, roce_tracker_stream(tracker, sight->peer));
    }
}

static void
see_member(const rs_analysis *analysis, const roce_stream *stream, guint32 point)
{
    const roce_survey_point *of = &rs_analysis_point(analysis, point)->survey;
    if (stream != NULL && of->next != of) {
        rs_members_see(analysis->members, stream->id, point);
    }
}

/* What boards a train is of the point by whose number those go that are taken together. */
static void
take_train(gpointer ctx, const rs_train *train, const roce_car *cars)
{
    const rs_analysis *analysis = ctx;
    if (!rs_window_has_room(rs_stages_window(analysis->stages), train->n)) {
        rs_stages_hand_on(analysis->stages);
    }
    see_member(analysis, train->stream, train->stream->point);
    rs_window *window = rs_stages_window(analysis->stages);
    rs_train *kept = &window->trains[window->n_trains++];
    *kept = *train;
    kept->first = (guint16)window->n_cars;
    kept->behind = (guint16)window->n;
    memcpy(&window->cars[window->n_cars], cars, train->n * sizeof *cars);
    window->n_cars += train->n;
    rs_window_approach_cars(window);
}

/* No train goes on. */
static void
end_trains(run *r)
{
    if (r->way.trains != NULL) {
        rs_trains_clear(r->way.trains);
        g_clear_pointer(&r->way.trains, rs_trains_free);
    }
}

/* Watchers ask the tracker about pauses, which nothing but a pause frame changes; and the
 * first one ends what of streams has waited to be counted, see watchers.c. */
static void
meet_pause(run *r)
{
    if (r->way.trains != NULL && !r->paused) {
        rs_trains_end(r->way.trains);
    }
    r->paused = r->way.glances_wanted = TRUE;
    rs_stages_stay(r->way.analysis->stages);
}

/* As rs_trains_follow(), for a frame that a mirror may have carried. */
static gboolean
follow(const run *r, const roce_frame *frame, const rs_sight *sight)
{
    roce_frame inner;
    roce_wrapper wrapper;
    gboolean is_mirrored = sight->packet->mirror.kind != ROCE_MIRROR_NONE &&
                           roce_wrapper_take(frame, sight->packet, &wrapper) &&
                           roce_wrapper_open(&wrapper, frame, &inner);
    return rs_trains_follow(r->way.trains, is_mirrored ? &inner : frame, sight);
}

static void
track(void *ctx, const roce_frame *frame, const roce_packet *packet)
{
    run *r = ctx;
    rs_analysis *analysis = r->way.analysis;
    guint32 stream = ROCE_NO_STREAM;
    r->tracking = TRUE;
    if (r->way.trains != NULL) {
        stream = rs_trains_make_way(r->way.trains, frame, packet);
    }
    if (roce_packet_is_pause(packet)) {
        meet_pause(r);
    }
    rs_window *window = rs_stages_window(analysis->stages);
    rs_slot *slot = rs_window_add(window, frame, packet);
    slot->sight.icrc = rs_icrc_check_packet(&analysis->icrc, frame, packet);
    rs_must(roce_tracker_add_found(analysis->tracker, stream, frame, packet,
                                   slot->sight.icrc));
    slot->sighting = *roce_tracker_last_sighting(analysis->tracker);
    complete(&slot->sight, analysis);
    see_member(analysis, slot->sight.stream, frame->member);
    slot->has_identity = analysis->twins != NULL && slot->sight.stream != NULL &&
                         roce_wire_identity_of(frame, packet, &slot->identity);
    rs_window_end_packet(window);
    slot->sight.is_beside = r->way.trains != NULL && follow(r, frame, &slot->sight);
    if (roce_packet_is_pause(packet) || rs_window_is_full(window)) {
        rs_stages_hand_on(analysis->stages);
    }
}

/* ---- an analysis ---- */

/* Takes `told` over. */
static rs_analysis *
analysis_new(const rs_options *options, rs_told *told)
{
    rs_analysis *analysis = g_aligned_alloc0(1, sizeof *analysis, RS_CACHE_LINE_BYTES);
    analysis->options = options;
    analysis->told = told;
    analysis->icrc =
        (rs_icrc_check){.mode = options->icrc, .sample_first = RS_ICRC_SAMPLE_FIRST};
    analysis->members = rs_members_new();
    analysis->faces = rs_blocks_make(sizeof(rs_face));
    analysis->incomplete = told->errors->len > 0;
    analysis->files = g_ptr_array_new_with_free_func(free_file);
    analysis->points = rs_points_new(options);
    rs_points_tell(analysis->points, told->vantages);
    analysis->events = g_array_new(FALSE, FALSE, sizeof(roce_event));
    analysis->evidence = rs_evidence_table_new();
    roce_tracker_config config;
    roce_tracker_config_init(&config);
#ifdef RS_LITTLE_ROOM /* for tests: histories are cut all the time */
    config.history_room_packets = 300;
#endif
    config.link_speed_bps = link_speed;
    config.last_ns = last_stamp;
    config.vantage = vantage;
    config.event = take_event;
    config.ctx = analysis;
    const roce_alloc alloc = rs_alloc_make();
    rs_must(roce_tracker_new(&analysis->tracker, &alloc, &config));
    rs_watchers_init(&analysis->watchers, analysis);
    rs_must(rs_qp_maps_tell(told->qp_maps, analysis->tracker));
    for (guint i = 0; options->files[i] != NULL; i++) {
        rs_file *file = g_new0(rs_file, 1);
        file->path = g_strdup(options->files[i]);
        file->damaged_at = -1;
        g_ptr_array_add(analysis->files, file);
    }
    if (analysis->files->len > 1) {
        analysis->file_frames =
            rs_file_frames_new(analysis->files->len, RS_FILE_FRAMES_BYTES);
    }
    return analysis;
}

void
rs_analysis_free(rs_analysis *analysis)
{
    if (analysis == NULL) {
        return;
    }
    rs_watchers_clear(&analysis->watchers);
    roce_tracker_free(analysis->tracker);
    rs_twins_free(analysis->twins);
    rs_blocks_clear(&analysis->faces);
    g_ptr_array_unref(analysis->files);
    rs_points_free(analysis->points);
    g_array_unref(analysis->events);
    rs_members_free(analysis->members);
    rs_evidence_table_free(analysis->evidence);
    rs_file_frames_free(analysis->file_frames);
    rs_told_free(analysis->told);
    g_aligned_free(analysis);
}

/* ---- what the intake asks and tells on its way ---- */

static roce_survey_point *
survey_point(void *ctx, uint32_t point)
{
    const run *r = ctx;
    return &rs_points_at(r->way.analysis->points, point)->survey;
}

static void
decode(void *ctx, const roce_frame *frame, roce_packet *packet)
{
    const run *r = ctx;
    roce_decode(frame, &r->way.analysis->options->ports, packet);
}

static void
leave_out(void *ctx, const roce_frame *frame)
{
    run *r = ctx;
    rs_points_at(r->way.analysis->points, frame->point)->capture_duplicates++;
    r->way.analysis->capture_duplicates++;
    rs_frames_keep(&r->way.analysis->left_out, frame->number);
    if (r->way.analysis->tap != NULL) {
        rs_stages_meet(r->way.analysis->stages); /* what came before is told before */
        r->way.analysis->tap->left_out(r->way.analysis->tap->ctx, frame);
    }
}

/* With several points, packets are looked for at the others. */
static void
make_twins(run *r)
{
    rs_analysis *analysis = r->way.analysis;
    if (analysis->twins == NULL && rs_points_n(analysis->points) > 1) {
        analysis->twins = rs_twins_new(analysis->points);
        if (r->tracking) {
            rs_twins_miss(analysis->twins);
        }
    }
}

static void
end_survey(void *ctx)
{
    run *r = ctx;
    rs_points_join_rotated(r->way.analysis->points);
    make_twins(r);
    if (r->way.trains != NULL) {
        rs_trains_end(r->way.trains);
    }
}

/* ---- a frame at the beginning of its way ---- */

void
rs_analysis_follow_time(rs_analysis *analysis, rs_point *point, const roce_frame *frame)
{
    guint64 time_ns = frame->time_ns;
    if (frame->number == 1 || time_ns < analysis->first_ns) {
        analysis->first_ns = time_ns;
    }
    if (rs_point_follow_time(point, time_ns) > 0) {
        analysis->steps_back++;
        rs_frames_keep(&point->stepped, frame->number);
    }
}

/* FALSE only for an error of the user's. */
static gboolean
take_frame(run *r, const rs_feed_batch *from, guint i, const roce_packet *packet,
           GError **error)
{
    rs_analysis *analysis = r->way.analysis;
    roce_frame *frame = &from->records[i].frame;
    rs_point *point = rs_points_of(analysis->points, from->file_i, from->reader,
                                   from->records[i].interface, packet, frame->time_ns);
    frame->point = point->id;
    if (packet->mirror.has_time) {
        point->switch_stamps = TRUE;
        point->switch_granularity = packet->mirror.granularity;
    }
    if (r->way.trains != NULL) {
        rs_mirrors_note(r->way.mirrors, from->file_i, from->records[i].interface, frame,
                        packet);
    }
    rs_points_remember(analysis->points, point, frame, packet);
    rs_analysis_follow_time(analysis, point, frame);
    switch (rs_filter_ask(r->filter, frame, point->link_type, error)) {
    case RS_FILTER_FAILS:
        return FALSE;
    case RS_FILTER_DROPS:
        analysis->filtered_out++;
        return TRUE;
    case RS_FILTER_PASSES:
        break;
    }
    analysis->snaplen_truncated += roce_packet_is_cut(packet, frame) ? 1 : 0;
    analysis->sliced += packet->uncut_bytes != 0 ? 1 : 0;
    rs_must(roce_intake_add(r->way.intake, frame, packet));
    return TRUE;
}

/* What has been read, all of it before the first is taken: a load of what has just been
 * stored would wait until all that was stored before has left the processor. */
static void
count_frames(rs_analysis *analysis, const rs_feed_batch *batch)
{
    guint64 bytes = 0;
    for (guint i = 0; i < batch->n_records; i++) {
        roce_frame *frame = &batch->records[i].frame;
        frame->number = ++analysis->packets;
        bytes += frame->captured_bytes;
    }
    analysis->bytes += bytes;
    if (analysis->file_frames != NULL) {
        rs_file_frames_count(analysis->file_frames, batch->file_i, batch->n_records);
    }
    rs_file *file = g_ptr_array_index(analysis->files, batch->file_i);
    file->packets += batch->n_records;
    file->bytes += bytes;
}

static gboolean
take_batch(run *r, const rs_feed_batch *batch, GError **error)
{
    count_frames(r->way.analysis, batch);
    for (guint at = 0; at < batch->n_records; at += RS_HANDFUL) {
        rs_handful *h = &r->handful;
        rs_handful_look_ahead(h, &r->way, batch, at,
                              MIN(batch->n_records - at, RS_HANDFUL));
        for (guint i = rs_handful_board(h, &r->way, 0); i < h->n;
             i = rs_handful_board(h, &r->way, i + 1)) {
            if (!take_frame(r, batch, at + i, h->packets[i], error)) {
                return FALSE;
            }
        }
    }
    return TRUE;
}

static void
end_file(rs_analysis *analysis, guint file_i, const rs_reader *reader,
         const GError *problem)
{
    rs_file *file = g_ptr_array_index(analysis->files, file_i);
    if (problem != NULL && !interrupt_asked) {
        file->error = g_strdup(problem->message);
        file->read_failed = g_error_matches(problem, RS_ERROR, RS_ERROR_IO);
        analysis->incomplete = TRUE;
        if (reader != NULL &&
            !g_error_matches(problem, RS_ERROR, RS_ERROR_NOT_DECODED)) {
            file->damaged_at = (gint64)rs_reader_offset(reader);
        }
    }
    rs_points_end_file(analysis->points, file_i, reader);
    if (reader != NULL) {
        file->format = rs_reader_format(reader);
        file->has_gaps = rs_reader_has_gaps(reader);
        analysis->has_gaps |= file->has_gaps;
        guint64 resolution = rs_reader_resolution_ns(reader);
        analysis->resolution_ns = MAX(analysis->resolution_ns, resolution);
        analysis->unstamped += rs_reader_unstamped(reader);
    }
}

static gboolean
read_files(run *r, rs_feed *feed, rs_progress *progress, GError **error)
{
    guint64 shown = 0; /* packets, when progress was told last */
    for (rs_feed_batch batch; !interrupt_asked;) {
        rs_feed_next_batch(feed, &batch);
        switch (batch.kind) {
        case RS_FEED_END:
            return TRUE;
        case RS_FEED_FILE_END:
            end_file(r->way.analysis, batch.file_i, batch.reader, batch.problem);
            break;
        case RS_FEED_FRAME:
            if (!take_batch(r, &batch, error)) {
                return FALSE;
            }
            break;
        }
        if (r->way.analysis->files->len == 1 ||
            r->way.analysis->packets - shown >= RS_FEED_BATCH_RECORDS) {
            shown = r->way.analysis->packets;
            rs_progress_show(progress, rs_feed_position(feed),
                             rs_feed_total_bytes(feed), shown);
        }
    }
    rs_feed_step step;
    while (rs_feed_abandon(feed, &step)) {
        end_file(r->way.analysis, step.file_i, step.reader, step.problem);
    }
    r->way.analysis->interrupted = r->way.analysis->incomplete = TRUE;
    return TRUE;
}

static gint
by_time(gconstpointer a, gconstpointer b)
{
    const roce_event *first = a;
    const roce_event *second = b;
    if (first->time_ns != second->time_ns) {
        return first->time_ns < second->time_ns ? -1 : 1;
    }
    return first->frame < second->frame ? -1 : first->frame > second->frame;
}

static void
find_last(rs_analysis *analysis)
{
    for (guint i = 0; i < rs_points_n(analysis->points); i++) {
        guint64 newest_ns = rs_points_at(analysis->points, i)->newest_ns;
        analysis->last_ns = MAX(analysis->last_ns, newest_ns);
    }
}

/* Whether a point's packets have one stamp, though so many take longer than the stamps are
 * apart, however short they are and however fast the link. */
static gboolean
comes_too_fast(const rs_point *point, guint64 resolution_ns)
{
    const guint64 least_bits =
        (64 + 20) * 8; /* a frame, preamble, gap: IEEE 802.3 4.2 */
    return (double)point->packets * (double)least_bits * 1e9 >
           (double)resolution_ns * (double)ROCE_FASTEST_LINK_BPS;
}

/* One stamp for all packets says when they came, and not how far apart they are.  Of a few it
 * may be true; where other points have better ones, of as many as come in that time. */
static void
look_for_still_clock(rs_analysis *analysis)
{
    const rs_point *still = NULL;
    gboolean any_moves = FALSE;
    for (guint i = 0; i < rs_points_n(analysis->points); i++) {
        const rs_point *point = rs_points_at(analysis->points, i);
        any_moves |= rs_point_clock_moves(point);
        if (rs_point_stands_still(point) &&
            (still == NULL || point->packets > still->packets)) {
            still = point;
        }
    }
    if (still != NULL && rs_analysis_has_stamps(analysis) &&
        (!any_moves || comes_too_fast(still, analysis->resolution_ns))) {
        analysis->still = still;
        analysis->resolution_ns = RS_NO_STAMPS_NS;
    }
}

/* From here on there is one thread. */
static void
stop_stages(rs_analysis *analysis)
{
    rs_stages_meet(analysis->stages);
    g_clear_pointer(&analysis->stages, rs_stages_free);
}

static void
finish(run *r)
{
    rs_analysis *analysis = r->way.analysis;
    rs_must(roce_intake_finish(r->way.intake));
    find_last(analysis);
    look_for_still_clock(analysis);
    end_trains(r);
    stop_stages(analysis);
    roce_tracker_finish(analysis->tracker);
    if (analysis->twins != NULL) {
        rs_twins_finish(analysis->twins, analysis->tracker);
    }
    analysis->overlapping = rs_points_overlap(analysis->points);
    rs_points_tell_apart(analysis->points);
    rs_watchers_finish(&analysis->watchers, analysis);
    g_array_sort(analysis->events, by_time);
}

/* How many threads each part has of those that there may be: one tracks.  Who reads ahead
 * has much to do where it takes long to unpack; else telling comes before. */
typedef struct shares {
    guint n_ahead, n_telling; /* with who tracks */
} shares;

static shares
share_threads(const rs_analysis *analysis, const rs_feed *feed)
{
    guint n = analysis->options->n_threads;
    /* A tap is its owner's, and so is the thread that it is told from. */
    guint n_telling = analysis->tap != NULL ? 1 : n;
    gboolean is_worth_it = rs_feed_takes_long(feed) || n > n_telling || n > 2;
    guint n_ahead = n > 1 && is_worth_it ? 1 : 0;
    return (shares){n_ahead, MIN(n_telling, n - n_ahead)};
}

/* NULL where somebody wants each packet, or looks at its bytes. */
static rs_trains *
make_trains(rs_analysis *analysis)
{
    const rs_options *options = analysis->options;
    gboolean each =
        options->one_by_one || options->filter != NULL || analysis->tap != NULL;
    return each ? NULL
                : rs_trains_new(analysis->tracker, &analysis->icrc, &analysis->faces,
                                take_train, analysis);
}

rs_analysis *
rs_analysis_run(const rs_options *options, GError **error)
{
    return rs_analysis_run_tapped(options, NULL, error);
}

rs_analysis *
rs_analysis_run_tapped(const rs_options *options, const rs_tap *tap, GError **error)
{
    g_autoptr(rs_filter) filter = NULL;
    if (options->filter != NULL) {
        filter = rs_filter_new(options->filter, error);
        if (filter == NULL) {
            return NULL;
        }
    }
    rs_told *told = rs_told_new(options, error);
    if (told == NULL) {
        return NULL;
    }
    g_autoptr(rs_analysis) analysis = analysis_new(options, told);
    analysis->tap = tap;
    g_autoptr(rs_progress) progress =
        options->progress != NULL
            ? rs_progress_new_telling(options->progress, options->progress_ctx)
            : rs_progress_new(options->quiet);
    g_autoptr(rs_feed) feed = rs_feed_new(options->files);
    run r = {
        .way = {.analysis = analysis, .glances_wanted = options->plots_wanted},
        .filter = filter,
    };
    const roce_intake_config config = {
        .point = survey_point,
        .decode = decode,
        .take = track,
        .leave_out = leave_out,
        .decided = end_survey,
        .waits_for_copies = true,
        .ctx = &r,
    };
    const roce_alloc alloc = rs_alloc_make();
    rs_must(roce_intake_new(&r.way.intake, &alloc, &config));
    const shares threads = share_threads(analysis, feed);
    rs_feed_read_ahead(feed, threads.n_ahead);
    analysis->stages = rs_stages_new(threads.n_telling, rs_tell_window, analysis);
    r.way.trains = make_trains(analysis);
    r.way.mirrors = rs_mirrors_new();
    gboolean good = read_files(&r, feed, progress, error);
    if (good) {
        finish(&r);
    }
    rs_mirrors_free(r.way.mirrors);
    rs_trains_free(r.way.trains);
    roce_intake_free(r.way.intake);
    g_clear_pointer(&analysis->stages, rs_stages_free);
    analysis->tap = NULL;
    return good ? g_steal_pointer(&analysis) : NULL;
}
