/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the rules of the tracker remember of some streams, and of most have no need to:
 * each part is made when a rule first writes to it.
 *
 * The one rule: a part that a stream does not have reads as one in which nothing has
 * happened yet, so that no rule asks whether it is there.
 */
#ifndef ROCE_CORE_PARTS_H
#define ROCE_CORE_PARTS_H

#include "history.h"
#include "missing.h"
#include "roce/psn.h"
#include "roce/stream.h"

/* One PSN space of a stream.  For requests the "acceptor" is the responder, for
 * responses the requester; both take packets in order, and are emulated as if they
 * stood at this point. */
typedef struct roce_lane {
    bool started;
    bool selective;    /* the acceptor keeps what comes beyond a gap */
    bool span_unknown; /* the newest READ's length in PSNs is not known: no PMTU yet */
    bool ident_known;
    bool broken;           /* UC: the message under way was not seen whole, in order */
    bool in_message;       /* UC: one is under way */
    uint16_t newest_ident; /* of all seen; if they rise, what is older was overtaken */
    int64_t first;         /* lowest PSN that this point can have seen */
    int64_t next_tx;       /* PSN behind the newest transmission */
    int64_t max_next;      /* PSN behind the highest seen */
    int64_t accept_next;   /* the acceptor's expected PSN */
    uint64_t tx;           /* transmissions seen */
    uint64_t newest_ns;    /* when the one of newest_ident was seen */
    uint64_t top_frame;
    roce_history history;
    roce_missing missing;
} roce_lane;

typedef enum roce_nak_state {
    ROCE_NAK_NONE,
    ROCE_NAK_SEQUENCE,
    ROCE_NAK_RNR,
    ROCE_NAK_FATAL,
} roce_nak_state;

/* The newest NAK about a stream's requests. */
typedef struct roce_last_nak {
    roce_nak_state state;
    bool answered;      /* a round followed */
    bool was_late;      /* what it asked for arrived late, not again */
    bool gap_seen;      /* what provoked it was seen here */
    bool round_stopped; /* the round before it waited to be asked for more */
    bool acked_first; /* it was the first to acknowledge all before what it asks for */
    int64_t psn;
    int64_t oldest_psn; /* of the NAKs that no round has answered yet; <= psn */
    uint64_t oldest_ns; /* when that one came */
    uint64_t time_ns, frame;
    uint64_t tx;      /* transmissions seen before it */
    uint64_t wait_ns; /* RNR */
} roce_last_nak;

#define ROCE_OLDER_NAKS 16

/* A sequence NAK before the newest one. */
typedef struct roce_older_nak {
    int64_t psn;
    uint64_t time_ns;
    uint64_t frame : 63;   /* 0: there was none */
    uint64_t answered : 1; /* by a round that began with what it asks for */
} roce_older_nak;

/* The newest NAK that a stream carried while nobody knew whose requests it was about. */
typedef struct roce_unheard_nak {
    roce_nak_state state; /* SEQUENCE or RNR; else there was none */
    uint32_t psn24;
    uint64_t time_ns, frame;
    uint64_t wait_ns; /* RNR */
} roce_unheard_nak;

/* Where a requester went back to. */
typedef struct roce_went_back {
    int64_t psn;
    uint64_t time_ns, frame;
} roce_went_back;

/* A copy that was seen, and of which something may have to be said. */
typedef struct roce_seen_copy {
    int64_t psn;
    uint64_t frame; /* 0: there is none */
} roce_seen_copy;

/* Requests from before the first one that came here, one behind the other, see
 * roce_sequence_runs_on_from_before(). */
typedef struct roce_early_run {
    roce_went_back first;
    int64_t next; /* PSN behind the newest of them ... */
    uint64_t tx;  /* ... and its transmission; 0: there were none */
} roce_early_run;

/* Timeouts in a row that are remembered: requesters repeat seven times at most, but some do so
 * for ever. */
#define ROCE_DOUBTS 8

/* The newest round of retransmissions. */
typedef struct roce_round {
    bool active;
    bool spurious;
    roce_cause cause;
    int64_t start, end;
    uint64_t frame;
    uint64_t first_tx;
    bool unheard;               /* the other direction was not known when it began: */
    roce_seen_copy unexplained; /* ... what became of this one was told as unknown, */
    roce_seen_copy suspect;     /* ... and of this one a timeout would have been told */
    bool all_acked;   /* all that had been sent until it began was acknowledged */
    uint64_t age_ns;  /* of the newest copy of its first PSN when it began */
    bool doubt_told;  /* what a timeout casts doubt on has been told */
    uint8_t n_doubts; /* times in a row, which late answers may take back */
    uint8_t n_back;   /* they have taken back */
    struct {
        int64_t start;
        uint64_t frame;    /* 0: was shown to be spurious */
    } doubts[ROCE_DOUBTS]; /* the rounds, newest last; what is beyond was forgotten */
    int64_t doubted;       /* that PSN */
    uint8_t n_undue;       /* times it was told, though of it alone no ACK was due */
    int64_t from; /* what is unanswered begins here, though its copy may go unseen */
    int64_t n_before;  /* that rounds in a row before it have repeated, at most */
    uint32_t n_acks;   /* of it and what was repeated behind it, since */
    bool jumped;       /* an ACK covered PSNs that it had not repeated yet */
    uint64_t time_ns;  /* it began */
    roce_went_back to; /* with its first copy, but for what the capture does not have */
    uint64_t before_frame; /* the round before it began; 0: there was none */
    int64_t run_next;      /* for voting on the recovery model */
    bool voted;
    struct {
        uint64_t packets, bytes, requested_bytes;
    } was; /* what had been sent again before it */
} roce_round;

/* A request that is taken for late, overtaken or a duplicate until the next one comes,
 * see unnumbered.c. */
typedef struct roce_doubt {
    bool valid;
    bool late;        /* it filled a gap; else it had been seen */
    bool overtaken;   /* the newest round had skipped it */
    bool asked;       /* it is what a NAK asks for */
    bool acked;       /* what was missing had been acknowledged */
    roce_cause cause; /* if it was sent again */
    int64_t psn;
    uint32_t span;
    uint32_t copies; /* transmissions of it that went unseen */
    uint64_t frame;
    uint64_t related_frame; /* that overtook it, or came before it */
    uint64_t nak_frame;     /* the newest NAK before it */
    uint64_t asked_ns;      /* when the one that asks for it came */
    uint64_t payload_bytes;
    uint64_t requested_bytes;    /* of a READ */
    uint64_t seen_ns, missed_ns; /* as in roce_arrival */
    uint64_t age_ns;             /* of the newest copy before it */
} roce_doubt;

/* A request seen beyond the PSN expected here: what makes a responder send a NAK. */
typedef struct roce_violation {
    int64_t expected;
    uint64_t frame; /* 0: none */
    uint64_t time_ns;
    bool answered; /* a NAK named it */
} roce_violation;

/* The message that acknowledgements have come into; see measure.c. */
typedef struct roce_message_clock {
    bool clean; /* seen from its start on, each packet once */
    int64_t next;
    uint64_t start_ns, start_frame;
} roce_message_clock;

/* The READ or atomic that is being answered. */
typedef struct roce_answer_clock {
    bool clean; /* all of its responses so far came once and in order */
    int64_t next;
} roce_answer_clock;

/* A loss that is being repaired. */
typedef struct roce_repair_clock {
    bool running;
    bool by_response; /* a READ or atomic: no ACK ends it */
    int64_t psn;
    uint64_t evident_ns;
} roce_repair_clock;

/* A late original that a NAK had asked for: if it never comes once more, it was the
 * answer. */
typedef struct roce_asked_late {
    int64_t psn;
    uint64_t frame, related_frame, seen_ns; /* as in roce_doubt */
    uint64_t nak_frame, asked_ns;           /* likewise */
    uint64_t deadline_ns;
    uint64_t payload_bytes;
} roce_asked_late;

/* Copies from `psn` on, sent no later than `tx`, were told not to have been accepted. */
typedef struct roce_discard {
    int64_t psn;
    uint64_t tx; /* 0: none were */
} roce_discard;

#define ROCE_ASKED_LATE 4
#define ROCE_ACK_STEPS 8
#define ROCE_RECENT_ACKS 8
#define ROCE_VIOLATIONS 8

/* A packet that came damaged: a hint at what became of one that is missing. */
typedef struct roce_bad {
    uint64_t frame; /* 0: it accounts for none, or for none any more */
    uint32_t psn24;
    uint8_t evidence; /* roce_evidence */
} roce_bad;

/* A packet that may have been damaged in its PSN, see leap.c. */
typedef struct roce_leap roce_leap;

#define ROCE_ASKED_PARTS 16

/* A READ was asked for again, but not to its end. */
typedef struct roce_asked_part {
    int64_t end;
    uint64_t tx; /* of that request */
} roce_asked_part;

/* A stream of which something was lost, late or refused, or came more than once. */
typedef struct roce_trouble {
    roce_stream_trouble pub; /* first, so that a roce_stream_trouble is one */
    roce_round round;
    roce_doubt doubt;
    roce_doubt kept; /* one before it, of which what came behind it tells nothing */
    roce_last_nak nak;
    roce_older_nak older_naks[ROCE_OLDER_NAKS]; /* the newest first */
    roce_repair_clock repair;
    roce_discard discards[ROCE_N_SPACES];
    /* Copies that went unseen and came again: those asked for, and the others. */
    uint64_t unseen_asked[ROCE_N_SPACES], unseen_resent[ROCE_N_SPACES];
    uint32_t votes_go_back, votes_selective;
    bool
        skipped; /* what a round had still to repeat, as identifications show, or a READ */
    roce_violation violations[ROCE_VIOLATIONS]; /* newest at violation */
    roce_asked_late asked_late[ROCE_ASKED_LATE];
    roce_bad *bad; /* bad_room of them, the oldest at bad_at; NULL: none has come */
    roce_leap *leaps[ROCE_N_SPACES]; /* NULL: there never was one */
    roce_early_run early;
    roce_unheard_nak unheard_nak;
    uint64_t carried_nak_ns; /* the newest; valid if carried_nak */
    bool carried_nak;
    uint16_t bad_room, bad_at;
    uint8_t violation, n_asked_late, asked_part;
    roce_asked_part *asked_parts; /* the oldest at asked_part; NULL: there was none */
    /* Repeats in doubt, each of which ran on from the one before it, and what is behind. */
    uint8_t n_in_row;
    int64_t row_next;
} roce_trouble;

/* A stream with marks, or that has to do with CNPs. */
typedef struct roce_congestion {
    roce_stream_congestion pub; /* first, likewise */
    bool in_episode;
    bool cnp_seen;
    bool carried_cnp;
    uint64_t episode_since; /* data packets since an episode's first mark */
    uint64_t episode_frame, episode_start_ns, episode_last_ns, episode_marked;
    uint64_t episode_data; /* data packets from its first mark to its newest */
    uint32_t episodes_capacity;
    uint64_t unanswered_ce_frame; /* 0: none */
    uint64_t unanswered_ce_ns, newest_ce_ns;
    uint64_t waiting_due, waiting_paced; /* marks since, with it */
    /* Marks that waited in vain behind the first CNP, when no gap was known, and the
     * longest time from that to one of them. */
    uint64_t early_marks, early_longest_ns;
    uint64_t last_cnp_ns;   /* about this stream's data; valid if cnp_seen */
    uint32_t complained_of; /* stream id + 1, found for a switch's CNPs; 0 none */
    uint32_t lookups;
    uint32_t complainer; /* stream id + 1 that carried the newest CNP about its data */
    uint32_t cnp_way;    /* of CNPs that it carries, + 1; 0 none, see pacing.c */
    uint64_t carried_cnp_ns; /* the newest; valid if carried_cnp */
} roce_congestion;

/* What was heard of this stream's requests. */
typedef struct roce_heard {
    struct {
        int64_t una;
        uint64_t time_ns;
    } ack_steps[ROCE_ACK_STEPS]; /* newest at ack_step */
    struct {
        int64_t una; /* 0: there was none */
        uint64_t time_ns, frame;
    } told; /* the newest ACK or NAK of those that cover the most */
    struct {
        bool known;
        uint32_t msn24;
        int64_t psn;
    } msn;                       /* of the newest ACK, see rebirth.c */
    uint64_t ended_ns;           /* its queue pair, by CM; 0: it has not */
    uint64_t srtt_ns, rttvar_ns; /* of acknowledgements, 0 unknown */
    uint64_t least_answer_ns;
    uint64_t least_reaction_ns, second_reaction_ns; /* from a NAK to its round */
    uint32_t n_answers, n_reactions;
    uint64_t most_prompt_ns; /* longest of the reactions that no timer can have been */
    uint32_t n_prompt;
    uint8_t n_noted; /* answers, some of which waited for more than the way */
    uint8_t ack_step;
    roce_message_clock message;
} roce_heard;

/* What this stream carried that is no data; with its newest acknowledgements. */
typedef struct roce_carried {
    roce_stream_control pub; /* first, likewise */
    struct {
        roce_identity identity;
        uint32_t psn24;
    } recent_acks[ROCE_RECENT_ACKS]; /* the oldest at recent_ack */
    uint8_t valid;                   /* bit n: recent_acks[n] is one */
    uint8_t recent_ack;
} roce_carried;
_Static_assert(ROCE_RECENT_ACKS <= 8, "a bit for each");

/* How a responder answers a READ that is asked for again from its midst. */
typedef enum roce_midway {
    ROCE_MIDWAY_UNKNOWN,
    ROCE_MIDWAY_ANEW,    /* with a First or an Only, as of a READ by itself */
    ROCE_MIDWAY_GOES_ON, /* with a Middle or Last, as of the READ before; soft-RoCE does */
} roce_midway;

/* READ responses and atomic acknowledgements that this stream carried, or should have. */
typedef struct roce_answers {
    roce_lane lane;
    int64_t response_message_next; /* unpaired: PSN that continues an open response */
    uint64_t response_time_ns;     /* newest response data */
    uint64_t least_asked_ns;       /* from a response to its being asked again */
    uint64_t answered_tx; /* first request of the round that is being answered again */
    roce_answer_clock answer;
    /* A response that was taken for a late one, where a READ was asked for again from its
     * midst; it is the newest of the lane while its `tx` is that. */
    int64_t late_start;
    uint64_t late_tx;
    uint64_t late_frame; /* 0 once that is settled */
    uint64_t late_related, late_ns;
    /* The newest copy of a response, where nothing numbers packets: the network made it, unless
     * those behind it come once more as well. */
    struct {
        int64_t psn;
        uint64_t tx;    /* the lane's newest response then */
        uint64_t frame; /* 0 once that is settled */
        uint64_t related, time_ns;
    } copied;
    roce_midway midway;
    uint32_t n_asked; /* times that least_asked_ns is the least of */
    /* Behind a late one of a first answer, which is the newest of the lane while its `tx` is
     * that; 0: there is none. */
    int64_t first_next;
    uint64_t first_tx;
    /* A response that was taken to be where an answer is sent again from, where nothing
     * numbers them; it is alone while its `tx` is the lane's newest. */
    struct {
        uint64_t tx, answered_tx; /* the latter, and next_tx, as they were before it */
        uint64_t round_tx;        /* first request of the round that it is of */
        int64_t psn, next_tx;
        int64_t due_from; /* what should have come again before it, or ROCE_NO_PSN */
        int64_t tail_end; /* of what had been sent behind the newest until then */
        bool lost;        /* it was taken to show that one before it was */
    } lone;
    /* The first response; what is before it may have been asked for, and answered, before
     * the capture. */
    int64_t first_seen;
    bool began_before;     /* before the two directions were paired, or the capture */
    int64_t followed_next; /* of those before it is known if they were got: relations */
} roce_answers;

extern const roce_trouble roce_untroubled;
extern const roce_congestion roce_uncongested;
extern const roce_carried roce_uncarried;
extern const roce_heard roce_unheard;
extern const roce_answers roce_unanswered;

#endif
