/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packets of a stream, a connection or a finding, as a capture.
 *
 * Two readings: the analysis says what each frame is, then those that are wanted are
 * copied.  So inputs have to be there twice; standard input is copied first.
 */
#include "command.h"
#include "console.h"
#include "error.h"
#include "extract.h"
#include "option_parser.h"
#include "output.h"
#include "selection.h"
#include "spool.h"
#include "targets.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char summary[] =
    "Writes the packets of streams, connections or findings to a capture for "
    "Wireshark, which says on each what the analysis says of it. Ids are those of the "
    "report.";

static const char description[] =
    "Selections add up; --time cuts them. Exit status: 2 usage, or nothing has that "
    "id; 3 an input could not be read in full; else 0. See rocescope-extract(1).";

/* The command line, but for what all commands share. */
typedef struct arguments {
    char *out, *time, *context;
    GStrv streams, connections, findings, around;
    gboolean quiet;
} arguments;

static void
arguments_clear(arguments *a)
{
    g_free(a->out);
    g_free(a->time);
    g_free(a->context);
    g_strfreev(a->streams);
    g_strfreev(a->connections);
    g_strfreev(a->findings);
    g_strfreev(a->around);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(arguments, arguments_clear)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(rs_wish, rs_wish_clear)

static gboolean
usage(GError **error, const char *option, const char *given, const char *wanted)
{
    g_set_error(error, RS_ERROR, RS_ERROR_USAGE, "%s%s%s: %s", option,
                given != NULL ? " " : "", given != NULL ? given : "", wanted);
    return FALSE;
}

/* ---- The command line ---- */

static rs_options *
parse(int argc, char **argv, arguments *a, GError **error)
{
    /* clang-format off */
    const GOptionEntry entries[] = {
        {"write", 'w', 0, G_OPTION_ARG_FILENAME, &a->out, "To be written: .pcap, or pcapng (\"-\": standard output)", "OUT"},
        {"stream", 0, 0, G_OPTION_ARG_STRING_ARRAY, &a->streams, "All packets of a stream", "N,…"},
        {"connection", 0, 0, G_OPTION_ARG_STRING_ARRAY, &a->connections, "Of a connection, at all points, and how it was set up", "N,…"},
        {"finding", 0, 0, G_OPTION_ARG_STRING_ARRAY, &a->findings, "What shows a finding, and what is near it", "ID"},
        {"around", 0, 0, G_OPTION_ARG_STRING_ARRAY, &a->around, "A frame, and what is near it in its connection", "N,…"},
        {"time", 0, 0, G_OPTION_ARG_STRING, &a->time, "From A to B: seconds from the first, or ISO 8601", "A-B"},
        {"context", 0, 0, G_OPTION_ARG_STRING, &a->context, "Near: packets on either side (default 50), or a time", "N|2ms"},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &a->quiet, "No progress, no remarks", NULL},
        {0},
    };
    /* clang-format on */
    static const rs_option_group groups[] = {RS_OPTIONS_CAPTURE, RS_OPTIONS_NETWORK,
                                             RS_OPTIONS_COUNTERS};
    g_autoptr(rs_option_parser) parser =
        rs_option_parser_new("rocescope extract", "FILE… -w OUT", summary, description);
    rs_option_parser_add(parser, entries);
    for (guint i = 0; i < G_N_ELEMENTS(groups); i++) {
        rs_option_parser_take(parser, groups[i]);
    }
    rs_options *options = rs_option_parser_run(parser, argc, argv, error);
    if (options != NULL) {
        options->quiet = a->quiet;
        options->max_events = 0; /* of the report, which nobody sees */
    }
    return options;
}

/* "3", "1,4": appends the numbers. */
static gboolean
parse_numbers(const char *option, const GStrv texts, GArray *numbers, GError **error)
{
    for (guint i = 0; texts != NULL && texts[i] != NULL; i++) {
        g_auto(GStrv) parts = g_strsplit(texts[i], ",", -1);
        for (guint k = 0; k == 0 || parts[k] != NULL; k++) {
            guint64 number;
            if (parts[k] == NULL || !g_ascii_string_to_unsigned(
                                        parts[k], 10, 0, G_MAXINT64, &number, NULL)) {
                return usage(error, option, texts[i], "not a number, or several: 1,4");
            }
            g_array_append_val(numbers, number);
        }
    }
    return TRUE;
}

static gboolean
take_wish(const arguments *a, rs_wish *wish, GError **error)
{
    if (!parse_numbers("--stream", a->streams, wish->streams, error) ||
        !parse_numbers("--connection", a->connections, wish->connections, error) ||
        !parse_numbers("--around", a->around, wish->frames, error)) {
        return FALSE;
    }
    for (guint i = 0; a->findings != NULL && a->findings[i] != NULL; i++) {
        g_ptr_array_add(wish->findings, g_strdup(a->findings[i]));
    }
    wish->has_time = a->time != NULL;
    if (wish->has_time && !rs_time_range_parse(a->time, &wish->time)) {
        return usage(error, "--time", a->time,
                     "not a time from A to B: seconds from the first packet as in "
                     "0.5-1.25, or 2026-11-21T22:00:00Z-");
    }
    if (a->context != NULL && !rs_context_parse(a->context, &wish->context)) {
        return usage(error, "--context", a->context,
                     "neither a number of packets nor a time such as 2ms");
    }
    return TRUE;
}

static gboolean
has_suffix(const char *path, const char *suffix)
{
    g_autofree char *lower = g_ascii_strdown(path, -1);
    return g_str_has_suffix(lower, suffix);
}

/* What is read has to be there twice. */
static gboolean
check_input(const char *path, GError **error)
{
    struct stat in_status;
    if (g_str_equal(path, "-") || stat(path, &in_status) != 0) {
        return TRUE; /* whoever reads it says what is wrong with it */
    }
    if (!S_ISREG(in_status.st_mode) && !S_ISDIR(in_status.st_mode)) {
        return usage(error, path, NULL,
                     "is no regular file, and is read twice; give it as standard "
                     "input, \"-\"");
    }
    return TRUE;
}

static gboolean
check_output(const char *out, GError **error)
{
    static const char *const compressed[] = {".gz", ".zst", ".lz4", ".xz", ".bz2"};
    if (out == NULL) {
        return usage(error, "-w", NULL, "the capture to be written has to be named");
    }
    if (g_str_equal(out, "-") && isatty(STDOUT_FILENO)) {
        return usage(error, "-w", out,
                     "standard output is a terminal, and a capture is no text");
    }
    for (guint i = 0; i < G_N_ELEMENTS(compressed); i++) {
        if (has_suffix(out, compressed[i])) {
            return usage(error, "-w", out, "captures are not written compressed");
        }
    }
    return TRUE;
}

static gboolean
check(const arguments *a, const rs_options *options, GError **error)
{
    if (options->files == NULL) {
        return usage(error, "no capture file given", NULL,
                     "see rocescope extract --help");
    }
    if (a->streams == NULL && a->connections == NULL && a->findings == NULL &&
        a->around == NULL && a->time == NULL) {
        return usage(error, "nothing is selected", NULL,
                     "--stream, --connection, --finding, --around or --time is wanted");
    }
    const rs_target target = {"-w", a->out};
    if (!check_output(a->out, error) ||
        !rs_targets_check(&target, 1, options, (const char *const *)options->files,
                          error)) {
        return FALSE;
    }
    for (guint i = 0; options->files[i] != NULL; i++) {
        if (!check_input(options->files[i], error)) {
            return FALSE;
        }
    }
    return rs_targets_probe(&target, 1, error);
}

/* ---- The work ---- */

static gboolean
uses_stdin(const rs_options *options)
{
    return g_strv_contains((const char *const *)options->files, "-");
}

/* Nothing can be taken back of what went into a pipe. */
static void
tell_of_part(const rs_output *output, GError **error)
{
    if (rs_output_is_in_place(output) &&
        g_error_matches(*error, RS_ERROR, RS_ERROR_INTERRUPTED)) {
        g_clear_error(error);
        g_set_error_literal(error, RS_ERROR, RS_ERROR_INTERRUPTED,
                            "interrupted; what has been written is not whole");
    }
}

/* A whole file, or none. */
static gboolean
write_capture(const arguments *a, const rs_wish *wish, const rs_report *report,
              const rs_trace *trace, guint64 *n_packets, GError **error)
{
    rs_output *output = rs_output_open(a->out, error);
    if (output == NULL) {
        return FALSE;
    }
    FILE *stream = rs_output_stream(output);
    g_autoptr(rs_remarks) remarks = rs_remarks_new(report, trace);
    g_autoptr(rs_writer) writer = has_suffix(a->out, ".pcap")
                                      ? rs_pcap_writer_new(stream)
                                      : rs_pcapng_writer_new(stream);
    if (report->analysis->has_gaps || rs_selection_has_gaps(wish, report, trace)) {
        rs_writer_tell_gaps(writer);
    }
    if (!rs_extract(report, trace, remarks, writer, error)) {
        tell_of_part(output, error);
        rs_output_abandon(output);
        return FALSE;
    }
    rs_console_let_write(); /* the rest of it */
    rs_writer_finish(writer);
    *n_packets = rs_writer_packets(writer);
    return rs_output_commit(output, error);
}

/* FALSE with `error` set, else the status in `*status`. */
static gboolean
extract(const arguments *a, const rs_options *options, const rs_wish *wish, int *status,
        GError **error)
{
    g_autoptr(rs_trace) trace = rs_trace_new(error);
    if (trace == NULL) {
        return FALSE;
    }
    const rs_tap tap = rs_trace_tap(trace);
    g_autoptr(rs_analysis) analysis = rs_analysis_run_tapped(options, &tap, error);
    if (analysis == NULL || !rs_trace_is_whole(trace, error)) {
        return FALSE;
    }
    if (analysis->interrupted) {
        return rs_fail_interrupted(error);
    }
    rs_complain_of_inputs(analysis);
    g_autoptr(rs_report) report = rs_report_new(analysis);
    *status = analysis->incomplete ? RS_EXIT_INCOMPLETE : RS_EXIT_SUCCESS;
    if (!rs_report_has_content(report)) {
        return TRUE; /* and there is nothing to copy */
    }
    guint64 n_packets = 0;
    if (!rs_select_frames(wish, report, trace, error) ||
        (uses_stdin(options) && !rs_spool_rewind_stdin(error)) ||
        !write_capture(a, wish, report, trace, &n_packets, error)) {
        return FALSE;
    }
    if (n_packets == 0 && !a->quiet) {
        rs_complain("no packet is selected; the capture that was written is empty");
    }
    return TRUE;
}

int
rs_command_extract(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    g_auto(arguments) a = {0};
    g_auto(rs_wish) wish;
    rs_wish_init(&wish);
    g_autoptr(rs_options) options = parse(argc, argv, &a, &error);
    if (options == NULL || !take_wish(&a, &wish, &error) ||
        !check(&a, options, &error)) {
        return rs_console_fail(error);
    }
    rs_console_catch_interrupt();
    int status = RS_EXIT_INCOMPLETE;
    if ((uses_stdin(options) && !rs_spool_stdin(&error)) ||
        !extract(&a, options, &wish, &status, &error)) {
        return rs_console_fail(error);
    }
    return status;
}
