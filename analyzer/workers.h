/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs in processes of their own, several at a time.
 *
 * A worker is a fork of this process that does one job and ends.  What it wants to tell
 * it writes as JSON objects, which arrive in their order.  A worker dies with its parent,
 * takes no signal of the terminal's, and offers itself first when the system runs out of
 * memory.
 *
 * The one rule: whatever becomes of a worker, its job is told to have ended, once, and no
 * other job knows of it.
 */
#ifndef RS_WORKERS_H
#define RS_WORKERS_H

#include <glib.h>
#include <jansson.h>

typedef struct rs_workers_limits {
    guint n_workers;      /* at a time, at least 1 */
    guint64 memory_bytes; /* of each, private to it; 0: no limit */
    guint timeout_s;      /* of each; 0: no limit */
} rs_workers_limits;

/* The way from a worker to its parent. */
typedef struct rs_worker_line rs_worker_line;

/* What there is to do.  `told` and `ended` are called in the parent, and `tick` there a few
 * times a second. */
typedef struct rs_workers_class {
    /* In the worker.  Streams of the parent that have something unwritten are its own. */
    void (*work)(void *ctx, guint job_i, rs_worker_line *parent);
    void (*told)(void *ctx, guint job_i, const json_t *message);
    /* `reason` is NULL if the worker came to its end, else one line: what ended it. */
    void (*ended)(void *ctx, guint job_i, const char *reason);
    void (*tick)(void *ctx);
} rs_workers_class;

/* Tells the parent; takes `message` over. */
void
rs_worker_tell(rs_worker_line *parent, json_t *message);

/* Does all jobs, beginning them in their order.  FALSE: interrupted; jobs that had not
 * ended by then were given up, and nothing is told of them. */
gboolean
rs_workers_run(const rs_workers_limits *limits, const rs_workers_class *class,
               void *ctx, guint n_jobs);

/* Interrupts a run, and every later one; safe in a signal handler. */
void
rs_workers_interrupt(void);

gboolean
rs_workers_interrupted(void);

/* Processors that this process may run on. */
guint
rs_workers_n_processors(void);

#endif
