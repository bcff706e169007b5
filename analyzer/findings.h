/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings: what the numbers say, ranked, each with its evidence.
 *
 * The one rule: a finding claims no more than its numbers prove, and names the frames that
 * show it and a Wireshark filter that shows exactly those.  Kinds of findings are rows of
 * the table in findings_table.c, and nothing is found that is no row there.
 */
#ifndef RS_FINDINGS_H
#define RS_FINDINGS_H

#include "analysis.h"
#include "summary.h"

#include <glib.h>
#include <stdio.h>

typedef struct rs_findings rs_findings;
typedef struct rs_flow_row rs_flow_row;

/* A value that decides on a finding or on its severity; the macros are in thresholds.h. */
typedef struct rs_threshold {
    const char *name; /* NULL ends a list */
    guint64 value;
    const char *unit;
} rs_threshold;

/* Where an operator looks, on one kind of device. */
typedef struct rs_look {
    const char *system; /* "mlx5", "SONiC", "NX-OS", "Linux"; NULL ends a list */
    const char *what;   /* a command that shows it, or a counter */
} rs_look;

/* What a finding rests on: it is withheld where an extract left packets out between others
 * that it needs, and holds where it is what frames say by themselves. */
typedef enum rs_finding_basis {
    RS_NEEDS_ALL_PACKETS,
    RS_FRAMES_SUFFICE,
} rs_finding_basis;

#define RS_THRESHOLDS 6

/* A kind of finding. */
typedef struct rs_finding_row {
    const char *id;
    rs_severity worst; /* that it can have */
    const char *title; /* in general, without numbers */
    const char *rule;  /* when it is found, and how severe it is when */
    rs_threshold thresholds[RS_THRESHOLDS];
    const char *meaning;
    const char *advice;
    const char *evidence; /* which frames it names */
    rs_finding_basis basis;
    const rs_look *look; /* NULL: nowhere in particular */
    /* Adds to `all` what there is of this row. */
    void (*find)(rs_findings *all, const struct rs_finding_row *row);
    const rs_flow_row *flow; /* of a row about streams, for rs_find_flows() */
} rs_finding_row;

/* The table, in the order in which findings of the same severity are ranked: causes before
 * what comes of them. */
extern const rs_finding_row rs_finding_rows[];
extern const guint rs_n_finding_rows;

/* What a finding has of one file. */
typedef struct rs_finding_file {
    guint file_i;
    const rs_file *file;
    char *name;     /* rs_file_name() */
    GArray *frames; /* guint64, ascending: the file's own numbers of its `frames` */
    char *filter;   /* for Wireshark: exactly these */
} rs_finding_file;

/* Something that was found. */
typedef struct rs_finding {
    const rs_finding_row *row;
    char *id; /* of its kind, and what it is about: "rnr:10.0.0.1>10.0.0.2"; unique */
    char *place; /* is added where another one would have the same id, or NULL */
    rs_severity severity;
    char *title, *detail;
    char *advice;         /* NULL while it is what the row says */
    const rs_look *look;  /* what the row says, or NULL: nowhere in particular */
    GArray *streams;      /* guint32 */
    GArray *frames;       /* guint64, ascending; the first of them.  Empty if there are
                           * several files, whose frames `files` has */
    GPtrArray *files;     /* rs_finding_file, in the order given: where they stand */
    gboolean more_frames; /* there are others */
    GArray *shown_by; /* guint64, ascending: all frames that were kept of it, also where
                           * it can name none since there are several files */
    gboolean not_all_kept; /* of these frames */
    GArray *kinds;    /* guint: RS_EVIDENCE_KIND of events of its streams; their frames
                           * show it, too */
    char *filter;     /* for Wireshark: exactly `frames`; "": nothing to show */
    char *filter_all; /* with the plugin: those and the others, or NULL */
    GPtrArray *filters; /* char *: that it is made of */
    guint64 weight;     /* how many packets it is about: ranks within a kind */
} rs_finding;

/* All findings, worst first; elements are rs_finding. */
GPtrArray *
rs_findings_new(const rs_analysis *analysis, const rs_summary *summary);

/* What to do about it. */
static inline const char *
rs_finding_advice(const rs_finding *finding)
{
    return finding->advice != NULL ? finding->advice : finding->row->advice;
}

/* With what `rocescope extract` writes its packets: "--finding='…'", quoted for a shell, for
 * the caller to free; NULL if there are none to write. */
char *
rs_finding_extraction(const rs_finding *finding);

gboolean
rs_findings_reach(const GPtrArray *findings, rs_severity severity);

/* The table as Markdown: docs/findings.md. */
void
rs_findings_print_table(FILE *out);

#endif
