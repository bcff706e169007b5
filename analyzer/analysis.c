/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis.h"

#include "background.h"
#include "error.h"
#include "progress.h"
#include "reader.h"
#include "twins.h"

#include "roce/aeth.h"
#include "roce/decode.h"

#include <pcap/pcap.h>
#include <signal.h>
#include <string.h>
#include <zlib.h>

#define EVIDENCE_ENTRIES 200000 /* streams times kinds that keep frames */
#define CHECK_EVERY 64          /* packets between looks at the terminal */
#define SAMPLE_FIRST 1000
#define FOLLOW_ON_TOLERANCE_NS ((guint64)5 * 1000 * 1000) /* what stamps step back */
#define LINKTYPE_RAW 101

static volatile sig_atomic_t interrupt_asked;

void
rs_analysis_interrupt(void)
{
    interrupt_asked = 1;
}

/* A file while it is read. */
typedef struct source {
    rs_analysis *analysis;
    rs_file *file;
    guint file_i;
    rs_reader *reader;
    GArray *points;      /* guint: point of each interface, G_MAXUINT unknown yet */
    GHashTable *filters; /* link type -> struct bpf_program */
    rs_progress *progress;
} source;

static void
free_file(gpointer data)
{
    rs_file *file = data;
    g_free(file->path);
    g_free(file->error);
    g_free(file);
}

static void
free_point(gpointer data)
{
    rs_point *point = data;
    g_free(point->interface);
    g_free(point);
}

static void *
resize(void *ctx, void *old, size_t size)
{
    (void)ctx;
    return g_try_realloc(old, size);
}

static void
release(void *ctx, void *old)
{
    (void)ctx;
    g_free(old);
}

static guint64
link_speed(void *ctx, guint32 point)
{
    const rs_analysis *analysis = ctx;
    return rs_analysis_point(analysis, point)->speed_bps;
}

const rs_point *
rs_analysis_point(const rs_analysis *analysis, guint32 point)
{
    return g_ptr_array_index(analysis->points, point);
}

/* Findings need frames by stream and kind; the key of both. */
static gint64
evidence_key(guint32 stream, guint kind)
{
    return (gint64)((guint64)kind << 32 | stream); /* g_int64_hash keeps the low half */
}

static void
keep_frame(rs_evidence *evidence, guint64 frame)
{
    if (frame == 0) {
        return;
    }
    if (evidence->n < RS_EVIDENCE_FRAMES) {
        evidence->frames[evidence->n++] = frame;
    } else {
        evidence->more = TRUE;
    }
}

static void
keep_evidence(rs_analysis *analysis, const roce_event *event)
{
    gboolean has_detail = event->kind == ROCE_EVENT_LOSS ||
                          event->kind == ROCE_EVENT_ROUND ||
                          event->kind == ROCE_EVENT_NAK;
    gint64 key = evidence_key(
        event->stream, RS_EVIDENCE_KIND(event->kind, has_detail ? event->detail : 0));
    rs_evidence *evidence = g_hash_table_lookup(analysis->evidence, &key);
    if (evidence == NULL) {
        if (g_hash_table_size(analysis->evidence) >= EVIDENCE_ENTRIES) {
            return;
        }
        evidence = g_new0(rs_evidence, 1);
        g_hash_table_insert(analysis->evidence, g_memdup2(&key, sizeof key), evidence);
    }
    gboolean refused =
        event->kind == ROCE_EVENT_NAK && event->detail != ROCE_NAK_PSN_SEQUENCE;
    if (refused) {
        keep_frame(evidence, event->related_frame); /* the request that was refused */
    }
    keep_frame(evidence, event->frame);
}

const rs_evidence *
rs_analysis_evidence(const rs_analysis *analysis, guint32 stream, guint kind)
{
    gint64 key = evidence_key(stream, kind);
    return g_hash_table_lookup(analysis->evidence, &key);
}

static void
take_event(void *ctx, const roce_event *event)
{
    rs_analysis *analysis = ctx;
    analysis->event_totals[event->kind]++;
    if (analysis->events->len < analysis->options->max_events) {
        g_array_append_val(analysis->events, *event);
    }
    keep_evidence(analysis, event);
}

static uint32_t
fast_crc32(uint32_t crc, const uint8_t *bytes, size_t size)
{
    return (uint32_t)crc32(crc, bytes, (uInt)size);
}

static roce_icrc_status
check_icrc(rs_analysis *analysis, const roce_frame *frame, const roce_packet *packet)
{
    if (packet->class != ROCE_CLASS_ROCE || !packet->has_bth) {
        return ROCE_ICRC_UNCHECKED;
    }
    rs_icrc_mode mode = analysis->options->icrc;
    gboolean sampled = analysis->packets <= SAMPLE_FIRST || packet->bth.psn24 % 64 == 0;
    if (mode == RS_ICRC_OFF || (mode == RS_ICRC_SAMPLE && !sampled)) {
        return ROCE_ICRC_UNCHECKED;
    }
    return roce_icrc_check(frame->bytes, frame->captured_bytes, packet, fast_crc32);
}

static rs_analysis *
analysis_new(const rs_options *options)
{
    rs_analysis *analysis = g_new0(rs_analysis, 1);
    analysis->options = options;
    analysis->files = g_ptr_array_new_with_free_func(free_file);
    analysis->points = g_ptr_array_new_with_free_func(free_point);
    analysis->events = g_array_new(FALSE, FALSE, sizeof(roce_event));
    analysis->evidence =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    analysis->background = rs_background_new();
    roce_tracker_config config;
    roce_tracker_config_init(&config);
    config.link_speed_bps = link_speed;
    config.event = take_event;
    config.ctx = analysis;
    const roce_alloc alloc = {.resize = resize, .release = release};
    if (roce_tracker_new(&analysis->tracker, &alloc, &config) != ROCE_OK) {
        g_error("out of memory");
    }
    return analysis;
}

void
rs_analysis_free(rs_analysis *analysis)
{
    if (analysis == NULL) {
        return;
    }
    roce_tracker_free(analysis->tracker);
    rs_twins_free(analysis->twins);
    rs_background_free(analysis->background);
    g_ptr_array_unref(analysis->files);
    g_ptr_array_unref(analysis->points);
    g_array_unref(analysis->events);
    g_hash_table_unref(analysis->evidence);
    g_free(analysis);
}

/* The point that an earlier file of a rotated set has for the same interface, if this
 * file's packets follow on in time. */
static rs_point *
find_point(source *src, const rs_interface *interface, guint64 time_ns)
{
    rs_analysis *analysis = src->analysis;
    for (guint i = 0; i < analysis->points->len; i++) {
        rs_point *point = g_ptr_array_index(analysis->points, i);
        if (point->file_i == src->file_i || point->link_type != interface->link_type ||
            g_strcmp0(point->interface, interface->name) != 0) {
            continue;
        }
        if (time_ns + FOLLOW_ON_TOLERANCE_NS >= point->newest_ns) {
            return point;
        }
        analysis->overlapping = TRUE;
    }
    return NULL;
}

static rs_point *
add_point(source *src, const rs_interface *interface)
{
    rs_analysis *analysis = src->analysis;
    rs_point *point = g_new0(rs_point, 1);
    point->id = analysis->points->len;
    point->file_i = src->file_i;
    point->interface = g_strdup(interface->name);
    point->link_type = interface->link_type;
    point->link = interface->link;
    point->speed_bps = interface->speed_bps;
    if (analysis->options->link_speed_bps != 0) {
        point->speed_bps = analysis->options->link_speed_bps;
        point->speed_from_user = TRUE;
    }
    g_ptr_array_add(analysis->points, point);
    gboolean several = analysis->points->len > 1 ||
                       rs_reader_n_interfaces(src->reader) > 1 ||
                       analysis->options->files[1] != NULL;
    if (several && analysis->twins == NULL) {
        analysis->twins = rs_twins_new();
    }
    return point;
}

static rs_point *
point_of(source *src, guint interface_i, guint64 time_ns)
{
    while (src->points->len <= interface_i) {
        guint unknown = G_MAXUINT;
        g_array_append_val(src->points, unknown);
    }
    guint *id = &g_array_index(src->points, guint, interface_i);
    if (*id == G_MAXUINT) {
        const rs_interface *interface = rs_reader_interface(src->reader, interface_i);
        rs_point *point = find_point(src, interface, time_ns);
        if (point == NULL) {
            point = add_point(src, interface);
        }
        point->file_i = point->packets == 0 ? src->file_i : point->file_i;
        *id = point->id;
    }
    return g_ptr_array_index(src->analysis->points, *id);
}

static void
follow_time(rs_analysis *analysis, rs_point *point, guint64 time_ns)
{
    if (analysis->packets == 1 || time_ns < analysis->first_ns) {
        analysis->first_ns = time_ns;
    }
    analysis->last_ns = MAX(analysis->last_ns, time_ns);
    if (point->packets == 1) {
        point->first_ns = point->newest_ns = time_ns;
    } else if (time_ns < point->last_ns) {
        point->steps_back++;
        analysis->steps_back++;
        point->largest_step_ns = MAX(point->largest_step_ns, point->last_ns - time_ns);
    }
    point->last_ns = time_ns;
    point->newest_ns = MAX(point->newest_ns, time_ns);
}

static int
link_type_to_dlt(int link_type)
{
    return link_type == LINKTYPE_RAW ? DLT_RAW : link_type;
}

static void
free_program(gpointer data)
{
    pcap_freecode(data);
    g_free(data);
}

/* The user's filter for one link type; an error in it is the user's, not the file's. */
static struct bpf_program *
compile_filter(const char *expression, int link_type, GError **error)
{
    pcap_t *dead = pcap_open_dead(link_type_to_dlt(link_type), G_MAXINT32);
    g_autofree struct bpf_program *program = g_new0(struct bpf_program, 1);
    int failed = pcap_compile(dead, program, expression, 1, PCAP_NETMASK_UNKNOWN);
    if (failed != 0) {
        g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "--filter '%s': %s", expression,
                    pcap_geterr(dead));
    }
    pcap_close(dead);
    return failed != 0 ? NULL : g_steal_pointer(&program);
}

/* An expression that does not even compile for Ethernet or raw IP is a mistake. */
static gboolean
check_filter(const char *expression, GError **error)
{
    if (expression == NULL) {
        return TRUE;
    }
    struct bpf_program *program = compile_filter(expression, DLT_EN10MB, error);
    if (program == NULL) {
        return FALSE;
    }
    free_program(program);
    return TRUE;
}

/* 1: passes; 0: filtered out; -1: the filter does not compile for this link layer. */
static int
passes(source *src, const rs_record *record, const rs_point *point, GError **error)
{
    const char *expression = src->analysis->options->filter;
    if (expression == NULL) {
        return 1;
    }
    gpointer key = GINT_TO_POINTER(point->link_type + 1);
    struct bpf_program *program = g_hash_table_lookup(src->filters, key);
    if (program == NULL) {
        program = compile_filter(expression, point->link_type, error);
        if (program == NULL) {
            return -1;
        }
        g_hash_table_insert(src->filters, key, program);
    }
    struct pcap_pkthdr header = {
        .caplen = record->frame.captured_bytes,
        .len = record->frame.wire_bytes,
    };
    return pcap_offline_filter(program, &header, record->frame.bytes) != 0 ? 1 : 0;
}

static void
take_frame(source *src, rs_record *record, rs_point *point)
{
    rs_analysis *analysis = src->analysis;
    roce_frame *frame = &record->frame;
    frame->point = point->id;
    analysis->bytes += frame->captured_bytes;
    src->file->bytes += frame->captured_bytes;
    analysis->snaplen_truncated += frame->captured_bytes < frame->wire_bytes ? 1 : 0;
    roce_packet packet;
    roce_decode(frame, &analysis->options->ports, &packet);
    roce_icrc_status icrc = check_icrc(analysis, frame, &packet);
    if (roce_tracker_add(analysis->tracker, frame, &packet, icrc) != ROCE_OK) {
        g_error("out of memory");
    }
    guint32 stream = roce_tracker_last_stream(analysis->tracker);
    if (analysis->twins != NULL && stream != ROCE_NO_STREAM) {
        (void)rs_twins_add(analysis->twins, frame, &packet, stream);
    }
    if (packet.class == ROCE_CLASS_OTHER) {
        rs_background_add(analysis->background, frame, &packet);
    }
}

/* FALSE only for an error of the user's. */
static gboolean
take_record(source *src, rs_record *record, GError **error)
{
    rs_analysis *analysis = src->analysis;
    rs_point *point = point_of(src, record->interface, record->frame.time_ns);
    record->frame.number = ++analysis->packets;
    src->file->packets++;
    point->packets++;
    follow_time(analysis, point, record->frame.time_ns);
    int pass = passes(src, record, point, error);
    if (pass < 0) {
        return FALSE;
    }
    if (pass == 0) {
        analysis->filtered_out++;
        analysis->bytes += record->frame.captured_bytes;
        src->file->bytes += record->frame.captured_bytes;
        return TRUE;
    }
    take_frame(src, record, point);
    return TRUE;
}

static void
note_failure(source *src, const GError *problem)
{
    src->file->error = g_strdup(problem->message);
    src->analysis->incomplete = TRUE;
}

static gboolean
read_frames(source *src, GError **error)
{
    rs_analysis *analysis = src->analysis;
    rs_record record;
    for (guint64 n = 0; !interrupt_asked; n++) {
        g_autoptr(GError) problem = NULL;
        int got = rs_reader_next(src->reader, &record, &problem);
        if (got <= 0) {
            if (got < 0 && !interrupt_asked) {
                src->file->damaged_at = (gint64)rs_reader_offset(src->reader);
                note_failure(src, problem);
            }
            break;
        }
        if (!take_record(src, &record, error)) {
            return FALSE;
        }
        if (n % CHECK_EVERY == 0) {
            rs_progress_show(src->progress, rs_reader_position(src->reader),
                             rs_reader_file_bytes(src->reader), analysis->packets);
        }
    }
    return TRUE;
}

/* What the file said of its interfaces: drops, and speeds that came late. */
static void
take_interface_facts(source *src)
{
    for (guint i = 0; i < rs_reader_n_interfaces(src->reader); i++) {
        const rs_interface *interface = rs_reader_interface(src->reader, i);
        if (i >= src->points->len ||
            g_array_index(src->points, guint, i) == G_MAXUINT) {
            continue;
        }
        rs_point *point = g_ptr_array_index(src->analysis->points,
                                            g_array_index(src->points, guint, i));
        if (interface->dropped_known) {
            point->dropped += interface->dropped;
            point->dropped_known = TRUE;
        }
    }
    guint64 resolution = rs_reader_resolution_ns(src->reader);
    src->analysis->resolution_ns = MAX(src->analysis->resolution_ns, resolution);
}

/* Interfaces that no frame came from are points as well: "nothing seen here". */
static void
add_silent_points(source *src)
{
    for (guint i = 0; i < rs_reader_n_interfaces(src->reader); i++) {
        (void)point_of(src, i, G_MAXUINT64 / 2);
    }
}

static gboolean
read_file(rs_analysis *analysis, const char *path, guint file_i, GHashTable *filters,
          rs_progress *progress, GError **error)
{
    rs_file *file = g_new0(rs_file, 1);
    file->path = g_strdup(path);
    file->damaged_at = -1;
    g_ptr_array_add(analysis->files, file);
    source src = {
        .analysis = analysis,
        .file = file,
        .file_i = file_i,
        .filters = filters,
        .progress = progress,
    };
    g_autoptr(GError) problem = NULL;
    g_autoptr(rs_reader) reader = rs_reader_open(path, &problem);
    if (reader == NULL) {
        note_failure(&src, problem);
        return TRUE;
    }
    file->format = rs_reader_format(reader);
    src.reader = reader;
    src.points = g_array_new(FALSE, FALSE, sizeof(guint));
    gboolean good = read_frames(&src, error);
    add_silent_points(&src);
    take_interface_facts(&src);
    g_array_unref(src.points);
    return good;
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

rs_analysis *
rs_analysis_run(const rs_options *options, GError **error)
{
    g_autoptr(rs_analysis) analysis = analysis_new(options);
    g_autoptr(rs_progress) progress = rs_progress_new(options->quiet);
    g_autoptr(GHashTable) filters =
        g_hash_table_new_full(NULL, NULL, NULL, free_program);
    if (!check_filter(options->filter, error)) {
        return NULL;
    }
    for (guint i = 0; options->files[i] != NULL && !interrupt_asked; i++) {
        if (!read_file(analysis, options->files[i], i, filters, progress, error)) {
            return NULL;
        }
    }
    if (interrupt_asked) {
        analysis->interrupted = analysis->incomplete = TRUE;
    }
    roce_tracker_finish(analysis->tracker);
    if (analysis->twins != NULL) {
        rs_twins_finish(analysis->twins);
    }
    rs_background_finish(analysis->background);
    g_array_sort(analysis->events, by_time);
    return g_steal_pointer(&analysis);
}
