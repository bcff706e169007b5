/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the rules of the tracker share.  One file per rule:
 *
 *   tracker.c        takes a packet, finds its stream, calls the rules in order
 *   count.c          what is counted of a packet, whatever it means
 *   train.c          takes some packets of one stream at once, of which no rule has a say
 *   table.c          streams by key
 *   parts.c          what not every stream has
 *   room.c           how long histories may be, and how fine distributions
 *   ident.c          wire identity, and the order of sending that it tells
 *   sequence.c       requests: order, gaps, copies (start reading there)
 *   request.c        what a request is, and whether another one had its PSN
 *   asked_part.c     READs that were asked for again in part
 *   acceptor.c       what a receiver at this point would take, and discard
 *   span.c           how many PSNs a request takes, and the path MTU that it rests on
 *   unnumbered.c     copies that no identification tells apart
 *   leap.c           packets that were damaged in their PSN, without an ICRC that says so
 *   round.c          rounds of retransmission and their causes
 *   unheard.c        what was done before the other side was heard
 *   loss.c           what went unseen, and verdicts
 *   misses.c         what the point itself misses
 *   vantage.c        where the point stands, and whether it sees one path of several
 *   acknowledge.c    ACK, NAK and RNR NAK
 *   rebirth.c        queue pairs made anew, as ACKs show
 *   respond.c        READ responses and atomic acknowledgements
 *   respond_behind.c those behind the newest: late, doubled, sent again
 *   pair.c           which two streams are one queue pair
 *   connection.c     pairing by CM, and by queue pairs that the user names
 *   refusal.c        services that SIDR REPs refuse
 *   pair_user.c      pairing by the user's tables
 *   source_port.c    pairing verified by UDP source ports
 *   congest.c        ECN and CNP
 *   pacing.c         how far apart CNPs are kept, and by what
 *   measure.c        latencies
 *   stop.c           PFC and pause
 *
 * The one rule: a stream's PSNs are unwrapped when they come in; inside, a PSN is an
 * int64_t that only grows.
 */
#ifndef ROCE_CORE_TRACK_H
#define ROCE_CORE_TRACK_H

#include "index.h"
#include "parts.h"
#include "roce/cm.h"
#include "roce/psn.h"
#include "roce/tracker.h"
#include "roce/train.h"

/* No queue pair has so many PSNs outstanding: what lies further off is another one's. */
#define ROCE_RESTART_DISTANCE 65536

typedef enum roce_ident_mode {
    ROCE_IDENT_CONSTANT, /* or no IPv4 */
    ROCE_IDENT_CHANGING, /* differs from packet to packet */
    ROCE_IDENT_RISING,   /* and grows with time */
} roce_ident_mode;

/* A stream with what its rules remember: first, what they look at for each request. */
typedef struct roce_stream_state {
    roce_stream pub; /* first, so that a roce_stream is a state */

    int64_t una;       /* everything below is acknowledged */
    uint64_t way_hash; /* of its requests, see pair.c; 0: not asked for yet */
    roce_lane requests;
    uint16_t ident_last, check_last; /* of the newest packet; half of its check */
    int8_t last_ecn;                 /* -1 before the first data packet */
    uint8_t directions;  /* roce_direction of its packets, or'ed: it passes here */
    uint8_t port_vetoes; /* PSNs would have paired it against what ports say */
    bool ident_seen : 1;
    bool reborn : 1; /* CM has set up its queue pair anew */
    bool acked : 1;
    bool vantage_given : 1; /* the user told pub.vantage */
    bool has_leapt : 1;     /* a packet of it was held, see leap.c */
    uint32_t ident_rises, ident_same, ident_other;
    /* pairing */
    uint32_t contradictions;
    uint32_t older_of_way;  /* stream id + 1: a chain of source_port.c; 0 ends it */
    uint32_t older_of_port; /* likewise */
    /* ACKs by which it would have been paired against the user's tables; or, of one that is
     * paired, in a row those that are about another one than its peer. */
    uint32_t vetoes;
    /* Bytes: no smaller path MTU would have let a packet of it by, or of the answers. */
    uint16_t least_pmtu;
    uint8_t checksum_credits; /* see checksum.h */
    /* Parts that not every stream has, like those of `pub`; see parts.h. */
    roce_heard *heard;
    roce_answers *answers;
} roce_stream_state;

/* Time from `then` to `now`; 0 where the clock stepped back. */
static inline uint64_t
roce_since_ns(uint64_t now_ns, uint64_t then_ns)
{
    return now_ns > then_ns ? now_ns - then_ns : 0;
}

/* What takes less was under way before, as the least of n times tells that it took: hosts are
 * slow at times, so that few of them tell little. */
static inline uint64_t
roce_too_soon_ns(uint64_t least_ns, uint32_t n)
{
    const uint32_t few = 4, many = 16;
    return n < few ? least_ns / 8 : n < many ? least_ns / 2 : least_ns / 4 * 3;
}

static inline roce_lane *
roce_requests(roce_stream_state *s)
{
    return &s->requests;
}

/* Of a stream that has answered. */
static inline roce_lane *
roce_responses(roce_stream_state *s)
{
    return &s->answers->lane;
}

static inline roce_lane *
roce_lane_at(roce_stream_state *s, roce_space space)
{
    return space == ROCE_SPACE_REQUESTS ? roce_requests(s) : roce_responses(s);
}

/* What a stream remembers; where it has no such part, nothing. */
static inline const roce_trouble *
roce_trouble_of(const roce_stream_state *s)
{
    return s->pub.trouble != NULL ? (const roce_trouble *)s->pub.trouble
                                  : &roce_untroubled;
}

/* That part, to be written to; NULL: the stream has none. */
static inline roce_trouble *
roce_trouble_had(roce_stream_state *s)
{
    return (roce_trouble *)s->pub.trouble;
}

static inline const roce_congestion *
roce_congestion_of(const roce_stream_state *s)
{
    return s->pub.congestion != NULL ? (const roce_congestion *)s->pub.congestion
                                     : &roce_uncongested;
}

static inline const roce_heard *
roce_heard_of(const roce_stream_state *s)
{
    return s->heard != NULL ? s->heard : &roce_unheard;
}

static inline const roce_carried *
roce_carried_of(const roce_stream_state *s)
{
    return s->pub.control != NULL ? (const roce_carried *)s->pub.control
                                  : &roce_uncarried;
}

static inline const roce_answers *
roce_answers_of(const roce_stream_state *s)
{
    return s->answers != NULL ? s->answers : &roce_unanswered;
}

static inline const roce_lane *
roce_lane_of(const roce_stream_state *s, roce_space space)
{
    return space == ROCE_SPACE_REQUESTS ? &s->requests : &roce_answers_of(s)->lane;
}

typedef struct roce_pair_entry roce_pair_entry;
typedef struct roce_point_tally roce_point_tally;

/* A verdict of lost_before_capture that may have to be taken back. */
typedef struct roce_loss_claim {
    uint32_t stream; /* id + 1; 0 none */
    uint32_t copies;
    roce_space space;
    bool asked;
    int64_t psn;
} roce_loss_claim;

#define ROCE_LOSS_CLAIMS 64
typedef struct roce_user_tables roce_user_tables;

struct roce_tracker {
    roce_alloc alloc;
    roce_tracker_config config;
    roce_tracker_totals totals;

    roce_stream_state **blocks; /* streams by id, ROCE_STREAMS_AT_ONCE in each */
    uint32_t n_streams, n_blocks, blocks_capacity;
    struct roce_table_entry *index; /* by hash, see table.c */
    uint32_t index_size;
    uint32_t history_max;       /* packets of one history, see room.c */
    uint64_t history_packets;   /* that all histories have room for */
    uint32_t histogram_max;     /* buckets of one distribution of latencies */
    uint64_t histogram_buckets; /* that all of them have beyond the least number */
    roce_sighting last; /* of the packet that is being tracked, and afterwards */

    uint32_t n_pairings; /* made so far */

    roce_connection *connections;
    uint32_t n_connections, connections_capacity;
    roce_refusal *refusals;
    uint32_t n_refusals, refusals_capacity;

    roce_pair_entry *pairs; /* requests of unpaired streams by PSN, see pair.c */

    uint32_t *ways, *port_ways; /* newest stream of each, see source_port.c */

    /* How many packets in sequence each point saw, and missed: see misses.c. */
    struct roce_point_tally {
        uint64_t seen, missed;
        uint64_t first_ns; /* of its first stream; valid if has_begun */
        bool has_begun;
    } * tallies;
    uint32_t n_tallies, tallies_capacity;
    roce_loss_claim claims[ROCE_LOSS_CLAIMS]; /* the newest */
    uint32_t claim_at, n_claims; /* n_claims: that could still be taken back */

    struct roce_user_pair {
        roce_addr addr[2];
        uint32_t qpn[2];
    } * user_pairs;
    uint32_t n_user_pairs, user_pairs_capacity;
    roce_user_tables *user_tables; /* NULL: none were given, see pair_user.c */

    struct roce_pause_state {
        roce_pause_source pub;
        uint64_t ended_ns;     /* the newest interval: none begins before it */
        uint64_t seen_ns;      /* newest frame, by the clock as it runs now */
        uint64_t asked_ns;     /* newest that asked for time, while that may go on */
        uint64_t asked_for_ns; /* for how long, on the fastest link */
        uint32_t intervals_capacity;
    } * pauses;
    uint32_t n_pauses, pauses_capacity;
    roce_index pause_index; /* by point, MAC and priority */
    uint64_t latest_ns;
    uint32_t cnp_searches;

    struct roce_notifier_state *notifiers; /* who sends CNPs, see pacing.c */
    uint32_t n_notifiers, notifiers_capacity;
    roce_index notifier_index;
    struct roce_cnp_way *cnp_ways;
    uint32_t n_cnp_ways, cnp_ways_capacity;
    roce_index cnp_way_index;

    /* Where parts are written for which there was no memory; nobody reads it. */
    union {
        roce_trouble trouble;
        roce_congestion congestion;
        roce_carried carried;
        roce_heard heard;
    } nowhere;
};

#define ROCE_STREAMS_AT_ONCE 32u /* for which memory is asked */

static inline roce_stream_state *
roce_state_at(const roce_tracker *t, uint32_t id)
{
    return &t->blocks[id / ROCE_STREAMS_AT_ONCE][id % ROCE_STREAMS_AT_ONCE];
}

/* A packet on its way through the rules. */
typedef struct roce_arrival {
    const roce_frame *frame;
    const roce_packet *packet;
    const roce_opcode_info *info;
    roce_identity identity;
    uint64_t seen_ns;    /* when; earlier than the frame for what was in doubt */
    uint64_t seen_frame; /* likewise */
    uint64_t missed_ns;  /* likewise: when it was noticed missing, 0 if it was not */
    uint64_t nak_frame;  /* what was in doubt: the newest NAK before it; 0: none */
    int64_t psn;         /* unwrapped, once a rule has done it */
    uint32_t span;
    roce_icrc_status icrc;
    bool corrupt;     /* damaged, as its ICRC or checksum proves: it moves no state */
    bool by_checksum; /* that of its IP header proves it */
    bool asked_later; /* what was in doubt: the newest NAK came behind it */
} roce_arrival;

/* tracker.c */
void
roce_track_emit(roce_tracker *t, const roce_event *event);
/* The packet belongs to an earlier one, `to`, of `s`; nothing if that is 0. */
void
roce_track_relate(roce_tracker *t, const roce_stream_state *s, const roce_arrival *a,
                  roce_relation_kind kind, uint64_t to);
/* An event of this stream on this frame, with everything else zero. */
roce_event
roce_track_event(roce_event_kind kind, const roce_stream_state *s,
                 const roce_arrival *a);
roce_stream_state *
roce_track_peer(const roce_tracker *t, const roce_stream_state *s);
void *
roce_track_resize(roce_tracker *t, void *old, size_t size);
/* New memory that is 0. */
void *
roce_track_zeroed(roce_tracker *t, size_t size);
/* Makes room for one more element in a growing array; false for lack of memory. */
bool
roce_track_reserve(roce_tracker *t, void **array, uint32_t *capacity, uint32_t n,
                   size_t element);

/* count.c */
/* What the frame is. */
void
roce_count_frame(roce_tracker *t, const roce_packet *packet);
/* What its own header checksum says of a packet of no stream. */
void
roce_count_damaged(roce_tracker *t, const roce_frame *frame, const roce_packet *packet);
/* A packet of a stream that was not damaged. */
void
roce_count_packet(roce_tracker *t, roce_stream_state *s, const roce_arrival *a);
/* Whether its ICRC was checked; also of one that was damaged. */
void
roce_count_icrc(roce_tracker *t, roce_stream_state *s, const roce_arrival *a);
/* Packets of that opcode. */
void
roce_count_opcode(roce_tracker *t, roce_stream *s, uint8_t opcode, uint32_t packets);
/* At the end: what was carried by streams that are nobody's other direction. */
void
roce_count_unattributed(roce_tracker *t);

/* table.c */
typedef struct roce_stream_key {
    uint32_t point;
    roce_tenant tenant;
    roce_addr src, dst;
    uint32_t dst_qpn;
    uint32_t src_qpn; /* of UD, else 0 */
} roce_stream_key;

roce_stream_state *
roce_table_find(const roce_tracker *t, const roce_stream_key *key);
/* Finds or makes; NULL when the table is full or memory is short. */
roce_stream_state *
roce_table_get(roce_tracker *t, const roce_arrival *a);
void
roce_table_clear(roce_tracker *t);

/* A table was full: counted, and told now and then. */
void
roce_track_evicted(roce_tracker *t, roce_table table, const roce_stream_state *s,
                   const roce_arrival *a);

/* parts.c: the part of a stream, made if it has none.  For lack of memory, which is told
 * as an eviction, what is written into the one returned is lost. */
roce_trouble *
roce_trouble_make(roce_tracker *t, roce_stream_state *s);
roce_congestion *
roce_congestion_make(roce_tracker *t, roce_stream_state *s);
roce_heard *
roce_heard_make(roce_tracker *t, roce_stream_state *s);
roce_carried *
roce_carried_make(roce_tracker *t, roce_stream_state *s);
/* This one returns NULL for lack of memory, and tells of it. */
roce_answers *
roce_answers_make(roce_tracker *t, roce_stream_state *s);
/* Gives back all parts of a stream. */
void
roce_parts_clear(roce_tracker *t, roce_stream_state *s);

/* room.c */
void
roce_room_init(roce_tracker *t);
/* As roce_history_insert(), which may not be called otherwise. */
roce_slot *
roce_room_take(roce_tracker *t, roce_history *history, int64_t psn, int64_t keep_from,
               uint64_t *forgot);
/* Whether a history may become twice as long. */
bool
roce_room_may_grow(const roce_tracker *t, const roce_history *history);
/* As roce_room_take() does when it is full.  False if it may not, or for lack of memory. */
bool
roce_room_grow(roce_tracker *t, roce_history *history);
/* A lane begins anew, and gives back all that it holds. */
void
roce_room_give_back(roce_tracker *t, roce_lane *lane);
/* Adds a sample to a latency of a stream. */
void
roce_room_sample(roce_tracker *t, roce_histogram *h, uint64_t sample_ns);
/* Takes all samples out of it, and their memory back. */
void
roce_room_forget_samples(roce_tracker *t, roce_histogram *h);
/* Whether more is taken than there is room for. */
static inline bool
roce_room_is_over(const roce_tracker *t)
{
    return t->history_packets > t->config.history_room_packets ||
           t->histogram_buckets > t->config.histogram_room_buckets;
}
/* Whether histories can be cut any further. */
bool
roce_room_may_cut(const roce_tracker *t);
/* Cuts histories until all fit into their room, or are as short as can be, and coarsens
 * distributions likewise.  Entries move. */
void
roce_room_make(roce_tracker *t);

/* ident.c */
roce_ident_mode
roce_ident_mode_of(const roce_stream_state *s);
/* Follows the sender's IPv4 identifications. */
void
roce_ident_follow(roce_stream_state *s, const roce_identity *id);
/* The same for n >= 1 cars. */
void
roce_ident_follow_train(roce_stream_state *s, const roce_car *cars, uint32_t n);
roce_identity
roce_ident_of(const roce_frame *frame, const roce_packet *p);
/* Whether one identification was given out before another; false if nobody can tell. */
bool
roce_ident_is_older(const roce_stream_state *s, uint16_t ident, uint16_t than);
/* Whether a packet sent later came before this one; told by the identification alone.
 */
bool
roce_ident_was_overtaken(const roce_stream_state *s, const roce_lane *lane,
                         const roce_arrival *a);
/* How many packets the sender can have sent since the newest seen, at most, as far as
 * its identifications tell. */
uint32_t
roce_ident_room(const roce_stream_state *s, const roce_lane *lane,
                const roce_arrival *a);
/* Whether a packet was sent before one that came before it. */
bool
roce_ident_was_sent_before(const roce_stream_state *s, const roce_arrival *a,
                           const roce_arrival *than);
/* Whether this copy was sent before the first that was seen of the entry. */
bool
roce_ident_was_before(const roce_stream_state *s, const roce_slot *slot,
                      const roce_arrival *a);
/* Follows the newest identification of a space. */
void
roce_ident_follow_lane(roce_lane *lane, const roce_arrival *a);
bool
roce_ident_same_copy(const roce_stream_state *s, const roce_slot *slot,
                     const roce_identity *identity);
/* Whether a request that brings no payload says something else than those that are known to
 * have had its PSN, kind and length: their ICRCs differ by more than their identifications
 * account for.  False where that is not known. */
bool
roce_ident_says_otherwise(const roce_stream_state *s, const roce_slot *slot,
                          const roce_arrival *a);

/* request.c */

/* Bytes of the message that this request brings or asks for. */
uint64_t
roce_request_bytes(const roce_arrival *a);
/* What its entry keeps of it. */
void
roce_request_describe(roce_slot *slot, const roce_arrival *a);
/* Whether another request had this PSN before: whatever is sent again has its kind and its
 * length, but for READs, of which some ask for less, writes to the same place, and reads from
 * it.  A queue pair with the number of an older one and PSNs that begin where those did sends
 * it.  Only a packet of which all was seen can prove it by its kind or length. */
bool
roce_request_is_of_another(const roce_stream_state *s, const roce_arrival *a);

/* sequence.c */
void
roce_sequence_request(roce_tracker *t, roce_stream_state *s, roce_arrival *a);
/* The same for one of which it is known that it was not damaged in its PSN. */
void
roce_sequence_take(roce_tracker *t, roce_stream_state *s, roce_arrival *a);
/* `a` is what a stream begins with: the only request before it was damaged. */
void
roce_sequence_begin_anew(roce_tracker *t, roce_stream_state *s, roce_arrival *a);
void
roce_sequence_finish(roce_tracker *t, roce_stream_state *s);
/* Requests before this one may be forgotten without loss. */
int64_t
roce_sequence_keep_from(const roce_stream_state *s);
/* What the requester sends next in a run: behind what it sent and what is acknowledged. */
int64_t
roce_sequence_due(const roce_stream_state *s);
/* Whether the request, which came before, is the next one of a run of requests from before
 * the first that came here: the requester had gone back to what the capture does not have,
 * and nobody can tell why. */
bool
roce_sequence_runs_on_from_before(const roce_stream_state *s, const roce_arrival *a);

/* asked_part.c */
/* Whether a request for a READ, of which `slot` is the entry or NULL, that asks up to `end` asks
 * for less than before: who goes back asks for all the rest. */
bool
roce_asked_part_is(const roce_slot *slot, int64_t end);
/* Remembers the newest request if it is such a one. */
void
roce_asked_part_note(roce_tracker *t, roce_stream_state *s, const roce_slot *slot,
                     int64_t end);
/* Those of the queue pair that was there before were of other READs. */
void
roce_asked_part_forget(roce_trouble *trouble);
/* How often a READ was asked for again in a part that ends before `psn`, as far as is remembered,
 * up to the transmission `before_tx`: nothing was asked for then from there on. */
uint32_t
roce_asked_part_count(const roce_stream_state *s, const roce_slot *slot, int64_t psn,
                      uint64_t before_tx);
/* Where the first of such parts ends behind `from`, or `until`. */
int64_t
roce_asked_part_end(const roce_stream_state *s, int64_t from, int64_t until);

/* acceptor.c */
/* A copy of a request comes, whatever it is; returns whether it is taken, or had been. */
bool
roce_acceptor_offer(roce_tracker *t, roce_stream_state *s, const roce_arrival *a);
/* It discards a request, since it waits for one before it: a responder at this point would send
 * a NAK now, once per PSN that it waits for. */
void
roce_acceptor_discard(roce_tracker *t, roce_stream_state *s, uint64_t frame,
                      uint64_t time_ns);
/* It expects `psn`: whatever was sent from there on before, it did not take. */
void
roce_acceptor_expect(roce_tracker *t, roce_stream_state *s, roce_space space,
                     int64_t psn);
/* It has got everything below `una`.  If it waited here for some of that, the point had missed
 * it; what was seen behind it, sent in order, was taken as well. */
void
roce_acceptor_catch_up(roce_lane *lane, int64_t una);
/* Whether it took the newest copy, by what is known now. */
bool
roce_acceptor_has_taken(const roce_stream_state *s, roce_space space,
                        const roce_slot *slot);
/* A NAK asks for `psn`: what it answers is the newest request discarded for that, which no NAK
 * has answered; NULL if there is none. */
const roce_violation *
roce_acceptor_take_violation(roce_stream_state *s, int64_t psn);
/* The frame of the newest request discarded while `psn` was expected, if no NAK has answered it
 * or it came after frame `after`; or 0. */
uint64_t
roce_acceptor_frame_beyond(const roce_stream_state *s, int64_t psn, uint64_t after);

/* span.c */
#define ROCE_LEAST_PMTU 256 /* bytes; the others are multiples of it */
/* How many PSNs the request takes; 1 and `unknown` for a READ whose answer may be longer. */
uint32_t
roce_span_of(const roce_stream_state *s, const roce_arrival *a, bool *unknown);
/* A READ of unknown length before the request at `psn` ends there: that is no gap. */
void
roce_span_resynchronise(roce_stream_state *s, int64_t psn);
void
roce_span_learn_pmtu(roce_stream_state *s, uint32_t pmtu_bytes);
/* A First or Middle packet of `s`'s messages, or of their answers, is as long as the
 * path MTU, and none is longer. */
void
roce_span_learn_from(roce_stream_state *s, roce_part part, uint32_t payload_bytes);

/* Whether so many copies in a row of a round that has shown `seen` may have been lost.  Where
 * nothing numbers them, that more went unseen is less likely than that they were not sent: a
 * late packet or a duplicate was taken for the round, or for its beginning. */
bool
roce_round_may_lose(const roce_stream_state *s, uint64_t n, uint64_t seen);

/* unnumbered.c: both return false when the packet was surely sent again; if true it is
 * in doubt, to be taken for late or for a duplicate by the caller. */
bool
roce_unnumbered_missing(roce_tracker *t, roce_stream_state *s, const roce_arrival *a);
bool
roce_unnumbered_repeated(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                         roce_slot *slot);
/* A copy that the newest round had skipped: it was overtaken by those behind it.  Where a
 * NAK asks for it, it stays in doubt as well: the next request may show that it was the
 * answer. */
bool
roce_unnumbered_overtaken(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                          const roce_slot *slot);
/* The next request is here: was what was in doubt the first of a run? */
void
roce_unnumbered_settle(roce_tracker *t, roce_stream_state *s, const roce_arrival *a);
/* Whether the next request tells what one was that has come. */
bool
roce_unnumbered_is_in_doubt(const roce_stream_state *s);
void
roce_unnumbered_finish(roce_tracker *t, roce_stream_state *s);

/* round.c */
/* How long without news makes a copy a timeout's. */
uint64_t
roce_round_timeout_floor_ns(const roce_tracker *t, const roce_stream_state *s);
/* How long a requester takes to answer a NAK, generously: software may sleep over it.  Beyond
 * that it was a timer that had to do its work. */
uint64_t
roce_round_answer_within_ns(const roce_tracker *t, const roce_stream_state *s,
                            uint64_t wait_ns);
/* From a NAK to its answer, at least; 0: unknown.  Of three and more the second least, as one
 * late packet that is taken for an answer may make the least one too short. */
uint64_t
roce_round_path_ns(const roce_stream_state *s);
/* When the NAK came that `a` would answer: the oldest that no round has, or the newest. */
uint64_t
roce_round_asked_ns(const roce_stream_state *s, const roce_arrival *a);
/* Of several NAKs on their way at once, one before the newest that asks for just this, and that
 * nothing has answered; NULL: there is none. */
const roce_older_nak *
roce_round_older_nak(const roce_tracker *t, const roce_stream_state *s,
                     const roce_arrival *a);
/* A NAK of the one time has been answered by a packet of the other. */
void
roce_round_learn_reaction(roce_tracker *t, roce_stream_state *s, uint64_t asked_ns,
                          uint64_t answered_ns);
bool
roce_round_nak_explains(const roce_tracker *t, const roce_stream_state *s,
                        const roce_arrival *a);
/* Whether a PSN belongs to the round that is under way, of which some before it may be
 * missing. */
bool
roce_round_is_ahead(const roce_stream_state *s, int64_t psn);
/* Whether the timer has gone off once more for such a PSN. */
bool
roce_round_timed_out_again(const roce_tracker *t, const roce_stream_state *s,
                           const roce_arrival *a);
/* Time since the newest transmission of `a`'s PSN that was seen, in `slot`; where none
 * was, since it was missed. */
uint64_t
roce_round_age(const roce_stream_state *s, const roce_arrival *a,
               const roce_slot *slot);
/* Whether a timer may have gone off in silence: the requester had sent nothing before this, or
 * before the round that is under way, which repeats this as well. */
bool
roce_round_was_silent(const roce_tracker *t, const roce_stream_state *s,
                      const roce_arrival *a, const roce_slot *slot);
roce_cause
roce_round_find_cause(const roce_tracker *t, const roce_stream_state *s,
                      const roce_arrival *a, const roce_slot *slot);
void
roce_round_start(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                 roce_cause cause, uint64_t age_ns);
/* Whether what is sent again ahead in a round is asked for by itself, and so begins another one:
 * by a NAK that came since, or since its response is missing as well. */
bool
roce_round_is_asked_anew(const roce_tracker *t, const roce_stream_state *s,
                         const roce_arrival *a, const roce_slot *slot);
/* A round, which began with a PSN on a frame, was needless. */
void
roce_round_count_spurious(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                          int64_t start, uint64_t frame);
/* What a run skips went unseen, unless an ACK has told the requester that it need not
 * send it, or there was no room for it: then it sends again just what is missing. */
void
roce_round_skip(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                int64_t until);
void
roce_round_continue(roce_tracker *t, roce_stream_state *s, const roce_arrival *a);
void
roce_round_mark_spurious(roce_tracker *t, roce_stream_state *s, const roce_arrival *a);
/* The newest copy of `slot` was seen here, and now it is sent again. */
void
roce_round_judge_copy(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                      roce_slot *slot, bool opens_round);
/* The cause of the round is known now: so is more of the copy that it was told to repeat. */
void
roce_round_judge_anew(roce_tracker *t, roce_stream_state *s, const roce_arrival *a);
/* The newest of the times that doubt was cast on a PSN no longer counts. */
void
roce_round_forget_doubt(roce_round *round);
/* One transmission more of what timeouts have cast doubt on was answered: it was not lost, nor
 * was its ACK, which came late. */
void
roce_round_take_back_doubt(roce_tracker *t, roce_stream_state *s,
                           const roce_arrival *a);
void
roce_round_count(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                 uint64_t earlier);

/* unheard.c */
/* What never came here comes.  If a NAK has asked for it that the other direction had carried
 * before the two were paired, that is heard now. */
void
roce_unheard_hear_late(roce_tracker *t, roce_stream_state *s, const roce_arrival *a);
/* The other direction is known now, and with it what it had said. */
void
roce_unheard_reconsider(roce_tracker *t, roce_stream_state *s, const roce_arrival *a);

/* loss.c */
void
roce_loss_say(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
              roce_space space, roce_verdict verdict, roce_evidence evidence,
              int64_t psn, uint64_t copies, uint64_t related);
void
roce_loss_withdraw(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                   roce_space space, roce_verdict verdict, int64_t psn);
/* Notes that [start, end) of a space went unseen. */
void
roce_loss_miss(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
               roce_space space, int64_t start, int64_t end, bool first_seen);
/* Whether this point sees what the sender of the stream sends before anything can be
 * lost: then what is missing was missed by the capture. */
bool
roce_loss_is_at_sender(const roce_stream_state *s);
/* A packet that came damaged, with that PSN or what it had before: it moves no state, and is
 * remembered as a hint. */
void
roce_loss_note_bad(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                   uint32_t psn24, roce_evidence evidence);
/* No packet that came damaged accounts for one that is missing any more. */
void
roce_loss_forget_bad(roce_tracker *t, roce_trouble *trouble);
/* The lowest PSN of [start, end) of which a packet came damaged, not long ago; else `end`.
 */
int64_t
roce_loss_first_bad(const roce_stream_state *s, int64_t start, int64_t end);
/* Packets that came with a bad ICRC, and of which nothing else came: `a` asks for [start,
 * end) again.  Whether there are any. */
bool
roce_loss_corrupt(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                  roce_space space, int64_t start, int64_t end);
/* A request was answered by a copy that had been taken for the one missing: that one went unseen
 * as well, beside those that still are missing. */
void
roce_loss_say_asked(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                    int64_t psn);
/* The verdict on unseen transmissions of which `a` is a later copy. */
roce_verdict
roce_loss_judge(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                roce_space space, roce_missing_range *range);
/* Decides on what was missing in [psn, psn + span), now that it was sent again. Returns
 * how many transmissions were judged lost before this point. */
uint32_t
roce_loss_resolve(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                  roce_space space);
/* One transmission of this PSN that was thought unseen is here after all, late: it is
 * taken out of what is missing, or else a verdict about `slot` (may be NULL) is
 * withdrawn, which is what is returned. */
bool
roce_loss_unmiss(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                 roce_space space, roce_slot *slot);
/* Remembers on `slot` (may be NULL) what was judged lost, to withdraw it if need be. */
void
roce_loss_note(roce_slot *slot, uint32_t copies);
void
roce_loss_trim(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
               roce_space space);
/* What is missing to the end. */
void
roce_loss_finish(roce_tracker *t, roce_stream_state *s, roce_space space);

/* Whether no request is missing but what an ACK has covered, which the point missed: that
 * is kept to the end, and means nothing to what comes behind it in sequence. */
static inline bool
roce_loss_is_delivered(const roce_stream_state *s)
{
    return roce_missing_is_before(&s->requests.missing, s->acked ? s->una : INT64_MIN);
}

/* leap.c */
/* PSNs: what jumps by less is never held. */
#define ROCE_LEAP_LEAST 16
/* Whether a PSN has one bit other than the one due, and jumps so far. */
static inline bool
roce_leap_is_one_bit(uint32_t psn24, int64_t due)
{
    uint32_t bits = psn24 ^ roce_psn_wrap(due);
    return bits >= ROCE_LEAP_LEAST && (bits & (bits - 1)) == 0;
}
/* The next two for a stream of which one was held. */
bool
roce_leap_is_open(const roce_stream_state *s, roce_space space);
int64_t
roce_leap_due_behind(const roce_stream_state *s, roce_space space, int64_t next);
/* Whether one of that space is held. */
static inline bool
roce_leap_is_held(const roce_stream_state *s, roce_space space)
{
    return s->has_leapt && roce_leap_is_open(s, space);
}
/* What is due where `next` would be if the newest had not been damaged. */
static inline int64_t
roce_leap_due(const roce_stream_state *s, roce_space space, int64_t next)
{
    return s->has_leapt ? roce_leap_due_behind(s, space, next) : next;
}
/* Whether a packet, as far as its PSN tells, may have been damaged in that. */
bool
roce_leap_may_be(const roce_stream_state *s, const roce_arrival *a, int64_t due);
/* Holds it until the next one comes.  False for lack of memory, which is told. */
bool
roce_leap_hold(roce_tracker *t, roce_stream_state *s, roce_space space,
               const roce_arrival *a, int64_t due);
/* The same for a request that is one bit off from the PSN due, if it may have been damaged in
 * that and nothing known explains it.  False: it is taken as it is. */
bool
roce_leap_hold_request(roce_tracker *t, roce_stream_state *s, roce_arrival *a,
                       int64_t due);
/* `a` is the next packet of the space where one is held: takes that one, or finds it damaged.
 */
void
roce_leap_settle(roce_tracker *t, roce_stream_state *s, roce_space space,
                 const roce_arrival *a);
/* `a` acknowledges requests of `s`, of which one is held. */
void
roce_leap_hear(roce_tracker *t, roce_stream_state *s, const roce_arrival *a);
/* Its PSNs begin anew: nothing is said of what is held. */
void
roce_leap_forget(roce_stream_state *s, roce_space space);
/* What is held at the end is taken. */
void
roce_leap_finish(roce_tracker *t, roce_stream_state *s);

/* misses.c */
/* Makes room to count what a point sees; whether there is some. */
bool
roce_misses_make_tally(roce_tracker *t, uint32_t point);
/* A point saw a packet of a stream with a sequence. */
static inline void
roce_misses_saw(roce_tracker *t, uint32_t point)
{
    if (point < t->n_tallies || roce_misses_make_tally(t, point)) {
        t->tallies[point].seen++;
    }
}
/* Whether a point is known to have missed any packet. */
static inline bool
roce_misses_any(const roce_tracker *t, uint32_t point)
{
    return point < t->n_tallies && t->tallies[point].missed > 0;
}
/* The point of a stream is known to have missed a packet: claims that this spoils are taken
 * back. */
void
roce_misses_note(roce_tracker *t, const roce_stream_state *s);
/* Whether the point may as well have missed copies that went unseen. */
bool
roce_misses_may_explain(roce_tracker *t, roce_stream_state *s, roce_space space,
                        const roce_missing_range *range);
/* They were judged lost before the point; one of them turned out not to be. */
void
roce_misses_remember(roce_tracker *t, const roce_stream_state *s, roce_space space,
                     int64_t psn, const roce_missing_range *range);
void
roce_misses_forget(roce_tracker *t, const roce_stream_state *s, roce_space space,
                   const roce_slot *slot);
/* Its PSNs begin anew: what was claimed of those before stays as it is. */
void
roce_misses_settle(roce_tracker *t, const roce_stream_state *s, roce_space space);

/* vantage.c: as far as it can be known once a stream ends, or begins anew. */
void
roce_vantage_finish(roce_stream_state *s);

/* acknowledge.c: `s` made the requests, `by` carries the acknowledgement.  False: it is
 * about none that is known here, and nothing was told of it. */
bool
roce_acknowledge(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
                 const roce_arrival *a);
/* A request took so long to be answered, as seen here. */
void
roce_acknowledge_sample(roce_tracker *t, roce_stream_state *s, uint64_t sample_ns);
/* Decides by the votes so far how the stream recovers from loss. */
void
roce_acknowledge_settle_recovery(roce_stream_state *s);
/* Whether there is no doubt that a requester repeats nothing but what is missing, and that its
 * responder keeps what lies beyond a gap. */
bool
roce_acknowledge_surely_keeps(const roce_tracker *t, const roce_stream_state *s);
/* Whether no answer has ever come so soon behind what it answers. */
bool
roce_acknowledge_is_sooner(const roce_stream_state *s, uint64_t taken_ns);
/* Everything below `una` is acknowledged. */
void
roce_acknowledge_up_to(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                       int64_t una);
/* When `psn` was first covered by an ACK seen here; 0 when it never was. */
uint64_t
roce_acknowledge_time(const roce_stream_state *s, int64_t psn);
/* When the newest ACK was seen that does not cover `psn`, or no later than that; 0 when there
 * was none. */
uint64_t
roce_acknowledge_time_before(const roce_stream_state *s, int64_t psn);
/* Whether an ACK or a NAK, and not its response alone, has said that this request of `s` was
 * carried out. */
bool
roce_acknowledge_is_told(const roce_stream_state *s, const roce_slot *asked);

/* rebirth.c: an ACK for `psn` of `s` is here, before it moves anything. */
void
roce_rebirth_hear(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                  int64_t psn);
/* Likewise a response to a request of `s`. */
void
roce_rebirth_hear_response(roce_tracker *t, roce_stream_state *s,
                           const roce_arrival *a);
/* A request is known to be of another queue pair.  Whether it goes on with the newest round,
 * which then was of that one as well: it began with the round, and the request is its next. */
bool
roce_rebirth_is_of_round(roce_tracker *t, roce_stream_state *s, const roce_arrival *a);

/* respond.c: `by` carries the responses, `s` (or NULL) asked for them. */
void
roce_respond(roce_tracker *t, roce_stream_state *by, roce_arrival *a);
/* The same for one of which it is known that it was not damaged in its PSN. */
void
roce_respond_take(roce_tracker *t, roce_stream_state *by, roce_arrival *a);
/* The requester asks again for [psn, psn + span) of a READ or atomic.  Returns whether
 * a response for it had been seen here. */
bool
roce_respond_asked_again(roce_tracker *t, roce_stream_state *by, const roce_arrival *a,
                         const roce_slot *slot, bool opens_round);
/* The first response to a request that was sent once tells a round trip. */
void
roce_respond_sample(roce_tracker *t, roce_stream_state *s, const roce_arrival *a);
/* Who asks begins anew, or is another one. */
void
roce_respond_restart(roce_tracker *t, roce_stream_state *by);
/* The same where it has found its peer: what has been answered before goes on. */
void
roce_respond_adopt(roce_tracker *t, roce_stream_state *by);
void
roce_respond_finish(roce_tracker *t, roce_stream_state *by);
/* What both files of responses do.  An event about a response with this PSN. */
roce_event
roce_respond_event(roce_event_kind kind, const roce_stream_state *by,
                   const roce_arrival *a, int64_t psn);
/* `count` responses from `psn` on are missing before the newest. */
void
roce_respond_gap(roce_tracker *t, roce_stream_state *by, const roce_arrival *a,
                 int64_t psn, uint64_t count);
/* Notes as missing what `s` has asked for in [start, end); with `since_tx` not 0 only what it
 * has asked for since that transmission, from where it starts.  Returns how many PSNs. */
uint64_t
roce_respond_miss_due(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
                      const roce_arrival *a, int64_t start, int64_t end,
                      uint64_t since_tx);
/* Likewise what has been asked for again in the round that is being answered. */
void
roce_respond_miss_again(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
                        const roce_arrival *a, int64_t start, int64_t end);
/* A transmission takes its place; returns its entry, or NULL for lack of room.  `slot` is that
 * of an earlier copy, or NULL. */
roce_slot *
roce_respond_place(roce_tracker *t, const roce_stream_state *s, roce_stream_state *by,
                   const roce_arrival *a, roce_slot *slot);

/* respond_behind.c */
/* A response that is not beyond the newest PSN seen. */
void
roce_respond_behind(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
                    const roce_arrival *a);
/* What waited for the response behind it was late after all; `a` is that one, or NULL. */
void
roce_respond_settle_late(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
                         const roce_arrival *a);

/* A READ is asked for again: what should have come before a response that may be where an
 * answer begins was waited for. */
void
roce_respond_asked_before_lone(roce_tracker *t, roce_stream_state *s,
                               roce_stream_state *by, const roce_arrival *a);

/* pair.c */
int
roce_pair_init(roce_tracker *t);
/* Looks for what is known of the other direction of a new stream, which `a` has opened. */
void
roce_pair_new_stream(roce_tracker *t, roce_stream_state *s, const roce_arrival *a);
/* A packet of this stream will come soon; see roce_tracker_foresee(). */
void
roce_pair_approach(const roce_tracker *t, const roce_stream_state *s,
                   const roce_packet *packet);
/* What its requests are noted by; 0: they are not, since it is paired or never will be. */
uint64_t
roce_pair_way(roce_stream_state *s);
void
roce_pair_note(roce_tracker *t, uint64_t way, uint32_t stream, uint32_t psn24);
void
roce_pair_approach_note(const roce_tracker *t, uint64_t way, uint32_t psn24);
/* A request with this PSN went by. */
void
roce_pair_note_request(roce_tracker *t, roce_stream_state *s, uint32_t psn24);
/* The other direction, as it will be when an acknowledgement or response that `by` carries
 * has gone by; NULL: there will be none.  *any: it may be any stream, and is not said. */
roce_stream_state *
roce_pair_foresee(const roce_tracker *t, const roce_stream_state *by,
                  const roce_packet *packet, bool *any);
/* It went by. */
void
roce_pair_try(roce_tracker *t, roce_stream_state *by, const roce_arrival *a);
/* An acknowledgement agreed with the pairing, or contradicted it. */
void
roce_pair_confirm(roce_tracker *t, roce_stream_state *by, const roce_arrival *a,
                  bool agrees);
/* Pairs two streams that CM or the user named, unless better is known of either. */
void
roce_pair_join(roce_tracker *t, roce_stream_state *s, roce_stream_state *peer,
               roce_pairing how, const roce_arrival *a);
/* Undoes the pairing of a stream and its peer. */
void
roce_pair_undo(roce_tracker *t, roce_stream_state *s, const roce_arrival *a);

/* connection.c */
/* Looks for the connection of a new stream, and pairs it with the other direction.  Whether the
 * user names its queue pair. */
bool
roce_connection_new_stream(roce_tracker *t, const roce_stream_state *s,
                           const roce_arrival *a);
/* A packet to QP 1, which may be a message of CM. */
void
roce_connection_cm(roce_tracker *t, const roce_arrival *a);

/* The path MTU of a stream's connection, by CM; 0: it is not known. */
uint32_t
roce_connection_pmtu_bytes(const roce_tracker *t, const roce_stream_state *s);
/* Whether CM has named the PSN that a stream begins with, of which `psn24` was seen first,
 * and that this may be another one. */
bool
roce_connection_begins_before(const roce_tracker *t, const roce_stream_state *s,
                              uint32_t psn24, uint32_t *begins_with);

/* refusal.c */
/* A SIDR REP. */
void
roce_refusal_take(roce_tracker *t, const roce_arrival *a, const roce_cm_message *m);

/* pair_user.c */
/* Looks for a new stream's other direction in the user's tables. */
void
roce_user_new_stream(roce_tracker *t, roce_stream_state *s, const roce_arrival *a);
/* Whether a table knows the queue pair of two streams, and says that it talks to another.
 */
bool
roce_user_denies(const roce_tracker *t, const roce_stream_state *s,
                 const roce_stream_state *peer);
void
roce_user_clear(roce_tracker *t);

/* source_port.c */
int
roce_source_port_init(roce_tracker *t);
/* A stream is new, and its first packet carries this port. */
void
roce_source_port_note(roce_tracker *t, roce_stream_state *s, uint16_t port);
/* Whether both directions carry the source port that Linux makes of the two QPNs. */
bool
roce_source_port_agree(const roce_stream_state *a, const roce_stream_state *b);
/* The one unpaired stream of the other direction of which ports say that it is that of `s`,
 * or *sure: they prove it; NULL when there is none, or more. */
roce_stream_state *
roce_source_port_partner(const roce_tracker *t, const roce_stream_state *s, bool *sure);
/* Whether an acknowledgement of this PSN may be for a stream, which may have sent it before
 * the capture began. */
bool
roce_source_port_may_be(const roce_stream_state *s, uint32_t psn24);
/* Whether an unpaired stream other than `s`, of the same way, may have sent this PSN before
 * the capture began, which `by` answers. */
bool
roce_source_port_is_crowd(const roce_tracker *t, const roce_stream_state *by,
                          const roce_stream_state *s, uint32_t psn24);
/* A stream is new, with a request, where a capture has just begun: undoes what PSNs alone
 * have paired so far of its way, if it may have sent these PSNs before. */
void
roce_source_port_crowd_in(roce_tracker *t, const roce_stream_state *s,
                          const roce_arrival *a);
/* A stream is new, whose first packet carries this port: undoes what PSNs alone have paired
 * where ports prove that it is the other direction. */
void
roce_source_port_dispute(roce_tracker *t, const roce_stream_state *s, uint16_t port,
                         const roce_arrival *a);

/* congest.c */
void
roce_congest_packet(roce_tracker *t, roce_stream_state *s, const roce_arrival *a);
void
roce_congest_cnp(roce_tracker *t, roce_stream_state *s, const roce_arrival *a);
void
roce_congest_finish(roce_tracker *t, roce_stream_state *s);

/* pacing.c */
/* `s` carries a CNP. */
void
roce_pacing_cnp(roce_tracker *t, roce_stream_state *s, const roce_arrival *a);
/* `s` carries a NAK. */
void
roce_pacing_nak(roce_tracker *t, roce_stream_state *s, const roce_arrival *a);
/* Data of `s` came marked. */
void
roce_pacing_mark(roce_tracker *t, const roce_stream_state *s, uint64_t now_ns);
/* The interval of whoever sends CNPs about the data of `s`; 0 while it is not known. */
uint64_t
roce_pacing_interval_ns(const roce_tracker *t, const roce_stream_state *s);
/* The same, while too little is known to be sure of it: the least gap so far. */
uint64_t
roce_pacing_least_gap_ns(const roce_tracker *t, const roce_stream_state *s);
/* When the newest CNP was seen that may hold back one about `s`; false if none is known.
 */
bool
roce_pacing_newest(const roce_tracker *t, const roce_stream_state *s,
                   uint64_t *time_ns);
void
roce_pacing_finish(roce_tracker *t);
void
roce_pacing_clear(roce_tracker *t);

/* measure.c: the latencies of `s`, as include/roce/stream.h defines them. */
/* Takes the time from `from_ns`, when `from_frame` was seen (0: no single packet), to the
 * arrival; nothing if the clock stepped back. */
void
roce_measure_add(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                 roce_latency latency, uint64_t from_ns, uint64_t from_frame);
/* An ACK for `psn` is here, whose entry is `slot`, NULL: there is none; before s->una is
 * moved. */
void
roce_measure_ack(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                 int64_t psn, const roce_slot *slot);
/* A NAK of any kind for `psn` is here. */
void
roce_measure_nak(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                 int64_t psn);
/* Everything below `una` is acknowledged, for the first time from s->una on. */
void
roce_measure_completed(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                       int64_t una);
/* A response on `by` has taken its place: the newest, or one behind that.  Nothing is
 * measured where `s`, who asked, is NULL. */
void
roce_measure_response(roce_tracker *t, roce_stream_state *s, roce_stream_state *by,
                      const roce_arrival *a);
void
roce_measure_response_behind(roce_tracker *t, roce_stream_state *s,
                             roce_stream_state *by, const roce_arrival *a);
/* A round begins; before its NAK is taken for answered. */
void
roce_measure_round(roce_tracker *t, roce_stream_state *s, const roce_arrival *a,
                   roce_cause cause, uint64_t age_ns);
/* An original has come late: nothing of it was lost. */
void
roce_measure_late(roce_stream_state *s, int64_t psn);
/* What was measured under a wrong pairing is given up. */
void
roce_measure_forget(roce_tracker *t, roce_stream_state *s);
/* Requests before this PSN may have been acknowledged before anybody knew whose they were:
 * nobody can tell when. */
void
roce_measure_untime(roce_stream_state *s, uint32_t psn24);
/* The stream begins anew; what was measured stays. */
void
roce_measure_restart(roce_stream_state *s);

/* stop.c */
int
roce_stop_packet(roce_tracker *t, const roce_frame *frame, const roce_packet *packet);
void
roce_stop_finish(roce_tracker *t);

#endif
