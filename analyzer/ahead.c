/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ahead.h"

#include "thread.h"
#include "turns.h"

/* Large enough that waking a thread does not count, small enough that what was read is still
 * in a cache that both share. */
#define PIECE_BYTES ((gsize)256 * 1024)
#define N_PIECES 6u
#define N_KEPT 2u /* see rs_ahead_next() */

struct rs_ahead {
    rs_ahead_read read;
    gpointer ctx;
    GThread *thread;
    rs_turns *turns;
    rs_piece pieces[N_PIECES];
    guint8 *memory;
};

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
    for (guint i; !at_end && rs_turns_wait_to_fill(ahead->turns, &i);) {
        fill(ahead, &ahead->pieces[i]);
        at_end = ahead->pieces[i].n == 0;
        rs_turns_fill(ahead->turns);
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
    ahead->turns = rs_turns_new(N_PIECES, N_KEPT);
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
    rs_turns_end(ahead->turns);
    if (ahead->thread != NULL) {
        g_thread_join(ahead->thread);
    }
    rs_turns_free(ahead->turns);
    g_free(ahead->memory);
    g_free(ahead);
}

rs_piece *
rs_ahead_next(rs_ahead *ahead)
{
    return &ahead->pieces[rs_turns_take(ahead->turns)];
}
