/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "turns.h"

#include <stdatomic.h>

struct rs_turns {
    guint n_places, n_kept;
    GMutex mutex; /* for waiting: who has filled, or taken, tells by a number, ... */
    GCond changed;
    /* ... which is atomic for thread sanitizers, that do not see into GLib's mutexes. */
    _Atomic(guint64) n_filled, n_taken; /* the n-th goes to place n % n_places */
    _Atomic(gboolean) ending;
};

rs_turns *
rs_turns_new(guint n_places, guint n_kept)
{
    g_assert(n_kept < n_places);
    rs_turns *turns = g_new0(rs_turns, 1);
    turns->n_places = n_places;
    turns->n_kept = n_kept;
    g_mutex_init(&turns->mutex);
    g_cond_init(&turns->changed);
    return turns;
}

void
rs_turns_free(rs_turns *turns)
{
    if (turns != NULL) {
        g_mutex_clear(&turns->mutex);
        g_cond_clear(&turns->changed);
        g_free(turns);
    }
}

gboolean
rs_turns_wait_to_fill(rs_turns *turns, guint *i)
{
    g_mutex_lock(&turns->mutex);
    guint64 n = atomic_load(&turns->n_filled);
    while (!atomic_load(&turns->ending) &&
           n + turns->n_kept >= atomic_load(&turns->n_taken) + turns->n_places) {
        g_cond_wait(&turns->changed, &turns->mutex);
    }
    g_mutex_unlock(&turns->mutex);
    *i = (guint)(n % turns->n_places);
    return !atomic_load(&turns->ending);
}

void
rs_turns_fill(rs_turns *turns)
{
    g_mutex_lock(&turns->mutex);
    atomic_fetch_add(&turns->n_filled, 1u);
    g_cond_signal(&turns->changed);
    g_mutex_unlock(&turns->mutex);
}

guint
rs_turns_take(rs_turns *turns)
{
    g_mutex_lock(&turns->mutex);
    guint64 n = atomic_load(&turns->n_taken);
    while (atomic_load(&turns->n_filled) == n) {
        g_cond_wait(&turns->changed, &turns->mutex);
    }
    atomic_store(&turns->n_taken, n + 1);
    g_cond_signal(&turns->changed);
    g_mutex_unlock(&turns->mutex);
    return (guint)(n % turns->n_places);
}

void
rs_turns_end(rs_turns *turns)
{
    g_mutex_lock(&turns->mutex);
    atomic_store(&turns->ending, TRUE);
    g_cond_signal(&turns->changed);
    g_mutex_unlock(&turns->mutex);
}
