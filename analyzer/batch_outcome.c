/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "batch_outcome.h"

#include "batch_text.h"
#include "batch_work.h"
#include "command.h"
#include "console.h"
#include "error.h"

#include <stdio.h>

void
rs_batch_outcome_init(rs_batch_outcome *outcome, rs_batch_dir *dir,
                      const rs_options *options)
{
    *outcome = (rs_batch_outcome){
        .dir = dir,
        .options = options,
        .names = g_ptr_array_new_with_free_func(g_free),
        .results = g_array_new(FALSE, FALSE, sizeof(rs_batch_result)),
    };
}

void
rs_batch_outcome_clear(rs_batch_outcome *outcome)
{
    g_clear_pointer(&outcome->names, g_ptr_array_unref);
    g_clear_pointer(&outcome->results, g_array_unref);
    g_clear_pointer(&outcome->worst, rs_table_free);
}

void
rs_batch_outcome_add(rs_batch_outcome *outcome, const char *name,
                     const rs_batch_result *result)
{
    g_ptr_array_add(outcome->names, g_strdup(name));
    g_array_append_val(outcome->results, *result);
}

static const char *
name_at(const rs_batch_outcome *outcome, guint i)
{
    return g_ptr_array_index(outcome->names, i);
}

static const rs_batch_result *
result_at(const rs_batch_outcome *outcome, guint i)
{
    return &g_array_index(outcome->results, rs_batch_result, i);
}

/* ---- files that are to be there ---- */

static GHashTable *
new_set(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

static void
add_reports(GHashTable *files, const char *name)
{
    for (guint i = 0; i < RS_BATCH_FORMS; i++) {
        g_hash_table_add(files, rs_batch_dir_report(name, rs_batch_extensions[i]));
    }
}

gboolean
rs_batch_outcome_expect(const rs_batch_outcome *outcome, GError **error)
{
    g_autoptr(GHashTable) files = new_set();
    for (guint i = 0; i < outcome->names->len; i++) {
        add_reports(files, name_at(outcome, i));
        g_hash_table_add(files, rs_batch_dir_part(name_at(outcome, i)));
    }
    rs_batch_files_names(files);
    return rs_batch_dir_expect(outcome->dir, files, error);
}

/* Of captures that were not dealt with, everything is left as it is. */
static void
add_results(const rs_batch_outcome *outcome, GHashTable *files)
{
    for (guint i = 0; i < outcome->names->len; i++) {
        const rs_batch_result *result = result_at(outcome, i);
        g_hash_table_add(files, rs_batch_dir_part(name_at(outcome, i)));
        if (result->has_report || !result->ended) {
            add_reports(files, name_at(outcome, i));
        }
    }
}

/* Without any, a PATH was mistyped, or nothing could be read. */
static gboolean
has_any_report(const rs_batch_outcome *outcome)
{
    for (guint i = 0; i < outcome->results->len; i++) {
        if (result_at(outcome, i)->has_report) {
            return TRUE;
        }
    }
    return FALSE;
}

/* ---- writing ---- */

static gboolean
ask_worst(rs_database *database, void *ctx, GError **error)
{
    rs_batch_outcome *outcome = ctx;
    outcome->worst = rs_batch_text_worst(database, outcome->options->top, error);
    return outcome->worst != NULL;
}

gboolean
rs_batch_outcome_write(rs_batch_outcome *outcome, rs_batch_outcome_form form,
                       GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_autoptr(GHashTable) files = new_set();
    guint n_missing = 0;
    for (guint i = 0; i < outcome->names->len; i++) {
        if (result_at(outcome, i)->ended) {
            g_ptr_array_add(names, g_ptr_array_index(outcome->names, i));
        } else {
            n_missing++;
        }
    }
    outcome->extent.n_missing += n_missing;
    add_results(outcome, files);
    if (form == RS_BATCH_ALL_FILES) {
        rs_batch_files_names(files);
        if (!rs_batch_files_write(outcome->dir, names, &outcome->extent, ask_worst,
                                  outcome, error)) {
            return FALSE;
        }
    }
    return !has_any_report(outcome) || rs_batch_dir_settle(outcome->dir, files, error);
}

/* ---- what is told ---- */

gboolean
rs_batch_outcome_is_complete(const rs_batch_outcome *outcome)
{
    return outcome->extent.n_missing == 0 && !outcome->extent.parts_missing;
}

int
rs_batch_outcome_status(const rs_batch_outcome *outcome)
{
    gboolean all = rs_batch_outcome_is_complete(outcome) && !outcome->told_in_part;
    int status = all ? RS_EXIT_SUCCESS : RS_EXIT_INCOMPLETE;
    for (guint i = 0; i < outcome->results->len; i++) {
        const rs_batch_result *result = result_at(outcome, i);
        if (!result->ended || result->earlier) {
            continue;
        }
        if (result->status != RS_BATCH_COMPLETE &&
            result->status != RS_BATCH_NO_CAPTURE) {
            status = RS_EXIT_INCOMPLETE;
        } else if (status == RS_EXIT_SUCCESS && result->has_finding &&
                   result->worst >= outcome->options->fail_on) {
            status = RS_EXIT_FINDING;
        }
    }
    return status;
}

int
rs_batch_outcome_without(const GError *error)
{
    return g_error_matches(error, RS_ERROR, RS_ERROR_IO) ? RS_EXIT_INCOMPLETE
                                                         : RS_EXIT_USAGE;
}

gboolean
rs_batch_outcome_print(const rs_batch_outcome *outcome, const char *where)
{
    rs_batch_counts counts;
    rs_batch_count(&counts,
                   (const rs_batch_result *)(const void *)outcome->results->data,
                   outcome->results->len);
    counts.missing = outcome->extent.n_missing;
    rs_batch_text(stdout, &counts, &outcome->extent, outcome->worst, rs_console_width(),
                  where);
    return rs_console_flush();
}
