/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Captures handed to workers, and what became of them.
 *
 * The one rule: when a run has ended, every capture that it was not interrupted in has a
 * part.
 */
#ifndef RS_BATCH_RUN_H
#define RS_BATCH_RUN_H

#include "batch_progress.h"
#include "batch_work.h"
#include "workers.h"

#include <glib.h>
#include <jansson.h>

/* What became of a capture. */
typedef struct rs_batch_result {
    gboolean ended; /* FALSE: interrupted before; the rest is 0 then */
    rs_batch_status status;
    rs_severity worst; /* valid if there is a finding */
    gboolean has_finding;
    gboolean has_report;
    gboolean reused;  /* it was done before */
    gboolean earlier; /* likewise, by a batch that this one adds to: it is not ours */
} rs_batch_result;

/* What the head of a part says became of its capture. */
rs_batch_result
rs_batch_result_of(const json_t *head);

/* Runs them all; results by the capture's number, g_free(). */
rs_batch_result *
rs_batch_run(const rs_batch_task *task, const GPtrArray *captures,
             const rs_workers_limits *limits, rs_batch_progress *progress);

#endif
