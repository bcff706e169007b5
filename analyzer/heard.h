/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The edges in which a rhythm is looked for.
 *
 * The one rule: what one host sends another is heard once, however many points saw it, and
 * all that is heard is stamped by one clock.  So it is heard at the point that saw most data;
 * what that does not see, as one tap of many does not, at another point of its file.
 */
#ifndef RS_HEARD_H
#define RS_HEARD_H

#include "edges.h"

#include <glib.h>

/* By edge, whether it is one of this point; g_free(). */
gboolean *
rs_heard_at(const rs_edges *edges, guint32 point);

/* Where hosts are seen to receive: by point and node, see keys.h; the caller's. */
GHashTable *
rs_heard_receiving(const rs_edges *edges);

/* Whether an edge is better seen than the same one at another point: where one also sees what
 * its sender receives; then, where one sees more of it. */
gboolean
rs_heard_better(GHashTable *receiving, const rs_edge *edge, const rs_edge *than);

/* Adds what other points saw between hosts of which those in `heard` have nothing: each at the
 * point that also sees what its sender receives; of such, at the one that saw most of it.
 * `files` are guint32 by point.  FALSE: there is nothing to add. */
gboolean
rs_heard_beside(const rs_edges *edges, guint32 point, const GArray *files,
                gboolean *heard);

#endif
