/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal that a command talks to.
 *
 * The one rule: nothing that comes from a file or a capture reaches it unescaped.
 */
#ifndef RS_CONSOLE_H
#define RS_CONSOLE_H

#include "analysis.h"
#include "options.h"

#include <glib.h>

/* One line to standard error, behind the program's name. */
void
rs_complain(const char *message);

/* The same of what ends a command; returns its exit status. */
int
rs_console_fail(const GError *error);

/* A line for each input that could not be read in full, and for what was given and
 * is of no use, as rs_verdict_unused() has it. */
void
rs_complain_of_inputs(const rs_analysis *analysis);

/* Columns of standard output. */
guint
rs_console_width(void);

/* Whether standard output is a terminal that shows colours, and the user wants them. */
gboolean
rs_console_has_color(const rs_options *options);

/* Flushes standard output; FALSE, and a complaint, if it could not be written.  A reader
 * that has seen enough and left is no failure. */
gboolean
rs_console_flush(void);

/* From now on Ctrl-C, a termination (SIGTERM) or a terminal that is gone (SIGHUP) has `end`
 * called, in a signal handler, and a second Ctrl-C or termination ends the program.  Reading
 * from a quiet pipe ends with it. */
void
rs_console_catch_signals(void (*end)(void));

/* The same, to end the reading of captures. */
void
rs_console_catch_interrupt(void);

/* Nothing more is read that could keep quiet: the same signals no longer break off what
 * waits for a reader of ours. */
void
rs_console_let_write(void);

#endif
