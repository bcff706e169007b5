/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which addresses a NIC has, so that a pause frame tells which host asked for it.
 *
 * The one rule: macs.h says whether a MAC address is a host's own; here is whose.  Only
 * RoCE tells: a NIC may send other packets for many.
 */
#ifndef RS_NICS_H
#define RS_NICS_H

#include "macs.h"
#include "sight.h"

#include <glib.h>

/* A host at a point, by one of its addresses. */
typedef struct rs_nic_host {
    guint32 point;
    roce_addr addr;
} rs_nic_host;

typedef struct rs_nics rs_nics;

rs_nics *
rs_nics_new(void);

void
rs_nics_free(rs_nics *nics);

/* The tracker has just taken this packet. */
void
rs_nics_packet(rs_nics *nics, const rs_sight *sight);

/* No more will come: only MAC addresses of hosts count from now on. */
void
rs_nics_finish(rs_nics *nics, const rs_macs *macs);

/* After that: the addresses, rs_nic_host, that a MAC is the NIC of at this point; NULL: it is no
 * host's, as far as is known. */
const GArray *
rs_nics_hosts(const rs_nics *nics, guint32 point, const guint8 mac[6]);

/* For hash tables with rs_nic_host keys. */
guint
rs_nic_host_hash(gconstpointer host);
gboolean
rs_nic_host_equal(gconstpointer a, gconstpointer b);

#endif
