/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report for every capture, and what is worst of all. */
#include "batch_dir.h"
#include "batch_files.h"
#include "batch_inputs.h"
#include "batch_key.h"
#include "batch_names.h"
#include "batch_progress.h"
#include "batch_run.h"
#include "batch_sets.h"
#include "batch_text.h"
#include "command.h"
#include "console.h"
#include "error.h"
#include "filter.h"
#include "option_parser.h"
#include "told.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define MAX_JOBS 4096
#define MAX_TIMEOUT_S (365 * 24 * 3600)

static const char summary[] =
    "Writes a report for every capture that is found, and an index, a summary and a "
    "database of them all. What was done before is not repeated.";

static const char description[] =
    "Exit status: 2 usage; 3 a capture could not be read in full, or the batch was "
    "interrupted; 1 a finding at or above --fail-on; else 0. See rocescope-batch(1).";

/* Options of this command alone. */
typedef struct batch_options {
    char *output, *memory, *progress;
    gint64 jobs, timeout_s;
} batch_options;

/* A batch on its way. */
typedef struct batch {
    const rs_options *options;
    rs_workers_limits limits;
    rs_batch_progress_form form;
    rs_batch_dir *dir;
    rs_batch_progress *progress;
    gboolean told_in_part; /* a file that the user tells something in was left out */
    GPtrArray *files;      /* rs_batch_file */
    GPtrArray *captures;   /* rs_batch_capture */
    rs_batch_result *results;
    rs_table *worst; /* of the captures */
} batch;

/* ---- options ---- */

static gboolean
usage(GError **error, const char *what)
{
    g_set_error_literal(error, RS_ERROR, RS_ERROR_USAGE, what);
    return FALSE;
}

/* "512M", "2G", "1000000": bytes. */
static gboolean
parse_memory(const char *text, guint64 *bytes, GError **error)
{
    gsize length = strlen(text);
    guint64 unit = length > 0 ? rs_option_unit(text[length - 1], 1024) : 0;
    g_autofree char *digits = g_strndup(text, unit > 0 ? length - 1 : length);
    unit = MAX(unit, 1);
    if (!g_ascii_string_to_unsigned(digits, 10, 1, G_MAXINT64 / unit, bytes, NULL)) {
        return usage(error, "--memory: not a size such as 4G");
    }
    *bytes *= unit;
    return TRUE;
}

static gboolean
take_limits(const batch_options *own, batch *b, GError **error)
{
    if (own->jobs < 0 || own->jobs > MAX_JOBS) {
        return usage(error, "--jobs: 1 to 4096");
    }
    if (own->timeout_s < 0 || own->timeout_s > MAX_TIMEOUT_S) {
        return usage(error, "--timeout: not a number of seconds");
    }
    b->limits.n_workers = own->jobs > 0 ? (guint)own->jobs : rs_workers_n_processors();
    b->limits.timeout_s = (guint)own->timeout_s;
    return own->memory == NULL ||
           parse_memory(own->memory, &b->limits.memory_bytes, error);
}

static gboolean
take_progress(const batch_options *own, batch *b, GError **error)
{
    b->form = b->options->quiet ? RS_BATCH_PROGRESS_NONE : RS_BATCH_PROGRESS_TERMINAL;
    if (own->progress == NULL) {
        return TRUE;
    }
    b->form = RS_BATCH_PROGRESS_JSON;
    return g_str_equal(own->progress, "json") || usage(error, "--progress: json");
}

static gboolean
take_options(const batch_options *own, batch *b, GError **error)
{
    if (b->options->files == NULL) {
        return usage(error, "no PATH given; see rocescope batch --help");
    }
    if (g_strv_contains((const char *const *)b->options->files, "-")) {
        return usage(error, "-: a batch does not read standard input");
    }
    if (g_strv_contains((const char *const *)b->options->files, "")) {
        return usage(error, "a PATH is empty");
    }
    if (own->output == NULL || *own->output == '\0') {
        return usage(error, "-o DIR is wanted: where the reports are to go");
    }
    return take_limits(own, b, error) && take_progress(own, b, error);
}

static rs_options *
parse(int argc, char **argv, batch_options *own, GError **error)
{
    static const rs_option_group groups[] = {RS_OPTIONS_CAPTURE, RS_OPTIONS_NETWORK,
                                             RS_OPTIONS_REPORT, RS_OPTIONS_OUTCOME};
    /* clang-format off */
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &own->output, "Where reports, index, summary and database go", "DIR"},
        {"jobs", 'j', 0, G_OPTION_ARG_INT64, &own->jobs, "Captures at a time (default: one for each processor)", "N"},
        {"memory", 0, 0, G_OPTION_ARG_STRING, &own->memory, "Give a capture up that takes more memory", "SIZE"},
        {"timeout", 0, 0, G_OPTION_ARG_INT64, &own->timeout_s, "Give a capture up that takes longer", "SECONDS"},
        {"progress", 0, 0, G_OPTION_ARG_STRING, &own->progress, "Tell progress as lines of JSON on standard output", "json"},
        {0},
    };
    /* clang-format on */
    g_autoptr(rs_option_parser) parser =
        rs_option_parser_new("rocescope batch", "PATH… -o DIR", summary, description);
    rs_option_parser_take_paths(parser);
    rs_option_parser_add(parser, entries);
    for (guint i = 0; i < G_N_ELEMENTS(groups); i++) {
        rs_option_parser_take(parser, groups[i]);
    }
    return rs_option_parser_run(parser, argc, argv, error);
}

/* What the user tells is the same for all captures: what is wrong with it is told once. */
static gboolean
check_told(batch *b, GError **error)
{
    const rs_options *options = b->options;
    if (options->filter != NULL) {
        g_autoptr(rs_filter) filter = rs_filter_new(options->filter, error);
        if (filter == NULL) {
            return FALSE;
        }
    }
    g_autoptr(rs_told) told = rs_told_new(options, error);
    for (guint i = 0; told != NULL && i < told->errors->len; i++) {
        rs_complain(g_ptr_array_index(told->errors, i));
        b->told_in_part = TRUE;
    }
    return told != NULL;
}

/* ---- files that are to be there ---- */

static const rs_batch_capture *
capture_at(const batch *b, guint i)
{
    return g_ptr_array_index(b->captures, i);
}

static void
add_reports(GHashTable *files, const char *name)
{
    for (guint i = 0; i < RS_BATCH_FORMS; i++) {
        g_hash_table_add(files, rs_batch_dir_report(name, rs_batch_extensions[i]));
    }
}

static GHashTable *
new_set(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

/* Everything that may appear. */
static gboolean
expect_files(const batch *b, GError **error)
{
    g_autoptr(GHashTable) files = new_set();
    for (guint i = 0; i < b->captures->len; i++) {
        add_reports(files, capture_at(b, i)->name);
        g_hash_table_add(files, rs_batch_dir_part(capture_at(b, i)->name));
    }
    rs_batch_files_names(files);
    return rs_batch_dir_expect(b->dir, files, error);
}

/* Of captures that were not dealt with, everything is left as it is. */
static void
add_results(const batch *b, GHashTable *files)
{
    for (guint i = 0; i < b->captures->len; i++) {
        const char *name = capture_at(b, i)->name;
        g_hash_table_add(files, rs_batch_dir_part(name));
        if (b->results[i].has_report || !b->results[i].ended) {
            add_reports(files, name);
        }
    }
}

/* ---- what came of it ---- */

static guint
count_missing(const batch *b)
{
    guint n = 0;
    for (guint i = 0; i < b->captures->len; i++) {
        n += b->results[i].ended ? 0 : 1;
    }
    return n;
}

static gboolean
ask_worst(rs_database *database, void *ctx, GError **error)
{
    batch *b = ctx;
    b->worst = rs_batch_text_worst(database, b->options->top, error);
    return b->worst != NULL;
}

/* Without any, a PATH was mistyped, or nothing could be read. */
static gboolean
has_any_report(const batch *b)
{
    for (guint i = 0; i < b->captures->len; i++) {
        if (b->results[i].has_report) {
            return TRUE;
        }
    }
    return FALSE;
}

/* Writes the common files, and removes what an earlier batch left that is none of this
 * one's, once there is anything to put in its place. */
static gboolean
write_common(batch *b, guint n_missing, GError **error)
{
    const rs_batch_extent extent = {.n_missing = n_missing};
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_autoptr(GHashTable) files = new_set();
    for (guint i = 0; i < b->captures->len; i++) {
        if (b->results[i].ended) {
            g_ptr_array_add(names, capture_at(b, i)->name);
        }
    }
    add_results(b, files);
    rs_batch_files_names(files);
    return rs_batch_files_write(b->dir, names, &extent, ask_worst, b, error) &&
           (!has_any_report(b) || rs_batch_dir_settle(b->dir, files, error));
}

static int
exit_status(const batch *b, guint n_missing)
{
    gboolean all = n_missing == 0 && !b->told_in_part;
    int status = all ? RS_EXIT_SUCCESS : RS_EXIT_INCOMPLETE;
    for (guint i = 0; i < b->captures->len; i++) {
        const rs_batch_result *result = &b->results[i];
        if (result->ended && result->status != RS_BATCH_COMPLETE &&
            result->status != RS_BATCH_NO_CAPTURE) {
            status = RS_EXIT_INCOMPLETE;
        } else if (status == RS_EXIT_SUCCESS && result->has_finding &&
                   result->worst >= b->options->fail_on) {
            status = RS_EXIT_FINDING;
        }
    }
    return status;
}

static void
print_outcome(const batch *b, const char *output)
{
    rs_batch_counts counts;
    g_autofree char *index =
        g_build_filename(output, rs_batch_common_names[RS_BATCH_INDEX], NULL);
    rs_batch_count(&counts, b->results, b->captures->len);
    rs_batch_text(stdout, &counts, b->worst, rs_console_width(), index);
}

/* ---- the batch ---- */

static void
on_signal(int number)
{
    (void)number;
    rs_workers_interrupt();
}

/* The first one ends the batch in order, the second one the program. */
static void
catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

/* A file that --captured-at names has to be one of them. */
static gboolean
check_captured_at(const batch *b, GError **error)
{
    for (guint i = 0; i < b->options->captured_at->len; i++) {
        rs_option_pair *pair = g_ptr_array_index(b->options->captured_at, i);
        if (pair->path == NULL) {
            continue;
        }
        g_autofree char *tidy = rs_batch_path_tidy(pair->path);
        gboolean found = FALSE;
        for (guint k = 0; k < b->files->len; k++) {
            const rs_batch_file *file = g_ptr_array_index(b->files, k);
            found |= g_str_equal(file->path, tidy);
        }
        if (!found) {
            g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
                        "--captured-at %s=%s: this is not the name of a capture file "
                        "given",
                        pair->subject, pair->path);
            return FALSE;
        }
        g_free(pair->path);
        pair->path = g_steal_pointer(&tidy);
    }
    return TRUE;
}

/* Finds out what there is to do; FALSE with `error` set, or interrupted. */
static gboolean
prepare(batch *b, const char *output, GError **error)
{
    if (!check_told(b, error)) {
        return FALSE;
    }
    b->dir = rs_batch_dir_open(output, error);
    if (b->dir == NULL) {
        return FALSE;
    }
    b->files = rs_batch_inputs_find((const char *const *)b->options->files, output);
    if (!check_captured_at(b, error)) {
        return FALSE;
    }
    b->captures = rs_batch_sets_find(b->files, &b->limits, b->progress);
    return b->captures != NULL && expect_files(b, error);
}

/* Does it all; returns the exit status. */
static int
run(batch *b, const char *output, GError **error)
{
    g_autofree char *common = rs_batch_key_common(b->options);
    const rs_batch_task task = {
        .options = b->options, .common_key = common, .dir = b->dir};
    b->results = rs_batch_run(&task, b->captures, &b->limits, b->progress);
    guint n_missing = count_missing(b);
    gboolean written = write_common(b, n_missing, error);
    int status = written ? exit_status(b, n_missing) : RS_EXIT_INCOMPLETE;
    rs_batch_progress_clear(b->progress);
    if (written && !b->options->quiet && b->form != RS_BATCH_PROGRESS_JSON) {
        print_outcome(b, output);
        status = rs_console_flush() ? status : RS_EXIT_INCOMPLETE;
    }
    rs_batch_progress_end(b->progress, n_missing == 0 && written, status);
    return status;
}

static int
exit_of(const GError *error)
{
    return g_error_matches(error, RS_ERROR, RS_ERROR_IO) ? RS_EXIT_INCOMPLETE
                                                         : RS_EXIT_USAGE;
}

static int
do_batch(batch *b, const char *output, GError **error)
{
    catch_signals();
    b->progress = rs_batch_progress_new(b->form);
    if (prepare(b, output, error)) {
        return run(b, output, error);
    }
    if (*error == NULL) {
        rs_complain("interrupted before the first capture");
        return RS_EXIT_INCOMPLETE;
    }
    return exit_of(*error);
}

static void
clear(batch *b)
{
    rs_batch_progress_free(b->progress);
    rs_batch_dir_close(b->dir);
    g_clear_pointer(&b->captures, g_ptr_array_unref);
    g_clear_pointer(&b->files, g_ptr_array_unref);
    rs_table_free(b->worst);
    g_free(b->results);
}

int
rs_command_batch(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    batch_options own = {0};
    batch b = {0};
    int status = RS_EXIT_USAGE;
    g_autoptr(rs_options) options = parse(argc, argv, &own, &error);
    b.options = options;
    if (options != NULL && take_options(&own, &b, &error)) {
        status = do_batch(&b, own.output, &error);
    }
    if (error != NULL) {
        rs_complain(error->message);
    }
    clear(&b);
    g_free(own.output);
    g_free(own.memory);
    g_free(own.progress);
    return status;
}
