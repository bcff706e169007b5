/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MAC addresses at capture points, and what the IP packets between them tell: which are
 * hosts' and which are routers', who stands at the other end of the link.
 *
 * The one rule: a MAC address is taken for a host's, or a port's of the network, for
 * what it sent itself; what is not shown by packets is unknown.
 */
#ifndef RS_MACS_H
#define RS_MACS_H

#include "sight.h"

#include "roce/pause.h"

#include <glib.h>

#define RS_MACS 65535 /* of all points; of further ones nothing is known */

/* Who sent something. */
typedef enum rs_sender {
    RS_SENDER_UNKNOWN,
    RS_SENDER_HOST,      /* a host's NIC */
    RS_SENDER_NETWORK,   /* a port of a switch or router */
    RS_SENDER_AMBIGUOUS, /* several ports with one MAC address that nothing tells apart */
} rs_sender;

/* What shows it. */
typedef enum rs_sender_evidence {
    RS_SENDER_BY_NOTHING,
    RS_SENDER_BY_OWN_PACKETS, /* it sends RoCE that no router has forwarded */
    RS_SENDER_BY_FORWARDING,  /* it sends what a router has forwarded */
    RS_SENDER_BY_WAY,         /* what it takes goes on from there */
    RS_SENDER_BY_ABSENCE,     /* RoCE was seen here, and none of it to or from it */
    RS_SENDER_BY_PARTNERS,    /* it forwards to several MAC addresses */
} rs_sender_evidence;

/* One address or none, or that there are several. */
typedef struct rs_one_addr {
    roce_addr addr; /* the first; family 0 before */
    gboolean several;
} rs_one_addr;

typedef struct rs_mac {
    guint32 id; /* from 0 in order of appearance */
    guint32 point;
    guint8 bytes[6];
    gboolean in_ip;            /* some IP packet was from it or to it */
    gboolean sends_own;        /* RoCE with a hop limit that hosts begin with */
    gboolean sends_other;      /* IP with another hop limit */
    gboolean passes_on;        /* what it takes was seen again one router further on */
    guint8 greatest_hop_limit; /* of what it sends */
    rs_one_addr sources;       /* of the IP packets from it */
    rs_one_addr receivers;     /* of the IP packets to it */
    guint8 takes, sends; /* bit n: packets of priority n are bound for it, or from it */
    struct rs_mac *partner; /* the other end of its packets: the first, see below */
    gboolean several_partners;
    guint32 pauses[ROCE_PRIORITY_GLOBAL + 1]; /* of the tracker's, by priority;
                                               * ROCE_NO_PAUSE */
} rs_mac;

typedef struct rs_macs rs_macs;

rs_macs *
rs_macs_new(void);

void
rs_macs_free(rs_macs *macs);

/* The address at a point, new if need be; NULL where there is no room for it. */
rs_mac *
rs_macs_get(rs_macs *macs, guint32 point, const guint8 mac[6]);

guint
rs_macs_n(const rs_macs *macs);
rs_mac *
rs_macs_at(const rs_macs *macs, guint32 id);

/* Takes what an IP packet between two of them shows; NULL for a MAC address that is none
 * of one port: multicast. */
void
rs_macs_learn(rs_macs *macs, rs_mac *src, rs_mac *dst, const roce_packet *packet);

/* Likewise of its sender alone, whose stream, addresses and hop limit are known already:
 * whether a stream that began with a CNP shows a host, what comes behind that tells. */
void
rs_macs_learn_own(rs_mac *src, const roce_packet *packet);

/* The address at the one end of a point's link where a MAC address that no packet has is
 * not, if that is a port of the network: the one that is common to all packets; of two
 * such, one of them a router's, the host's.  NULL: it cannot be told. */
const rs_mac *
rs_macs_stopped_end(const rs_macs *macs, guint32 point);

/* Whether an address is at one end of every IP packet seen at its point. */
gboolean
rs_macs_is_common(const rs_macs *macs, const rs_mac *mac);

rs_sender
rs_macs_sender(const rs_macs *macs, const rs_mac *mac, rs_sender_evidence *evidence);

/* "from_host", "from_network", "ambiguous"; NULL for unknown. */
const char *
rs_sender_name(rs_sender sender);
/* "own_packets", "forwarding", "way", "absence", "partners"; NULL for nothing. */
const char *
rs_sender_evidence_name(rs_sender_evidence evidence);

#endif
