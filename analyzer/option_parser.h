/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line of one command: groups of options that commands share, and those of
 * its own.
 *
 * The one rule: an option means the same in every command that takes it.
 */
#ifndef RS_OPTION_PARSER_H
#define RS_OPTION_PARSER_H

#include "options.h"

#include <glib.h>

typedef enum rs_option_group {
    RS_OPTIONS_CAPTURE,  /* what is read: --filter, --port, --icrc */
    RS_OPTIONS_NETWORK,  /* what the user knows of the network, its hosts and points */
    RS_OPTIONS_COUNTERS, /* --counters-before, --counters-after: of one capture */
    RS_OPTIONS_REPORT,   /* how much of it is reported: --events, --max-streams */
    RS_OPTIONS_ROWS,     /* of the text report: --top */
    RS_OPTIONS_FILES,    /* what else is written: --json, --html */
    RS_OPTIONS_TABLES,   /* --csv: the tables of one capture */
    RS_OPTIONS_OUTCOME,  /* --fail-on, --quiet, --no-color */
    RS_OPTIONS_THREADS,  /* --threads: of one capture */
    RS_OPTIONS_PROGRAM,  /* --version, --list-findings, --list-columns */
} rs_option_group;

typedef struct rs_option_parser rs_option_parser;

/* `program` is how help calls it ("rocescope batch"), `arguments` what stands behind the
 * options ("PATH…"), `summary` what it is for, `description` what stands below.  Help
 * breaks their lines.  The short one has to fit 24 lines. */
rs_option_parser *
rs_option_parser_new(const char *program, const char *arguments, const char *summary,
                     const char *description);

void
rs_option_parser_free(rs_option_parser *parser);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_option_parser, rs_option_parser_free)

void
rs_option_parser_take(rs_option_parser *parser, rs_option_group group);

/* Arguments are not captures themselves, but where they are looked for: the command
 * checks which of them --captured-at names. */
void
rs_option_parser_take_paths(rs_option_parser *parser);

/* Options of the command's own, all of which the short help shows; ended by a row of
 * zeros.  What they write to is the command's, and outlives the parser; checking it is,
 * too. */
void
rs_option_parser_add(rs_option_parser *parser, const GOptionEntry *entries);

/* Takes argv apart; argv[0] is no argument.  What is no option becomes `files`, NULL
 * without any.  NULL with `error` set for what the command line cannot mean; help asked
 * for is printed and ends the program. */
rs_options *
rs_option_parser_run(rs_option_parser *parser, int argc, char **argv, GError **error);

#endif
