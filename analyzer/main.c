/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program: the first word names the command. */
#include "command.h"
#include "confine.h"
#include "console.h"
#include "help.h"
#include "no_memory.h"
#include "pages.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what; /* it does, in one line of help */
} commands[] = {
    {"analyze", rs_command_analyze, "One capture; the default"},
    {"batch", rs_command_batch, "A report for every capture, and what is worst of all"},
    {"compare", rs_command_compare, "Several captures of one path, packet by packet"},
    {"extract", rs_command_extract,
     "Packets of a stream, connection or finding, for Wireshark"},
    {"merge", rs_command_merge,
     "What batches of several machines or days wrote, into one"},
};

static const char summary[] =
    "Tells from packet captures what is wrong on a RoCE network: losses, "
    "retransmissions, ECN marks, CNPs and pauses, with the evidence for each.";

static const char description[] =
    "\"rocescope COMMAND --help\" prints the options of a command, and rocescope(1) "
    "explains more. Without a command, options are those of analyze, and "
    "\"rocescope --help-all\" prints all of them.";

static int
overview(void)
{
    (void)puts("Usage: rocescope [COMMAND] [OPTION…] FILE…\n");
    rs_help_text(stdout, summary);
    rs_help_heading(stdout, "Commands");
    for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
        rs_help_row(stdout, commands[i].name, commands[i].what);
    }
    (void)fputc('\n', stdout);
    rs_help_text(stdout, description);
    return rs_console_flush() ? RS_EXIT_SUCCESS : RS_EXIT_INCOMPLETE;
}

/* "help", "help batch": what people type who know other programs. */
static int
help(int argc, char **argv)
{
    for (guint i = 0; argc == 3 && i < G_N_ELEMENTS(commands); i++) {
        if (g_str_equal(argv[2], commands[i].name)) {
            char option[] = "--help";
            char *asked[] = {argv[2], option, NULL};
            return commands[i].run(2, asked);
        }
    }
    return overview();
}

/* Whether a first word can only have been meant for a command: it is plain letters, and
 * no file. */
static gboolean
is_meant_for_command(const char *word)
{
    return *word != '\0' && word[strspn(word, "abcdefghijklmnopqrstuvwxyz")] == '\0' &&
           !g_file_test(word, G_FILE_TEST_EXISTS);
}

/* Sanitizers look into their own process and start programs when they have something to
 * say. */
static void
confine(void)
{
    if (ROCESCOPE_CONFINED) {
        (void)rs_confine(); /* where the kernel can */
    }
}

/* Where standard streams are closed, files that are opened later would take their numbers,
 * and messages would go into them.  What is put there fails as a closed one does. */
static void
occupy_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
}

int
main(int argc, char **argv)
{
    occupy_standard_streams();
    rs_no_memory_ends_with(RS_EXIT_INCOMPLETE, "rocescope: out of memory\n");
    rs_pages_prefer_large();
    (void)setlocale(LC_CTYPE, "");
    /* A reader that is gone, a file that may not grow: told of as a full disk is. */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    confine();
    for (guint i = 0; argc > 1 && i < G_N_ELEMENTS(commands); i++) {
        if (g_str_equal(argv[1], commands[i].name)) {
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    if (argc == 2 && (g_str_equal(argv[1], "--help") || g_str_equal(argv[1], "-h"))) {
        return overview();
    }
    if (argc > 1 && is_meant_for_command(argv[1])) {
        if (g_str_equal(argv[1], "help")) {
            return help(argc, argv);
        }
        g_autofree char *hint = g_strdup_printf(
            "%s: is no command; \"rocescope --help\" has them", argv[1]);
        rs_complain(hint);
    }
    return rs_command_analyze(argc, argv);
}
