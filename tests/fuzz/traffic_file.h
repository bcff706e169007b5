/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Conversations as pcapng files in memory, with names of interfaces that no report may
 * print as they are (REPORTS_CANARY).
 *
 * The one rule: files are well-formed, whatever is in their frames.
 */
#ifndef TRAFFIC_FILE_H
#define TRAFFIC_FILE_H

#include "traffic.h"

#include <glib.h>

/* A file with so many interfaces and no frames; bit i of `speeds`: interface i says how
 * fast it is.  g_byte_array_unref(). */
GByteArray *
traffic_file_new(guint n_interfaces, guint speeds);

/* Adds the newest frame, as seen by an interface at a time. */
void
traffic_file_add(GByteArray *file, const traffic *t, guint interface, guint64 time_ns);

#endif
