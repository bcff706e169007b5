/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Times in which several queue pairs stood still at once: what each of them sent went
 * unanswered, and so did what its timer repeated.
 *
 * The one rule: a packet may be lost by chance, and so may the tails of some bursts at once;
 * that the repeat of each is lost as well is an outage of what they have in common.  So
 * RS_OUTAGE_QUEUE_PAIRS of them have to have repeated in vain, in the same time, and one at
 * least went on: where none does, somebody is gone, of which timeouts tell.
 */
#ifndef RS_OUTAGES_H
#define RS_OUTAGES_H

#include "analysis.h"
#include "stalls.h"
#include "summary.h"

#include <glib.h>

typedef struct rs_outage {
    guint64 from_ns;        /* the first copy that nothing answered was sent */
    guint64 tried_ns;       /* the newest copy that nothing answered */
    guint64 until_ns;       /* the last of them was sent again for the last time */
    GPtrArray *standstills; /* const rs_standstill: of each queue pair one */
    guint n_repeated;       /* of them have repeated in vain here; they come first */
    guint n_stopped;        /* of them gave up */
} rs_outage;

/* In the order of time; elements are rs_outage.  Streams of which packets are too long for their
 * way, by the numbers of their groups, are of none. */
GPtrArray *
rs_outages_new(const rs_analysis *analysis, const rs_summary *summary,
               GHashTable *too_long);

/* What a stream has of the standstills that fall into them. */
typedef struct rs_outage_share {
    guint64 rounds;
    guint64 losses[ROCE_N_VERDICTS];
} rs_outage_share;

/* By stream, of those that have any; g_hash_table_unref(). */
GHashTable *
rs_outages_shares(const rs_analysis *analysis, const GPtrArray *outages);

#endif
