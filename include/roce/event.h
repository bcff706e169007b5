/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events: what the tracker has to say about a frame.
 *
 * The one rule: an event is a fact, never a judgement ("3 PSNs missing from n", never
 * "bad network").  Events own what they say; nothing in them points anywhere.
 */
#ifndef ROCE_EVENT_H
#define ROCE_EVENT_H

#include "roce/linkage.h"

#include <stdint.h>

ROCE_BEGIN

#define ROCE_NO_STREAM UINT32_MAX
#define ROCE_NO_PSN INT64_MIN

typedef enum roce_event_kind {
    ROCE_EVENT_STREAM_START,   /* first packet of a stream at a point */
    ROCE_EVENT_STREAM_RESTART, /* PSNs start anew: the QPN was reused; psn = the new;
                                * count = 1 if what the newest round had sent again, or
                                * anything where there was none, was acknowledged;
                                * related = its first packet, where an ACK shows it */
    ROCE_EVENT_GAP,            /* count PSNs missing from psn on */
    ROCE_EVENT_LATE,           /* a late original; related = the frame that passed it */
    ROCE_EVENT_DUPLICATE,      /* the same packet again; related = the earlier copy */
    ROCE_EVENT_RETRANSMISSION, /* detail = roce_cause; related = the earlier copy */
    ROCE_EVENT_ROUND, /* a round starts; detail = roce_cause; related = its NAK;
                       * duration = since the newest copy of psn */
    ROCE_EVENT_SPURIOUS_ROUND, /* the first copy was merely late; related = the round */
    ROCE_EVENT_NAK,            /* detail = roce_nak_code; related = what provoked it */
    ROCE_EVENT_RNR_NAK,      /* duration = wait asked for; related = request refused */
    ROCE_EVENT_RNR_WAIT,     /* duration = wait taken; related = the RNR NAK;
                              * count = 1 if it was as long as asked, else 0 */
    ROCE_EVENT_READ_REISSUE, /* a READ asked for again; count = bytes asked for */
    ROCE_EVENT_RESPONSE_RESENT, /* response data sent again; related = earlier copy */
    ROCE_EVENT_LOSS,            /* detail = roce_verdict; related = the lost copy if it
                                 * was seen here */
    ROCE_EVENT_LOSS_WITHDRAWN,  /* an earlier verdict (detail) about psn was wrong */
    ROCE_EVENT_ECN_TRANSITION,  /* detail = codepoint before << 2 | codepoint now */
    ROCE_EVENT_CE_EPISODE,      /* ended; count = marked, duration = length,
                                 * related = its first frame */
    ROCE_EVENT_CNP,             /* related = the first CE frame not yet answered */
    ROCE_EVENT_ICRC_BAD,
    ROCE_EVENT_IP_CHECKSUM_BAD,
    ROCE_EVENT_PSN_BAD,       /* its ICRC was not captured; psn = what it had before */
    ROCE_EVENT_CONNECTED,     /* two streams paired; count = the other stream;
                              * detail = roce_pairing */
    ROCE_EVENT_DISCONNECTED,  /* a pairing was contradicted and is undone */
    ROCE_EVENT_CM,            /* detail = low byte of roce_cm_kind */
    ROCE_EVENT_PAUSE_XOFF,    /* detail = priority (8: 802.3x); count = quanta */
    ROCE_EVENT_PAUSE_REFRESH, /* likewise; related = the XOFF */
    ROCE_EVENT_PAUSE_XON,     /* duration = paused time; related = the XOFF, if any */
    ROCE_EVENT_PAUSE_EXPIRED, /* time = of expiry; duration = paused time; related =
                               * the XOFF; no frame */
    ROCE_EVENT_EVICTED,       /* a table was full; detail = roce_table */
    ROCE_N_EVENTS,
} roce_event_kind;

/* Which PSN space of the stream an event is about. */
typedef enum roce_space {
    ROCE_SPACE_REQUESTS,
    ROCE_SPACE_RESPONSES,
    ROCE_N_SPACES,
} roce_space;

/* Why a round of retransmissions began. */
typedef enum roce_cause {
    ROCE_CAUSE_NAK_SEQUENCE,
    ROCE_CAUSE_RNR,
    ROCE_CAUSE_TIMEOUT,
    ROCE_CAUSE_READ_REISSUE,
    ROCE_CAUSE_UNKNOWN,
    ROCE_N_CAUSES,
} roce_cause;

/* What became of one transmission, as far as it can be known here. */
typedef enum roce_verdict {
    ROCE_VERDICT_LOST_BEFORE_CAPTURE,
    ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE,
    ROCE_VERDICT_ACK_LOST,
    ROCE_VERDICT_DATA_OR_ACK_LOST,
    ROCE_VERDICT_NOT_CAPTURED,
    ROCE_VERDICT_CORRUPT,
    ROCE_VERDICT_UNKNOWN,
    ROCE_N_VERDICTS,
} roce_verdict;

/* What a verdict or a classification rests on. */
typedef enum roce_evidence {
    ROCE_EVIDENCE_NONE,
    ROCE_EVIDENCE_ASKED_FOR,    /* a NAK or a re-issued READ named it */
    ROCE_EVIDENCE_RESENT_ONLY,  /* it was sent again, nobody was seen asking */
    ROCE_EVIDENCE_ACKNOWLEDGED, /* an ACK covers it */
    ROCE_EVIDENCE_ACK_SEEN,     /* a covering ACK was captured before */
    ROCE_EVIDENCE_ACK_JUMPED,   /* the next ACK covered what was not yet sent again */
    ROCE_EVIDENCE_NO_ACK_SEEN,
    ROCE_EVIDENCE_BAD_ICRC,
    ROCE_EVIDENCE_BAD_IP_CHECKSUM,
    ROCE_EVIDENCE_BAD_PSN,
    ROCE_EVIDENCE_IDENTIFICATION, /* IPv4 identification older than what passed it */
    ROCE_EVIDENCE_COPIES,         /* the range came once more afterwards */
    ROCE_EVIDENCE_TIME,           /* too soon for a round trip, or nobody had asked */
    ROCE_EVIDENCE_CAPTURE_END,
    ROCE_EVIDENCE_NO_ACKNOWLEDGEMENTS, /* UC, UD, or one direction only */
    ROCE_EVIDENCE_CAPTURE_MISSES,      /* the point misses too much to tell */
    ROCE_N_EVIDENCES,
} roce_evidence;

/* How two streams were found to be one queue pair's directions; later ones are trusted
 * more. */
typedef enum roce_pairing {
    ROCE_PAIRING_NONE,
    ROCE_PAIRING_PSN,
    ROCE_PAIRING_USER,
    ROCE_PAIRING_CM,
} roce_pairing;

typedef enum roce_table {
    ROCE_TABLE_STREAMS,
    ROCE_TABLE_HISTORY,
    ROCE_TABLE_MISSING,
    ROCE_TABLE_PAUSES,
    ROCE_TABLE_CONNECTIONS,
    ROCE_TABLE_LATENCIES, /* no memory for a sample */
    ROCE_TABLE_NOTIFIERS, /* of CNPs, and whom they go to */
    ROCE_N_TABLES,
} roce_table;

typedef struct roce_event {
    roce_event_kind kind;
    roce_space space;
    roce_evidence evidence;
    uint8_t detail; /* by kind, see above */
    uint32_t point;
    uint32_t stream;        /* ROCE_NO_STREAM when it is about none */
    uint64_t frame;         /* the frame it was seen on */
    uint64_t related_frame; /* 0 when there is none */
    uint64_t time_ns;
    uint64_t duration_ns;
    int64_t psn; /* unwrapped, or ROCE_NO_PSN */
    uint64_t count;
} roce_event;

/* Receives each event in order; must not call back into the tracker. */
typedef void (*roce_event_fn)(void *ctx, const roce_event *event);

/* The names that reports and filters use: "gap", "nak_sequence", "ack_lost", ... */
const char *
roce_event_kind_name(roce_event_kind kind);
/* What the detail of an event means, as a word; NULL where its kind has none. */
const char *
roce_event_detail_name(const roce_event *event);
const char *
roce_cause_name(roce_cause cause);
const char *
roce_verdict_name(roce_verdict verdict);
const char *
roce_evidence_name(roce_evidence evidence);
const char *
roce_pairing_name(roce_pairing pairing);
const char *
roce_table_name(roce_table table);

ROCE_END

#endif
