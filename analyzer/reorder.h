/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bounded buffer that puts frames in the order of time.
 *
 * The one rule: a frame waits until the newest is `horizon` beyond it, or until the
 * buffer is full; then the oldest goes.  Frames of one time keep their order.  A step
 * back much longer than the horizon is a clock that was set, or a stamp that was wrong:
 * what waits goes first, and time begins anew.
 */
#ifndef RS_REORDER_H
#define RS_REORDER_H

#include "roce/packet.h"

#include <glib.h>

typedef void (*rs_frame_fn)(void *ctx, const roce_frame *frame);

typedef struct rs_reorder rs_reorder;

rs_reorder *
rs_reorder_new(guint64 horizon_ns, rs_frame_fn take, void *ctx);

/* NULL is fine; what is still in the buffer is dropped. */
void
rs_reorder_free(rs_reorder *reorder);

/* What a clock shows next that shows the newest stamp so far, unless it was set back. */
guint64
rs_reorder_follow(const rs_reorder *reorder, guint64 clock_ns, guint64 time_ns);

/* Frames are further out of order than was known. */
void
rs_reorder_extend(rs_reorder *reorder, guint64 horizon_ns);

/* Copies a frame that belongs at `key_ns`, and hands on those whose time has come. */
void
rs_reorder_push(rs_reorder *reorder, const roce_frame *frame, guint64 key_ns);

/* Hands on all that is left. */
void
rs_reorder_flush(rs_reorder *reorder);

#endif
