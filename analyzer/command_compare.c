/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several points of one path: read side by side, matched, reported. */
#include "command.h"
#include "compare.h"
#include "console.h"
#include "csv_compare.h"
#include "error.h"
#include "html_compare.h"
#include "json_compare.h"
#include "option_parser.h"
#include "output.h"
#include "targets.h"
#include "text_compare.h"

#include <stdio.h>

#define DEFAULT_TOP 20

static const char summary[] =
    "Matches the packets of several captures of one path, and says what each stretch "
    "of it did to them: lost, marked, reordered, made two, delayed. A POINT is FILE or "
    "FILE#INTERFACE; points stand in the order of the path. Clocks may differ.";

static const char description[] =
    "Exit status: 2 usage; 3 an input could not be read in full; else 0. See "
    "rocescope-compare(1).";

/* Options of the command's own, or of groups of which it takes no other. */
typedef struct own_options {
    char *json, *csv, *html;
    gint64 top;
    gboolean quiet, no_color;
} own_options;

static void
clear_own(own_options *own)
{
    g_free(own->json);
    g_free(own->csv);
    g_free(own->html);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(own_options, clear_own)

static rs_options *
parse(int argc, char **argv, own_options *own, GError **error)
{
    /* clang-format off */
    const GOptionEntry entries[] = {
        {"json", 0, 0, G_OPTION_ARG_FILENAME, &own->json, "Write the report as JSON to FILE (\"-\": standard output)", "FILE"},
        {"csv", 0, 0, G_OPTION_ARG_FILENAME, &own->csv, "Write its tables to DIR, a CSV file for each", "DIR"},
        {"html", 0, 0, G_OPTION_ARG_FILENAME, &own->html, "Write it as one page of HTML to FILE", "FILE"},
        {"top", 0, 0, G_OPTION_ARG_INT64, &own->top, "Lost packets shown of each segment (default 20; 0: all)", "N"},
        {"no-color", 0, 0, G_OPTION_ARG_NONE, &own->no_color, "No colour, even on a terminal", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &own->quiet, "No text report and no progress", NULL},
        {0},
    };
    /* clang-format on */
    g_autoptr(rs_option_parser) parser =
        rs_option_parser_new("rocescope compare", "POINT POINT…", summary, description);
    rs_option_parser_add(parser, entries);
    rs_option_parser_take(parser, RS_OPTIONS_CAPTURE);
    g_autoptr(rs_options) options = rs_option_parser_run(parser, argc, argv, error);
    if (options == NULL) {
        return NULL;
    }
    if (own->top < 0 || own->top > G_MAXUINT16) {
        g_set_error_literal(error, RS_ERROR, RS_ERROR_USAGE, "--top: 0 to 65535");
        return NULL;
    }
    options->top = (guint)own->top;
    options->quiet = own->quiet;
    options->no_color = own->no_color;
    return g_steal_pointer(&options);
}

typedef void (*compare_reporter)(FILE *out, const rs_compare *compare);

static gboolean
write_file(const char *path, compare_reporter reporter, const rs_compare *compare)
{
    g_autoptr(GError) error = NULL;
    if (path == NULL) {
        return TRUE;
    }
    rs_output *output = rs_output_open(path, &error);
    if (output != NULL) {
        reporter(rs_output_stream(output), compare);
        if (rs_output_commit(output, &error)) {
            return TRUE;
        }
    }
    rs_complain(error->message);
    return FALSE;
}

static void
complain_of_inputs(const rs_compare *compare)
{
    for (guint i = 0; i < compare->sources->len; i++) {
        const rs_compare_source *source = g_ptr_array_index(compare->sources, i);
        if (source->error != NULL) {
            rs_complain(source->error);
        }
    }
}

static gboolean
write_tables(const char *directory, const rs_compare *compare)
{
    g_autoptr(GError) error = NULL;
    if (directory == NULL || rs_compare_csv(directory, compare, &error)) {
        return TRUE;
    }
    rs_complain(error->message);
    return FALSE;
}

static int
write_reports(const rs_options *options, const own_options *own,
              const rs_compare *compare)
{
    rs_console_let_write();
    complain_of_inputs(compare);
    gboolean written = write_file(own->json, rs_report_compare_json, compare);
    written = write_file(own->html, rs_report_compare_html, compare) && written;
    written = write_tables(own->csv, compare) && written;
    if (!options->quiet && g_strcmp0(own->json, "-") != 0 &&
        g_strcmp0(own->html, "-") != 0) {
        rs_text_compare(stdout, compare, rs_console_width(),
                        rs_console_has_color(options));
        written = rs_console_flush() && written;
    }
    return compare->incomplete || !written ? RS_EXIT_INCOMPLETE : RS_EXIT_SUCCESS;
}

static gboolean
check_targets(const rs_options *options, const own_options *own, GError **error)
{
    const rs_target targets[] = {{"--json", own->json}, {"--html", own->html}};
    g_autoptr(GStrvBuilder) inputs = g_strv_builder_new();
    for (guint i = 0; options->files[i] != NULL; i++) {
        g_autofree char *file = rs_compare_point_path(options->files[i]);
        g_strv_builder_add(inputs, file);
    }
    g_auto(GStrv) all = g_strv_builder_end(inputs);
    return rs_targets_check(targets, G_N_ELEMENTS(targets), options,
                            (const char *const *)all, error) &&
           rs_targets_probe(targets, G_N_ELEMENTS(targets), error) &&
           (own->csv == NULL || rs_compare_csv_probe(own->csv, error));
}

int
rs_command_compare(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_auto(own_options) own = {.top = DEFAULT_TOP};
    g_autoptr(rs_options) options = parse(argc, argv, &own, &error);
    if (options == NULL) {
        rs_complain(error->message);
        return RS_EXIT_USAGE;
    }
    if (options->files == NULL) {
        rs_complain("no points given; see rocescope compare --help");
        return RS_EXIT_USAGE;
    }
    if (!check_targets(options, &own, &error)) {
        return rs_console_fail(error);
    }
    rs_console_catch_interrupt();
    g_autoptr(rs_compare) compare = rs_compare_run(options, options->files, &error);
    if (compare == NULL) {
        rs_complain(error->message);
        return RS_EXIT_USAGE;
    }
    return write_reports(options, &own, compare);
}
