/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mirrors whose copies come by an interface, known by the bytes around these, so that what
 * they carry can be taken out and go the short way (trains.h).
 *
 * The one rule: the bytes around a copy tell at which point it was made, as
 * rs_points_of() has it.  The table is bounded: of very many mirrors some are not known.
 */
#ifndef RS_MIRRORS_H
#define RS_MIRRORS_H

#include "roce/decode.h"

#include <glib.h>

typedef struct rs_mirrors rs_mirrors;

rs_mirrors *
rs_mirrors_new(void);

/* NULL is fine. */
void
rs_mirrors_free(rs_mirrors *mirrors);

/* Notes the mirror that a packet came in, if it came in one.  `frame->point` is its
 * point. */
void
rs_mirrors_note(rs_mirrors *mirrors, guint file_i, guint interface,
                const roce_frame *frame, const roce_packet *packet);

/* Whether any has been noted. */
gboolean
rs_mirrors_any(const rs_mirrors *mirrors);

/* Whether a frame came in one that was noted; then *inner is what it holds, as if it had
 * been captured where the copy was made, with that point. */
gboolean
rs_mirrors_open(const rs_mirrors *mirrors, guint file_i, guint interface,
                const roce_frame *frame, roce_frame *inner);

#endif
