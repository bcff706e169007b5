/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "option_parser.h"

#include "error.h"
#include "option_raw.h"

#define DEFAULT_EVENTS 1000
#define DEFAULT_MAX_STREAMS 100000
#define DEFAULT_TOP 20

struct rs_option_parser {
    GOptionContext *context;
    char *program;
    rs_raw_options raw;
};

rs_option_parser *
rs_option_parser_new(const char *program, const char *arguments, const char *summary,
                     const char *description)
{
    rs_option_parser *parser = g_new0(rs_option_parser, 1);
    parser->program = g_strdup(program);
    parser->raw.events = DEFAULT_EVENTS;
    parser->raw.max_streams = DEFAULT_MAX_STREAMS;
    parser->raw.top = DEFAULT_TOP;
    parser->context = g_option_context_new(arguments);
    g_option_context_set_summary(parser->context, summary);
    g_option_context_set_description(parser->context, description);
    return parser;
}

void
rs_option_parser_free(rs_option_parser *parser)
{
    if (parser == NULL) {
        return;
    }
    rs_raw_options *raw = &parser->raw;
    char *texts[] = {raw->json,     raw->csv,      raw->filter,  raw->ports,
                     raw->speed,    raw->icrc,     raw->fail_on, raw->hosts,
                     raw->dscp_map, raw->watchdog, raw->burst};
    GStrv lists[] = {raw->qp_maps, raw->captured_at, raw->counters_before,
                     raw->counters_after, raw->files};
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_free(texts[i]);
    }
    for (guint i = 0; i < G_N_ELEMENTS(lists); i++) {
        g_strfreev(lists[i]);
    }
    g_option_context_free(parser->context);
    g_free(parser->program);
    g_free(parser);
}

void
rs_option_parser_add(rs_option_parser *parser, const GOptionEntry *entries)
{
    g_option_context_add_main_entries(parser->context, entries, NULL);
}

/* clang-format off */

static void
take_capture(rs_option_parser *parser, rs_raw_options *raw)
{
    const GOptionEntry entries[] = {
        {"filter", 0, 0, G_OPTION_ARG_STRING, &raw->filter, "Look only at packets that match a BPF expression", "BPF"},
        {"port", 0, 0, G_OPTION_ARG_STRING, &raw->ports, "UDP ports that carry RoCEv2 beside 4791", "PORT,…"},
        {"icrc", 0, 0, G_OPTION_ARG_STRING, &raw->icrc, "Check the ICRC of which packets (default all)", "all|sample|off"},
        {0},
    };
    rs_option_parser_add(parser, entries);
}

static void
take_network(rs_option_parser *parser, rs_raw_options *raw)
{
    const GOptionEntry entries[] = {
        {"link-speed", 0, 0, G_OPTION_ARG_STRING, &raw->speed, "Speed of the captured links, for pause durations", "100G"},
        {"burst", 0, 0, G_OPTION_ARG_STRING, &raw->burst, "From which rate on traffic to one destination is a burst (default 80 % of the link's speed)", "50G"},
        {"hosts", 0, 0, G_OPTION_ARG_FILENAME, &raw->hosts, "Names for addresses: lines of ADDRESS HOST [RAIL [PORT]]", "FILE"},
        {"qp-map", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &raw->qp_maps, "What \"rdma -j resource show qp\" prints on the host with this address", "ADDR[,ADDR…]=FILE"},
        {"captured-at", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &raw->captured_at, "The capture, or FILE of it, was taken at this host's NIC (\"network\": at no host)", "ADDR[,ADDR…][=FILE]"},
        {"dscp-map", 0, 0, G_OPTION_ARG_STRING, &raw->dscp_map, "Priorities of DSCPs, where switches trust the DSCP (default DSCP / 8)", "26:3,48:6"},
        {"watchdog", 0, 0, G_OPTION_ARG_STRING, &raw->watchdog, "Rate long pauses against this pause watchdog", "sonic|juniper|MS"},
        {0},
    };
    rs_option_parser_add(parser, entries);
}

static void
take_counters(rs_option_parser *parser, rs_raw_options *raw)
{
    const GOptionEntry entries[] = {
        {"counters-before", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &raw->counters_before, "Counters of a NIC before the capture: \"rdma statistic show\", \"ethtool -S\", or JSON", "[ADDR[,ADDR…]=]FILE"},
        {"counters-after", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &raw->counters_after, "The same after it, to be compared with what was captured", "[ADDR[,ADDR…]=]FILE"},
        {0},
    };
    rs_option_parser_add(parser, entries);
}

static void
take_report(rs_option_parser *parser, rs_raw_options *raw)
{
    const GOptionEntry entries[] = {
        {"events", 0, 0, G_OPTION_ARG_INT64, &raw->events, "Keep the first N events in the JSON report (default 1000)", "N"},
        {"top", 0, 0, G_OPTION_ARG_INT64, &raw->top, "Rows of each table in the text report (default 20; 0: all)", "N"},
        {"max-streams", 0, 0, G_OPTION_ARG_INT64, &raw->max_streams, "Streams in the JSON report, worst first (default 100000)", "N"},
        {0},
    };
    rs_option_parser_add(parser, entries);
}

static void
take_files(rs_option_parser *parser, rs_raw_options *raw)
{
    const GOptionEntry entries[] = {
        {"json", 0, 0, G_OPTION_ARG_FILENAME, &raw->json, "Write the report as JSON to FILE (\"-\": standard output)", "FILE"},
        {"csv", 0, 0, G_OPTION_ARG_FILENAME, &raw->csv, "Write its tables to DIR, a CSV file for each", "DIR"},
        {0},
    };
    rs_option_parser_add(parser, entries);
}

static void
take_outcome(rs_option_parser *parser, rs_raw_options *raw)
{
    const GOptionEntry entries[] = {
        {"fail-on", 0, 0, G_OPTION_ARG_STRING, &raw->fail_on, "Exit with status 1 if there is such a finding", "note|warning|critical"},
        {"no-color", 0, 0, G_OPTION_ARG_NONE, &raw->no_color, "No colour, even on a terminal", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &raw->quiet, "No text report and no progress", NULL},
        {0},
    };
    rs_option_parser_add(parser, entries);
}

static void
take_program(rs_option_parser *parser, rs_raw_options *raw)
{
    const GOptionEntry entries[] = {
        {"list-findings", 0, 0, G_OPTION_ARG_NONE, &raw->list_findings, "Print all that can be found, as Markdown", NULL},
        {"list-columns", 0, 0, G_OPTION_ARG_NONE, &raw->list_columns, "Print the columns of all tables, as Markdown", NULL},
        {"version", 0, 0, G_OPTION_ARG_NONE, &raw->version, "Print version and licence", NULL},
        {0},
    };
    rs_option_parser_add(parser, entries);
}

/* clang-format on */

void
rs_option_parser_take(rs_option_parser *parser, rs_option_group group)
{
    static void (*const take[])(rs_option_parser *, rs_raw_options *) = {
        [RS_OPTIONS_CAPTURE] = take_capture,   [RS_OPTIONS_NETWORK] = take_network,
        [RS_OPTIONS_COUNTERS] = take_counters, [RS_OPTIONS_REPORT] = take_report,
        [RS_OPTIONS_FILES] = take_files,       [RS_OPTIONS_OUTCOME] = take_outcome,
        [RS_OPTIONS_PROGRAM] = take_program,
    };
    take[group](parser, &parser->raw);
}

static GStrv
copy_arguments(int argc, char **argv)
{
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    for (int i = 0; i < argc; i++) {
        g_strv_builder_add(builder, argv[i]);
    }
    return g_strv_builder_end(builder);
}

rs_options *
rs_option_parser_run(rs_option_parser *parser, int argc, char **argv, GError **error)
{
    const GOptionEntry entries[] = {
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &parser->raw.files,
         NULL, NULL},
        {0},
    };
    rs_option_parser_add(parser, entries);
    g_set_prgname(parser->program);
    g_auto(GStrv) args = copy_arguments(argc, argv);
    g_autoptr(GError) local = NULL;
    if (!g_option_context_parse_strv(parser->context, &args, &local)) {
        g_set_error_literal(error, RS_ERROR, RS_ERROR_USAGE, local->message);
        return NULL;
    }
    g_autoptr(rs_options) options = rs_options_new();
    if (!rs_options_fill(options, &parser->raw, error)) {
        return NULL;
    }
    return g_steal_pointer(&options);
}
