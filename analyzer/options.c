/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#include "error.h"
#include "option_raw.h"

#include <string.h>

#define LEAST_SPEED_BPS 1e6 /* who writes 100 does not mean 100 bit/s */
#define MAX_SPEED_BPS ((guint64)100 * 1000 * 1000 * 1000 * 1000)
#define MAX_WATCHDOG_MS 1000000
#define MOST_THREADS 1024

const char *
rs_severity_name(rs_severity severity)
{
    static const char *const names[] = {
        [RS_SEVERITY_NOTE] = "note",
        [RS_SEVERITY_WARNING] = "warning",
        [RS_SEVERITY_CRITICAL] = "critical",
        [RS_SEVERITY_NEVER] = "never",
    };
    return names[severity];
}

guint64
rs_option_unit(char letter, guint64 step)
{
    static const char letters[] = {'k', 'M', 'G', 'T'};
    guint64 unit = step;
    for (guint i = 0; i < G_N_ELEMENTS(letters); i++) {
        if (letters[i] == (letter == 'K' ? 'k' : letter)) {
            return unit;
        }
        unit *= step;
    }
    return 0;
}

static gboolean
usage(GError **error, const char *format, const char *what)
{
    g_set_error(error, RS_ERROR, RS_ERROR_USAGE, format, what);
    return FALSE;
}

/* "100G", "25000M", "400000000000": bit/s. */
static gboolean
parse_speed(const char *option, const char *text, guint64 *bps, GError **error)
{
    char *end = NULL;
    double value = g_ascii_strtod(text, &end);
    if (end != text && *end != '\0') {
        value *= end[1] == '\0' ? (double)rs_option_unit(*end, 1000) : 0;
    }
    if (end == text || !(value >= LEAST_SPEED_BPS) || value > (double)MAX_SPEED_BPS) {
        g_autofree char *what = g_strdup_printf("%s %s", option, text);
        return usage(error, "%s: not a speed such as 100G", what);
    }
    *bps = (guint64)value;
    return TRUE;
}

static gboolean
parse_ports(const char *text, roce_ports *ports, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(text, ",", -1);
    for (guint i = 0; parts[i] != NULL; i++) {
        guint64 port;
        if (!g_ascii_string_to_unsigned(parts[i], 10, 1, 65535, &port, NULL)) {
            return usage(error, "--port %s: not a list of UDP ports", text);
        }
        if (port == ROCE_UDP_PORT) {
            continue;
        }
        if (ports->n_ports == ROCE_MAX_PORTS) {
            return usage(error, "--port %s: too many ports", text);
        }
        ports->port[ports->n_ports++] = (guint16)port;
    }
    return TRUE;
}

/* "26:3,48:6": the priorities of DSCPs; of others it stays DSCP >> 3. */
static gboolean
parse_dscp_map(const char *text, rs_options *o, GError **error)
{
    gboolean given[RS_N_DSCPS] = {FALSE};
    g_auto(GStrv) parts = g_strsplit(text, ",", -1);
    for (guint i = 0; parts[i] != NULL; i++) {
        g_auto(GStrv) sides = g_strsplit(parts[i], ":", -1);
        guint64 dscp;
        guint64 priority;
        if (g_strv_length(sides) != 2 ||
            !g_ascii_string_to_unsigned(sides[0], 10, 0, RS_N_DSCPS - 1, &dscp, NULL) ||
            !g_ascii_string_to_unsigned(sides[1], 10, 0, 7, &priority, NULL)) {
            return usage(error,
                         "--dscp-map %s: DSCP:PRIORITY,… is wanted, as in 26:3,48:6",
                         text);
        }
        if (given[dscp] && o->dscp_map[dscp] != priority) {
            return usage(error, "--dscp-map %s: a DSCP has two priorities", text);
        }
        given[dscp] = TRUE;
        o->dscp_map[dscp] = (guint8)priority;
        o->dscp_map_given = TRUE;
    }
    return o->dscp_map_given || usage(error, "--dscp-map: %s", "an empty map");
}

/* A preset's name, or the time in ms that a pause has to last. */
static gboolean
parse_watchdog(const char *text, rs_options *o, GError **error)
{
    static const struct {
        const char *name;
        rs_watchdog watchdog;
    } presets[] = {{"sonic", RS_WATCHDOG_SONIC}, {"juniper", RS_WATCHDOG_JUNIPER}};
    for (guint i = 0; i < G_N_ELEMENTS(presets); i++) {
        if (g_ascii_strcasecmp(text, presets[i].name) == 0) {
            o->watchdog = presets[i].watchdog;
            return TRUE;
        }
    }
    o->watchdog = RS_WATCHDOG_MS;
    return g_ascii_string_to_unsigned(text, 10, 1, MAX_WATCHDOG_MS, &o->watchdog_ms,
                                      NULL) ||
           usage(error, "--watchdog %s: sonic, juniper or a time in ms", text);
}

static gboolean
parse_icrc(const char *text, rs_icrc_mode *mode, GError **error)
{
    if (g_str_equal(text, "all")) {
        *mode = RS_ICRC_ALL;
    } else if (g_str_equal(text, "sample")) {
        *mode = RS_ICRC_SAMPLE;
    } else if (g_str_equal(text, "off")) {
        *mode = RS_ICRC_OFF;
    } else {
        return usage(error, "--icrc %s: all, sample or off", text);
    }
    return TRUE;
}

static gboolean
parse_severity(const char *text, rs_severity *severity, GError **error)
{
    for (int i = RS_SEVERITY_NOTE; i < RS_SEVERITY_NEVER; i++) {
        if (g_str_equal(text, rs_severity_name((rs_severity)i))) {
            *severity = (rs_severity)i;
            return TRUE;
        }
    }
    return usage(error, "--fail-on %s: note, warning or critical", text);
}

static void
free_pair(gpointer data)
{
    rs_option_pair *pair = data;
    g_free(pair->subject);
    g_free(pair->path);
    g_free(pair);
}

/* Takes "SUBJECT=FILE" apart, or "SUBJECT" alone. */
static rs_option_pair *
add_pair(GPtrArray *pairs, const char *text)
{
    const char *equals = strchr(text, '=');
    rs_option_pair *pair = g_new0(rs_option_pair, 1);
    pair->subject =
        equals != NULL ? g_strndup(text, (gsize)(equals - text)) : g_strdup(text);
    pair->path = equals != NULL ? g_strdup(equals + 1) : NULL;
    g_ptr_array_add(pairs, pair);
    return pair;
}

static gboolean
parse_qp_maps(const char *const *texts, GPtrArray *pairs, GError **error)
{
    for (guint i = 0; texts != NULL && texts[i] != NULL; i++) {
        const rs_option_pair *pair = add_pair(pairs, texts[i]);
        if (pair->path == NULL || *pair->path == '\0') {
            return usage(error, "--qp-map %s: ADDRESS[,ADDRESS…]=FILE is wanted",
                         texts[i]);
        }
    }
    return TRUE;
}

static gboolean
parse_captured_at(const rs_raw_options *raw, GPtrArray *pairs, GError **error)
{
    const char *const *texts = (const char *const *)raw->captured_at;
    const char *const *files = (const char *const *)raw->files;
    for (guint i = 0; texts != NULL && texts[i] != NULL; i++) {
        const rs_option_pair *pair = add_pair(pairs, texts[i]);
        if (pair->path != NULL && !raw->searched &&
            !g_strv_contains(files, pair->path)) {
            return usage(error,
                         "--captured-at %s: this is not the name of a capture "
                         "file given",
                         texts[i]);
        }
    }
    return TRUE;
}

/* Takes "FILE" or "ADDR[,ADDR…]=FILE" apart.  What stands in front of a "=" is an address
 * unless it has a "/". */
static gboolean
parse_counters(const char *option, const char *const *texts, GPtrArray *pairs,
               GError **error)
{
    for (guint i = 0; texts != NULL && texts[i] != NULL; i++) {
        const char *equals = strchr(texts[i], '=');
        gboolean addressed =
            equals != NULL && memchr(texts[i], '/', (gsize)(equals - texts[i])) == NULL;
        rs_option_pair *pair = g_new0(rs_option_pair, 1);
        pair->subject =
            addressed ? g_strndup(texts[i], (gsize)(equals - texts[i])) : NULL;
        pair->path = g_strdup(addressed ? equals + 1 : texts[i]);
        g_ptr_array_add(pairs, pair);
        if (*pair->path == '\0') {
            g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
                        "%s %s: [ADDRESS[,ADDRESS…]=]FILE is wanted", option, texts[i]);
            return FALSE;
        }
    }
    return TRUE;
}

static guint
count_subject(const GPtrArray *pairs, const char *subject)
{
    guint n = 0;
    for (guint i = 0; i < pairs->len; i++) {
        const rs_option_pair *pair = g_ptr_array_index(pairs, i);
        n += g_strcmp0(pair->subject, subject) == 0 ? 1 : 0;
    }
    return n;
}

/* Each host's counters have to be there once, before and after. */
static gboolean
check_counters(const char *option, const GPtrArray *pairs, const char *other_option,
               const GPtrArray *others, GError **error)
{
    for (guint i = 0; i < pairs->len; i++) {
        const rs_option_pair *pair = g_ptr_array_index(pairs, i);
        if (count_subject(pairs, pair->subject) > 1) {
            g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
                        "%s %s: was given twice for this host", option, pair->path);
            return FALSE;
        }
        if (count_subject(others, pair->subject) == 0) {
            g_set_error(error, RS_ERROR, RS_ERROR_USAGE,
                        "%s %s: no %s was given for the same host", option, pair->path,
                        other_option);
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
take_counters(const rs_raw_options *raw, rs_options *o, GError **error)
{
    static const char before[] = "--counters-before";
    static const char after[] = "--counters-after";
    return parse_counters(before, (const char *const *)raw->counters_before,
                          o->counters_before, error) &&
           parse_counters(after, (const char *const *)raw->counters_after,
                          o->counters_after, error) &&
           check_counters(before, o->counters_before, after, o->counters_after,
                          error) &&
           check_counters(after, o->counters_after, before, o->counters_before, error);
}

static gboolean
check_ranges(const rs_raw_options *raw, GError **error)
{
    if (raw->events < 0) {
        return usage(error, "--events: %s", "not a number of events");
    }
    if (raw->max_streams < 1 || raw->max_streams > (1 << 24)) {
        return usage(error, "--max-streams: %s", "1 to 16777216");
    }
    if (raw->threads < 1 || raw->threads > MOST_THREADS) {
        return usage(error, "--threads: %s", "1 to 1024");
    }
    if (raw->csv != NULL && (*raw->csv == '\0' || g_str_equal(raw->csv, "-"))) {
        return usage(error, "--csv: %s", "the name of a directory is wanted");
    }
    if (raw->top < 0 || raw->top > G_MAXUINT16) {
        return usage(error, "--top: %s", "0 to 65535");
    }
    if (g_strcmp0(raw->json, "-") == 0 && g_strcmp0(raw->html, "-") == 0) {
        return usage(error, "--json, --html: %s",
                     "only one of them can be standard output");
    }
    return TRUE;
}

/* Standard input can be read once. */
static gboolean
check_files(const GStrv files, GError **error)
{
    guint n_stdin = 0;
    for (guint i = 0; files != NULL && files[i] != NULL; i++) {
        n_stdin += g_str_equal(files[i], "-") ? 1 : 0;
    }
    return n_stdin <= 1 || usage(error, "-: %s", "standard input is given twice");
}

gboolean
rs_options_fill(rs_options *o, rs_raw_options *raw, GError **error)
{
    if (!check_ranges(raw, error) || !check_files(raw->files, error) ||
        (raw->speed != NULL &&
         !parse_speed("--link-speed", raw->speed, &o->link_speed_bps, error)) ||
        (raw->burst != NULL &&
         !parse_speed("--burst", raw->burst, &o->burst_bps, error)) ||
        (raw->ports != NULL && !parse_ports(raw->ports, &o->ports, error)) ||
        (raw->dscp_map != NULL && !parse_dscp_map(raw->dscp_map, o, error)) ||
        (raw->watchdog != NULL && !parse_watchdog(raw->watchdog, o, error)) ||
        (raw->icrc != NULL && !parse_icrc(raw->icrc, &o->icrc, error)) ||
        (raw->fail_on != NULL && !parse_severity(raw->fail_on, &o->fail_on, error)) ||
        !parse_qp_maps((const char *const *)raw->qp_maps, o->qp_maps, error) ||
        !take_counters(raw, o, error) ||
        (raw->files != NULL && !parse_captured_at(raw, o->captured_at, error))) {
        return FALSE;
    }
    o->max_events = (guint64)raw->events;
    o->max_streams = (guint)raw->max_streams;
    o->top = (guint)raw->top;
    o->n_threads = (guint)raw->threads;
    o->one_by_one = raw->one_by_one;
    o->quiet = raw->quiet;
    o->no_color = raw->no_color;
    o->show_version = raw->version;
    o->list_findings = raw->list_findings;
    o->list_columns = raw->list_columns;
    o->csv_directory = g_steal_pointer(&raw->csv);
    o->json_path = g_steal_pointer(&raw->json);
    o->html_path = g_steal_pointer(&raw->html);
    o->filter = g_steal_pointer(&raw->filter);
    o->hosts_path = g_steal_pointer(&raw->hosts);
    o->files = g_steal_pointer(&raw->files);
    return TRUE;
}

rs_options *
rs_options_new(void)
{
    rs_options *options = g_new0(rs_options, 1);
    options->fail_on = RS_SEVERITY_NEVER;
    options->n_threads = 1;
    options->qp_maps = g_ptr_array_new_with_free_func(free_pair);
    options->captured_at = g_ptr_array_new_with_free_func(free_pair);
    options->counters_before = g_ptr_array_new_with_free_func(free_pair);
    options->counters_after = g_ptr_array_new_with_free_func(free_pair);
    roce_ports_init(&options->ports);
    for (guint8 dscp = 0; dscp < RS_N_DSCPS; dscp++) {
        options->dscp_map[dscp] = dscp >> 3;
    }
    return options;
}

void
rs_options_free(rs_options *options)
{
    if (options == NULL) {
        return;
    }
    g_strfreev(options->files);
    g_free(options->json_path);
    g_free(options->csv_directory);
    g_free(options->html_path);
    g_free(options->filter);
    g_free(options->hosts_path);
    g_ptr_array_unref(options->qp_maps);
    g_ptr_array_unref(options->captured_at);
    g_ptr_array_unref(options->counters_before);
    g_ptr_array_unref(options->counters_after);
    g_free(options);
}
