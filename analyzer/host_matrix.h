/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who sends to whom: streams summed up by their two hosts.
 *
 * The one rule: each packet counts once, as in the totals: sums over all cells are theirs,
 * where all hosts have a place.  Of very many hosts, those with most traffic have a place.
 */
#ifndef RS_HOST_MATRIX_H
#define RS_HOST_MATRIX_H

#include "summary.h"
#include "tenant_addr.h"

#include <glib.h>

#define RS_MATRIX_HOSTS 64

/* What one host sent to another. */
typedef struct rs_matrix_cell {
    guint src, dst; /* numbers of hosts */
    guint64 packets, payload_bytes;
    guint64 data, ce; /* data packets, and those with CE among them */
    guint64 lost, retransmissions;
    guint64 cnps; /* that its data caused; of streams whose other direction is known */
    gboolean cnps_known;
} rs_matrix_cell;

typedef struct rs_host_matrix {
    GArray *hosts;       /* rs_tenant_addr, in the order of their addresses */
    GArray *cells;       /* rs_matrix_cell, by src and dst; none without packets */
    guint hosts_omitted; /* beyond RS_MATRIX_HOSTS */
    gboolean several_tenants;
} rs_host_matrix;

rs_host_matrix *
rs_host_matrix_new(const rs_analysis *analysis, const rs_summary *summary);

void
rs_host_matrix_free(rs_host_matrix *matrix);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_host_matrix, rs_host_matrix_free)

#endif
