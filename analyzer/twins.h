/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The same packet at several capture points.
 *
 * The one rule: two packets are twins if their wire identity is the same.  The table is
 * bounded: a twin that comes after very many other packets is not known.
 */
#ifndef RS_TWINS_H
#define RS_TWINS_H

#include "roce/wire_identity.h"

#include <glib.h>

typedef struct rs_twins rs_twins;

rs_twins *
rs_twins_new(void);

/* Packets went by that were not noted. */
void
rs_twins_miss(rs_twins *twins);

void
rs_twins_free(rs_twins *twins);

/* Notes a RoCE packet of a stream.  TRUE if its twin was seen at another point before.
 */
gboolean
rs_twins_add(rs_twins *twins, guint point, const roce_wire_identity *identity,
             guint32 stream);

/* Decides on what is still in the table. */
void
rs_twins_finish(rs_twins *twins);

/* Packets that were seen at more than one point, counted once per further point. */
guint64
rs_twins_count(const rs_twins *twins);

/* Whether every packet was remembered to the end, so that "at no other point" holds. */
gboolean
rs_twins_complete(const rs_twins *twins);

/* Packets of a stream that were seen at its point and at no other; if complete. */
guint64
rs_twins_only_here(const rs_twins *twins, guint32 stream);

#endif
