/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "thread.h"

#include <signal.h>

GThread *
rs_thread_new(const char *name, GThreadFunc run, gpointer data)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    GThread *thread = g_thread_try_new(name, run, data, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return thread;
}
