/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The whole analyzer on a capture, and what must hold of the reports that it writes,
 * whatever was captured.
 *
 * The one rule: whatever does not hold ends the program, with an assert that says what.
 */
#ifndef REPORTS_H
#define REPORTS_H

#include <glib.h>

/* Names in a capture or in files beside it that contain this have to be escaped in each
 * report: a terminal's sequence, markup, the end of a string. */
#define REPORTS_CANARY "\033]0;<script>alert(1)</script>\""

/* Compares captures of one path, which stand in its order (NULL-terminated), and writes what
 * it says as text, JSON and HTML. */
void
reports_check_compare(const char *const *paths);

/* Analyses a capture file, and writes the report as text, JSON and HTML.  `options` stand
 * on the command line in front of the file: NULL-terminated, or NULL for none. */
void
reports_check(const char *path, const char *const *options);

#endif
