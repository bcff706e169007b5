/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "batch_sets.h"

#include "batch_names.h"
#include "json_parts.h"
#include "reader.h"
#include "rotation.h"

#include <string.h>

/* The stamps of files that may belong to a set. */
typedef struct spans {
    const GPtrArray *files;
    const char *label;
    GArray *asked;   /* guint: the numbers of these files */
    rs_span *span;   /* by the file's number */
    gboolean *known; /* likewise */
    guint n_done;
    rs_batch_progress *progress;
} spans;

/* ---- stamps ---- */

/* In a worker: reads a file through. */
static void
read_span(void *ctx, guint job_i, rs_worker_line *parent)
{
    const spans *s = ctx;
    const rs_batch_file *file =
        g_ptr_array_index(s->files, g_array_index(s->asked, guint, job_i));
    g_autoptr(rs_reader) reader = rs_reader_open(file->path, NULL);
    rs_span span = {0};
    guint64 n_frames = 0;
    rs_record record;
    while (reader != NULL && rs_reader_next(reader, &record, NULL) > 0) {
        guint64 time_ns = record.frame.time_ns;
        span.first_ns = n_frames == 0 ? time_ns : span.first_ns;
        span.last_ns = MAX(span.last_ns, time_ns);
        n_frames++;
    }
    if (n_frames > 0) {
        rs_worker_tell(parent,
                       json_pack("{s:I,s:I}", "first_ns", (json_int_t)span.first_ns,
                                 "last_ns", (json_int_t)span.last_ns));
    }
}

static void
take_span(void *ctx, guint job_i, const json_t *message)
{
    spans *s = ctx;
    guint file_i = g_array_index(s->asked, guint, job_i);
    s->span[file_i].first_ns =
        (guint64)json_integer_value(json_object_get(message, "first_ns"));
    s->span[file_i].last_ns =
        (guint64)json_integer_value(json_object_get(message, "last_ns"));
    s->known[file_i] = TRUE;
}

/* What went wrong is told when the file is analyzed. */
static void
end_span(void *ctx, guint job_i, const char *reason)
{
    spans *s = ctx;
    (void)job_i;
    (void)reason;
    s->n_done++;
}

static void
tick(void *ctx)
{
    const spans *s = ctx;
    rs_batch_progress_sets(s->progress, s->n_done, s->asked->len);
}

static gboolean
tell_span(void *ctx, guint file_i, rs_span *span)
{
    const spans *s = ctx;
    *span = s->span[file_i];
    return s->known[file_i];
}

/* ---- captures ---- */

static void
free_capture(gpointer data)
{
    rs_batch_capture *capture = data;
    g_free(capture->name);
    g_ptr_array_unref(capture->files);
    g_free(capture);
}

static rs_batch_capture *
make_capture(const spans *s, const GArray *set)
{
    rs_batch_capture *capture = g_new0(rs_batch_capture, 1);
    capture->files = g_ptr_array_new();
    for (guint i = 0; i < set->len; i++) {
        rs_batch_file *file = g_ptr_array_index(s->files, g_array_index(set, guint, i));
        g_ptr_array_add(capture->files, file);
        capture->bytes += file->bytes;
    }
    const rs_batch_file *first = g_ptr_array_index(capture->files, 0);
    capture->name = rs_batch_name(s->label, first->path);
    return capture;
}

static gint
by_name(gconstpointer a, gconstpointer b)
{
    const rs_batch_capture *x = *(rs_batch_capture *const *)a;
    const rs_batch_capture *y = *(rs_batch_capture *const *)b;
    return strcmp(x->name, y->name);
}

static GPtrArray *
group(spans *s, const char *const *paths)
{
    GPtrArray *captures = g_ptr_array_new_with_free_func(free_capture);
    g_autoptr(GPtrArray) sets = rs_rotation_group(paths, s->files->len, tell_span, s);
    for (guint i = 0; i < sets->len; i++) {
        g_ptr_array_add(captures, make_capture(s, g_ptr_array_index(sets, i)));
    }
    g_ptr_array_sort(captures, by_name);
    return captures;
}

GPtrArray *
rs_batch_sets_find(const GPtrArray *files, const char *label,
                   const rs_workers_limits *limits, rs_batch_progress *progress)
{
    static const rs_workers_class class = {read_span, take_span, end_span, tick};
    guint n = files->len;
    g_autofree const char **paths = g_new0(const char *, n + 1);
    g_autofree rs_span *span = g_new0(rs_span, n + 1);
    g_autofree gboolean *known = g_new0(gboolean, n + 1);
    g_autoptr(GArray) asked = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = 0; i < n; i++) {
        paths[i] = ((const rs_batch_file *)g_ptr_array_index(files, i))->path;
    }
    g_autofree gboolean *candidate = rs_rotation_candidates(paths, n);
    for (guint i = 0; i < n; i++) {
        const rs_batch_file *file = g_ptr_array_index(files, i);
        if (candidate[i] && file->refusal == NULL) {
            g_array_append_val(asked, i);
        }
    }
    spans s = {.files = files,
               .label = label,
               .asked = asked,
               .span = span,
               .known = known,
               .progress = progress};
    if (!rs_workers_run(limits, &class, &s, asked->len)) {
        return NULL;
    }
    return group(&s, paths);
}
