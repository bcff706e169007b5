/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a process ends that has no memory left.
 *
 * The one rule: nothing goes on without what it has asked for.  GLib, the tracker's
 * allocator, jansson and nDPI are told to end it the same way.
 */
#ifndef RS_NO_MEMORY_H
#define RS_NO_MEMORY_H

#include <stddef.h>

/* From now on the process ends with `status`, and with `message` (static, a whole line) on
 * standard error, or without a word if it is NULL. */
void
rs_no_memory_ends_with(int status, const char *message);

/* malloc(), which ends the process instead of failing. */
void *
rs_no_memory_or_allocate(size_t n_bytes);

#endif
