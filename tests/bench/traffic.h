/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traffic of many hosts as a switch between them sees it, frame by frame.
 *
 * Hosts send to each other over connections of two queue pairs each, both of which make
 * requests: WRITE messages of several packets, or READs.  Time goes by in slots; in
 * each, the host whose turn it is may send one frame:
 *
 *   1. an answer, if one is due: ACK, NAK, CNP, or a packet of a READ response;
 *   2. else the next request packet of the queue pair whose turn it is.  A turn is a
 *      burst of a few packets, as NICs have it.
 *
 * Where frames are lost, that is before the point of capture.  The responder then asks
 * once with a NAK, the requester goes back to what is missing (IBTA Vol. 1, 9.7.5), and
 * what it sent meanwhile is sent again.  Where hosts are congested, some of the data to
 * them is marked CE, and receivers answer with CNPs (annex A17.9), not more often than
 * every CNP_INTERVAL_NS.
 *
 * Where a network sprays packets over several ways, some packets of WRITEs and of answers to
 * READs are overtaken by the next one.  Who receives takes both in any order, as NICs do
 * that place data directly.
 *
 * Beside that, hosts may send to their neighbours by TCP.
 *
 * What the model leaves out: timeouts (answers are never lost, nor is the packet that a
 * NAK asked for, nor the end of a message that nothing follows), windows, rates.
 *
 * The one rule: the same plan gives the same frames, and memory does not depend on how
 * many are asked for.
 */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include "frame.h"

#include <stdint.h>

typedef enum request_kind {
    REQUESTS_WRITE,
    REQUESTS_READ,
} request_kind;

typedef struct traffic_plan {
    request_kind requests;
    uint32_t first_host; /* where numbers of hosts begin: addresses are made of them */
    uint32_t n_hosts;    /* 2 to 65,534 */
    uint32_t n_qps;      /* 2 or more, even, below 2^24 */
    uint64_t n_packets;
    uint32_t mtu_bytes;     /* 4 to 4096, a multiple of 4 */
    uint32_t message_pkts;  /* data packets of each message, 2 or more */
    uint32_t burst_pkts;    /* of one queue pair behind each other */
    uint32_t lost_of_65536; /* this many of so many requests are lost */
    uint32_t marked_of_256; /* this many of so many data packets to congested hosts */
    uint32_t others_of_256; /* in this many of so many slots, hosts send TCP */
    uint32_t missed_of_256; /* this many of so many packets are not captured */
    /* This many of so many packets of WRITEs and of answers to READs are overtaken; without
     * loss or marks. */
    uint32_t overtaken_of_256;
    uint64_t seed;
} traffic_plan;

/* What happened, for whoever wants to compare. */
typedef struct traffic_truth {
    uint64_t n_packets;       /* captured */
    uint64_t n_missed;        /* sent as well, and not captured */
    uint64_t n_others;        /* of these, of TCP */
    uint64_t n_senders;       /* queue pairs that sent anything */
    uint64_t n_lost;          /* a packet sent behind each was captured */
    uint64_t n_lost_unseen;   /* or the sender went back before: nothing shows them */
    uint64_t n_retransmitted; /* captured, and sent before something captured before */
    uint64_t n_naks;
    uint64_t n_overtaken; /* captured behind the packet that was sent after it */
    uint64_t n_ce;        /* data packets marked */
    uint64_t n_cnps;
} traffic_truth;

/* Takes a frame; `context` is the caller's. */
typedef void (*traffic_sink)(void *context, uint64_t time_ns,
                             const frame_values *values);

/* Sends `plan->n_packets` frames to the sink, in the order of time. */
void
traffic_run(const traffic_plan *plan, traffic_sink sink, void *context,
            traffic_truth *truth);

#endif
