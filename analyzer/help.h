/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What --help prints.
 *
 * The one rule: no line is wider than 80 columns, whatever terminal it goes to.
 */
#ifndef RS_HELP_H
#define RS_HELP_H

#include <glib.h>
#include <stdio.h>

/* Words, in lines; a line feed in them stays. */
void
rs_help_text(FILE *out, const char *text);

/* A heading, behind an empty line. */
void
rs_help_heading(FILE *out, const char *text);

/* An option or a command, and what it does beside it; below it, if there is no room. */
void
rs_help_row(FILE *out, const char *name, const char *what);

/* "-q, --quiet", "    --json=FILE": g_free(). */
char *
rs_help_option_name(const GOptionEntry *entry);

#endif
