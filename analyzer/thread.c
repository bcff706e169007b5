/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "thread.h"

#include "pages.h"

#include <signal.h>

typedef struct start {
    GThreadFunc run;
    gpointer data;
} start;

static gpointer
begin(gpointer data)
{
    const start to = *(start *)data;
    g_free(data);
    rs_pages_prefer_large_here();
    return to.run(to.data);
}

GThread *
rs_thread_new(const char *name, GThreadFunc run, gpointer data)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    rs_pages_expect_thread();
    start *to = g_new(start, 1);
    *to = (start){.run = run, .data = data};
    GThread *thread = g_thread_try_new(name, begin, to, NULL);
    if (thread == NULL) {
        g_free(to);
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return thread;
}
