/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line.
 *
 * The one rule: what stands here is checked here.  Whoever gets an rs_options need not
 * doubt any of its values.
 */
#ifndef RS_OPTIONS_H
#define RS_OPTIONS_H

#include "progress.h"

#include "roce/decode.h"

#include <glib.h>

typedef enum rs_severity {
    RS_SEVERITY_NOTE,
    RS_SEVERITY_WARNING,
    RS_SEVERITY_CRITICAL,
    RS_SEVERITY_NEVER, /* --fail-on was not given */
} rs_severity;

typedef enum rs_icrc_mode {
    RS_ICRC_ALL,
    RS_ICRC_SAMPLE, /* the first thousand packets, then one PSN in 64 */
    RS_ICRC_OFF,
} rs_icrc_mode;

/* Whose pause watchdog storms are rated against. */
typedef enum rs_watchdog {
    RS_WATCHDOG_NONE, /* --watchdog was not given */
    RS_WATCHDOG_SONIC,
    RS_WATCHDOG_JUNIPER,
    RS_WATCHDOG_MS, /* a time of the user's */
} rs_watchdog;

#define RS_N_DSCPS 64

/* "SUBJECT=FILE" */
typedef struct rs_option_pair {
    char *subject; /* NULL, where that is said: none was given */
    char *path;    /* NULL: none was given */
} rs_option_pair;

typedef struct rs_options {
    GStrv files;            /* NULL: none was given */
    char *json_path;        /* NULL: none; "-": standard output */
    char *csv_directory;    /* NULL: none */
    char *html_path;        /* NULL: none; "-", if JSON is not there: standard output */
    char *filter;           /* BPF, or NULL */
    char *hosts_path;       /* NULL: none */
    GPtrArray *qp_maps;     /* rs_option_pair: addresses of a host, its table */
    GPtrArray *captured_at; /* rs_option_pair: where, and which of the files or NULL */
    GPtrArray *counters_before; /* rs_option_pair: a host's addresses or NULL, a file */
    GPtrArray *counters_after;  /* likewise, of the same hosts */
    roce_ports ports;           /* 4791 and what --port adds */
    guint64 link_speed_bps;     /* 0: as the capture says */
    guint64 burst_bps; /* from which rate on it is a burst; 0: by the link's speed */
    guint8 dscp_map[RS_N_DSCPS]; /* priority of each DSCP; the default is DSCP >> 3 */
    gboolean dscp_map_given;     /* the network trusts the DSCP, not the PCP */
    rs_watchdog watchdog;
    guint64 watchdog_ms; /* valid if that is RS_WATCHDOG_MS */
    guint64 max_events;
    guint max_streams;
    guint top;
    guint n_threads;     /* at least 1 */
    gboolean one_by_one; /* no trains, see trains.h */
    rs_icrc_mode icrc;
    rs_severity fail_on;
    gboolean quiet;
    gboolean no_color;
    gboolean plots_wanted;     /* PSNs over time are drawn; by the command, no option */
    rs_progress_sink progress; /* by the command: told how far reading is, or NULL */
    void *progress_ctx;
    gboolean show_version;
    gboolean list_findings;
    gboolean list_columns;
} rs_options;

/* "note", "warning", "critical". */
const char *
rs_severity_name(rs_severity severity);

/* What a number before this letter is multiplied by: `step` for "k" or "K", its powers for
 * "M", "G" and "T"; 0: the letter is no unit. */
guint64
rs_option_unit(char letter, guint64 step);

void
rs_options_free(rs_options *options);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_options, rs_options_free)

#endif
