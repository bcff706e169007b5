/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare_source.h"

#include "clock_match.h"
#include "path_time.h"

#include <string.h>

#define ENOUGH_DIFFERENCES 9
#define MEDIAN_EVERY 8
#define MOST_IDLE_NS                                                                   \
    ((gint64)86400 * 1000 * 1000 * 1000) /* a clock that jumps further was set */

rs_compare_source *
rs_compare_source_new(const char *path)
{
    rs_compare_source *source = g_new0(rs_compare_source, 1);
    source->path = g_strdup(path);
    source->damaged_at = -1;
    return source;
}

void
rs_compare_source_free(rs_compare_source *source)
{
    if (source == NULL) {
        return;
    }
    rs_reader_close(source->reader);
    g_free(source->path);
    g_free(source->error);
    g_free(source);
}

void
rs_compare_source_open(rs_compare_source *source)
{
    g_autoptr(GError) error = NULL;
    g_clear_pointer(&source->reader, rs_reader_close);
    g_clear_pointer(&source->error, g_free);
    source->packets = source->bytes = 0;
    source->damaged_at = -1;
    source->ended = FALSE;
    source->n_differences = 0;
    source->newest_stamp_ns = 0;
    source->credit = RS_SOURCE_CREDIT;
    source->reader = rs_reader_open(source->path, &error);
    if (source->reader == NULL) {
        source->error = g_strdup(error->message);
        source->ended = TRUE;
    }
}

/* Follows the clock of the file. */
static void
follow(rs_compare_source *source, guint64 stamp_ns)
{
    gboolean first = source->packets == 1;
    gint64 step_ns = rs_time_apart(rs_time_of_stamp(stamp_ns),
                                   rs_time_of_stamp(source->newest_stamp_ns));
    if (!first && (step_ns < -RS_SOURCE_AHEAD_NS || step_ns > MOST_IDLE_NS)) {
        source->offset_ns = rs_time_add(source->offset_ns, step_ns);
        source->newest_stamp_ns = stamp_ns;
        source->n_differences = 0;
        source->jumps++;
    }
    source->newest_stamp_ns = MAX(source->newest_stamp_ns, stamp_ns);
    source->now_ns =
        rs_time_apart(rs_time_of_stamp(source->newest_stamp_ns), source->offset_ns);
    if (first) {
        source->newest_stamp_ns = stamp_ns;
        source->first_at_ns = source->now_ns;
    }
}

gboolean
rs_compare_source_next(rs_compare_source *source, rs_record *record)
{
    g_autoptr(GError) error = NULL;
    if (source->reader == NULL || source->ended) {
        return FALSE;
    }
    int got = rs_reader_next(source->reader, record, &error);
    if (got > 0) {
        record->frame.number = ++source->packets;
        source->bytes += record->frame.captured_bytes;
        follow(source, record->frame.time_ns);
        return TRUE;
    }
    if (got < 0 && !g_error_matches(error, RS_ERROR, RS_ERROR_INTERRUPTED)) {
        source->error = g_strdup(error->message);
        if (!g_error_matches(error, RS_ERROR, RS_ERROR_NOT_DECODED)) {
            source->damaged_at = (gint64)rs_reader_offset(source->reader);
        }
    }
    source->ended = TRUE;
    return FALSE;
}

void
rs_compare_source_close(rs_compare_source *source)
{
    source->ended = TRUE;
    if (source->reader != NULL) {
        source->format = rs_reader_format(source->reader);
        source->resolution_ns = rs_reader_resolution_ns(source->reader);
        g_clear_pointer(&source->reader, rs_reader_close);
    }
}

gboolean
rs_compare_source_has_stamps(const rs_compare_source *source)
{
    return source->resolution_ns < RS_NO_STAMPS_NS;
}

void
rs_compare_source_set_offset(rs_compare_source *source, gint64 offset_ns)
{
    gint64 by = rs_time_apart(offset_ns, source->offset_ns);
    source->offset_ns = offset_ns;
    source->now_ns = rs_time_apart(source->now_ns, by);
}

gboolean
rs_compare_source_compare(rs_compare_source *source, rs_way way, gint64 difference_ns,
                          gint64 *median_ns)
{
    guint at = source->n_differences++ % RS_SOURCE_DIFFERENCES;
    (void)rs_both_ways_middle(&source->ways, way, &difference_ns);
    source->differences[at] = difference_ns;
    guint n = MIN(source->n_differences, RS_SOURCE_DIFFERENCES);
    if (n < ENOUGH_DIFFERENCES || source->n_differences % MEDIAN_EVERY != 0) {
        return FALSE;
    }
    g_autoptr(GArray) sorted = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_array_append_vals(sorted, source->differences, n);
    return rs_clock_densest(sorted, G_MAXUINT64, median_ns) > 0;
}
