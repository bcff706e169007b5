/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Large pages for what is allocated.  A capture of some ten thousand packets takes some tens
 * of megabytes: where the system hands those out in pages of 4 KiB, each when it is first
 * touched, that takes nearly as long as all the rest of the analysis.
 *
 * The one rule: it is a hint.  Where the C library or the system does without, where a
 * sanitizer has the memory, or where that of the program is limited (setrlimit(2)), nothing
 * else changes.
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

/* In a process that was forked of one that has asked, and is one of many: it asks for no more
 * than such a capture takes, nor than half of what it may take (0: any), and gives back what
 * else was set aside. */
void
rs_pages_be_one_of_many(guint64 most_bytes);

/* What of the system's free memory is in pieces of so many bytes at least, in bytes, of what
 * proc_buddyinfo(5) says; a page has page_bytes. */
guint64
rs_pages_in_pieces(const char *buddyinfo, guint64 page_bytes, guint64 least_bytes);

/* Bytes of the main thread's heap that count as the program's and hold nothing. */
guint64
rs_pages_unused(void);

#endif
