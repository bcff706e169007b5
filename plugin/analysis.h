/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The analysis of the open capture, packet by packet.
 *
 * The one rule: state moves once, when a frame is dissected for the first time; whoever
 * looks at a packet later, in whatever order, reads what is remembered.  What a later
 * packet tells about an earlier one is there from then on: from the second pass, and in
 * the window once the capture is loaded.
 *
 *   analysis.c   feeds the tracker, and keeps what it says
 *   memory.c     what is kept of each packet
 *   messages.c   which packets are one message
 *   points.c     capture points
 *   tree.c       shows it on a packet: what it belongs to
 *   events.c     and what happened
 *   words.c      in words
 *
 * Everything belongs to the analysis and lives until the capture is closed or dissected
 * anew.
 */
#ifndef ROCESCOPE_ANALYSIS_H
#define ROCESCOPE_ANALYSIS_H

#include "plugin.h"

#include "roce/psn.h"
#include "roce/tracker.h"

#define ANALYSIS_NONE UINT32_MAX

/* What is kept of one packet. */
struct packet_record {
    uint64_t time_ns;
    int64_t psn;                    /* unwrapped; 0 of what is in no sequence */
    uint32_t frame;                 /* its serial number in the capture */
    uint32_t number;                /* what Wireshark calls it; 0: it was dropped */
    uint32_t stream;                /* ROCE_NO_STREAM: of none */
    uint32_t first_note, last_note; /* ANALYSIS_NONE: there is none */
    uint32_t message;               /* index of a message_record, or ANALYSIS_NONE */
    uint32_t request; /* frame that an ACK names, or that a response answers; 0 */
    uint32_t answer_first, answer_last; /* frames of the responses to a request; 0 */
    uint32_t covered_by; /* frame that was first to acknowledge a request; 0 */
    uint32_t expected24; /* valid if `expected_known` */
    uint32_t acked_psn24, n_acked; /* PSNs that it was the first to acknowledge */
    bool expected_known;
    bool is_second_copy; /* of a mirror that delivers twice: not tracked */
};

/* Why a packet has a note. */
typedef enum note_role {
    NOTE_EVENT,   /* an event on this packet */
    NOTE_RELATED, /* an event on another packet that is about this one as well */
    NOTE_SAMPLE,  /* a latency that ended with this packet */
} note_role;

typedef struct note {
    uint32_t next;  /* ANALYSIS_NONE ends the list, which is in order of time */
    uint32_t index; /* of an event_record or a sample_record */
    uint8_t role;   /* note_role */
} note;

typedef struct event_record {
    roce_event event;
    uint32_t nak;         /* of a retransmission: frame of the NAK of its round; 0 */
    uint32_t undone_by;   /* frame that a verdict, or what a packet was taken for, was
                           * withdrawn on; 0: it stands */
    uint32_t loss_before; /* the loss before of the same stream, or ANALYSIS_NONE */
} event_record;

typedef struct sample_record {
    uint64_t duration_ns;
    uint32_t from;   /* frame that it began with; 0: no single one */
    uint8_t latency; /* roce_latency */
} sample_record;

/* Packets that are one message: requests, and the responses to a READ or atomic. */
typedef struct message_record {
    int64_t psn, end; /* unwrapped; end: behind the last, 0 while it was not seen */
    uint64_t bytes;   /* valid if `bytes_known` */
    uint64_t completion_ns;
    uint32_t first_frame, last_frame;
    uint32_t completed_by; /* frame; 0: not seen to complete, or not measured */
    uint32_t packet_bytes; /* of its first packet: of all but the last */
    bool bytes_known;
    bool is_answered; /* `last_frame` is of its last response */
    uint8_t role;     /* roce_role */
} message_record;

/* What is kept of each stream. */
typedef struct stream_record {
    GArray *messages;    /* message_entry in order of PSN; NULL: none yet */
    uint32_t last_loss;  /* newest event_record of a loss, or ANALYSIS_NONE */
    uint32_t nak;        /* frame of the NAK that the newest round answers; 0 */
    uint32_t connection; /* ANALYSIS_NONE: unpaired */
} stream_record;

/* ---- memory.c ---- */

/* Forgets what is known of packets; or also what frames are called. */
void
memory_clear_packets(void);
void
memory_clear(void);
/* Frames are known by their serial numbers in the capture, so here and in events; what
 * Wireshark calls them differs where a read filter drops some.  Says that a frame is
 * called so, and no earlier one is. */
void
memory_show(uint32_t number, uint32_t serial);
/* The record of what Wireshark calls so, or NULL. */
const packet_record *
memory_at(uint32_t number);
/* What Wireshark calls a frame; 0: it does not show it. */
uint32_t
memory_number(uint64_t frame);
/* The record of a frame, made if there is none; never NULL. */
packet_record *
memory_make(uint32_t frame);
/* The record of a frame, or NULL. */
packet_record *
memory_find(uint64_t frame);
const note *
memory_note(uint32_t index); /* NULL for ANALYSIS_NONE */
event_record *
memory_event(uint32_t index);
const sample_record *
memory_sample(uint32_t index);
message_record *
memory_message(uint32_t index);
/* Keep something; return its index. */
uint32_t
memory_add_event(const event_record *event);
uint32_t
memory_add_message(const message_record *message);
void
memory_add_sample(packet_record *record, const sample_record *sample);
void
memory_add_note(packet_record *record, note_role role, uint32_t index);
/* A stream's, made if there is none. */
stream_record *
memory_stream(uint32_t id);

/* ---- messages.c ---- */

/* A request or response took its place in its stream: which message it is of. */
void
messages_add_request(packet_record *record, const roce_packet *packet,
                     const roce_sighting *sighting);
/* A response or acknowledgement is about the message of the request that it answers. */
void
messages_add_answer(packet_record *record, const roce_packet *packet,
                    const packet_record *request);
/* The stream's PSNs begin anew. */
void
messages_restart(uint32_t stream);

/* ---- analysis.c ---- */

/* Registers what has to run when a capture is opened, read and closed. */
void
analysis_register(void);

/* Takes a packet that is dissected for the first time.  Returns its record, first time
 * or not; NULL: nothing is known of it. */
const packet_record *
analysis_take(const packet_info *pinfo, const plugin_packet *packet);

/* Takes a frame whose packet, if any, was not taken; `tvb` holds it all. */
void
analysis_see(tvbuff_t *tvb, const packet_info *pinfo);

/* The capture was read to its end: what is still open is decided. */
void
analysis_finish(void);

/* Has this called before what is known of a capture is forgotten, or of a session of it
 * (tshark -M). */
void
analysis_before_forgetting(void (*call)(void));

/* The tracker of the open capture; NULL when nothing was tracked. */
const roce_tracker *
analysis_tracker(void);

/* That of the coarsest stamps that the open capture has, in ns. */
uint64_t
analysis_resolution_ns(void);

/* Nanoseconds between two frames, 0 where the clock stepped back; false if one of them
 * is not known. */
bool
analysis_delta_ns(uint32_t from, uint32_t to, uint64_t *delta_ns);

/* ---- tree.c ---- */

void
tree_register(int proto, expert_module_t *experts);

/* Adds the analysis of a packet to its tree, and its expert infos. */
void
tree_add_analysis(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree,
                  const packet_record *record);

#endif
