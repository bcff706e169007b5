/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One captured frame, and what decoding it says.
 *
 * The one rule: a roce_packet borrows.  Its pointers point into the frame it was
 * decoded from and die with it; whoever keeps something copies it.
 */
#ifndef ROCE_PACKET_H
#define ROCE_PACKET_H

#include "roce/linkage.h"
#include "roce/opcode.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

ROCE_BEGIN

/* Link layers that frames come with. */
typedef enum roce_link {
    ROCE_LINK_ETHERNET,
    ROCE_LINK_SLL,      /* Linux cooked capture v1 */
    ROCE_LINK_SLL2,     /* Linux cooked capture v2 */
    ROCE_LINK_RAW,      /* an IP packet without any link header */
    ROCE_LINK_LOOPBACK, /* BSD's: an address family in either byte order, then IP */
    ROCE_LINK_PPP,      /* with or without HDLC-like framing, or in Cisco's */
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
    uint32_t member; /* the one that has it of those taken together as `point`; the
                      * intake sets it */
} roce_frame;

/* IPv4 addresses are kept in the first four bytes, the rest zero. */
typedef struct roce_addr {
    uint8_t bytes[16];
    uint8_t family; /* 4, 6 or 0 for none */
} roce_addr;

/* Four outcomes that are never blurred. */
typedef enum roce_outcome {
    ROCE_DECODED,  /* everything that the headers promise is there */
    ROCE_NOT_OURS, /* nothing this library is about */
    ROCE_TRUNCATED, /* not all of it was captured; the wire was fine, as far as is seen */
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

/* The general service interface: management, as connections are set up (IBTA chapter 13); below
 * it is only QP 0, subnet management, which RoCE has not. */
#define ROCE_GSI_QPN 1

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
#define ROCE_MAX_TUNNELS 8 /* of one packet; deeper nesting is not looked into */

/* An overlay network.  Addresses and queue pairs are unique inside one, not across. */
typedef enum roce_tenant_kind {
    ROCE_TENANT_NONE,
    ROCE_TENANT_VXLAN,  /* RFC 7348, and its Generic Protocol Extension */
    ROCE_TENANT_GENEVE, /* RFC 8926 */
    ROCE_TENANT_NVGRE,  /* RFC 7637 */
    ROCE_N_TENANTS,
} roce_tenant_kind;

typedef struct roce_tenant {
    roce_tenant_kind kind;
    uint32_t id; /* VNI or VSID, 24 bits */
} roce_tenant;

/* What carries the copy of a frame from the switch that made it. */
typedef enum roce_mirror_kind {
    ROCE_MIRROR_NONE,
    ROCE_MIRROR_ERSPAN_I,   /* GRE and nothing else */
    ROCE_MIRROR_ERSPAN_II,  /* session, port index */
    ROCE_MIRROR_ERSPAN_III, /* session, direction, time, hardware */
    ROCE_MIRROR_GRE,        /* Ethernet in GRE without a key, under another type */
    ROCE_MIRROR_SPECTRUM,   /* NVIDIA (Mellanox) Spectrum's own header */
    ROCE_MIRROR_ARISTA,     /* Arista's DzGRE header */
    ROCE_N_MIRRORS,
} roce_mirror_kind;

typedef enum roce_mirror_direction {
    ROCE_MIRROR_DIRECTION_UNKNOWN,
    ROCE_MIRROR_INGRESS, /* copied as it entered the switch */
    ROCE_MIRROR_EGRESS,  /* copied as it left */
} roce_mirror_direction;

/* The mirror that a packet came in; the innermost, where one mirrors another.  What its
 * header does not have is 0. */
typedef struct roce_mirror {
    roce_mirror_kind kind;
    roce_mirror_direction direction;
    roce_addr source;     /* who sent the copy: the switch */
    uint16_t session;     /* ERSPAN: 10 bits; Arista: policy ID */
    uint16_t hardware_id; /* ERSPAN III: 6 bits; Arista: switch ID */
    uint32_t port;        /* as the switch numbers its ports; ERSPAN II: 20 bits */
    uint32_t key;         /* of the GRE header */
    uint32_t time;        /* raw; valid if has_time */
    bool has_time;
    uint8_t granularity;   /* ERSPAN III, of `time`: 0: 100 us, 1: 100 ns, 2: IEEE 1588
                            * nanoseconds, 3: of the switch's own; Arista: 2 */
    bool says_truncated;   /* ERSPAN's T bit */
    bool cut;              /* less was carried than the mirrored IP header says */
    uint32_t frame_offset; /* of the mirrored frame */
    uint32_t wire_bytes;   /* of the mirrored frame on its own link, without the FCS */
} roce_mirror;

/* Where the ECN codepoint of a packet was read. */
typedef enum roce_ecn_source {
    ROCE_ECN_IP,    /* the only IP header it has */
    ROCE_ECN_INNER, /* it came in a tunnel or mirror, and its own header says so */
    ROCE_ECN_OUTER, /* a header around it says so */
    ROCE_N_ECN_SOURCES,
} roce_ecn_source;

#define ROCE_OUTER 0x80u

/* Link and network fields describe what lies inside the innermost tunnel that could be
 * entered; nothing of what stands around it shows in them. */
typedef struct roce_packet {
    roce_outcome outcome;
    roce_class kind;

    /* around it */
    uint8_t n_tunnels; /* tunnels and mirrors entered, up to ROCE_MAX_TUNNELS */
    uint8_t outer_ecn; /* codepoint that the IP headers around it leave, see below */
    /* What stands outermost around it, outside of mirrors, by which switches queue it:
     * ROCE_OUTER and the DSCP of an IP header; and the PCP of a tag; 0: there is none. */
    uint8_t outer_dscp, outer_pcp;
    roce_tenant tenant; /* the innermost; none is ever taken from around a mirror */
    roce_mirror mirror;
    uint32_t sll2_ifindex; /* interface index of a cooked capture v2, else 0 */
    /* What the frame had before something cut it on its way to the capture, which is not what
     * the snap length or a mirror did; 0: nothing. */
    uint32_t uncut_bytes;

    /* link */
    bool has_macs;
    uint8_t src_mac[6], dst_mac[6];
    roce_direction direction; /* from the frame or from a cooked header; what a mirror
                               * carries has none for the capturing host */
    uint8_t n_vlans;
    uint16_t
        vlan_tci[ROCE_MAX_VLANS]; /* outermost first: PCP 15:13, DEI 12, VID 11:0 */
    uint16_t ethertype;
    uint32_t lldp_offset; /* of the LLDPDU in the frame (see roce/lldp.h); 0: none */

    /* network; family 0 when there is none.  RoCEv1: the GRH's GIDs */
    roce_addr src, dst;
    uint8_t traffic_class; /* DSCP 7:2, ECN 1:0, as its own header says */
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

/* A frame that asks a neighbour to stop, or to go on: of PFC (IEEE 802.1Qbb) or of 802.3
 * annex 31B. */
static inline bool
roce_packet_is_pause(const roce_packet *packet)
{
    return packet->kind == ROCE_CLASS_PFC || packet->kind == ROCE_CLASS_PAUSE;
}

/* Whether it is a packet of a stream, which trackers ask no other for. */
static inline bool
roce_packet_is_of_stream(const roce_packet *packet)
{
    return packet->kind == ROCE_CLASS_ROCE && packet->has_bth &&
           packet->outcome != ROCE_MALFORMED;
}

/* Same bytes and family. */
static inline bool
roce_addr_equal(const roce_addr *a, const roce_addr *b)
{
    uint64_t x[2], y[2];
    memcpy(x, a->bytes, sizeof x);
    memcpy(y, b->bytes, sizeof y);
    return x[0] == y[0] && x[1] == y[1] && a->family == b->family;
}

/* Total order: by family, then bytes. */
int
roce_addr_compare(const roce_addr *a, const roce_addr *b);

/* Same kind and number; the number of no tenant plays no part. */
static inline bool
roce_tenant_equal(const roce_tenant *a, const roce_tenant *b)
{
    return a->kind == b->kind && (a->kind == ROCE_TENANT_NONE || a->id == b->id);
}

/* "vxlan", "geneve", "nvgre"; "none". */
const char *
roce_tenant_kind_name(roce_tenant_kind kind);
/* "erspan_i", "erspan_ii", "erspan_iii", "gre", "spectrum", "arista"; "none". */
const char *
roce_mirror_kind_name(roce_mirror_kind kind);
/* "ingress", "egress", "unknown". */
const char *
roce_mirror_direction_name(roce_mirror_direction direction);
/* "ip", "inner", "outer". */
const char *
roce_ecn_source_name(roce_ecn_source source);

/* The codepoint that is left when a tunnel ends (RFC 6040, figure 4), all 0 Not-ECT,
 * 1 ECT(1), 2 ECT(0), 3 CE.  A packet that is Not-ECT inside of CE is dropped there:
 * it stays Not-ECT here, where it was still seen. */
static inline unsigned
roce_ecn_combine(unsigned inner, unsigned outer)
{
    if (inner == 0 || inner == 3) {
        return inner;
    }
    return outer == 3 || outer == 1 ? outer : inner;
}

#define ROCE_ECN_NOT_ECT 0u
#define ROCE_ECN_CE 3u

/* ECN codepoint (RFC 3168) that the packet arrives with: 0 Not-ECT, 1 ECT(1), 2 ECT(0),
 * 3 CE.  Headers around it count as at the ends of their tunnels; those of a mirror and
 * around it do not, since they never were on the packet's way. */
static inline unsigned
roce_packet_ecn(const roce_packet *packet)
{
    return roce_ecn_combine(packet->traffic_class & 3u, packet->outer_ecn);
}

static inline roce_ecn_source
roce_packet_ecn_source(const roce_packet *packet)
{
    if (packet->n_tunnels == 0) {
        return ROCE_ECN_IP;
    }
    return roce_packet_ecn(packet) == (packet->traffic_class & 3u) ? ROCE_ECN_INNER
                                                                   : ROCE_ECN_OUTER;
}

/* What switches may queue a packet by: of a packet in a tunnel the headers around it, as far
 * as they have any; those of a mirror never. */
typedef struct roce_queued_by {
    bool has_dscp, is_tagged;
    uint8_t dscp, pcp;
} roce_queued_by;

roce_queued_by
roce_packet_queued_by(const roce_packet *packet);

/* Bytes of the frame on the link that it was captured on or mirrored from, without the
 * FCS. */
static inline uint32_t
roce_packet_wire_bytes(const roce_packet *packet, const roce_frame *frame)
{
    if (packet->mirror.kind != ROCE_MIRROR_NONE) {
        return packet->mirror.wire_bytes;
    }
    return packet->uncut_bytes != 0 ? packet->uncut_bytes : frame->wire_bytes;
}

/* Whether a part of the frame was not captured, or was cut off before. */
static inline bool
roce_packet_is_cut(const roce_packet *packet, const roce_frame *frame)
{
    return frame->captured_bytes < frame->wire_bytes || packet->uncut_bytes != 0;
}

/* Whether the ICRC of a packet with a BTH is among the bytes captured: neither the snap
 * length nor a mirror cut it off. */
static inline bool
roce_packet_has_icrc(const roce_packet *packet, uint32_t captured_bytes)
{
    return packet->end_offset >= 4 && packet->end_offset <= captured_bytes &&
           !packet->mirror.cut;
}

ROCE_END

#endif
