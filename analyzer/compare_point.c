/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare_point.h"

#include "alloc.h"
#include "path_time.h"

#include "roce/decode.h"

#include <string.h>

/* ---- names ---- */

static gboolean
is_file(const char *path)
{
    return g_str_equal(path, "-") || (g_file_test(path, G_FILE_TEST_EXISTS) &&
                                      !g_file_test(path, G_FILE_TEST_IS_DIR));
}

char *
rs_compare_point_path(const char *given)
{
    const char *last = strrchr(given, '#');
    if (last == NULL || is_file(given)) {
        return g_strdup(given);
    }
    for (const char *mark = last; mark != NULL;
         mark = g_strrstr_len(given, mark - given, "#")) {
        g_autofree char *path = g_strndup(given, (gsize)(mark - given));
        if (is_file(path)) {
            return g_steal_pointer(&path);
        }
    }
    return g_strndup(given, (gsize)(last - given));
}

rs_compare_point *
rs_compare_point_new(guint id, const char *given, const rs_options *options)
{
    rs_compare_point *point = g_new0(rs_compare_point, 1);
    point->id = id;
    point->given = g_strdup(given);
    point->path = rs_compare_point_path(given);
    const char *behind = given + strlen(point->path);
    if (*behind == '#') {
        point->interface = g_strdup(behind + 1);
        point->has_number = g_ascii_string_to_unsigned(
            point->interface, 10, 0, G_MAXUINT32, &point->number, NULL);
    }
    point->options = g_memdup2(options, sizeof *options);
    point->file[0] = point->path; /* sections of it may go on with those before */
    point->options->files = point->file;
    return point;
}

static void
clear(rs_compare_point *point)
{
    g_clear_pointer(&point->intake, roce_intake_free);
    g_clear_pointer(&point->tracker, roce_tracker_free);
    g_clear_pointer(&point->inner, rs_points_free);
}

void
rs_compare_point_free(rs_compare_point *point)
{
    if (point == NULL) {
        return;
    }
    clear(point);
    g_free(point->options); /* all that it points to is the command's */
    g_free(point->given);
    g_free(point->path);
    g_free(point->interface);
    g_free(point);
}

static gboolean
is_called(const rs_interface *interface, const char *name)
{
    return interface->name != NULL && g_str_equal(interface->name, name);
}

/* Whether an interface that was met so far, if only without frames, is called so. */
static gboolean
any_is_called(const rs_reader *reader, const char *name)
{
    for (guint i = 0; i < rs_reader_n_interfaces(reader); i++) {
        if (is_called(rs_reader_interface(reader, i), name)) {
            return TRUE;
        }
    }
    return FALSE;
}

/* Whether an interface is one of the point's; `number` is what it goes by. */
static gboolean
is_its(const rs_compare_point *point, const rs_interface *interface, guint number)
{
    return point->interface == NULL || is_called(interface, point->interface) ||
           (point->has_number && !point->by_name && point->number == number);
}

gboolean
rs_compare_point_wants(rs_compare_point *point, const rs_reader *reader,
                       const rs_record *record, const roce_packet *packet)
{
    guint number = packet->sll2_ifindex != 0 ? packet->sll2_ifindex : record->interface;
    point->by_name = point->by_name ||
                     (point->has_number && any_is_called(reader, point->interface));
    return is_its(point, rs_reader_interface(reader, record->interface), number);
}

/* ---- the end of a frame's way ---- */

static void
track(void *ctx, const roce_frame *frame, const roce_packet *packet)
{
    rs_compare_point *point = ctx;
    rs_path_approach(point->path_of, frame, packet);
    roce_icrc_status icrc = rs_icrc_check_packet(&point->icrc, frame, packet);
    rs_must(roce_tracker_add(point->tracker, frame, packet, icrc));
    if (packet->kind != ROCE_CLASS_ROCE) {
        return;
    }
    point->roce_packets++;
    const rs_path_sight sight = {
        .point = point->id,
        .place = frame->point,
        .frame = frame,
        .packet = packet,
        .tracked = roce_tracker_last_sighting(point->tracker),
        .icrc = icrc,
        .at_ns = rs_time_apart(rs_time_of_stamp(frame->time_ns), point->offset_ns),
    };
    rs_path_see(point->path_of, &sight);
}

static void
take_relation(void *ctx, const roce_relation *relation)
{
    const rs_compare_point *point = ctx;
    if (relation->kind == ROCE_RELATION_COVERS) {
        rs_path_know(point->path_of, point->id, relation->to, RS_KNOWN_ACKED);
    } else if (relation->kind == ROCE_RELATION_FOLLOWS) {
        rs_path_know(point->path_of, point->id, relation->to, RS_KNOWN_GOT);
    }
}

static void
take_event(void *ctx, const roce_event *event)
{
    const rs_compare_point *point = ctx;
    if (event->kind == ROCE_EVENT_LOSS && event->evidence == ROCE_EVIDENCE_ASKED_FOR &&
        event->detail == ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE) {
        rs_path_know(point->path_of, point->id, event->related_frame, RS_KNOWN_ASKED);
    } else if ((event->kind == ROCE_EVENT_RETRANSMISSION ||
                event->kind == ROCE_EVENT_RESPONSE_RESENT) &&
               event->related_frame != 0) {
        gboolean not_ready =
            event->kind == ROCE_EVENT_RETRANSMISSION && event->detail == ROCE_CAUSE_RNR;
        rs_path_know(point->path_of, point->id, event->related_frame,
                     RS_KNOWN_RESENT | (not_ready ? RS_KNOWN_REFUSED : 0));
    }
}

/* ---- what the intake asks and tells ---- */

static roce_survey_point *
survey_point(void *ctx, uint32_t inner)
{
    const rs_compare_point *point = ctx;
    return &rs_points_at(point->inner, inner)->survey;
}

static void
decode(void *ctx, const roce_frame *frame, roce_packet *packet)
{
    const rs_compare_point *point = ctx;
    roce_decode(frame, &point->options->ports, packet);
}

static void
leave_out(void *ctx, const roce_frame *frame)
{
    rs_compare_point *point = ctx;
    (void)frame;
    point->capture_duplicates++;
}

static void
make_tracker(rs_compare_point *point, const roce_alloc *alloc)
{
    roce_tracker_config config;
    roce_tracker_config_init(&config);
    config.event = take_event;
    config.relation = take_relation;
    config.ctx = point;
    rs_must(roce_tracker_new(&point->tracker, alloc, &config));
}

void
rs_compare_point_begin(rs_compare_point *point, rs_path *path)
{
    const roce_alloc alloc = rs_alloc_make();
    const roce_intake_config config = {
        .point = survey_point,
        .decode = decode,
        .take = track,
        .leave_out = leave_out,
        .waits_for_copies = true,
        .ctx = point,
    };
    clear(point);
    point->settled = point->begun = FALSE;
    point->packets = point->bytes = point->filtered_out = point->roce_packets = 0;
    point->capture_duplicates = point->steps_back = point->dropped = 0;
    point->path_of = path;
    point->icrc = (rs_icrc_check){.mode = point->options->icrc};
    point->inner = rs_points_new(point->options);
    make_tracker(point, &alloc);
    rs_must(roce_intake_new(&point->intake, &alloc, &config));
}

gboolean
rs_compare_point_take(rs_compare_point *point, const rs_reader *reader,
                      const rs_record *record, const roce_packet *packet,
                      rs_filter *filter, GError **error)
{
    roce_frame frame = record->frame;
    rs_point *inner =
        rs_points_of(point->inner, 0, reader, record->interface, packet, frame.time_ns);
    frame.point = inner->id;
    inner->survey.settled |= point->settled;
    point->first_ns = point->packets == 0 ? frame.time_ns : point->first_ns;
    point->last_ns = frame.time_ns;
    point->packets++;
    point->bytes += frame.captured_bytes;
    point->steps_back += rs_point_follow_time(inner, frame.time_ns) > 0 ? 1 : 0;
    switch (rs_filter_ask(filter, &frame, inner->link_type, error)) {
    case RS_FILTER_FAILS:
        return FALSE;
    case RS_FILTER_DROPS:
        point->filtered_out++;
        return TRUE;
    case RS_FILTER_PASSES:
        break;
    }
    rs_must(roce_intake_add(point->intake, &frame, packet));
    return TRUE;
}

void
rs_compare_point_settle(rs_compare_point *point)
{
    rs_must(roce_intake_finish(point->intake));
    point->settled = TRUE;
    for (guint i = 0; i < rs_points_n(point->inner); i++) {
        rs_points_at(point->inner, i)->survey.settled = true;
    }
}

void
rs_compare_point_end(rs_compare_point *point, const rs_reader *reader)
{
    rs_compare_point_settle(point);
    roce_tracker_finish(point->tracker);
    for (guint i = 0; reader != NULL && i < rs_reader_n_interfaces(reader); i++) {
        const rs_interface *interface = rs_reader_interface(reader, i);
        gboolean one_of_its = is_its(point, interface, i);
        point->exists |= one_of_its;
        if (one_of_its && interface->dropped_known) {
            point->dropped_known = TRUE;
            point->dropped += interface->dropped;
        }
    }
}
