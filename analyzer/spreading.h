/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Load spreading: what a network has to tell the queue pairs between two addresses apart
 * by, which is the UDP source port, and how evenly they share.
 *
 * The one rule: of a stream that several points saw, only the one that stands for all
 * counts.
 */
#ifndef RS_SPREADING_H
#define RS_SPREADING_H

#include "ports.h"
#include "summary.h"

#include <glib.h>

/* Fewer bins of common time tell nothing of how streams share. */
#define RS_SIBLINGS_LEAST_BINS 8
/* A sibling that sends in fewer of them may have had nothing to send. */
#define RS_SIBLINGS_BUSY_PERCENT 90

/* Streams that share a source port, and with it the way. */
typedef struct rs_shared_port {
    guint16 port;
    GArray *streams; /* guint32, two or more */
} rs_shared_port;

/* How siblings share in the time that they have in common: the bins of the timeline that
 * lie wholly between the last one's first packet and the first one's last packet. */
typedef struct rs_siblings {
    guint64 start_ns, end_ns;
    double jain; /* (sum of bytes)^2 / (n * sum of squares), 1/n to 1 (Jain 1984) */
    gboolean all_busy;
    guint32 least, most; /* streams */
    guint64 least_bytes, most_bytes;
} rs_siblings;

/* From one address to another inside one tenant. */
typedef struct rs_address_pair {
    roce_tenant tenant;
    roce_addr src, dst;
    guint32 *streams; /* that carry data in UDP; one for each queue pair */
    guint n_streams;
    guint members;        /* (stream, port): more than streams where one has several */
    guint ports;          /* different source ports: five-tuples */
    double entropy_bits;  /* of the port of a member taken at random */
    double possible_bits; /* if each had its own */
    GPtrArray *shared;    /* rs_shared_port, by port; NULL: none */
    /* NULL: there are not two with data in RS_SIBLINGS_LEAST_BINS in common. */
    rs_siblings *siblings;
} rs_address_pair;

static inline guint
rs_address_pair_n_shared(const rs_address_pair *pair)
{
    return pair->shared != NULL ? pair->shared->len : 0;
}

/* Finds the summary's pairs: all with data, in the order of appearance. */
void
rs_spreading_find(rs_summary *summary, const rs_analysis *analysis);

/* What a hash has to spread: all five-tuples with data, of all pairs. */
typedef struct rs_spread_flows {
    guint64 flows;
    double bytes, squares; /* payload; sum of the squares of it by flow */
} rs_spread_flows;

void
rs_spreading_flows(rs_spread_flows *flows, const rs_analysis *analysis,
                   const GPtrArray *pairs);

/* Gaps and order over all streams with data that stand for all points; returns how many
 * streams that are. */
guint64
rs_spreading_flowlets(rs_flowlet_sum *sum, const rs_analysis *analysis,
                      const rs_summary *summary);

#endif
