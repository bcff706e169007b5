/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One logical capture, read and tracked: what the reports are made of.
 *
 * The one rule: reading stops at what is damaged, and everything before it counts.  An
 * analysis can always be reported, whatever became of its files.
 */
#ifndef RS_ANALYSIS_H
#define RS_ANALYSIS_H

#include "approach.h"
#include "blocks.h"
#include "evidence.h"
#include "file_frames.h"
#include "frames.h"
#include "icrc_check.h"
#include "members.h"
#include "options.h"
#include "points.h"
#include "told.h"
#include "watchers.h"

#include "roce/tracker.h"

#include <glib.h>

typedef struct rs_stages rs_stages;
typedef struct rs_twins rs_twins;

/* Somebody who looks on beside the watchers, and keeps what he wants himself. */
typedef struct rs_tap {
    void (*packet)(void *ctx, const rs_sight *sight);  /* as a watcher has it */
    void (*event)(void *ctx, const roce_event *event); /* likewise */
    void (*left_out)(void *ctx,
                     const roce_frame *frame); /* a second copy of a mirror */
    void *ctx;
} rs_tap;

/* A file of the capture, as far as it could be read. */
typedef struct rs_file {
    char *path;
    const char *format; /* NULL when it could not even be opened */
    guint64 packets;
    guint64 bytes;        /* captured */
    gint64 damaged_at;    /* byte, or -1 */
    gboolean read_failed; /* by the system, which may be of the moment */
    char *error;          /* one line, or NULL; without damage: nothing was decoded */
    gboolean has_gaps;    /* rs_reader_has_gaps() */
} rs_file;

/* What one thread writes with each packet is not beside what another reads: a line of
 * memory would go to and fro between processors. */
typedef struct rs_analysis {
    const rs_options *options;
    GPtrArray *files; /* rs_file */
    rs_points *points;
    rs_told *told; /* what the user told beside the captures */
    roce_tracker *tracker;
    rs_twins *twins;      /* NULL with a single point */
    const rs_tap *tap;    /* NULL: nobody, or nobody any more */
    rs_stages *stages;    /* NULL: what is told is told at once */
    gboolean overlapping; /* a file begins before another of its kind ends */
    gboolean interrupted;
    gboolean incomplete; /* an input could not be read in full */
    gboolean has_gaps;   /* of some file */

    /* Of who reads and tracks. */
    _Alignas(RS_CACHE_LINE_BYTES) guint64 packets;
    guint64 bytes;
    guint64 first_ns, last_ns; /* least and greatest stamp; 0 without packets */
    guint64 resolution_ns;     /* RS_NO_STAMPS_NS: nothing is known of times */
    const rs_point *still; /* since this one's clock stands still; NULL: none does */
    guint64 unstamped;     /* packets without a time of their own */
    guint64 steps_back;
    guint64 snaplen_truncated; /* packets that were cut, but for those cut by mirrors */
    guint64 sliced;            /* of them, before they were captured */
    guint64 filtered_out;
    guint64 capture_duplicates;
    rs_frames left_out;          /* these */
    rs_file_frames *file_frames; /* NULL with a single file, whose numbers are these */
    rs_icrc_check icrc;
    rs_members *members; /* of points that are taken together */
    rs_blocks faces; /* rs_face, by stream: of these who is told writes the elements */

    /* Of who is told. */
    _Alignas(RS_CACHE_LINE_BYTES) rs_watchers watchers;
    GArray *events; /* roce_event, the first options->max_events */
    guint64 event_totals[ROCE_N_EVENTS];
    rs_evidence_table *evidence;
} rs_analysis;

/* Reads all files of `options` and decides what is left open.  Fails only for a filter
 * that does not compile, names of hosts that nobody has, and for lack of memory. */
rs_analysis *
rs_analysis_run(const rs_options *options, GError **error);

/* The same; `tap` is used until it returns. */
rs_analysis *
rs_analysis_run_tapped(const rs_options *options, const rs_tap *tap, GError **error);

void
rs_analysis_free(rs_analysis *analysis);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_analysis, rs_analysis_free)

const rs_point *
rs_analysis_point(const rs_analysis *analysis, guint32 point);

/* Whether two points stand in one file, and so have one clock. */
gboolean
rs_analysis_share_file(const rs_analysis *analysis, guint32 point, guint32 other);

/* Whether every packet has a time stamp, of a clock that moves.  If not, nothing is known of
 * times. */
gboolean
rs_analysis_has_stamps(const rs_analysis *analysis);

/* Counts the stamp of a frame of that point, which has its number. */
void
rs_analysis_follow_time(rs_analysis *analysis, rs_point *point,
                        const roce_frame *frame);

/* Asks a running analysis to stop and report; safe in a signal handler. */
void
rs_analysis_interrupt(void);

/* Whether that was asked for. */
gboolean
rs_analysis_is_interrupted(void);

#endif
