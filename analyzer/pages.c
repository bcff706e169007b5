/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pages.h"

#include <stdlib.h>
#include <string.h>

/* Of each zone of memory a line: "Node 0, zone DMA32", and how many pieces there are of 1, 2,
 * 4, ... pages. */
guint64
rs_pages_in_pieces(const char *buddyinfo, guint64 page_bytes, guint64 least_bytes)
{
    guint64 n_bytes = 0;
    g_auto(GStrv) lines = g_strsplit(buddyinfo, "\n", -1);
    for (guint i = 0; lines[i] != NULL; i++) {
        const char *at = strstr(lines[i], "zone ");
        if (at == NULL) {
            continue;
        }
        at += strlen("zone ");
        at += strspn(at, " ");
        at += strcspn(at, " ");
        char *behind;
        for (guint64 piece_bytes = page_bytes;; piece_bytes *= 2, at = behind) {
            guint64 n = g_ascii_strtoull(at, &behind, 10);
            if (behind == at) {
                break;
            }
            n_bytes += piece_bytes >= least_bytes ? n * piece_bytes : 0;
        }
    }
    return n_bytes;
}

#if defined(__GLIBC__) && !defined(ROCESCOPE_SANITIZED)

#include <limits.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* What captures of a million packets over a thousand streams take is asked for in any case.
 * Where memory is in pieces the system may look for a large page for long: more is asked for
 * only where it has twice as much of that in large pieces, and no more than a million streams
 * take; and nothing where addresses are short. */
#define HEAP_BYTES ((gsize)64 * 1024 * 1024)
#define MOST_HEAP_BYTES (GLIB_SIZEOF_VOID_P < 8 ? HEAP_BYTES : 16 * HEAP_BYTES)
#define FREE_FOR_EACH 2
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

static guint64
number_in(const char *path)
{
    g_autofree char *text = NULL;
    return g_file_get_contents(path, &text, NULL, NULL)
               ? g_ascii_strtoull(text, NULL, 10)
               : 0;
}

static gsize
wanted_bytes(void)
{
    g_autofree char *text = NULL;
    guint64 large_bytes =
        number_in("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
    if (large_bytes == 0 ||
        !g_file_get_contents("/proc/buddyinfo", &text, NULL, NULL)) {
        return HEAP_BYTES;
    }
    guint64 n_bytes =
        rs_pages_in_pieces(text, (guint64)sysconf(_SC_PAGESIZE), large_bytes) /
        FREE_FOR_EACH;
    return CLAMP(n_bytes, HEAP_BYTES, MOST_HEAP_BYTES);
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
    gsize n_bytes = wanted_bytes();
    void *heap;
    while ((heap = malloc(n_bytes)) == NULL && n_bytes > HEAP_BYTES) {
        n_bytes = MAX(n_bytes / 2, HEAP_BYTES); /* the system promises no more */
    }
    if (heap != NULL) {
        advise(heap, n_bytes);
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

void
rs_pages_be_one_of_many(guint64 most_bytes)
{
    if (are_wanted) {
        (void)malloc_trim(most_bytes > 0 ? MIN(most_bytes / 2, HEAP_BYTES)
                                         : HEAP_BYTES);
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

void
rs_pages_be_one_of_many(guint64 most_bytes)
{
    (void)most_bytes;
}

guint64
rs_pages_unused(void)
{
    return 0;
}

#endif
