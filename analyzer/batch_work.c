/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "batch_work.h"

#include "analysis.h"
#include "batch_inputs.h"
#include "batch_key.h"
#include "database_schema.h"
#include "digest.h"
#include "error.h"
#include "findings.h"
#include "json_capture.h"
#include "json_parts.h"
#include "part.h"
#include "report.h"
#include "report_html.h"
#include "report_json.h"
#include "sheets.h"

#include <string.h>

static const char *const status_names[] = {
    [RS_BATCH_COMPLETE] = "complete",     [RS_BATCH_INCOMPLETE] = "incomplete",
    [RS_BATCH_UNREADABLE] = "unreadable", [RS_BATCH_FAILED] = "failed",
    [RS_BATCH_NO_CAPTURE] = "no_capture",
};
_Static_assert(G_N_ELEMENTS(status_names) == RS_BATCH_STATUSES, "a name for each");

const char *const rs_batch_extensions[RS_BATCH_FORMS] = {".json", ".html"};

/* Who writes the report of this extension. */
static const rs_reporter reporters[RS_BATCH_FORMS] = {rs_report_json, rs_report_html};

/* A capture while it is worked on. */
typedef struct job {
    const rs_batch_task *task;
    const rs_batch_capture *capture;
    rs_worker_line *parent;
    char *key;
} job;

const char *
rs_batch_status_name(rs_batch_status status)
{
    return status_names[status];
}

gboolean
rs_batch_status_from(const char *name, rs_batch_status *status)
{
    for (int i = 0; i < RS_BATCH_STATUSES; i++) {
        if (g_strcmp0(name, status_names[i]) == 0) {
            *status = (rs_batch_status)i;
            return TRUE;
        }
    }
    return FALSE;
}

static const rs_batch_file *
file_at(const job *j, guint i)
{
    return g_ptr_array_index(j->capture->files, i);
}

/* ---- parts ---- */

static json_t *
files_json(const rs_batch_capture *capture)
{
    json_t *files = json_array();
    for (guint i = 0; i < capture->files->len; i++) {
        const rs_batch_file *file = g_ptr_array_index(capture->files, i);
        json_t *one = json_object();
        json_object_set_new(one, "path", rs_json_text(file->path));
        json_object_set_new(one, "bytes", rs_json_count(file->bytes));
        json_array_append_new(files, one);
    }
    return files;
}

/* `key` NULL: what is told here is not to be relied on another time. */
static json_t *
make_head(const rs_batch_capture *capture, rs_batch_status status, const char *reason,
          const char *key)
{
    json_t *head = json_object();
    json_object_set_new(head, "tool", rs_json_tool());
    json_object_set_new(head, "name", json_string(capture->name));
    json_object_set_new(head, "status", json_string(rs_batch_status_name(status)));
    json_object_set_new(head, "reason", rs_json_text(reason));
    json_object_set_new(head, "key", rs_json_text(key));
    json_object_set_new(head, "files", files_json(capture));
    json_object_set_new(head, "findings", json_null());
    json_object_set_new(head, "reports", json_array());
    return head;
}

static json_t *
value_json(const rs_value *value)
{
    switch (value->type) {
    case RS_VALUE_INTEGER:
        return json_integer(value->integer);
    case RS_VALUE_REAL:
        return json_real(value->real);
    case RS_VALUE_BOOLEAN:
        return json_boolean(value->integer);
    case RS_VALUE_TEXT:
        return json_string(value->text);
    case RS_VALUE_NULL:
        break;
    }
    return json_null();
}

/* The rows of a report go into a part. */
static gboolean
add_row(const rs_sheet *sheet, const json_t *row, void *data)
{
    g_autofree const char **columns = g_new(const char *, sheet->n_columns);
    json_t *values = json_array();
    for (guint i = 0; i < sheet->n_columns; i++) {
        g_auto(rs_value) value;
        columns[i] = sheet->columns[i].name;
        (void)rs_column_read(&sheet->columns[i], row, &value);
        json_array_append_new(values, value_json(&value));
    }
    rs_part_writer_add(data, sheet->name, columns, sheet->n_columns, values);
    return TRUE;
}

/* Writes the part; takes `head` over.  `report` may be NULL: nothing but the head. */
static gboolean
write_part(const rs_batch_task *task, const char *name, json_t *head,
           const rs_report *report, GError **error)
{
    g_autofree char *file = rs_batch_dir_part(name);
    g_autofree char *draft = rs_batch_dir_draft(task->dir, file);
    rs_part_writer *writer = rs_part_writer_new(draft, head, error);
    if (writer == NULL) {
        return FALSE;
    }
    if (report != NULL) {
        (void)rs_sheets_visit(report, rs_database_keeps, add_row, writer);
    }
    return rs_part_writer_commit(writer, error) &&
           rs_batch_dir_publish(task->dir, draft, file, error);
}

/* ---- what was done before ---- */

static gboolean
report_is_there(const job *j, const json_t *report)
{
    const char *file = json_string_value(json_object_get(report, "file"));
    const char *digest = json_string_value(json_object_get(report, "digest"));
    if (file == NULL || digest == NULL) {
        return FALSE;
    }
    g_autofree char *path = rs_batch_dir_path(j->task->dir, file);
    g_autofree char *found = rs_digest_file(path, NULL, NULL);
    return g_strcmp0(found, digest) == 0;
}

/* Whether it is of the same contents and sizes: a file may have grown between when it was
 * found and when it was read. */
static gboolean
is_of_same_files(const job *j, const json_t *head)
{
    json_t *files = files_json(j->capture);
    gboolean same =
        g_strcmp0(json_string_value(json_object_get(head, "key")), j->key) == 0 &&
        json_equal(json_object_get(head, "files"), files);
    json_decref(files);
    return same;
}

/* The part of this capture, if it holds still; else NULL. */
static rs_part *
open_finished(const job *j)
{
    if (j->key == NULL) {
        return NULL;
    }
    g_autofree char *file = rs_batch_dir_part(j->capture->name);
    g_autofree char *path = rs_batch_dir_path(j->task->dir, file);
    g_autoptr(rs_part) part = rs_part_open(path, NULL);
    if (part == NULL) {
        return NULL;
    }
    const json_t *head = rs_part_head(part);
    const json_t *reports = json_object_get(head, "reports");
    gboolean same =
        is_of_same_files(j, head) && json_array_size(reports) == RS_BATCH_FORMS;
    for (gsize i = 0; same && i < json_array_size(reports); i++) {
        same = report_is_there(j, json_array_get(reports, i));
    }
    return same ? g_steal_pointer(&part) : NULL;
}

/* ---- what is told ---- */

static void
tell_failure(const job *j, const char *what)
{
    rs_worker_tell(j->parent, json_pack("{s:o}", "failure", rs_json_text(what)));
}

static void
tell_end(const job *j, const json_t *head, gboolean reused)
{
    json_t *message = json_object();
    json_object_set(message, "status", json_object_get(head, "status"));
    json_object_set(message, "reason", json_object_get(head, "reason"));
    json_object_set(message, "findings", json_object_get(head, "findings"));
    json_object_set_new(message, "reused", json_boolean(reused));
    rs_worker_tell(j->parent, message);
}

static void
tell_position(void *ctx, guint64 position)
{
    const job *j = ctx;
    rs_worker_tell(j->parent, json_pack("{s:o}", "position", rs_json_count(position)));
}

/* Ends a job that has no report. */
static void
end_without_report(const job *j, rs_batch_status status, const char *reason)
{
    g_autoptr(GError) error = NULL;
    json_t *head = make_head(j->capture, status, reason, NULL);
    json_incref(head);
    if (write_part(j->task, j->capture->name, head, NULL, &error)) {
        tell_end(j, head, FALSE);
    } else {
        tell_failure(j, error->message);
    }
    json_decref(head);
}

gboolean
rs_batch_work_failed(const rs_batch_task *task, const rs_batch_capture *capture,
                     const char *reason, GError **error)
{
    json_t *head = make_head(capture, RS_BATCH_FAILED, reason, NULL);
    return write_part(task, capture->name, head, NULL, error);
}

/* ---- reports ---- */

static json_t *
count_findings(const GPtrArray *findings)
{
    guint n[RS_SEVERITY_NEVER] = {0};
    for (guint i = 0; i < findings->len; i++) {
        const rs_finding *finding = g_ptr_array_index(findings, i);
        n[finding->severity]++;
    }
    json_t *json = json_object();
    for (int i = RS_SEVERITY_NEVER - 1; i >= RS_SEVERITY_NOTE; i--) {
        json_object_set_new(json, rs_severity_name((rs_severity)i),
                            rs_json_count(n[i]));
    }
    return json;
}

/* Writes one report and lists it. */
static gboolean
write_report(const job *j, const rs_report *report, guint form_i, json_t *reports,
             GError **error)
{
    g_autofree char *file =
        rs_batch_dir_report(j->capture->name, rs_batch_extensions[form_i]);
    g_autofree char *draft = rs_batch_dir_draft(j->task->dir, file);
    if (!rs_report_write(report, reporters[form_i], draft, error)) {
        return FALSE;
    }
    g_autofree char *digest = rs_digest_file(draft, NULL, error);
    if (digest == NULL) {
        return FALSE;
    }
    json_t *listed = json_object();
    json_object_set_new(listed, "file", json_string(file));
    json_object_set_new(listed, "digest", json_string(digest));
    json_array_append_new(reports, listed);
    return rs_batch_dir_publish(j->task->dir, draft, file, error);
}

static const char *
first_problem(const rs_analysis *analysis)
{
    for (guint i = 0; i < analysis->files->len; i++) {
        const rs_file *file = g_ptr_array_index(analysis->files, i);
        if (file->error != NULL) {
            return file->error;
        }
    }
    return NULL;
}

/* Whether the system refused to read some of it, which it may not do the next time. */
static gboolean
read_failed(const rs_analysis *analysis)
{
    for (guint i = 0; i < analysis->files->len; i++) {
        const rs_file *file = g_ptr_array_index(analysis->files, i);
        if (file->read_failed) {
            return TRUE;
        }
    }
    return FALSE;
}

static gboolean
write_all(const job *j, const rs_report *report, json_t *head, GError **error)
{
    json_t *reports = json_object_get(head, "reports");
    json_object_set_new(head, "findings", count_findings(report->findings));
    for (guint i = 0; i < RS_BATCH_FORMS; i++) {
        if (!write_report(j, report, i, reports, error)) {
            return FALSE;
        }
    }
    return write_part(j->task, j->capture->name, json_incref(head), report, error);
}

static void
report_capture(const job *j, const rs_report *report)
{
    g_autoptr(GError) error = NULL;
    const rs_analysis *analysis = report->analysis;
    const char *problem = first_problem(analysis);
    if (!rs_report_has_content(report)) {
        end_without_report(j, RS_BATCH_UNREADABLE, problem);
        return;
    }
    json_t *head =
        make_head(j->capture, problem != NULL ? RS_BATCH_INCOMPLETE : RS_BATCH_COMPLETE,
                  problem, read_failed(analysis) ? NULL : j->key);
    if (write_all(j, report, head, &error)) {
        tell_end(j, head, FALSE);
    } else {
        tell_failure(j, error->message);
    }
    json_decref(head);
}

static void
analyze(const job *j)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GStrvBuilder) paths = g_strv_builder_new();
    for (guint i = 0; i < j->capture->files->len; i++) {
        g_strv_builder_add(paths, file_at(j, i)->path);
    }
    rs_options options = *j->task->options;
    options.files = g_strv_builder_end(paths);
    options.quiet = TRUE;
    options.plots_wanted = TRUE;
    options.progress = tell_position;
    options.progress_ctx = (void *)(guintptr)j;
    g_autoptr(rs_analysis) analysis = rs_analysis_run(&options, &error);
    if (analysis != NULL) {
        rs_report *report = rs_report_new(analysis);
        report_capture(j, report);
        rs_report_leave(report, g_steal_pointer(&analysis));
    } else {
        tell_failure(j, error->message);
    }
    g_strfreev(options.files);
}

/* ---- a job ---- */

/* Why there is nothing to read, as far as can be seen without reading; NULL: there is. */
static char *
refusal_of(const job *j, rs_batch_status *status)
{
    const rs_batch_file *file = file_at(j, 0);
    g_autoptr(GError) error = NULL;
    *status = RS_BATCH_UNREADABLE;
    if (file->refusal != NULL) {
        return g_strdup(file->refusal);
    }
    if (j->capture->files->len > 1) {
        return NULL; /* their stamps have been read */
    }
    g_autoptr(rs_reader) reader = rs_reader_open(file->path, &error);
    if (reader != NULL) {
        return NULL;
    }
    if (!file->named && (g_error_matches(error, RS_ERROR, RS_ERROR_NOT_CAPTURE) ||
                         g_error_matches(error, RS_ERROR, RS_ERROR_EMPTY))) {
        *status = RS_BATCH_NO_CAPTURE;
    }
    return g_strdup(error->message);
}

/* What cannot be read to its end has none, and is analyzed each time. */
static void
make_key(job *j)
{
    guint n = j->capture->files->len;
    g_autoptr(GPtrArray) digests = g_ptr_array_new_with_free_func(g_free);
    g_autofree const char **paths = g_new(const char *, n);
    for (guint i = 0; i < n; i++) {
        paths[i] = file_at(j, i)->path;
        char *digest = rs_digest_file(paths[i], NULL, NULL);
        if (digest == NULL) {
            return;
        }
        g_ptr_array_add(digests, digest);
    }
    j->key = rs_batch_key(j->task->common_key, paths,
                          (const char *const *)digests->pdata, n);
}

void
rs_batch_work(const rs_batch_task *task, const rs_batch_capture *capture,
              rs_worker_line *parent)
{
    job j = {.task = task, .capture = capture, .parent = parent};
    rs_batch_status status;
    g_autofree char *refusal = refusal_of(&j, &status);
    if (refusal != NULL) {
        end_without_report(&j, status, refusal);
        return;
    }
    make_key(&j);
    g_autoptr(rs_part) finished = open_finished(&j);
    if (finished != NULL) {
        tell_end(&j, rs_part_head(finished), TRUE);
    } else {
        analyze(&j);
    }
    g_free(j.key);
}
