/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What ports say of themselves in LLDP: who they are, and how they treat priorities
 * (DCBX).
 *
 * The one rule: a port is a source address at a capture point, and what it said last
 * counts.  LLDP goes no further than the link that it is sent on: two ports that sent it
 * to their nearest neighbour at one point, and no third, are the two ends of that link.
 */
#ifndef RS_DCB_H
#define RS_DCB_H

#include "sight.h"

#include "roce/lldp.h"

#include <glib.h>

typedef struct rs_dcb rs_dcb;

/* Of what says which of the two versions of DCBX it speaks, IEEE's counts. */
typedef enum rs_dcbx {
    RS_DCBX_NONE,
    RS_DCBX_IEEE,
    RS_DCBX_CEE,
} rs_dcbx;

typedef struct rs_dcb_port {
    guint32 point;
    guint8 mac[6];
    char *chassis, *port, *system; /* safe for a terminal; NULL: not told */
    guint16 ttl_s;
    gboolean nearest; /* sent to its nearest neighbour alone, 01:80:C2:00:00:0E */
    rs_dcbx version;
    roce_dcb dcb; /* of that version, as it was said last */
    guint64 frames;
    guint64 truncated, malformed; /* of them; malformed ones say nothing */
    guint64 changes; /* how often it said something else of its priorities */
    guint64 first_frame, newest_frame;
    guint64 change_frame; /* since when it says what it said last */
} rs_dcb_port;

rs_dcb *
rs_dcb_new(void);

void
rs_dcb_free(rs_dcb *dcb);

void
rs_dcb_packet(rs_dcb *dcb, const rs_sight *sight);

/* The capture has ended: ports are in the order of their points and addresses. */
void
rs_dcb_finish(rs_dcb *dcb);

guint
rs_dcb_n_ports(const rs_dcb *dcb);
const rs_dcb_port *
rs_dcb_port_at(const rs_dcb *dcb, guint i);

/* LLDP frames of ports that found no place in the table. */
guint64
rs_dcb_beyond(const rs_dcb *dcb);

/* Index of the first of the two ends of the one link that a point sees, behind which
 * stands the other; FALSE: there are not two ports at the point, or more. */
gboolean
rs_dcb_link(const rs_dcb *dcb, guint32 point, guint *first);

/* Whether the ports at a point are ends of one link: they are no more than two, and spoke
 * to their nearest neighbour. */
gboolean
rs_dcb_one_link(const rs_dcb *dcb, guint32 point);

/* The priorities that a port has PFC on for; FALSE: it does not say. */
gboolean
rs_dcb_port_pfc(const rs_dcb_port *port, guint8 *priorities);

/* The priorities that some port at the point has PFC on for, and those that every port
 * there that speaks of PFC has it on for; FALSE: none speaks of it. */
gboolean
rs_dcb_point_pfc(const rs_dcb *dcb, guint32 point, guint8 *some, guint8 *all);

/* The priorities that a port's application table has for RoCEv2, UDP port 4791; FALSE:
 * it has none for it. */
gboolean
rs_dcb_port_roce(const rs_dcb_port *port, guint8 *priorities);

/* The priorities that a port's application table has for a DSCP; FALSE: none. */
gboolean
rs_dcb_port_dscp(const rs_dcb_port *port, guint8 dscp, guint8 *priorities);

/* "2, 3 and 6: 50 %; 1, 5 and 7: 50 %; 0 and 4: first": which priorities share which part
 * of the bandwidth, and which are served before all others; g_free(). */
char *
rs_dcb_ets_words(const roce_dcb_ets *ets);

/* "ieee", "cee"; NULL for none. */
const char *
rs_dcbx_name(rs_dcbx version);

#endif
