/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare.h"

#include "analysis.h"
#include "compare_sample.h"
#include "compare_totals.h"
#include "error.h"
#include "path_time.h"
#include "progress.h"
#include "sorting.h"

#include "roce/decode.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SURVEY_FRAMES 16384 /* of each file */
#define MAX_SIGHTINGS (1u << 19)
#define WINDOW_NS 1000000000
#define ADVANCE_EVERY 64      /* frames */
#define CLUSTER_NS 5000000    /* what delays make differences differ by */
#define CLUSTER_DRIFT_PPM 200 /* and what drift does */
#define RETIME_NS 10000000    /* a clock that was found wrong by more was set */
#define SPREAD_FACTOR 4
#define MOST_SPREAD_NS ((gint64)100 * 1000 * 1000 * 1000)
#define SPREAD_EVERY 16 /* packets */
#define LEAST_TOLERANCE_NS 1000

rs_compare_point *
rs_compare_point_at(const rs_compare *compare, guint i)
{
    return g_ptr_array_index(compare->points, i);
}

static rs_compare_source *
source_at(const rs_compare *compare, guint i)
{
    return g_ptr_array_index(compare->sources, i);
}

rs_compare_source *
rs_compare_source_of(const rs_compare *compare, guint point)
{
    return source_at(compare, compare->source_of[point]);
}

/* ---- clocks while files are read ---- */

/* What times between points differ by, of the newest packets. */
static void
follow_spread(rs_compare *compare, gint64 apart_ns)
{
    guint n = G_N_ELEMENTS(compare->spread);
    compare->spread[compare->n_spread++ % n] = rs_time_size(apart_ns, MOST_SPREAD_NS);
    if (compare->n_spread % SPREAD_EVERY != 0) {
        return;
    }
    gint64 sorted[G_N_ELEMENTS(compare->spread)];
    guint known = MIN(compare->n_spread, n);
    memcpy(sorted, compare->spread, sizeof sorted);
    qsort(sorted, known, sizeof sorted[0], rs_by_i64);
    compare->path->tolerance_ns =
        LEAST_TOLERANCE_NS + SPREAD_FACTOR * sorted[known * 3 / 4];
}

/* A source's clock is known better, or was set. */
static void
move_clock(rs_compare *compare, guint source_i, gint64 offset_ns)
{
    rs_compare_source *source = source_at(compare, source_i);
    gint64 by = rs_time_apart(offset_ns, source->offset_ns);
    rs_compare_source_set_offset(source, offset_ns);
    source->aligned = TRUE;
    for (guint i = 0; i < compare->points->len; i++) {
        if (compare->source_of[i] == source_i) {
            rs_compare_point_at(compare, i)->offset_ns = offset_ns;
            if (rs_time_size(by, RS_TIME_LIMIT_NS) > RETIME_NS) {
                rs_path_retime(compare->path, i, offset_ns);
            }
        }
    }
}

static void
on_match(void *ctx, guint low, guint high, rs_way way, gint64 difference_ns)
{
    rs_compare *compare = ctx;
    guint a = compare->source_of[low];
    guint b = compare->source_of[high];
    rs_compare_source *x = source_at(compare, a);
    rs_compare_source *y = source_at(compare, b);
    gint64 offset_ns = rs_time_apart(y->offset_ns, x->offset_ns);
    follow_spread(compare, rs_time_apart(difference_ns, offset_ns));
    gint64 median_ns;
    if (a != b && y->parent == a &&
        rs_compare_source_compare(y, way, difference_ns, &median_ns)) {
        move_clock(compare, b, rs_time_add(x->offset_ns, median_ns));
    } else if (a != b && x->parent == b &&
               rs_compare_source_compare(x, way, -difference_ns, &median_ns)) {
        move_clock(compare, a, rs_time_add(y->offset_ns, median_ns));
    }
}

/* ---- frames ---- */

/* Interfaces of a file may come from captures of different times: each has run from its
 * own first frame to its last. */
static void
follow_source(rs_compare *compare, guint source_i)
{
    const rs_compare_source *source = source_at(compare, source_i);
    for (guint i = 0; i < compare->points->len; i++) {
        rs_compare_point *point = rs_compare_point_at(compare, i);
        if (compare->source_of[i] == source_i) {
            compare->path->span[i] = (rs_path_span){
                .begun = source->packets > 0,
                .ended = source->ended,
                .first_ns = point->begun
                                ? rs_time_add(source->first_at_ns, point->late_ns)
                                : RS_TIME_LIMIT_NS,
                .last_ns = rs_time_apart(source->now_ns, point->idle_ns),
                .now_ns = source->now_ns,
            };
            point->offset_ns = source->offset_ns;
        }
    }
}

/* A frame of its file has come `step_ns` behind the one before it. */
static void
follow_point(rs_compare_point *point, const rs_compare_source *source, gint64 step_ns,
             gboolean is_its)
{
    point->idle_ns = is_its ? 0 : rs_time_add(point->idle_ns, step_ns);
    if (is_its && !point->begun) {
        point->begun = TRUE;
        point->late_ns = rs_time_apart(source->now_ns, source->first_at_ns);
    }
}

static void
end_source(rs_compare *compare, guint source_i)
{
    rs_compare_source *source = source_at(compare, source_i);
    for (guint i = 0; i < compare->points->len; i++) {
        if (compare->source_of[i] == source_i) {
            rs_compare_point_end(rs_compare_point_at(compare, i), source->reader);
            rs_path_end(compare->path, i);
        }
    }
    rs_compare_source_close(source);
    follow_source(compare, source_i);
    compare->incomplete |= source->error != NULL;
}

/* A frame of a source has come `step_ns` behind the one before it: whose it is. */
static void
follow_points(rs_compare *compare, guint source_i, const rs_record *record,
              const roce_packet *packet, gint64 step_ns, gboolean *wants)
{
    const rs_compare_source *source = source_at(compare, source_i);
    for (guint i = 0; i < compare->points->len; i++) {
        rs_compare_point *point = rs_compare_point_at(compare, i);
        wants[i] = compare->source_of[i] == source_i &&
                   rs_compare_point_wants(point, source->reader, record, packet);
        if (compare->source_of[i] == source_i) {
            follow_point(point, source, step_ns, wants[i]);
            if (wants[i]) {
                rs_path_wake(compare->path, i);
            }
        }
    }
    follow_source(compare, source_i);
}

/* Takes the next frame of a source, or its end.  FALSE only for an error of the user's. */
static gboolean
read_one(rs_compare *compare, guint source_i, GError **error)
{
    rs_compare_source *source = source_at(compare, source_i);
    rs_record record;
    roce_packet packet;
    gboolean wants[RS_PATH_MAX_POINTS] = {0};
    gint64 before_ns = source->now_ns;
    if (!rs_compare_source_next(source, &record)) {
        end_source(compare, source_i);
        return TRUE;
    }
    roce_decode(&record.frame, &compare->options->ports, &packet);
    follow_points(compare, source_i, &record, &packet,
                  rs_time_apart(source->now_ns, before_ns), wants);
    for (guint i = 0; i < compare->points->len; i++) {
        if (wants[i] &&
            !rs_compare_point_take(rs_compare_point_at(compare, i), source->reader,
                                   &record, &packet, compare->filter, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

/* ---- the beginning ---- */

static void
begin(rs_compare *compare)
{
    rs_path_config config = {
        .n_points = compare->points->len,
        .max_sightings = MAX_SIGHTINGS,
        .window_ns = WINDOW_NS,
        .matched = on_match,
        .ctx = compare,
    };
    memcpy(config.clock_of, compare->source_of, sizeof config.clock_of);
    g_clear_pointer(&compare->path, rs_path_free);
    compare->path = rs_path_new(&config);
    compare->path->tolerance_ns = LEAST_TOLERANCE_NS;
    compare->n_spread = 0;
    for (guint i = 0; i < compare->points->len; i++) {
        rs_compare_point_begin(rs_compare_point_at(compare, i), compare->path);
    }
    for (guint i = 0; i < compare->sources->len; i++) {
        rs_compare_source_open(source_at(compare, i));
    }
}

static gboolean
read_beginnings(rs_compare *compare, GError **error)
{
    for (guint i = 0; i < compare->sources->len; i++) {
        const rs_compare_source *source = source_at(compare, i);
        if (source->ended) {
            end_source(compare, i); /* it could not be opened */
        }
        while (!source->ended && source->packets < SURVEY_FRAMES &&
               !rs_analysis_is_interrupted()) {
            if (!read_one(compare, i, error)) {
                return FALSE;
            }
        }
    }
    for (guint i = 0; i < compare->points->len; i++) {
        if (!rs_compare_source_of(compare, i)->ended) {
            rs_compare_point_settle(rs_compare_point_at(compare, i));
        }
    }
    rs_path_learn(compare->path);
    return TRUE;
}

/* Differences between all points of two sources. */
static GArray *
differences_of_points(void *ctx, guint low, guint high)
{
    const rs_compare *compare = ctx;
    GArray *all = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (guint a = 0; a < compare->points->len; a++) {
        for (guint b = 0; b < compare->points->len; b++) {
            if (compare->source_of[a] == low && compare->source_of[b] == high) {
                g_autoptr(GArray) some = rs_path_differences(compare->path, a, b);
                g_array_append_vals(all, some->data, some->len);
            }
        }
    }
    return all;
}

static guint64
cluster_width_ns(const rs_compare *compare, guint source_i)
{
    const rs_compare_source *source = source_at(compare, source_i);
    gint64 span_ns = MAX(rs_time_apart(source->now_ns, source->first_at_ns), 0);
    return CLUSTER_NS + (guint64)(span_ns / 1000000) * CLUSTER_DRIFT_PPM;
}

/* Packets of a source that wait get the time that those of its parent have. */
static void
align_packets(rs_compare *compare, guint source_i)
{
    rs_compare_source *source = source_at(compare, source_i);
    rs_path_offsets offsets = {source->offset_ns, source->offset_ns};
    for (guint i = 0; i < compare->points->len; i++) {
        if (compare->source_of[i] == source_i) {
            offsets =
                rs_path_align(compare->path, i, source->parent, source->offset_ns);
        }
    }
    source->first_at_ns = rs_time_apart(
        source->first_at_ns, rs_time_apart(offsets.first_ns, source->offset_ns));
    rs_compare_source_set_offset(source, offsets.last_ns);
    follow_source(compare, source_i);
}

/* Finds a source's offset by one before it: the nearest that shares much with it. */
static void
align_source(rs_compare *compare, guint i, GArray **differences)
{
    guint most = 0;
    gint64 median_ns[RS_PATH_MAX_POINTS] = {0};
    guint n[RS_PATH_MAX_POINTS] = {0};
    for (guint k = 0; k < i; k++) {
        n[k] = rs_clock_densest(differences[k], cluster_width_ns(compare, i),
                                &median_ns[k]);
        most = MAX(most, n[k]);
    }
    for (guint k = i; k-- > 0 && most > 0;) {
        if (n[k] * 4 >= most) {
            const rs_compare_source *parent = source_at(compare, k);
            source_at(compare, i)->parent = k;
            gint64 before_ns = source_at(compare, i)->offset_ns;
            move_clock(compare, i, rs_time_add(parent->offset_ns, median_ns[k]));
            gint64 by_ns = rs_time_apart(source_at(compare, i)->offset_ns, before_ns);
            source_at(compare, i)->first_at_ns =
                rs_time_apart(source_at(compare, i)->first_at_ns, by_ns);
            follow_source(compare, i);
            align_packets(compare, i);
            return;
        }
    }
}

/* Whether every source but the first is aligned with another. */
static gboolean
all_aligned(const rs_compare *compare)
{
    for (guint i = 1; i < compare->sources->len; i++) {
        if (!source_at(compare, i)->aligned) {
            return FALSE;
        }
    }
    return TRUE;
}

/* Finds what times differ by of packets that two sources have in common: gint64. */
typedef GArray *(*difference_finder)(void *ctx, guint low, guint high);

/* Aligns each source with one before it, where they have enough in common. */
static void
align_sources(rs_compare *compare, difference_finder find, void *ctx)
{
    for (guint i = 1; i < compare->sources->len; i++) {
        GArray *differences[RS_PATH_MAX_POINTS];
        for (guint k = 0; k < i; k++) {
            differences[k] = find(ctx, k, i);
        }
        align_source(compare, i, differences);
        for (guint k = 0; k < i; k++) {
            g_array_unref(differences[k]);
        }
    }
}

/* Clocks are known now: what times between points differ by as well. */
static void
begin_spread(rs_compare *compare)
{
    rs_path_begin(compare->path);
    compare->n_spread = 0;
    compare->path->tolerance_ns = LEAST_TOLERANCE_NS;
    for (guint i = 0; i + 1 < compare->points->len; i++) {
        g_autoptr(GArray) some = rs_path_differences(compare->path, i, i + 1);
        gint64 offset_ns =
            rs_time_apart(rs_compare_source_of(compare, i + 1)->offset_ns,
                          rs_compare_source_of(compare, i)->offset_ns);
        for (guint k = 0; k < some->len; k++) {
            follow_spread(compare,
                          rs_time_apart(g_array_index(some, gint64, k), offset_ns));
        }
    }
}

/* ---- a sample of all ---- */

static gboolean
can_sample(const rs_compare *compare)
{
    gboolean more = FALSE;
    for (guint i = 0; i < compare->sources->len; i++) {
        const rs_compare_source *source = source_at(compare, i);
        more |= !source->ended;
        if (!g_file_test(source->path, G_FILE_TEST_IS_REGULAR)) {
            return FALSE;
        }
    }
    return more;
}

static GArray *
differences_of_samples(void *ctx, guint low, guint high)
{
    rs_compare_sample *const *samples = ctx;
    return rs_compare_sample_differences(samples[low], samples[high]);
}

static gboolean
align_by_samples(rs_compare *compare, GError **error)
{
    rs_compare_sample *samples[RS_PATH_MAX_POINTS] = {NULL};
    guint n = compare->sources->len;
    for (guint i = 0; i < n; i++) {
        samples[i] =
            rs_compare_sample_of(source_at(compare, i)->path, compare->options);
        source_at(compare, i)->offset_ns = 0;
    }
    begin(compare);
    compare->sampled = TRUE;
    align_sources(compare, differences_of_samples, samples);
    for (guint i = 0; i < n; i++) {
        rs_compare_sample_free(samples[i]);
    }
    return read_beginnings(compare, error);
}

/* ---- the way through ---- */

/* The source to be read next; the number of them all: none is left. */
static guint
next_source(const rs_compare *compare)
{
    guint n = compare->sources->len;
    guint first = n;
    for (guint i = 0; i < n; i++) {
        const rs_compare_source *source = source_at(compare, i);
        if (!source->ended &&
            (first == n || source->now_ns < source_at(compare, first)->now_ns)) {
            first = i;
        }
    }
    for (guint i = 0; first < n && i < n; i++) {
        rs_compare_source *source = source_at(compare, i);
        gint64 ahead_ns =
            rs_time_apart(source->now_ns, source_at(compare, first)->now_ns);
        if (source->ended) {
            continue;
        }
        if (ahead_ns <= RS_SOURCE_AHEAD_NS) {
            source->credit = RS_SOURCE_CREDIT;
        } else if (source->credit > 0) {
            source->credit--;
            return i;
        }
    }
    return first;
}

static guint64
sum_bytes(const rs_compare *compare, guint64 (*bytes)(const rs_reader *))
{
    guint64 sum = 0;
    for (guint i = 0; i < compare->sources->len; i++) {
        const rs_compare_source *source = source_at(compare, i);
        sum += source->reader != NULL ? bytes(source->reader) : 0;
    }
    return sum;
}

static gboolean
read_on(rs_compare *compare, GError **error)
{
    g_autoptr(rs_progress) progress = rs_progress_new(compare->options->quiet);
    guint64 frames = 0;
    guint64 total = sum_bytes(compare, rs_reader_file_bytes);
    for (guint i = next_source(compare); i < compare->sources->len;
         i = next_source(compare)) {
        if (rs_analysis_is_interrupted()) {
            compare->interrupted = compare->incomplete = TRUE;
            end_source(compare, i);
            continue;
        }
        if (!read_one(compare, i, error)) {
            return FALSE;
        }
        if (++frames % ADVANCE_EVERY == 0) {
            rs_path_advance(compare->path);
            rs_progress_show(progress, sum_bytes(compare, rs_reader_position), total,
                             frames);
        }
    }
    return TRUE;
}

static gboolean
read_all(rs_compare *compare, GError **error)
{
    begin(compare);
    if (!read_beginnings(compare, error)) {
        return FALSE;
    }
    align_sources(compare, differences_of_points, compare);
    if (!all_aligned(compare) && can_sample(compare) &&
        !align_by_samples(compare, error)) {
        return FALSE;
    }
    begin_spread(compare);
    if (!read_on(compare, error)) {
        return FALSE;
    }
    rs_path_finish(compare->path);
    return TRUE;
}

/* ---- what was asked for ---- */

static guint
source_of_path(rs_compare *compare, const char *path)
{
    for (guint i = 0; i < compare->sources->len; i++) {
        if (g_str_equal(source_at(compare, i)->path, path)) {
            return i;
        }
    }
    rs_compare_source *source = rs_compare_source_new(path);
    source->parent = compare->sources->len;
    source->aligned = compare->sources->len == 0;
    g_ptr_array_add(compare->sources, source);
    return compare->sources->len - 1;
}

static void
free_point(gpointer data)
{
    rs_compare_point_free(data);
}

static void
free_source(gpointer data)
{
    rs_compare_source_free(data);
}

/* Whether two points are one interface, or one is the whole file of the other. */
static gboolean
is_part_of_same(const rs_compare_point *a, const rs_compare_point *b)
{
    struct stat x;
    struct stat y;
    gboolean one_file =
        g_str_equal(a->path, b->path) ||
        (stat(a->path, &x) == 0 && stat(b->path, &y) == 0 && S_ISREG(x.st_mode) &&
         x.st_dev == y.st_dev && x.st_ino == y.st_ino);
    return one_file && (a->interface == NULL || b->interface == NULL ||
                        g_str_equal(a->interface, b->interface));
}

static gboolean
take_points(rs_compare *compare, GStrv given, GError **error)
{
    guint n = g_strv_length(given);
    if (n < 2 || n > RS_PATH_MAX_POINTS) {
        g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
                    "2 to %d points are compared, not %u; see rocescope compare --help",
                    RS_PATH_MAX_POINTS, n);
        return FALSE;
    }
    for (guint i = 0; i < n; i++) {
        rs_compare_point *point = rs_compare_point_new(i, given[i], compare->options);
        g_ptr_array_add(compare->points, point);
        for (guint k = 0; k < i; k++) {
            if (is_part_of_same(rs_compare_point_at(compare, k), point)) {
                g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
                            "%s: is given twice, and a point is no path", given[i]);
                return FALSE;
            }
        }
        compare->source_of[i] = source_of_path(compare, point->path);
    }
    return TRUE;
}

/* A file whose interface nobody has met is a mistake of the user's, if it is whole. */
static gboolean
check_interfaces(const rs_compare *compare, GError **error)
{
    for (guint i = 0; i < compare->points->len; i++) {
        const rs_compare_point *point = rs_compare_point_at(compare, i);
        const rs_compare_source *source = rs_compare_source_of(compare, i);
        if (point->interface != NULL && point->packets == 0 && source->error == NULL &&
            !compare->interrupted && !point->exists) {
            g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
                        "%s: no interface of the file has this name or number",
                        point->given);
            return FALSE;
        }
    }
    return TRUE;
}

rs_compare *
rs_compare_run(const rs_options *options, GStrv given, GError **error)
{
    g_autoptr(rs_compare) compare = g_new0(rs_compare, 1);
    compare->options = options;
    compare->points = g_ptr_array_new_with_free_func(free_point);
    compare->sources = g_ptr_array_new_with_free_func(free_source);
    compare->segments = g_array_new(FALSE, FALSE, sizeof(rs_compare_segment));
    if (options->filter != NULL) {
        compare->filter = rs_filter_new(options->filter, error);
        if (compare->filter == NULL) {
            return NULL;
        }
    }
    if (!take_points(compare, given, error) || !read_all(compare, error) ||
        !check_interfaces(compare, error)) {
        return NULL;
    }
    rs_compare_add_up(compare);
    return g_steal_pointer(&compare);
}

void
rs_compare_free(rs_compare *compare)
{
    if (compare == NULL) {
        return;
    }
    rs_filter_free(compare->filter);
    g_ptr_array_unref(compare->points);
    g_ptr_array_unref(compare->sources);
    g_array_unref(compare->segments);
    rs_path_free(compare->path);
    g_free(compare);
}
