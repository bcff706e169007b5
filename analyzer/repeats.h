/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Second copies from a mirror that delivers every packet twice.
 *
 * The one rule: copies are paired off.  The first of a pair counts and the second does
 * not, so that a packet that the network made twice, and the mirror four times, is still
 * seen twice.
 */
#ifndef RS_REPEATS_H
#define RS_REPEATS_H

#include "roce/wire_identity.h"

#include <glib.h>

typedef struct rs_repeats rs_repeats;

rs_repeats *
rs_repeats_new(void);

/* NULL is fine. */
void
rs_repeats_free(rs_repeats *repeats);

/* Whether this is the second of a pair of copies at `point`, within that time.  The
 * table is bounded: a second copy far behind its first is not known. */
gboolean
rs_repeats_is_second(rs_repeats *repeats, guint point,
                     const roce_wire_identity *identity, guint64 time_ns,
                     guint64 within_ns);

#endif
