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
    rs_record *records;      /* read at once; NULL while it is closed */
    guint n_records, head_i; /* all of them handed out: it has ended */
    guint64 first_ns;        /* 0 without a frame: it ends at once */
    guint64 clock_ns;        /* when the head has come */
    guint64 file_bytes;
    gboolean was_asked; /* whether a thread can read it */
    gboolean is_ahead;  /* one does */
} inlet;

struct rs_feed {
    GPtrArray *waiting; /* inlet: closed, by first_ns, the latest first */
    GPtrArray *active;  /* inlet: open; a heap, whose turn it is first */
    guint n_handed_out; /* records of the first, from its head on */
    inlet *ended;       /* told of, to be freed at the next call */
    guint64 done_bytes, total_bytes;
    gboolean total_known;
    guint n_ahead; /* files that may be read ahead, beside those that are */
};

static void
free_inlet(gpointer data)
{
    inlet *in = data;
    rs_reader_close(in->reader);
    g_clear_error(&in->problem);
    g_free(in->records);
    g_free(in);
}

static gboolean
has_head(const inlet *in)
{
    return in->head_i < in->n_records;
}

/* Reads the next frames of a file, when it has no head. */
static void
refill(inlet *in)
{
    g_clear_error(&in->problem);
    int n = rs_reader_next_batch(in->reader, in->records, RS_FEED_BATCH_RECORDS,
                                 &in->problem);
    in->n_records = n > 0 ? (guint)n : 0;
    in->head_i = 0;
}

/* The clock, when some of the frames from the head on have come. */
static void
follow_time(inlet *in, guint n_records)
{
    for (guint i = in->head_i; i < in->head_i + n_records; i++) {
        in->clock_ns = MAX(in->clock_ns, in->records[i].frame.time_ns);
    }
}

static void
open_inlet(inlet *in)
{
    in->reader = rs_reader_open(in->path, &in->problem);
    if (in->reader != NULL) {
        in->file_bytes = rs_reader_file_bytes(in->reader);
        in->records = g_new(rs_record, RS_FEED_BATCH_RECORDS);
        refill(in);
    }
    in->first_ns = has_head(in) ? in->records[0].frame.time_ns : 0;
    in->clock_ns = in->first_ns;
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

/* Of two files that show the same time, the one that began earlier goes first, so that a
 * rotated file comes to its end before the next begins. */
static gboolean
began_before(const inlet *a, const inlet *b)
{
    return a->first_ns != b->first_ns ? a->first_ns < b->first_ns
                                      : a->file_i < b->file_i;
}

/* Whose turn it is before another's: who has ended; whose clock is behind. */
static gboolean
is_before(const inlet *a, const inlet *b)
{
    if (has_head(a) != has_head(b)) {
        return !has_head(a);
    }
    if (!has_head(a)) {
        return a->file_i < b->file_i;
    }
    return a->clock_ns != b->clock_ns ? a->clock_ns < b->clock_ns : began_before(a, b);
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
        gboolean can_wait = has_head(in) && in->file_bytes > 0;
        if (can_wait && feed->active->len >= MAX_OPEN) {
            g_clear_pointer(&in->reader, rs_reader_close);
            g_clear_pointer(&in->records, g_free);
            in->n_records = 0;
            g_ptr_array_add(feed->waiting, in);
        } else {
            add_active(feed, in);
        }
    }
    g_ptr_array_sort(feed->waiting, latest_first);
    return feed;
}

void
rs_feed_read_ahead(rs_feed *feed, guint n)
{
    feed->n_ahead = n;
}

gboolean
rs_feed_takes_long(const rs_feed *feed)
{
    const inlet *in = next_inlet(feed);
    return in != NULL && in->reader != NULL && rs_reader_takes_long(in->reader);
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
        if (next != NULL && (!has_head(next) || next->clock_ns < first->first_ns)) {
            return;
        }
        inlet *in = g_ptr_array_steal_index(feed->waiting, feed->waiting->len - 1);
        open_inlet(in);
        add_active(feed, in);
    }
}

/* Takes out the first file, of which is told that it has ended; it is freed at the next
 * call. */
static void
end_first(rs_feed *feed)
{
    feed->ended = g_ptr_array_steal_index_fast(feed->active, 0);
    settle_first(feed);
}

static void
free_ended(rs_feed *feed)
{
    if (feed->ended != NULL) {
        feed->done_bytes += feed->ended->file_bytes;
        feed->n_ahead += feed->ended->is_ahead ? 1 : 0;
        g_clear_pointer(&feed->ended, free_inlet);
    }
}

/* Until when it is the turn of the first file: the first clock that has to wait. */
static guint64
end_of_turn(const rs_feed *feed)
{
    const inlet *in = at(feed, 0);
    guint64 end_ns = G_MAXUINT64;
    for (guint i = 1; i < MIN(feed->active->len, 3); i++) { /* one of these is second */
        const inlet *rival = at(feed, i);
        end_ns = MIN(end_ns, rival->clock_ns + (began_before(in, rival) ? 1 : 0));
    }
    if (feed->waiting->len > 0) {
        const inlet *first = g_ptr_array_index(feed->waiting, feed->waiting->len - 1);
        end_ns = MIN(end_ns, first->first_ns);
    }
    return end_ns;
}

/* Whether what is left is one file, as none is ever added. */
static gboolean
is_alone(const rs_feed *feed)
{
    return feed->active->len == 1 && feed->waiting->len == 0;
}

/* How many of the frames at hand are the first file's turn; at least its head is.  A
 * stamp that steps back ends no turn, as the clock stays. */
static guint
count_turn(const rs_feed *feed)
{
    const inlet *in = at(feed, 0);
    if (is_alone(feed)) {
        return in->n_records - in->head_i;
    }
    const guint64 end_ns = end_of_turn(feed);
    guint i = in->head_i + 1;
    while (i < in->n_records && in->records[i].frame.time_ns < end_ns) {
        i++;
    }
    return i - in->head_i;
}

/* Passes over what was handed out.  No clock is asked for where there is one file. */
static void
pass_on(rs_feed *feed)
{
    if (feed->n_handed_out == 0) {
        return;
    }
    inlet *in = at(feed, 0);
    gboolean alone = is_alone(feed);
    if (!alone) {
        follow_time(in, feed->n_handed_out);
    }
    in->head_i += feed->n_handed_out;
    feed->n_handed_out = 0;
    if (!has_head(in)) {
        refill(in);
    }
    if (!alone) {
        follow_time(in, has_head(in) ? 1 : 0);
        settle_first(feed);
    }
}

/* The file whose turn it is, when what was handed out has been passed over; NULL when
 * there is none left. */
static inline inlet *
look_ahead(rs_feed *feed)
{
    free_ended(feed);
    pass_on(feed);
    wake(feed);
    inlet *in = next_inlet(feed);
    if (feed->n_ahead > 0 && in != NULL && !in->was_asked && in->reader != NULL) {
        in->was_asked = TRUE;
        in->is_ahead = rs_reader_read_ahead(in->reader);
        feed->n_ahead -= in->is_ahead ? 1 : 0;
    }
    return in;
}

void
rs_feed_next_batch(rs_feed *feed, rs_feed_batch *batch)
{
    inlet *in = look_ahead(feed);
    if (in == NULL) {
        *batch = (rs_feed_batch){.kind = RS_FEED_END};
        return;
    }
    *batch = (rs_feed_batch){
        .kind = has_head(in) ? RS_FEED_FRAME : RS_FEED_FILE_END,
        .file_i = in->file_i,
        .reader = in->reader,
        .problem = in->problem,
    };
    if (!has_head(in)) {
        end_first(feed);
        return;
    }
    batch->records = &in->records[in->head_i];
    batch->n_records = feed->n_handed_out = count_turn(feed);
}

static void
tell_end(rs_feed *feed, const inlet *in, rs_feed_step *step)
{
    *step = (rs_feed_step){
        .kind = RS_FEED_FILE_END,
        .file_i = in->file_i,
        .reader = in->reader,
        .problem = in->problem,
    };
    end_first(feed);
}

void
rs_feed_next(rs_feed *feed, rs_feed_step *step)
{
    inlet *in = look_ahead(feed);
    if (in == NULL) {
        *step = (rs_feed_step){.kind = RS_FEED_END};
    } else if (!has_head(in)) {
        tell_end(feed, in, step);
    } else {
        step->kind = RS_FEED_FRAME;
        step->file_i = in->file_i;
        step->reader = in->reader;
        step->problem = NULL;
        step->record = in->records[in->head_i];
        feed->n_handed_out = 1;
    }
}

gboolean
rs_feed_abandon(rs_feed *feed, rs_feed_step *step)
{
    free_ended(feed);
    feed->n_handed_out = 0;
    if (feed->active->len == 0) {
        return FALSE;
    }
    tell_end(feed, at(feed, 0), step);
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
