/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pages.h"

#include <stdlib.h>

#ifdef __GLIBC__

#include <limits.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* No more than what captures of a million packets take: where memory is in pieces the system
 * may look for a large page for long, which longer captures do not need, as packets take most
 * of their time. */
#define HEAP_BYTES ((gsize)64 * 1024 * 1024)
/* Of other threads: what watchers take of such a capture. */
#define THREAD_BYTES (48 * 1024 * 1024)
/* What is larger has memory of its own, which grows without being copied. */
#define LEAST_MAPPED_BYTES (1024 * 1024)
#define LEAST_OWN_BYTES 4096
#define MOST_MAPPED 65536 /* pieces of that kind, as by default */

static gboolean are_wanted; /* set before there are threads */

/* What is set aside counts as the program's, whether it is used or not. */
static gboolean
is_limited(void)
{
    struct rlimit data;
    struct rlimit all;
    return getrlimit(RLIMIT_DATA, &data) != 0 || getrlimit(RLIMIT_AS, &all) != 0 ||
           data.rlim_cur != RLIM_INFINITY || all.rlim_cur != RLIM_INFINITY;
}

static void
advise(void *memory, gsize n_bytes)
{
    gsize page = (gsize)sysconf(_SC_PAGESIZE);
    gsize from = ((gsize)memory + page - 1) / page * page;
    gsize until = ((gsize)memory + n_bytes) / page * page;
    (void)madvise((void *)from, until - from, MADV_HUGEPAGE);
}

/* What is freed at the end of the heap stays there, and so is what comes next. */
void
rs_pages_prefer_large(void)
{
    are_wanted = !is_limited();
    if (!are_wanted) {
        return;
    }
    (void)mallopt(M_TRIM_THRESHOLD, INT_MAX);
    (void)mallopt(M_MMAP_MAX, 0);
    void *heap = malloc(HEAP_BYTES);
    if (heap != NULL) {
        advise(heap, HEAP_BYTES);
        free(heap);
    }
    (void)mallopt(M_MMAP_MAX, MOST_MAPPED);
    (void)mallopt(M_MMAP_THRESHOLD, LEAST_MAPPED_BYTES);
}

/* Their heaps begin with as much as the main thread's grows by from here on.  Told once, since
 * the C library tidies its heap up each time, and lists of a report have many threads. */
void
rs_pages_expect_thread(void)
{
    static gboolean told;
    if (are_wanted && !told) {
        told = TRUE;
        (void)mallopt(M_TOP_PAD, THREAD_BYTES);
    }
}

/* What is allocated first stands at the beginning of the thread's heap, unless it is so small
 * that it takes the place of what somebody else has freed. */
void
rs_pages_prefer_large_here(void)
{
    void *first = are_wanted ? malloc(LEAST_OWN_BYTES) : NULL;
    if (first != NULL) {
        advise(first, THREAD_BYTES);
        free(first);
    }
}

guint64
rs_pages_unused(void)
{
    return mallinfo2().fordblks;
}

#else

void
rs_pages_prefer_large(void)
{
}

void
rs_pages_expect_thread(void)
{
}

void
rs_pages_prefer_large_here(void)
{
}

guint64
rs_pages_unused(void)
{
    return 0;
}

#endif
