/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What else is on the wire: flows that are not RoCE, classified by nDPI.
 *
 * The one rule: the flow table is bounded; packets of flows beyond it are counted as
 * unclassified, never dropped in silence.  A flow that several points saw counts at that
 * which saw most of it.  Without nDPI nothing is classified at all.
 */
#ifndef RS_BACKGROUND_H
#define RS_BACKGROUND_H

#include "sight.h"

#include <glib.h>

typedef struct rs_background rs_background;

/* One protocol of the background. */
typedef struct rs_background_row {
    char *protocol;
    char *category;
    guint64 flows, packets, bytes;
    guint64 by_priority[8]; /* packets; see rs_priority_of() */
} rs_background_row;

/* A flow, as far as it rides in some priorities. */
typedef struct rs_background_flow {
    const char *protocol; /* as nDPI calls it */
    guint8 ip_protocol;
    roce_addr addr[2];
    guint16 port[2]; /* 0: it has none */
    guint64 packets, bytes;
    guint64 first_frame;
} rs_background_flow;

/* What rides in some priorities, of all that is not RoCE. */
typedef struct rs_background_share {
    guint64 packets, bytes; /* of flows that are known, and of others */
    guint64 n_flows;
    GArray *flows; /* rs_background_flow, most bytes first, the first of them */
} rs_background_share;

/* Builds nDPI's tables, which takes longer than reading a short capture, before anybody asks:
 * for the first analysis of this process, and of each that is forked from it.  Where memory
 * is short it does nothing. */
void
rs_background_prepare(void);

/* NULL when built without nDPI; every function here takes that. */
rs_background *
rs_background_new(void);

void
rs_background_free(rs_background *background);

/* Takes what is not RoCE; other packets are not looked at. */
void
rs_background_packet(rs_background *background, const rs_sight *sight);

/* Classifies what is left; rows are there afterwards. */
void
rs_background_finish(rs_background *background);

guint
rs_background_n_rows(const rs_background *background);

/* Most bytes first. */
const rs_background_row *
rs_background_row_at(const rs_background *background, guint i);

/* What rides in `priorities` (bit n is priority n), with no more than `max_flows` flows.
 * Frames that are not IP play no part: LLDP and the like have no priority. */
void
rs_background_share_of(const rs_background *background, guint8 priorities,
                       guint max_flows, rs_background_share *share);

void
rs_background_share_clear(rs_background_share *share);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(rs_background_share, rs_background_share_clear)

/* Version of the nDPI that is linked, or NULL. */
const char *
rs_background_ndpi_version(void);

#endif
