/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What else is on the wire: flows that are not RoCE, classified by nDPI.
 *
 * The one rule: the flow table is bounded; packets of flows beyond it are counted as
 * unclassified, never dropped in silence.  Without nDPI nothing is classified at all.
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

/* Version of the nDPI that is linked, or NULL. */
const char *
rs_background_ndpi_version(void);

#endif
