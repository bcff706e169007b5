/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "batch_progress.h"

#include "console.h"
#include "format.h"
#include "json_parts.h"
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_US G_USEC_PER_SEC
#define LINE_EVERY_US (G_USEC_PER_SEC / 5)
#define JSON_EVERY_US G_USEC_PER_SEC

struct rs_batch_progress {
    rs_batch_progress_form form;
    gboolean shown;
    gboolean broken; /* a line could not be written */
    gint64 start_us, last_us;
};

rs_batch_progress *
rs_batch_progress_new(rs_batch_progress_form form)
{
    rs_batch_progress *progress = g_new0(rs_batch_progress, 1);
    gboolean blind = form == RS_BATCH_PROGRESS_TERMINAL && !isatty(STDERR_FILENO);
    progress->form = blind ? RS_BATCH_PROGRESS_NONE : form;
    progress->start_us = progress->last_us = g_get_monotonic_time();
    return progress;
}

void
rs_batch_progress_free(rs_batch_progress *progress)
{
    if (progress != NULL) {
        rs_batch_progress_clear(progress);
        g_free(progress);
    }
}

void
rs_batch_progress_clear(rs_batch_progress *progress)
{
    if (progress->shown) {
        fputs("\r\033[K", stderr);
        (void)fflush(stderr);
        progress->shown = FALSE;
    }
}

static double
seconds_since_start(const rs_batch_progress *progress)
{
    gint64 now_us = g_get_monotonic_time();
    return (double)(now_us - progress->start_us) / G_USEC_PER_SEC;
}

/* Seconds left if it goes on like this; -1: cannot be told. */
static double
seconds_left(const rs_batch_tally *tally, double elapsed_s)
{
    if (tally->bytes_done == 0 || tally->bytes_done > tally->bytes) {
        return -1;
    }
    return elapsed_s * (double)(tally->bytes - tally->bytes_done) /
           (double)tally->bytes_done;
}

/* ---- JSON ---- */

/* Writes a line; takes it over.  A signal that ends the batch in order cuts none. */
static void
put(rs_batch_progress *progress, json_t *line)
{
    char *text = json_dumps(line, JSON_COMPACT);
    json_decref(line);
    if (text != NULL) {
        g_autofree char *whole = g_strconcat(text, "\n", NULL);
        gboolean written = rs_output_put(STDOUT_FILENO, whole, strlen(whole));
        progress->broken |= !written && errno != EPIPE;
        free(text);
    }
}

static json_t *
event(const char *name)
{
    json_t *line = json_object();
    json_object_set_new(line, "event", json_string(name));
    return line;
}

static void
add_tally(json_t *line, const rs_batch_progress *progress, const rs_batch_tally *tally)
{
    double elapsed_s = seconds_since_start(progress);
    double left_s = seconds_left(tally, elapsed_s);
    double rate = elapsed_s > 0 ? (double)tally->bytes_done / elapsed_s : 0;
    json_object_set_new(line, "captures_done", rs_json_count(tally->captures_done));
    json_object_set_new(line, "captures", rs_json_count(tally->captures));
    json_object_set_new(line, "bytes_done", rs_json_count(tally->bytes_done));
    json_object_set_new(line, "bytes", rs_json_count(tally->bytes));
    json_object_set_new(line, "elapsed_s", json_real(elapsed_s));
    json_object_set_new(line, "bytes_per_s", rs_json_count((guint64)rate));
    json_object_set_new(line, "left_s", left_s < 0 ? json_null() : json_real(left_s));
}

/* ---- the terminal ---- */

static void
show_line(rs_batch_progress *progress, const rs_batch_tally *tally)
{
    double elapsed_s = seconds_since_start(progress);
    double left_s = seconds_left(tally, elapsed_s);
    double rate = (double)tally->bytes_done / MAX(elapsed_s, 1e-6);
    g_autofree char *done = rs_format_bytes(tally->bytes_done);
    g_autofree char *all = rs_format_bytes(tally->bytes);
    g_autofree char *speed = rs_format_bytes((guint64)rate);
    fprintf(stderr, "\r\033[K%u of %u captures  %s of %s  %s/s", tally->captures_done,
            tally->captures, done, all, speed);
    if (left_s >= 0) {
        fprintf(stderr, "  %.0f s left", left_s);
    }
    (void)fflush(stderr);
    progress->shown = TRUE;
}

/* ---- for everybody ---- */

void
rs_batch_progress_start(rs_batch_progress *progress, const rs_batch_tally *tally,
                        guint n_files)
{
    progress->start_us = g_get_monotonic_time(); /* rates are of reading captures */
    if (progress->form == RS_BATCH_PROGRESS_JSON) {
        json_t *line = event("start");
        json_object_set_new(line, "captures", rs_json_count(tally->captures));
        json_object_set_new(line, "files", rs_json_count(n_files));
        json_object_set_new(line, "bytes", rs_json_count(tally->bytes));
        put(progress, line);
    }
}

void
rs_batch_progress_capture(rs_batch_progress *progress, const rs_batch_tally *tally,
                          const char *name, const json_t *message)
{
    if (progress->form == RS_BATCH_PROGRESS_JSON) {
        json_t *line = event("capture");
        json_object_set_new(line, "name", rs_json_text(name));
        json_object_update(line, (json_t *)(guintptr)message);
        add_tally(line, progress, tally);
        put(progress, line);
    }
}

/* Whether it is time to say something again. */
static gboolean
is_due(rs_batch_progress *progress)
{
    gboolean json = progress->form == RS_BATCH_PROGRESS_JSON;
    gint64 now_us = g_get_monotonic_time();
    if (progress->form == RS_BATCH_PROGRESS_NONE ||
        now_us - progress->start_us < FIRST_US ||
        now_us - progress->last_us < (json ? JSON_EVERY_US : LINE_EVERY_US)) {
        return FALSE;
    }
    progress->last_us = now_us;
    return TRUE;
}

void
rs_batch_progress_sets(rs_batch_progress *progress, guint n_done, guint n_files)
{
    if (!is_due(progress)) {
        return;
    }
    if (progress->form == RS_BATCH_PROGRESS_JSON) {
        json_t *line = event("sets");
        json_object_set_new(line, "files_done", rs_json_count(n_done));
        json_object_set_new(line, "files", rs_json_count(n_files));
        put(progress, line);
    } else {
        fprintf(stderr, "\r\033[K%u of %u rotated files looked at", n_done, n_files);
        (void)fflush(stderr);
        progress->shown = TRUE;
    }
}

void
rs_batch_progress_tick(rs_batch_progress *progress, const rs_batch_tally *tally)
{
    if (!is_due(progress)) {
        return;
    }
    if (progress->form == RS_BATCH_PROGRESS_JSON) {
        json_t *line = event("progress");
        add_tally(line, progress, tally);
        put(progress, line);
    } else {
        show_line(progress, tally);
    }
}

gboolean
rs_batch_progress_end(rs_batch_progress *progress, gboolean complete, int exit_status)
{
    rs_batch_progress_clear(progress);
    if (progress->form == RS_BATCH_PROGRESS_JSON) {
        json_t *line = event("end");
        json_object_set_new(line, "complete", json_boolean(complete));
        json_object_set_new(line, "exit_status", json_integer(exit_status));
        put(progress, line);
    }
    if (progress->broken) {
        rs_complain("standard output cannot be written");
    }
    return !progress->broken;
}
