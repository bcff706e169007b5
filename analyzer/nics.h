/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which MAC address is that of a host's own NIC, so that a pause frame tells whether the
 * host or a switch asked for it.
 *
 * The one rule: a source MAC is a host's own only on packets that no router has passed
 * on, and these still have the hop limit that hosts begin with: 64, 128 or 255.  (A router
 * puts its own MAC there and takes one off the hop limit; a bridge leaves both alone.)
 */
#ifndef RS_NICS_H
#define RS_NICS_H

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

/* The addresses, rs_nic_host, that a MAC is the NIC of at this point; NULL: it is no
 * host's, as far as is known. */
const GArray *
rs_nics_hosts(const rs_nics *nics, guint32 point, const guint8 mac[6]);

/* Whether, at this point, the MAC is that of the NIC that has this address. */
gboolean
rs_nics_owns(const rs_nics *nics, guint32 point, const roce_addr *addr,
             const guint8 mac[6]);

/* For hash tables with rs_nic_host keys. */
guint
rs_nic_host_hash(gconstpointer host);
gboolean
rs_nic_host_equal(gconstpointer a, gconstpointer b);

#endif
