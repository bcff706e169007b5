/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Directories of batches, or shares of one, made into one. */
#include "batch_dir.h"
#include "batch_merge.h"
#include "batch_outcome.h"
#include "command.h"
#include "console.h"
#include "error.h"
#include "option_parser.h"

static const char summary[] =
    "Makes one directory of those that batches wrote: the shares of one batch, or the "
    "batches of several hosts and days.";

static const char description[] =
    "Exit status: 2 usage; 3 a part or a capture is missing, damaged, or was not read "
    "in "
    "full; 1 a finding at or above --fail-on; else 0. See rocescope-merge(1).";

static rs_options *
parse(int argc, char **argv, char **output, GError **error)
{
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, output, "Where it goes", "DIR"},
        {0},
    };
    g_autoptr(rs_option_parser) parser =
        rs_option_parser_new("rocescope merge", "PART… -o DIR", summary, description);
    rs_option_parser_take_paths(parser);
    rs_option_parser_add(parser, entries);
    rs_option_parser_take(parser, RS_OPTIONS_ROWS);
    rs_option_parser_take(parser, RS_OPTIONS_OUTCOME);
    return rs_option_parser_run(parser, argc, argv, error);
}

static gboolean
check_options(const rs_options *options, const char *output, GError **error)
{
    if (options->files == NULL) {
        return rs_fail_usage(error, "no PART given; see rocescope merge --help");
    }
    if (output == NULL || *output == '\0') {
        return rs_fail_usage(error,
                             "-o DIR is wanted: where the parts are to go together");
    }
    return TRUE;
}

/* A part cannot be read while it is written. */
static gboolean
check_parts(const rs_options *options, const rs_batch_dir *dir, GError **error)
{
    for (guint i = 0; options->files[i] != NULL; i++) {
        if (rs_batch_dir_is(dir, options->files[i])) {
            g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
                        "%s: is both a part and where the parts are to go",
                        options->files[i]);
            return FALSE;
        }
    }
    return TRUE;
}

static int
run(const rs_options *options, rs_batch_dir *dir, const char *output, GError **error)
{
    rs_batch_outcome outcome;
    int status = RS_EXIT_INCOMPLETE;
    rs_batch_outcome_init(&outcome, dir, options);
    if (rs_batch_merge(&outcome, (const char *const *)options->files, error) &&
        rs_batch_outcome_write(&outcome, RS_BATCH_ALL_FILES, error)) {
        status = rs_batch_outcome_status(&outcome);
        g_autofree char *index =
            g_build_filename(output, rs_batch_common_names[RS_BATCH_INDEX], NULL);
        if (!options->quiet && !rs_batch_outcome_print(&outcome, index)) {
            status = RS_EXIT_INCOMPLETE;
        }
    }
    rs_batch_outcome_clear(&outcome);
    return status;
}

/* Its directory is opened before anything is read: a mistake there is told at once. */
static int
do_merge(const rs_options *options, const char *output, GError **error)
{
    g_autoptr(rs_batch_dir) dir = rs_batch_dir_open(output, error);
    if (dir == NULL || !check_parts(options, dir, error)) {
        return rs_batch_outcome_without(*error);
    }
    return run(options, dir, output, error);
}

int
rs_command_merge(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *output = NULL;
    int status = RS_EXIT_USAGE;
    g_autoptr(rs_options) options = parse(argc, argv, &output, &error);
    if (options != NULL && check_options(options, output, &error)) {
        status = do_merge(options, output, &error);
    }
    if (error != NULL) {
        rs_complain(error->message);
    }
    return status;
}
