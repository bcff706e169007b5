/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Large pages for what is allocated.  A capture of some ten thousand packets takes some tens
 * of megabytes: where the system hands those out in pages of 4 KiB, each when it is first
 * touched, that takes nearly as long as all the rest of the analysis.
 *
 * The one rule: it is a hint.  Where the C library or the system does without, or where the
 * memory of the program is limited (setrlimit(2)), nothing else changes.
 */
#ifndef RS_PAGES_H
#define RS_PAGES_H

#include <glib.h>

/* Asks for them, for what the main thread allocates first: before it allocates anything of
 * size, and before there are others. */
void
rs_pages_prefer_large(void);

/* The same for other threads: before the main one makes one, and in that, before it
 * allocates. */
void
rs_pages_expect_thread(void);
void
rs_pages_prefer_large_here(void);

/* Bytes of the main thread's heap that count as the program's and hold nothing. */
guint64
rs_pages_unused(void);

#endif
