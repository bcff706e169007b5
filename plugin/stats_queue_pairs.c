/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of queue pairs: a row for each stream, with the counters of the analyzer's
 * report.
 *
 * The one rule: what depends on the pairing is unknown without it, never 0.
 *
 * A filter shows the streams of the packets that it matches, with everything that is
 * known of them.
 */
#include "stats_table.h"

#include "points.h"

#include <stddef.h>

static const char *
unknown_unless_paired(const void *row, const stats_column *column,
                      wmem_allocator_t *scope)
{
    const roce_stream *s = row;
    return roce_stream_is_paired(s) ? stats_table_number(row, column, scope)
                                    : STATS_TABLE_UNKNOWN;
}

static const char *
id_of(const void *row, const stats_column *column, wmem_allocator_t *scope)
{
    (void)column;
    const roce_stream *s = row;
    return wmem_strdup_printf(scope, "%u", s->id);
}

static const char *
interface_of(const void *row, const stats_column *column, wmem_allocator_t *scope)
{
    (void)column, (void)scope;
    const roce_stream *s = row;
    const char *name = points_name(s->point);
    return name != NULL ? name : STATS_TABLE_UNKNOWN;
}

static const char *
address_of(const void *row, const stats_column *column, wmem_allocator_t *scope)
{
    const roce_stream *s = row;
    bool is_source = column->offset == offsetof(roce_stream, src);
    return conversations_address(is_source ? &s->src : &s->dst, scope);
}

static const char *
dst_qpn_of(const void *row, const stats_column *column, wmem_allocator_t *scope)
{
    (void)column;
    const roce_stream *s = row;
    return wmem_strdup_printf(scope, "0x%06x", s->dst_qpn);
}

static const char *
src_qpn_of(const void *row, const stats_column *column, wmem_allocator_t *scope)
{
    (void)column;
    const roce_stream *s = row;
    return s->has_src_qpn ? wmem_strdup_printf(scope, "0x%06x", s->src_qpn)
                          : STATS_TABLE_UNKNOWN;
}

static const char *
transport_of(const void *row, const stats_column *column, wmem_allocator_t *scope)
{
    (void)column, (void)scope;
    const roce_stream *s = row;
    return roce_transport_name(s->transport);
}

/* `offset` is that of a pointer to a histogram. */
static const char *
quantile_of(const void *row, const stats_column *column, wmem_allocator_t *scope)
{
    const roce_stream *s = row;
    size_t i =
        (column->offset - offsetof(roce_stream, latencies)) / sizeof s->latencies[0];
    const roce_histogram *h = s->latencies[i];
    return h == NULL || h->count == 0
               ? STATS_TABLE_UNKNOWN
               : wmem_strdup_printf(scope, "%" G_GUINT64_FORMAT,
                                    roce_histogram_quantile(h, column->permille));
}

/* clang-format off */
#define TEXT(title, cell) {title, cell, 0, 0, 0, true}
#define NUMBER(title, member) \
    {title, stats_table_number, offsetof(roce_stream, member), 0, 0, false}
#define BYTES(title, member) \
    {title, stats_table_number, offsetof(roce_stream, member), 0, 16, false}
#define PAIRED(title, member) \
    {title, unknown_unless_paired, offsetof(roce_stream, member), 0, 0, false}
#define QUANTILE(title, latency, permille) \
    {title, quantile_of, offsetof(roce_stream, latencies[latency]), permille, 14, false}
#define REQUESTS(member) space[ROCE_SPACE_REQUESTS].member
#define RESPONSES(member) space[ROCE_SPACE_RESPONSES].member
#define CAUSE(cause) retransmissions.by_cause[ROCE_CAUSE_##cause]
#define LOST(verdict) losses[ROCE_SPACE_REQUESTS][ROCE_VERDICT_##verdict]
#define RESPONSE_LOST(verdict) losses[ROCE_SPACE_RESPONSES][ROCE_VERDICT_##verdict]

static const stats_column columns[] = {
    {"stream", id_of, 0, 0, 0, false},
    TEXT("interface", interface_of),
    {"source", address_of, offsetof(roce_stream, src), 0, 16, true},
    {"destination", address_of, offsetof(roce_stream, dst), 0, 16, true},
    TEXT("dest. QP", dst_qpn_of),
    TEXT("source QP", src_qpn_of),
    TEXT("service", transport_of),
    NUMBER("packets", packets),
    BYTES("payload bytes", payload_bytes),
    NUMBER("messages", messages_completed),
    BYTES("message bytes", message_bytes),
    NUMBER("gaps", REQUESTS(gaps)),
    NUMBER("missing PSNs", REQUESTS(missing_psns)),
    NUMBER("reordered", REQUESTS(reordered)),
    NUMBER("duplicates", REQUESTS(duplicates)),
    NUMBER("response gaps", RESPONSES(gaps)),
    NUMBER("missing response PSNs", RESPONSES(missing_psns)),
    NUMBER("reordered responses", RESPONSES(reordered)),
    NUMBER("duplicate responses", RESPONSES(duplicates)),
    NUMBER("responses sent again", RESPONSES(resent)),
    NUMBER("retransmitted packets", retransmissions.packets),
    BYTES("retransmitted bytes", retransmissions.bytes),
    NUMBER("rounds", retransmissions.rounds),
    NUMBER("spurious rounds", retransmissions.spurious_rounds),
    NUMBER("after NAK", CAUSE(NAK_SEQUENCE)),
    NUMBER("after RNR NAK", CAUSE(RNR)),
    NUMBER("after timeout", CAUSE(TIMEOUT)),
    NUMBER("READ again", CAUSE(READ_REISSUE)),
    NUMBER("cause unknown", CAUSE(UNKNOWN)),
    NUMBER("lost before capture", LOST(LOST_BEFORE_CAPTURE)),
    NUMBER("undelivered after capture", LOST(UNDELIVERED_AFTER_CAPTURE)),
    NUMBER("ACK lost", LOST(ACK_LOST)),
    NUMBER("data or ACK lost", LOST(DATA_OR_ACK_LOST)),
    NUMBER("not captured", LOST(NOT_CAPTURED)),
    NUMBER("corrupt", LOST(CORRUPT)),
    NUMBER("fate unknown", LOST(UNKNOWN)),
    NUMBER("responses lost before capture", RESPONSE_LOST(LOST_BEFORE_CAPTURE)),
    NUMBER("responses undelivered after capture",
           RESPONSE_LOST(UNDELIVERED_AFTER_CAPTURE)),
    NUMBER("responses not captured", RESPONSE_LOST(NOT_CAPTURED)),
    NUMBER("responses corrupt", RESPONSE_LOST(CORRUPT)),
    NUMBER("fate of responses unknown", RESPONSE_LOST(UNKNOWN)),
    PAIRED("sequence NAKs", naks_received[ROCE_NAKS_PSN_SEQUENCE]),
    PAIRED("invalid request NAKs", naks_received[ROCE_NAKS_INVALID_REQUEST]),
    PAIRED("remote access NAKs", naks_received[ROCE_NAKS_REMOTE_ACCESS]),
    PAIRED("remote operational NAKs", naks_received[ROCE_NAKS_REMOTE_OPERATIONAL]),
    PAIRED("RNR NAKs", naks_received[ROCE_NAKS_RNR]),
    PAIRED("RNR waits kept", rnr_waits_kept),
    PAIRED("RNR waits broken", rnr_waits_broken),
    NUMBER("CE", ecn.codepoint[3]),
    NUMBER("ECN transitions", ecn.transitions),
    NUMBER("CE episodes", ecn.ce_episodes),
    PAIRED("CNPs received", cnps_received),
    NUMBER("CNPs sent", cnps_sent),
    NUMBER("bad ICRC", icrc.bad),
    QUANTILE("ACK p50 ns", ROCE_LATENCY_ACK, 500),
    QUANTILE("ACK p99 ns", ROCE_LATENCY_ACK, 990),
    QUANTILE("completion p50 ns", ROCE_LATENCY_MESSAGE_COMPLETION, 500),
    QUANTILE("completion p99 ns", ROCE_LATENCY_MESSAGE_COMPLETION, 990),
};
/* clang-format on */

static const void *
stream_row(uint32_t id)
{
    const roce_tracker *tracker = analysis_tracker();
    return tracker != NULL && id < roce_tracker_n_streams(tracker)
               ? roce_tracker_stream(tracker, id)
               : NULL;
}

static void
take_packet(void *table, const taken_packet *packet)
{
    const packet_record *record = memory_at(packet->frame);
    if (record != NULL && record->stream != ROCE_NO_STREAM) {
        stats_table_take(table, packet, record->stream);
    }
}

void
queue_pairs_register(void)
{
    static stats_table table = {
        .ui = {.title = COMPAT_TABLE_MENU "Queue Pairs",
               .tap_name = "rocev2",
               .cli_string = "rocev2,qp"},
        .columns = columns,
        .n_columns = G_N_ELEMENTS(columns),
        .take = take_packet,
        .row = stream_row,
    };
    stats_table_register(&table);
}
