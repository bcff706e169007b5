/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "extract.h"

#include "error.h"
#include "feed.h"
#include "point_names.h"
#include "progress.h"

#define SHOW_EVERY 64 /* packets between looks at the terminal */

/* Files as they are read again. */
typedef struct extraction {
    const rs_report *report;
    const rs_trace *trace;
    const rs_remarks *remarks;
    rs_writer *writer;
    guint64 frame;        /* number of the newest */
    guint64 *file_frames; /* by file: how many it has had */
    gboolean *file_used;  /* by file: something of it was written */
    GString *remark;
    GString *name; /* of an interface */
} extraction;

/* The interface of a frame: that of the first file, where it was rotated. */
static void
find_place(const extraction *x, guint file_i, guint interface_i, guint *first_file_i,
           guint *first_interface_i)
{
    const rs_point *point =
        rs_points_of_interface(x->report->analysis->points, file_i, interface_i);
    *first_file_i = point != NULL ? point->file_i : file_i;
    *first_interface_i = point != NULL ? point->interface_i : interface_i;
}

/* Names an interface that has no name of its own after its file, where there are
 * several.  Valid until the next one. */
static rs_source
source_of(extraction *x, guint file_i, const rs_reader *reader, guint interface_i)
{
    const rs_analysis *analysis = x->report->analysis;
    guint first_file_i;
    guint first_interface_i;
    find_place(x, file_i, interface_i, &first_file_i, &first_interface_i);
    rs_source source = {.place = (guint64)first_file_i << 32 | first_interface_i,
                        .interface = rs_reader_interface(reader, interface_i)};
    if (analysis->files->len > 1 && source.interface->name == NULL) {
        g_autofree char *file = rs_file_name(analysis, first_file_i);
        g_string_assign(x->name, file);
        if (first_interface_i > 0) {
            g_string_append_printf(x->name, "#%u", first_interface_i);
        }
        source.name = x->name->str;
    }
    return source;
}

/* "frame 12 (5 of b.pcap): stream 3, connection 1" and what else is said of it. */
static const char *
remark_on(extraction *x, guint file_i)
{
    const GPtrArray *files = x->report->analysis->files;
    g_string_printf(x->remark, "frame %" G_GUINT64_FORMAT, x->frame);
    if (files->len > 1) {
        g_autofree char *file = rs_file_name(x->report->analysis, file_i);
        g_string_append_printf(x->remark, " (%" G_GUINT64_FORMAT " of %s)",
                               x->file_frames[file_i], file);
    }
    g_string_append(x->remark, ": ");
    rs_remarks_append(x->remarks, x->frame, x->remark);
    return x->remark->str;
}

/* Silent interfaces are wanted, too: that nothing was seen there is part of what a
 * capture says. */
static void
declare_all(extraction *x, guint file_i, const rs_reader *reader)
{
    for (guint i = 0; i < rs_reader_n_interfaces(reader); i++) {
        const rs_source source = source_of(x, file_i, reader, i);
        rs_writer_declare(x->writer, &source);
    }
}

/* A file is another one, or shorter, than when it was analyzed: rotated, say. */
static gboolean
fail_changed(const extraction *x, const char *what, GError **error)
{
    g_set_error(
        error, RS_ERROR, RS_ERROR_IO,
        "the capture changed between two readings: %s; the second came to frame "
        "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT,
        what, x->frame, rs_trace_last_frame(x->trace));
    return FALSE;
}

static gboolean
is_same(const rs_trace_row *row, const rs_record *record)
{
    return (row->flags & RS_TRACE_TRACKED) == 0 ||
           row->time_ns == record->frame.time_ns;
}

static gboolean
take_frame(extraction *x, const rs_feed_step *step, GError **error)
{
    x->frame++;
    x->file_frames[step->file_i]++;
    if (x->frame > rs_trace_last_frame(x->trace) ||
        (rs_trace_at(x->trace, x->frame)->flags & RS_TRACE_CHOSEN) == 0) {
        return TRUE;
    }
    if (!is_same(rs_trace_at(x->trace, x->frame), &step->record)) {
        return fail_changed(x, "frames have other time stamps", error);
    }
    if (!x->file_used[step->file_i]) {
        x->file_used[step->file_i] = TRUE;
        declare_all(x, step->file_i, step->reader); /* so that they keep their order */
    }
    const rs_source source =
        source_of(x, step->file_i, step->reader, step->record.interface);
    return rs_writer_add(x->writer, &source, &step->record, remark_on(x, step->file_i),
                         error);
}

/* Interfaces that the file told of later, and what was dropped at each. */
static void
end_file(extraction *x, const rs_feed_step *step)
{
    if (!x->file_used[step->file_i]) {
        return;
    }
    declare_all(x, step->file_i, step->reader);
    for (guint i = 0; i < rs_reader_n_interfaces(step->reader); i++) {
        const rs_source source = source_of(x, step->file_i, step->reader, i);
        rs_writer_drops(x->writer, &source);
    }
}

static gboolean
read_again(extraction *x, rs_feed *feed, rs_progress *progress, GError **error)
{
    for (rs_feed_step step;;) {
        if (rs_analysis_is_interrupted()) {
            return rs_fail_interrupted(error);
        }
        rs_feed_next(feed, &step);
        switch (step.kind) {
        case RS_FEED_END:
            return x->frame >= rs_trace_last_frame(x->trace) ||
                   fail_changed(x, "it has fewer frames", error);
        case RS_FEED_FILE_END:
            end_file(x, &step);
            break;
        case RS_FEED_FRAME:
            if (!take_frame(x, &step, error)) {
                return FALSE;
            }
            break;
        }
        if (x->frame % SHOW_EVERY == 0) {
            rs_progress_show(progress, rs_feed_position(feed),
                             rs_feed_total_bytes(feed), x->frame);
        }
    }
}

gboolean
rs_extract(const rs_report *report, const rs_trace *trace, const rs_remarks *remarks,
           rs_writer *writer, GError **error)
{
    const guint n_files = report->analysis->files->len;
    g_autofree guint64 *file_frames = g_new0(guint64, n_files);
    g_autofree gboolean *file_used = g_new0(gboolean, n_files);
    g_autoptr(GString) remark = g_string_new(NULL);
    g_autoptr(GString) name = g_string_new(NULL);
    extraction x = {
        .report = report,
        .trace = trace,
        .remarks = remarks,
        .writer = writer,
        .file_frames = file_frames,
        .file_used = file_used,
        .remark = remark,
        .name = name,
    };
    g_autoptr(rs_feed) feed = rs_feed_new(report->analysis->options->files);
    g_autoptr(rs_progress) progress = rs_progress_new(report->analysis->options->quiet);
    return read_again(&x, feed, progress, error);
}
