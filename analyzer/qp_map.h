/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of queue pairs that the user gives (--qp-map): on the host with these addresses,
 * a local QPN talks to a remote one, and a process owns it.
 *
 * A table is the JSON that "rdma -j resource show qp" of iproute2 prints: an array of
 * objects, of which lqpn, rqpn, type, state, pid and comm are read.  Versions differ in
 * what else they print, and in how deep the array is nested.  Rows of queue pairs that
 * are not connected (UD, GSI, no rqpn, state RESET or INIT) say nothing.
 *
 * The one rule: a table is taken whole or not at all.
 */
#ifndef RS_QP_MAP_H
#define RS_QP_MAP_H

#include "roce/tracker.h"

#include <glib.h>

/* The tables of all hosts. */
typedef struct rs_qp_maps rs_qp_maps;

/* Who owns a queue pair.  Lives as long as the tables. */
typedef struct rs_process {
    const char *comm; /* as the kernel has it, not made safe; NULL not known */
    gint64 pid;       /* -1 not known */
} rs_process;

rs_qp_maps *
rs_qp_maps_new(void);

void
rs_qp_maps_free(rs_qp_maps *maps);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(rs_qp_maps, rs_qp_maps_free)

/* Takes the table of the host with `addrs` (roce_addr, at least one).  Several tables of
 * one host add up.  FALSE with `error` set: RS_ERROR_USAGE when the addresses were given
 * for different hosts, else what is wrong with the file, by line where it is no JSON. */
gboolean
rs_qp_maps_read(rs_qp_maps *maps, const GArray *addrs, const char *path,
                GError **error);

/* The same from memory; `path` is for errors. */
gboolean
rs_qp_maps_parse(rs_qp_maps *maps, const GArray *addrs, const char *text, gsize size,
                 const char *path, GError **error);

/* Tells a tracker of all rows; ROCE_ERROR_MEMORY. */
int
rs_qp_maps_tell(const rs_qp_maps *maps, roce_tracker *tracker);

/* Whether the tables say who owns the queue pair `lqpn` at `addr`; its peer's QPN, where
 * it is known, tells those of several devices apart (NULL: not known). */
gboolean
rs_qp_maps_process(const rs_qp_maps *maps, const roce_addr *addr, guint32 lqpn,
                   const guint32 *rqpn, rs_process *process);

#endif
