/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "option_parser.h"

#include "command.h"
#include "console.h"
#include "error.h"
#include "help.h"
#include "option_raw.h"
#include "stages.h"
#include "workers.h"

#include <stdlib.h>

#define DEFAULT_EVENTS 1000
#define DEFAULT_MAX_STREAMS 100000
#define DEFAULT_TOP 20

/* Flag of the options of a group that the short help shows as well. */
#define IN_HELP G_OPTION_FLAG_IN_MAIN

/* Options of one group, or of the command itself, for help. */
typedef struct section {
    const char *title;
    GArray *entries; /* GOptionEntry */
    gboolean own;    /* all of it stands in the short help */
} section;

struct rs_option_parser {
    GOptionContext *context;
    char *usage, *summary, *description;
    GPtrArray *sections; /* section */
    gboolean help, help_all;
    rs_raw_options raw;
};

static void
free_section(gpointer data)
{
    section *s = data;
    g_array_unref(s->entries);
    g_free(s);
}

rs_option_parser *
rs_option_parser_new(const char *program, const char *arguments, const char *summary,
                     const char *description)
{
    rs_option_parser *parser = g_new0(rs_option_parser, 1);
    parser->usage = g_strdup_printf("%s [OPTION…] %s", program, arguments);
    parser->summary = g_strdup(summary);
    parser->description = g_strdup(description);
    parser->sections = g_ptr_array_new_with_free_func(free_section);
    parser->raw.events = DEFAULT_EVENTS;
    parser->raw.max_streams = DEFAULT_MAX_STREAMS;
    parser->raw.top = DEFAULT_TOP;
    parser->raw.threads = 1;
    parser->context = g_option_context_new(NULL);
    g_option_context_set_help_enabled(parser->context, FALSE);
    return parser;
}

void
rs_option_parser_free(rs_option_parser *parser)
{
    if (parser == NULL) {
        return;
    }
    rs_raw_options *raw = &parser->raw;
    char *texts[] = {raw->json,  raw->csv,      raw->html,     raw->filter,
                     raw->ports, raw->speed,    raw->icrc,     raw->fail_on,
                     raw->hosts, raw->dscp_map, raw->watchdog, raw->burst};
    GStrv lists[] = {raw->qp_maps, raw->captured_at, raw->counters_before,
                     raw->counters_after, raw->files};
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_free(texts[i]);
    }
    for (guint i = 0; i < G_N_ELEMENTS(lists); i++) {
        g_strfreev(lists[i]);
    }
    g_option_context_free(parser->context);
    g_ptr_array_unref(parser->sections);
    g_free(parser->usage);
    g_free(parser->summary);
    g_free(parser->description);
    g_free(parser);
}

/* The section of that title; a new one, if there is none. */
static section *
section_of(rs_option_parser *parser, const char *title)
{
    for (guint i = 0; i < parser->sections->len; i++) {
        section *known = g_ptr_array_index(parser->sections, i);
        if (g_str_equal(known->title, title)) {
            return known;
        }
    }
    section *s = g_new0(section, 1);
    s->title = title;
    s->entries = g_array_new(FALSE, FALSE, sizeof(GOptionEntry));
    g_ptr_array_add(parser->sections, s);
    return s;
}

static section *
add_group(rs_option_parser *parser, const char *title, const GOptionEntry *entries)
{
    section *s = section_of(parser, title);
    for (const GOptionEntry *entry = entries; entry->long_name != NULL; entry++) {
        g_array_append_val(s->entries, *entry);
    }
    g_option_context_add_main_entries(parser->context, entries, NULL);
    return s;
}

void
rs_option_parser_add(rs_option_parser *parser, const GOptionEntry *entries)
{
    add_group(parser, "Options", entries)->own = TRUE;
}

/* clang-format off */

static void
take_capture(rs_option_parser *parser, rs_raw_options *raw)
{
    const GOptionEntry entries[] = {
        {"filter", 0, IN_HELP, G_OPTION_ARG_STRING, &raw->filter, "Look only at packets that match a BPF expression", "BPF"},
        {"port", 0, 0, G_OPTION_ARG_STRING, &raw->ports, "UDP ports that carry RoCEv2 beside 4791", "PORT,…"},
        {"icrc", 0, 0, G_OPTION_ARG_STRING, &raw->icrc, "Check the ICRC of which packets (default all)", "all|sample|off"},
        {0},
    };
    add_group(parser, "What is read", entries);
}

static void
take_network(rs_option_parser *parser, rs_raw_options *raw)
{
    const GOptionEntry entries[] = {
        {"link-speed", 0, IN_HELP, G_OPTION_ARG_STRING, &raw->speed, "Speed of the captured links, for pause durations", "100G"},
        {"burst", 0, 0, G_OPTION_ARG_STRING, &raw->burst, "From which rate on traffic to one destination is a burst (default 80 % of the link's speed)", "50G"},
        {"hosts", 0, IN_HELP, G_OPTION_ARG_FILENAME, &raw->hosts, "Names for addresses: ADDRESS HOST [RAIL [PORT]]", "FILE"},
        {"qp-map", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &raw->qp_maps, "What \"rdma -j resource show qp\" prints on the host with this address", "ADDR[,ADDR…]=FILE"},
        {"captured-at", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &raw->captured_at, "The capture, or FILE of it, was taken at this host's NIC (\"network\": at no host)", "ADDR[,ADDR…][=FILE]"},
        {"dscp-map", 0, 0, G_OPTION_ARG_STRING, &raw->dscp_map, "Priorities of DSCPs, where switches trust the DSCP (default DSCP / 8)", "26:3,48:6"},
        {"watchdog", 0, 0, G_OPTION_ARG_STRING, &raw->watchdog, "Rate long pauses against this pause watchdog", "sonic|juniper|MS"},
        {0},
    };
    add_group(parser, "What is known of the network", entries);
}

static void
take_counters(rs_option_parser *parser, rs_raw_options *raw)
{
    const GOptionEntry entries[] = {
        {"counters-before", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &raw->counters_before, "Counters of a NIC before the capture: \"rdma statistic show\", \"ethtool -S\", or JSON", "[ADDR[,ADDR…]=]FILE"},
        {"counters-after", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &raw->counters_after, "The same after it, to be compared with what was captured", "[ADDR[,ADDR…]=]FILE"},
        {0},
    };
    add_group(parser, "Counters of NICs", entries);
}

static void
take_report(rs_option_parser *parser, rs_raw_options *raw)
{
    const GOptionEntry entries[] = {
        {"events", 0, 0, G_OPTION_ARG_INT64, &raw->events, "Keep the first N events in the JSON report (default 1000)", "N"},
        {"max-streams", 0, 0, G_OPTION_ARG_INT64, &raw->max_streams, "Streams in the JSON report, worst first (default 100000)", "N"},
        {0},
    };
    add_group(parser, "How much is reported", entries);
}

static void
take_rows(rs_option_parser *parser, rs_raw_options *raw)
{
    const GOptionEntry entries[] = {
        {"top", 0, 0, G_OPTION_ARG_INT64, &raw->top, "Rows of each table in the text report (default 20; 0: all)", "N"},
        {0},
    };
    add_group(parser, "How much is reported", entries);
}

static void
take_files(rs_option_parser *parser, rs_raw_options *raw)
{
    const GOptionEntry entries[] = {
        {"json", 0, IN_HELP, G_OPTION_ARG_FILENAME, &raw->json, "Write the report as JSON to FILE (\"-\": standard output)", "FILE"},
        {0},
    };
    add_group(parser, "What is written", entries);
}

static void
take_tables(rs_option_parser *parser, rs_raw_options *raw)
{
    const GOptionEntry entries[] = {
        {"csv", 0, IN_HELP, G_OPTION_ARG_FILENAME, &raw->csv, "Write its tables to DIR, a CSV file for each", "DIR"},
        {"html", 0, IN_HELP, G_OPTION_ARG_FILENAME, &raw->html, "Write the report as one HTML page to FILE (\"-\": standard output)", "FILE"},
        {0},
    };
    add_group(parser, "What is written", entries);
}

static void
take_outcome(rs_option_parser *parser, rs_raw_options *raw)
{
    const GOptionEntry entries[] = {
        {"fail-on", 0, IN_HELP, G_OPTION_ARG_STRING, &raw->fail_on, "Exit with status 1 if there is such a finding", "note|warning|critical"},
        {"no-color", 0, 0, G_OPTION_ARG_NONE, &raw->no_color, "No colour, even on a terminal", NULL},
        {"quiet", 'q', IN_HELP, G_OPTION_ARG_NONE, &raw->quiet, "No text report and no progress", NULL},
        {0},
    };
    add_group(parser, "What becomes of it", entries);
}

/* Without the option, as many as there are processors for. */
static void
take_threads(rs_option_parser *parser, rs_raw_options *raw)
{
    const GOptionEntry entries[] = {
        {"threads", 0, 0, G_OPTION_ARG_INT64, &raw->threads, "Work with up to N threads (default: one for each processor, up to four); reports do not depend on it", "N"},
        {"one-by-one", 0, 0, G_OPTION_ARG_NONE, &raw->one_by_one, "Track each packet by itself, never several of a stream at once: slower; reports do not depend on it", NULL},
        {0},
    };
    raw->threads = MIN(rs_workers_n_processors(), 2u + RS_STAGES_TELLERS);
    add_group(parser, "How it works", entries);
}

static void
take_program(rs_option_parser *parser, rs_raw_options *raw)
{
    const GOptionEntry entries[] = {
        {"list-findings", 0, 0, G_OPTION_ARG_NONE, &raw->list_findings, "Print all that can be found, as Markdown", NULL},
        {"list-columns", 0, 0, G_OPTION_ARG_NONE, &raw->list_columns, "Print the columns of all tables, as Markdown", NULL},
        {"version", 0, 0, G_OPTION_ARG_NONE, &raw->version, "Print version, licences, build and libraries", NULL},
        {0},
    };
    add_group(parser, "The program", entries);
}

static void
take_help(rs_option_parser *parser)
{
    const GOptionEntry entries[] = {
        {"help", 'h', 0, G_OPTION_ARG_NONE, &parser->help, "Print the most important options", NULL},
        {"help-all", 0, 0, G_OPTION_ARG_NONE, &parser->help_all, "Print all options", NULL},
        {0},
    };
    add_group(parser, "Help", entries);
}

/* clang-format on */

void
rs_option_parser_take(rs_option_parser *parser, rs_option_group group)
{
    static void (*const take[])(rs_option_parser *, rs_raw_options *) = {
        [RS_OPTIONS_CAPTURE] = take_capture,   [RS_OPTIONS_NETWORK] = take_network,
        [RS_OPTIONS_COUNTERS] = take_counters, [RS_OPTIONS_REPORT] = take_report,
        [RS_OPTIONS_FILES] = take_files,       [RS_OPTIONS_OUTCOME] = take_outcome,
        [RS_OPTIONS_PROGRAM] = take_program,   [RS_OPTIONS_TABLES] = take_tables,
        [RS_OPTIONS_THREADS] = take_threads,   [RS_OPTIONS_ROWS] = take_rows,
    };
    take[group](parser, &parser->raw);
}

void
rs_option_parser_take_paths(rs_option_parser *parser)
{
    parser->raw.searched = TRUE;
}

static void
print_row(const GOptionEntry *entry)
{
    g_autofree char *name = rs_help_option_name(entry);
    rs_help_row(stdout, name, entry->description);
}

static void
print_section(const section *s)
{
    rs_help_heading(stdout, s->title);
    for (guint i = 0; i < s->entries->len; i++) {
        print_row(&g_array_index(s->entries, GOptionEntry, i));
    }
}

/* The command's own options, and those of its groups that most users want. */
static void
print_few(const rs_option_parser *parser)
{
    rs_help_heading(stdout, "Options");
    for (guint i = 0; i < parser->sections->len; i++) {
        const section *s = g_ptr_array_index(parser->sections, i);
        for (guint j = 0; j < s->entries->len; j++) {
            const GOptionEntry *entry = &g_array_index(s->entries, GOptionEntry, j);
            if (s->own || (entry->flags & IN_HELP) != 0) {
                print_row(entry);
            }
        }
    }
    rs_help_row(stdout, "    --help-all", "Print all options");
}

/* Prints help and ends the program. */
G_NORETURN static void
help(const rs_option_parser *parser)
{
    printf("Usage: %s\n\n", parser->usage);
    rs_help_text(stdout, parser->summary);
    if (parser->help_all) {
        for (guint i = 0; i < parser->sections->len; i++) {
            print_section(g_ptr_array_index(parser->sections, i));
        }
    } else {
        print_few(parser);
    }
    (void)fputc('\n', stdout);
    rs_help_text(stdout, parser->description);
    exit(rs_console_flush() ? RS_EXIT_SUCCESS : RS_EXIT_INCOMPLETE);
}

/* Whether the option at the beginning of a word, "-j4" or "--jobs", takes a value. */
static gboolean
takes_value(const rs_option_parser *parser, const char *word)
{
    for (guint i = 0; i < parser->sections->len; i++) {
        const section *s = g_ptr_array_index(parser->sections, i);
        for (guint j = 0; j < s->entries->len; j++) {
            const GOptionEntry *entry = &g_array_index(s->entries, GOptionEntry, j);
            gboolean meant = word[1] == '-' ? g_str_equal(word + 2, entry->long_name)
                                            : word[1] == entry->short_name;
            if (meant && entry->arg != G_OPTION_ARG_NONE) {
                return TRUE;
            }
        }
    }
    return FALSE;
}

/* GLib knows "-j 4" alone, and "-j4" is as usual. */
static GStrv
copy_arguments(const rs_option_parser *parser, int argc, char **argv)
{
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    gboolean is_value = FALSE; /* of the word before */
    gboolean options_ended = FALSE;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        gboolean is_option = i > 0 && !is_value && !options_ended && word[0] == '-' &&
                             word[1] != '\0' && takes_value(parser, word);
        gboolean joined = is_option && word[1] != '-' && word[2] != '\0';
        options_ended |= !is_value && g_str_equal(word, "--");
        is_value = is_option && !joined;
        if (joined) {
            const char letter[] = {'-', word[1], '\0'};
            g_strv_builder_add(builder, letter);
            word += 2;
        }
        g_strv_builder_add(builder, word);
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
    take_help(parser);
    g_option_context_add_main_entries(parser->context, entries, NULL);
    g_auto(GStrv) args = copy_arguments(parser, argc, argv);
    g_autoptr(GError) local = NULL;
    if (!g_option_context_parse_strv(parser->context, &args, &local)) {
        g_set_error_literal(error, RS_ERROR, RS_ERROR_USAGE, local->message);
        return NULL;
    }
    if (parser->help || parser->help_all) {
        help(parser);
    }
    g_autoptr(rs_options) options = rs_options_new();
    if (!rs_options_fill(options, &parser->raw, error)) {
        return NULL;
    }
    return g_steal_pointer(&options);
}
