/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracker: decoded packets in, streams, connections, pauses and events out.
 *
 * The one rule: it sees packets in the order of the capture, per point, and never looks
 * at bytes, clocks or the world.  What each rule does is written in core/sequence.c.
 */
#ifndef ROCE_TRACKER_H
#define ROCE_TRACKER_H

#include "roce/alloc.h"
#include "roce/cm.h"
#include "roce/error.h"
#include "roce/event.h"
#include "roce/icrc.h"
#include "roce/linkage.h"
#include "roce/pacing.h"
#include "roce/packet.h"
#include "roce/pause.h"
#include "roce/relation.h"
#include "roce/stream.h"

#include <stddef.h>
#include <stdint.h>

ROCE_BEGIN

typedef struct roce_tracker roce_tracker;

typedef struct roce_tracker_config {
    uint32_t max_streams; /* 1..; packets of further ones are counted, not tracked */
    uint32_t max_history_packets;  /* 64..; remembered per stream and space, ... */
    uint64_t history_room_packets; /* ... and of all of them; see core/room.c */
    /* Likewise of all distributions of latencies, for what each has beyond
     * ROCE_HISTOGRAM_LEAST_BUCKETS. */
    uint64_t histogram_room_buckets;
    uint64_t ce_episode_pause_ns; /* a CE-free time that ends an episode */
    uint64_t path_delay_ns;       /* round trip assumed while none was observed */
    /* Speed of the link at a point in bit/s, 0 when unknown; NULL: never known. */
    uint64_t (*link_speed_bps)(void *ctx, uint32_t point);
    /* When the capture of a point ended, in ns, asked when all has been tracked; NULL: with
     * the newest frame of all points. */
    uint64_t (*last_ns)(void *ctx, uint32_t point);
    /* Where a point stands to what `src` sends to `dst`, as the user knows it: asked once
     * for each stream.  ROCE_VANTAGE_UNKNOWN, or NULL: not told, and found out as far as
     * possible. */
    roce_vantage (*vantage)(void *ctx, uint32_t point, const roce_addr *src,
                            const roce_addr *dst);
    /* Receives events; NULL: nobody wants them. */
    roce_event_fn event;
    /* Receives relations between packets; NULL: nobody wants them. */
    roce_relation_fn relation;
    void *ctx; /* passed to all of them */
} roce_tracker_config;

/* A connection that CM messages told of.  Valid until the tracker is freed. */
typedef struct roce_connection {
    roce_tenant tenant;
    roce_addr addr[2]; /* 0: the active side, who sent the REQ */
    uint32_t qpn[2];   /* valid bit by bit in `known` */
    uint32_t starting_psn[2];
    uint8_t known; /* bit 0: REQ seen, bit 1: REP seen */
    uint32_t comm_id[2];
    uint64_t service_id;
    uint16_t path_mtu_bytes;
    uint8_t retry_count, rnr_retry_count, ack_timeout;
    uint8_t transport_type;
    bool established; /* RTU seen */
    bool answered;    /* anything of the passive side, or what follows such */
    bool rejected;
    bool given_up; /* of those: by the active side, who then wants it no more */
    uint16_t reject_reason;
    bool disconnected; /* DREQ or DREP seen */
    uint64_t request_time_ns, ready_time_ns;
    uint64_t latest_request_ns;
    uint32_t n_requests; /* REQs sent, as the point of the first one saw them */
    uint32_t request_point, request_psn24;
    uint64_t replied_at; /* bit n: the REP was seen at point n (63: and beyond) */
    uint64_t ended_at;   /* likewise a DREQ or DREP */
    uint64_t request_frame;
} roce_connection;

#define ROCE_REFUSED_REQUESTS 8 /* that are known to have been refused already */

/* SIDR REQs of one host for a service of another one, which refused all of them alike.  Valid
 * until the tracker is freed. */
typedef struct roce_refusal {
    roce_tenant tenant;
    roce_addr asker, refuser;
    uint64_t service_id;
    uint8_t status; /* of the SIDR REPs, see roce_cm_sidr_status_name(); not 0 */
    uint32_t n;     /* REQs, as the point of the first one saw them */
    uint32_t point;
    uint32_t request_ids[ROCE_REFUSED_REQUESTS]; /* of the newest, in turn */
    uint64_t first_frame, last_frame;
} roce_refusal;

/* What is counted for the capture as a whole. */
typedef struct roce_tracker_totals {
    uint64_t roce_packets; /* BTH decoded or plausible, CNPs included */
    uint64_t cnp_packets;
    uint64_t pfc_frames, pause_frames;
    uint64_t other_packets, not_ib_on_roce_port, fragments;
    uint64_t truncated_packets, malformed_packets;
    /* Of fragments and of malformed packets those which, as their own header checksum says, are
     * none, and have another length. */
    uint64_t damaged_fragments, damaged_lengths;
    uint64_t bth_cut_packets;    /* RoCE, whose BTH was cut by the snap length */
    uint64_t tunnelled_packets;  /* of whatever kind, inside a tunnel or mirror */
    uint64_t mirrored_packets;   /* of those, inside a mirror */
    uint64_t mirror_cut_packets; /* of those, carried in part */
    uint64_t icrc_bad;           /* CNPs and FLUSH apart */
    uint64_t icrc_orphans;       /* of those, packets of no stream: they open none */
    uint64_t ip_checksum_bad;    /* see roce_stream_trouble */
    uint64_t unattributed_naks, unattributed_rnr, unattributed_cnps, unattributed_acks;
    uint64_t untracked_packets; /* of streams beyond max_streams */
    uint64_t evicted[ROCE_N_TABLES];
} roce_tracker_totals;

/* Defaults that suit a server: 1 Mi streams, 4,096 packets of history, 1 Mi of all. */
void
roce_tracker_config_init(roce_tracker_config *config);

/* Creates a tracker; `alloc` and `config` are copied, what their ctx point to is not.
 * ROCE_ERROR_INVALID for a configuration out of range, ROCE_ERROR_MEMORY. */
int
roce_tracker_new(roce_tracker **tracker, const roce_alloc *alloc,
                 const roce_tracker_config *config);

void
roce_tracker_free(roce_tracker *tracker); /* NULL is fine */

/* Takes the next packet.  ROCE_ERROR_MEMORY leaves the tracker usable: that packet was
 * counted and not tracked. */
int
roce_tracker_add(roce_tracker *tracker, const roce_frame *frame,
                 const roce_packet *packet, roce_icrc_status icrc);

/* Memory that a packet will want is far away where there are many streams.  These have it
 * brought near, for a packet that will be added soon: each takes what the one before has
 * found, and is the cheaper the longer ago that was.  They change nothing; a wrong guess
 * costs time alone. */
uint64_t
roce_tracker_foresee(const roce_tracker *tracker, uint32_t point,
                     const roce_packet *packet);
/* Which stream it may be of, or ROCE_NO_STREAM. */
uint32_t
roce_tracker_guess(const roce_tracker *tracker, uint64_t foreseen);
void
roce_tracker_approach(const roce_tracker *tracker, uint32_t stream,
                      const roce_packet *packet);
/* For an acknowledgement: what is known of the requests that it may answer; and then, what of
 * how long such answers take. */
void
roce_tracker_approach_answered(const roce_tracker *tracker, uint32_t stream);
void
roce_tracker_approach_latencies(const roce_tracker *tracker, uint32_t stream);

/* Tells of a pairing that the user knows: the QPN at `a` talks to the QPN at `b`, in
 * whatever tenant network they are seen. */
int
roce_tracker_add_pair(roce_tracker *tracker, const roce_addr *a, uint32_t qpn_a,
                      const roce_addr *b, uint32_t qpn_b);

/* Most numbers that one local QPN of a host may talk to: one for each of its devices. */
#define ROCE_MAX_PEERS_OF_QPN 64u

/* Tells of a row of a host's table of queue pairs: there, the local QPN `lqpn` talks to
 * `rqpn` of a host that the table does not name.  `addrs` are all addresses of the host,
 * the same ones in each call for it; rows and addresses told of twice are fine.  To be
 * called before the first packet.  ROCE_ERROR_INVALID without addresses, for addresses
 * told of as those of two hosts, and for more than ROCE_MAX_PEERS_OF_QPN rows of a QPN;
 * ROCE_ERROR_MEMORY. */
int
roce_tracker_add_queue_pair(roce_tracker *tracker, const roce_addr *addrs,
                            size_t n_addrs, uint32_t lqpn, uint32_t rqpn);

/* The capture ended: decides what is still open.  Afterwards nothing may be added. */
void
roce_tracker_finish(roce_tracker *tracker);

/* The stream that the last packet added belongs to, or ROCE_NO_STREAM. */
uint32_t
roce_tracker_last_stream(const roce_tracker *tracker);

/* Where the last packet added stands in its stream.  Valid until the next one. */
const roce_sighting *
roce_tracker_last_sighting(const roce_tracker *tracker);

uint32_t
roce_tracker_n_streams(const roce_tracker *tracker);
const roce_stream *
roce_tracker_stream(const roce_tracker *tracker, uint32_t id);
/* The PSN with which its newest queue pair began here, or that CM named shortly before, as events
 * count PSNs; ROCE_NO_PSN: it has carried no request that is in sequence. */
int64_t
roce_tracker_first_psn(const roce_tracker *tracker, uint32_t id);

uint32_t
roce_tracker_n_connections(const roce_tracker *tracker);
const roce_connection *
roce_tracker_connection(const roce_tracker *tracker, uint32_t i);

uint32_t
roce_tracker_n_refusals(const roce_tracker *tracker);
const roce_refusal *
roce_tracker_refusal(const roce_tracker *tracker, uint32_t i);

uint32_t
roce_tracker_n_pauses(const roce_tracker *tracker);
const roce_pause_source *
roce_tracker_pause(const roce_tracker *tracker, uint32_t i);

/* Who sends CNPs, in order of appearance. */
uint32_t
roce_tracker_n_notifiers(const roce_tracker *tracker);
const roce_notifier *
roce_tracker_notifier(const roce_tracker *tracker, uint32_t i);
/* Who sends CNPs about the data of a stream; NULL: nobody has, or it is not known. */
const roce_notifier *
roce_tracker_notifier_of(const roce_tracker *tracker, uint32_t stream);

/* The source of pauses with that MAC and priority at a point, or ROCE_NO_PAUSE. */
uint32_t
roce_tracker_find_pause(const roce_tracker *tracker, uint32_t point,
                        const uint8_t mac[6], uint8_t priority);

const roce_tracker_totals *
roce_tracker_totals_get(const roce_tracker *tracker);

ROCE_END

#endif
