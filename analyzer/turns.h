/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places that one thread fills and another one takes, each in its turn.
 *
 * The one rule: a place is one thread's at a time, and whoever gets it sees all that the
 * other one has done to it.
 */
#ifndef RS_TURNS_H
#define RS_TURNS_H

#include <glib.h>

typedef struct rs_turns rs_turns;

/* Of the places that were taken, the newest `n_kept` remain the taker's; there are more
 * places than that. */
rs_turns *
rs_turns_new(guint n_places, guint n_kept);

/* Both threads have nothing to do with them any more.  NULL is fine. */
void
rs_turns_free(rs_turns *turns);

/* Who fills: waits for the next place, *i; FALSE: nobody takes it. */
gboolean
rs_turns_wait_to_fill(rs_turns *turns, guint *i);

/* It is full, and the taker's. */
void
rs_turns_fill(rs_turns *turns);

/* Who takes: waits for the next place, and takes it. */
guint
rs_turns_take(rs_turns *turns);

/* Nothing more is taken. */
void
rs_turns_end(rs_turns *turns);

#endif
