/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that one or several points of a comparison are in, and its clock.
 *
 * The path has a clock of its own; each file's differs from it by an offset, which is
 * found where files have packets in common and followed from then on: it is the median
 * of the newest differences, so that drift and steps are followed and no single packet
 * counts.  It only has to be good enough to read files side by side; what reports say of
 * clocks is made by clock_match.h.
 *
 * The one rule: what a stamp says is never believed beyond a second.  A clock that steps
 * back, or ahead by more than a day, goes on where it was; one that seems ahead is read a
 * little further, to see whether it was set.
 */
#ifndef RS_COMPARE_SOURCE_H
#define RS_COMPARE_SOURCE_H

#include "path_ways.h"
#include "reader.h"

#include <glib.h>

#define RS_SOURCE_DIFFERENCES 33
#define RS_SOURCE_AHEAD_NS 1000000000
#define RS_SOURCE_CREDIT 1024

typedef struct rs_compare_source {
    char *path;
    rs_reader *reader; /* NULL: it could not be opened, or it has ended */
    gboolean ended;
    const char *format; /* NULL when it could not be opened */
    guint64 packets, bytes;
    guint64 resolution_ns;
    gint64 damaged_at; /* byte, or -1 */
    char *error;       /* one line, or NULL */

    gint64 offset_ns; /* its clock minus the path's */
    gboolean aligned; /* that was found, not taken for 0 */
    guint parent;     /* source that it is compared with; its own number: none */
    guint64 newest_stamp_ns;
    gint64 first_at_ns, now_ns; /* on the path's clock */
    gint64 differences[RS_SOURCE_DIFFERENCES];
    rs_both_ways ways;
    guint n_differences; /* in all, since the clock was last known wrong */
    guint jumps;         /* of its stamps that were not believed */
    guint credit;        /* frames to be read although it is ahead */
} rs_compare_source;

rs_compare_source *
rs_compare_source_new(const char *path);

void
rs_compare_source_free(rs_compare_source *source);

/* (Re)opens the file; what is wrong with it is told by rs_compare_source_next(). */
void
rs_compare_source_open(rs_compare_source *source);

/* The next frame, with its number; FALSE at the end, whatever the reason: the reader
 * stays until rs_compare_source_close(). */
gboolean
rs_compare_source_next(rs_compare_source *source, rs_record *record);

void
rs_compare_source_close(rs_compare_source *source);

/* Whether its stamps say anything of times; once it is closed. */
gboolean
rs_compare_source_has_stamps(const rs_compare_source *source);

/* Sets the offset; stamps from now on go by it. */
void
rs_compare_source_set_offset(rs_compare_source *source, gint64 offset_ns);

/* Takes a difference to the parent's stamp, of a packet that goes this way; TRUE:
 * `median_ns` is a new median of the newest ones. */
gboolean
rs_compare_source_compare(rs_compare_source *source, rs_way way, gint64 difference_ns,
                          gint64 *median_ns);

#endif
