/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of one stream: the packets from one source address to one (destination
 * address, destination QPN) inside one tenant network, at one capture point.
 *
 * The one rule: counters only grow, but for verdicts and classifications that later
 * packets prove wrong; those are moved, and an event says so.
 */
#ifndef ROCE_STREAM_H
#define ROCE_STREAM_H

#include "roce/event.h"
#include "roce/histogram.h"
#include "roce/linkage.h"
#include "roce/opcode.h"
#include "roce/packet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

ROCE_BEGIN

/* Where the point stands to a stream. */
typedef enum roce_vantage {
    ROCE_VANTAGE_UNKNOWN,
    ROCE_VANTAGE_REQUESTER, /* at the NIC that sends it: nothing is lost before */
    ROCE_VANTAGE_RESPONDER, /* at the NIC that receives it: no link is behind */
    ROCE_VANTAGE_MIDDLE,
} roce_vantage;

/* What a requester does after a sequence NAK. */
typedef enum roce_recovery {
    ROCE_RECOVERY_UNKNOWN,
    ROCE_RECOVERY_GO_BACK_N, /* everything from the PSN asked for is sent again */
    ROCE_RECOVERY_SELECTIVE, /* only what is missing is sent again */
} roce_recovery;

/* One PSN space. */
typedef struct roce_space_counters {
    uint64_t packets;
    uint64_t unique_psns;
} roce_space_counters;

/* What was out of order in it.  `resent` and `capture_repeats` count what came more than
 * once. */
typedef struct roce_disorder_counters {
    uint64_t gaps;
    uint64_t missing_psns;    /* PSNs that were missing when a gap opened */
    uint64_t reordered;       /* late originals */
    uint64_t duplicates;      /* the same packet again: made by the network */
    uint64_t capture_repeats; /* arrivals of PSNs that had come here before */
    uint64_t resent;          /* sent again by the sender */
} roce_disorder_counters;

typedef struct roce_retransmission_counters {
    uint64_t packets;
    uint64_t bytes;           /* their payload */
    uint64_t requested_bytes; /* of READ data asked for again */
    uint64_t rounds;
    uint64_t spurious_rounds;
    uint64_t by_cause[ROCE_N_CAUSES]; /* rounds */
} roce_retransmission_counters;

typedef enum roce_nak_kind {
    ROCE_NAKS_PSN_SEQUENCE,
    ROCE_NAKS_INVALID_REQUEST,
    ROCE_NAKS_REMOTE_ACCESS,
    ROCE_NAKS_REMOTE_OPERATIONAL,
    ROCE_NAKS_RNR,
    ROCE_N_NAKS,
} roce_nak_kind;

/* What a stream in trouble has counted: something of it was lost, late, refused, or came
 * more than once.  Most streams have none of it. */
typedef struct roce_stream_trouble {
    roce_disorder_counters disorder[ROCE_N_SPACES];
    roce_retransmission_counters retransmissions;
    uint64_t losses[ROCE_N_SPACES][ROCE_N_VERDICTS];
    uint64_t naks_received[ROCE_N_NAKS]; /* about this stream's requests; if paired */
    uint64_t naks_sent[ROCE_N_NAKS];     /* carried by this stream */
    uint64_t reconsidered_frame; /* first of the newest round that its event calls of an
                                  * unknown cause, and that had another; 0: none */
    roce_cause reconsidered_cause; /* that one */
    uint64_t rnr_waits_kept, rnr_waits_broken;
    uint64_t restarts;
    uint64_t icrc_bad;
    uint64_t icrc_cnp_bad; /* of CNPs, which some devices send with one of their own */
    uint64_t icrc_flush_bad; /* of FLUSH, which soft-RoCE sends with a wrong one */
    /* Packets whose IPv4 header checksum (RFC 791 3.1) is wrong, where the stream's were
     * right before: hosts discard them, whatever their ICRC. */
    uint64_t ip_checksum_bad;
    /* Packets whose PSN was damaged, as the next one of the stream shows where their ICRC was
     * not captured.  The stream's other counters of packets and bytes have them. */
    uint64_t psn_bad;
    /* Of UC: messages of which a packet was not seen here in its order, so that their receiver
     * dropped them if it saw no more (IBTA 9.8.2.2); those of which nothing was seen are not
     * among them. */
    uint64_t messages_broken;
} roce_stream_trouble;

typedef struct roce_ecn_counters {
    uint64_t codepoint[4]; /* by value: Not-ECT, ECT(1), ECT(0), CE */
} roce_ecn_counters;

/* A run of marks without a long pause. */
typedef struct roce_ce_episode {
    uint64_t start_ns, end_ns; /* of its first mark and of its last one */
    uint64_t marked;
    uint64_t data_packets; /* from the first to the last, marked or not */
    uint64_t first_frame;
} roce_ce_episode;

#define ROCE_CE_EPISODES 64 /* kept of each stream; counters go on */

/* What became of a mark.  The first mark without an answer waits for a CNP, and those that
 * follow wait with it, for 200 us or twice the pacing interval if that is longer. */
typedef enum roce_ce_answer {
    ROCE_CE_ANSWERED,   /* a CNP came in that time */
    ROCE_CE_PACED,      /* none, but one had been sent less than an interval before */
    ROCE_CE_UNANSWERED, /* none, and none had */
    ROCE_CE_OPEN,       /* the stream ends while it waits, or it is in no pair */
    ROCE_N_CE_ANSWERS,
} roce_ce_answer;

/* What is known of marks and CNPs.  Streams whose data all has one codepoint, and that
 * have to do with no CNP, have none of it. */
typedef struct roce_stream_congestion {
    uint64_t transitions;
    uint64_t n_episodes;                    /* runs of marks without a long pause */
    uint64_t cnps_sent;                     /* carried by this stream */
    uint64_t cnps_attributed;               /* of those, whose data stream is known */
    uint64_t cnps_received;                 /* if paired */
    uint64_t ce_answers[ROCE_N_CE_ANSWERS]; /* marks: adds up to ecn.codepoint[3] */
    roce_ce_episode *episodes; /* the first ROCE_CE_EPISODES; owned by the tracker */
    uint32_t n_episodes_kept;
} roce_stream_congestion;

/* What is counted of packets that carry no data: acknowledgements, CNPs, requests for data.
 * Streams that carry data alone have none of it. */
typedef struct roce_stream_control {
    uint64_t acks_sent;
    uint64_t ecn[4]; /* by value, like roce_ecn_counters */
} roce_stream_control;

/* What is measured in time, each as the stream's point sees it: an answer takes the
 * responder's turnaround at the responder's NIC, the round trip at the requester's.
 *
 *   MESSAGE_COMPLETION  from the first packet of a message to what first tells that it
 *                       is complete: an ACK, NAK or response that covers its last
 *                       packet; for READs and atomics, their last response
 *   ACK                 from the request that an ACK names to that ACK, if it is the
 *                       first to cover it: one for each ACK, coalesced or not
 *   READ_FIRST, READ    from a READ Request to its first, and to its last response
 *   NAK_GENERATION      from the first request beyond a gap to the sequence NAK that it
 *                       provoked
 *   NAK_REACTION        from a sequence NAK to the request that it asked for, if the
 *                       round that answers it begins with that
 *   RECOVERY            from the first evidence that a packet was lost (the gap; else
 *                       the NAK; else, before a timeout or for a response, its newest
 *                       copy) to the first answer that covers it once a round has begun
 *                       with it.  Rounds that an RNR NAK caused or that are for what
 *                       came late repair nothing
 *   CNP_DELAY           from the first CE that no CNP has answered to a CNP soon after:
 *                       see roce_ce_answer
 *   CNP_INTERVAL        from CNP to CNP about this stream's data
 *
 * But for the three about repair none is taken from a packet of which more than one
 * copy was sent or seen, that was late, missing or refused, or that lies in a round
 * (Karn's rule).  None is taken where the clock stepped back in between, and none
 * without the pairing. */
typedef enum roce_latency {
    ROCE_LATENCY_MESSAGE_COMPLETION,
    ROCE_LATENCY_ACK,
    ROCE_LATENCY_READ_FIRST,
    ROCE_LATENCY_READ,
    ROCE_LATENCY_NAK_GENERATION,
    ROCE_LATENCY_NAK_REACTION,
    ROCE_LATENCY_RECOVERY,
    ROCE_LATENCY_CNP_DELAY,
    ROCE_LATENCY_CNP_INTERVAL,
    ROCE_N_LATENCIES,
} roce_latency;

#define ROCE_STREAM_PORTS 8
#define ROCE_STREAM_VLANS 4
#define ROCE_STREAM_OPCODES 4

/* Of each latency, or NULL without samples; owned by the tracker. */
typedef struct roce_stream_latencies {
    roce_histogram *of[ROCE_N_LATENCIES];
} roce_stream_latencies;

typedef struct roce_opcode_count {
    uint8_t opcode;
    uint64_t packets;
} roce_opcode_count;

/* Everything that a report says of a stream.  Valid until the tracker is freed.  What each
 * packet touches stands first. */
typedef struct roce_stream {
    uint32_t id; /* from 0 in order of appearance */
    uint32_t point;
    roce_tenant tenant; /* the overlay network that it runs in, if it was captured so */
    roce_addr src, dst;
    /* No two fields of some bits stand side by side: one is written while another thread
     * reads another one. */
    roce_transport transport : 8;
    uint8_t n_udp_src_ports;
    roce_pairing paired_by : 8;
    uint8_t n_vlans;
    roce_ecn_source ecn_source : 8; /* of its packets, the highest */
    uint8_t n_opcodes;
    roce_vantage vantage : 8;
    bool has_src_qpn;
    roce_recovery recovery : 8;
    uint8_t opcode[ROCE_STREAM_OPCODES]; /* the first; see other_opcodes */
    bool paired_ports_agree; /* the source-port relation holds for the pairing */
    bool table_contradicted; /* what was captured contradicts the user's tables */
    bool partial_path;
    uint16_t n_other_opcodes;
    uint32_t dst_qpn;
    uint32_t src_qpn; /* valid if has_src_qpn: from DETH, CM, the user or the pairing */
    uint32_t peer;    /* the stream of the other direction, or ROCE_NO_STREAM */
    uint32_t pmtu_bytes; /* 0 while unknown */
    uint32_t connection; /* CM connection index, or ROCE_NO_STREAM */

    uint64_t packets, wire_bytes, payload_bytes;
    uint64_t first_time_ns, last_time_ns;
    uint64_t last_frame;
    uint64_t messages_completed, message_bytes;
    uint64_t dscps;                        /* bit n: DSCP n was seen */
    uint64_t icrc_checked, icrc_truncated; /* the latter cut off, and not checked */
    roce_ecn_counters ecn;                 /* of data */
    roce_space_counters space[ROCE_N_SPACES];
    uint64_t opcode_packets[ROCE_STREAM_OPCODES];
    uint16_t udp_src_port[ROCE_STREAM_PORTS];
    /* Parts that not every stream has; to be read by the functions below. */
    roce_stream_trouble *trouble;
    roce_stream_congestion *congestion;
    roce_stream_control *control;
    roce_stream_latencies *latencies;
    roce_opcode_count *other_opcodes;

    uint64_t first_frame;
    uint32_t
        paired_as; /* grows with each pairing of the capture; the same at the peer */
    uint32_t pairing_evidence;        /* ACKs that agreed with the pairing */
    uint16_t vlan[ROCE_STREAM_VLANS]; /* VLAN ids, outermost */
} roce_stream;

/* What a stream without such a part has: nothing of it. */
extern const roce_stream_trouble roce_no_trouble;
extern const roce_stream_congestion roce_no_congestion;
extern const roce_stream_control roce_no_control;

static inline const roce_stream_trouble *
roce_stream_trouble_of(const roce_stream *stream)
{
    return stream->trouble != NULL ? stream->trouble : &roce_no_trouble;
}

static inline const roce_stream_congestion *
roce_stream_congestion_of(const roce_stream *stream)
{
    return stream->congestion != NULL ? stream->congestion : &roce_no_congestion;
}

static inline const roce_stream_control *
roce_stream_control_of(const roce_stream *stream)
{
    return stream->control != NULL ? stream->control : &roce_no_control;
}

/* NULL without samples. */
static inline const roce_histogram *
roce_stream_latency(const roce_stream *stream, roce_latency latency)
{
    return stream->latencies != NULL ? stream->latencies->of[latency] : NULL;
}

/* Packets of one opcode. */
uint64_t
roce_stream_opcode_packets(const roce_stream *stream, uint8_t opcode);

/* What names the connection of a paired stream, whatever its direction and its point.  All
 * bytes are set: two are equal if their bytes are. */
typedef struct roce_ends {
    roce_tenant tenant;
    roce_addr addr[2]; /* the lesser end first: by address, then by QPN */
    uint32_t qpn[2];
} roce_ends;

void
roce_stream_ends(const roce_stream *stream, roce_ends *ends);

/* Whether it is of a service that acknowledges, and sends again what was lost (RC, XRC). */
static inline bool
roce_stream_is_reliable(const roce_stream *stream)
{
    return stream->transport == ROCE_TRANSPORT_RC ||
           stream->transport == ROCE_TRANSPORT_XRC;
}

/* Whether what depends on the pairing is known. */
static inline bool
roce_stream_is_paired(const roce_stream *stream)
{
    return stream->paired_by != ROCE_PAIRING_NONE;
}

const char *
roce_vantage_name(roce_vantage vantage);
const char *
roce_recovery_name(roce_recovery recovery);
/* "ack_latency_ns", ...: as reports call it. */
const char *
roce_latency_name(roce_latency latency);

ROCE_END

#endif
