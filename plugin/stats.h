/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statistics of the open capture: what the Statistics menu shows, and tshark -z.
 *
 * The one rule: numbers are the tracker's.  What is counted by packet is counted of the
 * packet's own notes, and a filter chooses it; what belongs to a stream or a pause is read
 * from it when it is shown, and a filter chooses which of them to show, never what is
 * counted in them.
 *
 *   stats_conversations.c   -z conv,rocev2 and endpoints,rocev2
 *   stats_counts.c          -z rocev2,tree
 *   stats_response.c        -z rocev2,srt
 *   stats_queue_pairs.c     -z rocev2,qp
 *   stats_pauses.c          -z pfc,pauses
 *   stats_flow.c            -z flow,rocev2
 *   stats_table.c           what the two tables have in common
 *   stats_ending.c          the end of a capture that is read once
 */
#ifndef ROCESCOPE_STATS_H
#define ROCESCOPE_STATS_H

#include "taps.h"

/* Registers all of them, in the name of protocol rocev2. */
void
stats_register(int proto_rocev2);

/* ---- stats_conversations.c ---- */

void
conversations_register(int proto);

/* Adds hidden fields to filter by, as the window's filters on conversations have them. */
void
conversations_add_fields(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo,
                         const roce_stream *stream);

/* "10.0.0.1 QP 0x00001a", in a tenant network with its name behind it, of who sends a stream
 * and of who receives it; of `scope`. */
const char *
conversations_source(const roce_stream *stream, wmem_allocator_t *scope);
const char *
conversations_destination(const roce_stream *stream, wmem_allocator_t *scope);

/* An address alone; of `scope`. */
char *
conversations_address(const roce_addr *addr, wmem_allocator_t *scope);

/* ---- the others ---- */

void
counts_register(void);
void
response_register(int proto);
void
queue_pairs_register(void);
void
pause_table_register(void);
void
flow_register(int proto);

/* ---- stats_ending.c ---- */

/* A packet that a statistic takes. */
typedef struct taken_packet {
    uint32_t frame;
    uint32_t session; /* of tshark -M, which counts frames and streams anew in each */
    uint32_t bytes;   /* on the wire */
    uint32_t point;
    uint8_t src_mac[6];
    bool is_final; /* nothing more will be known of it and its stream */
} taken_packet;

typedef void (*ending_take_fn)(void *data, const taken_packet *packet);

void
ending_register(void);

/* Calls `take` with `data` and the packet: now, or, if it is seen for the first and only
 * time, when the capture is at its end and everything is decided, before anything is
 * shown.  Packets come in the order of the capture either way. */
void
ending_take(ending_take_fn take, void *data, const packet_info *pinfo,
            const tapped_packet *tapped);

#endif
