/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The UDP source ports of each stream's data: what networks tell flows apart by.
 *
 * The one rule: only data counts, for ACKs and CNPs may have ports of their own.
 */
#ifndef RS_PORTS_H
#define RS_PORTS_H

#include "sight.h"

#include <glib.h>

typedef struct rs_ports rs_ports;

typedef struct rs_port_use {
    guint16 port;
    guint64 packets, bytes; /* of data; payload */
} rs_port_use;

rs_ports *
rs_ports_new(void);

void
rs_ports_free(rs_ports *ports);

/* The tracker has just taken this packet. */
void
rs_ports_packet(rs_ports *ports, const rs_sight *sight);

/* How many ports a stream's data has; and the i-th, in the order of appearance. */
guint
rs_ports_n(const rs_ports *ports, guint32 stream);
const rs_port_use *
rs_ports_at(const rs_ports *ports, guint32 stream, guint i);

/* Data packets with ports, or of streams, beyond the bounds. */
guint64
rs_ports_omitted(const rs_ports *ports);

#endif
