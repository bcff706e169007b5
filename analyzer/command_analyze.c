/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One capture: read, tracked, reported. */
#include "command.h"
#include "console.h"
#include "findings.h"
#include "option_parser.h"
#include "report.h"
#include "report_csv.h"
#include "report_html.h"
#include "report_json.h"
#include "report_text.h"
#include "sheets.h"
#include "targets.h"
#include "version.h"

#include <stdio.h>

static const char summary[] =
    "Reads one capture of RoCEv2 traffic, rebuilds its queue pairs, and reports "
    "losses, retransmissions, ECN marks, CNPs and pauses with the evidence for each. "
    "Several files are one capture, rotated, or points of one path; \"-\" is standard "
    "input.";

static const char description[] =
    "Exit status: 2 usage; 3 an input could not be read in full; 1 a finding at or "
    "above --fail-on; else 0. See rocescope-analyze(1).";

/* A file of the report that the user asked for. */
typedef struct form {
    rs_reporter reporter;
    const char *path; /* NULL: not asked for */
} form;

static gboolean
write_files(const form *forms, guint n_forms, const rs_report *report)
{
    gboolean all = TRUE;
    for (guint i = 0; i < n_forms; i++) {
        g_autoptr(GError) error = NULL;
        if (!rs_report_write(report, forms[i].reporter, forms[i].path, &error)) {
            rs_complain(error->message);
            all = FALSE;
        }
    }
    return all;
}

static gboolean
write_csv(const rs_options *options, const rs_report *report)
{
    g_autoptr(GError) error = NULL;
    if (options->csv_directory == NULL ||
        rs_report_csv(report, options->csv_directory, &error)) {
        return TRUE;
    }
    rs_complain(error->message);
    return FALSE;
}

/* Standard output belongs to the file that was asked for there. */
static gboolean
wants_text(const rs_options *options, const form *forms, guint n_forms)
{
    gboolean taken = FALSE;
    for (guint i = 0; i < n_forms; i++) {
        taken = taken || g_strcmp0(forms[i].path, "-") == 0;
    }
    return !options->quiet && !taken;
}

static gboolean
write_text(const rs_options *options, const rs_report *report)
{
    rs_report_text(stdout, report->analysis, report->summary, report->findings,
                   rs_console_width(), rs_console_has_color(options));
    return rs_console_flush();
}

static int
write_reports(const rs_options *options, const rs_report *report)
{
    const form forms[] = {
        {rs_report_json, options->json_path},
        {rs_report_html, options->html_path},
    };
    gboolean written = write_files(forms, G_N_ELEMENTS(forms), report);
    written = write_csv(options, report) && written;
    if (wants_text(options, forms, G_N_ELEMENTS(forms)) &&
        rs_report_has_content(report)) {
        written = write_text(options, report) && written;
    }
    if (report->analysis->incomplete || !written) {
        return RS_EXIT_INCOMPLETE;
    }
    return rs_findings_reach(report->findings, options->fail_on) ? RS_EXIT_FINDING
                                                                 : RS_EXIT_SUCCESS;
}

static rs_options *
parse(int argc, char **argv, GError **error)
{
    static const rs_option_group groups[] = {
        RS_OPTIONS_FILES,   RS_OPTIONS_TABLES,  RS_OPTIONS_REPORT,   RS_OPTIONS_ROWS,
        RS_OPTIONS_CAPTURE, RS_OPTIONS_NETWORK, RS_OPTIONS_COUNTERS, RS_OPTIONS_OUTCOME,
        RS_OPTIONS_THREADS, RS_OPTIONS_PROGRAM,
    };
    g_autoptr(rs_option_parser) parser =
        rs_option_parser_new("rocescope [analyze]", "FILE…", summary, description);
    for (guint i = 0; i < G_N_ELEMENTS(groups); i++) {
        rs_option_parser_take(parser, groups[i]);
    }
    return rs_option_parser_run(parser, argc, argv, error);
}

static gboolean
check_targets(const rs_options *options, GError **error)
{
    const rs_target targets[] = {{"--json", options->json_path},
                                 {"--html", options->html_path}};
    return rs_targets_check(targets, G_N_ELEMENTS(targets), options,
                            (const char *const *)options->files, error) &&
           rs_targets_probe(targets, G_N_ELEMENTS(targets), error) &&
           (options->csv_directory == NULL ||
            rs_report_csv_probe(options->csv_directory, error));
}

int
rs_command_analyze(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(rs_options) options = parse(argc, argv, &error);
    if (options == NULL) {
        rs_complain(error->message);
        return RS_EXIT_USAGE;
    }
    if (options->show_version) {
        rs_version_print(stdout);
        return rs_console_flush() ? RS_EXIT_SUCCESS : RS_EXIT_INCOMPLETE;
    }
    if (options->list_findings) {
        rs_findings_print_table(stdout);
        return rs_console_flush() ? RS_EXIT_SUCCESS : RS_EXIT_INCOMPLETE;
    }
    if (options->list_columns) {
        rs_sheets_print_tables(stdout);
        return rs_console_flush() ? RS_EXIT_SUCCESS : RS_EXIT_INCOMPLETE;
    }
    if (options->files == NULL) {
        rs_complain("no capture file given; see rocescope --help");
        return RS_EXIT_USAGE;
    }
    options->plots_wanted = options->html_path != NULL;
    if (!check_targets(options, &error)) {
        return rs_console_fail(error);
    }
    rs_console_catch_interrupt();
    g_autoptr(rs_analysis) analysis = rs_analysis_run(options, &error);
    if (analysis == NULL) {
        rs_complain(error->message);
        return RS_EXIT_USAGE;
    }
    rs_console_let_write();
    rs_complain_of_inputs(analysis);
    g_autoptr(rs_report) report = rs_report_new(analysis);
    int status = write_reports(options, report);
    rs_report_leave(g_steal_pointer(&report), g_steal_pointer(&analysis));
    return status;
}
