/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Progress on a terminal, for work that takes longer than a second.
 *
 * The one rule: it writes to standard error, only if that is a terminal, and leaves the
 * line empty behind it.
 */
#ifndef RS_PROGRESS_H
#define RS_PROGRESS_H

#include <glib.h>

typedef struct rs_progress rs_progress;

/* Is told, now and then, how many bytes of the files have been read. */
typedef void (*rs_progress_sink)(void *ctx, guint64 position);

rs_progress *
rs_progress_new(gboolean quiet);

/* Progress that a sink is told of, and no terminal. */
rs_progress *
rs_progress_new_telling(rs_progress_sink sink, void *ctx);

void
rs_progress_free(rs_progress *progress);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_progress, rs_progress_free)

/* `total` is 0 when it is not known. */
void
rs_progress_show(rs_progress *progress, guint64 position, guint64 total,
                 guint64 packets);

#endif
