/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Streams put together by who sends to whom, for findings that are told once of each pair
 * of hosts.
 *
 * The one rule: pairs stand in the order of their first streams, and so do the streams of
 * each, so that the same capture gives the same findings.
 */
#ifndef RS_PAIRS_H
#define RS_PAIRS_H

#include "findings_parts.h"

typedef struct rs_pair {
    roce_tenant tenant;
    roce_addr src, dst;
    GArray *streams; /* guint32, at least one */
} rs_pair;

/* Whether a stream has what the pairs are made for. */
typedef gboolean (*rs_pair_fn)(const rs_findings *all, const roce_stream *stream);

typedef enum rs_pair_points {
    RS_PAIRS_ONCE,       /* of what several points saw, the stream that stands for it */
    RS_PAIRS_AT_ANY,     /* likewise; another point's, if that has it and this not */
    RS_PAIRS_EVERYWHERE, /* each point's streams */
} rs_pair_points;

/* rs_pair of the streams that have it. */
GPtrArray *
rs_pairs_of(const rs_findings *all, rs_pair_points points, rs_pair_fn has);

/* For hash tables with rs_pair keys: by their tenants and addresses. */
guint
rs_pair_hash(gconstpointer pair);
gboolean
rs_pair_equal(gconstpointer a, gconstpointer b);

/* "gpu01 to gpu02", with its tenant where there are several; g_free(). */
char *
rs_pair_label(const rs_findings *all, const rs_pair *pair);

/* Sets the second half of the id: "10.0.0.1>10.0.0.2". */
void
rs_pair_name(rs_finding *finding, const rs_pair *pair);

#endif
