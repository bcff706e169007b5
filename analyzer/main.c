/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command: options in, capture read, reports out, exit status. */
#include "analysis.h"
#include "background.h"
#include "error.h"
#include "findings.h"
#include "format.h"
#include "options.h"
#include "output.h"
#include "report_json.h"
#include "report_text.h"
#include "rocescope_version.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define EXIT_FINDING 1
#define EXIT_USAGE 2
#define EXIT_INCOMPLETE 3

#define WIDTH_UNKNOWN 120
#define WIDTH_LEAST 60

static void
on_interrupt(int signal_number)
{
    (void)signal_number;
    rs_analysis_interrupt();
}

/* The first Ctrl-C ends reading, also on a quiet pipe; the second ends the program. */
static void
catch_interrupt(void)
{
    struct sigaction action = {.sa_handler = on_interrupt,
                               .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
}

static void
complain(const char *message)
{
    g_autofree char *safe = rs_format_safe(message);
    fprintf(stderr, "rocescope: %s\n", safe);
}

static guint
terminal_width(void)
{
    struct winsize size;
    const char *columns = g_getenv("COLUMNS");
    guint64 value;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
        size.ws_col > 0) {
        return MAX(size.ws_col, WIDTH_LEAST);
    }
    if (columns != NULL &&
        g_ascii_string_to_unsigned(columns, 10, 1, 10000, &value, NULL)) {
        return MAX((guint)value, WIDTH_LEAST);
    }
    return WIDTH_UNKNOWN;
}

static gboolean
wants_color(const rs_options *options)
{
    const char *term = g_getenv("TERM");
    return !options->no_color && isatty(STDOUT_FILENO) &&
           g_getenv("NO_COLOR") == NULL && term != NULL && !g_str_equal(term, "dumb");
}

static void
print_version(void)
{
    printf("rocescope %s\n", ROCESCOPE_VERSION);
    if (rs_background_ndpi_version() != NULL) {
        printf("with nDPI %s (LGPL-3.0-or-later); this binary is conveyed under "
               "GPL-3.0-or-later\n",
               rs_background_ndpi_version());
    } else {
        puts("without nDPI; this binary is conveyed under GPL-2.0-or-later");
    }
    puts("Source: GPL-2.0-or-later.  There is NO WARRANTY, to the extent permitted by "
         "law.");
}

static gboolean
write_json(const rs_options *options, const rs_analysis *analysis,
           const rs_summary *summary, const GPtrArray *findings)
{
    if (options->json_path == NULL) {
        return TRUE;
    }
    g_autoptr(GError) error = NULL;
    rs_output *output = rs_output_open(options->json_path, &error);
    if (output != NULL) {
        rs_report_json(rs_output_stream(output), analysis, summary, findings);
        if (rs_output_commit(output, &error)) {
            return TRUE;
        }
    }
    complain(error->message);
    return FALSE;
}

/* Standard output belongs to the JSON when it was asked for there. */
static gboolean
wants_text(const rs_options *options)
{
    return !options->quiet && g_strcmp0(options->json_path, "-") != 0;
}

/* Of files that could not even be opened there is nothing to report. */
static gboolean
any_file_read(const rs_analysis *analysis)
{
    for (guint i = 0; i < analysis->files->len; i++) {
        const rs_file *file = g_ptr_array_index(analysis->files, i);
        if (file->format != NULL) {
            return TRUE;
        }
    }
    return FALSE;
}

static gboolean
write_text(const rs_options *options, const rs_analysis *analysis,
           const rs_summary *summary, const GPtrArray *findings)
{
    if (!wants_text(options) || !any_file_read(analysis)) {
        return TRUE;
    }
    rs_report_text(stdout, analysis, summary, findings, terminal_width(),
                   wants_color(options));
    if (fflush(stdout) != 0 || ferror(stdout)) {
        if (errno == EPIPE) {
            return TRUE; /* the reader has seen enough */
        }
        complain("standard output cannot be written");
        return FALSE;
    }
    return TRUE;
}

static int
report(const rs_options *options, const rs_analysis *analysis)
{
    for (guint i = 0; i < analysis->told->errors->len; i++) {
        complain(g_ptr_array_index(analysis->told->errors, i));
    }
    for (guint i = 0; i < analysis->files->len; i++) {
        const rs_file *file = g_ptr_array_index(analysis->files, i);
        if (file->error != NULL) {
            complain(file->error);
        }
    }
    g_autoptr(rs_summary) summary = rs_summary_new(analysis);
    g_autoptr(GPtrArray) findings = rs_findings_new(analysis, summary);
    gboolean written = write_json(options, analysis, summary, findings);
    written = write_text(options, analysis, summary, findings) && written;
    if (analysis->incomplete || !written) {
        return EXIT_INCOMPLETE;
    }
    return rs_findings_reach(findings, options->fail_on) ? EXIT_FINDING : EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
    (void)setlocale(LC_CTYPE, "");
    (void)signal(SIGPIPE, SIG_IGN);
    g_autoptr(GError) error = NULL;
    g_autoptr(rs_options) options = rs_options_parse(argc, argv, &error);
    if (options == NULL) {
        complain(error->message);
        return EXIT_USAGE;
    }
    if (options->show_version) {
        print_version();
        return EXIT_SUCCESS;
    }
    if (options->list_findings) {
        rs_findings_print_table(stdout);
        return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_INCOMPLETE;
    }
    catch_interrupt();
    g_autoptr(rs_analysis) analysis = rs_analysis_run(options, &error);
    if (analysis == NULL) {
        complain(error->message);
        return EXIT_USAGE;
    }
    return report(options, analysis);
}
