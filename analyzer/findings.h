/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings: what the numbers say, ranked, each with its evidence.
 *
 * The one rule: a finding claims no more than its counters prove, and names the frames
 * and the Wireshark filter that show it.  Kinds of findings are rows of the tables in
 * findings_stream.c and findings_capture.c.
 */
#ifndef RS_FINDINGS_H
#define RS_FINDINGS_H

#include "analysis.h"
#include "summary.h"

#include <glib.h>

typedef struct rs_finding {
    char *id; /* kind, and the ends it is about: "rnr:10.0.0.1>10.0.0.2" */
    rs_severity severity;
    char *title, *detail, *advice;
    GArray *streams;      /* guint32 */
    GArray *frames;       /* guint64, ascending; the first of them */
    gboolean more_frames; /* there are others */
    char *filter;         /* for Wireshark; "" when there is nothing to show */
    guint rank;           /* of its kind: losses stand before marks; lower is worse */
    guint64 weight;       /* how many packets it is about: ranks within a kind */
} rs_finding;

/* All findings, worst first; elements are rs_finding. */
GPtrArray *
rs_findings_new(const rs_analysis *analysis, const rs_summary *summary);

gboolean
rs_findings_reach(const GPtrArray *findings, rs_severity severity);

/* ---- For the tables ---- */

typedef struct rs_findings {
    const rs_analysis *analysis;
    const rs_summary *summary;
    GPtrArray *list;
} rs_findings;

/* The streams from one address to another that a finding is about. */
typedef struct rs_flow {
    const rs_findings *all;
    roce_addr src, dst;
    GArray *streams;    /* guint32 */
    rs_counters sum;    /* over them */
    guint64 n;          /* what the row measured, summed */
    gboolean congested; /* CE, CNP, loss or pause between these hosts */
} rs_flow;

typedef struct rs_stream_row {
    const char *kind;
    /* How much of it the stream has; 0: nothing to find. */
    guint64 (*measure)(const roce_stream *stream);
    /* Decides on severity and writes title, detail and advice; FALSE: no finding. */
    gboolean (*write)(const rs_flow *flow, rs_finding *finding);
    /* RS_EVIDENCE_KINDs whose frames show it, 0 at the end. */
    guint evidence[5];
} rs_stream_row;

/* A finding to be filled in; belongs to the list. */
rs_finding *
rs_finding_add(rs_findings *all, const char *kind, rs_severity severity);

/* Adds the frames that were kept for a stream. */
void
rs_finding_add_frames(const rs_findings *all, rs_finding *finding, guint32 stream,
                      guint kind);

/* Name or address of a host, safe for a terminal; g_free(). */
char *
rs_findings_label(const rs_findings *all, const roce_addr *addr);

/* "ip.src == 10.0.0.1 && ip.dst == 10.0.0.2 && infiniband.bth.destqp == 0x11" */
char *
rs_filter_of_stream(const roce_stream *stream);

void
rs_findings_of_streams(rs_findings *all);

void
rs_findings_of_capture(rs_findings *all);

#endif
