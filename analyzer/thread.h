/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that help the main one.
 *
 * The one rule: signals are the main thread's.
 */
#ifndef RS_THREAD_H
#define RS_THREAD_H

#include <glib.h>

/* To be joined by g_thread_join(); NULL: the system has none left. */
GThread *
rs_thread_new(const char *name, GThreadFunc run, gpointer data);

#endif
