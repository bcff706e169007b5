/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trains: packets of one stream that follow one another in sequence and are alike.
 *
 * While a sender writes, sends or answers READs, and nothing is lost, marked or out of
 * order, its packets differ in what little a car has.  Whoever has many packets to take
 * tells by their bytes that they are such (roce_mould), keeps the cars, and has the tracker
 * take them at once: where there are many streams, what is known of one comes near once for
 * all of them.
 *
 * The one rule: a train changes nothing.  What the tracker knows behind it, and what it
 * says, is what it would know and say if the packets had come one by one, as long as the
 * cars of a stream are taken before anything else is that has to do with it.
 */
#ifndef ROCE_TRAIN_H
#define ROCE_TRAIN_H

#include "roce/decode.h"
#include "roce/icrc.h"
#include "roce/linkage.h"
#include "roce/opcode.h"
#include "roce/packet.h"
#include "roce/tracker.h"
#include "roce/wire_identity.h"

#include <stdbool.h>
#include <stdint.h>

ROCE_BEGIN

/* Of a packet alone. */
typedef struct roce_car {
    uint64_t time_ns, frame;
    uint64_t address; /* of its RETH; 0 without */
    uint32_t psn24;
    uint32_t payload_bytes, udp_bytes, wire_bytes; /* as in roce_packet, roce_frame */
    uint32_t check; /* its wire identity: the ICRC, or a hash where that was cut off */
    uint16_t ident; /* IPv4 identification; 0 for IPv6 */
    uint8_t opcode;
    /* Flags, together a byte without a bit to spare: of another one the rest would be read
     * before it is written, and waited for. */
    uint8_t ack_request : 4;
    uint8_t cut : 4; /* by the snap length, or on its way to the capture */
} roce_car;

#define ROCE_WRAPPER_BYTES 64

/* What a mirror puts around frames that it copies, as all of its copies have it. */
typedef struct roce_wrapper {
    uint8_t bytes[ROCE_WRAPPER_BYTES],
        shared[ROCE_WRAPPER_BYTES]; /* of these the bits */
    uint32_t n;
} roce_wrapper;

/* Takes the wrapper of a packet that roce_decode() made of a frame.  False for one that has
 * none, or another than ERSPAN I, II or III, Arista's or plain GRE over IPv4. */
bool
roce_wrapper_take(const roce_frame *frame, const roce_packet *packet,
                  roce_wrapper *wrapper);

/* Whether a frame is in that wrapper; *inner is what it holds, as if it had been captured
 * where it was copied.  What roce_decode() says of the two is the same, but for offsets and
 * what it says of the mirror. */
bool
roce_wrapper_open(const roce_wrapper *wrapper, const roce_frame *frame,
                  roce_frame *inner);

#define ROCE_MOULD_BYTES 80

/* Headers that the packets of a train share, as one of them has them: Ethernet with one
 * VLAN tag or none, IPv4 without options or IPv6 without extension headers, UDP, BTH. */
typedef struct roce_mould {
    uint8_t bytes[ROCE_MOULD_BYTES];
    uint8_t traffic_class, hop_limit; /* as in roce_packet */
    roce_direction direction;
    uint8_t operation; /* SEND, WRITE or READ: the least of its opcodes */
    uint8_t n_opcodes; /* that it has, one after the other */
    uint8_t shape;     /* by tag and IP version; of no meaning beyond core/mould.c */
    uint16_t ip_at, udp_at; /* of the network header, and of UDP, in the frame */
    uint16_t newest_middle; /* of its IPv4 header, see core/checksum.h */
    uint32_t newest_captured_bytes, newest_wire_bytes; /* of its frame */
    roce_car newest; /* without extension headers: most are like it */
} roce_mould;

/* Takes the mould of a packet that roce_decode() made of a frame, or of the wrapper that the
 * frame was in; frames that are to fit are without it likewise.  False for one that no
 * train is made of: only plain SENDs, WRITEs and Middle packets of READ responses of RC
 * are, with payload, that came whole and without a mark of congestion.  The first and the
 * last response of a READ fit the mould of one between them, if their AETH is an ACK that
 * limits no credits. */
bool
roce_mould_take(const roce_frame *frame, const roce_packet *packet, roce_mould *mould);

/* Whether roce_decode() would make the same of a frame as of the mould's, but for what the
 * car has.  The car's frame number is the frame's.  What the mould remembers of those that
 * fitted makes this faster, and nothing else. */
bool
roce_mould_fits(roce_mould *mould, const roce_frame *frame, roce_car *car);

/* Whether a packet that roce_decode() made of a frame is part of a READ response as cars of
 * the mould are, with an AETH, which is no NAK: if it becomes no car, those behind it are
 * still like the mould. */
bool
roce_mould_admits(const roce_mould *mould, const roce_frame *frame,
                  const roce_packet *packet);

/* The PSNs that its cars are counted in. */
roce_space
roce_mould_space(const roce_mould *mould);

/* As roce_wire_identity_of(), of the packet that became the car, from `src` to `dst`. */
void
roce_mould_wire_identity(const roce_mould *mould, const roce_frame *frame,
                         const roce_car *car, const roce_addr *src,
                         const roce_addr *dst, roce_wire_identity *identity);

/* As roce_icrc_check(), of the packet that became the car. */
roce_icrc_status
roce_mould_check_icrc(const roce_mould *mould, const roce_frame *frame,
                      const roce_car *car, roce_crc32_fn crc32);

/* A hash of what a stream's packets share, for finding moulds: of the bytes of any frame,
 * however short.  0 for what no train is made of. */
uint32_t
roce_mould_hash(const roce_frame *frame);

/* The cars of a stream that the tracker could take now. */
typedef struct roce_train_room {
    uint32_t n;    /* so many at most; 0: its next packet is to be taken by itself */
    bool may_grow; /* n is 0, but what is remembered of the stream may grow for a car */
    int64_t psn;   /* unwrapped, of the first */
    uint16_t ident; /* what its identification may not fall behind */
    /* Where they are responses: what is before has been acknowledged, and each one beyond
     * acknowledges what is before itself, the last of its READ itself as well. */
    int64_t una;
} roce_train_room;

/* At most `most` of them in that space.  Where there is no room and none can be made, the
 * rest means nothing. */
roce_train_room
roce_tracker_train_room(const roce_tracker *tracker, uint32_t stream, roce_space space,
                        uint32_t most);

/* Makes room where it may grow, for a packet that becomes a car next: as that packet would
 * if it were taken by itself.  The tracker may be crowded then.  False for lack of memory. */
bool
roce_tracker_grow_room(roce_tracker *tracker, uint32_t stream, roce_space space);

/* What requests of a stream are noted by until it is paired; 0: they are not.  It holds as
 * long as room that was told. */
uint64_t
roce_tracker_note_way(roce_tracker *tracker, uint32_t stream);

/* A request of a stream that has such a way has become a car: who acknowledges its PSN may
 * be the other direction.  Called in the order in which the cars and all other packets
 * come, whatever stream they are of. */
void
roce_tracker_note_car(roce_tracker *tracker, uint64_t way, uint32_t stream,
                      uint32_t psn24);

/* A packet that was captured at that point has become a car.  Called in the order in which
 * the cars and all other packets come, whatever stream they are of: what a point has seen
 * of all tells how much it may have missed. */
void
roce_tracker_see_car(roce_tracker *tracker, uint32_t point);

/* One will become a car soon: what that will want of memory comes near. */
void
roce_tracker_approach_note(const roce_tracker *tracker, uint64_t way, uint32_t psn24);

/* So many packets that came in mirrors have become cars. */
void
roce_tracker_count_mirrored(roce_tracker *tracker, uint32_t n);

/* Cars of a stream will be taken soon: what is known of the stream itself comes near. */
void
roce_tracker_approach_stream(const roce_tracker *tracker, uint32_t stream);

/* And so many of them: what they will want of memory comes near. */
void
roce_tracker_approach_train(const roce_tracker *tracker, uint32_t stream,
                            roce_space space, uint32_t n);

/* Takes n >= 1 cars, no more than there is room for, in sequence from the PSN told; each
 * fits the mould, of that space, of the packet with data of the stream that was taken last;
 * a request was noted if the stream is not paired.  None is behind the last response of a
 * READ.  None of their identifications is before the one before it, as serial numbers are
 * (RFC 1982).  `icrc` is what is known of each one's ICRC, which is not bad. */
void
roce_tracker_take_train(roce_tracker *tracker, uint32_t stream, roce_space space,
                        roce_icrc_status icrc, const roce_car *cars, uint32_t n);

/* As roce_tracker_add(), for a packet whose stream has been found; ROCE_NO_STREAM: it is to
 * be looked up. */
int
roce_tracker_add_found(roce_tracker *tracker, uint32_t stream, const roce_frame *frame,
                       const roce_packet *packet, roce_icrc_status icrc);

/* The stream of a packet at a point; ROCE_NO_STREAM: there is none yet. */
uint32_t
roce_tracker_find(const roce_tracker *tracker, uint32_t point,
                  const roce_packet *packet);

/* The other stream that a packet of that stream may have to do with, where that is plain:
 * its peer, or the one that it will pair it with; or ROCE_NO_STREAM. */
uint32_t
roce_tracker_partner(const roce_tracker *tracker, uint32_t stream,
                     const roce_packet *packet);

/* Whether a packet of that stream has to do with nothing but it and that other one.  False
 * where that is not plain. */
bool
roce_tracker_is_plain(const roce_tracker *tracker, uint32_t stream,
                      const roce_packet *packet);

/* Whether histories are to be cut before the next packet is taken, which is to be taken by
 * itself, behind the cars of all streams.  Nothing that is done with trains makes it so but
 * roce_tracker_grow_room(). */
bool
roce_tracker_is_crowded(const roce_tracker *tracker);

ROCE_END

#endif
