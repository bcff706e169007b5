/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The short way of a packet: of a stream of which the packet with data before was like it,
 * and is the one before it in sequence.  It is recognised by its bytes, neither decoded nor
 * tracked by itself, and waits with others of its stream to be tracked as a train.
 *
 * The one rule: nothing comes out differently.  Before a packet is tracked by itself, all
 * cars are handed on that have to do with it; and a car has nothing to do with any but
 * those of its stream and of the one that answers it, see roce/train.h.
 */
#ifndef RS_TRAINS_H
#define RS_TRAINS_H

#include "blocks.h"
#include "glimpse.h"
#include "icrc_check.h"
#include "sight.h"
#include "window.h"

#include "roce/train.h"

#include <glib.h>

#define RS_TRAIN_CARS 16 /* at most */

typedef struct rs_trains rs_trains;

/* Where the cars of a stream wait. */
typedef struct rs_platform rs_platform;

/* Where some platforms are found. */
typedef struct rs_shelf rs_shelf;

/* Cars of a stream are handed on, at least one.  Where the train has its place in a window
 * is not said. */
typedef void (*rs_trains_take_fn)(gpointer ctx, const rs_train *train,
                                  const roce_car *cars);

/* `tracker`, `icrc`, which says what packets are checked and counts what was passed over,
 * and `faces`, by stream, of which those that are wanted are made, are to outlive the
 * trains. */
rs_trains *
rs_trains_new(roce_tracker *tracker, rs_icrc_check *icrc, rs_blocks *faces,
              rs_trains_take_fn take, gpointer ctx);

/* What has not been handed on is forgotten.  NULL is fine. */
void
rs_trains_free(rs_trains *trains);

/* What platforms are known by: the roce_mould_hash() of a frame, and the point where it was
 * captured. */
guint32
rs_trains_key(guint32 hash, guint32 point);

/* Where those of a key stand, which will be asked for soon; see approach.h. */
const rs_shelf *
rs_trains_approach_shelf(const rs_trains *trains, guint32 key);

/* At which platform a frame of that key may wait; NULL: at none.  A guess, which costs
 * little. */
rs_platform *
rs_trains_guess(const rs_shelf *shelf, guint32 key);

/* A platform that was guessed will be asked for soon.  NULL is fine. */
void
rs_trains_approach(const rs_platform *platform);

/* The same, once the platform has come near. */
void
rs_trains_approach_car(const rs_trains *trains, const rs_platform *platform);

/* The same where its cars are to be handed on before the next one boards: whether they are;
 * and once what that asked for has come near. */
gboolean
rs_trains_approach_full(const rs_trains *trains, const rs_platform *platform);
void
rs_trains_approach_train(const rs_trains *trains, const rs_platform *platform);

/* Way will be made soon for a packet of this stream. */
void
rs_trains_approach_way(const rs_trains *trains, guint32 stream);

/* The car that the frame has become at the platform that was guessed, until the next call;
 * NULL: it has become none. */
const roce_car *
rs_trains_board(rs_trains *trains, rs_platform *platform, const roce_frame *frame);

/* What is seen of the car that boarded last, behind so many slots of a window. */
void
rs_trains_glimpse(const rs_platform *platform, const roce_car *car, guint16 behind,
                  rs_glimpse *glimpse);
void
rs_trains_glance(const rs_platform *platform, const roce_car *car, rs_glance *glance);
void
rs_trains_identify(const rs_platform *platform, const roce_frame *frame,
                   const roce_car *car, roce_wire_identity *identity);

/* A packet is tracked next, by itself.  Hands on what has to do with it: with one of no
 * stream, nothing has.  The packet's stream; ROCE_NO_STREAM if it has none yet, or nobody
 * had to look for it. */
guint32
rs_trains_make_way(rs_trains *trains, const roce_frame *frame,
                   const roce_packet *packet);

/* It has been, and may be the first of a train.  Whether it stands beside one, which goes
 * on behind it: an acknowledgement that its stream carries among its data, or a READ among
 * READ responses. */
gboolean
rs_trains_follow(rs_trains *trains, const roce_frame *frame, const rs_sight *sight);

/* Hands on all cars. */
void
rs_trains_clear(rs_trains *trains);

/* The same, and no train goes on: each begins anew. */
void
rs_trains_end(rs_trains *trains);

#endif
