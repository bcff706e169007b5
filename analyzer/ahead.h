/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes that a thread of their own reads ahead, some pieces of them.
 *
 * The one rule: whoever takes pieces sees what he would have read himself, and the reader's
 * state is the thread's until the last one, which is empty, has been taken.
 */
#ifndef RS_AHEAD_H
#define RS_AHEAD_H

#include <glib.h>

/* So many bytes before those of a piece may be written to, so that what was left of the one
 * before can be put in front of them. */
#define RS_AHEAD_ROOM 16384

/* Reads at most n bytes, at least one; 0 at the end, and from then on.  *position is how far
 * it has come then, for progress. */
typedef gsize (*rs_ahead_read)(gpointer ctx, guint8 *into, gsize n, guint64 *position);

typedef struct rs_piece {
    guint8 *bytes;
    gsize n; /* 0: the end */
    guint64 position;
} rs_piece;

typedef struct rs_ahead rs_ahead;

/* NULL: the system has no thread left. */
rs_ahead *
rs_ahead_new(rs_ahead_read read, gpointer ctx);

/* Nothing more is read.  NULL is fine. */
void
rs_ahead_free(rs_ahead *ahead);

/* Waits for the next piece; it and the one before are the caller's, earlier ones go back. */
rs_piece *
rs_ahead_next(rs_ahead *ahead);

#endif
