/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "feed.h"

#include <sys/resource.h>

#define MAX_OPEN 64 /* files kept open from the start; the rest waits closed */

/* A file on its way through. */
typedef struct inlet {
    guint file_i;
    const char *path;
    rs_reader *reader; /* NULL: not opened yet, or it could not be */
    GError *problem;
    rs_record head;
    gboolean has_head;
    guint64 first_ns; /* 0 without a frame: it ends at once */
    guint64 clock_ns;
    guint64 file_bytes;
} inlet;

struct rs_feed {
    GPtrArray *waiting;  /* inlet: closed, by first_ns, the latest first */
    GPtrArray *active;   /* inlet: open; a heap, whose turn it is first */
    gboolean handed_out; /* the head of the first */
    inlet *ended;        /* told of, to be freed at the next call */
    guint64 done_bytes, total_bytes;
    gboolean total_known;
};

static void
free_inlet(gpointer data)
{
    inlet *in = data;
    rs_reader_close(in->reader);
    g_clear_error(&in->problem);
    g_free(in);
}

/* Reads the next frame of a file. */
static void
advance(inlet *in)
{
    g_clear_error(&in->problem);
    in->has_head =
        in->reader != NULL && rs_reader_next(in->reader, &in->head, &in->problem) > 0;
    if (in->has_head) {
        in->clock_ns = MAX(in->clock_ns, in->head.frame.time_ns);
    }
}

static void
open_inlet(inlet *in)
{
    in->reader = rs_reader_open(in->path, &in->problem);
    if (in->reader != NULL) {
        advance(in);
        in->file_bytes = rs_reader_file_bytes(in->reader);
    }
    in->first_ns = in->has_head ? in->head.frame.time_ns : 0;
}

static gint
latest_first(gconstpointer a, gconstpointer b)
{
    const inlet *x = *(inlet *const *)a;
    const inlet *y = *(inlet *const *)b;
    if (x->first_ns != y->first_ns) {
        return x->first_ns > y->first_ns ? -1 : 1;
    }
    return x->file_i > y->file_i ? -1 : x->file_i < y->file_i;
}

/* Whose turn it is before another's: who has ended; whose clock is behind; of two that
 * show the same, who began earlier, so that a rotated file comes to its end before the
 * next begins. */
static gboolean
is_before(const inlet *a, const inlet *b)
{
    if (a->has_head != b->has_head) {
        return !a->has_head;
    }
    if (a->has_head && a->clock_ns != b->clock_ns) {
        return a->clock_ns < b->clock_ns;
    }
    if (a->has_head && a->first_ns != b->first_ns) {
        return a->first_ns < b->first_ns;
    }
    return a->file_i < b->file_i;
}

static inlet *
at(const rs_feed *feed, guint i)
{
    return g_ptr_array_index(feed->active, i);
}

static void
swap(rs_feed *feed, guint i, guint k)
{
    gpointer kept = feed->active->pdata[i];
    feed->active->pdata[i] = feed->active->pdata[k];
    feed->active->pdata[k] = kept;
}

/* Adds a file to the heap. */
static void
add_active(rs_feed *feed, inlet *in)
{
    guint i = feed->active->len;
    g_ptr_array_add(feed->active, in);
    while (i > 0 && is_before(in, at(feed, (i - 1) / 2))) {
        swap(feed, i, (i - 1) / 2);
        i = (i - 1) / 2;
    }
}

/* Puts the first file to its place, as its turn has changed. */
static void
settle_first(rs_feed *feed)
{
    guint n = feed->active->len;
    for (guint i = 0, child = 1; child < n; child = 2 * i + 1) {
        if (child + 1 < n && is_before(at(feed, child + 1), at(feed, child))) {
            child++;
        }
        if (is_before(at(feed, i), at(feed, child))) {
            return;
        }
        swap(feed, i, child);
        i = child;
    }
}

/* The file whose turn it is. */
static inlet *
next_inlet(const rs_feed *feed)
{
    return feed->active->len > 0 ? at(feed, 0) : NULL;
}

/* Files that overlap in time are open together, and the usual limit is meant for programs
 * that keep few. */
static void
allow_open_files(guint n)
{
    struct rlimit limit;
    rlim_t wanted = (rlim_t)n + MAX_OPEN; /* and what else is open */
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted) {
        limit.rlim_cur = MIN(wanted, limit.rlim_max);
        (void)setrlimit(RLIMIT_NOFILE, &limit); /* else opening tells what is wrong */
    }
}

rs_feed *
rs_feed_new(GStrv paths)
{
    allow_open_files(g_strv_length(paths));
    rs_feed *feed = g_new0(rs_feed, 1);
    feed->waiting = g_ptr_array_new_with_free_func(free_inlet);
    feed->active = g_ptr_array_new_with_free_func(free_inlet);
    feed->total_known = TRUE;
    for (guint i = 0; paths[i] != NULL; i++) {
        inlet *in = g_new0(inlet, 1);
        in->file_i = i;
        in->path = paths[i];
        open_inlet(in);
        feed->total_bytes += in->file_bytes;
        feed->total_known &= in->reader == NULL || in->file_bytes > 0;
        /* A pipe cannot be opened twice, nor need a file that is at its end. */
        gboolean can_wait = in->has_head && in->file_bytes > 0;
        if (can_wait && feed->active->len >= MAX_OPEN) {
            g_clear_pointer(&in->reader, rs_reader_close);
            in->has_head = FALSE;
            in->clock_ns = 0;
            g_ptr_array_add(feed->waiting, in);
        } else {
            add_active(feed, in);
        }
    }
    g_ptr_array_sort(feed->waiting, latest_first);
    return feed;
}

void
rs_feed_free(rs_feed *feed)
{
    if (feed == NULL) {
        return;
    }
    if (feed->ended != NULL) {
        free_inlet(feed->ended);
    }
    g_ptr_array_unref(feed->waiting);
    g_ptr_array_unref(feed->active);
    g_free(feed);
}

/* Opens the files whose time has come. */
static void
wake(rs_feed *feed)
{
    while (feed->waiting->len > 0) {
        const inlet *first = g_ptr_array_index(feed->waiting, feed->waiting->len - 1);
        const inlet *next = next_inlet(feed);
        if (next != NULL && (!next->has_head || next->clock_ns < first->first_ns)) {
            return;
        }
        inlet *in = g_ptr_array_steal_index(feed->waiting, feed->waiting->len - 1);
        open_inlet(in);
        add_active(feed, in);
    }
}

/* Tells that the first file is at its end; it is freed at the next call. */
static void
end_first(rs_feed *feed, rs_feed_step *step)
{
    inlet *in = at(feed, 0);
    *step = (rs_feed_step){
        .kind = RS_FEED_FILE_END,
        .file_i = in->file_i,
        .reader = in->reader,
        .problem = in->problem,
    };
    feed->ended = g_ptr_array_steal_index_fast(feed->active, 0);
    settle_first(feed);
}

static void
free_ended(rs_feed *feed)
{
    if (feed->ended != NULL) {
        feed->done_bytes += feed->ended->file_bytes;
        g_clear_pointer(&feed->ended, free_inlet);
    }
}

void
rs_feed_next(rs_feed *feed, rs_feed_step *step)
{
    free_ended(feed);
    if (feed->handed_out) {
        advance(at(feed, 0));
        settle_first(feed);
        feed->handed_out = FALSE;
    }
    wake(feed);
    inlet *in = next_inlet(feed);
    *step = (rs_feed_step){.kind = RS_FEED_END};
    if (in == NULL) {
        return;
    }
    if (!in->has_head) {
        end_first(feed, step);
        return;
    }
    step->kind = RS_FEED_FRAME;
    step->file_i = in->file_i;
    step->reader = in->reader;
    step->record = in->head;
    feed->handed_out = TRUE;
}

gboolean
rs_feed_abandon(rs_feed *feed, rs_feed_step *step)
{
    free_ended(feed);
    feed->handed_out = FALSE;
    if (feed->active->len == 0) {
        return FALSE;
    }
    end_first(feed, step);
    return TRUE;
}

guint64
rs_feed_position(const rs_feed *feed)
{
    guint64 bytes = feed->done_bytes;
    for (guint i = 0; i < feed->active->len; i++) {
        const inlet *in = g_ptr_array_index(feed->active, i);
        bytes += in->reader != NULL ? rs_reader_position(in->reader) : 0;
    }
    return bytes;
}

guint64
rs_feed_total_bytes(const rs_feed *feed)
{
    return feed->total_known ? feed->total_bytes : 0;
}
