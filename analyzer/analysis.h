/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One logical capture, read and tracked: what the reports are made of.
 *
 * The one rule: reading stops at what is damaged, and everything before it counts.  An
 * analysis can always be reported, whatever became of its files.
 */
#ifndef RS_ANALYSIS_H
#define RS_ANALYSIS_H

#include "options.h"

#include "roce/tracker.h"

#include <glib.h>

typedef struct rs_twins rs_twins;
typedef struct rs_background rs_background;

/* A file of the capture, as far as it could be read. */
typedef struct rs_file {
    char *path;
    const char *format; /* NULL when it could not even be opened */
    guint64 packets;
    guint64 bytes;     /* captured */
    gint64 damaged_at; /* byte, or -1 */
    char *error;       /* one line, or NULL */
} rs_file;

/* A capture point.  Rotated files share theirs. */
typedef struct rs_point {
    guint id;
    guint file_i;
    char *interface; /* NULL: unnamed */
    int link_type;
    roce_link link;
    guint64 speed_bps; /* 0 unknown */
    gboolean speed_from_user;
    guint64 packets;
    guint64 dropped;
    gboolean dropped_known;
    guint64 first_ns, last_ns, newest_ns;
    guint64 steps_back, largest_step_ns;
} rs_point;

/* What a finding can point at: the first frames of one kind of event of one stream. */
#define RS_EVIDENCE_FRAMES 10
typedef struct rs_evidence {
    guint64 frames[RS_EVIDENCE_FRAMES];
    guint n;
    gboolean more; /* there were others */
} rs_evidence;

typedef struct rs_analysis {
    const rs_options *options;
    GPtrArray *files;  /* rs_file */
    GPtrArray *points; /* rs_point */
    roce_tracker *tracker;
    guint64 packets, bytes;
    guint64 first_ns, last_ns; /* least and greatest stamp; 0 without packets */
    guint64 resolution_ns;
    guint64 steps_back;
    guint64 snaplen_truncated;
    guint64 filtered_out;
    GArray *events; /* roce_event, the first options->max_events */
    guint64 event_totals[ROCE_N_EVENTS];
    GHashTable *evidence;      /* see rs_analysis_evidence */
    rs_twins *twins;           /* NULL with a single point */
    rs_background *background; /* NULL without nDPI */
    gboolean overlapping;      /* a file begins before the one before it ends */
    gboolean interrupted;
    gboolean incomplete; /* an input could not be read in full */
} rs_analysis;

/* Kinds of evidence: an event kind with its detail, as findings need them. */
#define RS_EVIDENCE_KIND(kind, detail) ((guint)(kind) << 8 | (guint)(detail))

/* Reads all files of `options` and decides what is left open.  Fails only for a filter
 * that does not compile and for lack of memory. */
rs_analysis *
rs_analysis_run(const rs_options *options, GError **error);

void
rs_analysis_free(rs_analysis *analysis);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_analysis, rs_analysis_free)

/* The first frames of that kind on a stream (or ROCE_NO_STREAM); NULL when none. */
const rs_evidence *
rs_analysis_evidence(const rs_analysis *analysis, guint32 stream, guint kind);

const rs_point *
rs_analysis_point(const rs_analysis *analysis, guint32 point);

/* Asks a running analysis to stop and report; safe in a signal handler. */
void
rs_analysis_interrupt(void);

#endif
