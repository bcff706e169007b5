/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "progress.h"

#include "format.h"

#include <stdio.h>
#include <unistd.h>

#define FIRST_US G_USEC_PER_SEC
#define EVERY_US (G_USEC_PER_SEC / 5)

struct rs_progress {
    gboolean on, shown;
    rs_progress_sink sink; /* NULL: the terminal */
    void *sink_ctx;
    gint64 start_us, last_us;
};

rs_progress *
rs_progress_new(gboolean quiet)
{
    rs_progress *progress = g_new0(rs_progress, 1);
    progress->on = !quiet && isatty(STDERR_FILENO);
    progress->start_us = g_get_monotonic_time();
    return progress;
}

rs_progress *
rs_progress_new_telling(rs_progress_sink sink, void *ctx)
{
    rs_progress *progress = g_new0(rs_progress, 1);
    progress->on = TRUE;
    progress->sink = sink;
    progress->sink_ctx = ctx;
    return progress;
}

void
rs_progress_free(rs_progress *progress)
{
    if (progress == NULL) {
        return;
    }
    if (progress->shown) {
        fputs("\r\033[K", stderr);
    }
    g_free(progress);
}

static void
show_on_terminal(rs_progress *progress, guint64 position, guint64 total,
                 guint64 packets)
{
    gint64 now = progress->last_us;
    progress->shown = TRUE;
    g_autofree char *done = rs_format_bytes(position);
    double seconds = (double)(now - progress->start_us) / G_USEC_PER_SEC;
    if (total > 0 && position <= total) {
        double left =
            position > 0 ? seconds * (double)(total - position) / (double)position : 0;
        fprintf(stderr,
                "\r\033[K%3.0f %%  %s  %" G_GUINT64_FORMAT " packets  %.0f s left",
                100.0 * (double)position / (double)total, done, packets, left);
    } else {
        fprintf(stderr, "\r\033[K%s  %" G_GUINT64_FORMAT " packets", done, packets);
    }
    (void)fflush(stderr);
}

void
rs_progress_show(rs_progress *progress, guint64 position, guint64 total,
                 guint64 packets)
{
    if (!progress->on) {
        return;
    }
    gint64 now = g_get_monotonic_time();
    if (now - progress->start_us < FIRST_US || now - progress->last_us < EVERY_US) {
        return;
    }
    progress->last_us = now;
    if (progress->sink != NULL) {
        progress->sink(progress->sink_ctx, position);
    } else {
        show_on_terminal(progress, position, total, packets);
    }
}
