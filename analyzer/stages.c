/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stages.h"

#include "approach.h"
#include "thread.h"
#include "workers.h"

#include <stdatomic.h>

/* Between the stages: so many that neither waits for the other where it meets more work for
 * a while.  Together they take 3.4 MB, and RS_WINDOW_BYTES each of frames that are no
 * RoCE. */
#define N_WINDOWS 32u
#define SPINS 1000u /* looks before a thread sleeps: as long as a window takes */
#define STAY 8u     /* windows */
/* Where threads share processors, so many windows are filled, or made free, before another
 * thread is woken: each time takes longer than a window does. */
#define WINDOWS_TO_WAKE (N_WINDOWS / 2)
#define NOTHING G_MAXUINT64 /* in place of a window's number */

/* A thread of the second stage. */
typedef struct teller {
    _Alignas(RS_CACHE_LINE_BYTES) _Atomic(guint64) n_told; /* windows */
    _Atomic(guint64) awaited; /* who fills sleeps until this one is told; NOTHING */
    rs_stages *stages;
    rs_watch_parts parts;
    GThread *thread;
} teller;

struct rs_stages {
    _Alignas(RS_CACHE_LINE_BYTES) _Atomic(guint64) n_filled; /* windows */
    _Atomic(gboolean) ending;
    _Alignas(RS_CACHE_LINE_BYTES) _Atomic(guint) n_asleep; /* tellers */
    _Alignas(RS_CACHE_LINE_BYTES) rs_stages_tell tell;
    gpointer ctx;
    guint spins;
    guint n_tellers; /* 0: who fills tells */
    guint n_staying; /* windows to come that who fills tells; the others are idle */
    guint n_windows;
    rs_window *filling; /* the one that comes next */
    GMutex mutex;
    GCond filled, told;
    teller *tellers;
    rs_window *windows; /* the n-th to be filled is number n % n_windows */
};

/* ---- waiting ---- */

/* A thread waits until a counter goes beyond a number, or for the end. */
static gboolean
is_beyond(const rs_stages *stages, const _Atomic(guint64) *counter, guint64 n)
{
    return atomic_load(counter) > n || atomic_load(&stages->ending);
}

/* Looks for a while, since the other thread is rarely far behind. */
static gboolean
is_soon_beyond(const rs_stages *stages, const _Atomic(guint64) *counter, guint64 n)
{
    for (guint i = 0; i < stages->spins; i++) {
        if (is_beyond(stages, counter, n)) {
            return TRUE;
        }
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
    return is_beyond(stages, counter, n);
}

/* Whoever goes to sleep says so first and looks then, and who wakes him looks last whether
 * he has said so: one of the two sees the other. */

static void
wait_for_window(rs_stages *stages, guint64 n)
{
    if (is_soon_beyond(stages, &stages->n_filled, n)) {
        return;
    }
    g_mutex_lock(&stages->mutex);
    atomic_fetch_add(&stages->n_asleep, 1u);
    while (!is_beyond(stages, &stages->n_filled, n)) {
        g_cond_wait(&stages->filled, &stages->mutex);
    }
    atomic_fetch_sub(&stages->n_asleep, 1u);
    g_mutex_unlock(&stages->mutex);
}

static void
wake_tellers(rs_stages *stages)
{
    if (atomic_load(&stages->n_asleep) > 0) {
        g_mutex_lock(&stages->mutex);
        g_cond_broadcast(&stages->filled);
        g_mutex_unlock(&stages->mutex);
    }
}

static void
wait_for_teller(rs_stages *stages, teller *t, guint64 n)
{
    if (is_soon_beyond(stages, &t->n_told, n)) {
        return;
    }
    g_mutex_lock(&stages->mutex);
    atomic_store(&t->awaited, n);
    while (!is_beyond(stages, &t->n_told, n)) {
        g_cond_wait(&stages->told, &stages->mutex);
    }
    atomic_store(&t->awaited, NOTHING);
    g_mutex_unlock(&stages->mutex);
}

static void
wake_who_fills(rs_stages *stages, const teller *t, guint64 n)
{
    if (atomic_load(&t->awaited) == n) {
        g_mutex_lock(&stages->mutex);
        g_cond_signal(&stages->told);
        g_mutex_unlock(&stages->mutex);
    }
}

/* ---- telling ---- */

static rs_window *
window_at(const rs_stages *stages, guint64 n)
{
    return &stages->windows[n % stages->n_windows];
}

static gpointer
tell_all(gpointer data)
{
    teller *t = data;
    rs_stages *stages = t->stages;
    for (guint64 n = 0;; n++) {
        wait_for_window(stages, n);
        if (atomic_load(&stages->n_filled) <= n) {
            return NULL; /* the end */
        }
        stages->tell(stages->ctx, t->parts, window_at(stages, n));
        atomic_store(&t->n_told, n + 1);
        wake_who_fills(stages, t, n);
    }
}

static void
start(rs_stages *stages, guint n)
{
    while (stages->n_tellers < n) {
        teller *t = &stages->tellers[stages->n_tellers];
        t->stages = stages;
        atomic_store(&t->awaited, NOTHING);
        t->thread = rs_thread_new("watchers", tell_all, t);
        if (t->thread == NULL) {
            break; /* fewer do as well */
        }
        stages->n_tellers++;
    }
}

/* Before the first window is filled, as they look at nothing before that. */
static void
share_out(rs_stages *stages)
{
    stages->tellers[0].parts = RS_WATCH_EVERYTHING;
    if (stages->n_tellers == 2) {
        stages->tellers[0].parts = RS_WATCH_STREAMS;
        stages->tellers[1].parts = RS_WATCH_NETWORK;
    }
}

rs_stages *
rs_stages_new(guint n_threads, rs_stages_tell tell, gpointer ctx)
{
    rs_stages *stages = g_aligned_alloc0(1, sizeof *stages, RS_CACHE_LINE_BYTES);
    stages->tell = tell;
    stages->ctx = ctx;
    guint n_tellers = MIN(n_threads - 1, RS_STAGES_TELLERS);
    stages->spins = n_tellers < rs_workers_n_processors() ? SPINS : 0;
    g_mutex_init(&stages->mutex);
    g_cond_init(&stages->filled);
    g_cond_init(&stages->told);
    stages->tellers =
        g_aligned_alloc0(RS_STAGES_TELLERS, sizeof(teller), RS_CACHE_LINE_BYTES);
    start(stages, n_tellers);
    share_out(stages);
    stages->n_windows = stages->n_tellers == 0 ? 1 : N_WINDOWS;
    stages->windows =
        g_aligned_alloc(stages->n_windows, sizeof(rs_window), RS_CACHE_LINE_BYTES);
    for (guint i = 0; i < stages->n_windows; i++) {
        rs_window_init(&stages->windows[i], stages->n_tellers > 0);
    }
    stages->filling = stages->windows;
    return stages;
}

void
rs_stages_free(rs_stages *stages)
{
    if (stages == NULL) {
        return;
    }
    atomic_store(&stages->ending, TRUE);
    wake_tellers(stages);
    for (guint i = 0; i < stages->n_tellers; i++) {
        g_thread_join(stages->tellers[i].thread);
    }
    for (guint i = 0; i < stages->n_windows; i++) {
        rs_window_clear(&stages->windows[i]);
    }
    g_mutex_clear(&stages->mutex);
    g_cond_clear(&stages->filled);
    g_cond_clear(&stages->told);
    g_aligned_free(stages->windows);
    g_aligned_free(stages->tellers);
    g_aligned_free(stages);
}

/* ---- filling ---- */

rs_window *
rs_stages_window(rs_stages *stages)
{
    return stages->filling;
}

/* Waits until all tellers have told more than n windows. */
static void
wait_for_tellers(rs_stages *stages, guint64 n)
{
    wake_tellers(stages);
    for (guint i = 0; i < stages->n_tellers; i++) {
        wait_for_teller(stages, &stages->tellers[i], n);
    }
}

static gboolean
have_told(const rs_stages *stages, guint64 n)
{
    for (guint i = 0; i < stages->n_tellers; i++) {
        if (!is_beyond(stages, &stages->tellers[i].n_told, n)) {
            return FALSE;
        }
    }
    return TRUE;
}

/* Makes the next window free, the n-th.  Where threads share processors, who has to wait
 * for it waits for WINDOWS_TO_WAKE of them. */
static void
make_free(rs_stages *stages, guint64 n)
{
    if (n >= stages->n_windows && !have_told(stages, n - stages->n_windows)) {
        guint64 further = stages->spins > 0 ? 0 : WINDOWS_TO_WAKE - 1;
        wait_for_tellers(stages, n - stages->n_windows + further);
    }
}

void
rs_stages_hand_on(rs_stages *stages)
{
    rs_window *window = rs_stages_window(stages);
    if (rs_window_is_empty(window)) {
        window->n_packets = 0;
        return;
    }
    rs_window_close(window);
    if (stages->n_tellers == 0 || stages->n_staying > 0) {
        stages->n_staying -= stages->n_staying > 0 ? 1 : 0;
        stages->tell(stages->ctx, RS_WATCH_EVERYTHING, window);
        rs_window_empty(window);
        return;
    }
    guint64 n = atomic_load_explicit(&stages->n_filled, memory_order_relaxed) + 1;
    atomic_store(&stages->n_filled, n);
    if (stages->spins > 0 || n % WINDOWS_TO_WAKE == 0) {
        wake_tellers(stages);
    }
    make_free(stages, n);
    stages->filling = window_at(stages, n);
    rs_window_empty(stages->filling);
}

roce_packet *
rs_stages_packets(rs_stages *stages, guint n)
{
    if (rs_stages_window(stages)->n_packets + n > RS_WINDOW_PACKETS) {
        rs_stages_hand_on(stages);
    }
    rs_window *window = rs_stages_window(stages);
    window->n_packets += n;
    return &window->packets[window->n_packets - n];
}

void
rs_stages_meet(rs_stages *stages)
{
    rs_stages_hand_on(stages);
    guint64 n = atomic_load_explicit(&stages->n_filled, memory_order_relaxed);
    if (n > 0) {
        wait_for_tellers(stages, n - 1);
    }
}

void
rs_stages_stay(rs_stages *stages)
{
    rs_stages_meet(stages);
    stages->n_staying = STAY;
}
