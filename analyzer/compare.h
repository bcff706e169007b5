/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The same traffic at several points of one path: what each stretch of the path did to
 * it.
 *
 * How files are read whose clocks differ by nobody knows what:
 *
 *   1. The first packets of all of them are taken in; the differences of those that are
 *      the same lie close together, and give the offsets.
 *   2. If they have none in common, the files are gone through for a sample of their
 *      packets, chosen by their identity so that all files choose the same ones, and then
 *      read from the beginning.  Standard input cannot be.
 *   3. From then on the file whose clock is behind goes first.
 *
 * The one rule: memory does not depend on the size of the captures.
 */
#ifndef RS_COMPARE_H
#define RS_COMPARE_H

#include "compare_point.h"
#include "compare_source.h"
#include "path_match.h"

#include <glib.h>

/* From one point to its neighbour; what the way to the other shows is another segment. */
typedef struct rs_compare_segment {
    guint from, to; /* points */
    rs_way way;
    guint low; /* the lesser of both: number of clock and evidence */
    guint64 matched, weak;
    gboolean known; /* something is matched: nothing else holds without */
    /* It is, or all of it goes round `from`, from a point before it to `to`: what never
     * came by `to` is known then as well. */
    gboolean loss_known;
    guint64 lost;
    guint64 lost_resent; /* of those: sent again later */
    guint64 lost_round;  /* of those: of streams that do not pass `from` */
    guint64 undecidable; /* not seen at `to`, whose capture misses packets */
    guint64 ambiguous;
    guint64 marked, ecn_other, rewritten, corrupted, reordered, hops_rose;
    guint64 duplicated;
    guint64 duplicated_or_missed; /* copies more at `to`, if `from` missed others */
    guint64 missed_from, missed_to;
    guint64 outside;    /* seen while one of both captures was off */
    guint64 slipped;    /* out of the window */
    rs_clock_fit clock; /* of `to` against `from` */
    gboolean one_clock;
    rs_dist variation; /* count 0: none */
} rs_compare_segment;

typedef struct rs_compare {
    const rs_options *options;
    GPtrArray *points;  /* rs_compare_point, in the order of the path */
    GPtrArray *sources; /* rs_compare_source */
    guint source_of[RS_PATH_MAX_POINTS];
    rs_filter *filter;
    rs_path *path;
    GArray *segments; /* rs_compare_segment: forward in order, then backward */
    gboolean sampled; /* see 2. */
    gboolean incomplete, interrupted;
    guint64 missed[RS_PATH_MAX_POINTS]; /* by each capture, as others prove */
    /* Of what was sent again and not seen there, nearly all was lost in front of it. */
    gboolean hardly_misses[RS_PATH_MAX_POINTS][RS_N_WAYS];
    /* Likewise of what its receiver has not got: hardly any was lost behind it. */
    gboolean hardly_hides[RS_PATH_MAX_POINTS][RS_N_WAYS];
    guint64 compared_flows, compared_packets;
    guint64 alone_flows, alone_packets; /* that no other point saw */
    gint64 spread[64]; /* times between points, of the newest packets */
    guint n_spread;
} rs_compare;

/* Compares `given`, 2 to RS_PATH_MAX_POINTS of them.  NULL with `error` set for what the
 * command line cannot mean. */
rs_compare *
rs_compare_run(const rs_options *options, GStrv given, GError **error);

void
rs_compare_free(rs_compare *compare);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_compare, rs_compare_free)

rs_compare_point *
rs_compare_point_at(const rs_compare *compare, guint i);

rs_compare_source *
rs_compare_source_of(const rs_compare *compare, guint point);

/* Segment `i` of both directions; borrowed. */
static inline const rs_compare_segment *
rs_compare_segment_at(const rs_compare *compare, gsize i)
{
    return &g_array_index(compare->segments, rs_compare_segment, i);
}

/* What shows what happened on a segment. */
typedef struct rs_compare_evidence {
    rs_frames reordered, frames[RS_N_TRACES]; /* at `to` */
    guint64 rewrites[RS_PATH_DSCPS]
                    [RS_PATH_DSCPS]; /* packets, by DSCP before, behind */
} rs_compare_evidence;

void
rs_compare_evidence_of(const rs_compare *compare, const rs_compare_segment *segment,
                       rs_compare_evidence *evidence);

/* A flow's part of a segment; `known` is whether anything of it was matched there. */
void
rs_compare_flow_segment(const rs_compare *compare, const rs_flow *flow,
                        const rs_compare_segment *where, rs_compare_segment *part);

/* Losses that count as such, in the order of the points that saw them last and of the
 * frames there: rs_path_loss, at most `most`; free it. */
GPtrArray *
rs_compare_losses(const rs_compare *compare, const rs_compare_segment *segment,
                  guint most);

#endif
