/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two stages of an analysis: the first reads, decodes and tracks packets, and fills
 * windows with them; the second tells those windows to the watchers.
 *
 * With one thread a window is told as soon as it is handed on.  With more, others tell it
 * while the first stage fills the next ones.  Each stage takes packets one by one and in
 * their order, whatever the number of threads: watchers see the same, and so the reports
 * are the same bytes.
 *
 * Sharing packets out by their pair of addresses would keep more processors busy, but too
 * much is known beyond pairs: what a point itself misses, who paces CNPs, pauses, incast,
 * the rhythm of collectives.  Captures for which many processors are wanted come in many
 * files, and those are what a batch shares out.
 *
 * The one rule: what a window does not carry is not read by the second stage, but for what
 * never changes, unless the stages have been brought together.
 */
#ifndef RS_STAGES_H
#define RS_STAGES_H

#include "watchers.h"
#include "window.h"

#include <glib.h>

#define RS_STAGES_TELLERS 2 /* threads of the second stage, at most */

typedef struct rs_stages rs_stages;

/* Tells a window to some of the watchers. */
typedef void (*rs_stages_tell)(gpointer ctx, rs_watch_parts parts,
                               const rs_window *window);

/* `n_threads`, at least 1, counts the caller's; more than there is work for, or than the
 * system has left, are not started. */
rs_stages *
rs_stages_new(guint n_threads, rs_stages_tell tell, gpointer ctx);

/* Of what has not been handed on nothing is told.  NULL is fine. */
void
rs_stages_free(rs_stages *stages);

/* The window that is to be filled. */
rs_window *
rs_stages_window(rs_stages *stages);

/* Room in it for packets of one batch that are decoded next; what was filled is handed on
 * if that needs be.  At most RS_WINDOW_PACKETS. */
roce_packet *
rs_stages_packets(rs_stages *stages, guint n);

/* Closes that window, if there is anything in it, and hands it on. */
void
rs_stages_hand_on(rs_stages *stages);

/* The same, and returns when all has been told: watchers are the caller's. */
void
rs_stages_meet(rs_stages *stages);

/* The same, and for a while windows are told where they are filled, as if there were one
 * thread: where stages meet often, handing on takes longer than telling. */
void
rs_stages_stay(rs_stages *stages);

#endif
