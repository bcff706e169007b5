/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program: the first word names the command. */
#include "command.h"

#include <glib.h>
#include <locale.h>
#include <signal.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"analyze", rs_command_analyze},
};

int
main(int argc, char **argv)
{
    (void)setlocale(LC_CTYPE, "");
    (void)signal(SIGPIPE, SIG_IGN);
    for (guint i = 0; argc > 1 && i < G_N_ELEMENTS(commands); i++) {
        if (g_str_equal(argv[1], commands[i].name)) {
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    return rs_command_analyze(argc, argv);
}
