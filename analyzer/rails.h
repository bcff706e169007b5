/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much RoCE traffic stays within a rail and how much crosses rails, as --hosts names
 * them.
 *
 * The one rule: rails are compared by their names, and only where both ends have one.
 * Traffic between ports of one host crosses nothing.
 */
#ifndef RS_RAILS_H
#define RS_RAILS_H

#include "summary.h"

#include <glib.h>

typedef struct rs_rail_crossing {
    const rs_host *src, *dst; /* of the hosts; rails differ */
    guint64 packets, bytes;   /* bytes on the wire */
    GArray *streams;          /* guint32 */
} rs_rail_crossing;

typedef struct rs_rails {
    gboolean known; /* some stream has rails at both ends */
    guint64 within_bytes, across_bytes;
    guint64 within_host_bytes; /* between ports of one host */
    guint64 unknown_bytes;     /* an end has no rail */
    GPtrArray *crossings;      /* rs_rail_crossing, most bytes first */
} rs_rails;

rs_rails *
rs_rails_new(const rs_analysis *analysis, const rs_summary *summary);

void
rs_rails_free(rs_rails *rails);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_rails, rs_rails_free)

#endif
