/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of n readers, the first has the first part, the n-th after it and so on.  What each finds
 * it hands over in batches, in their order: of a part the first one has the part itself,
 * and the last one says so.
 */
#include "parts_ahead.h"

#include "thread.h"
#include "turns.h"

#include <stdatomic.h>

#define BATCH_ROWS 256u
#define N_BATCHES 8u /* of a reader */
#define N_KEPT 1u    /* the one whose rows are being asked for */

typedef struct batch {
    rs_part *part; /* that begins with it, until it is taken; NULL: none, or no part */
    GError *error; /* why it is none */
    gboolean is_last;
    guint n;
    rs_part_row rows[BATCH_ROWS];
    json_t *lines[BATCH_ROWS]; /* that hold them */
} batch;

typedef struct reader {
    rs_parts_ahead *all;
    guint first; /* of its parts */
    GThread *thread;
    rs_turns *turns;
    batch batches[N_BATCHES];
} reader;

struct rs_parts_ahead {
    const GPtrArray *paths;
    GMutex starting;
    _Atomic(guint) n_readers; /* 0: the caller reads */
    reader *readers;
    guint n_opened;
    rs_part *part; /* the newest, whose rows come */
    batch *now;    /* where they stand, the next one at `at` */
    guint at;
};

/* ---- reading ---- */

static void
empty(batch *b)
{
    for (guint i = 0; i < b->n; i++) {
        json_decref(b->lines[i]);
    }
    b->n = 0;
    b->is_last = FALSE;
    g_clear_error(&b->error);
    g_clear_pointer(&b->part, rs_part_close);
}

static void
fill(batch *b, rs_part *part)
{
    while (b->n < BATCH_ROWS && !b->is_last) {
        b->lines[b->n] = rs_part_take(part, &b->rows[b->n]);
        b->is_last = b->lines[b->n] == NULL;
        b->n += b->is_last ? 0 : 1;
    }
}

/* A batch to fill; NULL: nobody wants one. */
static batch *
next_batch(reader *r)
{
    guint i;
    if (!rs_turns_wait_to_fill(r->turns, &i)) {
        return NULL;
    }
    empty(&r->batches[i]);
    return &r->batches[i];
}

/* Whether anybody wants to know more. */
static gboolean
read_part(reader *r, const char *path)
{
    batch *b = next_batch(r);
    if (b == NULL) {
        return FALSE;
    }
    rs_part *part = b->part = rs_part_open(path, &b->error);
    if (part == NULL) {
        rs_turns_fill(r->turns);
        return FALSE;
    }
    for (;;) {
        fill(b, part);
        gboolean is_last = b->is_last;
        rs_turns_fill(r->turns);
        if (is_last) {
            return TRUE;
        }
        b = next_batch(r);
        if (b == NULL) {
            return FALSE;
        }
    }
}

static gpointer
run(gpointer data)
{
    reader *r = data;
    g_mutex_lock(&r->all->starting);
    guint n = atomic_load(&r->all->n_readers);
    g_mutex_unlock(&r->all->starting);
    const GPtrArray *paths = r->all->paths;
    for (guint i = r->first; i < paths->len; i += n) {
        if (!read_part(r, g_ptr_array_index(paths, i))) {
            break;
        }
    }
    return NULL;
}

/* ---- asking ---- */

static void
make_reader(rs_parts_ahead *ahead, guint i)
{
    reader *r = &ahead->readers[i];
    r->all = ahead;
    r->first = i;
    r->turns = rs_turns_new(N_BATCHES, N_KEPT);
}

/* Parts are shared out among readers that there are, which wait until that is known. */
static void
start(rs_parts_ahead *ahead, guint n)
{
    guint started = 0;
    g_mutex_lock(&ahead->starting);
    while (started < n) {
        make_reader(ahead, started);
        reader *r = &ahead->readers[started];
        r->thread = rs_thread_new("parts", run, r);
        if (r->thread == NULL) {
            g_clear_pointer(&r->turns, rs_turns_free);
            break;
        }
        started++;
    }
    atomic_store(&ahead->n_readers, started);
    g_mutex_unlock(&ahead->starting);
}

rs_parts_ahead *
rs_parts_ahead_new(const GPtrArray *paths, guint n_threads)
{
    rs_parts_ahead *ahead = g_new0(rs_parts_ahead, 1);
    ahead->paths = paths;
    g_mutex_init(&ahead->starting);
    guint n = MIN(n_threads, paths->len);
    ahead->readers = g_new0(reader, n);
    start(ahead, n);
    return ahead;
}

void
rs_parts_ahead_free(rs_parts_ahead *ahead)
{
    if (ahead == NULL) {
        return;
    }
    guint n = atomic_load(&ahead->n_readers);
    for (guint i = 0; i < n; i++) {
        rs_turns_end(ahead->readers[i].turns);
    }
    for (guint i = 0; i < n; i++) {
        reader *r = &ahead->readers[i];
        g_thread_join(r->thread);
        for (guint k = 0; k < N_BATCHES; k++) {
            empty(&r->batches[k]);
        }
        rs_turns_free(r->turns);
    }
    rs_part_close(ahead->part);
    g_mutex_clear(&ahead->starting);
    g_free(ahead->readers);
    g_free(ahead);
}

/* The next one of the part that was opened last; there are readers. */
static void
take_batch(rs_parts_ahead *ahead)
{
    guint n = atomic_load(&ahead->n_readers);
    g_assert(n > 0);
    reader *r = &ahead->readers[(ahead->n_opened - 1) % n];
    ahead->now = &r->batches[rs_turns_take(r->turns)];
    ahead->at = 0;
}

/* What nobody has asked for. */
static void
pass_over_rest(rs_parts_ahead *ahead)
{
    while (ahead->now != NULL && !ahead->now->is_last) {
        take_batch(ahead);
    }
    ahead->now = NULL;
    g_clear_pointer(&ahead->part, rs_part_close);
}

const json_t *
rs_parts_ahead_open(rs_parts_ahead *ahead, GError **error)
{
    pass_over_rest(ahead);
    const char *path = g_ptr_array_index(ahead->paths, ahead->n_opened++);
    if (atomic_load(&ahead->n_readers) == 0) {
        ahead->part = rs_part_open(path, error);
    } else {
        take_batch(ahead);
        ahead->part = g_steal_pointer(&ahead->now->part);
        if (ahead->now->error != NULL) {
            g_propagate_error(error, g_steal_pointer(&ahead->now->error));
        }
    }
    return ahead->part != NULL ? rs_part_head(ahead->part) : NULL;
}

gboolean
rs_parts_ahead_next(rs_parts_ahead *ahead, rs_part_row *row)
{
    if (ahead->now == NULL) {
        return rs_part_next(ahead->part, row);
    }
    while (ahead->at == ahead->now->n) {
        if (ahead->now->is_last) {
            return FALSE;
        }
        take_batch(ahead);
    }
    *row = ahead->now->rows[ahead->at++];
    return TRUE;
}
