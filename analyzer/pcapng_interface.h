/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An interface of a pcapng file (draft-ietf-opsawg-pcapng, sections 4.2 and 4.6): what its
 * block says, its clock, and what was dropped at it.
 *
 *   interface   link type 2, reserved 2, snap length 4, options
 *   statistics  interface 4, time high 4, low 4, options
 *
 * The one rule: packet blocks count the drops since the packet before, statistics those
 * since the start.  Both tell of the same packets, so the larger one counts.
 */
#ifndef RS_PCAPNG_INTERFACE_H
#define RS_PCAPNG_INTERFACE_H

#include "cursor.h"
#include "reader.h"

#include <glib.h>

typedef struct rs_pcapng_interface {
    rs_interface base;
    guint64 dropped_between; /* packets, as packet blocks told */
    /* As long as ticks are fewer than the first, their product with the second is the
     * time; the first may be 0. */
    guint64 end_of_plain_ticks;
    guint64 ns_per_tick;
} rs_pcapng_interface;

/* Fills in a zeroed interface from the body of its block.  What is wrong with that, in
 * words, else NULL. */
const char *
rs_pcapng_interface_describe(rs_pcapng_interface *interface, rs_cursor *body);

/* Takes the options of a statistics block: what is wrong with them, in words, else NULL.
 * The interface is not touched, and may be none, if the cursor is bad already. */
const char *
rs_pcapng_interface_count(rs_pcapng_interface *interface, rs_cursor *options);

/* Adds what was dropped since the packet before. */
void
rs_pcapng_interface_drop(rs_pcapng_interface *interface, guint64 n_packets);

/* Ticks to ns since 1970, held within what a signed 64-bit number of ns can tell. */
guint64
rs_pcapng_interface_time_ns(const rs_pcapng_interface *interface, guint64 ticks);

/* The first tick that is no earlier; 0 where the interface's clock began later. */
guint64
rs_pcapng_interface_ticks(const rs_pcapng_interface *interface, guint64 time_ns);

#endif
