/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ahead.h"

#include "thread.h"

#include <stdatomic.h>

/* Large enough that waking a thread does not count, small enough that what was read is still
 * in a cache that both share. */
#define PIECE_BYTES ((gsize)256 * 1024)
#define N_PIECES 6u /* of which the taker may have two */

struct rs_ahead {
    rs_ahead_read read;
    gpointer ctx;
    GThread *thread;
    GMutex mutex; /* for waiting: who has read, or taken, tells by a number */
    GCond changed;
    _Atomic(guint64) n_read, n_taken; /* pieces; the n-th is in place n % N_PIECES */
    _Atomic(gboolean) ending;
    rs_piece pieces[N_PIECES];
    guint8 *memory;
};

/* Whether there is a place for one more; waits until there is.  Those that were taken last
 * are not free. */
static gboolean
wait_for_place(rs_ahead *ahead)
{
    g_mutex_lock(&ahead->mutex);
    while (!atomic_load(&ahead->ending) &&
           atomic_load(&ahead->n_read) + 2 >= atomic_load(&ahead->n_taken) + N_PIECES) {
        g_cond_wait(&ahead->changed, &ahead->mutex);
    }
    g_mutex_unlock(&ahead->mutex);
    return !atomic_load(&ahead->ending);
}

/* Fills a piece as far as the input goes; 0 is left for the next one. */
static void
fill(const rs_ahead *ahead, rs_piece *piece)
{
    piece->n = 0;
    gsize n;
    do {
        n = ahead->read(ahead->ctx, piece->bytes + piece->n, PIECE_BYTES - piece->n,
                        &piece->position);
        piece->n += n;
    } while (n > 0 && piece->n < PIECE_BYTES);
}

static gpointer
run(gpointer data)
{
    rs_ahead *ahead = data;
    gboolean at_end = FALSE;
    while (!at_end && wait_for_place(ahead)) {
        rs_piece *piece = &ahead->pieces[atomic_load(&ahead->n_read) % N_PIECES];
        fill(ahead, piece);
        at_end = piece->n == 0;
        g_mutex_lock(&ahead->mutex);
        atomic_fetch_add(&ahead->n_read, 1u);
        g_cond_signal(&ahead->changed);
        g_mutex_unlock(&ahead->mutex);
    }
    return NULL;
}

rs_ahead *
rs_ahead_new(rs_ahead_read read, gpointer ctx)
{
    const gsize room = RS_AHEAD_ROOM + PIECE_BYTES;
    rs_ahead *ahead = g_new0(rs_ahead, 1);
    ahead->read = read;
    ahead->ctx = ctx;
    ahead->memory = g_malloc(N_PIECES * room);
    for (guint i = 0; i < N_PIECES; i++) {
        ahead->pieces[i].bytes = ahead->memory + i * room + RS_AHEAD_ROOM;
    }
    g_mutex_init(&ahead->mutex);
    g_cond_init(&ahead->changed);
    ahead->thread = rs_thread_new("ahead", run, ahead);
    if (ahead->thread == NULL) {
        rs_ahead_free(ahead);
        return NULL;
    }
    return ahead;
}

void
rs_ahead_free(rs_ahead *ahead)
{
    if (ahead == NULL) {
        return;
    }
    g_mutex_lock(&ahead->mutex);
    atomic_store(&ahead->ending, TRUE);
    g_cond_signal(&ahead->changed);
    g_mutex_unlock(&ahead->mutex);
    if (ahead->thread != NULL) {
        g_thread_join(ahead->thread);
    }
    g_mutex_clear(&ahead->mutex);
    g_cond_clear(&ahead->changed);
    g_free(ahead->memory);
    g_free(ahead);
}

rs_piece *
rs_ahead_next(rs_ahead *ahead)
{
    g_mutex_lock(&ahead->mutex);
    guint64 n = atomic_load(&ahead->n_taken);
    while (atomic_load(&ahead->n_read) == n) {
        g_cond_wait(&ahead->changed, &ahead->mutex);
    }
    rs_piece *piece = &ahead->pieces[n % N_PIECES];
    atomic_store(&ahead->n_taken, n + 1);
    g_cond_signal(&ahead->changed);
    g_mutex_unlock(&ahead->mutex);
    return piece;
}
