/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Captures of a batch: the files found, with rotated sets brought together.
 *
 * The one rule: files whose names alone make a set of them are read through, in workers,
 * before anything is said of them; what cannot be read belongs to no set.
 */
#ifndef RS_BATCH_SETS_H
#define RS_BATCH_SETS_H

#include "batch_inputs.h"
#include "batch_progress.h"
#include "batch_work.h"
#include "workers.h"

#include <glib.h>

/* Captures (rs_batch_capture) of `files` (rs_batch_file, sorted, and kept by the caller) by
 * their names, which `label` (NULL: none) stands before; NULL: interrupted. */
GPtrArray *
rs_batch_sets_find(const GPtrArray *files, const char *label,
                   const rs_workers_limits *limits, rs_batch_progress *progress);

#endif
