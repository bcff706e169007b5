/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "batch_run.h"

#include "background.h"
#include "batch_inputs.h"
#include "console.h"
#include "json_parts.h"

typedef struct run {
    const rs_batch_task *task;
    const GPtrArray *captures;
    rs_batch_progress *progress;
    rs_batch_result *results;
    rs_batch_tally tally;
    guint64 *position; /* of each capture, of what is counted in the tally */
    json_t **last;     /* message of each that said how it ended; NULL: not yet */
} run;

static const rs_batch_capture *
capture_at(const run *r, guint i)
{
    return g_ptr_array_index(r->captures, i);
}

static void
move_to(run *r, guint i, guint64 position)
{
    position = MIN(position, capture_at(r, i)->bytes);
    if (position > r->position[i]) {
        r->tally.bytes_done += position - r->position[i];
        r->position[i] = position;
    }
}

static void
work(void *ctx, guint job_i, rs_worker_line *parent)
{
    const run *r = ctx;
    rs_batch_work(r->task, capture_at(r, job_i), parent);
}

static void
told(void *ctx, guint job_i, const json_t *message)
{
    run *r = ctx;
    const json_t *position = json_object_get(message, "position");
    if (position != NULL) {
        move_to(r, job_i, (guint64)json_integer_value(position));
    } else if (r->last[job_i] == NULL) {
        r->last[job_i] = json_deep_copy(message);
    }
}

static void
take_findings(rs_batch_result *result, const json_t *counts)
{
    for (int i = RS_SEVERITY_NOTE; i < RS_SEVERITY_NEVER; i++) {
        const char *name = rs_severity_name((rs_severity)i);
        if (json_integer_value(json_object_get(counts, name)) > 0) {
            result->worst = (rs_severity)i;
            result->has_finding = TRUE;
        }
    }
}

/* A part's head, and a worker's last word, have the same members here. */
rs_batch_result
rs_batch_result_of(const json_t *head)
{
    const json_t *findings = json_object_get(head, "findings");
    rs_batch_result result = {.ended = TRUE, .has_report = json_is_object(findings)};
    if (!rs_batch_status_from(json_string_value(json_object_get(head, "status")),
                              &result.status)) {
        result.status = RS_BATCH_FAILED;
    }
    take_findings(&result, findings);
    return result;
}

/* What is wrong with a capture is told at once, in one line; a file that nobody called a
 * capture is listed in the index. */
static void
complain(run *r, guint i, const char *reason)
{
    const rs_batch_file *file = g_ptr_array_index(capture_at(r, i)->files, 0);
    rs_batch_result *result = &r->results[i];
    rs_batch_progress_clear(r->progress);
    if (result->status == RS_BATCH_FAILED) {
        g_autofree char *line = g_strdup_printf("%s: %s", file->path, reason);
        rs_complain(line);
    } else if (result->status != RS_BATCH_NO_CAPTURE && reason != NULL) {
        rs_complain(reason);
    }
}

/* Its worker did not say how it ended. */
static json_t *
fail(run *r, guint i, const char *reason, gboolean *is_written)
{
    g_autoptr(GError) error = NULL;
    *is_written = rs_batch_work_failed(r->task, capture_at(r, i), reason, &error);
    if (!*is_written) {
        rs_complain(error->message);
    }
    json_t *message = json_object();
    json_object_set_new(message, "status",
                        json_string(rs_batch_status_name(RS_BATCH_FAILED)));
    json_object_set_new(message, "reason", rs_json_text(reason));
    json_object_set_new(message, "findings", json_null());
    json_object_set_new(message, "reused", json_false());
    return message;
}

static void
take_result(run *r, guint i, const json_t *message)
{
    r->results[i] = rs_batch_result_of(message);
    r->results[i].reused = json_is_true(json_object_get(message, "reused"));
    complain(r, i, json_string_value(json_object_get(message, "reason")));
}

static void
ended(void *ctx, guint job_i, const char *reason)
{
    run *r = ctx;
    gboolean is_written = TRUE;
    json_t *message = g_steal_pointer(&r->last[job_i]);
    const char *failure = json_string_value(json_object_get(message, "failure"));
    if (message == NULL || failure != NULL) {
        json_t *failed = fail(r, job_i,
                              failure != NULL  ? failure
                              : reason != NULL ? reason
                                               : "its worker said nothing",
                              &is_written);
        json_decref(message);
        message = failed;
    }
    take_result(r, job_i, message);
    r->results[job_i].ended = is_written;
    if (is_written) {
        rs_batch_dir_note_done(r->task->dir, capture_at(r, job_i)->name);
    }
    move_to(r, job_i, capture_at(r, job_i)->bytes);
    r->tally.captures_done++;
    rs_batch_progress_capture(r->progress, &r->tally, capture_at(r, job_i)->name,
                              message);
    json_decref(message);
}

static void
tick(void *ctx)
{
    run *r = ctx;
    rs_batch_progress_tick(r->progress, &r->tally);
}

rs_batch_result *
rs_batch_run(const rs_batch_task *task, const GPtrArray *captures,
             const rs_workers_limits *limits, rs_batch_progress *progress)
{
    static const rs_workers_class class = {work, told, ended, tick};
    guint n_files = 0;
    run r = {.task = task, .captures = captures, .progress = progress};
    r.results = g_new0(rs_batch_result, captures->len + 1);
    r.position = g_new0(guint64, captures->len + 1);
    r.last = g_new0(json_t *, captures->len + 1);
    r.tally.captures = captures->len;
    for (guint i = 0; i < captures->len; i++) {
        r.tally.bytes += capture_at(&r, i)->bytes;
        n_files += capture_at(&r, i)->files->len;
    }
    rs_batch_progress_start(progress, &r.tally, n_files);
    if (captures->len > 1) {
        rs_background_prepare();
    }
    (void)rs_workers_run(limits, &class, &r, captures->len);
    for (guint i = 0; i < captures->len; i++) {
        json_decref(r.last[i]);
    }
    g_free(r.position);
    g_free(r.last);
    return r.results;
}
