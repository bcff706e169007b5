/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bounded buffer that puts frames in the order of time.
 *
 * The one rule: a frame waits until the newest is `horizon` beyond it, or until the
 * buffer is full (65,536 frames, 64 MiB); then the oldest goes.  Frames of one time keep
 * their order.  A step back much longer than the horizon is a clock that was set, or a
 * stamp that was wrong: what waits goes first, and time begins anew.
 */
#ifndef ROCE_REORDER_H
#define ROCE_REORDER_H

#include "roce/alloc.h"
#include "roce/error.h"
#include "roce/linkage.h"
#include "roce/packet.h"

#include <stdbool.h>
#include <stdint.h>

ROCE_BEGIN

/* Takes a frame; its bytes live until the call returns.  It must not call the buffer
 * that it takes from. */
typedef void (*roce_frame_fn)(void *ctx, const roce_frame *frame);

typedef struct roce_reorder roce_reorder;

/* Frames go to `take`, called with `ctx`.  ROCE_ERROR_MEMORY. */
int
roce_reorder_new(roce_reorder **reorder, const roce_alloc *alloc, uint64_t horizon_ns,
                 roce_frame_fn take, void *ctx);

/* NULL is fine; what is still in the buffer is dropped. */
void
roce_reorder_free(roce_reorder *reorder);

/* What a clock shows next that shows the newest stamp so far, unless it was set back. */
uint64_t
roce_reorder_follow(const roce_reorder *reorder, uint64_t clock_ns, uint64_t time_ns);

/* Frames are further out of order than was known. */
void
roce_reorder_extend(roce_reorder *reorder, uint64_t horizon_ns);

/* Copies a frame that belongs at `key_ns`, and hands on those whose time has come.
 * ROCE_ERROR_MEMORY: the frame was not taken, and those that wait still do. */
int
roce_reorder_push(roce_reorder *reorder, const roce_frame *frame, uint64_t key_ns);

/* Puts a copy of `frame` in the place and time of the frame `number` of its point, which
 * goes to `left_out` in its stead.  False: that waits no more, or there is no memory. */
bool
roce_reorder_replace(roce_reorder *reorder, uint64_t number, const roce_frame *frame,
                     roce_frame_fn left_out, void *ctx);

/* Hands on all that is left. */
void
roce_reorder_flush(roce_reorder *reorder);

ROCE_END

#endif
