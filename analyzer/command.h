/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commands, and what they say when they end.
 *
 * The one rule: a command takes the words from its own name on and returns an exit
 * status; it ends the program for --help alone.
 */
#ifndef RS_COMMAND_H
#define RS_COMMAND_H

/* The first that applies. */
enum rs_exit {
    RS_EXIT_USAGE = 2,
    RS_EXIT_INCOMPLETE = 3, /* an input could not be read, or an output written */
    RS_EXIT_FINDING = 1,    /* at or above --fail-on */
    RS_EXIT_SUCCESS = 0,
};

/* One capture; what is done if no command is named. */
int
rs_command_analyze(int argc, char **argv);

/* Many captures, each by itself. */
int
rs_command_batch(int argc, char **argv);

/* Directories that batches wrote, made into one. */
int
rs_command_merge(int argc, char **argv);

/* Several points of one path. */
int
rs_command_compare(int argc, char **argv);

/* The packets of a stream, connection or finding, as a capture. */
int
rs_command_extract(int argc, char **argv);

#endif
