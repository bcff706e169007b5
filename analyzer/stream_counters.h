/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counters of a stream, and of many: sums of them.
 *
 * The one rule: every member is a guint64 that grows with what it counts, so that the
 * counters of several streams are the sum, member by member, of theirs.
 */
#ifndef RS_STREAM_COUNTERS_H
#define RS_STREAM_COUNTERS_H

#include "roce/stream.h"

#include <glib.h>

/* Those of one PSN space, as roce_space_counters and roce_disorder_counters have them. */
typedef struct rs_space_counters {
    guint64 packets, unique_psns;
    guint64 gaps, missing_psns;
    guint64 reordered, duplicates, capture_repeats, resent;
} rs_space_counters;

typedef struct rs_ecn_counters {
    guint64 codepoint[4]; /* packets with data, as roce_ecn_counters has them */
    guint64 transitions, ce_episodes;
} rs_ecn_counters;

/* ICRCs, in packets. */
typedef struct rs_icrc_counters {
    guint64 checked, bad;
    guint64 unchecked_truncated; /* cut before it, by the snap length or a mirror */
    guint64 cnp_bad, flush_bad;  /* CNPs and FLUSHes that are wrong and taken as good */
} rs_icrc_counters;

typedef struct rs_counters {
    guint64 streams;
    guint64 paired_streams; /* of them; what depends on pairing is their sum */
    guint64 packets, wire_bytes, payload_bytes;
    rs_space_counters space[ROCE_N_SPACES];
    roce_retransmission_counters retransmissions;
    guint64 losses[ROCE_N_SPACES][ROCE_N_VERDICTS];
    guint64 naks[ROCE_N_NAKS]; /* received; of paired streams */
    guint64 naks_sent[ROCE_N_NAKS];
    guint64 cnps_received; /* likewise */
    guint64 cnps_sent;
    guint64 rnr_waits_kept, rnr_waits_broken;
    rs_ecn_counters ecn;
    guint64 ecn_control[4]; /* packets without data, likewise */
    rs_icrc_counters icrc;
    guint64 ip_checksum_bad, psn_bad; /* packets, see roce_stream_trouble */
    guint64 messages, message_bytes;
} rs_counters;

void
rs_counters_of_stream(rs_counters *counters, const roce_stream *stream);

void
rs_counters_add(rs_counters *sum, const rs_counters *other);

/* Losses of a stream with that verdict, requests and responses. */
guint64
rs_verdicts_of(const roce_stream *stream, roce_verdict verdict);

/* Losses by verdict, added up over those that mean that something did not arrive: all but
 * not_captured and unknown. */
guint64
rs_losses_of(const guint64 losses[ROCE_N_VERDICTS]);

#endif
