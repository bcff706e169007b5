/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One captured frame, and what decoding it says.
 *
 * The one rule: a roce_packet borrows.  Its pointers point into the frame it was
 * decoded from and die with it; whoever keeps something copies it.
 */
#ifndef ROCE_PACKET_H
#define ROCE_PACKET_H

#include "roce/opcode.h"

#include <stdbool.h>
#include <stdint.h>

/* Link layers that frames come with. */
typedef enum roce_link {
    ROCE_LINK_ETHERNET,
    ROCE_LINK_SLL,  /* Linux cooked capture v1 */
    ROCE_LINK_SLL2, /* Linux cooked capture v2 */
    ROCE_LINK_RAW,  /* an IP packet without any link header */
    ROCE_LINK_UNSUPPORTED,
} roce_link;

typedef enum roce_direction {
    ROCE_DIRECTION_UNKNOWN,
    ROCE_DIRECTION_IN,  /* received by the capturing host */
    ROCE_DIRECTION_OUT, /* sent by it */
} roce_direction;

/* A captured frame.  `bytes` belong to the reader and live until its next frame. */
typedef struct roce_frame {
    const uint8_t *bytes;
    uint32_t captured_bytes; /* how many are there */
    uint32_t wire_bytes;     /* how many were on the wire, without the FCS */
    uint64_t time_ns;        /* since 1970-01-01 UTC */
    uint64_t number;         /* 1 for the first of the logical capture */
    uint32_t point;          /* the capture point, from 0 */
    roce_link link;
    roce_direction direction; /* as the capture file says it */
} roce_frame;

/* IPv4 addresses are kept in the first four bytes, the rest zero. */
typedef struct roce_addr {
    uint8_t bytes[16];
    uint8_t family; /* 4, 6 or 0 for none */
} roce_addr;

/* Four outcomes that are never blurred. */
typedef enum roce_outcome {
    ROCE_DECODED,   /* everything that the headers promise is there */
    ROCE_NOT_OURS,  /* nothing this library is about */
    ROCE_TRUNCATED, /* the snap length cut it; the wire was fine as far as one can see
                     */
    ROCE_MALFORMED, /* the packet itself is wrong */
} roce_outcome;

typedef enum roce_class {
    ROCE_CLASS_OTHER,    /* not ours */
    ROCE_CLASS_ROCE,     /* RoCE; `has_bth` and `headers` say what holds */
    ROCE_CLASS_NOT_IB,   /* on a RoCE port, but not InfiniBand transport */
    ROCE_CLASS_FRAGMENT, /* IP fragment: of a RoCE port, or not the first of anything */
    ROCE_CLASS_PFC,      /* IEEE 802.1Qbb; `pause` holds */
    ROCE_CLASS_PAUSE,    /* IEEE 802.3 annex 31B; `pause` holds */
    ROCE_CLASS_MAC_CONTROL, /* another MAC control opcode */
} roce_class;

typedef struct roce_bth {
    uint8_t opcode;
    bool solicited;
    bool migration;
    uint8_t pad_bytes; /* 0..3 */
    uint8_t version;
    uint16_t p_key;
    bool fecn;
    bool becn;
    uint32_t dest_qpn; /* 24 bits */
    bool ack_request;
    uint32_t psn24;
} roce_bth;

typedef struct roce_reth {
    uint64_t address;
    uint32_t r_key;
    uint32_t length_bytes;
} roce_reth;

typedef struct roce_pause {
    uint16_t opcode;
    uint16_t enabled;   /* class-enable vector, bit n is priority n; 0 for 802.3 */
    uint16_t quanta[8]; /* 512 bit times each; 802.3 uses the first alone */
} roce_pause;

#define ROCE_MAX_VLANS 4

typedef struct roce_packet {
    roce_outcome outcome;
    roce_class class;

    /* link */
    bool has_macs;
    uint8_t src_mac[6], dst_mac[6];
    roce_direction direction; /* from the frame or from a cooked header */
    uint8_t n_vlans;
    uint16_t
        vlan_tci[ROCE_MAX_VLANS]; /* outermost first: PCP 15:13, DEI 12, VID 11:0 */
    uint16_t ethertype;

    /* network; family 0 when there is none.  RoCEv1: the GRH's GIDs */
    roce_addr src, dst;
    uint8_t traffic_class; /* DSCP 7:2, ECN 1:0 */
    uint8_t hop_limit;
    uint16_t ipv4_ident;         /* 0 for IPv6 */
    uint32_t flow_label;         /* IPv6 and GRH */
    uint8_t ip_protocol;         /* last one reached */
    bool is_grh;                 /* RoCEv1 */
    uint32_t ip_offset;          /* of the IP header or GRH in the frame */
    uint16_t src_port, dst_port; /* UDP and TCP; 0 when there are none */
    uint32_t
        udp_length; /* as the UDP header says; RoCEv1: the GRH's payload length + 8 */

    /* InfiniBand transport */
    bool has_bth; /* `bth` was read; false when the snap length cut it */
    roce_transport transport;
    uint16_t headers; /* roce_header bits whose fields below were read */
    uint32_t bth_offset;
    uint32_t payload_offset;
    uint32_t payload_bytes; /* on the wire, without pad and ICRC */
    uint32_t end_offset;    /* one beyond the ICRC, as the wire had it */
    roce_bth bth;
    uint32_t rdeth_ee; /* 24 bits */
    uint32_t deth_q_key, deth_src_qpn;
    uint32_t xrceth_srq;
    uint32_t feth;
    roce_reth reth;
    uint64_t atomic_address, atomic_swap_add, atomic_compare;
    uint32_t atomic_r_key;
    uint64_t atomic_original;
    uint8_t aeth_syndrome;
    uint32_t aeth_msn;
    uint32_t immediate;
    uint32_t ieth_r_key;

    /* MAC control */
    roce_pause pause;
} roce_packet;

/* Same bytes and family. */
bool
roce_addr_equal(const roce_addr *a, const roce_addr *b);

/* Total order: by family, then bytes. */
int
roce_addr_compare(const roce_addr *a, const roce_addr *b);

/* ECN codepoint of a traffic class (RFC 3168): 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE. */
static inline unsigned
roce_packet_ecn(const roce_packet *packet)
{
    return packet->traffic_class & 3u;
}

#endif
