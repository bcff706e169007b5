/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "console.h"

#include "analysis.h"
#include "command.h"
#include "error.h"
#include "format.h"
#include "verdict.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define WIDTH_UNKNOWN 120
#define WIDTH_LEAST 60
#define TOGETHER_NS 500000000 /* signals that are one request */

void
rs_complain(const char *message)
{
    g_autofree char *safe = rs_format_safe(message);
    fprintf(stderr, "rocescope: %s\n", safe);
}

int
rs_console_fail(const GError *error)
{
    rs_complain(error->message);
    return g_error_matches(error, RS_ERROR, RS_ERROR_USAGE) ? RS_EXIT_USAGE
                                                            : RS_EXIT_INCOMPLETE;
}

void
rs_complain_of_inputs(const rs_analysis *analysis)
{
    for (guint i = 0; i < analysis->told->errors->len; i++) {
        rs_complain(g_ptr_array_index(analysis->told->errors, i));
    }
    for (guint i = 0; i < analysis->files->len; i++) {
        const rs_file *file = g_ptr_array_index(analysis->files, i);
        if (file->error != NULL) {
            rs_complain(file->error);
        }
    }
    g_autoptr(GPtrArray) unused = rs_verdict_unused(analysis);
    for (guint i = 0; i < unused->len; i++) {
        rs_complain(g_ptr_array_index(unused, i));
    }
    if (analysis->interrupted) {
        rs_complain("interrupted: only what had been read by then is in the report");
    }
}

guint
rs_console_width(void)
{
    struct winsize size;
    const char *columns = g_getenv("COLUMNS");
    guint64 value;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
        size.ws_col > 0) {
        return MAX(size.ws_col, WIDTH_LEAST);
    }
    if (columns != NULL &&
        g_ascii_string_to_unsigned(columns, 10, 1, 10000, &value, NULL)) {
        return MAX((guint)value, WIDTH_LEAST);
    }
    return WIDTH_UNKNOWN;
}

gboolean
rs_console_has_color(const rs_options *options)
{
    const char *term = g_getenv("TERM");
    return !options->no_color && isatty(STDOUT_FILENO) &&
           g_getenv("NO_COLOR") == NULL && term != NULL && *term != '\0' &&
           !g_str_equal(term, "dumb");
}

gboolean
rs_console_flush(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return TRUE;
    }
    if (errno == EPIPE) {
        return TRUE;
    }
    rs_complain("standard output cannot be written");
    return FALSE;
}

/* What a signal asks for: a handler is told of nothing but its number. */
static void (*end_in_order)(void);

/* When the first of those came that users and schedulers send; 0: none has. */
static _Atomic(gint64) first_ns;

static gint64
uptime_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* which a handler may call */
    return (gint64)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The second of those that users and schedulers send has its usual effect, but for one that
 * comes together with the first: timeout(1) sends it to the process and to its group, and
 * other wrappers pass on what the terminal has sent already.  A terminal that is gone may be
 * told of twice, by the kernel and by the shell. */
static void
on_signal(int number)
{
    if (number == SIGHUP) {
        end_in_order();
        (void)signal(SIGHUP, SIG_IGN);
        return;
    }
    gint64 none = 0;
    gint64 now_ns = uptime_ns();
    if (atomic_compare_exchange_strong(&first_ns, &none, now_ns)) {
        end_in_order();
    } else if (now_ns - none >= TOGETHER_NS) {
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    }
}

void
rs_console_catch_signals(void (*end)(void))
{
    struct sigaction action = {.sa_handler = on_signal};
    struct sigaction before;
    sigemptyset(&action.sa_mask);
    end_in_order = end;
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
        (void)sigaction(SIGHUP, &action, NULL); /* else nohup wants it to go on */
    }
}

void
rs_console_catch_interrupt(void)
{
    rs_console_catch_signals(rs_analysis_interrupt);
}

void
rs_console_let_write(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
        struct sigaction action;
        if (sigaction(numbers[i], NULL, &action) == 0 &&
            action.sa_handler == on_signal) {
            action.sa_flags |= SA_RESTART;
            (void)sigaction(numbers[i], &action, NULL);
        }
    }
}
