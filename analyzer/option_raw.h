/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values of options as the command line has them, before anything is checked.
 *
 * The one rule: only option_parser.c writes here, and only options.c reads.
 */
#ifndef RS_OPTION_RAW_H
#define RS_OPTION_RAW_H

#include "options.h"

#include <glib.h>

typedef struct rs_raw_options {
    char *json, *csv, *html, *filter, *ports, *speed, *icrc, *fail_on, *hosts,
        *dscp_map, *watchdog, *burst;
    GStrv qp_maps, captured_at, counters_before, counters_after;
    gint64 events, max_streams, top, threads;
    gboolean one_by_one;
    gboolean quiet, no_color, version, list_findings, list_columns;
    GStrv files;
    gboolean searched; /* captures are looked for at and below `files` */
} rs_raw_options;

/* Options at their defaults. */
rs_options *
rs_options_new(void);

/* Checks what was given and takes it over. */
gboolean
rs_options_fill(rs_options *options, rs_raw_options *raw, GError **error);

#endif
