/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report for every capture, and what is worst of all. */
#include "batch_dir.h"
#include "batch_inputs.h"
#include "batch_key.h"
#include "batch_names.h"
#include "batch_outcome.h"
#include "batch_progress.h"
#include "batch_record.h"
#include "batch_run.h"
#include "batch_sets.h"
#include "batch_share.h"
#include "command.h"
#include "console.h"
#include "error.h"
#include "filter.h"
#include "option_parser.h"
#include "part.h"
#include "told.h"

#include <stdio.h>
#include <string.h>

#define MOST_NAMED 20u /* captures that an earlier batch did not come to */
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
    char *output, *memory, *progress, *shard, *label;
    gint64 jobs, timeout_s;
    gboolean append;
} batch_options;

/* A batch on its way. */
typedef struct batch {
    const rs_options *options;
    rs_workers_limits limits;
    rs_batch_progress_form form;
    rs_batch_share share;
    const char *label; /* before the names of captures; NULL: none */
    gboolean append;   /* to what is in the directory */
    rs_batch_dir *dir;
    rs_batch_progress *progress;
    gboolean told_in_part; /* a file that the user tells something in was left out */
    char *common_key;
    GPtrArray *files;        /* rs_batch_file */
    GPtrArray *own_files;    /* those of this share, of `files` */
    GPtrArray *captures;     /* rs_batch_capture */
    GPtrArray *earlier;      /* char *: names of captures that this is added to */
    GArray *earlier_results; /* rs_batch_result, of each */
    GHashTable *due;         /* char *: captures that are not dealt with yet */
    GHashTable *due_before;  /* likewise, when this one began */
    rs_batch_extent lacking; /* of what this is added to */
} batch;

static const rs_batch_capture *
capture_at(const batch *b, guint i)
{
    return g_ptr_array_index(b->captures, i);
}

static gboolean
is_share(const batch *b)
{
    return b->share.of > 1;
}

/* ---- options ---- */

/* "512M", "2G", "1000000": bytes. */
static gboolean
parse_memory(const char *text, guint64 *bytes, GError **error)
{
    gsize length = strlen(text);
    guint64 unit = length > 0 ? rs_option_unit(text[length - 1], 1024) : 0;
    g_autofree char *digits = g_strndup(text, unit > 0 ? length - 1 : length);
    unit = MAX(unit, 1);
    if (!g_ascii_string_to_unsigned(digits, 10, 1, G_MAXINT64 / unit, bytes, NULL)) {
        return rs_fail_usage(error, "--memory: not a size such as 4G");
    }
    *bytes *= unit;
    return TRUE;
}

static gboolean
take_limits(const batch_options *own, batch *b, GError **error)
{
    if (own->jobs < 1 || own->jobs > MAX_JOBS) {
        return rs_fail_usage(error, "--jobs: 1 to 4096");
    }
    if (own->timeout_s < 0 || own->timeout_s > MAX_TIMEOUT_S) {
        return rs_fail_usage(error, "--timeout: not a number of seconds");
    }
    b->limits.n_workers = (guint)own->jobs;
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
    return g_str_equal(own->progress, "json") ||
           rs_fail_usage(error, "--progress: json");
}

static gboolean
take_share_options(const batch_options *own, batch *b, GError **error)
{
    b->append = own->append;
    b->label = own->label;
    if (own->label != NULL && *own->label == '\0') {
        return rs_fail_usage(error, "--label: the label is empty");
    }
    if (own->append && own->shard != NULL) {
        return rs_fail_usage(error, "--append and --shard exclude each other: add what "
                                    "rocescope merge made of the shares");
    }
    return own->shard == NULL || rs_batch_share_parse(own->shard, &b->share, error);
}

static gboolean
take_options(const batch_options *own, batch *b, GError **error)
{
    if (b->options->files == NULL) {
        return rs_fail_usage(error, "no PATH given; see rocescope batch --help");
    }
    if (g_strv_contains((const char *const *)b->options->files, "-")) {
        return rs_fail_usage(error, "-: a batch does not read standard input");
    }
    if (g_strv_contains((const char *const *)b->options->files, "")) {
        return rs_fail_usage(error, "a PATH is empty");
    }
    if (own->output == NULL || *own->output == '\0') {
        return rs_fail_usage(error, "-o DIR is wanted: where the reports are to go");
    }
    return take_share_options(own, b, error) && take_limits(own, b, error) &&
           take_progress(own, b, error);
}

static rs_options *
parse(int argc, char **argv, batch_options *own, GError **error)
{
    static const rs_option_group groups[] = {RS_OPTIONS_CAPTURE, RS_OPTIONS_NETWORK,
                                             RS_OPTIONS_REPORT, RS_OPTIONS_ROWS,
                                             RS_OPTIONS_OUTCOME};
    /* clang-format off */
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &own->output, "Where reports, index, summary and database go", "DIR"},
        {"jobs", 'j', 0, G_OPTION_ARG_INT64, &own->jobs, "Captures at a time (default: one for each processor)", "N"},
        {"memory", 0, 0, G_OPTION_ARG_STRING, &own->memory, "Give a capture up that takes more memory", "SIZE"},
        {"timeout", 0, 0, G_OPTION_ARG_INT64, &own->timeout_s, "Give a capture up that takes longer", "SECONDS"},
        {"shard", 0, 0, G_OPTION_ARG_STRING, &own->shard, "Do one of N shares, for rocescope merge", "I/N|slurm"},
        {"label", 0, 0, G_OPTION_ARG_STRING, &own->label, "Put this before the names of captures: their host", "NAME"},
        {"append", 0, 0, G_OPTION_ARG_NONE, &own->append, "Keep what earlier batches left in DIR", NULL},
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

/* ---- what came of it ---- */

/* A capture that belongs to the directory. */
typedef struct entry {
    const char *name;
    rs_batch_result result;
} entry;

static gint
by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(((const entry *)a)->name, ((const entry *)b)->name);
}

/* What an earlier batch has left of a capture: a part, or nothing that counts, since it did
 * not come to it or the part is damaged.  Of that everything is left as it is. */
static rs_batch_result
look_at_earlier(const batch *b, const char *name, GHashTable *due)
{
    g_autofree char *file = rs_batch_dir_part(name);
    g_autofree char *path = rs_batch_dir_path(b->dir, file);
    g_autoptr(rs_part) part =
        g_hash_table_contains(due, name) ? NULL : rs_part_open(path, NULL);
    rs_batch_result result = {0};
    if (part != NULL) {
        result = rs_batch_result_of(rs_part_head(part));
    }
    result.reused = result.earlier = TRUE;
    return result;
}

static void
tell_lost(const char *name, guint n)
{
    if (n <= MOST_NAMED) {
        g_autofree char *line =
            g_strdup_printf("%s: an earlier batch did not come to it, or its part is "
                            "missing or damaged",
                            name);
        rs_complain(line);
    } else if (n == MOST_NAMED + 1) {
        rs_complain("… and more");
    }
}

/* Captures of earlier batches that none of this one's own takes the place of: where it is
 * added to them they belong to the directory, else they are due to go. */
static gboolean
find_earlier(batch *b, GError **error)
{
    g_autoptr(GHashTable) own = g_hash_table_new(g_str_hash, g_str_equal);
    GHashTable *due = b->due_before = rs_batch_dir_read_due(b->dir, error);
    if (due == NULL) {
        return FALSE;
    }
    g_autoptr(GPtrArray) names = rs_batch_dir_captures(b->dir);
    guint n_lost = 0;
    for (guint i = 0; i < b->captures->len; i++) {
        g_hash_table_add(own, capture_at(b, i)->name);
        g_hash_table_add(b->due, g_strdup(capture_at(b, i)->name));
    }
    for (guint i = 0; i < names->len; i++) {
        char *name = g_ptr_array_index(names, i);
        if (g_hash_table_contains(own, name)) {
            continue;
        }
        rs_batch_result result = {0};
        if (b->append) {
            result = look_at_earlier(b, name, due);
            g_ptr_array_add(b->earlier, g_strdup(name));
            g_array_append_val(b->earlier_results, result);
            if (!result.ended) {
                tell_lost(name, ++n_lost);
            }
        }
        if (!result.ended) {
            g_hash_table_add(b->due, g_strdup(name));
        }
    }
    return TRUE;
}

/* Whether it leaves everything else as it was: nothing came of this batch. */
static gboolean
is_void(const batch *b, const rs_batch_result *results)
{
    guint i = 0;
    while (i < b->captures->len && !results[i].has_report) {
        i++;
    }
    return !b->append && i == b->captures->len;
}

/* What is still due, when the directory has been written. */
static gboolean
note_due(const batch *b, const rs_batch_result *results, GError **error)
{
    gboolean nothing_came = is_void(b, results);
    g_autoptr(GHashTable) here =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GPtrArray) names = rs_batch_dir_captures(b->dir);
    for (guint i = 0; i < names->len; i++) {
        g_hash_table_add(here, g_strdup(g_ptr_array_index(names, i)));
    }
    g_autoptr(GHashTable) own = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < b->captures->len; i++) {
        g_hash_table_add(own, capture_at(b, i)->name);
        if (results[i].ended) {
            g_hash_table_remove(b->due, capture_at(b, i)->name);
        }
    }
    GHashTableIter iter;
    gpointer name;
    g_hash_table_iter_init(&iter, b->due);
    while (g_hash_table_iter_next(&iter, &name, NULL)) {
        gboolean stays = nothing_came && !g_hash_table_contains(own, name) &&
                         !g_hash_table_contains(b->due_before, name);
        if (stays || !g_hash_table_contains(here, name)) {
            g_hash_table_iter_remove(&iter); /* or it is gone */
        }
    }
    return rs_batch_dir_write_due(b->dir, b->due, error);
}

static void
add_lack(const rs_batch_lack *lack, void *ctx)
{
    rs_batch_extent *extent = ctx;
    extent->parts_missing = TRUE;
    extent->n_inputs_missing += lack->size.inputs;
}

/* Everything that belongs to the directory.  `results` are of the batch's own captures;
 * NULL: nothing came of them yet. */
static void
gather(const batch *b, const rs_batch_result *results, rs_batch_outcome *outcome)
{
    g_autoptr(GArray) entries = g_array_new(FALSE, FALSE, sizeof(entry));
    for (guint i = 0; i < b->captures->len; i++) {
        entry own = {.name = capture_at(b, i)->name};
        if (results != NULL) {
            own.result = results[i];
        }
        g_array_append_val(entries, own);
    }
    for (guint i = 0; i < b->earlier->len; i++) {
        const entry kept = {.name = g_ptr_array_index(b->earlier, i),
                            .result =
                                g_array_index(b->earlier_results, rs_batch_result, i)};
        g_array_append_val(entries, kept);
    }
    g_array_sort(entries, by_name);
    rs_batch_outcome_init(outcome, b->dir, b->options);
    outcome->told_in_part = b->told_in_part;
    for (guint i = 0; i < entries->len; i++) {
        const entry *e = &g_array_index(entries, entry, i);
        rs_batch_outcome_add(outcome, e->name, &e->result);
    }
}

static gboolean
expect_files(const batch *b, GError **error)
{
    rs_batch_outcome outcome;
    gather(b, NULL, &outcome);
    gboolean good = rs_batch_outcome_expect(&outcome, error);
    rs_batch_outcome_clear(&outcome);
    return good;
}

static gboolean
print_outcome(const batch *b, const rs_batch_outcome *outcome, const char *output)
{
    g_autofree char *index =
        g_build_filename(output, rs_batch_common_names[RS_BATCH_INDEX], NULL);
    if (!is_share(b)) {
        return rs_batch_outcome_print(outcome, index);
    }
    g_autofree char *where = g_strdup_printf("%s: share %u of %u, for rocescope merge",
                                             output, b->share.number, b->share.of);
    return rs_batch_outcome_print(outcome, where);
}

/* ---- the batch ---- */

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

/* Which of the files are this share's, and what the directory is going to be of. */
static GPtrArray *
take_share(const batch *b, rs_batch_record *record)
{
    g_autofree rs_batch_share_size *sizes = g_new(rs_batch_share_size, b->share.of);
    g_autofree guint *share_of = rs_batch_share_divide(b->files, b->share.of, sizes);
    g_autofree char *found = rs_batch_key_found(b->files, b->label);
    GPtrArray *own = g_ptr_array_new();
    rs_batch_share_size all = {0};
    for (guint i = 0; i < b->share.of; i++) {
        all.inputs += sizes[i].inputs;
        all.bytes += sizes[i].bytes;
    }
    for (guint i = 0; i < b->files->len; i++) {
        if (share_of[i] == b->share.number - 1) {
            g_ptr_array_add(own, g_ptr_array_index(b->files, i));
        }
    }
    rs_batch_record_add(record, b->common_key, found, &b->share, &all,
                        &sizes[b->share.number - 1]);
    return own;
}

/* What the directory is of so far; a new one of nothing. */
static rs_batch_record *
old_record(const batch *b, GError **error)
{
    g_autoptr(GError) problem = NULL;
    g_autoptr(rs_batch_record) record = rs_batch_record_new();
    g_autoptr(rs_batch_record) old =
        b->append ? rs_batch_dir_read_record(b->dir, &problem) : NULL;
    if (problem != NULL && !g_error_matches(problem, RS_ERROR, RS_ERROR_OPEN)) {
        g_propagate_error(error, g_steal_pointer(&problem));
        return NULL;
    }
    if (old != NULL) {
        rs_batch_record_merge(record, old);
    }
    return g_steal_pointer(&record);
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
    g_autoptr(rs_batch_record) record = old_record(b, error);
    if (record == NULL) {
        return FALSE;
    }
    b->common_key = rs_batch_key_common(b->options);
    b->own_files = take_share(b, record);
    b->captures = rs_batch_sets_find(b->own_files, b->label, &b->limits, b->progress);
    if (b->captures == NULL) {
        return FALSE;
    }
    if (!find_earlier(b, error)) {
        return FALSE;
    }
    if (b->append && !is_share(b)) {
        rs_batch_record_lacks(record, add_lack, &b->lacking);
    }
    return expect_files(b, error) && rs_batch_dir_write_due(b->dir, b->due, error) &&
           rs_batch_dir_write_record(b->dir, record, error);
}

/* Does it all; returns the exit status. */
static int
run(const batch *b, const char *output, GError **error)
{
    const rs_batch_task task = {
        .options = b->options, .common_key = b->common_key, .dir = b->dir};
    g_autofree rs_batch_result *results =
        rs_batch_run(&task, b->captures, &b->limits, b->progress);
    rs_console_let_write();
    rs_batch_outcome outcome;
    gather(b, results, &outcome);
    outcome.extent.parts_missing = b->lacking.parts_missing;
    outcome.extent.n_inputs_missing = b->lacking.n_inputs_missing;
    gboolean written =
        rs_batch_outcome_write(
            &outcome, is_share(b) ? RS_BATCH_PARTS_ONLY : RS_BATCH_ALL_FILES, error) &&
        note_due(b, results, error);
    int status = written ? rs_batch_outcome_status(&outcome) : RS_EXIT_INCOMPLETE;
    rs_batch_progress_clear(b->progress);
    if (written && !b->options->quiet && b->form != RS_BATCH_PROGRESS_JSON) {
        status = print_outcome(b, &outcome, output) ? status : RS_EXIT_INCOMPLETE;
    }
    gboolean complete = rs_batch_outcome_is_complete(&outcome) && written;
    if (!rs_batch_progress_end(b->progress, complete, status)) {
        status = RS_EXIT_INCOMPLETE;
    }
    rs_batch_outcome_clear(&outcome);
    return status;
}

static int
do_batch(batch *b, const char *output, GError **error)
{
    rs_console_catch_signals(rs_workers_interrupt);
    b->progress = rs_batch_progress_new(b->form);
    if (prepare(b, output, error)) {
        return run(b, output, error);
    }
    if (*error == NULL) {
        rs_complain("interrupted before the first capture");
        return RS_EXIT_INCOMPLETE;
    }
    return rs_batch_outcome_without(*error);
}

static void
clear(batch *b)
{
    rs_batch_progress_free(b->progress);
    rs_batch_dir_close(b->dir);
    g_clear_pointer(&b->captures, g_ptr_array_unref);
    g_clear_pointer(&b->own_files, g_ptr_array_unref);
    g_clear_pointer(&b->files, g_ptr_array_unref);
    g_ptr_array_unref(b->earlier);
    g_array_unref(b->earlier_results);
    g_hash_table_unref(b->due);
    g_clear_pointer(&b->due_before, g_hash_table_unref);
    g_free(b->common_key);
}

int
rs_command_batch(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    batch_options own = {.jobs = MIN(rs_workers_n_processors(), MAX_JOBS)};
    batch b = {
        .share = {.number = 1, .of = 1},
        .earlier = g_ptr_array_new_with_free_func(g_free),
        .earlier_results = g_array_new(FALSE, FALSE, sizeof(rs_batch_result)),
        .due = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
    };
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
    g_free(own.shard);
    g_free(own.label);
    return status;
}
