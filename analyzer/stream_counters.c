/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stream_counters.h"

#include <string.h>

static rs_space_counters
space_of(const roce_stream *s, roce_space space)
{
    const roce_disorder_counters *disorder =
        &roce_stream_trouble_of(s)->disorder[space];
    return (rs_space_counters){
        .packets = s->space[space].packets,
        .unique_psns = s->space[space].unique_psns,
        .gaps = disorder->gaps,
        .missing_psns = disorder->missing_psns,
        .reordered = disorder->reordered,
        .duplicates = disorder->duplicates,
        .capture_repeats = disorder->capture_repeats,
        .resent = disorder->resent,
    };
}

static rs_icrc_counters
icrc_of(const roce_stream *s)
{
    const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
    return (rs_icrc_counters){
        .checked = s->icrc_checked,
        .bad = trouble->icrc_bad,
        .unchecked_truncated = s->icrc_truncated,
        .cnp_bad = trouble->icrc_cnp_bad,
        .flush_bad = trouble->icrc_flush_bad,
    };
}

void
rs_counters_of_stream(rs_counters *c, const roce_stream *s)
{
    const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
    const roce_stream_congestion *congestion = roce_stream_congestion_of(s);
    gboolean paired = roce_stream_is_paired(s);
    *c = (rs_counters){
        .streams = 1,
        .paired_streams = paired ? 1 : 0,
        .packets = s->packets,
        .wire_bytes = s->wire_bytes,
        .payload_bytes = s->payload_bytes,
        .space = {space_of(s, ROCE_SPACE_REQUESTS), space_of(s, ROCE_SPACE_RESPONSES)},
        .retransmissions = trouble->retransmissions,
        .cnps_received = paired ? congestion->cnps_received : 0,
        .cnps_sent = congestion->cnps_sent,
        .rnr_waits_kept = trouble->rnr_waits_kept,
        .rnr_waits_broken = trouble->rnr_waits_broken,
        .ecn = {.transitions = congestion->transitions,
                .ce_episodes = congestion->n_episodes},
        .icrc = icrc_of(s),
        .ip_checksum_bad = trouble->ip_checksum_bad,
        .psn_bad = trouble->psn_bad,
        .messages = s->messages_completed,
        .message_bytes = s->message_bytes,
    };
    memcpy(c->ecn.codepoint, s->ecn.codepoint, sizeof c->ecn.codepoint);
    memcpy(c->losses, trouble->losses, sizeof c->losses);
    memcpy(c->ecn_control, roce_stream_control_of(s)->ecn, sizeof c->ecn_control);
    memcpy(c->naks_sent, trouble->naks_sent, sizeof c->naks_sent);
    if (paired) {
        memcpy(c->naks, trouble->naks_received, sizeof c->naks);
    }
}

static void
add_array(guint64 *sum, const guint64 *other, gsize n)
{
    for (gsize i = 0; i < n; i++) {
        sum[i] += other[i];
    }
}

/* The struct is guint64s through and through, so that a sum is a sum of arrays. */
G_STATIC_ASSERT(sizeof(rs_counters) % sizeof(guint64) == 0);
G_STATIC_ASSERT(sizeof(rs_space_counters) == 8 * sizeof(guint64));
G_STATIC_ASSERT(sizeof(roce_retransmission_counters) ==
                (5 + ROCE_N_CAUSES) * sizeof(guint64));
G_STATIC_ASSERT(sizeof(rs_ecn_counters) == 6 * sizeof(guint64));
G_STATIC_ASSERT(sizeof(rs_icrc_counters) == 5 * sizeof(guint64));

void
rs_counters_add(rs_counters *sum, const rs_counters *other)
{
    guint64 to[sizeof *sum / sizeof(guint64)];
    guint64 from[sizeof *sum / sizeof(guint64)];
    memcpy(to, sum, sizeof to);
    memcpy(from, other, sizeof from);
    add_array(to, from, G_N_ELEMENTS(to));
    memcpy(sum, to, sizeof to);
}

guint64
rs_verdicts_of(const roce_stream *s, roce_verdict verdict)
{
    const roce_stream_trouble *trouble = roce_stream_trouble_of(s);
    return trouble->losses[ROCE_SPACE_REQUESTS][verdict] +
           trouble->losses[ROCE_SPACE_RESPONSES][verdict];
}

guint64
rs_losses_of(const guint64 losses[ROCE_N_VERDICTS])
{
    return losses[ROCE_VERDICT_LOST_BEFORE_CAPTURE] +
           losses[ROCE_VERDICT_UNDELIVERED_AFTER_CAPTURE] +
           losses[ROCE_VERDICT_ACK_LOST] + losses[ROCE_VERDICT_DATA_OR_ACK_LOST] +
           losses[ROCE_VERDICT_CORRUPT];
}
